"""Axes of a study: the variables, and combinations of values of several keys.

An axis gives rows of values for its keys. The points of a study are every combination of a row of each axis:

- ``key`` and ``values``: values of one key (keys joined by ``+`` take the same value);
- ``zip``: lists of values for several keys, combined element by element;
- ``points``: a list of rows;
- ``design``: a Latin hypercube or a Sobol sequence over ranges, in the units of the keys.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightlag.errors import InputError
from lightlag.outcomes.variables import Variable, text_of, variables
from lightlag.study.sampling import DESIGNS, Range, sampled
from lightlag.text.terminal import printable

__all__ = ["Axis", "Row", "axes_of", "points_of", "variables_of"]

Row = tuple[str, ...]
"""A row of an axis: a value for each of its keys, as text."""

KINDS = ("values", "zip", "points", "design")
MOST_ROWS = 10_000_000


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its keys, and rows of values for them."""

    keys: tuple[str, ...]
    """The keys, as in ``vary``: a label may precede them, and keys joined by ``+`` take the same value."""
    rows: tuple[Row, ...]


def axes_of(given: Any, place: str) -> list[Axis]:
    """Returns the axes that a list of tables describes.

    Raises
    ------
    InputError
        If a table is not a valid axis; the message names its position.
    """
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise InputError(f"{place}: {_shown(given)} is not a list of axes; write [[{place}]]")
    return [_axis(one, f"{place}[{at}]") for at, one in enumerate(given)]


def _axis(given: Any, place: str) -> Axis:
    if not isinstance(given, Mapping):
        raise InputError(f"{place}: {_shown(given)} is not a valid axis; write key and values, zip, points, or design")
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1:
        found = "has none of" if not kinds else f"has {' and '.join(kinds)} of"
        raise InputError(f"{place}: {found} {', '.join(KINDS)}; write one of them")
    known = {"values": {"key", "values"}, "zip": {"zip"}, "points": {"points"}}
    known["design"] = {"design", "count", "seed", "ranges"}
    if unknown := sorted(given.keys() - known[kinds[0]]):
        raise InputError(f'{place}.{printable(unknown[0])}: is not a key of an axis with "{kinds[0]}"')
    return {"values": _grid, "zip": _zip, "points": _points, "design": _design}[kinds[0]](given, place)


def _grid(given: Mapping[str, Any], place: str) -> Axis:
    key = given.get("key")
    if not isinstance(key, str) or not key:
        raise InputError(f"{place}.key: {_shown(key)} is not a key of a scenario; write one such as links.1.loss")
    return Axis((key,), tuple((text,) for text in _texts(given["values"], f"{place}.values")))


def _zip(given: Mapping[str, Any], place: str) -> Axis:
    columns = _table(given["zip"], f"{place}.zip")
    texts = {key: _texts(values, f"{place}.zip.{key}") for key, values in columns.items()}
    counts = {key: len(values) for key, values in texts.items()}
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{printable(key)} has {count}" for key, count in counts.items())
        raise InputError(f"{place}.zip: keys that vary in step need the same number of values, but {shown}")
    return Axis(tuple(texts), tuple(zip(*texts.values(), strict=True)))


def _points(given: Mapping[str, Any], place: str) -> Axis:
    rows = given["points"]
    if not isinstance(rows, Sequence) or isinstance(rows, (str, bytes)) or not rows:
        raise InputError(f"{place}.points: {_shown(rows)} is not a list of points; write [{{ KEY = VALUE, ... }}, ...]")
    tables = [_table(row, f"{place}.points[{at}]") for at, row in enumerate(rows)]
    keys = tuple(tables[0])
    for at, row in enumerate(tables):
        if row.keys() != set(keys):
            apart = printable(sorted(row.keys() ^ set(keys))[0])
            raise InputError(
                f"{place}.points[{at}]: every point names the same keys, but {apart} is not in all of them"
            )
    return Axis(keys, tuple(tuple(text_of(row[key]) for key in keys) for row in tables))


def _design(given: Mapping[str, Any], place: str) -> Axis:
    name, count, seed = given["design"], given.get("count"), given.get("seed", 1)
    if name not in DESIGNS:
        raise InputError(f"{place}.design: {_shown(name)} is not a valid design; write one of {', '.join(DESIGNS)}")
    for what, value, least in (("count", count, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST_ROWS:
            raise InputError(f"{place}.{what}: {_shown(value)} is not a whole number from {least} to {MOST_ROWS:,}")
    ranges = _table(given.get("ranges"), f"{place}.ranges")
    read = [Range.of(value, f"{place}.ranges.{key}") for key, value in ranges.items()]
    assert isinstance(count, int), "checked above"
    return Axis(tuple(ranges), tuple(sampled(name, count, seed, read, place)))


def _table(given: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"{place}: {_shown(given)} is not a table; write {{ KEY = VALUES, ... }}")
    if wrong := [key for key in given if not isinstance(key, str)]:
        raise InputError(f"{place}: {_shown(wrong[0])} is not a key of a scenario; write one such as links.1.loss")
    return given


def _texts(values: Any, place: str) -> list[str]:
    is_array = hasattr(values, "dtype") and getattr(values, "ndim", 0) > 0
    if isinstance(values, (str, bytes, Mapping)) or not (is_array or isinstance(values, Iterable)):
        raise InputError(f"{place}: {_shown(values)} is not a list of values; write [{_shown(values)}]")
    listed = list(values)
    if not listed:
        raise InputError(f"{place}: has no value; give at least one")
    if None in listed:
        raise InputError(f"{place}: None is not a value; leave it out")
    return [text_of(value) for value in listed]


def _shown(value: object) -> str:
    return "nothing" if value is None else f"{printable(repr(value)):.60}"


def variables_of(axes: Sequence[Axis]) -> list[Variable]:
    """Returns a variable for each key of the axes; its values are in the order in which they first appear in the rows.

    Raises
    ------
    InputError
        If two axes vary the same key.
    """
    columns: dict[str, list[str]] = {}
    for axis in axes:
        for at, key in enumerate(axis.keys):
            if key in columns:
                raise InputError(f'axes: "{printable(key)}" varies on two axes; name each key once')
            columns[key] = list(dict.fromkeys(row[at] for row in axis.rows))
    return variables(columns)


def points_of(axes: Sequence[Axis]) -> Iterable[Row]:
    """Returns every combination of a row of each axis, with the values in the order of :func:`variables_of`."""
    return (tuple(itertools.chain.from_iterable(rows)) for rows in itertools.product(*(axis.rows for axis in axes)))
