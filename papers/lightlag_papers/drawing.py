"""Helpers for the papers' figures: a decorator with the house style, step curves, and points with intervals."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightlag.analyse import Interval
from lightlag.drawing import style
from lightlag.drawing.looks import current, within

P = ParamSpec("P")


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Wraps a function so that it plots in the house style, with mathematical formulas."""

    @functools.wraps(draw)
    def wrapper(*args: P.args, **options: P.kwargs) -> Figure:
        look = dataclasses.replace(current(), has_formulas=True)
        with within(look), matplotlib.rc_context(style.rc(look)):
            return draw(*args, **options)

    return wrapper


def steps(axes: Axes, x: Any, y: Any, at: int, **options: Any) -> None:
    """Plots a value that stays constant between its changes, in the style of line `at`."""
    axes.plot(x, y, drawstyle="steps-post", **(style.line_style(at) | options))


def intervals(
    axes: Axes, x: Sequence[float], points: Sequence[Interval], at: int, label: str = "", **options: Any
) -> None:
    """Plots means with their intervals, in the style of line `at`."""
    look: dict[str, Any] = style.line_style(at) | {"marker": "o", "markersize": 3, "clip_on": False} | options
    axes.plot(x, [point.mean for point in points], label=label or "_", **look)
    half = [0.0 if point.count < 2 else point.half_width for point in points]
    # An interval that reaches below zero has no end on a logarithmic axis, so bars end at the axes.
    error: dict[str, Any] = {"ecolor": look["color"], "elinewidth": 0.8, "capsize": 2}
    axes.errorbar(x, [point.mean for point in points], yerr=half, fmt="none", **error)


def labels(axes: Axes, y: str = "window (segments)", x: str = "time (s)") -> None:
    """Sets the labels of the axes."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
