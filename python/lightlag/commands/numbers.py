"""Numbers among the options of a command."""

from __future__ import annotations

import math

import typer

__all__ = ["finite"]


def finite(value: float | None) -> float | None:
    """Returns a number that was given, as the callback of its option.

    Raises
    ------
    typer.BadParameter
        If it is not a number, which lies in every range for the parser of options.
    """
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is not a number.")
    return value
