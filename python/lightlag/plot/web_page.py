"""Waterfall of a web page: a bar for each object, and below it the fraction of the bytes that had arrived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from lightlag.drawing import framing, style
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.plot import shown
from lightlag.plot.shown import Results
from lightlag.records.page_load import PageLoad, page_load
from lightlag.text.quantities import size as size_text
from lightlag.text.terminal import printable

__all__ = ["waterfall"]

MAX_LABELS = 60
"""Maximum number of objects whose rows have names."""
MAX_NAME = 24
"""Maximum number of characters of a name."""
_WAITING = 0.35
"""Opacity of the time between a request and its first byte."""
_QUEUED = "#c8c8c8"


@styled
def waterfall(result: Results, *, flow: str | None = None, page: int = 1, ax: Sequence[Axes] | None = None) -> Chart:
    """Plots a load of a page: a bar for each object in the colour of its connection, and the bytes that had arrived.

    A bar starts when the browser could request the object. Its grey part is the time until the request was written, its
    light part the time until the first byte arrived, and its dark part the time until the last byte did.

    Parameters
    ----------
    flow
        Flow that loads the page; by default the first.
    page
        Index of the load, from 1.
    ax
        Axes to draw into: for the objects and for the bytes.
    """
    run = shown.one(result, "waterfall")
    load = page_load(run, flow, page)
    rows = len(load.objects)
    height = 2.4 + min(0.17 * rows, 7.0)
    figure, (bars, bytes_) = style.chart(
        2, 1, size=(6.4, height), follow=0.4, ax=ax, sharex=True, height_ratios=(max(height - 2.0, 1.0), 1.0)
    )
    handles = _bars(bars, load)
    times, fractions = load.arrived()
    bytes_.plot(times, [100 * fraction for fraction in fractions], **style.line_style(0))
    bytes_.set_ylabel("bytes (%)")
    bytes_.set_ylim(0, 105)
    bytes_.set_xlabel("time since the start of the load (s)")
    if load.took_s is not None:
        for axes in (bars, bytes_):
            handles["page loaded"] = axes.axvline(load.took_s, **style.limit(0))
    for axes in (bars, bytes_):
        axes.set_xlim(0, 1.03 * max(load.end_s, load.took_s or 0.0) or 1.0)
    framing.head(
        figure, [bars, bytes_], f"Page of {printable(load.flow)}", _note(load, run.seed), handles=handles, ax=ax
    )
    return figure


def _bars(axes: Axes, load: PageLoad) -> dict[str, Any]:
    """Plots the objects from above in their order; returns the entries of a legend."""
    connections = load.connections
    colours = {name: style.COLOURS[at % len(style.COLOURS)] for at, name in enumerate(connections)}
    own = [colours[one.connection] for one in load.objects]
    # The edge of a response of one packet shows, which has no length.
    parts: tuple[tuple[str, str, float, dict[str, Any]], ...] = (
        ("known_s", "start_s", 0.3, {"facecolors": _QUEUED, "linewidths": 0}),
        ("start_s", "first_byte_s", 0.75, {"facecolors": own, "linewidths": 0, "alpha": _WAITING}),
        ("first_byte_s", "end_s", 0.75, {"facecolors": own, "edgecolors": own, "linewidths": 0.6}),
    )
    for since, until, height, look in parts:
        corners = [
            [
                (getattr(one, time), row + side * height / 2)
                for time, side in ((since, -1), (until, -1), (until, 1), (since, 1))
            ]
            for row, one in enumerate(load.objects)
        ]
        axes.add_collection(PolyCollection(corners, zorder=2, **look), autolim=False)
    axes.set_ylim(len(load.objects) - 0.4, -0.6)
    named = range(0, len(load.objects), -(-len(load.objects) // MAX_LABELS))
    axes.set_yticks(list(named), [_shortened(load.objects[row].name) for row in named], fontsize=style.points(7))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    handles: dict[str, Any] = {
        "queued or connecting": Patch(color=_QUEUED),
        "request to first byte": Patch(facecolor=style.BLACK, alpha=_WAITING, linewidth=0),
        "first to last byte": Patch(color=style.BLACK),
    }
    if 1 < len(connections) <= len(style.COLOURS):
        handles |= {printable(name): Patch(color=colour) for name, colour in colours.items()}
    return handles


def _shortened(name: str) -> str:
    name = printable(name)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"


def _note(load: PageLoad, seed: int) -> str:
    parts = [
        *([f"load {load.page} of {load.loads}"] if load.loads > 1 else []),
        _counted(len(load.objects), "object"),
        _counted(len(load.connections), "connection"),
        size_text(sum(one.size for one in load.objects)),
        "not complete" if load.took_s is None else f"loaded after {load.took_s:.4g} s",
        *([f"ByteIndex {load.byte_index_s:.4g} s"] if load.byte_index_s is not None else []),
        f"seed {seed}",
    ]
    return " · ".join(parts)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
