"""Figures of results. Every function takes a result and returns a figure.

Figures over time also take several results, which they plot into the same axes: a list, or a mapping that names them.
Lines are named after the directories of the results, or after their scenarios where these differ.

Every function plots into axes of your own figure if they are passed as ``ax``: one for each panel. The axes keep their
settings, and the returned figure is yours. :func:`using` sets width, font and style.

Examples
--------
>>> import lightlag as ll
>>> result = ll.run(ll.presets.geo(transfer="1 MB"), seed=1)
>>> figure = ll.plot.cwnd(result)
>>> figure.axes[0].get_ylabel()
'Congestion window (segments)'

``figure.save("cwnd.pdf")`` writes it. Several results, in the column of a paper:

>>> other = ll.run(ll.presets.geo(transfer="1 MB", congestion="hybla"), seed=1)
>>> with ll.plot.using("ieee"):
...     figure = ll.plot.cwnd({"cubic": result, "hybla": other})
>>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
['cubic: client->server', 'hybla: client->server']

Into a figure of your own:

>>> from matplotlib.figure import Figure
>>> above, below = Figure().subplots(2, sharex=True)
>>> own = ll.plot.cwnd(result, ax=above), ll.plot.queue(result, ax=below)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from lightlag._renamed import former_keywords
from lightlag.constellation import plot as constellation_plot
from lightlag.constellation.satellites import sky_of
from lightlag.drawing import names
from lightlag.drawing.style import Chart, save
from lightlag.drawing.styled import using
from lightlag.errors import InputError
from lightlag.outcomes.outcomes import Outcomes
from lightlag.plot import comparison as comparison_plot
from lightlag.plot import comparison_facets, overlay, panels, shown
from lightlag.plot.over_time import OVER_TIME as _OVER_TIME
from lightlag.plot.over_time import cwnd, goodput, queue, rtt, sequence
from lightlag.plot.shown import Results
from lightlag.plot.web_page import waterfall
from lightlag.swarm import paths as swarm_paths
from lightlag.swarm import plot as swarm_plot

__all__ = [
    "FIGURES",
    "OVER_TIME",
    "airtime",
    "comparisons",
    "cwnd",
    "facets",
    "globe",
    "goodput",
    "handovers",
    "queue",
    "routes",
    "rtt",
    "save",
    "sequence",
    "swarm",
    "using",
    "waterfall",
]


@former_keywords("plot.facets")
def facets(
    result: Results | Outcomes | Sequence[Outcomes] | Mapping[str, Outcomes],
    metrics: str | Sequence[str] | None = None,
    *,
    separate: bool = False,
    ax: Sequence[Axes] | None = None,
    labels: Mapping[str, str] | None = None,
) -> Chart:
    """Plots several figures as panels of one: 2 × 2, or one above the other.

    Figures of runs share the time axis. Each figure of a comparison takes as many panels as it has on its own; one
    legend names the algorithms.

    Parameters
    ----------
    result
        Runs or comparisons: one, several, or a mapping that names them.
    metrics
        Names of :data:`OVER_TIME`, by default cwnd, rtt, goodput and queue; for comparisons names of their
        :attr:`~lightlag.Comparison.figures`, by default all of them. A string with commas between the names is also
        accepted.
    separate
        Whether each of several results has panels of its own, with the same scales, instead of lines in shared panels.
    ax
        Axes to draw into, one for each panel.
    labels
        Names to replace, as for :func:`using`.
    """
    if isinstance(metrics, str):
        metrics = [name.strip() for name in metrics.split(",")]
    with names.within(labels):
        if (given := overlay.comparisons(result)) is not None:
            return comparison_facets.draw(given if separate else {"": overlay.merged(given)}, metrics, ax=ax)
        runs = shown.named(result)  # type: ignore[arg-type]
        metrics = ("cwnd", "rtt", "goodput", "queue") if metrics is None else metrics
        return panels.draw(runs, metrics, separate=separate, ax=ax)


@former_keywords("plot.comparisons")
def comparisons(
    results: Sequence[Outcomes] | Mapping[str, Outcomes],
    kind: str | None = None,
    *,
    ax: Any = None,
    labels: Mapping[str, str] | None = None,
) -> Chart:
    """Plots several comparisons side by side in one figure; in it, each algorithm is named after the comparison's
    directory.

    :func:`facets` with ``separate`` gives each comparison a panel of its own.

    Parameters
    ----------
    given
        Comparisons that vary the same keys, or a mapping that names them.
    kind
        As for :meth:`lightlag.Comparison.plot`; by default the first figure.
    ax
        Axes to draw into, as many as the figure has panels.
    labels
        Names to replace, as for :func:`using`.
    """
    with names.within(labels):
        return comparison_plot.draw(overlay.merged(overlay.named(results, Outcomes)), kind, ax)


def swarm(result: Results, *, time_s: float | None = None, flow: str | None = None, ax: Axes | None = None) -> Chart:
    """Plots nodes on radio media from above, their links by SNR, and the paths of flows.

    Parameters
    ----------
    time_s
        Seconds since the start of the run; by default its middle.
    flow
        The flow whose path is plotted. Defaults to all flows.
    ax
        Axes to draw into.
    """
    result = shown.one(result, "swarm")
    return swarm_plot.snapshot(
        result.positions,
        result.simulated_s / 2 if time_s is None else time_s,
        radio=swarm_paths.radio_of(result.scenario),
        paths=result.paths,
        flows=None if flow is None else [flow],
        ax=ax,
    )


def airtime(result: Results, *, ax: Axes | None = None) -> Chart:
    """Plots the transmission time of each radio during the run, by kind of frame.

    Parameters
    ----------
    ax
        Axes to draw into.
    """
    return swarm_plot.airtime(shown.one(result, "airtime").interfaces, ax=ax)


def routes(result: Results, *, flow: str | None = None, ax: Axes | None = None) -> Chart:
    """Plots the number of hops of flows over radio media over time.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    ax
        Axes to draw into.
    """
    result = shown.one(result, "routes")
    flows = None if flow is None else [flow]
    return swarm_plot.route_timeline(result.paths, result.simulated_s, flows=flows, ax=ax)


def globe(result: Results, *, time_s: float | None = None, ax: Axes | None = None) -> Chart:
    """Plots satellites around the Earth, the links between them, and the paths of flows over a constellation.

    Parameters
    ----------
    time_s
        Seconds since the start of the run; by default its middle.
    ax
        Axes to draw into.
    """
    result = shown.one(result, "globe")
    if not result.parts["scenario"].get("constellation"):
        raise InputError(f"{result.name}: no constellation; a globe needs one")
    return constellation_plot.globe(
        sky_of(result), result.simulated_s / 2 if time_s is None else time_s, result=result, ax=ax
    )


def handovers(result: Results, *, flow: str | None = None, ax: Sequence[Axes] | None = None) -> Chart:
    """Plots a flow over a constellation: its window and round trips, and below them the satellites at both ends of its
    path.

    Parameters
    ----------
    flow
        Name of the flow; by default the first.
    ax
        Axes to draw into: for the window, the round trips and the satellites.
    """
    return constellation_plot.handovers(shown.one(result, "handovers"), flow, ax=ax)


OVER_TIME: dict[str, Callable[..., Chart]] = _OVER_TIME
"""Functions by metric for figures that take several results."""

FIGURES: dict[str, Callable[..., Chart]] = {
    **OVER_TIME,
    "swarm": swarm,
    "airtime": airtime,
    "routes": routes,
    "globe": globe,
    "handovers": handovers,
    "waterfall": waterfall,
}
"""Functions by metric for figures of one result."""


def __dir__() -> list[str]:
    return sorted(__all__)
