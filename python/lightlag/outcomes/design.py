"""The design of a comparison, its metrics, and the columns of its tables."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from lightlag import _engine
from lightlag.analyse import Interval
from lightlag.outcomes.variables import Competitor, Variable

__all__ = ["MEASURES", "TABLES", "Design", "Measure", "Point", "Values", "columns_of"]

TABLES = ("runs", "flows", "summary")
"""Names of the tables of a comparison and of a study."""

Point = tuple[str, ...]
"""A point of a comparison: a value of each variable, as text."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric of a comparison."""

    column: str
    title: str
    unit: str
    """Unit as printed; "bit/s" takes a decimal prefix, "%" multiplies by 100, "ms" by 1000."""
    about: str

    def show(self, interval: Interval, like: float | None = None) -> str:
        """Returns the mean ± half width with the unit, rounded to two digits of the half width.

        Parameters
        ----------
        like
            Value that determines the decimal prefix, such as the largest of a column; by default the mean.
        """
        return _engine.shown(self.unit, interval.mean, interval.half_width, interval.count, like)


def _measures() -> tuple[Measure, ...]:
    """Returns the metrics of the engine, except timeouts and round trips, which only the studio shows."""
    known = json.loads(_engine.analysis('"measures"'))
    columns = [field.name for field in fields(Measure)]
    left_out = ("timeouts", "mean_rtt_s")
    return tuple(Measure(*(one[name] for name in columns)) for one in known if one["column"] not in left_out)


MEASURES = _measures()


@dataclass(frozen=True, slots=True)
class Design:
    """The design of a comparison."""

    scenario: dict[str, Any]
    """The scenario with every default; if there are several, the first."""
    competitors: tuple[Competitor, ...]
    variables: tuple[Variable, ...] = ()
    seed: int = 1
    """The first seed."""
    replications: int = 1
    """Number of seeds."""
    chosen: tuple[Point, ...] | None = None
    """The points that are run; None for every combination of values."""
    others: tuple[dict[str, Any], ...] = ()
    """The other scenarios, if there are several."""

    @property
    def scenarios(self) -> dict[str, dict[str, Any]]:
        """All scenarios, by name."""
        return {str(one["name"]): one for one in (self.scenario, *self.others)}

    def points(self) -> Iterable[Point]:
        """Returns the points, in order."""
        return (
            itertools.product(*(variable.values for variable in self.variables)) if self.chosen is None else self.chosen
        )

    @property
    def point_count(self) -> int:
        """Number of points."""
        return math.prod(len(one.values) for one in self.variables) if self.chosen is None else len(self.chosen)

    @property
    def run_count(self) -> int:
        """Total number of runs."""
        return self.replications * len(self.competitors) * self.point_count

    def to_json(self) -> dict[str, Any]:
        """Returns everything as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Design:
        """Restores a design from the values of :meth:`to_json`."""

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
    """Returns the columns of variables: a text column for each, and for quantities a numeric one, with the unit in its
    name.
    """
    import polars as pl

    columns: dict[str, Any] = {}
    for one in variables:
        columns[one.label] = pl.Float64 if one.is_number else pl.String
        if one.numeric is not None:
            columns[one.numeric[0]] = pl.Float64
    return columns


class Values:
    """The values of points for the columns of :func:`columns_of`."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        self._each: list[dict[str, tuple[float | str, ...]]] = []
        for one in variables:
            columns = [one.plain] if one.numeric is None else [one.plain, one.numeric[1]]
            self._each.append(dict(zip(one.values, zip(*columns, strict=True), strict=True)))

    def of(self, point: Point) -> list[float | str]:
        """Returns the value of a point for each column."""
        return [value for each, text in zip(self._each, point, strict=True) for value in each[text]]
