"""Several figures over time as panels of one figure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from lightlag.drawing import framing, looks, names, style
from lightlag.drawing import grid as layout
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.errors import InputError
from lightlag.plot import shown
from lightlag.plot.over_time import OVER_TIME, interval_of
from lightlag.plot.shown import Results
from lightlag.text.terminal import printable

__all__ = ["check", "draw"]


def check(metrics: Sequence[str]) -> None:
    """Fails if a metric has no figure over time, or is duplicated."""
    if not metrics:
        raise InputError(f"no metric; name some of {', '.join(OVER_TIME)}")
    for at, metric in enumerate(metrics):
        if metric not in OVER_TIME:
            raise InputError(
                f'"{printable(metric)}" is not a plot over time and cannot be combined with others; '
                f"there are {', '.join(OVER_TIME)}"
            )
        if metric in metrics[:at]:
            raise InputError(f'"{metric}" is duplicated; name each metric once')


@styled
def draw(result: Results, metrics: Sequence[str], *, separate: bool = False, ax: Sequence[Axes] | None = None) -> Chart:
    """Plots a panel for each metric, or for each metric and result; :func:`lightlag.plot.facets` has the parameters."""
    check(metrics)
    runs = shown.named(result)
    groups = [("", runs)] if not separate or len(runs) == 1 else [(name, {name: run}) for name, run in runs.items()]
    cells = [(metric, name, own) for metric in metrics for name, own in groups]
    rows, columns, size = _arrangement(len(cells))
    figure, grid = style.chart(rows, columns, size=size, follow=0.6, ax=ax, sharex=True, squeeze=False)
    panels = list(grid.flat)[: len(cells)]
    interval_s = interval_of(runs)
    notes = [shown.note(runs)]
    with looks.within(dataclasses.replace(looks.current(), titled=False)):
        for axes, (metric, _, own) in zip(panels, cells, strict=True):
            options: dict[str, Any] = {"interval_s": interval_s} if metric == "goodput" else {}
            try:
                OVER_TIME[metric](own, ax=axes, **options)
            except InputError as error:
                if len(panels) == 1:
                    raise
                framing.say_empty(axes, str(error))
                axes.set_ylabel(metric)
    titles = list(dict.fromkeys(axes.get_ylabel().replace("\n", " ").split(" (")[0] for axes in panels))
    for axes in panels:
        axes.set_ylabel(layout.shortened(axes.get_ylabel().replace("\n", " ")))
    for at in range(0, len(panels), len(groups)):
        layout.same_scales(panels[at : at + len(groups)])
    if "goodput" in metrics:
        notes.append(f"goodput: means over {interval_s:g} s")
    for unused in list(grid.flat)[len(cells) :]:
        unused.set_visible(False)
    for at, axes in enumerate(panels):
        is_lowest = at + columns >= len(panels)
        axes.set_xlabel("time (s)" if is_lowest else "")
        axes.tick_params(labelbottom=is_lowest)
        axes.set_xlim(0, shown.end_s(runs))
    shared = {} if ax is not None else layout.one_legend(panels) if len(groups) > 1 else layout.shared_entries(panels)
    for axes, (_, name, _) in zip(panels, cells, strict=True):
        if name:
            framing.panel_title(axes, names.plain(name))
    by_row = [
        [framing.legend_rows(axes) for axes in panels[at : at + columns]] for at in range(0, len(panels), columns)
    ]
    framing.grow(figure, sum(max(row) for row in by_row))
    framing.head(figure, panels, notes[0], " · ".join(notes[1:]), handles=shared, ax=ax)
    if ax is None:
        framing.caption(figure, f"{_listed(titles)} over time", " · ".join(notes))
    if ax is None:
        figure.align_ylabels(panels)
    return figure


def _listed(titles: Sequence[str]) -> str:
    """Returns quantities as the start of a sentence."""
    lower = [one if one.split(" ")[0].isupper() else one[:1].lower() + one[1:] for one in titles]
    *most, last = lower
    text = f"{', '.join(most)} and {last}" if most else last
    return text[:1].upper() + text[1:]


def _arrangement(count: int) -> tuple[int, int, tuple[float, float]]:
    """Returns the number of rows, the number of columns, and the size of the figure."""
    columns = layout.columns_of(count)
    rows = math.ceil(count / columns)
    return rows, columns, (7.2 if columns == 2 else 6.4, 0.6 + 2.1 * rows)
