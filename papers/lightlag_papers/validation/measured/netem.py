"""Goodput of Linux over netem: the cells of LANMAN 2023, and ours over a model of the same paths."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lightlag_papers.validation.measured import data, figures
from lightlag_papers.validation.measured.data import Cell
from lightlag_papers.validation.measured.fact import Fact, Section, Spread, Verdict, judge
from lightlag_papers.validation.measured.runs import Task, Work, goodput
from lightlag_papers.validation.measured.tolerances import CELL, MOST_CELLS

NAME = "netem"
SOURCE = "Deutschmann et al. 2023 (LANMAN), Linux over netem"
DURATION_S = 60
SEEDS = {"bbr": 9, "cubic": 41}
"""Number of our runs per cell: so many that our median of CUBIC, whose runs differ by up to 50 %, is known to 5 %."""
FAST_MBPS, FAST_SEEDS = 50, 3
"""Cells of BBR from this rate on have fewer seeds: a run takes long, and its results differ by 1 %."""
RESAMPLES = 1000
"""Number of draws, with replacement, from the repetitions of a cell."""
LIMIT = "1000 packets"

WINDOW = "3 MiB"
"""Maximum window of Linux's default receive buffer, 6 MiB (`tcp_rmem`)."""

ABOUT = [
    "Kernels download for 60 s (iperf 2) through two netem machines: one with rate and delay, then one with the "
    "losses, in both directions. Nine repetitions per cell; the value is their median, in brackets the smallest and "
    f"largest. Ours: {SEEDS['cubic']} seeds for CUBIC, {SEEDS['bbr']} for BBR ({FAST_SEEDS} at {FAST_MBPS} Mbit/s or "
    "more). The model: a link with rate and delay, then one of 1 Gbit/s with the losses; frames have 14 bytes of "
    "Ethernet, windows at most 3 MiB, and HyStart's rounds start at the low window, as in kernels of that time.",
    f"A cell agrees if the ratio of the medians is within {CELL:.0%}, or the ranges overlap; a congestion control "
    f"agrees if at least {MOST_CELLS:.0%} of its cells are within {CELL:.0%}, whatever their ranges.",
    "netem handles a burst of the sender (GSO) as one packet: it loses complete bursts, its limit of 1000 counts "
    "bursts, those in flight too, and the receiver gets, and acknowledges, a burst as one. The model has the three "
    "(`bursts`, discipline `netem`, `receive_offload`).",
    "The median of nine repetitions is itself uncertain. Resampled from its repetitions, it is within "
    f"{CELL:.0%} of itself in fewer than all cells: the row of each congestion control states in how many, and how "
    f"probable {MOST_CELLS:.0%} would be for a model without any deviation.",
]


@dataclass(frozen=True)
class Switches:
    """Parts of the model that can be switched off.

    Attributes
    ----------
    bursts
        Whether complete bursts are lost, and not single segments.
    offload
        Whether the receiver gets a burst as one.
    acks
        Whether the return path loses packets too.
    limit
        Whether the limit of netem counts packets in flight.
    """

    bursts: bool = True
    offload: bool = True
    acks: bool = True
    limit: bool = True

    @property
    def text(self) -> str:
        """The part that is off."""
        off = {
            "single losses": self.bursts,
            "segments received one by one": self.offload,
            "no ACKs lost": self.acks,
            "limit without packets in flight": self.limit,
        }
        return ", ".join(name for name, on in off.items() if not on)


def switches() -> list[Switches]:
    """Returns the switches, each with one part off."""
    return [Switches(bursts=False), Switches(offload=False), Switches(acks=False), Switches(limit=False)]


def scenario(cell: Cell, parts: Switches | None = None) -> dict[str, Any]:
    """Returns the scenario of a cell, with all parts of the model or the given ones."""
    parts = Switches() if parts is None else parts
    p = cell.loss_percent / 100
    lossy: dict[str, Any] = {"between": ["gateway", "client"], "rate": "1 Gbit/s", "delay": "10 us", "header": "14 B"}
    if p:
        lossy["loss"] = {"forward": {"bursts": p} if parts.bursts else p, "backward": p if parts.acks else 0.0}
    path = {
        "between": ["server", "gateway"],
        "rate": f"{cell.rate_mbps:g} Mbit/s",
        "delay": f"{cell.delay_ms:g} ms",
        "queue": {"discipline": "netem", "limit": LIMIT} if parts.limit else LIMIT,
        "header": "14 B",
    }
    congestion: Any = cell.congestion
    if congestion == "cubic":
        congestion = {"algorithm": "cubic", "hystart_late_rounds": True}
    tcp = {
        "profile": "linux",
        "congestion": congestion,
        "receive_buffer": {"auto": {"initial": "64 KiB", "max": WINDOW}},
        "receive_offload": parts.offload,
    }
    return {
        "name": "netem",
        "duration": f"{DURATION_S} s",
        "defaults": {"tcp": tcp},
        "links": [path, lossy],
        "flows": [{"from": "server", "to": "client"}],
        "record": {"trace": "off", "queue": "off", "drops": False},
    }


def seeds(cell: Cell, most: int | None = None) -> range:
    """Returns the seeds of a cell's runs: one if nothing is random."""
    if not cell.loss_percent:
        return range(1, 2)
    fast = cell.congestion == "bbr" and cell.rate_mbps >= FAST_MBPS
    count = FAST_SEEDS if fast else SEEDS[cell.congestion]
    return range(1, 1 + (count if most is None else min(most, count)))


def values(
    work: Work, said: str, cells: Sequence[Cell], most: int | None = None, parts: Switches | None = None
) -> list[list[float]]:
    """Returns our goodputs in Mbit/s for each cell, over the seeds."""
    tasks = [Task(scenario(cell, parts), seed, goodput) for cell in cells for seed in seeds(cell, most)]
    found = iter(work.run(said, tasks))
    return [[next(found)["goodput_mbps"] for _ in seeds(cell, most)] for cell in cells]


Switched = dict[Switches, dict[Cell, float]]
"""Our median goodput per cell with each switch."""


def section(work: Work, cells: Sequence[Cell] | None = None, most: int | None = None) -> Section:
    """Returns the rows of all cells, the criteria, and the switches that explain deviations."""
    cells = data.cells() if cells is None else cells
    ours = values(work, "Linux over netem", cells, most)
    lossy = [cell for cell in cells if cell.loss_percent]
    switched: Switched = {
        parts: {
            cell: statistics.median(found)
            for cell, found in zip(lossy, values(work, f"netem, {parts.text}", lossy, most, parts), strict=True)
        }
        for parts in switches()
    }
    found = Section(NAME, "Linux over netem", ABOUT)
    pairs = [(cell, Spread.of(cell.goodput_mbps), Spread.of(mine)) for cell, mine in zip(cells, ours, strict=True)]
    for name in sorted({cell.congestion for cell in cells}):
        found.facts.append(_criterion(name, [pair for pair in pairs if pair[0].congestion == name], switched))
    for cell, measured, mine in pairs:
        verdict = judge(measured, mine, CELL)
        reason = f"within {CELL:.0%}" if _within(measured, mine) else "the ranges overlap"
        if verdict is Verdict.DIFFERS:
            reason = _reason(cell, measured, switched)
        setting = f"{cell.congestion}, {cell.place}"
        found.facts.append(Fact(SOURCE, setting, "goodput", "Mbit/s", measured, mine, verdict, reason))
    found.figures.append(figures.cells(pairs))
    return found


def _within(measured: Spread, ours: Spread) -> bool:
    return abs(ours.value / measured.value - 1) <= CELL


def _criterion(name: str, pairs: Sequence[tuple[Cell, Spread, Spread]], switched: Switched) -> Fact:
    """Returns the row that counts the cells of one congestion control within the tolerance."""
    good = sum(_within(measured, ours) for _, measured, ours in pairs)
    share = good / len(pairs)
    reason = f"{good} of {len(pairs)} cells within {CELL:.0%}; at least {MOST_CELLS:.0%} required"
    lossy = [(cell, measured, ours) for cell, measured, ours in pairs if cell.loss_percent]
    if lossy:
        ratios = {"": [ours.value / measured.value for _, measured, ours in lossy]}
        for parts, found in switched.items():
            ratios[parts.text] = [found[cell] / measured.value for cell, measured, _ in lossy]
        shown = [f"{text or 'as modelled'} {statistics.median(values):.2f}" for text, values in ratios.items()]
        reason += f". Median ratio of the cells with loss: {'; '.join(shown)}"
    expected, probability = repeatability([cell for cell, _, _ in pairs])
    resampled = f"{expected:.1f} cells; {MOST_CELLS:.0%} in {probability:.0%} of draws"
    reason += f". The kernel's own repetitions, resampled: {resampled}"
    verdict = Verdict.AGREES if share >= MOST_CELLS else Verdict.DIFFERS
    quantity = f"fraction of cells within {CELL:.0%}"
    return Fact(SOURCE, f"{name}, {len(pairs)} cells", quantity, "", Spread(1.0), Spread(share), verdict, reason)


def repeatability(cells: Sequence[Cell]) -> tuple[float, float]:
    """Returns how well the repetitions of a kernel agree with their own medians.

    Returns
    -------
    expected
        Mean number of cells where the median of resampled repetitions is within the tolerance.
    probability
        Fraction of draws with at least the required fraction of cells within the tolerance.
    """
    source = random.Random(1)
    counts = [0] * RESAMPLES
    for cell in cells:
        runs = list(cell.goodput_mbps)
        median = statistics.median(runs)
        for draw in range(RESAMPLES):
            again = statistics.median(source.choices(runs, k=len(runs)))
            counts[draw] += abs(again / median - 1) <= CELL
    required = MOST_CELLS * len(cells)
    return statistics.mean(counts), sum(count >= required for count in counts) / RESAMPLES


def _reason(cell: Cell, measured: Spread, switched: Switched) -> str:
    """Returns the switches of a cell that differs, with the ratio that each leads to."""
    if not cell.loss_percent:
        return "no losses: not explained"
    ratios = [f"{parts.text}: ratio {found[cell] / measured.value:.2f}" for parts, found in switched.items()]
    return f"not explained; {'; '.join(ratios)}"
