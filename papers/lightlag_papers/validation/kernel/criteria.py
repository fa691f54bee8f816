"""The criteria of the comparison with the kernel, fixed before it was run, and whether they hold."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from lightlag import _engine
from lightlag_papers.validation.kernel.points import Point
from lightlag_papers.validation.kernel.runs import Observed

SAME = 0.95
"""The least share of transfers with a pattern of losses in which both numbers are the kernel's, and of those that
complete in time."""

MEDIAN, WORST = 0.005, 0.05
"""Largest deviations from the kernel's goodput, of the median of the bulk cells and of each cell."""

SAME_GOODPUT = 0.01
"""Largest deviation at which the goodput with one seed counts as the kernel's."""

ERRORS = 2
"""Standard errors by which a mean over seeds may exceed `WORST`: that much is chance in a few flows that scatter."""

COMPLETION, COMPLETION_S = 0.01, 0.010
"""Largest deviation of a completion time from the kernel's: the larger of a share and of seconds."""

WITHIN = f"within {COMPLETION:.0%} or {1e3 * COMPLETION_S:.0f} ms of what the kernel's runs span"

MOST_FAMILIES = 0.95
"""The least share of the cells of families in which each of goodput, completion and counts is the kernel's."""


@dataclass(frozen=True)
class Cell:
    """One place of the comparison: a point, the kernel's runs of it, and ours.

    Seeds of a bulk flow are one cell, and so are the phases of a transfer with a pattern of losses; the first of those
    counts where only one can.
    """

    point: Point
    kernel: tuple[Observed, ...]
    ours: tuple[Observed, ...]

    @property
    def counts(self) -> tuple[int, int]:
        """The kernel's retransmissions and timeouts: those that most of its runs agree on, the first of equals."""
        return Counter((run.retransmissions, run.timeouts) for run in self.kernel).most_common(1)[0][0]

    @property
    def repeats_itself(self) -> bool:
        """Whether all of the kernel's runs have the same counts."""
        return len({(run.retransmissions, run.timeouts) for run in self.kernel}) == 1

    @property
    def our_counts(self) -> tuple[int, int]:
        """Our retransmissions and timeouts."""
        return self.ours[0].retransmissions, self.ours[0].timeouts

    @property
    def same_counts(self) -> bool:
        """Whether both numbers are the kernel's."""
        return self.counts == self.our_counts

    @property
    def counts_of_a_run(self) -> bool:
        """Whether both numbers are those of one of the kernel's runs."""
        return self.our_counts in {(run.retransmissions, run.timeouts) for run in self.kernel}

    @property
    def kernel_s(self) -> float:
        """The kernel's completion time: the median of those of its runs that the machine disturbed least."""
        least = min(run.late for run in self.kernel)
        return statistics.median(run.elapsed_s for run in self.kernel if run.late == least)

    @property
    def ours_s(self) -> float:
        """Our completion time."""
        return self.ours[0].elapsed_s

    @property
    def kernel_span_s(self) -> tuple[float, float]:
        """The kernel's shortest and longest completion time of its runs in time."""
        runs_s = [run.elapsed_s for run in self.kernel if not run.is_late] or [self.kernel_s]
        return min(runs_s), max(runs_s)

    @property
    def our_span_s(self) -> tuple[float, float]:
        """Our shortest and longest completion time."""
        runs_s = [run.elapsed_s for run in self.ours]
        return min(runs_s), max(runs_s)

    @property
    def in_time(self) -> bool:
        """Whether a completion time of ours can be one of the kernel's: what both span meets, within the tolerance."""
        (least, most), (our_least, our_most) = self.kernel_span_s, self.our_span_s
        return least - tolerance_s(least) <= our_most and our_least <= most + tolerance_s(most)

    @property
    def depends_on_phase(self) -> bool:
        """Whether our completion times differ by more than the tolerance."""
        least, most = self.our_span_s
        return most - least > tolerance_s(least)

    @property
    def kernel_bps(self) -> float:
        """The kernel's mean goodput."""
        return statistics.fmean(run.goodput_bps for run in self.kernel)

    @property
    def ratio(self) -> float:
        """Our mean goodput by the kernel's."""
        return statistics.fmean(run.goodput_bps for run in self.ours) / self.kernel_bps

    @property
    def error(self) -> float:
        """The standard error of `ratio`, from the differences between the two sides at each seed; 0 of one run."""
        if len(self.ours) < 2:
            return 0.0
        differences = [ours.goodput_bps - its.goodput_bps for ours, its in zip(self.ours, self.kernel, strict=True)]
        return statistics.stdev(differences) / math.sqrt(len(differences)) / self.kernel_bps

    @property
    def same_goodputs(self) -> int:
        """How many seeds have the kernel's goodput, to 1 %."""
        pairs = zip(self.ours, self.kernel, strict=True)
        return sum(abs(ours.goodput_bps / its.goodput_bps - 1) <= SAME_GOODPUT for ours, its in pairs)

    @property
    def deviates(self) -> bool:
        """Whether the mean goodput is further from the kernel's than `WORST`, by more than `ERRORS` standard errors."""
        return abs(self.ratio - 1) > WORST + ERRORS * self.error

    @property
    def is_outside(self) -> bool:
        """Whether it misses the criterion of its group."""
        match self.point.group:
            case "pattern":
                return not (self.same_counts and self.in_time)
            case "completion":
                return not self.in_time
            case "family" if self.point.segments is not None:
                return not (self.in_time and self.counts_of_a_run)
            case _:
                return self.deviates

    def record(self) -> dict[str, Any]:
        """The cell as plain values for JSON: times, goodputs, and what each run counted."""
        return {
            "group": self.point.group,
            "place": self.point.place,
            "kernel": list(map(asdict, self.kernel)),
            "ours": list(map(asdict, self.ours)),
            "kernel_s": self.kernel_s,
            "ours_s": self.ours_s,
            "goodput_ratio": self.ratio,
            "holds": not self.is_outside,
        }

    def sums(self, runs: Sequence[Observed]) -> str:
        """Retransmissions and timeouts of all seeds in text."""
        return f"{sum(run.retransmissions for run in runs)}/{sum(run.timeouts for run in runs)}"


@dataclass(frozen=True)
class Verdict:
    """A criterion, what was found, and whether it holds."""

    criterion: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Compared:
    """The cells of a comparison with the kernel."""

    cells: Sequence[Cell]

    @property
    def verdicts(self) -> list[Verdict]:
        """Every criterion of the groups that were run."""
        return verdicts(self.cells)

    def failures(self) -> list[str]:
        """A line for each criterion that does not hold."""
        return [f"{verdict.criterion}: {verdict.found}" for verdict in self.verdicts if not verdict.holds]

    def record(self) -> dict[str, Any]:
        """Criteria and cells as plain values for JSON."""
        return {
            "validated": "kernel",
            "version": _engine.__version__,
            "holds": not self.failures(),
            "criteria": list(map(asdict, self.verdicts)),
            "cells": [cell.record() for cell in self.cells],
        }


def tolerance_s(seconds: float) -> float:
    """The largest deviation from a completion time."""
    return max(COMPLETION * seconds, COMPLETION_S)


def cells(kernel: Mapping[Point, Sequence[Observed]], ours: Mapping[Point, Sequence[Observed]]) -> list[Cell]:
    """The cells, in the order of their points; seeds of the same place together."""
    places: dict[Point, list[Point]] = {}
    for point in kernel:
        places.setdefault(replace(point, seed=0), []).append(point)
    return [
        Cell(
            points[0],
            tuple(run for point in points for run in _telling(point, kernel[point], ours[point][0])),
            tuple(run for point in points for run in ours[point]),
        )
        for points in places.values()
    ]


def _telling(point: Point, runs: Sequence[Observed], ours: Observed) -> Sequence[Observed]:
    """The runs that count.

    Of a transfer all, of a bulk flow the one in the middle, of one with few losses the one nearest to ours. A flow of a
    family has two: the one with the fewer late deliveries counts.

    A moment in which the machine stood still costs a bulk flow a window. With few losses it decides when the ACKs of
    slow start look like a train to HyStart: the kernel has several outcomes for the same losses, to the byte, and ours
    is to be one of them.
    """
    if point.segments is not None:
        return runs
    if point.group == "family":
        return [min(runs, key=lambda run: (run.late, -run.bytes))]
    if point.has_few_losses:
        return [min(runs, key=lambda run: abs(run.bytes - ours.bytes))]
    return [sorted(runs, key=lambda run: run.bytes)[(len(runs) - 1) // 2]]


def of_group(found: Iterable[Cell], group: str) -> list[Cell]:
    """The cells of a group."""
    return [cell for cell in found if cell.point.group == group]


def median_deviation(found: Sequence[Cell]) -> float:
    """The median of the deviations in goodput."""
    return statistics.median(abs(cell.ratio - 1) for cell in found)


def _of_families(cells: Sequence[Cell]) -> list[Verdict]:
    """The criteria of the families."""
    flows = [cell for cell in cells if cell.point.segments is None]
    transfers = [cell for cell in cells if cell.point.segments is not None]
    judged = [
        (f"goodput within {WORST:.0%}, or {ERRORS} standard errors more", [not cell.deviates for cell in flows]),
        (f"completion {WITHIN}", [cell.in_time for cell in transfers]),
        ("retransmissions and timeouts of one of the kernel's runs", [cell.counts_of_a_run for cell in transfers]),
    ]
    return [
        Verdict(
            f"families: {criterion}, in {MOST_FAMILIES:.0%} of the cells",
            f"{sum(holds)} of {len(holds)}, {sum(holds) / len(holds):.1%}",
            sum(holds) >= MOST_FAMILIES * len(holds),
        )
        for criterion, holds in judged
        if holds
    ]


def verdicts(found: Sequence[Cell]) -> list[Verdict]:
    """Every criterion of the groups that were run."""
    lines = []
    if cells := of_group(found, "pattern"):
        same = sum(cell.same_counts for cell in cells)
        lines.append(
            Verdict(
                f"patterns of losses: the kernel's retransmissions and timeouts in {SAME:.0%} of the cells",
                f"{same} of {len(cells)}, {same / len(cells):.1%}",
                same >= SAME * len(cells),
            )
        )
        inside = sum(cell.in_time for cell in cells)
        lines.append(
            Verdict(
                f"patterns of losses: completion {WITHIN} in {SAME:.0%} of the cells",
                f"{inside} of {len(cells)}, {inside / len(cells):.1%}",
                inside >= SAME * len(cells),
            )
        )
    if cells := of_group(found, "completion"):
        inside = sum(cell.in_time for cell in cells)
        lines.append(
            Verdict(
                f"completion: {WITHIN}",
                f"{inside} of {len(cells)}",
                inside == len(cells),
            )
        )
    if cells := of_group(found, "bulk"):
        median, worst = median_deviation(cells), max(abs(cell.ratio - 1) for cell in cells)
        lines.append(Verdict(f"goodput: median deviation at most {MEDIAN:.1%}", f"{median:.2%}", median <= MEDIAN))
        inside = sum(abs(cell.ratio - 1) <= WORST for cell in cells)
        near = sum(not cell.deviates for cell in cells) - inside
        lines.append(
            Verdict(
                f"goodput: every deviation at most {WORST:.0%}, or {ERRORS} standard errors more",
                f"{inside} of {len(cells)} inside, {near} within the errors; worst {worst:.1%}",
                inside + near == len(cells),
            )
        )
    if cells := of_group(found, "family"):
        lines += _of_families(cells)
    return lines
