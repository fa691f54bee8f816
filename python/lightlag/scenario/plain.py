"""Plain values: the types that JSON and TOML can hold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.scenario import toml
from lightlag.text.terminal import printable

_ENGINE = (
    _engine.CongestionControl,
    _engine.LossResponse,
    _engine.QueueDiscipline,
    _engine.Traffic,
    _engine.Router,
    _engine.SatelliteRouter,
)


def plain(value: Any, at: str = "") -> Any:
    """Converts a value to plain values, leaving out None. Scalars and arrays of numpy become numbers and lists.

    Raises
    ------
    InputError
        If a value is not valid in a scenario, or contains itself.
    """
    try:
        return _plain(value, at)
    except RecursionError:
        raise InputError(
            f"{_place(at)}is nested too deeply, or contains itself; write the values of a scenario"
        ) from None


def _plain(value: Any, at: str) -> Any:
    if isinstance(value, (type, *_ENGINE)):
        from lightlag import custom

        if custom.is_custom(value):
            return custom.choice(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        entries = ((key, getattr(value, name)) for name, key in _keys(type(value)))
        return {key: _entry(entry, at, f".{key}") for key, entry in entries if entry is not None}
    if isinstance(value, Mapping):
        table = {str(key): _entry(entry, at, f".{key}") for key, entry in value.items() if entry is not None}
        # A custom discipline supplies its name and its parameters.
        return table | brought if isinstance(brought := table.get("discipline"), dict) else table
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_entry(entry, at, f"[{index}]") for index, entry in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{_place(at)}{value} is not a finite number; write one such as 1e-4")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise InputError(
        f"{_place(at)}{printable(repr(value)):.60} is of type {type(value).__name__}, which a scenario cannot hold; "
        "write a string, a number, true or false, a list or a mapping"
    )


def _entry(value: Any, at: str, key: str) -> Any:
    """Converts the part of a value at the path `at`. Most parts are strings, which are already plain."""
    return value if type(value) is str or type(value) is int else _plain(value, at + key)


@cache
def _keys(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    """Returns the fields of a dataclass, each with its key in a scenario."""
    return tuple((entry.name, entry.name.rstrip("_")) for entry in dataclasses.fields(kind))


def _place(at: str) -> str:
    return f"{printable(at.removeprefix('.'))}: " if at else ""


def toml_value(value: object) -> str:
    """Returns a value as TOML writes it on one line.

    Examples
    --------
    >>> from lightlag.scenario import Directions
    >>> toml_value(Directions("2.9 s", ["1 s"]))
    '{ forward = "2.9 s", backward = ["1 s"] }'
    """
    return toml.one_line(plain(value))
