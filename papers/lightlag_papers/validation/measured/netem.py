"""Goodput of Linux over netem: the cells of LANMAN 2023, and ours over a model of the same paths."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from lightlag_papers.validation.measured import data, figures
from lightlag_papers.validation.measured.data import Cell
from lightlag_papers.validation.measured.fact import Fact, Section, Spread, Verdict, judge
from lightlag_papers.validation.measured.runs import Task, Work, goodput
from lightlag_papers.validation.measured.tolerances import CELL, MOST_CELLS

NAME = "netem"
SOURCE = "Deutschmann et al. 2023 (LANMAN), Linux over netem"
DURATION_S = 60
SEEDS = 9
"""Number of our runs per cell, as many as the kernel's repetitions."""
FAST_MBPS, FAST_SEEDS = 50, 3
"""Cells of BBR from this rate on have fewer seeds: a run takes long, and its results differ by 1 %."""
BURST = 2
"""Mean number of segments in one of the kernel's packets at netem.

netem drops complete packets of the kernel, before they are segmented. `tcp_tso_autosize` makes them 1 ms long, and at
least two segments (`tcp_min_tso_segs`).
"""

ABOUT = [
    "Kernels download for 60 s (iperf 2) through two netem machines: one with rate and delay, then one with the "
    "losses, "
    "in both directions. Nine repetitions per cell; the value is their median, in brackets the smallest and largest. "
    "Ours: "
    f"{SEEDS} seeds ({FAST_SEEDS} for BBR at {FAST_MBPS} Mbit/s or more). The model: a link with rate, delay and a "
    "queue of "
    "1000 packets, then one of 1 Gbit/s with the losses. netem drops complete packets of the kernel, which have two "
    "segments "
    f"or more; the model loses runs of {BURST} data segments on average, and single ACKs.",
    f"A cell agrees if the ratio of the medians is within {CELL:.0%}, or the ranges overlap; a congestion control "
    "agrees "
    f"if at least {MOST_CELLS:.0%} of its cells are within {CELL:.0%}, whatever their ranges.",
]


def scenario(cell: Cell, *, burst: float = BURST, acks_lost: bool = True) -> dict[str, Any]:
    """Returns the scenario of a cell.

    Parameters
    ----------
    cell
        The cell: rate, delay and loss of the path, and the congestion control.
    burst
        Mean number of consecutive data segments in a loss.
    acks_lost
        Whether the return path loses packets too.
    """
    p = cell.loss_percent / 100
    lossy: dict[str, Any] = {"between": ["gateway", "client"], "rate": "1 Gbit/s", "delay": "10 us"}
    if p:
        forward: Any = {"mean": p, "burst": burst} if burst > 1 else p
        lossy["loss"] = {"forward": forward, "backward": p if acks_lost else 0.0}
    path = {
        "between": ["server", "gateway"],
        "rate": f"{cell.rate_mbps:g} Mbit/s",
        "delay": f"{cell.delay_ms:g} ms",
        "queue": "1000 packets",
    }
    return {
        "name": "netem",
        "duration": f"{DURATION_S} s",
        "defaults": {"tcp": {"profile": "linux", "congestion": cell.congestion}},
        "links": [path, lossy],
        "flows": [{"from": "server", "to": "client"}],
        "record": {"trace": "off", "queue": "off", "drops": False},
    }


def seeds(cell: Cell, most: int = SEEDS) -> range:
    """Returns the seeds of a cell's runs: one if nothing is random."""
    if not cell.loss_percent:
        return range(1, 2)
    fast = cell.congestion == "bbr" and cell.rate_mbps >= FAST_MBPS
    return range(1, 1 + min(most, FAST_SEEDS if fast else most))


def values(work: Work, said: str, cells: Sequence[Cell], most: int = SEEDS, **changes: Any) -> list[list[float]]:
    """Returns our goodputs in Mbit/s for each cell, over the seeds."""
    tasks = [Task(scenario(cell, **changes), seed, goodput) for cell in cells for seed in seeds(cell, most)]
    found = iter(work.run(said, tasks))
    return [[next(found)["goodput_mbps"] for _ in seeds(cell, most)] for cell in cells]


def section(work: Work, cells: Sequence[Cell] | None = None, most: int = SEEDS) -> Section:
    """Returns the rows of all cells, the criteria, and the switches that explain deviations."""
    cells = data.cells() if cells is None else cells
    ours = values(work, "Linux over netem", cells, most)
    lossy = [cell for cell in cells if cell.loss_percent]
    single = dict(zip(lossy, values(work, "netem, single losses", lossy, most, burst=1), strict=True))
    quiet = dict(zip(lossy, values(work, "netem, no ACKs lost", lossy, most, acks_lost=False), strict=True))
    found = Section(NAME, "Linux over netem", list(ABOUT))
    pairs = [(cell, Spread.of(cell.goodput_mbps), Spread.of(mine)) for cell, mine in zip(cells, ours, strict=True)]
    for name in sorted({cell.congestion for cell in cells}):
        found.facts.append(_criterion(name, [pair for pair in pairs if pair[0].congestion == name], single, quiet))
    for cell, measured, mine in pairs:
        verdict = judge(measured, mine, CELL)
        reason = f"within {CELL:.0%}" if _within(measured, mine) else "the ranges overlap"
        if verdict is Verdict.DIFFERS:
            reason = _reason(cell, measured, single, quiet)
        setting = f"{cell.congestion}, {cell.place}"
        found.facts.append(Fact(SOURCE, setting, "goodput", "Mbit/s", measured, mine, verdict, reason))
    found.figures.append(figures.cells(pairs))
    return found


def _within(measured: Spread, ours: Spread) -> bool:
    return abs(ours.value / measured.value - 1) <= CELL


def _criterion(
    name: str,
    pairs: Sequence[tuple[Cell, Spread, Spread]],
    single: dict[Cell, list[float]],
    quiet: dict[Cell, list[float]],
) -> Fact:
    """Returns the row that counts the cells of one congestion control within the tolerance."""
    good = sum(_within(measured, ours) for _, measured, ours in pairs)
    share = good / len(pairs)
    reason = f"{good} of {len(pairs)} cells within {CELL:.0%}; at least {MOST_CELLS:.0%} required"
    lossy = [(cell, measured) for cell, measured, _ in pairs if cell in single]
    if lossy:
        now = statistics.median(ours.value / measured.value for cell, measured, ours in pairs if cell in single)
        reason += (
            f". Median ratio of the cells with loss {now:.2f}; single losses instead of runs of {BURST}: "
            f"{_median_ratio(lossy, single):.2f}; no ACKs lost: {_median_ratio(lossy, quiet):.2f}"
        )
    verdict = Verdict.AGREES if share >= MOST_CELLS else Verdict.DIFFERS
    quantity = f"cells with goodput within {CELL:.0%}"
    return Fact(SOURCE, f"{name}, {len(pairs)} cells", quantity, "", Spread(1.0), Spread(share), verdict, reason)


def _median_ratio(cells: Sequence[tuple[Cell, Spread]], found: dict[Cell, list[float]]) -> float:
    return statistics.median(statistics.median(found[cell]) / measured.value for cell, measured in cells)


def _reason(cell: Cell, measured: Spread, single: dict[Cell, list[float]], quiet: dict[Cell, list[float]]) -> str:
    """Returns the switches of a cell that differs, with the ratio that each leads to."""
    if cell not in single:
        return "no losses: not explained"
    ratios = {
        f"single losses instead of runs of {BURST}": statistics.median(single[cell]) / measured.value,
        "no ACKs lost": statistics.median(quiet[cell]) / measured.value,
    }
    return "not explained; " + "; ".join(f"{name}: ratio {ratio:.2f}" for name, ratio in ratios.items())
