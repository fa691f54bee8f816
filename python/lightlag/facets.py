"""Several figures over time as panels of one figure."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from lightlag import _shown, framing, looks, plot, style
from lightlag._shown import Results
from lightlag._text import printable
from lightlag.errors import InputError
from lightlag.style import Chart

__all__ = ["check", "draw"]

_SHORT = {"congestion window": "cwnd", "round-trip time": "RTT", "packets waiting": "queue (packets)"}
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


@style.styled
def draw(result: Results, metrics: Sequence[str], *, ax: Sequence[Axes] | None = None) -> Chart:
    """A panel for each metric; :func:`lightlag.plot.facets` has the parameters."""
    check(metrics)
    runs = _shown.named(result)
    rows, columns, size = _arrangement(len(metrics))
    figure, grid = style.chart(rows, columns, size=size, follow=0.6, ax=ax, sharex=True, squeeze=False)
    panels = list(grid.flat)[: len(metrics)]
    interval_s = plot.interval_of(runs)
    notes = [_shown.note(runs)]
    with looks.within(dataclasses.replace(looks.current(), titled=False)):
        for axes, metric in zip(panels, metrics, strict=True):
            options: dict[str, Any] = {"interval_s": interval_s} if metric == "goodput" else {}
            try:
                plot.OVER_TIME[metric](runs, ax=axes, **options)
            except InputError as error:
                if len(panels) == 1:
                    raise
                framing.say_empty(axes, str(error))
                axes.set_ylabel(metric)
    for axes in panels:
        axes.set_ylabel(_shortened(axes.get_ylabel().replace("\n", " ")))
    if "goodput" in metrics:
        notes.append(f"goodput: means over {interval_s:g} s")
    for unused in list(grid.flat)[len(metrics) :]:
        unused.set_visible(False)
    for at, axes in enumerate(panels):
        is_lowest = at + columns >= len(panels)
        axes.set_xlabel("time (s)" if is_lowest else "")
        axes.tick_params(labelbottom=is_lowest)
    shared = _shared(panels) if ax is None else {}
    by_row = [
        [framing.legend_rows(axes) for axes in panels[at : at + columns]] for at in range(0, len(panels), columns)
    ]
    framing.grow(figure, sum(max(row) for row in by_row))
    framing.head(figure, panels, notes[0], " · ".join(notes[1:]), handles=shared, ax=ax)
    if ax is None:
        figure.align_ylabels(panels)
    return figure


def _shortened(label: str) -> str:
    """A label that fits a low panel."""
    for long, short in _SHORT.items():
        label = label.replace(long, short)
    return label


def _shared(panels: Sequence[Axes]) -> dict[str, Any]:
    """Takes what stands in the legends of several panels out of them."""
    drawn = [framing.entries([axes]) if axes.get_legend() is not None else {} for axes in panels]
    counts = Counter(label for own in drawn for label in own)
    shared = {label: handle for own in drawn for label, handle in own.items() if counts[label] > 1}
    for axes, own in zip(panels, drawn, strict=True):
        if own.keys() & shared.keys():
            framing.legend_above(axes, {label: handle for label, handle in own.items() if label not in shared})
    return shared


def _arrangement(count: int) -> tuple[int, int, tuple[float, float]]:
    """Rows, columns and size: as many panels beside each other as are wide enough, two at most."""
    width = looks.current().width_in or 7.2
    columns = 2 if count > 2 and width >= 2 * _LEAST_IN else 1
    rows = math.ceil(count / columns)
    return rows, columns, (7.2 if columns == 2 else 6.4, 0.6 + 2.1 * rows)
