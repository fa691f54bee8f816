"""The charts of a report, as data for the script that draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightlag.text.quantities import scaled

__all__ = ["Bar", "Bars", "Chart", "Line", "Lines", "States", "rounded", "unit_of", "usual_top"]

Numbers = Sequence[float | None]


def rounded(values: Iterable[float | None], digits: int = 4) -> list[float | int | None]:
    """Numbers with as many digits as a chart shows; NaN becomes None.

    Examples
    --------
    >>> rounded([1234.56, 0.123456, 10.0, float("nan"), None])
    [1235, 0.1235, 10, None, None]
    """
    return [_rounded(value, digits) for value in values]


def _rounded(value: float | None, digits: int) -> float | int | None:
    if value is None or math.isnan(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def unit_of(largest: float, unit: str) -> tuple[float, str]:
    """A divisor and the resulting unit, with a prefix for bit/s and B.

    Examples
    --------
    >>> unit_of(9.4e6, "bit/s"), unit_of(0.012, "ms")
    ((1000000.0, 'Mbit/s'), (0.001, 'ms'))
    """
    if unit in ("%", "ms"):
        return {"%": 0.01, "ms": 1e-3}[unit], unit
    if unit not in ("bit/s", "B"):
        return 1.0, unit
    value, prefix = scaled(largest)
    return (round(largest / value, 6) if value else 1.0), f"{prefix}{unit}"


def usual_top(curves: Iterable[tuple[Any, Numbers]]) -> float | None:
    """Where to cut off a peak that would flatten the rest of curves; None if there is none.

    It is cut off if it is more than 4 times what the curves do not exceed in 90 % of their time.
    """
    usual = peak = 0.0
    for times, values in curves:
        steps = [
            (value, after - before)
            for value, before, after in zip(values, times, times[1:], strict=False)
            if value is not None
        ]
        left = 0.9 * sum(step for _, step in steps)
        for value, step in sorted(steps):
            left -= step
            if left <= 0:
                usual = max(usual, value)
                break
        peak = max(peak, max((value for value, _ in steps), default=0.0))
    return 1.6 * usual if peak > 4 * usual > 0 else None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a panel.

    Attributes
    ----------
    at
        Number of its colour and dash pattern.
    x
        Ascending; or the first and the step of equal ones.
    low, high
        The ends of intervals around it.
    looks
        ``step`` (a value holds until the next), ``dots``, ``bars`` (in place of a band), ``stem`` (each value stands
        alone), ``thin``, ``solid`` (without its dash pattern), ``unjoined`` (dots without a line).
    """

    name: str
    at: int
    x: Numbers | tuple[float, float]
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    looks: frozenset[str] = frozenset()

    def to_json(self) -> dict[str, Any]:
        """The line as plain values."""
        x: Any = {"from": self.x[0], "by": self.x[1]} if isinstance(self.x, tuple) else rounded(self.x, 6)
        plain: dict[str, Any] = {"name": self.name, "at": self.at, "x": x, "y": rounded(self.y)}
        if self.low is not None and self.high is not None:
            plain |= {"lo": rounded(self.low), "hi": rounded(self.high)}
        for look in ("step", "dots", "bars", "stem", "thin", "solid"):
            if look in self.looks:
                plain[look] = 1
        if "unjoined" in self.looks:
            plain["line"] = 0
        return plain


@dataclass(frozen=True, slots=True)
class Lines:
    """A panel with lines.

    Attributes
    ----------
    says
        What it shows, in a sentence.
    x, y
        Of the axes: ``label``, ``unit``, ``min``, ``max``; of x also ``scale`` and ``ticks``.
    limits
        Names and heights of bounds.
    empty
        Why there is no line.
    """

    title: str
    says: str
    x: dict[str, Any]
    y: dict[str, Any]
    lines: Sequence[Line]
    limits: Sequence[tuple[str, float]] = ()
    empty: str = "nothing to show"
    height: int = 220

    def to_json(self) -> dict[str, Any]:
        """The panel as plain values."""
        return {
            "kind": "line",
            "title": self.title,
            "x": self.x,
            "y": self.y,
            "series": [line.to_json() for line in self.lines],
            "limits": [{"name": name, "y": _rounded(height, 5)} for name, height in self.limits],
            "empty": self.empty,
            "height": self.height,
        }


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: a mean, its interval, and the values behind it."""

    name: str
    at: int
    mean: float
    half_width: float = math.nan
    values: Sequence[float] = ()

    def to_json(self) -> dict[str, Any]:
        """The bar as plain values."""
        plain: dict[str, Any] = {"name": self.name, "at": self.at, "mean": _rounded(self.mean, 5)}
        if not math.isnan(self.half_width):
            plain["lo"], plain["hi"] = rounded((self.mean - self.half_width, self.mean + self.half_width), 5)
        return plain | {"values": rounded(self.values)}


@dataclass(frozen=True, slots=True)
class Bars:
    """A panel with bars."""

    title: str
    says: str
    x: dict[str, Any]
    bars: Sequence[Bar]

    def to_json(self) -> dict[str, Any]:
        """The panel as plain values."""
        return {"kind": "bars", "title": self.title, "x": self.x, "rows": [bar.to_json() for bar in self.bars]}


@dataclass(frozen=True, slots=True)
class States:
    """A panel with a row for each flow: the state that it is in over time."""

    title: str
    says: str
    x: dict[str, Any]
    rows: Sequence[tuple[str, Sequence[tuple[float, float, str]]]]
    states: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """The panel as plain values."""
        rows = [
            {"name": name, "parts": [(*rounded(part[:2], 6), part[2]) for part in parts]} for name, parts in self.rows
        ]
        return {"kind": "states", "title": self.title, "x": self.x, "rows": rows, "states": list(self.states)}


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure of one or more panels.

    Attributes
    ----------
    group
        Charts of one group zoom together.
    panel_width
        The least width of a panel in rem, below which panels stand one below the other.
    """

    name: str
    title: str
    caption: str
    panels: Sequence[Lines | Bars | States]
    group: str = ""
    panel_width: int = field(default=22)

    def to_json(self) -> dict[str, Any]:
        """The chart as plain values."""
        return {"group": self.group, "panels": [panel.to_json() for panel in self.panels]}
