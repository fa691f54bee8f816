"""A real connection compared with a simulated one: the same statistics of both, and one figure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lightlag.captures.sides import MEASURES, Side
from lightlag.text.quantities import milliseconds, rate, size
from lightlag.text.table import Row

if TYPE_CHECKING:
    from lightlag.drawing.style import Chart

__all__ = ["CaptureComparison"]


class CaptureComparison:
    """A real connection compared with a simulated one."""

    def __init__(self, real: Side, simulated: Side) -> None:
        self.real = real
        self.simulated = simulated

    @property
    def summary(self) -> dict[str, Any]:
        """Values of each statistic: ``real``, ``simulated`` and ``ratio`` (simulated to real); None where unknown."""
        rows = {}
        for key, _, _ in MEASURES:
            real, simulated = self.real.summary[key], self.simulated.summary[key]
            ratio = None if not real or simulated is None else simulated / real
            rows[key] = {"real": real, "simulated": simulated, "ratio": ratio}
        return rows

    def rows(self) -> list[Row]:
        """Returns the statistics as a text table, without those that are missing or zero on both sides."""
        rows = []
        for key, title, unit in MEASURES:
            found = self.summary[key]
            if found["real"] or found["simulated"]:
                row = {"": title, "real": _show(found["real"], unit), "simulated": _show(found["simulated"], unit)}
                rows.append(row | {"ratio": "–" if found["ratio"] is None else f"{found['ratio']:.3f}"})
        return rows

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Any = None) -> Chart:
        """Returns a figure: sequence, bytes in flight and goodput over time.

        Parameters
        ----------
        path
            Where to write it; the suffix decides the format (.pdf, .svg, .png, .pgf).
        ax
            Three existing axes to draw into; by default a new figure is created.
        """
        from lightlag.captures import plot as capture_plot

        figure = capture_plot.comparison(self.real, self.simulated, ax=ax)
        if path is not None:
            figure.save(path)
        return figure


def _show(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    match unit:
        case "bit/s":
            return rate(value)
        case "B":
            return size(value)
        case "s":
            return milliseconds(value)
        case _:
            return f"{value:,.0f}"
