"""A measured fact with our value, and its verdict."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightlag_papers.paper import Picture

__all__ = ["COLUMNS", "Fact", "Section", "Spread", "Verdict", "number"]


class Verdict(Enum):
    """Verdict on a row of the scorecard."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NO_VERDICT = "no verdict"


def number(value: float) -> str:
    """Returns a value with three digits, without an exponent.

    Examples
    --------
    >>> number(0.12345), number(12.0), number(1624.2)
    ('0.123', '12', '1624')
    """
    return f"{value:.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


@dataclass(frozen=True)
class Spread:
    """A value with the range that it was found in; the range is None for a single value.

    Examples
    --------
    >>> Spread.of([9.0, 10.0, 14.0]).text("Mbit/s")
    '10 (9 to 14) Mbit/s'
    >>> Spread(20.0).text("Mbit/s")
    '20 Mbit/s'
    """

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Returns the median of values, with their minimum and maximum."""
        return cls(statistics.median(values), min(values), max(values))

    def text(self, unit: str) -> str:
        """Returns the value and its range as text."""
        shown = number(self.value)
        if self.low is not None and self.high is not None and self.low < self.high:
            shown += f" ({number(self.low)} to {number(self.high)})"
        return f"{shown} {unit}".strip()


COLUMNS = ("source", "setting", "quantity", "measured", "lightlag", "ratio", "verdict", "reason")


@dataclass(frozen=True)
class Fact:
    """A row of the scorecard.

    Attributes
    ----------
    source
        Author and year, or the data set.
    setting
        The path and the sender.
    quantity, unit
        The compared quantity.
    measured
        The measured value with the spread of its repetitions.
    ours
        Our value with the range over seeds or starts; None if it was not computed.
    verdict, reason
        The verdict; the tolerance, and for a deviation the cause with the switch that shows it.
    """

    source: str
    setting: str
    quantity: str
    unit: str
    measured: Spread
    ours: Spread | None
    verdict: Verdict
    reason: str

    @property
    def ratio(self) -> float | None:
        """Our value divided by the measured one; None where one of them is missing or zero."""
        if self.ours is None or not self.measured.value:
            return None
        return self.ours.value / self.measured.value

    def cells(self) -> tuple[str, ...]:
        """Returns the row as text, in the order of `COLUMNS`."""
        ours = "not computed" if self.ours is None else self.ours.text(self.unit)
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        verdict = f"**{self.verdict.value}**" if self.verdict is Verdict.DIFFERS else self.verdict.value
        measured = self.measured.text(self.unit)
        return (self.source, self.setting, self.quantity, measured, ours, ratio, verdict, self.reason)

    def record(self) -> dict[str, Any]:
        """Returns the row as plain values for JSON."""
        return asdict(self) | {"verdict": self.verdict.value, "ratio": self.ratio}


def judge(measured: Spread, ours: Spread, tolerance: float) -> Verdict:
    """Returns the verdict of the values: within the tolerance, or our range overlaps the measured one.

    Examples
    --------
    >>> judge(Spread(10.0), Spread(10.9), 0.1), judge(Spread(10.0), Spread(11.1), 0.1)
    (<Verdict.AGREES: 'agrees'>, <Verdict.DIFFERS: 'differs'>)
    >>> judge(Spread(10.0, 6.0, 13.0), Spread(15.0, 12.5, 16.0), 0.1)
    <Verdict.AGREES: 'agrees'>
    """
    near = math.isclose(ours.value, measured.value, rel_tol=0.0, abs_tol=tolerance * abs(measured.value) + 1e-12)
    overlap = False
    if measured.low is not None and measured.high is not None:
        low = ours.value if ours.low is None else ours.low
        high = ours.value if ours.high is None else ours.high
        overlap = low <= measured.high and measured.low <= high
    return Verdict.AGREES if near or overlap else Verdict.DIFFERS


@dataclass
class Section:
    """A section of the scorecard.

    Attributes
    ----------
    name
        Name for ``--section``.
    title
        Heading on the page.
    about
        Paragraphs before the table: data, model, criteria.
    facts
        The rows.
    figures
        The figures.
    """

    name: str
    title: str
    about: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    figures: list[Picture] = field(default_factory=list)

    def count(self, verdict: Verdict) -> int:
        """Returns the number of rows with a verdict."""
        return sum(fact.verdict is verdict for fact in self.facts)

    def record(self) -> dict[str, Any]:
        """Returns the section as plain values for JSON, without the figures."""
        return {
            "section": self.name,
            "title": self.title,
            "about": list(self.about),
            "rows": [fact.record() for fact in self.facts],
            "figures": [{"name": one.name, "caption": one.caption} for one in self.figures],
        }
