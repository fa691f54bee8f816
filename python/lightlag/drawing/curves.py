"""Curves over time: lines of flows of one or of several results, decimated to the resolution of a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from lightlag import analyse
from lightlag.drawing import names, style

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MOST_LINES", "Curves", "Numbers", "alone", "columns", "from_zero", "lines", "numbers", "summed", "thin"]

Numbers = npt.NDArray[np.float64]
Curves: TypeAlias = Mapping[str, tuple[Any, Any]]
"""Times and values of curves, by name."""

MOST_LINES = len(style.COLOURS)
_POINTS = 4000


def alone(parts: Mapping[str, Mapping[str, pl.DataFrame]]) -> tuple[str, pl.DataFrame] | None:
    """Returns the name and the rows of the only flow or link of a figure; None if it shows several."""
    every = [part for own in parts.values() for part in own.items()]
    return every[0] if len(parts) == len(every) == 1 else None


def columns(parts: Mapping[str, pl.DataFrame], column: str, factor: float | None = None) -> Curves:
    """Returns the times and the values of a column for each flow or link."""
    return {
        name: (rows["time_s"], rows[column] if factor is None else rows[column] * factor)
        for name, rows in parts.items()
    }


def lines(axes: Axes, runs: Mapping[str, Curves], *, steps: bool) -> None:
    """Plots a line for each flow of each run; if there are many, thin lines with their median for each run."""
    drawn: dict[str, Any] = {"drawstyle": "steps-post"} if steps else {}
    named = {run: f"{names.plain(run)}: " if len(runs) > 1 else "" for run in runs}
    tangle = sum(map(len, runs.values())) > MOST_LINES
    at = 0
    for place, (run, curves) in enumerate(runs.items()):
        for name, (times, values) in curves.items():
            x, y = thin(numbers(times), numbers(values), 400 if tangle else _POINTS)
            colour = style.COLOURS[place % len(style.COLOURS)]
            look = {"color": colour, "alpha": 0.18, "linewidth": 0.5} if tangle else style.line_style(at)
            axes.plot(x, y, label=None if tangle else _labelled(run, name, named[run]), **look, **drawn)
            at += 1
        if tangle:
            look = {"color": style.BLACK} if len(runs) == 1 else style.line_style(place)
            _median(axes, curves, named[run], look)


def _labelled(run: str, name: str, before: str) -> str:
    """Returns the label of a flow of a run: of both together, or of each."""
    both = f"{run}: {name}"
    label = names.plain(both) if before else both
    return label if label != both else before + names.plain(name)


def _median(axes: Axes, curves: Curves, run: str, look: Mapping[str, Any]) -> None:
    arrays = [(numbers(times), numbers(values)) for times, values in curves.values()]
    grid = np.linspace(0, max(float(times[-1]) for times, _ in arrays), 400)
    level = np.full((len(arrays), len(grid)), np.nan)
    for row, (times, values) in zip(level, arrays, strict=True):
        at = np.searchsorted(times, grid, side="right") - 1
        row[at >= 0] = values[at[at >= 0]]
    known = ~np.isnan(level).all(axis=0)
    label = f"{run}median of {len(curves)} flows" if len(curves) > 1 else f"{run}{next(iter(curves))}"
    axes.plot(grid[known], np.nanmedian(level[:, known], axis=0), linewidth=1.6, label=label, **look)


def thin(times: Numbers, values: Numbers, points: int = _POINTS) -> tuple[Numbers, Numbers]:
    """Returns a curve reduced to about this many points, which keeps its extremes."""
    return analyse.decimate(times, values, points)


def numbers(values: Any) -> Numbers:
    """Returns a column as floats."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    return np.asarray(array, dtype=np.float64)


def from_zero(rows: pl.DataFrame) -> tuple[Numbers, Numbers]:
    """Returns the means of intervals as a step curve that starts at the beginning of the first interval."""
    times, values = numbers(rows["time_s"]), numbers(rows["goodput_bps"])
    return np.concatenate(([0.0], times)), np.concatenate((values, values[-1:]))


def summed(curves: Mapping[str, tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """Returns the sum of curves that have the same times."""
    if not curves:
        return np.zeros(1), np.zeros(1)
    return next(iter(curves.values()))[0], np.sum([values for _, values in curves.values()], axis=0)
