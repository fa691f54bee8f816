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

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lightlag import analyse, style
from lightlag.comparison import MEASURES, Comparison, Measure, bin_width
from lightlag.errors import InputError
from lightlag.results import Result, scaled
from lightlag.style import Chart, save

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COMPARISONS", "FIGURES", "bars", "cwnd", "cwnd_by_algorithm", "goodput", "goodput_by_algorithm", "queue"]
__all__ += ["rtt", "save", "sequence"]

Numbers = npt.NDArray[np.float64]
P = ParamSpec("P")

_MOST_LINES = len(style.COLOURS)
_POINTS = 4000


def _styled(draw: Callable[P, Chart]) -> Callable[P, Chart]:
    @functools.wraps(draw)
    def wrapper(*args: P.args, **options: P.kwargs) -> Chart:
        with matplotlib.rc_context(style.RC):
            return draw(*args, **options)

    return wrapper


@_styled
def cwnd(result: Result, *, flow: str | None = None) -> Chart:
    """Congestion window over time; for one flow with ssthresh, Wmax and what it had to repair.

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
        _leave_out_peak(axes, [rows])
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


def _leave_out_peak(axes: Axes, flows: list[pl.DataFrame]) -> None:
    """Cuts off a peak that lies far above where the windows are nine tenths of the time, and says how high it is."""
    usual, peak = 0.0, (0.0, 0.0)
    for rows in flows:
        times, window = _numbers(rows["time_s"]), _numbers(rows["cwnd_segments"])
        order = np.argsort(window[:-1])
        share = np.cumsum(np.diff(times)[order])
        if len(share):
            usual = max(usual, float(window[order[np.searchsorted(share, 0.9 * share[-1])]]))
            peak = max(peak, (float(window.max()), float(times[window.argmax()])))
    if peak[0] > 4 * usual > 0:
        axes.set_ylim(top=1.6 * usual)
        about: dict[str, Any] = {"xytext": (4, -2), "textcoords": "offset points", "va": "top", "color": style.GREY}
        about |= {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1.0}, "zorder": 5}
        axes.annotate(f"up to {peak[0]:,.0f}", (peak[1], 1.6 * usual), fontsize=8, **about)


@_styled
def goodput(result: Result, *, interval_s: float | None = None) -> Chart:
    """Goodput over time, in equal intervals; with several flows also their sum.

    Parameters
    ----------
    interval_s
        Length of an interval in seconds; by default about a hundredth of the run, but no less than two mean
        round-trip times, since receivers deliver in order: a loss holds back a round trip's data, then frees it.
    """
    if interval_s is None:
        rtts = [entry["mean_rtt_s"] or 0.0 for entry in result.summary["flows"]]
        interval_s = bin_width(max(result.simulated_s, 250 * sum(rtts) / max(len(rtts), 1)))
    figure, axes = style.chart()
    _need(result, "trace")
    frames = result.goodput(interval_s).partition_by("flow", maintain_order=True)
    series = {str(rows["flow"][0]): _from_zero(rows) for rows in frames}
    total = sum(values for _, values in series.values()) if series else np.zeros(1)
    factor, unit = _unit(float(np.max(total, initial=0.0)), "bit/s")
    many = len(series) > 1
    lines = {name: (times, values / factor) for name, (times, values) in series.items()}
    _lines(axes, lines, steps=True)
    if many:
        times = next(iter(series.values()))[0]
        axes.plot(times, total / factor, drawstyle="steps-post", color=style.BLACK, linewidth=1.0, label="all flows")
    note = f"means over {interval_s:g} s · {_note(result, next(iter(series), None) if not many else None)}"
    style.finish(axes, "Goodput", note, legend=many, end_s=result.simulated_s)
    _label(axes, f"goodput ({unit})")
    return figure


@_styled
def sequence(result: Result, *, flow: str | None = None) -> Chart:
    """Payload sent for the first time and acknowledged, over time."""
    figure, axes = style.chart()
    flows = dict(_by_flow(result, "sequence", flow))
    largest = max((float(rows["sent_bytes"].max() or 0) for rows in flows.values()), default=0.0)  # type: ignore[arg-type]
    factor, unit = _unit(largest, "B")
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


@_styled
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


@_styled
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


@_styled
def bars(comparison: Comparison) -> Chart:
    """A bar for each algorithm's mean, with its 95 % interval and a dot for every run."""
    one_flow = all(outcome.jain == 1.0 for outcome in comparison.outcomes)
    measures = [
        measure
        for measure in MEASURES
        if not (measure.column == "jain" and one_flow)
        and any(comparison.values(name, measure) for name in comparison.algorithms)
    ]
    height = 0.95 + 0.36 * len(comparison.algorithms)
    rows = 2 if len(measures) == 4 else 1
    columns = len(measures) // rows
    size = (2.0 + 2.4 * columns if columns > 1 else 5.0, rows * height + 0.35)
    figure, panels = style.chart(rows, columns, size=size, sharey=True, squeeze=False)
    for axes, measure in zip(panels.flat, measures, strict=True):
        _bar_panel(axes, comparison, measure)
    runs = max(len(comparison.of(name)) for name in comparison.algorithms)
    about = f"mean of {runs} runs, 95 % interval" if runs > 1 else "one run"
    figure.suptitle(f"{comparison.name}: {about}", x=0.01, ha="left", fontweight="bold", fontsize=10.5)
    return figure


def _bar_panel(axes: Axes, comparison: Comparison, measure: Measure) -> None:
    names = comparison.algorithms
    intervals = [comparison.interval(name, measure) for name in names]
    ends = [interval.high for interval in intervals if interval.half_width > 0]
    largest = max((value for name in names for value in comparison.values(name, measure)), default=0.0)
    factor, unit = (0.01, "%") if measure.unit == "%" else _unit(largest, measure.unit)
    for at, (name, interval) in enumerate(zip(names, intervals, strict=True)):
        mean, half = interval.mean / factor, interval.half_width / factor
        axes.barh(at, mean, height=0.62, color=style.COLOURS[at % len(style.COLOURS)], alpha=0.82, linewidth=0)
        if half > 0:
            error: dict[str, Any] = {"ecolor": style.BLACK, "elinewidth": 1.2, "capsize": 3.5}
            axes.errorbar(mean, at, xerr=half, fmt="none", zorder=3, **error)
        runs = np.array(comparison.values(name, measure)) / factor
        dots: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 2.6, "markeredgewidth": 0.5}
        if len(runs) > 1:
            axes.plot(runs, np.full(len(runs), at + 0.2), markerfacecolor="white", color=style.BLACK, zorder=4, **dots)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.set_xlim(0, 1.0 if measure.column == "jain" else max(largest, *ends, 0.0) / factor * 1.04 or 1.0)
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel(f"{measure.title.lower()} ({unit})" if unit else measure.title)


@_styled
def goodput_by_algorithm(comparison: Comparison) -> Chart:
    """Goodput of all flows over time: the mean of the runs that are still going, its 95 % interval as a band.

    A curve ends where less than half of an algorithm's runs are left.
    """
    figure, axes = style.chart()
    runs = {name: [outcome.delivered for outcome in comparison.of(name)] for name in comparison.algorithms}
    ends = [float(run[0][-1]) for several in runs.values() for run in several if run is not None]
    width = bin_width(2 * max(ends, default=0.0))  # a mean and a band need fewer points than a run
    series = {
        name: _mean_over_time([run for run in several if run is not None], width) for name, several in runs.items()
    }
    largest = max((float(np.max(mean, initial=0.0)) for _, mean, _ in series.values()), default=0.0)
    factor, unit = _unit(largest, "bit/s")
    for at, (name, (times, mean, half)) in enumerate(series.items()):
        look = style.line_style(at)
        axes.plot(times, mean / factor, label=name, **look)
        low, high = np.maximum(mean - half, 0) / factor, (mean + half) / factor
        axes.fill_between(times, low, high, color=look["color"], alpha=0.16, linewidth=0)
    most = max(map(len, runs.values()))
    note = f"{comparison.name} · means over {width:g} s" + f" and {most} runs" * (most > 1)
    style.finish(axes, "Goodput", note, end_s=max((float(times[-1]) for times, _, _ in series.values()), default=None))
    axes.set_ylim(top=1.15 * largest / factor if largest else 1.0)
    _label(axes, f"goodput ({unit})")
    return figure


def _mean_over_time(runs: list[tuple[Numbers, Numbers]], width: float) -> tuple[Numbers, Numbers, Numbers]:
    """Middles of intervals, means and half widths over the runs that last to the end of an interval."""
    times, means, halves = [0.0], [0.0], [0.0]
    for at in range(round(max((run[0][-1] for run in runs), default=0.0) / width) + 1):
        going = [run for run in runs if run[0][-1] >= (at + 1) * width]
        if not going or 2 * len(going) < len(runs):
            break
        edges = [at * width, (at + 1) * width]
        interval = analyse.mean_interval(float(np.diff(np.interp(edges, *run))[0]) * 8 / width for run in going)
        times.append((at + 0.5) * width)
        means.append(interval.mean)
        halves.append(0.0 if np.isnan(interval.half_width) else interval.half_width)
    return np.array(times), np.array(means), np.array(halves)


@_styled
def cwnd_by_algorithm(comparison: Comparison) -> Chart:
    """Congestion windows over time with the first seed, one panel an algorithm."""
    results = [(name, outcome.result) for name in comparison.algorithms for outcome in comparison.of(name)]
    kept = [(name, result) for name, result in results if result is not None]
    size = (6.4, 0.75 + 1.35 * len(kept))
    figure, panels = style.chart(len(kept), 1, size=size, sharex=True, squeeze=False)
    for at, (axes, (name, result)) in enumerate(zip(panels.flat, kept, strict=True)):
        flows = dict(_by_flow(result, "cwnd", None))
        for rows in flows.values():
            x, y = _thin(_numbers(rows["time_s"]), _numbers(rows["cwnd_segments"]))
            axes.plot(x, y, drawstyle="steps-post", color=style.COLOURS[at % len(style.COLOURS)], linewidth=1.1)
        note = f"seed {result.seed}" if at == 0 else ""
        style.finish(axes, name, note, legend=False, end_s=max(result.simulated_s for _, result in kept))
        _leave_out_peak(axes, list(flows.values()))
        axes.set_ylabel("cwnd (segments)")
        axes.yaxis.set_major_locator(MaxNLocator(4))
    panels.flat[-1].set_xlabel("time (s)")
    figure.align_ylabels()
    return figure


FIGURES: dict[str, Callable[..., Chart]] = {
    "cwnd": cwnd,
    "goodput": goodput,
    "sequence": sequence,
    "rtt": rtt,
    "queue": queue,
}
"""Figures of a result by metric."""

COMPARISONS: dict[str, Callable[[Comparison], Chart]] = {
    "bars": bars,
    "goodput": goodput_by_algorithm,
    "cwnd": cwnd_by_algorithm,
}
"""Figures of a comparison by kind."""


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
    for rows in result.trace(metric).partition_by("flow", maintain_order=True):
        name = str(rows["flow"][0])
        if flow in (None, name):
            yield name, rows


def _lines(axes: Axes, series: dict[str, tuple[Any, Any]], *, steps: bool) -> None:
    """A line each; where that would be a tangle, thin grey ones and their median."""
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
    """The same curve to the eye with fewer points: first, least, greatest and last of each slice of time."""
    if len(times) <= points:
        return times, values
    edges = np.linspace(times[0], times[-1], points // 4 + 1)
    starts = np.searchsorted(times, edges[:-1])
    keep: set[int] = set()
    for start, stop in zip(starts, [*starts[1:], len(times)], strict=True):
        part = values[start:stop]
        if len(part):
            keep.update((start, stop - 1))
            if not np.isnan(part).all():
                keep.update((start + int(np.nanargmin(part)), start + int(np.nanargmax(part))))
    order = np.array(sorted(keep))
    return times[order], values[order]


def _numbers(values: Any) -> Numbers:
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    return np.asarray(array, dtype=np.float64)


def _from_zero(rows: pl.DataFrame) -> tuple[Numbers, Numbers]:
    """Times and means of intervals as a step curve that begins with the first interval."""
    times, values = _numbers(rows["time_s"]), _numbers(rows["goodput_bps"])
    return np.concatenate(([0.0], times)), np.concatenate((values, values[-1:]))


def _unit(largest: float, unit: str) -> tuple[float, str]:
    """What to divide by, and the unit then."""
    if unit not in ("bit/s", "B"):
        return 1.0, unit
    value, prefix = scaled(largest)
    return (largest / value if value else 1.0), f"{prefix}{unit}"


def _note(result: Result, flow: str | None = None) -> str:
    congestion = [entry["congestion"] for entry in result.summary["flows"] if flow in (None, entry["name"])]
    names = ", ".join(dict.fromkeys(congestion))
    return f"{result.name} · {names} · seed {result.seed}"


def _label(axes: Axes, quantity: str) -> None:
    axes.set_xlabel("time (s)")
    axes.set_ylabel(quantity)
