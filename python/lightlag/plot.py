"""Figures of results. Every function takes a result or a comparison and returns a figure.

Examples
--------
>>> import lightlag as ll
>>> result = ll.run(ll.presets.geo(transfer="1 MB"), seed=1)
>>> figure = ll.plot.cwnd(result)
>>> figure.axes[0].get_ylabel()
'congestion window (segments)'

``figure.save("cwnd.pdf")`` writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from lightlag import analyse, constellation, constellation_plot, style, swarm_paths, swarm_plot
from lightlag._summary import capacity, leg_name, legs_of
from lightlag.errors import InputError
from lightlag.results import Result
from lightlag.style import Chart, save

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FIGURES",
    "airtime",
    "cwnd",
    "globe",
    "goodput",
    "handovers",
    "queue",
    "routes",
    "rtt",
    "save",
    "sequence",
    "swarm",
]

Numbers = npt.NDArray[np.float64]

_MOST_LINES = len(style.COLOURS)
_POINTS = 4000


@style.styled
def cwnd(result: Result, *, flow: str | None = None) -> Chart:
    """Congestion window over time; for one flow with ssthresh, Wmax and its recoveries.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    """
    figure, axes = style.chart()
    flows = dict(_by_flow(result, "cwnd", flow))
    if len(flows) == 1:
        ((name, rows),) = flows.items()
        _one_window(axes, rows)
        style.finish(axes, f"Congestion window of {name}", _note(result, name), end_s=result.simulated_s)
        style.leave_out_peak(axes, [(_numbers(rows["time_s"]), _numbers(rows["cwnd_segments"]))])
    else:
        _lines(axes, {name: (rows["time_s"], rows["cwnd_segments"]) for name, rows in flows.items()}, steps=True)
        style.finish(axes, "Congestion window", _note(result), end_s=result.simulated_s)
    _label(axes, "congestion window (segments)")
    return figure


def _one_window(axes: Axes, rows: pl.DataFrame) -> None:
    times, window = _numbers(rows["time_s"]), _numbers(rows["cwnd_segments"])
    axes.plot(*_thin(times, window), drawstyle="steps-post", label="cwnd", **style.line_style(0), zorder=3)
    for column, label, at in (("ssthresh_segments", "ssthresh", 1), ("w_max_segments", "Wmax", 2)):
        values = _numbers(rows[column])
        if not np.isnan(values).all():
            axes.plot(*_thin(times, values), drawstyle="steps-post", label=label, **style.line_style(at), linewidth=1.1)
    phase = rows["phase"].cast(str).to_numpy()
    began = phase[1:] != phase[:-1]
    for name, label, marker, colour in (
        ("recovery", "fast recovery", 6, style.COLOURS[4]),
        ("loss", "timeout", "x", style.BLACK),
    ):
        at_times = times[1:][began & (phase[1:] == name)]
        if len(at_times):
            mark: dict[str, Any] = {"marker": marker, "markersize": 5, "color": colour, "linestyle": "none"}
            axes.plot(at_times, np.zeros_like(at_times), label=label, clip_on=False, zorder=4, **mark)


@style.styled
def goodput(result: Result, *, interval_s: float | None = None) -> Chart:
    """Goodput over time, in equal intervals; with several flows also their sum.

    A dotted line is the rate of the slowest link, if the flows have one in common and its rate stays.

    Payload counts when it arrives, each byte once, so that no curve passes the rate of the link: what receivers deliver
    in order comes in bursts, since a loss holds back a round trip's data, and its repair frees it at once.

    Parameters
    ----------
    interval_s
        Length of an interval in seconds; by default about a hundredth of the run, but no less than two mean
        round-trip times.
    """
    if interval_s is None:
        rtts = [entry["mean_rtt_s"] or 0.0 for entry in result.summary["flows"]]
        interval_s = analyse.bin_width(max(result.simulated_s, 250 * sum(rtts) / max(len(rtts), 1)))
    figure, axes = style.chart()
    _need(result, "trace")
    frames = result.goodput(interval_s).partition_by("flow", maintain_order=True)
    series = {str(rows["flow"][0]): _from_zero(rows) for rows in frames}
    total = sum(values for _, values in series.values()) if series else np.zeros(1)
    factor, unit = style.unit_of(float(np.max(total, initial=0.0)), "bit/s")
    many = len(series) > 1
    lines = {name: (times, values / factor) for name, (times, values) in series.items()}
    _lines(axes, lines, steps=True)
    if many:
        times = next(iter(series.values()))[0]
        axes.plot(times, total / factor, drawstyle="steps-post", color=style.BLACK, linewidth=1.0, label="all flows")
    limit = capacity(result.summary)
    bounded = limit is not None and limit[1] <= 2 * float(np.max(total, initial=0.0))
    if limit is not None and bounded:
        axes.axhline(limit[1] / factor, label=f"link {limit[0]}", **style.LIMIT)
    note = f"means over {interval_s:g} s · {_note(result, next(iter(series), None) if not many else None)}"
    style.finish(axes, "Goodput", note, legend=many or bounded, end_s=result.simulated_s)
    _label(axes, f"goodput ({unit})")
    return figure


@style.styled
def sequence(result: Result, *, flow: str | None = None) -> Chart:
    """Payload sent for the first time and acknowledged, over time."""
    figure, axes = style.chart()
    flows = dict(_by_flow(result, "sequence", flow))
    largest = max((float(rows["sent_bytes"].max() or 0) for rows in flows.values()), default=0.0)  # type: ignore[arg-type]
    factor, unit = style.unit_of(largest, "B")
    if len(flows) == 1:
        ((name, rows),) = flows.items()
        times = _numbers(rows["time_s"])
        for at, (column, label) in enumerate((("acked_bytes", "acknowledged"), ("sent_bytes", "sent"))):
            values = _numbers(rows[column]) / factor
            axes.plot(*_thin(times, values), drawstyle="steps-post", label=label, **style.line_style(at))
        title = f"Sequence of {name}"
    else:
        lines = {name: (rows["time_s"], rows["acked_bytes"] / factor) for name, rows in flows.items()}
        _lines(axes, lines, steps=True)
        name, title = None, "Payload acknowledged"
    style.finish(axes, title, _note(result, name), end_s=result.simulated_s)
    _label(axes, f"payload ({unit})")
    return figure


@style.styled
def rtt(result: Result, *, flow: str | None = None) -> Chart:
    """Round-trip times over time; for one flow samples and SRTT, for several each SRTT."""
    figure, axes = style.chart()
    flows = dict(_by_flow(result, "rtt", flow))
    if len(flows) == 1:
        ((name, rows),) = flows.items()
        times = _numbers(rows["time_s"])
        samples = _thin(times, _numbers(rows["rtt_s"]) * 1e3)
        dots: dict[str, Any] = {"linestyle": "none", "marker": ".", "markeredgewidth": 0, "color": style.COLOURS[5]}
        axes.plot(*samples, markersize=2.5, rasterized=len(samples[0]) > 2000, **dots)
        axes.plot([], [], markersize=8, label="sample", **dots)
        axes.plot(*_thin(times, _numbers(rows["srtt_s"]) * 1e3), label="SRTT", **style.line_style(0))
        title = f"Round-trip time of {name}"
    else:
        _lines(axes, {name: (rows["time_s"], rows["srtt_s"] * 1e3) for name, rows in flows.items()}, steps=False)
        name, title = None, "Smoothed round-trip time"
    style.finish(axes, title, _note(result, name), end_s=result.simulated_s)
    _label(axes, "round-trip time (ms)")
    return figure


@style.styled
def queue(result: Result, *, link: str | None = None) -> Chart:
    """Packets that wait at link directions over time; by default those where any waited.

    Parameters
    ----------
    link
        Name of the direction, such as ``"gateway->server"``.
    """
    figure, axes = style.chart()
    rows = _need(result, "queue")
    names = [entry["name"] for entry in result.summary["links"]]
    if link is not None and link not in names:
        raise InputError(f'no link direction "{link}"; there are {", ".join(names[:10])}')
    by_link = {str(part["link"][0]): part for part in rows.partition_by("link", maintain_order=True)}
    waited = sorted(by_link, key=lambda name: -float(by_link[name]["packets"].mean() or 0))  # type: ignore[arg-type]
    shown = [link] if link else [name for name in waited if by_link[name]["packets"].max()] or waited[:1]
    shown = shown[:_MOST_LINES]
    _lines(axes, {name: (by_link[name]["time_s"], by_link[name]["packets"]) for name in shown}, steps=False)
    title = f"Queue of {shown[0]}" if len(shown) == 1 else "Queues"
    style.finish(axes, title, _note(result), legend=len(shown) > 1, end_s=result.simulated_s)
    _label(axes, "packets waiting")
    return figure


def swarm(result: Result, *, time_s: float | None = None, flow: str | None = None) -> Chart:
    """Nodes on radio media from above, their links by SNR, and the ways of flows.

    Parameters
    ----------
    time_s
        Seconds since the start of the run; by default its middle.
    flow
        The one whose way is drawn; by default all of them.
    """
    return swarm_plot.snapshot(
        result.positions,
        result.simulated_s / 2 if time_s is None else time_s,
        radio=swarm_paths.radio_of(result.scenario),
        paths=result.paths,
        flows=None if flow is None else [flow],
    )


def airtime(result: Result) -> Chart:
    """Share of the run in which each radio sent, by what it sent."""
    return swarm_plot.airtime(result.radios)


def routes(result: Result, *, flow: str | None = None) -> Chart:
    """Hops of flows over radio media over time.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    """
    return swarm_plot.route_timeline(result.paths, result.simulated_s, flows=None if flow is None else [flow])


def globe(result: Result, *, time_s: float | None = None) -> Chart:
    """Satellites around the Earth, the links between them, and the ways of flows through a constellation.

    Parameters
    ----------
    time_s
        Seconds since the start of the run; by default its middle.
    """
    if not result.scenario.get("constellation"):
        raise InputError(f"{result.name}: no constellation; a globe is that of a run through a sky")
    sky = constellation.sky(result.scenario)
    return constellation_plot.globe(sky, result.simulated_s / 2 if time_s is None else time_s, result=result)


def handovers(result: Result, *, flow: str | None = None) -> Chart:
    """Window and round trips of a flow through a constellation above the satellites at both ends of its way.

    Parameters
    ----------
    flow
        Name of the flow; by default the first.
    """
    return constellation_plot.handovers(result, flow)


FIGURES: dict[str, Callable[..., Chart]] = {
    "cwnd": cwnd,
    "goodput": goodput,
    "sequence": sequence,
    "rtt": rtt,
    "queue": queue,
    "swarm": swarm,
    "airtime": airtime,
    "routes": routes,
    "globe": globe,
    "handovers": handovers,
}
"""Figures of a result by metric."""


def _need(result: Result, table: Any) -> pl.DataFrame:
    rows = result.table(table)
    if rows.is_empty():
        raise InputError(f"{result.name}: no {table} was recorded; run it with --set record.{table}=sampled")
    return rows


def _by_flow(result: Result, metric: Any, flow: str | None) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each flow, or of one."""
    _need(result, "trace")
    names = [entry["name"] for entry in result.summary["flows"]]
    if flow is not None and flow not in names:
        raise InputError(f'no flow "{flow}"; there are {", ".join(names[:10])}')
    legs = legs_of(result.summary)
    trace = result.trace(metric)
    for rows in trace.partition_by("flow", *(["leg"] if "leg" in trace.columns else []), maintain_order=True):
        name = str(rows["flow"][0])
        if flow in (None, name):
            leg = f": {leg_name(legs[name][rows['leg'][0] - 1])}" if name in legs else ""
            yield name + leg, rows


def _lines(axes: Axes, series: dict[str, tuple[Any, Any]], *, steps: bool) -> None:
    """A line for each flow, or thin grey lines with their median if there are many."""
    drawn: dict[str, Any] = {"drawstyle": "steps-post"} if steps else {}
    tangle = len(series) > _MOST_LINES
    for at, (name, (times, values)) in enumerate(series.items()):
        x, y = _thin(_numbers(times), _numbers(values), 400 if tangle else _POINTS)
        look = {"color": style.COLOURS[0], "alpha": 0.18, "linewidth": 0.5} if tangle else style.line_style(at)
        axes.plot(x, y, label=None if tangle else name, **look, **drawn)
    if tangle:
        _median(axes, series)


def _median(axes: Axes, series: dict[str, tuple[Any, Any]]) -> None:
    arrays = [(_numbers(times), _numbers(values)) for times, values in series.values()]
    grid = np.linspace(0, max(float(times[-1]) for times, _ in arrays), 400)
    level = np.full((len(arrays), len(grid)), np.nan)
    for row, (times, values) in zip(level, arrays, strict=True):
        at = np.searchsorted(times, grid, side="right") - 1
        row[at >= 0] = values[at[at >= 0]]
    known = ~np.isnan(level).all(axis=0)
    label = f"median of {len(series)} flows"
    axes.plot(grid[known], np.nanmedian(level[:, known], axis=0), color=style.BLACK, linewidth=1.6, label=label)


def _thin(times: Numbers, values: Numbers, points: int = _POINTS) -> tuple[Numbers, Numbers]:
    return analyse.thinned(times, values, points)


def _numbers(values: Any) -> Numbers:
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    return np.asarray(array, dtype=np.float64)


def _from_zero(rows: pl.DataFrame) -> tuple[Numbers, Numbers]:
    """Times and means of intervals as a step curve that starts with the first interval."""
    times, values = _numbers(rows["time_s"]), _numbers(rows["goodput_bps"])
    return np.concatenate(([0.0], times)), np.concatenate((values, values[-1:]))


def _note(result: Result, flow: str | None = None) -> str:
    congestion = [entry["congestion"] for entry in result.summary["flows"] if flow in (None, entry["name"])]
    names = ", ".join(dict.fromkeys(congestion))
    return f"{result.name} · {names} · seed {result.seed}"


def _label(axes: Axes, quantity: str) -> None:
    axes.set_xlabel("time (s)")
    axes.set_ylabel(quantity)
