"""Rules that exclude points of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightlag.errors import InputError
from lightlag.outcomes.design import Design, Point
from lightlag.outcomes.variables import text_of
from lightlag.text.terminal import printable

__all__ = ["Rule", "left_of", "rules_of"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: keys with values. It excludes the cells that have one of these values for each key."""

    place: str
    values: Mapping[str, frozenset[str]]

    def hits(self, named: Mapping[str, str]) -> bool:
        """Returns true if the rule excludes a cell, given its values by label and by key."""
        return all(named[key] in values for key, values in self.values.items())


def rules_of(given: Any) -> list[Rule]:
    """Returns the rules that a list of tables describes.

    Raises
    ------
    InputError
        If a table is not a valid rule.
    """
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise InputError(f"exclude: {printable(repr(given)):.60} is not a list; write [{{ KEY = VALUE }}]")
    rules = []
    for at, table in enumerate(given):
        place = f"exclude[{at}]"
        if not isinstance(table, Mapping) or not table:
            raise InputError(f"{place}: {printable(repr(table)):.60} is not a table; write {{ KEY = VALUE }}")
        values = {key: value if isinstance(value, (list, tuple)) else [value] for key, value in table.items()}
        rules.append(Rule(place, {str(key): frozenset(map(text_of, value)) for key, value in values.items()}))
    return rules


def left_of(design: Design, rules: Sequence[Rule]) -> tuple[list[Point], set[tuple[str, Point]]]:
    """Returns the points that remain, in order, and the cells that remain: pairs of a candidate's label and a point.

    Raises
    ------
    InputError
        If a rule names a key that does not vary, or excludes no point, or if no point remains.
    """
    names = ["congestion", *(name for one in design.variables for name in (one.label, *one.keys))]
    for rule in rules:
        if strange := [key for key in rule.values if key not in names]:
            raise InputError(
                f"{rule.place}.{printable(strange[0])}: does not vary; there are {', '.join(dict.fromkeys(names))}"
            )
    points: list[Point] = []
    cells: set[tuple[str, Point]] = set()
    used: set[str] = set()
    for point in design.points():
        named = dict(_named(design, point))
        labels = []
        for one in design.competitors:
            hits = [rule.place for rule in rules if rule.hits(named | {"congestion": one.label})]
            used.update(hits)
            if not hits:
                labels.append(one.label)
        if labels:
            points.append(point)
            cells.update((label, point) for label in labels)
    if idle := [rule.place for rule in rules if rule.place not in used]:
        raise InputError(f"{idle[0]}: no point has these values; write them as the axes do")
    if not cells:
        raise InputError("exclude: no point is left; exclude less")
    return points, cells


def _named(design: Design, point: Point) -> Iterable[tuple[str, str]]:
    for variable, value in zip(design.variables, point, strict=True):
        for name in (variable.label, *variable.keys):
            yield name, value
