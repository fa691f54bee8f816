"""Confidence targets: they set the number of seeds of a cell, by checks after numbers of seeds that are fixed in
advance.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lightlag import _engine
from lightlag.analyse import Interval, student_t
from lightlag.errors import InputError
from lightlag.outcomes.design import MEASURES
from lightlag.outcomes.variables import quantity
from lightlag.text.terminal import printable

__all__ = ["Target", "Verdict"]

GROWTH = 1.5
"""Ratio of the numbers of seeds at consecutive checks."""
MOST = 10_000
"""Maximum number of seeds of a cell."""
FORMER = {"measure": "metric", "least": "min_seeds", "most": "max_seeds"}
"""Former keys and their present names."""
UNITS = {"bit/s": "bit/s", "s": "s", "ms": "s", "%": "", "": ""}
"""The unit of a metric's column, by the unit in which the metric is shown."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a check of a cell."""

    interval: Interval
    """The interval of the metric, which is valid at any check that stops the cell."""
    is_over: bool
    """Whether the cell needs no more seeds: the target is reached, or no more are allowed."""
    is_reached: bool
    seeds_needed: int | None
    """Estimated number of seeds to reach the target, from the spread so far; None if there is nothing to estimate from.
    """


@dataclass(frozen=True, slots=True)
class Target:
    """A confidence target: a metric and its required precision.

    Checks take place at `min_seeds` seeds and then at 1.5 times as many each time, up to `max_seeds`. With K checks,
    each uses the Student-t interval of confidence 1 - (1 - confidence) / K: by Bonferroni's inequality all K intervals
    hold simultaneously with at least the requested confidence. So does the interval of the final check, whatever spread
    caused the stop. An unadjusted interval that is checked repeatedly would not (Armitage, McPherson and Rowe, 1969).

    Attributes
    ----------
    metric
        Column of the metric, such as ``goodput_bps``.
    within
        Maximum half width of the interval: a fraction of the mean, or a value in the unit of the column.
    is_share
        Whether `within` is a fraction.
    confidence
        Confidence of the interval.
    min_seeds, max_seeds
        Minimum and maximum number of seeds of a cell.
    """

    metric: str
    within: float
    is_share: bool = True
    confidence: float = 0.95
    min_seeds: int = 10
    max_seeds: int = 200

    @classmethod
    def of(cls, given: Any, place: str = "until") -> Target:
        """Returns a target from a table: ``{ metric = "goodput_bps", within = "2 %", max_seeds = 200 }``.

        Raises
        ------
        InputError
            If it is not a valid target.
        """
        if isinstance(given, Target):
            return given
        keys = {"metric", "within", "confidence", "min_seeds", "max_seeds"}
        if not isinstance(given, Mapping):
            raise InputError(
                f"{place}: {printable(repr(given)):.60} is not a table; write "
                '{ metric = "goodput_bps", within = "2 %" }'
            )
        if unknown := sorted(given.keys() - keys):
            remedy = (
                f"is now {FORMER[unknown[0]]}"
                if unknown[0] in FORMER
                else (f"is not a key of a target; there are {', '.join(sorted(keys))}")
            )
            raise InputError(f"{place}.{printable(unknown[0])}: {remedy}")
        columns = {measure.column: measure for measure in MEASURES}
        metric, within = given.get("metric", "goodput_bps"), given.get("within")
        if metric not in columns:
            raise InputError(
                f"{place}.metric: {printable(repr(metric)):.60} is not a metric; write one of {', '.join(columns)}"
            )
        width, is_share = _width(within, UNITS[columns[metric].unit], f"{place}.within")
        confidence = given.get("confidence", 0.95)
        min_seeds, max_seeds = given.get("min_seeds", 10), given.get("max_seeds", 200)
        if not isinstance(confidence, float) or not 0.5 <= confidence < 1:
            raise InputError(
                f"{place}.confidence: {printable(repr(confidence)):.60} is not from 0.5 to below 1; write 0.95"
            )
        for name, value in (("min_seeds", min_seeds), ("max_seeds", max_seeds)):
            if not isinstance(value, int) or isinstance(value, bool) or not 2 <= value <= MOST:
                raise InputError(
                    f"{place}.{name}: {printable(repr(value)):.60} is not a number of seeds from 2 to {MOST:,}"
                )
        if min_seeds > max_seeds:
            raise InputError(f"{place}: min_seeds = {min_seeds} is more than max_seeds = {max_seeds}; swap them")
        return cls(metric, width, is_share, confidence, min_seeds, max_seeds)

    @property
    def looks(self) -> tuple[int, ...]:
        """Numbers of seeds that trigger a check of a cell.

        Examples
        --------
        >>> Target("goodput_bps", 0.02, min_seeds=10, max_seeds=50).looks
        (10, 15, 23, 35, 50)
        """
        found = [self.min_seeds]
        while found[-1] < self.max_seeds:
            found.append(min(self.max_seeds, math.ceil(GROWTH * found[-1])))
        return tuple(found)

    def judge(self, values: Iterable[float | None], seeds: int) -> Verdict:
        """Checks a cell and returns the outcome.

        Parameters
        ----------
        values
            The metric of each run that has it.
        seeds
            Number of runs, including runs without a value.
        """
        numbers = [value for value in values if value is not None and not math.isnan(value)]
        interval = self.interval(numbers)
        is_last = seeds >= self.max_seeds
        if len(numbers) < 2:
            # Transfers that do not end have no completion time: more seeds would not help.
            return Verdict(interval, True, False, None)
        wanted = self.within * abs(interval.mean) if self.is_share else self.within
        is_reached = self.is_within(interval.mean, interval.half_width)
        return Verdict(interval, is_reached or is_last, is_reached, self._needed(interval, wanted, seeds))

    def _needed(self, interval: Interval, wanted: float, seeds: int) -> int | None:
        """Returns the estimated number of seeds, from the spread of the values of `seeds` runs so far."""
        deviation = interval.half_width * math.sqrt(interval.count) / student_t(self.inside, interval.count - 1)
        asked = {"deviation": deviation, "distance": wanted, "confidence": self.inside, "power": 0.5}
        values: float | None = json.loads(_engine.analysis(json.dumps({"sample_size": asked})))
        if values is None:
            return self.min_seeds if wanted else None
        return max(self.min_seeds, math.ceil(values * seeds / interval.count))

    def interval(self, numbers: list[float]) -> Interval:
        """Returns the mean and the half width for one of the checks."""
        count = len(numbers)
        if count < 2:
            return Interval(numbers[0] if numbers else math.nan, math.nan, count)
        mean = math.fsum(numbers) / count
        variance = math.fsum((value - mean) ** 2 for value in numbers) / (count - 1)
        return Interval(mean, student_t(self.inside, count - 1) * math.sqrt(variance / count), count)

    @property
    def inside(self) -> float:
        """The confidence of the interval of a single check."""
        return 1 - (1 - self.confidence) / len(self.looks)

    def is_within(self, mean: float, half_width: float) -> bool:
        """Returns true if an interval is narrow enough."""
        return half_width <= (self.within * abs(mean) if self.is_share else self.within)

    def table(self) -> dict[str, Any]:
        """Returns the target as a table in the form that :meth:`of` takes."""
        unit = UNITS[next(measure.unit for measure in MEASURES if measure.column == self.metric)]
        within = f"{100 * self.within:.12g} %" if self.is_share else f"{self.within:.17g} {unit}"
        return {"metric": self.metric, "within": within, "confidence": self.confidence} | {
            "min_seeds": self.min_seeds,
            "max_seeds": self.max_seeds,
        }

    @property
    def text(self) -> str:
        """Describes the target in words.

        Examples
        --------
        >>> Target("goodput_bps", 0.02).text
        'goodput_bps ± 2 % at 95 %, 10 to 200 seeds'
        """
        width = f"{100 * self.within:g} %" if self.is_share else f"{self.within:g}"
        return f"{self.metric} ± {width} at {100 * self.confidence:g} %, {self.min_seeds} to {self.max_seeds} seeds"


def _width(given: Any, unit: str, place: str) -> tuple[float, bool]:
    """Parses a half width; also returns whether it is a fraction of the mean."""
    text = f"{given:.17g}" if isinstance(given, (int, float)) and not isinstance(given, bool) else given
    remedy = 'write a fraction of the mean, "2 %"' + (f", or a quantity in {unit}" if unit else "")
    number, found = quantity(text, unit or None) if isinstance(text, str) else (None, "")
    if number is None or not 0 < number < math.inf:
        raise InputError(f"{place}: {printable(repr(given)):.60} is not a valid half-width of an interval; {remedy}")
    is_share = found in ("", "%")
    width = number / 100 if found == "%" else number
    if is_share and width >= 1:
        raise InputError(f"{place}: {printable(repr(given)):.60} is not less than the mean; {remedy}")
    return width, is_share
