"""The labs by name."""

from __future__ import annotations

import importlib

from lightlag.course.contents import Lab
from lightlag.errors import InputError
from lightlag.text.terminal import meant, printable

__all__ = ["LABS", "lab"]

LABS = tuple(f"lab{number}" for number in range(1, 11))
"""Names of the labs, in the order of the course."""


def lab(name: str) -> Lab:
    """Returns a lab.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    if name not in LABS:
        shown = printable(name)[:40]
        raise InputError(f'"{shown}" is not a lab; {meant(name, LABS)}name one of {", ".join(LABS)}')
    found: Lab = importlib.import_module(f"lightlag.course.labs.{name}").LAB
    return found
