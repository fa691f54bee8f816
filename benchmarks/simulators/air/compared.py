"""A quantity in ns-3 and in lightlag, and the verdict on their ratio."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

UNCERTAIN = "uncertain"
"""Verdict on a ratio that is outside the tolerance, by two standard errors or less."""
OUTSIDE = "**outside**"


@dataclass(frozen=True)
class Pair:
    """A quantity in both simulators, one value per seed."""

    theirs: Sequence[float]
    ours: Sequence[float]

    @property
    def ratio(self) -> float:
        """Ratio of our mean to theirs."""
        theirs = fmean(self.theirs)
        return fmean(self.ours) / theirs if theirs else math.nan

    @property
    def error(self) -> float:
        """The standard error of the ratio."""
        shares = (error(side) / fmean(side) if fmean(side) else 0.0 for side in (self.theirs, self.ours))
        return self.ratio * math.hypot(*shares)

    def verdict(self, tolerance: float) -> str:
        """Whether the ratio is within `tolerance` of one."""
        if fmean(self.theirs) == fmean(self.ours):
            return "equal"
        if math.isnan(self.ratio):
            return OUTSIDE
        return verdict(abs(self.ratio - 1), tolerance, self.error)

    def cells(self, tolerance: float, digits: int = 2) -> list[str]:
        """Returns the cells of a row: theirs, ours, their ratio and the verdict."""
        if math.isnan(self.ratio):
            ratio = "–"
        else:
            ratio = f"{self.ratio:.3f}" + (f" ± {self.error:.3f}" if len(self.ours) > 1 else "")
        return [mean(self.theirs, digits), mean(self.ours, digits), ratio, self.verdict(tolerance)]


def verdict(apart: float, tolerance: float, standard_error: float = 0.0) -> str:
    """Returns whether a difference is within a tolerance, or outside by no more than two standard errors."""
    if apart <= tolerance:
        return "within"
    return UNCERTAIN if apart - tolerance <= 2 * standard_error else OUTSIDE


def error(values: Sequence[float]) -> float:
    """The standard error of a mean."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def mean(values: Sequence[float], digits: int) -> str:
    """A mean, with its standard error where there are several values."""
    text = f"{fmean(values):.{digits}f}"
    return f"{text} ± {error(values):.{digits}f}" if len(values) > 1 else text


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown, with numbers in all columns except the last."""
    lines = [f"| {' | '.join(head)} |", "|" + " ---: |" * (len(head) - 1) + " --- |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


_VERDICTS = {"within", "equal", UNCERTAIN, OUTSIDE, "–"}


def deviations(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns the number of rows within every tolerance, with the range of their ratios, and a table of the others."""
    shown = [row for row in rows if UNCERTAIN in row or OUTSIDE in row]
    within = [row for row in rows if row not in shown]
    columns = [{row[index] for row in rows} for index in range(len(head))]
    tolerances = [name for name, cells in zip(head, columns, strict=True) if cells <= _VERDICTS and cells != {"–"}]
    ratios = [
        cell.partition(" ")[0] for row in within for name, cell in zip(head, row, strict=True) if name.startswith("ratio")
    ]
    numbers = sorted((text for text in ratios if text != "–"), key=float)
    *others, last = dict.fromkeys(tolerances)
    text = f"{len(within)} of {len(rows)} rows are within {', '.join(others)}{' and ' if others else ''}{last}"
    if numbers:
        text += f" (ratio{'s' if len(numbers) > 1 else ''} {' to '.join(dict.fromkeys((numbers[0], numbers[-1])))})"
    return f"{text}. The others:\n\n{table(head, shown)}" if shown else f"{text}.\n"
