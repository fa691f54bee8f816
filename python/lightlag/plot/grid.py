"""Several figures over time as panels of one figure."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from lightlag import plot
from lightlag.drawing import framing, looks, style
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.errors import InputError
from lightlag.plot import shown
from lightlag.plot.shown import Results
from lightlag.text.terminal import printable

__all__ = ["check", "columns_of", "draw", "one_legend", "same_scales", "shortened"]

_SHORT = {
    "congestion window": "cwnd",
    "round-trip time": "RTT",
    "packets waiting": "queue (packets)",
    "share of the flows": "share of flows",
}
_LEAST_IN = 2.2
"""The width of a panel beside another."""


def check(metrics: Sequence[str]) -> None:
    """Fails if a metric is no figure over time, or if it is there twice."""
    if not metrics:
        raise InputError(f"no metric; name some of {', '.join(plot.OVER_TIME)}")
    for at, metric in enumerate(metrics):
        if metric not in plot.OVER_TIME:
            raise InputError(
                f'"{printable(metric)}" is no figure over time, so it cannot be a panel beside others; '
                f"there are {', '.join(plot.OVER_TIME)}"
            )
        if metric in metrics[:at]:
            raise InputError(f'"{metric}" is there twice; name each metric once')


@styled
def draw(result: Results, metrics: Sequence[str], *, apart: bool = False, ax: Sequence[Axes] | None = None) -> Chart:
    """A panel for each metric, or for each metric and result; :func:`lightlag.plot.facets` has the parameters."""
    check(metrics)
    runs = shown.named(result)
    together = [("", runs)] if not apart or len(runs) == 1 else [(name, {name: run}) for name, run in runs.items()]
    cells = [(metric, name, own) for metric in metrics for name, own in together]
    rows, columns, size = _arrangement(len(cells))
    figure, grid = style.chart(rows, columns, size=size, follow=0.6, ax=ax, sharex=True, squeeze=False)
    panels = list(grid.flat)[: len(cells)]
    interval_s = plot.interval_of(runs)
    notes = [shown.note(runs)]
    with looks.within(dataclasses.replace(looks.current(), titled=False)):
        for axes, (metric, _, own) in zip(panels, cells, strict=True):
            options: dict[str, Any] = {"interval_s": interval_s} if metric == "goodput" else {}
            try:
                plot.OVER_TIME[metric](own, ax=axes, **options)
            except InputError as error:
                if len(panels) == 1:
                    raise
                framing.say_empty(axes, str(error))
                axes.set_ylabel(metric)
    for axes in panels:
        axes.set_ylabel(shortened(axes.get_ylabel().replace("\n", " ")))
    for at in range(0, len(panels), len(together)):
        same_scales(panels[at : at + len(together)])
    if "goodput" in metrics:
        notes.append(f"goodput: means over {interval_s:g} s")
    for unused in list(grid.flat)[len(cells) :]:
        unused.set_visible(False)
    for at, axes in enumerate(panels):
        is_lowest = at + columns >= len(panels)
        axes.set_xlabel("time (s)" if is_lowest else "")
        axes.tick_params(labelbottom=is_lowest)
        axes.set_xlim(0, shown.end_s(runs))
    shared = {} if ax is not None else one_legend(panels) if len(together) > 1 else _shared(panels)
    for axes, (_, name, _) in zip(panels, cells, strict=True):
        if name:
            framing.panel_title(axes, name)
    by_row = [
        [framing.legend_rows(axes) for axes in panels[at : at + columns]] for at in range(0, len(panels), columns)
    ]
    framing.grow(figure, sum(max(row) for row in by_row))
    framing.head(figure, panels, notes[0], " · ".join(notes[1:]), handles=shared, ax=ax)
    if ax is None:
        figure.align_ylabels(panels)
    return figure


def shortened(label: str) -> str:
    """A label that fits a low panel."""
    for long, short in _SHORT.items():
        label = re.sub(long, short, label, flags=re.IGNORECASE)
    return label


def same_scales(panels: Sequence[Axes]) -> None:
    """One scale for panels with the same quantity in the same unit: they can be compared.

    Logarithmic axes, and those where something is cut off, stay as they are.
    """
    for which in ("x", "y"):
        groups: dict[str, list[Axes]] = {}
        for axes in panels:
            if getattr(axes, f"get_{which}scale")() == "linear" and not axes.texts:
                groups.setdefault(getattr(axes, f"get_{which}label")(), []).append(axes)
        for label, own in groups.items():
            if not label:
                continue
            limits = [getattr(axes, f"get_{which}lim")() for axes in own]
            if all(low <= high for low, high in limits):
                low, high = min(low for low, _ in limits), max(high for _, high in limits)
                for axes in own:
                    getattr(axes, f"set_{which}lim")(low, high)


def _shared(panels: Sequence[Axes]) -> dict[str, Any]:
    """Takes what stands in the legends of several panels out of them."""
    drawn = [framing.entries([axes]) if axes.get_legend() is not None else {} for axes in panels]
    counts = Counter(label for own in drawn for label in own)
    shared = {label: handle for own in drawn for label, handle in own.items() if counts[label] > 1}
    for axes, own in zip(panels, drawn, strict=True):
        if own.keys() & shared.keys():
            framing.legend_above(axes, {label: handle for label, handle in own.items() if label not in shared})
    return shared


def columns_of(count: int) -> int:
    """As many panels beside each other as are wide enough, two at most."""
    width = looks.current().width_in or 7.2
    return 2 if count > 2 and width >= 2 * _LEAST_IN else 1


def one_legend(panels: Sequence[Axes]) -> dict[str, Any]:
    """The legend of all panels; one whose names look different elsewhere, or as others do, keeps its own."""
    drawn = [framing.entries([axes]) for axes in panels]
    pairs = {(label, _look(handle)) for own in drawn for label, handle in own.items()}
    labels = Counter(label for label, _ in pairs)
    looks_of = Counter(look for _, look in pairs)
    shared: dict[str, Any] = {}
    for axes, own in zip(panels, drawn, strict=True):
        is_clear = all(labels[label] == looks_of[_look(handle)] == 1 for label, handle in own.items())
        shared |= own if is_clear else {}
        framing.legend_above(axes, {} if is_clear else own)
    return shared if len(labels) > 1 else {}


def _look(handle: Any) -> tuple[Any, bool]:
    """The colour of a line, and whether it is a bound."""
    line = handle if isinstance(handle, Line2D) else handle[0]
    return line.get_color(), line.get_zorder() == style.LIMIT["zorder"]


def _arrangement(count: int) -> tuple[int, int, tuple[float, float]]:
    """Rows, columns and size."""
    columns = columns_of(count)
    rows = math.ceil(count / columns)
    return rows, columns, (7.2 if columns == 2 else 6.4, 0.6 + 2.1 * rows)
