"""Numbers with units as students write them."""

from __future__ import annotations

import math
import re

from lightlag.errors import InputError
from lightlag.text.terminal import printable

__all__ = ["parse", "show"]

UNITS: dict[str, dict[str, float]] = {
    "rate": {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    "time": {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600},
    "size": {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3},
    "segments": {"segments": 1, "segment": 1, "packets": 1, "packet": 1},
    "growth": {"segments/s": 1, "segments per second": 1},
    "fraction": {"%": 0.01, "": 1},
    "count": {"": 1, "times": 1, "x": 1, "×": 1},
}
"""Units by dimension, each with its size in the first unit of the dimension."""

NAMES = {
    **{"bps": "bit/s", "kbps": "kbit/s", "Mbps": "Mbit/s", "mbps": "Mbit/s", "mbit/s": "Mbit/s", "Gbps": "Gbit/s"},
    **{"sec": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min", "hour": "h", "hours": "h"},
    "percent": "%",
}
"""Other spellings of units. MB/s is missing, because many who write it mean Mbit/s."""

_NUMBER = re.compile(r"\s*([+-]?(?:\d[\d,_ ]*)?(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(.*?)\s*$", re.DOTALL)


def dimension_of(unit: str) -> str:
    """Returns the dimension of a unit that a question names; an empty unit is a count."""
    return "count" if unit == "" else next(name for name, units in UNITS.items() if unit in units)


def parse(text: object, unit: str, place: str) -> float:
    """Returns a number with its unit in the unit of the question.

    Parameters
    ----------
    text
        A text such as ``"12.5 Mbit/s"``. For a question without a unit, also a number.
    unit
        Unit of the question; another unit of its dimension is converted.
    place
        Where the text is, for errors.

    Raises
    ------
    InputError
        If it is not a number, or has no unit or a wrong one.

    Examples
    --------
    >>> parse("12500 kbit/s", "Mbit/s", "q1")
    12.5
    >>> parse("12.5", "Mbit/s", "q1")
    Traceback (most recent call last):
    ...
    lightlag.errors.InputError: q1: "12.5" has no unit; write "12.5 Mbit/s"
    """
    if isinstance(text, bool) or not isinstance(text, (str, int, float)):
        raise InputError(f"{place}: {printable(repr(text)):.60} is not a number; write {_example(unit)}")
    shown = printable(str(text))[:60]
    found = _NUMBER.match(str(text))
    digits = re.sub(r"[,_ ]", "", found[1]) if found else ""
    try:
        value = float(digits)
    except ValueError:
        value = math.nan
    if found is None or not math.isfinite(value):
        raise InputError(f'{place}: "{shown}" is not a number; write {_example(unit)}')
    known = UNITS[dimension_of(unit)]
    given = found[2]
    if given not in known:
        given = NAMES.get(given, given)
    if given not in known:
        if not given:
            raise InputError(f'{place}: "{shown}" has no unit; write "{shown} {unit}"')
        units = ", ".join(one for one in known if one and one != "x")
        wanted = f"write one of {units}" if units else "write the number alone"
        raise InputError(f'{place}: "{shown}": "{printable(given):.20}" is not a unit of this answer; {wanted}')
    return value * known[given] / known[unit]


def _example(unit: str) -> str:
    return f'"12.5 {unit}"' if unit else "12.5"


def show(value: float, unit: str) -> str:
    """Returns a value in the unit of its question, with four significant digits.

    Examples
    --------
    >>> show(12.34567, "Mbit/s"), show(0.5, "")
    ('12.35 Mbit/s', '0.5')
    """
    digits = f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{digits} {unit}".rstrip()
