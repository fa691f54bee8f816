"""Response to loss: the mean window of one flow against the loss probability, and its slope.

Reno: √(3/2p) (Mathis et al. 1997); CUBIC: RFC 9438 §5.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from lightlag.analyse import mean_interval
from lightlag.results.result import Result
from lightlag.validation import theory
from lightlag.validation.section import Section, columns, groups
from lightlag.validation.tasks import PAYLOAD, TCP, Measured, Setup, Task, record

__all__ = ["Response", "section", "tasks"]

Response: TypeAlias = Callable[[float, float], float]
"""A response function: returns the mean window in segments for a loss probability and a round trip in seconds."""

LOSS_RATES = (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
RTTS_S = (0.02, 0.1, 0.5)
LOSSES, MOST_SEGMENTS = 100, 400_000
"""Number of losses of a run, by the geometric mean of the closed forms, and maximum number of segments."""
ROOM = 4
"""Capacity of the link, as a multiple of the window of the larger closed form."""
LIMITED = 0.9
"""Utilisation above this value means that the link limits a flow; such points are excluded from the slope."""
SETTLED = 0.4
"""Fraction of a run that is left out at its start, until the window has settled."""
TOLERANCE = 0.05
"""Maximum relative deviation from the algorithm's own response function."""


def tasks(setup: Setup) -> list[Task]:
    """Returns a run for each probability, round trip and seed."""
    points = [(p, rtt) for rtt in RTTS_S for p in LOSS_RATES]
    return [_task(setup, p, rtt, seed) for p, rtt in points for seed in setup.seeds]


def _task(setup: Setup, p: float, rtt_s: float, seed: int) -> Task:
    reno = theory.mathis(p)
    window = max(reno, theory.cubic(p, rtt_s))
    segments = min(LOSSES / p, MOST_SEGMENTS) * setup.scale
    # Between the two forms: an algorithm like either has enough losses.
    seconds = math.ceil(max(segments / math.sqrt(reno * window), 100) * rtt_s)
    link = {
        "between": ["client", "server"],
        "rate": f"{ROOM * window * PAYLOAD * 8 / rtt_s:.0f} bit/s",
        "delay": f"{rtt_s * 500:g} ms",
        "queue": "1 bdp",
        "loss": {"forward": p, "backward": 0},
    }
    scenario = {
        "name": "response",
        "duration": f"{seconds} s",
        "defaults": {"tcp": TCP | {"initial_ssthresh": round(reno)}, "congestion": [setup.choice]},
        "links": [link],
        "flows": [{"from": "client", "to": "server"}],
        "record": record(seconds),
    }
    return Task((p, rtt_s), scenario, seed, lambda result: _measure(result, rtt_s))


def _measure(result: Result, rtt_s: float) -> dict[str, float]:
    """Returns the mean window, inferred from the payload that arrived in the settled part."""
    import numpy as np

    trace = result.trace()
    start = result.simulated_s * SETTLED
    from_, to = np.interp(
        [start, result.simulated_s], trace["time_s"].to_numpy(), trace["arrived_bytes"].to_numpy().astype(np.float64)
    )
    window = float(to - from_) / PAYLOAD * rtt_s / (result.simulated_s - start)
    return {"window_segments": window, "utilisation": float(result.summary["links"][0]["utilisation"])}


def section(setup: Setup, measured: Sequence[Measured], own: Response | None) -> Section:
    """Returns the table of windows, and the slope at each round trip."""
    rows = []
    for (p, rtt), runs in groups(measured):
        row = {"p": p, "rtt_s": rtt} | columns(runs, "window_segments")
        row["limited"] = any(run.values["utilisation"] >= LIMITED for run in runs)
        row["reno_segments"], row["cubic_segments"] = theory.mathis(p), theory.cubic(p, rtt)
        row["deviation_reno"] = row["window_segments"] / row["reno_segments"] - 1
        row["deviation_cubic"] = row["window_segments"] / row["cubic_segments"] - 1
        if own is not None:
            row["own_segments"] = float(own(p, rtt))
            row["deviation_own"] = row["window_segments"] / row["own_segments"] - 1
        rows.append(row)
    slopes = [_slope(measured, rtt, rows) for rtt in RTTS_S]
    said = [_said(slope) for slope in slopes]
    holds = None
    if own is not None:
        judged = [abs(row["deviation_own"]) for row in rows]
        holds = max(judged) <= TOLERANCE
        within = sum(one <= TOLERANCE for one in judged)
        said.append(f"own response function within {100 * TOLERANCE:.0f} % at {within} of {len(judged)} points")
    return Section("response", "Response to loss", rows, "; ".join(said), holds, figures={"slopes": slopes})


def _slope(measured: Sequence[Measured], rtt: float, rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Returns the slope of log window against log p, fitted for each seed, with its interval."""
    import numpy as np

    usable = {row["p"] for row in rows if row["rtt_s"] == rtt and not row["limited"] and row["window_segments"] > 0}
    by_seed: dict[int, list[tuple[float, float]]] = {}
    for run in measured:
        p, own_rtt = run.point
        if own_rtt == rtt and p in usable and run.values["window_segments"] > 0:
            by_seed.setdefault(run.seed, []).append((math.log(p), math.log(run.values["window_segments"])))
    fits = [
        float(np.polyfit([x for x, _ in points], [y for _, y in points], 1)[0])
        for points in by_seed.values()
        if len(points) > 2
    ]
    interval = mean_interval(fits)
    return {"rtt_s": rtt, "slope": interval.mean, "half_width": interval.half_width, "points": len(usable)}


def _said(slope: dict[str, float]) -> str:
    at = f"at {slope['rtt_s'] * 1e3:g} ms"
    if math.isnan(slope["slope"]):
        return f"{at} the link limits: no slope"
    spread = "" if math.isnan(slope["half_width"]) else f" ± {slope['half_width']:.3f}"
    return f"{at} slope {slope['slope']:.3f}{spread}"
