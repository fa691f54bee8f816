"""Figures of results. Every function takes a result and returns a figure.

Figures over time also take several results, which they draw over each other: a list, or a mapping that names them.
Lines are named after the folders of the results, or after their scenarios where these differ.

Examples
--------
>>> import lightlag as ll
>>> result = ll.run(ll.presets.geo(transfer="1 MB"), seed=1)
>>> figure = ll.plot.cwnd(result)
>>> figure.axes[0].get_ylabel()
'congestion window (segments)'

``figure.save("cwnd.pdf")`` writes it.

>>> other = ll.run(ll.presets.geo(transfer="1 MB", congestion="hybla"), seed=1)
>>> figure = ll.plot.cwnd({"cubic": result, "hybla": other})
>>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
['cubic: client->server', 'hybla: client->server']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from lightlag import analyse, constellation, constellation_plot, overlay, style, swarm_paths, swarm_plot
from lightlag._summary import capacity, leg_name, legs_of
from lightlag.comparison import Comparison
from lightlag.errors import InputError
from lightlag.results import Result
from lightlag.style import Chart, save

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FIGURES",
    "OVER_TIME",
    "airtime",
    "comparisons",
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
Results: TypeAlias = Result | Sequence[Result] | Mapping[str, Result]
"""One result, or several that are drawn over each other."""
Curves: TypeAlias = Mapping[str, tuple[Any, Any]]
"""Times and values by name."""

_MOST_LINES = len(style.COLOURS)
_MOST_NAMED = 3
_POINTS = 4000


@style.styled
def cwnd(result: Results, *, flow: str | None = None) -> Chart:
    """Congestion window over time; for one flow of one result with ssthresh, Wmax and its recoveries.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    """
    figure, axes = style.chart()
    runs = _runs(result)
    flows = _by_run(runs, "cwnd", flow)
    if (alone := _alone(flows)) is not None:
        name, rows = alone
        _one_window(axes, rows)
        style.finish(axes, f"Congestion window of {name}", _note(runs, name), end_s=_end_s(runs))
    else:
        curves = {run: _columns(own, "cwnd_segments") for run, own in flows.items()}
        _lines(axes, curves, steps=True)
        style.finish(axes, "Congestion window", _note(runs), end_s=_end_s(runs))
    if all(len(own) == 1 for own in flows.values()):
        windows = [rows for own in flows.values() for rows in own.values()]
        style.leave_out_peak(axes, [(_numbers(rows["time_s"]), _numbers(rows["cwnd_segments"])) for rows in windows])
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
def goodput(result: Results, *, interval_s: float | None = None) -> Chart:
    """Goodput over time, in equal intervals; with several flows of one result also their sum.

    A dotted line is the rate of the slowest link, if the flows have one in common and its rate stays. If several
    results have more flows than a figure has lines, each result is one line, the sum of its flows.

    Payload counts when it arrives, each byte once, so that no curve passes the rate of the link: what receivers deliver
    in order comes in bursts, since a loss holds back a round trip's data, and its repair frees it at once.

    Parameters
    ----------
    interval_s
        Length of an interval in seconds; by default about a hundredth of the run, but no less than two mean
        round-trip times.
    """
    figure, axes = style.chart()
    runs = _runs(result)
    if interval_s is None:
        interval_s = max(map(_interval_s, runs.values()))
    curves = {name: _goodputs(run, interval_s) for name, run in runs.items()}
    sums = {name: _sum(own) for name, own in curves.items()}
    if len(runs) > 1 and sum(map(len, curves.values())) > _MOST_LINES:
        curves = {
            name: {f"all {len(own)} flows" if len(own) > 1 else next(iter(own), ""): sums[name]}
            for name, own in curves.items()
        }
    alone = len(runs) == 1
    drawn = sums.values() if alone else (curve for own in curves.values() for curve in own.values())
    largest = max((float(np.max(values, initial=0.0)) for _, values in drawn), default=0.0)
    factor, unit = style.unit_of(largest, "bit/s")
    scaled = {
        run: {name: (times, values / factor) for name, (times, values) in own.items()} for run, own in curves.items()
    }
    _lines(axes, scaled, steps=True)
    many = sum(map(len, curves.values())) > 1
    if alone and many:
        ((times, total),) = sums.values()
        axes.plot(times, total / factor, drawstyle="steps-post", color=style.BLACK, linewidth=1.0, label="all flows")
    limits = {capacity(run.summary) for run in runs.values()}
    limit = limits.pop() if len(limits) == 1 else None
    bounded = limit is not None and limit[1] <= 2 * largest
    if limit is not None and bounded:
        axes.axhline(limit[1] / factor, label=f"link {limit[0]}", **style.LIMIT)
    flow = None if many else next((name for own in curves.values() for name in own), None)
    note = f"means over {interval_s:g} s · {_note(runs, flow)}"
    style.finish(axes, "Goodput", note, legend=many or bounded, end_s=_end_s(runs))
    _label(axes, f"goodput ({unit})")
    return figure


def _interval_s(result: Result) -> float:
    rtts = [entry["mean_rtt_s"] or 0.0 for entry in result.summary["flows"]]
    return analyse.bin_width(max(result.simulated_s, 250 * sum(rtts) / max(len(rtts), 1)))


def _goodputs(result: Result, interval_s: float) -> dict[str, tuple[Numbers, Numbers]]:
    """The goodput of each flow as a step curve."""
    _need(result, "trace")
    frames = result.goodput(interval_s).partition_by("flow", maintain_order=True)
    return {str(rows["flow"][0]): _from_zero(rows) for rows in frames}


def _sum(curves: Mapping[str, tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """The sum of curves with the same times."""
    if not curves:
        return np.zeros(1), np.zeros(1)
    return next(iter(curves.values()))[0], np.sum([values for _, values in curves.values()], axis=0)


@style.styled
def sequence(result: Results, *, flow: str | None = None) -> Chart:
    """Payload sent for the first time and acknowledged, over time; of several flows what is acknowledged."""
    figure, axes = style.chart()
    runs = _runs(result)
    flows = _by_run(runs, "sequence", flow)
    every = [rows for own in flows.values() for rows in own.values()]
    largest = max((float(rows["sent_bytes"].max() or 0) for rows in every), default=0.0)  # type: ignore[arg-type]
    factor, unit = style.unit_of(largest, "B")
    if (alone := _alone(flows)) is not None:
        name, rows = alone
        times = _numbers(rows["time_s"])
        for at, (column, label) in enumerate((("acked_bytes", "acknowledged"), ("sent_bytes", "sent"))):
            values = _numbers(rows[column]) / factor
            axes.plot(*_thin(times, values), drawstyle="steps-post", label=label, **style.line_style(at))
        style.finish(axes, f"Sequence of {name}", _note(runs, name), end_s=_end_s(runs))
    else:
        curves = {run: _columns(own, "acked_bytes", 1 / factor) for run, own in flows.items()}
        _lines(axes, curves, steps=True)
        style.finish(axes, "Payload acknowledged", _note(runs), end_s=_end_s(runs))
    _label(axes, f"payload ({unit})")
    return figure


@style.styled
def rtt(result: Results, *, flow: str | None = None) -> Chart:
    """Round-trip times over time; for one flow of one result samples and SRTT, for several each SRTT."""
    figure, axes = style.chart()
    runs = _runs(result)
    flows = _by_run(runs, "rtt", flow)
    if (alone := _alone(flows)) is not None:
        name, rows = alone
        times = _numbers(rows["time_s"])
        samples = _thin(times, _numbers(rows["rtt_s"]) * 1e3)
        dots: dict[str, Any] = {"linestyle": "none", "marker": ".", "markeredgewidth": 0, "color": style.COLOURS[5]}
        axes.plot(*samples, markersize=2.5, rasterized=len(samples[0]) > 2000, **dots)
        axes.plot([], [], markersize=8, label="sample", **dots)
        axes.plot(*_thin(times, _numbers(rows["srtt_s"]) * 1e3), label="SRTT", **style.line_style(0))
        style.finish(axes, f"Round-trip time of {name}", _note(runs, name), end_s=_end_s(runs))
    else:
        curves = {run: _columns(own, "srtt_s", 1e3) for run, own in flows.items()}
        _lines(axes, curves, steps=False)
        style.finish(axes, "Smoothed round-trip time", _note(runs), end_s=_end_s(runs))
    _label(axes, "round-trip time (ms)")
    return figure


@style.styled
def queue(result: Results, *, link: str | None = None) -> Chart:
    """Packets that wait at link directions over time; by default those where any waited.

    Of several results each has the same ones, those where most packets waited in some.

    Parameters
    ----------
    link
        Name of the direction, such as ``"gateway->server"``.
    """
    figure, axes = style.chart()
    runs = _runs(result)
    every = {name: _queues(run, link) for name, run in runs.items()}
    shown = [link] if link else _busiest(list(every.values()), max(1, _MOST_LINES // len(runs)))
    queues = {name: {each: own[each] for each in shown if each in own} for name, own in every.items()}
    _lines(axes, {name: _columns(own, "packets") for name, own in queues.items()}, steps=False)
    alone = _alone(queues)
    title = f"Queue of {alone[0]}" if alone is not None else "Queues"
    style.finish(axes, title, _note(runs), legend=alone is None, end_s=_end_s(runs))
    _label(axes, "packets waiting")
    return figure


def _queues(result: Result, link: str | None) -> dict[str, pl.DataFrame]:
    """The rows of each link direction."""
    rows = _need(result, "queue")
    names = [entry["name"] for entry in result.summary["links"]]
    if link is not None and link not in names:
        raise InputError(f'no link direction "{link}" in {_place(result)}; there are {", ".join(names[:10])}')
    return {str(part["link"][0]): part for part in rows.partition_by("link", maintain_order=True)}


def _busiest(queues: Sequence[Mapping[str, pl.DataFrame]], most: int) -> list[str]:
    """The link directions where packets waited in some run, those with most of them first."""
    frames: dict[str, list[pl.DataFrame]] = {}
    for name, rows in (entry for own in queues for entry in own.items()):
        frames.setdefault(name, []).append(rows)
    means = {name: max(float(rows["packets"].mean() or 0) for rows in own) for name, own in frames.items()}  # type: ignore[arg-type]
    by_mean = sorted(frames, key=lambda name: -means[name])
    return ([name for name in by_mean if any(rows["packets"].max() for rows in frames[name])] or by_mean[:1])[:most]


def comparisons(given: Sequence[Comparison] | Mapping[str, Comparison], kind: str | None = None) -> Chart:
    """A figure of several comparisons side by side: the same algorithm in each, named after its folder.

    Parameters
    ----------
    given
        Comparisons that vary the same keys, or a mapping that names them.
    kind
        As for :meth:`lightlag.Comparison.plot`; by default the first figure.
    """
    return overlay.merged(overlay.named(given, Comparison)).plot(kind)


def swarm(result: Results, *, time_s: float | None = None, flow: str | None = None) -> Chart:
    """Nodes on radio media from above, their links by SNR, and the ways of flows.

    Parameters
    ----------
    time_s
        Seconds since the start of the run; by default its middle.
    flow
        The one whose way is drawn; by default all of them.
    """
    result = _one(result, "swarm")
    return swarm_plot.snapshot(
        result.positions,
        result.simulated_s / 2 if time_s is None else time_s,
        radio=swarm_paths.radio_of(result.scenario),
        paths=result.paths,
        flows=None if flow is None else [flow],
    )


def airtime(result: Results) -> Chart:
    """Share of the run in which each radio sent, by what it sent."""
    return swarm_plot.airtime(_one(result, "airtime").radios)


def routes(result: Results, *, flow: str | None = None) -> Chart:
    """Hops of flows over radio media over time.

    Parameters
    ----------
    flow
        Name of the flow; by default all of them.
    """
    result = _one(result, "routes")
    return swarm_plot.route_timeline(result.paths, result.simulated_s, flows=None if flow is None else [flow])


def globe(result: Results, *, time_s: float | None = None) -> Chart:
    """Satellites around the Earth, the links between them, and the ways of flows through a constellation.

    Parameters
    ----------
    time_s
        Seconds since the start of the run; by default its middle.
    """
    result = _one(result, "globe")
    if not result.scenario.get("constellation"):
        raise InputError(f"{result.name}: no constellation; a globe is that of a run through a sky")
    sky = constellation.sky(result.scenario)
    return constellation_plot.globe(sky, result.simulated_s / 2 if time_s is None else time_s, result=result)


def handovers(result: Results, *, flow: str | None = None) -> Chart:
    """Window and round trips of a flow through a constellation above the satellites at both ends of its way.

    Parameters
    ----------
    flow
        Name of the flow; by default the first.
    """
    return constellation_plot.handovers(_one(result, "handovers"), flow)


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


def _runs(result: Results) -> dict[str, Result]:
    """Results by the name that a figure of several gives them."""
    return overlay.named([result] if isinstance(result, Result) else result, Result)


def _one(result: Results, metric: str) -> Result:
    """The result of a figure that cannot show several."""
    runs = _runs(result)
    if len(runs) > 1:
        raise InputError(f'a figure of "{metric}" shows one result; of several there are {", ".join(OVER_TIME)}')
    return next(iter(runs.values()))


def _need(result: Result, table: Any) -> pl.DataFrame:
    rows = result.table(table)
    if rows.is_empty():
        raise InputError(f"{result.name}: no {table} was recorded; run it with --set record.{table}=sampled")
    return rows


def _by_run(runs: Mapping[str, Result], metric: Any, flow: str | None) -> dict[str, dict[str, pl.DataFrame]]:
    """The rows of each flow, or of one, of each run."""
    return {name: dict(_by_flow(run, metric, flow)) for name, run in runs.items()}


def _by_flow(result: Result, metric: Any, flow: str | None) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each flow, or of one."""
    _need(result, "trace")
    names = [entry["name"] for entry in result.summary["flows"]]
    if flow is not None and flow not in names:
        raise InputError(f'no flow "{flow}" in {_place(result)}; there are {", ".join(names[:10])}')
    legs = legs_of(result.summary)
    trace = result.trace(metric)
    for rows in trace.partition_by("flow", *(["leg"] if "leg" in trace.columns else []), maintain_order=True):
        name = str(rows["flow"][0])
        if flow in (None, name):
            leg = f": {leg_name(legs[name][rows['leg'][0] - 1])}" if name in legs else ""
            yield name + leg, rows


def _place(result: Result) -> str:
    return str(result.folder or result.name)


def _alone(parts: Mapping[str, Mapping[str, pl.DataFrame]]) -> tuple[str, pl.DataFrame] | None:
    """The flow or link of a figure that shows only one."""
    every = [part for own in parts.values() for part in own.items()]
    return every[0] if len(parts) == len(every) == 1 else None


def _columns(parts: Mapping[str, pl.DataFrame], column: str, factor: float | None = None) -> Curves:
    """Times and a column of each flow or link."""
    return {
        name: (rows["time_s"], rows[column] if factor is None else rows[column] * factor)
        for name, rows in parts.items()
    }


def _lines(axes: Axes, runs: Mapping[str, Curves], *, steps: bool) -> None:
    """A line for each flow of each run, or thin lines with their median for each run if there are many."""
    drawn: dict[str, Any] = {"drawstyle": "steps-post"} if steps else {}
    named = {run: f"{run}: " if len(runs) > 1 else "" for run in runs}
    tangle = sum(map(len, runs.values())) > _MOST_LINES
    at = 0
    for place, (run, curves) in enumerate(runs.items()):
        for name, (times, values) in curves.items():
            x, y = _thin(_numbers(times), _numbers(values), 400 if tangle else _POINTS)
            colour = style.COLOURS[place % len(style.COLOURS)]
            look = {"color": colour, "alpha": 0.18, "linewidth": 0.5} if tangle else style.line_style(at)
            axes.plot(x, y, label=None if tangle else named[run] + name, **look, **drawn)
            at += 1
        if tangle:
            look = {"color": style.BLACK} if len(runs) == 1 else style.line_style(place)
            _median(axes, curves, named[run], look)


def _median(axes: Axes, curves: Curves, run: str, look: Mapping[str, Any]) -> None:
    arrays = [(_numbers(times), _numbers(values)) for times, values in curves.values()]
    grid = np.linspace(0, max(float(times[-1]) for times, _ in arrays), 400)
    level = np.full((len(arrays), len(grid)), np.nan)
    for row, (times, values) in zip(level, arrays, strict=True):
        at = np.searchsorted(times, grid, side="right") - 1
        row[at >= 0] = values[at[at >= 0]]
    known = ~np.isnan(level).all(axis=0)
    label = f"{run}median of {len(curves)} flows" if len(curves) > 1 else f"{run}{next(iter(curves))}"
    axes.plot(grid[known], np.nanmedian(level[:, known], axis=0), linewidth=1.6, label=label, **look)


def _thin(times: Numbers, values: Numbers, points: int = _POINTS) -> tuple[Numbers, Numbers]:
    return analyse.thinned(times, values, points)


def _numbers(values: Any) -> Numbers:
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    return np.asarray(array, dtype=np.float64)


def _from_zero(rows: pl.DataFrame) -> tuple[Numbers, Numbers]:
    """Times and means of intervals as a step curve that starts with the first interval."""
    times, values = _numbers(rows["time_s"]), _numbers(rows["goodput_bps"])
    return np.concatenate(([0.0], times)), np.concatenate((values, values[-1:]))


def _note(runs: Mapping[str, Result], flow: str | None = None) -> str:
    """Scenarios, algorithms and seeds of the runs; of several runs the number of those that would not fit."""
    every = runs.values()
    flows = [entry for run in every for entry in run.summary["flows"]]
    parts = {
        "scenario": [run.name for run in every],
        "algorithm": [entry["congestion"] for entry in flows if flow in (None, entry["name"])],
        "seed": [str(run.seed) for run in every],
    }
    return " · ".join(_listed(what, list(dict.fromkeys(values)), len(runs) == 1) for what, values in parts.items())


def _listed(what: str, values: Sequence[str], every: bool) -> str:
    if not every and len(values) > _MOST_NAMED:
        return f"{len(values)} {what}s"
    several = "s" * (len(values) > 1)
    return f"{what}{several} {', '.join(values)}" if what == "seed" else ", ".join(values)


def _end_s(runs: Mapping[str, Result]) -> float:
    return max(run.simulated_s for run in runs.values())


def _label(axes: Axes, quantity: str) -> None:
    axes.set_xlabel("time (s)")
    axes.set_ylabel(quantity)
