"""Runs until a confidence target: how many seeds a cell needs, decided at looks that are fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lightlag.analyse import Interval, student_t
from lightlag.errors import InputError
from lightlag.outcomes.design import MEASURES
from lightlag.outcomes.variables import quantity
from lightlag.text.terminal import printable

__all__ = ["Target", "Verdict"]

GROWTH = 1.5
"""Seeds of a look by those of the look before."""
MOST = 10_000
"""Seeds of a cell at most."""
UNITS = {"bit/s": "bit/s", "s": "s", "ms": "s", "%": "", "": ""}
"""The unit of a column, by the unit in which its measure is shown."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A cell at a look."""

    interval: Interval
    """Valid at whichever look the cell stops."""
    is_over: bool
    """Whether it needs no more seeds: the target is reached, or no more are allowed."""
    is_reached: bool
    seeds_needed: int | None
    """An estimate of the seeds for the target, from the spread so far; None if there is nothing to estimate from."""


@dataclass(frozen=True, slots=True)
class Target:
    """A measure that is to be known so well.

    The looks are at `least` seeds and then at half as many again each time, up to `most`. With K looks, each uses the
    Student-t interval of confidence 1 - (1 - confidence) / K: by Bonferroni's inequality all K intervals hold together
    with at least the confidence asked for, and so does the one at which the cell stops, however the spread decides
    where that is. A fixed interval that is looked at again and again would not (Armitage, McPherson and Rowe, 1969).

    Attributes
    ----------
    measure
        Its column, such as ``goodput_bps``.
    within
        Half width of the interval: a share of the mean, or in the unit of the column.
    is_share
        Which of the two.
    confidence
        Of the interval.
    least, most
        Seeds of a cell.
    """

    measure: str
    within: float
    is_share: bool = True
    confidence: float = 0.95
    least: int = 10
    most: int = 200

    @classmethod
    def of(cls, given: Any, place: str = "until") -> Target:
        """A target from a table: ``{ measure = "goodput_bps", within = "2 %", confidence = 0.95, most = 200 }``.

        Raises
        ------
        InputError
            If it is none.
        """
        if isinstance(given, Target):
            return given
        keys = {"measure", "within", "confidence", "least", "most"}
        if not isinstance(given, Mapping):
            raise InputError(
                f'{place}: {printable(repr(given)):.60} is no table; write {{ measure = "goodput_bps", '
                'within = "2 %" }'
            )
        if unknown := sorted(given.keys() - keys):
            raise InputError(
                f"{place}.{printable(unknown[0])}: is no key of a target; there are {', '.join(sorted(keys))}"
            )
        columns = {measure.column: measure for measure in MEASURES}
        measure, within = given.get("measure", "goodput_bps"), given.get("within")
        if measure not in columns:
            raise InputError(
                f"{place}.measure: {printable(repr(measure)):.60} is no measure; write one of {', '.join(columns)}"
            )
        width, is_share = _width(within, UNITS[columns[measure].unit], f"{place}.within")
        confidence, least, most = given.get("confidence", 0.95), given.get("least", 10), given.get("most", 200)
        if not isinstance(confidence, float) or not 0.5 <= confidence < 1:
            raise InputError(
                f"{place}.confidence: {printable(repr(confidence)):.60} is not from 0.5 to below 1; write 0.95"
            )
        for name, value in (("least", least), ("most", most)):
            if not isinstance(value, int) or isinstance(value, bool) or not 2 <= value <= MOST:
                raise InputError(
                    f"{place}.{name}: {printable(repr(value)):.60} is not a number of seeds from 2 to {MOST:,}"
                )
        if least > most:
            raise InputError(f"{place}: least = {least} is more than most = {most}; swap them")
        return cls(measure, width, is_share, confidence, least, most)

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of seeds at which a cell is looked at.

        Examples
        --------
        >>> Target("goodput_bps", 0.02, least=10, most=50).looks
        (10, 15, 23, 35, 50)
        """
        found = [self.least]
        while found[-1] < self.most:
            found.append(min(self.most, math.ceil(GROWTH * found[-1])))
        return tuple(found)

    def judge(self, values: Iterable[float | None], seeds: int) -> Verdict:
        """A cell after a look.

        Parameters
        ----------
        values
            The measure of each run that has it.
        seeds
            The runs, with or without a value.
        """
        numbers = [value for value in values if value is not None and not math.isnan(value)]
        interval = self.interval(numbers)
        is_last = seeds >= self.most
        if len(numbers) < 2:
            # Transfers that do not end have no completion time: more seeds would not help.
            return Verdict(interval, True, False, None)
        wanted = self.within * abs(interval.mean) if self.is_share else self.within
        is_reached = self.is_within(interval.mean, interval.half_width)
        spread = interval.half_width * math.sqrt(len(numbers))
        needed = None if not wanted else max(self.least, math.ceil((spread / wanted) ** 2 * seeds / len(numbers)))
        return Verdict(interval, is_reached or is_last, is_reached, needed)

    def interval(self, numbers: list[float]) -> Interval:
        """Mean and half width of one of the looks."""
        count = len(numbers)
        if count < 2:
            return Interval(numbers[0] if numbers else math.nan, math.nan, count)
        mean = math.fsum(numbers) / count
        variance = math.fsum((value - mean) ** 2 for value in numbers) / (count - 1)
        return Interval(mean, student_t(self.inside, count - 1) * math.sqrt(variance / count), count)

    @property
    def inside(self) -> float:
        """The confidence of the interval of one look."""
        return 1 - (1 - self.confidence) / len(self.looks)

    def is_within(self, mean: float, half_width: float) -> bool:
        """Whether an interval is as narrow as wanted."""
        return half_width <= (self.within * abs(mean) if self.is_share else self.within)

    def table(self) -> dict[str, Any]:
        """As :meth:`of` takes it."""
        unit = UNITS[next(measure.unit for measure in MEASURES if measure.column == self.measure)]
        within = f"{100 * self.within:.12g} %" if self.is_share else f"{self.within:.17g} {unit}"
        return {"measure": self.measure, "within": within, "confidence": self.confidence} | {
            "least": self.least,
            "most": self.most,
        }

    @property
    def text(self) -> str:
        """In words.

        Examples
        --------
        >>> Target("goodput_bps", 0.02).text
        'goodput_bps ± 2 % at 95 %, 10 to 200 seeds'
        """
        width = f"{100 * self.within:g} %" if self.is_share else f"{self.within:g}"
        return f"{self.measure} ± {width} at {100 * self.confidence:g} %, {self.least} to {self.most} seeds"


def _width(given: Any, unit: str, place: str) -> tuple[float, bool]:
    """The half width, and whether it is a share of the mean."""
    text = f"{given:.17g}" if isinstance(given, (int, float)) and not isinstance(given, bool) else given
    remedy = 'write a share of the mean, "2 %"' + (f", or a quantity in {unit}" if unit else "")
    number, found = quantity(text, unit or None) if isinstance(text, str) else (None, "")
    if number is None or not 0 < number < math.inf:
        raise InputError(f"{place}: {printable(repr(given)):.60} is no half width of an interval; {remedy}")
    is_share = found in ("", "%")
    width = number / 100 if found == "%" else number
    if is_share and width >= 1:
        raise InputError(f"{place}: {printable(repr(given)):.60} is the whole mean or more; {remedy}")
    return width, is_share
