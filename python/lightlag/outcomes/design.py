"""The design of a comparison, its measures, and the columns of its tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lightlag.analyse import Interval
from lightlag.outcomes.variables import Competitor, Variable
from lightlag.text.quantities import factor_of

__all__ = ["MEASURES", "TABLES", "Design", "Measure", "Point", "Values", "columns_of", "decimals"]

TABLES = ("runs", "flows", "summary")
"""The tables of a comparison, and of a study."""

Point = tuple[str, ...]
"""A value of each variable, as text."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure that a comparison compares."""

    column: str
    title: str
    unit: str
    """As printed; "bit/s" takes a decimal prefix, "%" multiplies by 100, "ms" by 1000."""
    about: str

    def show(self, interval: Interval, like: float | None = None) -> str:
        """Mean ± half width with the unit, rounded to two digits of the half width.

        Parameters
        ----------
        like
            The value whose decimal prefix it takes, such as the largest of a column; by default the mean.
        """
        if interval.count == 0:
            return "–"
        mean, half, unit = interval.mean, interval.half_width, self.unit
        if unit in ("%", "ms"):
            factor = {"%": 100.0, "ms": 1000.0}[unit]
            mean, half = mean * factor, half * factor
        elif unit == "bit/s":
            factor, prefix = factor_of(mean if like is None else like)
            mean, half, unit = mean / factor, half / factor, f"{prefix}{unit}"
        digits = decimals(mean, half)
        spread = "" if math.isnan(half) else f" ± {half:.{digits}f}"
        return f"{mean:.{digits}f}{spread}{' ' * (unit not in ('', '%'))}{unit}"


def decimals(mean: float, half_width: float) -> int:
    """Decimals that show two digits of the half width, but at most four digits of the mean.

    Examples
    --------
    >>> decimals(9.41, 0.123), decimals(123.4, 17.0), decimals(9.41, 0.0), decimals(58.66, 0.0012)
    (2, 0, 3, 2)
    """

    def place(value: float, digits: int) -> int:
        return digits - 1 - math.floor(math.log10(value))

    of_mean = place(abs(mean), 4) if mean else 0
    of_half = place(half_width, 2) if half_width > 0 else of_mean
    return max(0, min(of_mean, of_half, 6))


MEASURES = (
    Measure(
        "goodput_bps",
        "Goodput",
        "bit/s",
        "payload that all flows of TCP together had delivered, over the time from the first start to the last finish "
        "or the end of the run",
    ),
    Measure("completion_s", "Completion time", "s", "from the first start to the last finish, where all flows finish"),
    Measure("jain", "Jain fairness", "", "(Σx)² / (n Σx²) of the goodputs of the n flows of TCP of a run"),
    Measure("retransmitted_share", "Resent", "%", "segments with payload sent again, of all that were sent"),
    Measure(
        "queueing_mean_s",
        "Queueing",
        "ms",
        "the mean wait of a run's data packets at the bottleneck until their transmission starts; the "
        "bottleneck is the link direction at which they waited longest in all",
    ),
    Measure("queueing_p95_s", "Queueing p95", "ms", "what 95 % of these waits did not exceed, at most 1.6 % off"),
)


@dataclass(frozen=True, slots=True)
class Design:
    """The design of a comparison."""

    scenario: dict[str, Any]
    """The scenario, or the first of several, with every default."""
    competitors: tuple[Competitor, ...]
    variables: tuple[Variable, ...] = ()
    seed: int = 1
    """The first seed."""
    replications: int = 1
    """Number of them."""
    chosen: tuple[Point, ...] | None = None
    """The points, if they are not every combination of values."""
    others: tuple[dict[str, Any], ...] = ()
    """The scenarios after the first, where there are several."""

    @property
    def scenarios(self) -> dict[str, dict[str, Any]]:
        """All scenarios, by name."""
        return {str(one["name"]): one for one in (self.scenario, *self.others)}

    def points(self) -> Iterable[Point]:
        """The points, in order."""
        return (
            itertools.product(*(variable.values for variable in self.variables)) if self.chosen is None else self.chosen
        )

    @property
    def point_count(self) -> int:
        """Number of points."""
        return math.prod(len(one.values) for one in self.variables) if self.chosen is None else len(self.chosen)

    @property
    def run_count(self) -> int:
        """Number of runs in all."""
        return self.replications * len(self.competitors) * self.point_count

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Design:
        """The design of which :meth:`to_json` gave these values."""

        def tuples(table: dict[str, Any]) -> dict[str, Any]:
            for key, value in table.items():
                if not all(isinstance(text, str) for text in (value if isinstance(value, list) else [value])):
                    raise ValueError(f"{key} holds {value!r:.60}")
            return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}

        counts = (plain["seed"], plain["replications"])
        if not all(isinstance(count, int) and count >= 0 for count in counts) or not isinstance(
            plain["scenario"]["name"], str
        ):
            raise ValueError("a seed, a number of replications or a name of the scenario is none")
        return cls(
            plain["scenario"],
            tuple(Competitor(**tuples(one)) for one in plain["competitors"]),
            tuple(Variable(**tuples(one)) for one in plain["variables"]),
            plain["seed"],
            plain["replications"],
            None if plain.get("chosen") is None else tuple(tuple(map(str, point)) for point in plain["chosen"]),
            _scenarios(plain.get("others", ())),
        )


def _scenarios(given: Any) -> tuple[dict[str, Any], ...]:
    if not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in given):
        raise ValueError(f"others holds {given!r:.60}")
    return tuple(given)


def columns_of(variables: Sequence[Variable]) -> dict[str, Any]:
    """The columns of variables; beside quantities as text stand numbers, in the unit that their name says."""
    import polars as pl

    columns: dict[str, Any] = {}
    for one in variables:
        columns[one.label] = pl.Float64 if one.is_number else pl.String
        if one.numeric is not None:
            columns[one.numeric[0]] = pl.Float64
    return columns


class Values:
    """The values of points in these columns."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        self._each: list[dict[str, tuple[float | str, ...]]] = []
        for one in variables:
            plain = [float(value) for value in one.values] if one.is_number else one.values
            columns = [plain] if one.numeric is None else [plain, one.numeric[1]]
            self._each.append(dict(zip(one.values, zip(*columns, strict=True), strict=True)))

    def of(self, point: Point) -> list[float | str]:
        """A value for each column."""
        return [value for each, text in zip(self._each, point, strict=True) for value in each[text]]
