"""A figure of ns-3 beside ours, and the verdict on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev


@dataclass(frozen=True)
class Pair:
    """A quantity in both simulators, a value a seed."""

    theirs: Sequence[float]
    ours: Sequence[float]

    @property
    def ratio(self) -> float:
        """Our mean over theirs."""
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
            return "**outside**"
        return verdict(abs(self.ratio - 1), tolerance, self.error)

    def cells(self, tolerance: float, digits: int = 2) -> list[str]:
        """Theirs, ours, their ratio and the verdict."""
        if math.isnan(self.ratio):
            ratio = "–"
        else:
            ratio = f"{self.ratio:.3f}" + (f" ± {self.error:.3f}" if len(self.ours) > 1 else "")
        return [mean(self.theirs, digits), mean(self.ours, digits), ratio, self.verdict(tolerance)]


def verdict(apart: float, tolerance: float, standard_error: float = 0.0) -> str:
    """Whether a difference is within a tolerance, or might be but for chance."""
    if apart <= tolerance:
        return "within"
    return "by chance, or outside" if apart - tolerance <= 2 * standard_error else "**outside**"


def error(values: Sequence[float]) -> float:
    """The standard error of a mean."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def mean(values: Sequence[float], digits: int) -> str:
    """A mean, with its standard error where there are several values."""
    text = f"{fmean(values):.{digits}f}"
    return f"{text} ± {error(values):.{digits}f}" if len(values) > 1 else text


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; the last column is a verdict."""
    lines = [f"| {' | '.join(head)} |", "|" + " ---: |" * (len(head) - 1) + " --- |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"
