"""The curves of a run for the figure of a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightlag.validation.cases.phases import BITS, PAYLOAD, Run

if TYPE_CHECKING:
    from lightlag.validation.cases.paths import Path

__all__ = ["Curves", "curves"]

BINS = 150
"""Number of intervals over which goodput is averaged."""
POINTS = 1200
"""Maximum number of points of a curve."""


@dataclass(frozen=True)
class Curves:
    """Rates, data in flight and queue of one run over time."""

    start_s: float
    end_s: float
    time_s: Any
    flight: Any
    """Data in flight in segments."""
    window: Any
    """Congestion window in segments."""
    pacing_bps: Any
    estimate_bps: Any
    """Estimated rate of the bottleneck; NaN for algorithms without an estimate."""
    ends_s: Any
    """Ends of the intervals of the goodput."""
    goodput_bps: Any
    link: list[tuple[float, float]]
    """Times of changes, and the payload rate of the bottleneck or policer since then."""
    queue_s: Any
    queue: Any
    """Packets that wait at the bottleneck."""
    phases: list[tuple[float, float, str]]
    """Start, end and name of each phase."""
    marks: list[float]
    """Times of events."""


def curves(run: Run, path: Path, marks: dict[str, float], start_s: float, end_s: float) -> Curves:
    """Returns the curves of a run in an interval."""
    import numpy as np
    import polars as pl

    inside = np.flatnonzero((run.time >= start_s) & (run.time <= end_s))
    rows = inside[:: max(len(inside) // POINTS, 1)]
    edges = np.linspace(start_s, end_s, BINS + 1)
    arrived = np.array([run.value(run.arrived, edge) for edge in edges])
    queue = run.result.queue.filter(
        (pl.col("link") == "router->receiver") & pl.col("time_s").is_between(start_s, end_s)
    )
    queue = queue.gather_every(max(queue.height // POINTS, 1))
    steps = [change for change in path.changes if "rate" in change]
    rates = [(_number(change["at"]), _number(change["rate"]) * 1e6 * BITS) for change in steps]
    return Curves(
        start_s,
        end_s,
        run.time[rows],
        run.flight[rows] / PAYLOAD,
        run.window[rows],
        run.pacing[rows],
        run.rate[rows],
        edges[1:],
        8 * np.diff(arrived) / np.diff(edges),
        [(0.0, path.capacity_bps), *rates],
        queue["time_s"].to_numpy(),
        queue["packets"].to_numpy(),
        [
            (max(one.start_s, start_s), min(one.end_s, end_s), one.name)
            for one in run.phases
            if one.end_s > start_s and one.start_s < end_s
        ],
        [time for time in marks.values() if start_s <= time <= end_s],
    )


def _number(text: str) -> float:
    """Returns the number before a unit."""
    return float(text.split()[0])
