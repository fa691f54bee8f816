"""Checks that quantities have a unit. A script is checked where it adds them, so that the traceback names its line."""

from __future__ import annotations

import math
from collections.abc import Callable

from lightlag.errors import InputError
from lightlag.scenario.values import Directions
from lightlag.text.quantities import number, rate, size

__all__ = ["check_units"]

_SUGGESTED: dict[str, Callable[[float], str]] = {
    "rate": rate,
    "delay": lambda value: f"{number(value * 1e3)} ms" if value < 1 else f"{number(value)} s",
    "start": lambda value: f"{number(value)} s",
    "queue": lambda value: f"{number(value)} packets",
    "jitter": lambda value: f"{number(value * 1e3)} ms",
    "header": size,
    "transfer": size,
    "buffer": size,
}
"""Suggestion for a number without a unit, by parameter: SI units, and packets for a queue."""


def check_units(place: str, **given: object) -> None:
    """Fails if a quantity is a number without a unit.

    Parameters
    ----------
    place
        Name of the object that has the quantities, for the error.
    given
        Values by parameter; values per direction are in a :class:`Directions`. Parameters that have no unit are
        ignored.

    Raises
    ------
    InputError
        If there is one; the message has the parameter, its value, and a text to write instead.

    Examples
    --------
    >>> check_units("link a - b", rate=10e6)
    Traceback (most recent call last):
    ...
    lightlag.errors.InputError: link a - b: rate: 10000000.0 has no unit; write "10 Mbit/s"
    """
    for name, value in given.items():
        for one in (value.forward, value.backward) if isinstance(value, Directions) else (value,):
            if name in _SUGGESTED and isinstance(one, (int, float)) and math.isfinite(one):
                suggested = _SUGGESTED[name](float(one))
                raise InputError(f'{place}: {name}: {one!r} has no unit; write "{suggested}"')
