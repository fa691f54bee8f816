"""Checks numbers in the options of a command."""

from __future__ import annotations

import math

import typer

__all__ = ["finite"]


def finite(value: float | None) -> float | None:
    """Callback of an option with a number: returns the number unless it is NaN.

    Raises
    ------
    typer.BadParameter
        If it is NaN, which the option parser accepts for any range.
    """
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is not a number.")
    return value
