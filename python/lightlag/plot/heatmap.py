"""Heat maps of a comparison over the values of two variables: a metric, or the best algorithm."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize, to_rgb
from matplotlib.patches import Patch

from lightlag import _engine
from lightlag.drawing import framing, names, scales, style
from lightlag.drawing.curves import Numbers
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.outcomes.design import Measure, Point
from lightlag.outcomes.kinds import MOST_MAPS, MapOf, map_of
from lightlag.outcomes.outcomes import Outcomes
from lightlag.outcomes.variables import Variable
from lightlag.plot import captions
from lightlag.plot.captions import COMPLETION
from lightlag.plot.comparison_panels import (
    axis_label,
    counted,
    fitting,
    quantity,
    title_of,
    values_of,
)

__all__ = ["best", "of_measure"]

_MAP = "viridis"
"""The colours of values: their lightness grows evenly, also in grey and for colour-blind readers."""
_PANEL_IN = 2.1
"""Minimum width in inches of a panel, if several are side by side."""
_WIDE_SPAN = 100.0
"""Minimum quotient of the maximum and the minimum for a logarithmic scale of colours."""
_NONE = "#ececec"
_BLACK = 0.0103
"""Luminance of the black of texts."""
_TIED = "////"
"""Hatching of cells whose best algorithm cannot be distinguished from another."""


@styled
def of_measure(comparison: Outcomes, measure: Measure, *, ax: Any = None) -> Chart:
    """Plots the means of a metric as colours: a panel for each algorithm, with one scale."""
    shown = map_of(comparison)
    assert shown is not None, "kinds() names heat maps only if there is one"
    algorithms = comparison.algorithms[:MOST_MAPS]
    cells = [(name, other) for other in shown.others for name in algorithms]
    means = [_means(comparison, shown, measure, name, other) for name, other in cells]
    known = np.concatenate([one[np.isfinite(one)] for one in means])
    factor, unit = scales.unit_of(float(known.max()) if len(known) else 0.0, measure.unit)
    norm = _norm(known / factor, measure)
    titles = [_title(comparison, shown, name, other) for name, other in cells]
    figure, panels = _panels(comparison, shown, titles, ax)
    image = None
    for axes, mean in zip(panels, means, strict=True):
        image = axes.pcolormesh(np.ma.masked_invalid(mean / factor), cmap=_MAP, norm=norm)
        axes.set_facecolor(_NONE)
    if image is not None and all(_fits(*one) for one in zip(panels, (mean / factor for mean in means), strict=True)):
        for axes, mean in zip(panels, means, strict=True):
            _write_values(axes, mean / factor, image)
    if image is not None:
        bar = figure.colorbar(image, ax=panels, shrink=0.9, label=quantity(measure, unit), aspect=30)
        bar.outline.set_visible(False)
        if isinstance(norm, LogNorm):
            scales.in_numbers(bar.ax.yaxis)
    is_missing = any(np.isnan(one).any() for one in means)
    why = "no run finished" if measure is COMPLETION else "no run"
    title = f"{title_of(measure)} over {names.plain(shown.across.label)} and {names.plain(shown.up.label)}"
    note = [f"{comparison.name}, means of {counted(comparison, comparison.points)}"]
    if len(algorithms) < len(comparison.algorithms):
        note.append(f"{len(algorithms)} of {len(comparison.algorithms)} algorithms")
    handles = {f"–  {why}": Patch(facecolor=_NONE, edgecolor=style.GREY, linewidth=0.5)} if is_missing else {}
    framing.head(figure, panels, title, " · ".join(note), handles=handles, ax=ax)
    _set_caption(figure, comparison, shown, title, "means", [measure], "Colours have no intervals")
    return figure


@styled
def best(comparison: Outcomes, *, ax: Any = None) -> Chart:
    """Plots the algorithm with the highest mean goodput as the colour of a cell.

    Hatched cells have another algorithm that cannot be distinguished from the best, as in the conclusion of the
    comparison.
    """
    shown = map_of(comparison)
    assert shown is not None, "kinds() names heat maps only if there is one"
    levels = _levels(comparison)
    figure, panels = _panels(comparison, shown, [describe_other(comparison, shown, one) for one in shown.others], ax)
    present: dict[str, int] = {}
    is_tied = is_missing = False
    for axes, other in zip(panels, shown.others, strict=True):
        for column, across in enumerate(shown.across.values):
            for row, up in enumerate(shown.up.values):
                level = levels.get(shown.point(comparison, other, across, up))
                if not level:
                    is_missing = True
                    continue
                at = comparison.algorithms.index(level[0])
                present[level[0]] = at
                is_tied |= len(level) > 1
                _cell(axes, column, row, style.COLOURS[at % len(style.COLOURS)], tied=len(level) > 1)
        axes.set_xlim(0, len(shown.across.values))
        axes.set_ylim(0, len(shown.up.values))
        axes.set_facecolor(_NONE)
        _write_names(axes, comparison, shown, other, levels)
    handles: dict[str, Any] = {
        names.algorithm(name): Patch(color=style.COLOURS[at % len(style.COLOURS)])
        for name, at in sorted(present.items(), key=lambda one: one[1])
    }
    if is_tied:
        handles["not distinguishable from another"] = Patch(facecolor="white", edgecolor=style.BLACK, hatch=_TIED)
    if is_missing:
        handles["no run"] = Patch(facecolor=_NONE, edgecolor=style.GREY, linewidth=0.5)
    title = f"Highest goodput over {names.plain(shown.across.label)} and {names.plain(shown.up.label)}"
    note = f"{comparison.name}, {counted(comparison, comparison.points)} each"
    framing.head(figure, panels, title, note, handles=handles, ax=ax)
    extra = "Hatched: the 95 % intervals do not distinguish the best algorithm from another" if is_tied else ""
    _set_caption(figure, comparison, shown, title, "means", [], extra)
    return figure


def _set_caption(
    figure: Chart, comparison: Outcomes, shown: MapOf, title: str, shows: str, measures: list[Measure], extra: str
) -> None:
    if isinstance(figure, Chart):
        points = [
            point
            for other in shown.others
            for across in shown.across.values
            for up in shown.up.values
            if (point := shown.point(comparison, other, across, up)) in set(comparison.points)
        ]
        figure.caption = captions.of_comparison(
            comparison, title, points=points, shows=shows, measures=measures, extra=[extra]
        )


def _means(comparison: Outcomes, shown: MapOf, measure: Measure, name: str, other: Point) -> Numbers:
    """Returns the means of an algorithm: a row for each value of the vertical axis."""
    return np.array(
        [
            [
                comparison.interval(name, measure, shown.point(comparison, other, across, up)).mean
                for across in shown.across.values
            ]
            for up in shown.up.values
        ]
    )


def _levels(comparison: Outcomes) -> dict[Point, tuple[str, ...]]:
    """Returns the best algorithm at each point, and those that cannot be distinguished from it."""
    found = json.loads(_engine.analysis(json.dumps({"answer": comparison.asked()})))
    points = () if found is None else found["points"]
    return {comparison.points[one["point"]]: tuple(one["level"]) for one in points if one["point"] is not None}


def _norm(values: Numbers, measure: Measure) -> Normalize:
    least, most = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if least > 0 and most / least >= _WIDE_SPAN:
        return LogNorm(least, most)
    low = 0.0 if least < 0.25 * most else least
    return Normalize(low, 1.0 if measure.column == "jain" else max(most, low + 1e-9))


def _title(comparison: Outcomes, shown: MapOf, name: str, other: Point) -> str:
    where = describe_other(comparison, shown, other)
    return f"{names.algorithm(name)}, {where}" if where else names.algorithm(name)


def describe_other(comparison: Outcomes, shown: MapOf, other: Point) -> str:
    """Returns the values of the variables that are not on an axis."""
    left = [one for one in comparison.variables if one not in (shown.across, shown.up) and len(one.values) > 1]
    rest = dict(zip([one for one in comparison.variables if one not in (shown.across, shown.up)], other, strict=True))
    parts = [
        f"{names.plain(one.label)} {values_of(one)[rest[one]]}" if one.keys else names.plain(rest[one]) for one in left
    ]
    return ", ".join(parts)


def _panels(comparison: Outcomes, shown: MapOf, titles: Sequence[str], ax: Any) -> tuple[Chart, list[Axes]]:
    wide = min(2 if len(titles) in (2, 4) else 3, len(titles), fitting(_PANEL_IN, 3))
    if ax is not None:
        wide = len(titles)
    deep = math.ceil(len(titles) / wide)
    rows = min(max(0.26 * len(shown.up.values), 1.2), 3.2)
    size = (6.4 if wide < 3 else 8.1, 0.9 + deep * (rows + 0.45))
    figure, grid = style.chart(deep, wide, size=size, follow=0.4, ax=ax, squeeze=False)
    every = list(grid.flat)
    for unused in every[len(titles) :]:
        figure.delaxes(unused)
    panels = every[: len(titles)]
    for at, (axes, title) in enumerate(zip(panels, titles, strict=True)):
        if title:
            framing.panel_title(axes, title)
        axes.grid(visible=False)
        _name_values(axes, shown, is_first=at % wide == 0, is_lowest=at + wide >= len(panels))
    return figure, panels


def _name_values(axes: Axes, shown: MapOf, *, is_first: bool, is_lowest: bool) -> None:
    for which, variable, is_named in (("x", shown.across, is_lowest), ("y", shown.up, is_first)):
        texts, unit = _texts(variable)
        # At most as many labels as fit.
        room = framing.room_in(axes) / 0.42 if which == "x" else 14
        step = max(1, math.ceil(len(texts) / max(room, 1)))
        ticks = [at + 0.5 for at in range(0, len(texts), step)]
        getattr(axes, f"set_{which}ticks")(ticks, texts[::step] if is_named else [""] * len(ticks))
        if is_named:
            getattr(axes, f"set_{which}label")(axis_label(variable, unit))
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _texts(variable: Variable) -> tuple[list[str], str]:
    """Returns the values of a variable as labels, and their unit if all have the same."""
    texts = scales.tick_texts(variable.values)
    if variable.axis.unit and variable.axis.is_ordered:
        return scales.tick_texts([scales.tick(place) for place in variable.axis.places]), variable.axis.unit
    return texts, ""


def _fits(axes: Axes, values: Numbers) -> bool:
    """Returns true if the cells of a panel have space for their values."""
    rows, columns = values.shape
    size = style.points(7.5)
    width = max(framing.width_in(_short(value), size) for value in values.flat)
    return width + 0.06 <= framing.room_in(axes) / columns and bool(_height_in(axes) / rows >= 1.3 * size / 72)


def _write_values(axes: Axes, values: Numbers, image: Any) -> None:
    """Writes the values into their cells."""
    size = style.points(7.5)
    for (row, column), value in np.ndenumerate(values):
        colour = style.GREY if np.isnan(value) else _contrast(image.cmap(image.norm(value))[:3])
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size, "color": colour, "gid": framing.NOTE}
        axes.text(column + 0.5, row + 0.5, _short(value), **look)


def _height_in(axes: Axes) -> float:
    """Returns the approximate height of axes in inches."""
    figure = axes.get_figure(root=True)
    place = axes.get_subplotspec()
    rows = 1 if place is None else place.get_gridspec().nrows
    height = 3.0 if figure is None else float(figure.get_figheight())
    return max((height - 0.9) / rows - 0.45, 0.3)


def _short(value: float) -> str:
    """Returns a value with three digits."""
    if np.isnan(value):
        return "–"
    if value and abs(value) < 0.01:
        return scales.power_of_ten(float(f"{value:.1e}"))
    return f"{value:,.0f}" if abs(value) >= 100 or not value else f"{value:#.3g}"


def _contrast(colour: tuple[float, float, float]) -> str:
    """Returns black or white, whichever is easier to read on a colour."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / (_BLACK + 0.05) else style.BLACK


def _cell(axes: Axes, column: int, row: int, colour: str, *, tied: bool) -> None:
    hatch: dict[str, Any] = {"hatch": _TIED, "edgecolor": "white", "linewidth": 0} if tied else {"linewidth": 0}
    cell = [[column, column + 1], [column, column + 1]]
    axes.fill_between(cell[0], row, row + 1, facecolor=colour, **hatch)


def _write_names(
    axes: Axes, comparison: Outcomes, shown: MapOf, other: Point, levels: dict[Point, tuple[str, ...]]
) -> None:
    """Writes the names of the best algorithms into the cells where they fit."""
    size = style.points(7.5)
    room = framing.room_in(axes) / len(shown.across.values)
    if _height_in(axes) / len(shown.up.values) < 1.3 * size / 72:
        return
    for column, across in enumerate(shown.across.values):
        for row, up in enumerate(shown.up.values):
            level = levels.get(shown.point(comparison, other, across, up), ())
            name = names.algorithm(level[0]) if level else "–"
            if framing.width_in(name, size) + 0.06 > room:
                continue
            at = comparison.algorithms.index(level[0]) % len(style.COLOURS) if level else 0
            colour = to_rgb(style.COLOURS[at]) if level else to_rgb(_NONE)
            box = {"facecolor": colour, "edgecolor": "none", "pad": 1.0} if len(level) > 1 else None
            axes.text(
                column + 0.5, row + 0.5, name, ha="center", va="center", fontsize=size, color=_contrast(colour),
                bbox=box, gid=framing.NOTE,
            )  # fmt: skip
