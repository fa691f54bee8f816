"""The criteria of the comparison with the kernel, which were fixed before the first run, and whether they hold."""

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
"""Minimum fraction of transfers with a loss pattern whose retransmissions and timeouts equal the kernel's, and of
transfers that complete in time.
"""

MEDIAN, WORST = 0.005, 0.05
"""Maximum deviations from the kernel's goodput: of the median over the bulk cells, and of each cell."""

SAME_GOODPUT = 0.01
"""Maximum deviation between a single seed's goodput and the kernel's for both to count as equal."""

ERRORS = 2
"""Number of standard errors by which a mean over seeds may exceed `WORST`, because a few flows scatter by that much."""

COMPLETION, COMPLETION_S = 0.01, 0.010
"""Maximum deviation of a completion time from the kernel's: a fraction or a number of seconds, whichever is larger."""

WITHIN = f"within {COMPLETION:.0%} or {1000.0 * COMPLETION_S:.0f} ms of the range of the kernel's runs"

MOST_FAMILIES = 0.95
"""Minimum fraction of the family cells whose goodput, completion time or counts equal the kernel's."""


@dataclass(frozen=True)
class Cell:
    """A cell of the comparison: a point, the kernel's runs at that point, and ours.

    All seeds of a bulk flow are one cell, and so are all phases of a transfer with a loss pattern. If only one
    phase can be used, it is the first.
    """

    point: Point
    kernel: tuple[Observed, ...]
    ours: tuple[Observed, ...]

    @property
    def counts(self) -> tuple[int, int]:
        """The kernel's retransmissions and timeouts: the most frequent pair in its runs, in case of a tie the first."""
        return Counter((run.retransmissions, run.timeouts) for run in self.kernel).most_common(1)[0][0]

    @property
    def repeats_itself(self) -> bool:
        """Whether all of the kernel's runs have the same counts."""
        return len({(run.retransmissions, run.timeouts) for run in self.kernel}) == 1

    @property
    def our_counts(self) -> tuple[int, int]:
        """Our retransmissions and timeouts in the first run."""
        return self.ours[0].retransmissions, self.ours[0].timeouts

    @property
    def same_counts(self) -> bool:
        """Whether our retransmissions and timeouts equal the kernel's."""
        return self.counts == self.our_counts

    @property
    def counts_of_a_run(self) -> bool:
        """Whether our retransmissions and timeouts equal the counts of one of the kernel's runs."""
        return self.our_counts in {(run.retransmissions, run.timeouts) for run in self.kernel}

    @property
    def kernel_s(self) -> float:
        """The kernel's completion time: the median of its runs with the fewest late deliveries."""
        least = min(run.late for run in self.kernel)
        return statistics.median(run.elapsed_s for run in self.kernel if run.late == least)

    @property
    def ours_s(self) -> float:
        """Our completion time in the first run."""
        return self.ours[0].elapsed_s

    @property
    def kernel_span_s(self) -> tuple[float, float]:
        """The kernel's shortest and longest completion time among its runs without too many late deliveries."""
        runs_s = [run.elapsed_s for run in self.kernel if not run.is_late] or [self.kernel_s]
        return min(runs_s), max(runs_s)

    @property
    def our_span_s(self) -> tuple[float, float]:
        """Our shortest and longest completion time."""
        runs_s = [run.elapsed_s for run in self.ours]
        return min(runs_s), max(runs_s)

    @property
    def in_time(self) -> bool:
        """Whether our range of completion times overlaps the kernel's, within the tolerance."""
        (least, most), (our_least, our_most) = self.kernel_span_s, self.our_span_s
        return least - tolerance_s(least) <= our_most and our_least <= most + tolerance_s(most)

    @property
    def depends_on_phase(self) -> bool:
        """Whether our completion times differ between phases by more than the tolerance."""
        least, most = self.our_span_s
        return most - least > tolerance_s(least)

    @property
    def kernel_bps(self) -> float:
        """The kernel's mean goodput."""
        return statistics.fmean(run.goodput_bps for run in self.kernel)

    @property
    def ratio(self) -> float:
        """The ratio of our mean goodput to the kernel's."""
        return statistics.fmean(run.goodput_bps for run in self.ours) / self.kernel_bps

    @property
    def error(self) -> float:
        """The standard error of `ratio`, from the differences between both sides for each seed; 0 for a single run."""
        if len(self.ours) < 2:
            return 0.0
        differences = [ours.goodput_bps - its.goodput_bps for ours, its in zip(self.ours, self.kernel, strict=True)]
        return statistics.stdev(differences) / math.sqrt(len(differences)) / self.kernel_bps

    @property
    def same_goodputs(self) -> int:
        """The number of seeds whose goodput equals the kernel's within 1 %."""
        pairs = zip(self.ours, self.kernel, strict=True)
        return sum(abs(ours.goodput_bps / its.goodput_bps - 1) <= SAME_GOODPUT for ours, its in pairs)

    @property
    def deviates(self) -> bool:
        """Whether the deviation of the mean goodput exceeds `WORST` by more than `ERRORS` standard errors."""
        return abs(self.ratio - 1) > WORST + ERRORS * self.error

    @property
    def is_outside(self) -> bool:
        """Whether the cell does not meet the criterion of its group."""
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
        """Returns the cell as plain values for JSON: times, goodputs, and the counts of each run."""
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
        """Formats the total retransmissions and timeouts of several runs."""
        return f"{sum(run.retransmissions for run in runs)}/{sum(run.timeouts for run in runs)}"


@dataclass(frozen=True)
class Verdict:
    """A criterion, the result, and whether the criterion holds."""

    criterion: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Compared:
    """The cells of a comparison with the kernel."""

    cells: Sequence[Cell]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts on all criteria of the groups that were run."""
        return verdicts(self.cells)

    def failures(self) -> list[str]:
        """Returns a line for each criterion that does not hold."""
        return [f"{verdict.criterion}: {verdict.found}" for verdict in self.verdicts if not verdict.holds]

    def record(self) -> dict[str, Any]:
        """Returns criteria and cells as plain values for JSON."""
        return {
            "validated": "kernel",
            "version": _engine.__version__,
            "holds": not self.failures(),
            "criteria": list(map(asdict, self.verdicts)),
            "cells": [cell.record() for cell in self.cells],
        }


def tolerance_s(seconds: float) -> float:
    """Returns the maximum deviation allowed for a completion time."""
    return max(COMPLETION * seconds, COMPLETION_S)


def cells(kernel: Mapping[Point, Sequence[Observed]], ours: Mapping[Point, Sequence[Observed]]) -> list[Cell]:
    """Returns the cells in the order of their points; the seeds of a point form one cell."""
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
    """Returns the kernel's runs that are used for the comparison.

    For a transfer these are all runs; for a bulk flow the median run; for a flow with few losses the run nearest
    to ours; and for a flow of a family the run with fewer late deliveries.

    A stall of the machine costs a bulk flow a window. With few losses, a stall determines when HyStart takes the
    ACKs in slow start for an ACK train. The kernel then has several outcomes for the same losses, and ours should
    equal one of them.
    """
    if point.segments is not None:
        return runs
    if point.group == "family":
        return [min(runs, key=lambda run: (run.late, -run.bytes))]
    if point.has_few_losses:
        return [min(runs, key=lambda run: abs(run.bytes - ours.bytes))]
    return [sorted(runs, key=lambda run: run.bytes)[(len(runs) - 1) // 2]]


def of_group(found: Iterable[Cell], group: str) -> list[Cell]:
    """Returns the cells of a group."""
    return [cell for cell in found if cell.point.group == group]


def median_deviation(found: Sequence[Cell]) -> float:
    """Returns the median of the absolute deviations in goodput."""
    return statistics.median(abs(cell.ratio - 1) for cell in found)


def _of_families(cells: Sequence[Cell]) -> list[Verdict]:
    """Returns the verdicts on the criteria of the families."""
    flows = [cell for cell in cells if cell.point.segments is None]
    transfers = [cell for cell in cells if cell.point.segments is not None]
    checked = [
        (f"goodput within {WORST:.0%}, or {ERRORS} standard errors more", [not cell.deviates for cell in flows]),
        (f"completion {WITHIN}", [cell.in_time for cell in transfers]),
        ("retransmissions and timeouts of one of the kernel's runs", [cell.counts_of_a_run for cell in transfers]),
    ]
    return [
        _share(f"families: {criterion}, in {MOST_FAMILIES:.0%} of the cells", holds, MOST_FAMILIES)
        for criterion, holds in checked
        if holds
    ]


def _share(criterion: str, holds: Sequence[bool], least: float) -> Verdict:
    """Returns the verdict on whether a criterion holds in at least this fraction of the cells."""
    return Verdict(
        criterion, f"{sum(holds)} of {len(holds)}, {sum(holds) / len(holds):.1%}", sum(holds) >= least * len(holds)
    )


def verdicts(found: Sequence[Cell]) -> list[Verdict]:
    """Returns the verdicts on all criteria of the groups that were run."""
    lines = []
    if cells := of_group(found, "pattern"):
        same = f"patterns of losses: the kernel's retransmissions and timeouts in {SAME:.0%} of the cells"
        in_time = f"patterns of losses: completion {WITHIN} in {SAME:.0%} of the cells"
        lines.append(_share(same, [cell.same_counts for cell in cells], SAME))
        lines.append(_share(in_time, [cell.in_time for cell in cells], SAME))
    if cells := of_group(found, "completion"):
        inside = sum(cell.in_time for cell in cells)
        lines.append(Verdict(f"completion: {WITHIN}", f"{inside} of {len(cells)}", inside == len(cells)))
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
