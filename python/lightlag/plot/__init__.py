"""Figures of results. Every function takes a result and returns a figure.

Figures over time also take several results, which they draw over each other: a list, or a mapping that names them.
Lines are named after the folders of the results, or after their scenarios where these differ.

Every function draws into axes of your own figure if it is given them as ``ax``: one for each panel. They keep the
settings that they have, and the figure that comes back is yours. :func:`using` sets width, font and style.

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
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from lightlag import analyse
from lightlag.comparison.comparison import Comparison
from lightlag.constellation import plot as constellation_plot
from lightlag.drawing import curves, framing, looks, scales, style
from lightlag.drawing.curves import Numbers
from lightlag.drawing.style import Chart, save
from lightlag.drawing.styled import styled, using
from lightlag.errors import InputError
from lightlag.plot import overlay
from lightlag.plot import shown as _shown
from lightlag.plot.shown import Results
from lightlag.records.summary import capacity
from lightlag.results.result import Result
from lightlag.swarm import paths as swarm_paths
from lightlag.swarm import plot as swarm_plot

if TYPE_CHECKING:
    import polars as pl

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
]

_MOST_LIMITS = 3
_ABOVE = 5.0
"""A link's rate is drawn up to this many times the largest goodput."""
_IDLE = 0.01
"""A queue that never holds this part of the longest one is left out."""


@styled
def cwnd(result: Results, *, flow: str | None = None, ax: Axes | None = None) -> Chart:
    """Congestion window over time; for one flow of one result with ssthresh, Wmax and its recoveries.

    A short peak far above the rest is cut off and named; if windows are that large for long, the axis is logarithmic.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(ax=ax)
    runs = _shown.named(result)
    flows = _shown.by_run(runs, "cwnd", flow)
    _shown.label(axes, "congestion window (segments)")
    if (alone := curves.alone(flows)) is not None:
        name, rows = alone
        _one_window(axes, rows)
        framing.finish(axes, f"Congestion window of {name}", _shown.note(runs, name), end_s=_shown.end_s(runs))
    else:
        windows = {run: curves.columns(own, "cwnd_segments") for run, own in flows.items()}
        curves.lines(axes, windows, steps=True)
        framing.finish(axes, "Congestion window", _shown.note(runs), end_s=_shown.end_s(runs))
    every = [rows for own in flows.values() for rows in own.values()]
    scales.tame_peak(axes, [(curves.numbers(rows["time_s"]), curves.numbers(rows["cwnd_segments"])) for rows in every])
    return figure


def _one_window(axes: Axes, rows: pl.DataFrame) -> None:
    times, window = curves.numbers(rows["time_s"]), curves.numbers(rows["cwnd_segments"])
    axes.plot(*curves.thin(times, window), drawstyle="steps-post", label="cwnd", **style.line_style(0), zorder=3)
    for column, label, at in (("ssthresh_segments", "ssthresh", 1), ("w_max_segments", "Wmax", 2)):
        values = curves.numbers(rows[column])
        if not np.isnan(values).all():
            thinner = style.line_style(at) | {"linewidth": style.points(1.1)}
            axes.plot(*curves.thin(times, values), drawstyle="steps-post", label=label, **thinner)
    phase = rows["phase"].cast(str).to_numpy()
    began = phase[1:] != phase[:-1]
    for name, label, marker, colour in (
        ("recovery", "fast recovery", 6, style.COLOURS[4]),
        ("loss", "timeout", "x", style.BLACK),
    ):
        at_times = times[1:][began & (phase[1:] == name)]
        if len(at_times):
            mark: dict[str, Any] = {"marker": marker, "markersize": 5, "color": colour, "linestyle": "none"}
            # At the lower edge, also of a logarithmic axis.
            mark["transform"] = axes.get_xaxis_transform()
            axes.plot(at_times, np.zeros_like(at_times), label=label, clip_on=False, zorder=4, **mark)


@styled
def goodput(result: Results, *, interval_s: float | None = None, ax: Axes | None = None) -> Chart:
    """Goodput over time, in equal intervals; with several flows of one result also their sum.

    A dotted line is the rate of the slowest link, if the flows have one in common, its rate stays and is not far above.
    If several results have more flows than a figure has lines, each result is one line, the sum of its flows.

    Payload counts when it arrives, each byte once, so that no curve passes the rate of the link: what receivers deliver
    in order comes in bursts, since a loss holds back a round trip's data, and its repair frees it at once.

    Parameters
    ----------
    interval_s
        Length of an interval in seconds; by default about a hundredth of the run, but no less than two mean
        round-trip times.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(ax=ax)
    runs = _shown.named(result)
    if interval_s is None:
        interval_s = interval_of(runs)
    found = {name: _goodputs(run, interval_s) for name, run in runs.items()}
    sums = {name: curves.summed(own) for name, own in found.items()}
    if len(runs) > 1 and sum(map(len, found.values())) > curves.MOST_LINES:
        found = {
            name: {f"all {len(own)} flows" if len(own) > 1 else next(iter(own), ""): sums[name]}
            for name, own in found.items()
        }
    alone = len(runs) == 1
    drawn = sums.values() if alone else (curve for own in found.values() for curve in own.values())
    largest = max((float(np.max(values, initial=0.0)) for _, values in drawn), default=0.0)
    factor, unit = scales.unit_of(largest, "bit/s")
    scaled = {
        run: {name: (times, values / factor) for name, (times, values) in own.items()} for run, own in found.items()
    }
    curves.lines(axes, scaled, steps=True)
    many = sum(map(len, found.values())) > 1
    if alone and many:
        ((times, total),) = sums.values()
        line = {"color": style.BLACK, "linewidth": style.points(1.0)}
        axes.plot(times, total / factor, drawstyle="steps-post", label="all flows", **line)
    limits, above = _limits(runs, largest)
    for at, (name, rate) in enumerate(limits.items()):
        axes.axhline(rate / factor, label=f"{name}: {_rate(rate)}", **style.limit(at))
    flow = None if many else next((name for own in found.values() for name in own), None)
    note = " · ".join([f"means over {interval_s:g} s", *above, _shown.note(runs, flow)])
    framing.finish(axes, "Goodput", note, legend=many or bool(limits), end_s=_shown.end_s(runs))
    if limits:
        axes.set_ylim(top=max(axes.get_ylim()[1], 1.06 * max(limits.values()) / factor))
    _shown.label(axes, f"goodput ({unit})")
    return figure


def _limits(runs: Mapping[str, Result], largest: float) -> tuple[dict[str, float], list[str]]:
    """The rates in bit/s of the slowest links by name, those that are drawn; and notes about those far above."""
    by_run = {name: capacity(run.summary) for name, run in runs.items()}
    by_limit: dict[tuple[str, float], list[str]] = {}
    for name, limit in by_run.items():
        if limit is not None:
            by_limit.setdefault(limit, []).append(name)
    is_of_all = len(by_limit) == 1 and None not in by_run.values()
    named = {
        f"link {link}" if is_of_all else f"{', '.join(names)}: link {link}": rate
        for (link, rate), names in by_limit.items()
    }
    near = {name: rate for name, rate in named.items() if rate <= _ABOVE * largest}
    far = [f"{name}: {_rate(rate)}" for name, rate in named.items() if rate > _ABOVE * largest]
    return (near, far) if len(named) <= _MOST_LIMITS else ({}, [])


def _rate(rate_bps: float) -> str:
    factor, unit = scales.unit_of(rate_bps, "bit/s")
    return f"{rate_bps / factor:.4g} {unit}"


def interval_of(runs: Mapping[str, Result]) -> float:
    """The length in seconds of an interval of goodput that suits all of some runs."""
    return max(map(_interval_s, runs.values()))


def _interval_s(result: Result) -> float:
    rtts = [entry["mean_rtt_s"] or 0.0 for entry in result.summary["flows"]]
    return analyse.bin_width(max(result.simulated_s, 250 * sum(rtts) / max(len(rtts), 1)))


def _goodputs(result: Result, interval_s: float) -> dict[str, tuple[Numbers, Numbers]]:
    """The goodput of each flow as a step curve."""
    _shown.needed(result, "trace")
    frames = result.goodput(interval_s).partition_by("flow", maintain_order=True)
    return {str(rows["flow"][0]): curves.from_zero(rows) for rows in frames}


@styled
def sequence(result: Results, *, flow: str | None = None, ax: Axes | None = None) -> Chart:
    """Payload sent for the first time and acknowledged, over time; of several flows what is acknowledged.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(ax=ax)
    runs = _shown.named(result)
    flows = _shown.by_run(runs, "sequence", flow)
    every = [rows for own in flows.values() for rows in own.values()]
    largest = max((float(rows["sent_bytes"].max() or 0) for rows in every), default=0.0)  # type: ignore[arg-type]
    factor, unit = scales.unit_of(largest, "B")
    if (alone := curves.alone(flows)) is not None:
        name, rows = alone
        times = curves.numbers(rows["time_s"])
        for at, (column, label) in enumerate((("acked_bytes", "acknowledged"), ("sent_bytes", "sent"))):
            values = curves.numbers(rows[column]) / factor
            axes.plot(*curves.thin(times, values), drawstyle="steps-post", label=label, **style.line_style(at))
        framing.finish(axes, f"Sequence of {name}", _shown.note(runs, name), end_s=_shown.end_s(runs))
    else:
        acked = {run: curves.columns(own, "acked_bytes", 1 / factor) for run, own in flows.items()}
        curves.lines(axes, acked, steps=True)
        framing.finish(axes, "Payload acknowledged", _shown.note(runs), end_s=_shown.end_s(runs))
    _shown.label(axes, f"payload ({unit})")
    return figure


@styled
def rtt(result: Results, *, flow: str | None = None, ax: Axes | None = None) -> Chart:
    """Round-trip times over time; for one flow of one result samples and SRTT, for several each SRTT.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(ax=ax)
    runs = _shown.named(result)
    flows = _shown.by_run(runs, "rtt", flow)
    _shown.label(axes, "round-trip time (ms)")
    if (alone := curves.alone(flows)) is not None:
        name, rows = alone
        times = curves.numbers(rows["time_s"])
        samples = curves.thin(times, curves.numbers(rows["rtt_s"]) * 1e3)
        dots: dict[str, Any] = {"linestyle": "none", "marker": ".", "markeredgewidth": 0, "color": style.COLOURS[5]}
        axes.plot(*samples, markersize=2.5, rasterized=len(samples[0]) > 2000, label="sample", **dots)
        axes.plot(*curves.thin(times, curves.numbers(rows["srtt_s"]) * 1e3), label="SRTT", **style.line_style(0))
        framing.finish(axes, f"Round-trip time of {name}", _shown.note(runs, name), end_s=_shown.end_s(runs))
    else:
        smoothed = {run: curves.columns(own, "srtt_s", 1e3) for run, own in flows.items()}
        curves.lines(axes, smoothed, steps=False)
        framing.finish(axes, "Smoothed round-trip time", _shown.note(runs), end_s=_shown.end_s(runs))
    every = [rows for own in flows.values() for rows in own.values()]
    scales.tame_peak(axes, [(curves.numbers(rows["time_s"]), curves.numbers(rows["srtt_s"]) * 1e3) for rows in every])
    return figure


@styled
def queue(result: Results, *, link: str | None = None, ax: Axes | None = None) -> Chart:
    """Packets that wait at link directions over time; by default those where many waited.

    A direction is left out if it never holds a hundredth of the packets that wait at the longest queue. Of several
    results each has the same directions, those where most packets waited in some.

    Parameters
    ----------
    link
        Name of the direction, such as ``"gateway->server"``.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(ax=ax)
    runs = _shown.named(result)
    every = {name: _queues(run, link) for name, run in runs.items()}
    shown = [link] if link else _busiest(list(every.values()), max(1, curves.MOST_LINES // len(runs)))
    queues = {name: {each: own[each] for each in shown if each in own} for name, own in every.items()}
    curves.lines(axes, {name: curves.columns(own, "packets") for name, own in queues.items()}, steps=False)
    alone = curves.alone(queues)
    title = f"Queue of {alone[0]}" if alone is not None else "Queues"
    framing.finish(
        axes, title, _shown.note(runs), legend=alone is None or not looks.current().titled, end_s=_shown.end_s(runs)
    )
    _shown.label(axes, "packets waiting")
    return figure


def _queues(result: Result, link: str | None) -> dict[str, pl.DataFrame]:
    """The rows of each link direction."""
    rows = _shown.needed(result, "queue")
    names = [entry["name"] for entry in result.summary["links"]]
    if link is not None and link not in names:
        raise InputError(f'no link direction "{link}" in {_shown.place(result)}; there are {", ".join(names[:10])}')
    return {str(part["link"][0]): part for part in rows.partition_by("link", maintain_order=True)}


def _busiest(queues: Sequence[Mapping[str, pl.DataFrame]], most: int) -> list[str]:
    """The link directions where packets waited in some run, those with most of them first."""
    frames: dict[str, list[pl.DataFrame]] = {}
    for name, rows in (entry for own in queues for entry in own.items()):
        frames.setdefault(name, []).append(rows)
    means = {name: max(float(rows["packets"].mean() or 0) for rows in own) for name, own in frames.items()}  # type: ignore[arg-type]
    longest = {name: max(int(rows["packets"].max() or 0) for rows in own) for name, own in frames.items()}  # type: ignore[arg-type]
    by_mean = sorted(frames, key=lambda name: -means[name])
    least = max(_IDLE * max(longest.values(), default=0), 1)
    return ([name for name in by_mean if longest[name] >= least] or by_mean[:1])[:most]


def facets(
    result: Results | Comparison | Sequence[Comparison] | Mapping[str, Comparison],
    metrics: str | Sequence[str] | None = None,
    *,
    apart: bool = False,
    ax: Sequence[Axes] | None = None,
) -> Chart:
    """Several figures as panels of one: 2 × 2, or one above the other.

    Those of runs share the axis of time. Of comparisons each figure takes as many panels as it has alone; one legend
    names the algorithms.

    Parameters
    ----------
    result
        Runs or comparisons: one, several, or a mapping that names them.
    metrics
        Names of :data:`OVER_TIME`, by default cwnd, rtt, goodput and queue; of comparisons names of their
        :attr:`~lightlag.Comparison.figures`, by default all of them. Also one text with commas between names.
    apart
        Whether each of several results has panels of its own, with the same scales, instead of lines beside those of
        the others.
    ax
        Axes to draw into, one for each panel.
    """
    from lightlag.comparison import facets as comparison_facets
    from lightlag.plot import grid

    if isinstance(metrics, str):
        metrics = [name.strip() for name in metrics.split(",")]
    if (given := overlay.comparisons(result)) is not None:
        return comparison_facets.draw(given if apart else {"": overlay.merged(given)}, metrics, ax=ax)
    runs = _shown.named(result)  # type: ignore[arg-type]
    return grid.draw(runs, ("cwnd", "rtt", "goodput", "queue") if metrics is None else metrics, apart=apart, ax=ax)


def comparisons(
    given: Sequence[Comparison] | Mapping[str, Comparison], kind: str | None = None, *, ax: Any = None
) -> Chart:
    """A figure of several comparisons side by side: the same algorithm in each, named after its folder.

    :func:`facets` with ``apart`` gives each comparison a panel of its own.

    Parameters
    ----------
    given
        Comparisons that vary the same keys, or a mapping that names them.
    kind
        As for :meth:`lightlag.Comparison.plot`; by default the first figure.
    ax
        Axes to draw into, as many as the figure has panels.
    """
    return overlay.merged(overlay.named(given, Comparison)).plot(kind, ax=ax)


def swarm(result: Results, *, time_s: float | None = None, flow: str | None = None, ax: Axes | None = None) -> Chart:
    """Nodes on radio media from above, their links by SNR, and the ways of flows.

    Parameters
    ----------
    time_s
        Seconds since the start of the run; by default its middle.
    flow
        The one whose way is drawn; by default all of them.
    ax
        Axes to draw into.
    """
    result = _shown.one(result, "swarm")
    return swarm_plot.snapshot(
        result.positions,
        result.simulated_s / 2 if time_s is None else time_s,
        radio=swarm_paths.radio_of(result.scenario),
        paths=result.paths,
        flows=None if flow is None else [flow],
        ax=ax,
    )


def airtime(result: Results, *, ax: Axes | None = None) -> Chart:
    """Time in which each radio sent during the run, by what it sent.

    Parameters
    ----------
    ax
        Axes to draw into.
    """
    return swarm_plot.airtime(_shown.one(result, "airtime").radios, ax=ax)


def routes(result: Results, *, flow: str | None = None, ax: Axes | None = None) -> Chart:
    """Hops of flows over radio media over time.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    ax
        Axes to draw into.
    """
    result = _shown.one(result, "routes")
    flows = None if flow is None else [flow]
    return swarm_plot.route_timeline(result.paths, result.simulated_s, flows=flows, ax=ax)


def globe(result: Results, *, time_s: float | None = None, ax: Axes | None = None) -> Chart:
    """Satellites around the Earth, the links between them, and the ways of flows through a constellation.

    Parameters
    ----------
    time_s
        Seconds since the start of the run; by default its middle.
    ax
        Axes to draw into.
    """
    result = _shown.one(result, "globe")
    if not result.parts["scenario"].get("constellation"):
        raise InputError(f"{result.name}: no constellation; a globe is that of a run through a sky")
    return constellation_plot.globe(
        result.sky(), result.simulated_s / 2 if time_s is None else time_s, result=result, ax=ax
    )


def handovers(result: Results, *, flow: str | None = None, ax: Sequence[Axes] | None = None) -> Chart:
    """Window and round trips of a flow through a constellation above the satellites at both ends of its way.

    Parameters
    ----------
    flow
        Name of the flow; by default the first.
    ax
        Axes to draw into: for the window, the round trips and the satellites.
    """
    return constellation_plot.handovers(_shown.one(result, "handovers"), flow, ax=ax)


OVER_TIME: dict[str, Callable[..., Chart]] = {
    "cwnd": cwnd,
    "goodput": goodput,
    "sequence": sequence,
    "rtt": rtt,
    "queue": queue,
}
"""Figures by metric that take several results."""

FIGURES: dict[str, Callable[..., Chart]] = {
    **OVER_TIME,
    "swarm": swarm,
    "airtime": airtime,
    "routes": routes,
    "globe": globe,
    "handovers": handovers,
}
"""Figures of a result by metric."""


def __dir__() -> list[str]:
    return sorted(__all__)
