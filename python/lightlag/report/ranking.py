"""The best of several rivals, and how far the others are behind, from runs that are paired by seed.

Two rivals are compared by the ratio of their means. Its interval is that of Fieller (*Journal of the Royal Statistical
Society* B 16:175, 1954): all ratios r for which the mean of a - r b does not differ from 0 by Student's t. It leaves
out 1 exactly where the t test of the paired differences tells the two apart.

The best is compared with each of the k - 1 others. Each of these intervals has the confidence 1 - (1 - 0.95) / (k - 1)
(Bonferroni). If another rival is the true best, then the one that is named must have passed the test against that one;
there are k - 1 rivals that could be named wrongly, so that the whole chance of naming a wrong one is at most 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lightlag.analyse import student_t

__all__ = ["Gap", "Ranking", "Rival", "confidence_of_each", "gap", "ranked"]


@dataclass(frozen=True, slots=True)
class Rival:
    """One that is compared: its values of a measure by seed."""

    name: str
    values: Mapping[int, float]
    is_fixed: bool = False
    """Whether all its runs are the same, because nothing in them is random."""

    @property
    def mean(self) -> float:
        """The mean of its values."""
        return math.fsum(self.values.values()) / len(self.values)


@dataclass(frozen=True, slots=True)
class Gap:
    """The best beside another one, over the seeds that both have."""

    best: str
    other: str
    pairs: int
    ratio: float
    """The mean of the best by that of the other; NaN where that is 0."""
    low: float
    high: float
    """The ends of the interval of the ratio; NaN where there is none."""
    difference: float
    """The mean of the best less that of the other."""
    half_width: float
    """Of the interval of the difference; NaN below two pairs, and where all differences are the same."""
    is_fixed: bool
    """Whether nothing is random on either side: the ratio is exact."""

    @property
    def is_clear(self) -> bool:
        """Whether the two differ beyond chance."""
        if self.is_fixed:
            return self.difference != 0
        return not math.isnan(self.half_width) and abs(self.difference) > self.half_width

    @property
    def seeds_needed(self) -> int | None:
        """Seeds with which the interval would leave out 0, if means and spread stayed; None without an estimate."""
        if self.is_fixed or math.isnan(self.half_width) or self.difference == 0:
            return None
        return math.ceil(self.pairs * (self.half_width / self.difference) ** 2)


def gap(best: Rival, other: Rival, confidence: float) -> Gap:
    """The best beside another one.

    Raises
    ------
    ValueError
        If they have no seed in common.
    """
    seeds = sorted(best.values.keys() & other.values.keys())
    if not seeds:
        raise ValueError(f"{best.name} and {other.name} have no seed in common")
    a, b = [best.values[seed] for seed in seeds], [other.values[seed] for seed in seeds]
    count = len(seeds)
    mean_a, mean_b = math.fsum(a) / count, math.fsum(b) / count
    difference = mean_a - mean_b
    is_fixed = best.is_fixed and other.is_fixed
    ratio = mean_a / mean_b if mean_b else math.nan
    low = high = half = math.nan
    if count > 1 and not is_fixed:
        quantile = student_t(confidence, count - 1)
        spread = _variance([x - y for x, y in zip(a, b, strict=True)]) / count
        if spread > 0:
            half = quantile * math.sqrt(spread)
            low, high = _fieller(a, b, quantile)
    return Gap(best.name, other.name, count, ratio, low, high, difference, half, is_fixed)


def _variance(values: Sequence[float]) -> float:
    """Of a sample. Values that are equal have none; the sum of their rounding errors would be one."""
    if min(values) == max(values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _fieller(a: Sequence[float], b: Sequence[float], quantile: float) -> tuple[float, float]:
    """The interval of the ratio of two means; NaN where the mean below may be 0."""
    count = len(a)
    mean_a, mean_b = math.fsum(a) / count, math.fsum(b) / count
    part = quantile**2 / count
    shared = math.fsum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True)) / (count - 1)
    below = mean_b**2 - part * _variance(b)
    middle = mean_a * mean_b - part * shared
    inside = middle**2 - below * (mean_a**2 - part * _variance(a))
    if below <= 0 or inside < 0:
        return math.nan, math.nan
    return (middle - math.sqrt(inside)) / below, (middle + math.sqrt(inside)) / below


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rivals by a measure, the best first."""

    rivals: tuple[Rival, ...]
    gaps: tuple[Gap, ...]
    """The best beside each of the others, in their order."""
    more_is_better: bool

    @property
    def best(self) -> Rival:
        """The one with the best mean."""
        return self.rivals[0]

    @property
    def level(self) -> list[str]:
        """The best, and those that cannot be told apart from it."""
        return [self.best.name, *(one.other for one in self.gaps if one not in self.behind)]

    @property
    def behind(self) -> list[Gap]:
        """The gaps to those that are worse beyond chance."""
        # Over the seeds in common the other may be the better one.
        return [one for one in self.gaps if one.is_clear and (one.difference > 0) == self.more_is_better]

    @property
    def is_judged(self) -> bool:
        """Whether there are intervals, or nothing is random: one run alone says nothing about chance."""
        return all(one.is_fixed or not math.isnan(one.half_width) or one.pairs > 1 for one in self.gaps)


def confidence_of_each(comparisons: int, confidence: float) -> float:
    """Returns the confidence of each of several intervals, so that all hold together with `confidence` (Bonferroni).

    Examples
    --------
    >>> round(confidence_of_each(3, 0.95), 4)
    0.9833
    """
    return 1 - (1 - confidence) / max(comparisons, 1)


def ranked(rivals: Sequence[Rival], *, more_is_better: bool, confidence: float = 0.95) -> Ranking:
    """The ranking of rivals that have values, and seeds in common with the best.

    Parameters
    ----------
    confidence
        With which all gaps hold together.

    Examples
    --------
    >>> fast, slow = Rival("fast", {1: 9.0, 2: 10.0, 3: 11.0}), Rival("slow", {1: 8.0, 2: 9.1, 3: 9.8})
    >>> found = ranked([slow, fast], more_is_better=True)
    >>> found.best.name, found.gaps[0].is_clear, round(found.gaps[0].low, 2), round(found.gaps[0].high, 2)
    ('fast', True, 1.08, 1.15)
    """
    order = sorted((one for one in rivals if one.values), key=lambda one: one.mean, reverse=more_is_better)
    if not order:
        raise ValueError("nobody has a value")
    others = [one for one in order[1:] if one.values.keys() & order[0].values.keys()]
    each = confidence_of_each(len(others), confidence)
    return Ranking((order[0], *others), tuple(gap(order[0], one, each) for one in others), more_is_better)
