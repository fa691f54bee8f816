"""Conditions that the paper leaves open, or that only its text describes (§III).

These are the queue, pacing and ρ, error rates, round-trip times, and wired flows at the same bottleneck.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lightlag.analyse import mean_interval
from lightlag.validation import theory
from lightlag_papers.hybla_cubic import equations
from lightlag_papers.hybla_cubic.comparison import (
    BDP,
    ENOUGH,
    JUDGED_S,
    PACKET_BYTES,
    PAYLOAD_BYTES,
    RATE_BPS,
    RTT_S,
    SATELLITE,
    SEEDS,
    SMALL_QUEUE,
    Setting,
)
from lightlag_papers.paper import Effort
from lightlag_papers.table import Layout, Row, Verdict, pm

GRID_SEEDS = 5
QUEUES = {"50": SMALL_QUEUE, "0.5 BDP": BDP // 2, "1 BDP": BDP}
RHOS = ("min_rtt", "srtt")
PERS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
HIGH_PERS = tuple(per for per in PERS if per >= 1e-3)
RTTS_S = (0.025, 0.05, 0.1, 0.2, 0.4, 0.6)
MODEL_MBPS = {
    (SMALL_QUEUE, "CUBIC", False, "min_rtt"): 2.5,
    (SMALL_QUEUE, "Hybla", False, "min_rtt"): 1.9,
    (SMALL_QUEUE, "Hybla", True, "min_rtt"): 15.7,
    (SMALL_QUEUE, "Hybla", False, "srtt"): 0.26,
    (SMALL_QUEUE, "NewReno", False, "min_rtt"): 0.64,
    (BDP // 2, "CUBIC", False, "min_rtt"): 7.9,
    (BDP // 2, "Hybla", False, "min_rtt"): 18.5,
    (BDP // 2, "Hybla", True, "min_rtt"): 18.5,
    (BDP // 2, "Hybla", False, "srtt"): 15.7,
    (BDP // 2, "NewReno", False, "min_rtt"): 2.5,
    (BDP, "CUBIC", False, "min_rtt"): 7.9,
    (BDP, "Hybla", False, "min_rtt"): 20.6,
    (BDP, "Hybla", True, "min_rtt"): 19.5,
    (BDP, "Hybla", False, "srtt"): 22.4,
    (BDP, "NewReno", False, "min_rtt"): 2.5,
}
"""Goodput of an idealised model at these points (one flow, SACK without detection of lost retransmissions), 3 seeds."""

Goodputs = dict[Setting, list[float]]
"""Goodput for each seed in Mbit/s, by setting."""


def goodputs(settings: Iterable[Setting], effort: Effort, seeds: int) -> Goodputs:
    """Runs all settings with the same seeds."""
    wanted = list(dict.fromkeys(settings))
    numbers = effort.seeds_of(seeds)
    return effort.collect(_goodput, [(setting, seed) for setting in wanted for seed in numbers], lambda run: run[0])


def _goodput(run: tuple[Setting, int]) -> float:
    setting, seed = run
    (flow,) = setting.run(seed, record="off").summary["flows"]
    return float(flow["goodput_bps"]) / 1e6


def grid_settings() -> list[Setting]:
    """Returns the settings for all queues.

    Hybla is paced or not, with ρ from either round-trip time; CUBIC is paced or not; NewReno is not paced.
    """
    settings = []
    for queue in QUEUES.values():
        for paced in (False, True):
            settings += [Setting("Hybla", queue, paced, rho, seconds=JUDGED_S) for rho in RHOS]
            settings.append(Setting("CUBIC", queue, paced, seconds=JUDGED_S))
        settings.append(Setting("NewReno", queue, seconds=JUDGED_S))
    return settings


def grid_rows(found: Goodputs) -> list[Row]:
    """Returns the rows on the queue sizes with which CUBIC is ahead, and those with which Hybla is."""
    return [_queue_row(found, name, queue) for name, queue in QUEUES.items()] + [_paced_row(found)]


def _queue_row(found: Goodputs, name: str, queue: int) -> Row:
    cubic, hybla = (found[Setting(algorithm, queue, seconds=JUDGED_S)] for algorithm in ("CUBIC", "Hybla"))
    ours = statistics.fmean(hybla) / statistics.fmean(cubic)
    model = MODEL_MBPS[queue, "Hybla", False, "min_rtt"] / MODEL_MBPS[queue, "CUBIC", False, "min_rtt"]
    small = queue == SMALL_QUEUE
    good = sum(b > a for a, b in zip(cubic, hybla, strict=True))
    return Row(
        "Fig. 6",
        f"queue of {name + ' packets' if small else name}, not paced: goodput of {JUDGED_S:.0f} s, Hybla over CUBIC",
        "",
        f"{model:.1f} (idealised model)",
        f"{ours:.2f} ({pm(mean_interval(hybla))} and {pm(mean_interval(cubic))} Mbit/s)",
        Verdict.NOT_JUDGED if small else Verdict.check(ours >= 1.5 and good >= ENOUGH * len(cubic)),
        "the queue of every reading"
        if small
        else f"at least 1.5, as in the model; it is in {good} of {len(cubic)} seeds. The paper's order requires a "
        "queue that is small compared with the bursts",
    )


def _paced_row(found: Goodputs) -> Row:
    paced, plain = (found[Setting("Hybla", SMALL_QUEUE, paced, seconds=JUDGED_S)] for paced in (True, False))
    cubic = found[Setting("CUBIC", SMALL_QUEUE, seconds=JUDGED_S)]
    good = sum(a > b for a, b in zip(paced, cubic, strict=True))
    return Row.check(
        "Fig. 6",
        f"queue of 50 packets: goodput of {JUDGED_S:.0f} s of Hybla with pacing, Mbit/s",
        "15.7 (idealised model)",
        f"{pm(mean_interval(paced))}, without {pm(mean_interval(plain))}, CUBIC {pm(mean_interval(cubic))}",
        statistics.fmean(paced) > statistics.fmean(cubic) and good >= ENOUGH * len(paced),
        f"above CUBIC in {good} of {len(paced)} seeds: Hybla's authors demand pacing, and the paper's conclusion holds "
        "for Hybla without it",
    )


def grid_layout(found: Goodputs) -> Layout:
    """Returns the table of all queues and settings."""
    header = ("algorithm", "paced", "ρ from", *(f"queue {name}" for name in QUEUES), "idealised model")
    kinds = dict.fromkeys((one.algorithm, one.paced, one.rho_from) for one in found)
    lines = []
    for algorithm, paced, rho in kinds:
        cells = [found[Setting(algorithm, queue, paced, rho, seconds=JUDGED_S)] for queue in QUEUES.values()]
        models = [MODEL_MBPS.get((queue, algorithm, paced, rho)) for queue in QUEUES.values()]
        known = ", ".join("-" if one is None else f"{one:g}" for one in models)
        lines.append(
            (
                algorithm,
                "yes" if paced else "no",
                rho if algorithm == "Hybla" else "",
                *(pm(mean_interval(cell)) for cell in cells),
                known if any(models) else "",
            )
        )
    seeds = len(next(iter(found.values())))
    title = f"Goodput of {JUDGED_S:.0f} s in Mbit/s, RTT 600 ms, PER 1e-4 a hop, {seeds} seeds"
    return Layout("queues", title, header, tuple(lines))


def per_settings(
    queues: Sequence[int] = (SMALL_QUEUE,), pers: Sequence[float] = HIGH_PERS, **unstated: Any
) -> list[Setting]:
    """Returns settings of Hybla and CUBIC for these queues and error rates, with further fields of `Setting`."""
    return [
        Setting(algorithm, queue, per=per, seconds=JUDGED_S, **unstated)
        for per in pers
        for queue in queues
        for algorithm in ("CUBIC", "Hybla")
    ]


def per_row(found: Goodputs, **unstated: Any) -> Row:
    """Returns the row on whether CUBIC is slower than Hybla at high error rates with the small queue."""
    means, good = [], []
    for per in HIGH_PERS:
        cubic, hybla = (found[one] for one in per_settings(pers=(per,), **unstated))
        means.append((statistics.fmean(hybla), statistics.fmean(cubic)))
        good.append(sum(b > a for a, b in zip(cubic, hybla, strict=True)))
    count = len(next(iter(found.values())))
    return Row.claim(
        "§III-D",
        f"PER {', '.join(f'{per:g}' for per in HIGH_PERS)} a hop: goodput, Mbit/s: Hybla, CUBIC",
        "CUBIC below Hybla at higher error rates",
        "; ".join(f"{hybla:.2f}, {cubic:.2f}" for hybla, cubic in means),
        all(hybla > cubic for hybla, cubic in means) and min(good) >= ENOUGH * count,
        f"Hybla's larger in 8 of 10 seeds at each; it is in {', '.join(map(str, good))} of {count}",
        theory="; ".join(f"{hybla:.2f}, {cubic:.2f}" for hybla, cubic in map(_responses, HIGH_PERS))
        + " (response functions)",
    )


def _responses(per: float) -> tuple[float, float]:
    """Returns the goodput of Hybla and CUBIC in Mbit/s according to their response functions."""
    p = 1 - (1 - per) ** 2
    return _mbps(equations.hybla(p, RTT_S)), _mbps(theory.cubic(p, RTT_S, beta=0.8))


def queue_errors() -> list[Setting]:
    """Returns the settings for the figure: both queues at every error rate, and Hybla with pacing."""
    queues = (SMALL_QUEUE, BDP // 2)
    paced = [Setting("Hybla", queue, True, per=per, seconds=JUDGED_S) for per in PERS for queue in queues]
    return per_settings(queues, PERS) + paced


def queue_errors_row(found: Goodputs) -> Row:
    """Returns the row on whether Hybla is also ahead with a larger queue."""
    cells = [[found[one] for one in per_settings((BDP // 2,), (per,))] for per in HIGH_PERS]
    good = [sum(b > a for a, b in zip(cubic, hybla, strict=True)) for cubic, hybla in cells]
    count = len(cells[0][0])
    return Row.check(
        "§III-D",
        f"PER {', '.join(f'{per:g}' for per in HIGH_PERS)} a hop, queue of {BDP // 2} packets: goodput, Mbit/s: "
        "Hybla, CUBIC",
        "; ".join(f"{hybla:.2f}, {cubic:.2f}" for hybla, cubic in map(_responses, HIGH_PERS)) + " (response functions)",
        "; ".join(f"{statistics.fmean(hybla):.2f}, {statistics.fmean(cubic):.2f}" for cubic, hybla in cells),
        min(good) >= ENOUGH * count,
        f"Hybla's larger in 8 of 10 seeds at each; it is in {', '.join(map(str, good))} of {count}",
    )


def _mbps(window: float) -> float:
    """Returns the goodput that a mean window achieves on the path without queueing, limited by the link's rate."""
    share = PAYLOAD_BYTES / PACKET_BYTES
    return min(window * PAYLOAD_BYTES * 8 / RTT_S, RATE_BPS * share) / 1e6


def rtt_settings() -> list[Setting]:
    """Returns settings of CUBIC, Hybla and paced Hybla at every round-trip time, with the small queue."""
    return [
        Setting(algorithm, paced=paced, rtt_s=rtt, seconds=JUDGED_S)
        for rtt in RTTS_S
        for algorithm, paced in (("CUBIC", False), ("Hybla", False), ("Hybla", True), ("NewReno", False))
    ]


def rtt_rows(found: Goodputs) -> list[Row]:
    """Returns rows on equation 7, by which growth does not depend on the round-trip time, with losses and a queue."""
    reasons = {
        "Hybla": "growth does not depend on the RTT (the claim above), the burst of a round trip does, and the queue "
        "of 50 packets does not grow with it",
        "Hybla, paced": "with pacing there is no burst",
        "CUBIC": "its growth does not depend on the RTT, its rate W/RTT does",
    }
    rows = []
    for name, algorithm, paced in (
        ("Hybla", "Hybla", False),
        ("Hybla, paced", "Hybla", True),
        ("CUBIC", "CUBIC", False),
    ):
        means = [statistics.fmean(found[_at_rtt(algorithm, paced, rtt)]) for rtt in RTTS_S]
        quantity = f"{name}: goodput at RTT {', '.join(f'{rtt * 1e3:.0f}' for rtt in RTTS_S)} ms, Mbit/s"
        ours = ", ".join(f"{mean:.1f}" for mean in means)
        rows.append(Row.informing("equation 7", quantity, ours, reasons[name]))
    return rows


def _at_rtt(algorithm: str, paced: bool, rtt_s: float) -> Setting:
    return Setting(algorithm, paced=paced, rtt_s=rtt_s, seconds=JUDGED_S)


@dataclass(frozen=True)
class Shared:
    """Goodputs in Mbit/s at a bottleneck shared with three wired NewReno flows.

    Attributes
    ----------
    satellite, wired
        Goodput of the flow over the satellite, and total goodput of the wired flows, for each seed.
    """

    satellite: list[float]
    wired: list[float]


SHARED = (("CUBIC", False), ("Hybla", False), ("Hybla", True), ("NewReno", False))


def shared(effort: Effort) -> dict[tuple[str, bool], Shared]:
    """Runs all algorithms together with the wired flows."""
    seeds = effort.seeds_of(SEEDS)
    return {kind: _shared(Setting(kind[0], paced=kind[1], seconds=JUDGED_S), effort, seeds) for kind in SHARED}


def _shared(setting: Setting, effort: Effort, seeds: Sequence[int]) -> Shared:
    def one(seed: int) -> tuple[float, float]:
        flows = setting.run(seed, name="shared", record="off").summary["flows"]
        rates = {flow["name"]: flow["goodput_bps"] / 1e6 for flow in flows}
        own = rates.pop(SATELLITE)
        return own, sum(rates.values())

    work: Callable[[int], tuple[float, float]] = one
    own, rest = zip(*effort.map(work, seeds), strict=True)
    return Shared(list(own), list(rest))


def shared_rows(found: dict[tuple[str, bool], Shared]) -> list[Row]:
    """Returns the rows on how the bottleneck is shared with the wired flows."""
    return [
        Row.informing(
            "Fig. 3",
            f"{name}{', paced' if paced else ''}, with three wired NewReno flows: goodput, Mbit/s",
            f"{pm(mean_interval(one.satellite))}; wired together {pm(mean_interval(one.wired))}",
            "RTT 600 ms against 25 ms at a queue of 50 packets, which the wired flows keep full"
            if (name, paced) == SHARED[0]
            else "",
        )
        for (name, paced), one in found.items()
    ]
