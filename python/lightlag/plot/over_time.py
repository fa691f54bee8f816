"""Figures of runs over time: windows, goodput, sequence, round trips and queues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from lightlag import analyse
from lightlag.drawing import curves, framing, looks, names, scales, style
from lightlag.drawing.curves import Numbers
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.errors import InputError
from lightlag.plot import shown
from lightlag.plot.shown import Results
from lightlag.records.records import Records
from lightlag.records.summary import asked

if TYPE_CHECKING:
    import polars as pl

__all__ = ["OVER_TIME", "cwnd", "goodput", "interval_of", "queue", "rtt", "sequence"]

_MOST_LIMITS = 3
_ABOVE = 5.0
"""The rate of a link is plotted if it is at most this many times the largest goodput."""
_IDLE = 0.01
"""Minimum length of a queue that is plotted, as a fraction of the longest queue."""


@styled
def cwnd(result: Results, *, flow: str | None = None, ax: Axes | None = None) -> Chart:
    """Plots congestion windows over time. A single flow of one result also has ssthresh, Wmax and its recoveries.

    A short peak far above the rest is cut off, and its height is stated. If windows are that large for a long time, the
    axis is logarithmic.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(ax=ax)
    runs = shown.named(result)
    flows = shown.by_run(runs, "cwnd", flow)
    shown.label(axes, "congestion window (segments)")
    if (alone := curves.alone(flows)) is not None:
        name, rows = alone
        _one_window(axes, rows)
        framing.finish(
            axes, f"Congestion window of {names.plain(name)}", shown.note(runs, name), end_s=shown.end_s(runs)
        )
    else:
        windows = {run: curves.columns(own, "cwnd_segments") for run, own in flows.items()}
        curves.lines(axes, windows, steps=True)
        framing.finish(axes, "Congestion window", shown.note(runs), end_s=shown.end_s(runs))
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
    """Plots goodput over time, in equal intervals; with several flows of one result also their sum.

    A dotted line marks the rate of the slowest link, if all flows share it and its rate is constant and not far above
    the goodput. If several results have more flows than a figure has lines, each result is one line, the sum of its
    flows.

    Payload counts when it arrives, each byte once, so that no curve exceeds the rate of the link. In-order delivery
    comes in bursts: a loss blocks the data of a round trip, and its repair releases this data all at the same time.

    Parameters
    ----------
    interval_s
        Length of an interval in seconds; by default about a hundredth of the run, but no less than two mean
        round-trip times.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(ax=ax)
    runs = shown.named(result)
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
    note = " · ".join([f"means over {interval_s:g} s", *above, shown.note(runs, flow)])
    framing.finish(axes, "Goodput", note, legend=many or bool(limits), end_s=shown.end_s(runs))
    if limits:
        axes.set_ylim(top=max(axes.get_ylim()[1], 1.06 * max(limits.values()) / factor))
    shown.label(axes, f"goodput ({unit})")
    return figure


def _limits(runs: Mapping[str, Records], largest: float) -> tuple[dict[str, float], list[str]]:
    """Returns the names of the slowest links and their rates in bit/s to plot; and notes about links that are far
    above.
    """
    by_limit: dict[tuple[str, float], list[str]] = {}
    for name, run in runs.items():
        found = asked("outcome", run.parts)
        if found["capacity_bps"] is not None:
            by_limit.setdefault((found["capacity_link"], found["capacity_bps"]), []).append(name)
    is_of_all = [len(own) for own in by_limit.values()] == [len(runs)]
    named = {
        f"link {names.plain(link)}"
        if is_of_all
        else f"{', '.join(map(names.plain, own))}: link {names.plain(link)}": rate
        for (link, rate), own in by_limit.items()
    }
    near = {name: rate for name, rate in named.items() if rate <= _ABOVE * largest}
    far = [f"{name}: {_rate(rate)}" for name, rate in named.items() if rate > _ABOVE * largest]
    return (near, far) if len(named) <= _MOST_LIMITS else ({}, [])


def _rate(rate_bps: float) -> str:
    factor, unit = scales.unit_of(rate_bps, "bit/s")
    return f"{rate_bps / factor:.4g} {unit}"


def interval_of(runs: Mapping[str, Records]) -> float:
    """Returns an interval length in seconds for the goodput that suits all of several runs."""
    return max(map(_interval_s, runs.values()))


def _interval_s(result: Records) -> float:
    rtts = [entry["mean_rtt_s"] or 0.0 for entry in result.summary["flows"]]
    return analyse.bin_width(max(result.simulated_s, 250 * sum(rtts) / max(len(rtts), 1)))


def _goodputs(result: Records, interval_s: float) -> dict[str, tuple[Numbers, Numbers]]:
    """Returns the goodput of each flow as a step curve."""
    shown.needed(result, "trace")
    frames = analyse.goodput(result.trace("goodput"), interval_s, result.simulated_s).partition_by(
        "flow", maintain_order=True
    )
    return {str(rows["flow"][0]): curves.from_zero(rows) for rows in frames}


@styled
def sequence(result: Results, *, flow: str | None = None, ax: Axes | None = None) -> Chart:
    """Plots the payload sent for the first time and acknowledged over time; for several flows only what is
    acknowledged.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(ax=ax)
    runs = shown.named(result)
    flows = shown.by_run(runs, "sequence", flow)
    every = [rows for own in flows.values() for rows in own.values()]
    largest = max((float(rows["sent_bytes"].max() or 0) for rows in every), default=0.0)  # type: ignore[arg-type]
    factor, unit = scales.unit_of(largest, "B")
    if (alone := curves.alone(flows)) is not None:
        name, rows = alone
        times = curves.numbers(rows["time_s"])
        for at, (column, label) in enumerate((("acked_bytes", "acknowledged"), ("sent_bytes", "sent"))):
            values = curves.numbers(rows[column]) / factor
            axes.plot(*curves.thin(times, values), drawstyle="steps-post", label=label, **style.line_style(at))
        framing.finish(axes, f"Sequence of {names.plain(name)}", shown.note(runs, name), end_s=shown.end_s(runs))
    else:
        acked = {run: curves.columns(own, "acked_bytes", 1 / factor) for run, own in flows.items()}
        curves.lines(axes, acked, steps=True)
        framing.finish(axes, "Payload acknowledged", shown.note(runs), end_s=shown.end_s(runs))
    shown.label(axes, f"payload ({unit})")
    return figure


@styled
def rtt(result: Results, *, flow: str | None = None, ax: Axes | None = None) -> Chart:
    """Plots round-trip times over time: for a single flow of one result samples and SRTT, otherwise the SRTT of each
    flow.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(ax=ax)
    runs = shown.named(result)
    flows = shown.by_run(runs, "rtt", flow)
    shown.label(axes, "round-trip time (ms)")
    if (alone := curves.alone(flows)) is not None:
        name, rows = alone
        times = curves.numbers(rows["time_s"])
        samples = curves.thin(times, curves.numbers(rows["rtt_s"]) * 1e3)
        dots: dict[str, Any] = {"linestyle": "none", "marker": ".", "markeredgewidth": 0, "color": style.COLOURS[5]}
        axes.plot(*samples, markersize=2.5, rasterized=len(samples[0]) > 2000, label="sample", **dots)
        axes.plot(*curves.thin(times, curves.numbers(rows["srtt_s"]) * 1e3), label="SRTT", **style.line_style(0))
        framing.finish(axes, f"Round-trip time of {names.plain(name)}", shown.note(runs, name), end_s=shown.end_s(runs))
    else:
        smoothed = {run: curves.columns(own, "srtt_s", 1e3) for run, own in flows.items()}
        curves.lines(axes, smoothed, steps=False)
        framing.finish(axes, "Smoothed round-trip time", shown.note(runs), end_s=shown.end_s(runs))
    every = [rows for own in flows.values() for rows in own.values()]
    scales.tame_peak(axes, [(curves.numbers(rows["time_s"]), curves.numbers(rows["srtt_s"]) * 1e3) for rows in every])
    return figure


@styled
def queue(result: Results, *, link: str | None = None, ax: Axes | None = None) -> Chart:
    """Plots the queued packets of link directions over time; by default of the directions with long queues.

    A direction is left out if its queue never reaches a hundredth of the longest queue. For several results the
    directions are the same: those with the longest queues in any of them.

    Parameters
    ----------
    link
        Name of the direction, such as ``"gateway->server"``.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(ax=ax)
    runs = shown.named(result)
    every = {name: _queues(run, link) for name, run in runs.items()}
    named = [link] if link else _busiest(list(every.values()), max(1, curves.MOST_LINES // len(runs)))
    queues = {name: {each: own[each] for each in named if each in own} for name, own in every.items()}
    curves.lines(axes, {name: curves.columns(own, "packets") for name, own in queues.items()}, steps=False)
    alone = curves.alone(queues)
    title = f"Queue of {names.plain(alone[0])}" if alone is not None else "Queues"
    framing.finish(
        axes, title, shown.note(runs), legend=alone is None or not looks.current().titled, end_s=shown.end_s(runs)
    )
    shown.label(axes, "packets waiting")
    return figure


def _queues(result: Records, link: str | None) -> dict[str, pl.DataFrame]:
    """Returns the rows of each link direction."""
    rows = shown.needed(result, "queue")
    links = [entry["name"] for entry in result.summary["links"]]
    if link is not None and link not in links:
        raise InputError(f'no link direction "{link}" in {shown.place(result)}; there are {", ".join(links[:10])}')
    return {str(part["link"][0]): part for part in rows.partition_by("link", maintain_order=True)}


def _busiest(queues: Sequence[Mapping[str, pl.DataFrame]], most: int) -> list[str]:
    """Returns the link directions with long queues in any of the runs, ordered by mean queue, the longest first."""
    frames: dict[str, list[pl.DataFrame]] = {}
    for name, rows in (entry for own in queues for entry in own.items()):
        frames.setdefault(name, []).append(rows)
    means = {name: max(float(rows["packets"].mean() or 0) for rows in own) for name, own in frames.items()}  # type: ignore[arg-type]
    longest = {name: max(int(rows["packets"].max() or 0) for rows in own) for name, own in frames.items()}  # type: ignore[arg-type]
    by_mean = sorted(frames, key=lambda name: -means[name])
    least = max(_IDLE * max(longest.values(), default=0), 1)
    return ([name for name in by_mean if longest[name] >= least] or by_mean[:1])[:most]


OVER_TIME: dict[str, Callable[..., Chart]] = {
    "cwnd": cwnd,
    "goodput": goodput,
    "sequence": sequence,
    "rtt": rtt,
    "queue": queue,
}
"""Functions by metric for figures that take several results."""
