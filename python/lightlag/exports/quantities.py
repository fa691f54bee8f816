"""Quantities in the texts of a complete scenario, which the engine writes."""

from __future__ import annotations

import re

from lightlag import _engine
from lightlag.errors import InputError

__all__ = ["bits_per_second", "byte_count", "degrees", "hertz", "seconds"]

PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def seconds(text: str) -> float:
    """Returns a time in seconds."""
    return _engine.seconds(text)


def bits_per_second(text: str) -> float:
    """Returns a rate in bit/s.

    Examples
    --------
    >>> bits_per_second("34.368 Mbit/s")
    34368000.0
    """
    return _scaled(text, "bit/s")


def byte_count(text: str) -> float:
    """Returns a size in bytes."""
    return _scaled(text, "B")


def degrees(text: str) -> float:
    """Returns an angle in degrees."""
    return float(text.removesuffix("deg"))


def hertz(text: str) -> float:
    """Returns a frequency in Hz, which a user writes.

    Raises
    ------
    InputError
        If the text is not a number with a unit.

    Examples
    --------
    >>> hertz("2 GHz"), hertz("1.5e9 Hz")
    (2000000000.0, 1500000000.0)
    """
    try:
        return _scaled(text, "Hz")
    except ValueError:
        raise InputError(f'{text!r:.40} is not a frequency; write it with its unit, as "2 GHz"') from None


def _scaled(text: str, unit: str) -> float:
    found = re.fullmatch(rf"\s*([0-9.eE+-]+)\s*([kMGT]?){unit}\s*", text)
    if found is None:
        raise ValueError(f"{text!r} is not a number of {unit}")
    # Through one decimal number, so that 34.368 Mbit/s are exactly 34,368,000 bit/s.
    return float(f"{float(found[1]) * PREFIXES[found[2]]:.15g}")
