"""Panels of the figures of a comparison: one for each of its points, up to the maximum number of a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from lightlag.drawing import framing, looks, names, scales, style
from lightlag.drawing.style import Chart
from lightlag.outcomes.design import Measure, Point
from lightlag.outcomes.outcomes import Outcomes
from lightlag.outcomes.variables import Variable

__all__ = [
    "PANEL_IN",
    "all_of",
    "axis_label",
    "counted",
    "describe",
    "fitting",
    "of_points",
    "panels_of",
    "quantity",
    "title_of",
    "values_of",
]

PANEL_IN = 2.0
"""Minimum width in inches of a panel with its labels, if several panels are side by side."""


def panels_of(
    titles: Sequence[str], *, rows: int = 1, columns: int = 3, height: float = 2.5, ax: Any = None, **share: Any
) -> tuple[Chart, list[list[Axes]]]:
    """Creates `rows` of panels for each title, in as many columns as fit; returns the panels of each title."""
    wide = min(len(titles), columns, fitting(PANEL_IN, columns))
    deep = -(-len(titles) // wide)
    size = (6.4 if wide < 3 else 2.7 * wide, 0.9 + height * rows * deep)
    if ax is not None:
        wide, deep = len(titles), 1
    figure, grid = style.chart(rows * deep, wide, size=size, follow=0.5, ax=ax, squeeze=False, **share)
    panels = [[grid[at // wide * rows + row][at % wide] for row in range(rows)] for at in range(len(titles))]
    for title, own in zip(titles, panels, strict=True):
        if title:
            framing.panel_title(own[0], title)
    for unused in grid.flat:
        if not any(unused is axes for own in panels for axes in own):
            unused.set_visible(False)
    return figure, panels


def fitting(panel_in: float, max_panels: int) -> int:
    """Returns the number of panels that fit side by side into the given width."""
    width = looks.current().width_in
    return max_panels if width is None else max(1, int(width / panel_in))


def values_of(variable: Variable) -> dict[str, str]:
    """Returns the values of a variable as figures write them, by the text of the scenario."""
    return dict(zip(variable.values, scales.tick_texts(variable.values), strict=True))


def describe(comparison: Outcomes, point: Point, without: Variable | None = None) -> str:
    """Returns the values of a point with their labels, as figures write them.

    Parameters
    ----------
    without
        A variable that is left out; `point` then has no value for it.
    """
    left = [one for one in comparison.variables if one is not without]
    parts = []
    for variable, value in zip(left, point, strict=True):
        shown = names.plain(values_of(variable)[value])
        parts.append(f"{names.plain(variable.label)} {shown}" if variable.keys else shown)
    return ", ".join(parts)


def axis_label(variable: Variable, unit: str = "") -> str:
    """Returns the label of the axis of a variable."""
    label = names.plain(variable.label)
    return f"{label} ({unit})" if unit else label


def quantity(measure: Measure, unit: str = "") -> str:
    """Returns the label of the axis of a metric."""
    title = title_of(measure)
    return f"{title} ({unit})" if unit else title


def title_of(measure: Measure) -> str:
    """Returns the title of a metric, or its label: ``--label goodput=Throughput``."""
    name = measure.title.lower()
    label = names.plain(name)
    return measure.title if label == name else label


def all_of(panels: Sequence[Sequence[Axes]]) -> list[Axes]:
    return [axes for own in panels for axes in own]


def of_points(comparison: Outcomes, shown: Sequence[Point]) -> str:
    return comparison.name + (
        f", {len(shown)} of {len(comparison.points)} points" if len(shown) < len(comparison.points) else ""
    )


def counted(comparison: Outcomes, points: Sequence[Point]) -> str:
    """Returns the number of runs per algorithm and point as text, such as "10 runs" or "8 to 10 runs"."""
    counts = [len(comparison.of(name, point)) for name in comparison.algorithms for point in points]
    least, most = min(count for count in counts if count), max(counts)
    return f"{most} run{'s' * (most > 1)}" if least == most else f"{least} to {most} runs"
