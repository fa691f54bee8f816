"""Figures of a comparison, by kind.

- ``bars``: every measure, where nothing varies but the algorithm.
- ``goodput-vs-LABEL`` and so on: a measure against a variable, a line each algorithm with its 95 % interval as a band,
  a panel for each combination of the other variables.
- ``shares``: what each algorithm gets where several compete.
- ``goodput`` and ``cwnd``: over time.
- ``completion``: the distribution of the flows' completion times.
- ``rtt``: the goodput of each flow against its round-trip time, where these differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullLocator

from lightlag import analyse, style
from lightlag.comparison import MEASURES, Comparison, Measure, Point
from lightlag.comparison_kinds import AGAINST, chosen, completions, goodput_by_rtt, kind_against
from lightlag.outcome import Outcome
from lightlag.style import Chart
from lightlag.variables import Axis, Variable

__all__ = ["draw"]

Numbers = npt.NDArray[np.float64]

_MOST_PANELS = 6
_MOST_COLUMNS = 4
_MOST_BANDS = 5


def draw(comparison: Comparison, kind: str) -> Chart:
    """The figure of this kind, which :func:`lightlag.comparison_kinds.kinds` names."""
    if kind in _DRAWN:
        return _DRAWN[kind](comparison)
    for variable in comparison.variables:
        for name, columns in AGAINST.items():
            if kind_against(name, variable) == kind:
                return _against(comparison, variable, [one for one in MEASURES if one.column in columns])
    raise KeyError(kind)


def _panels(
    titles: Sequence[str], *, rows: int = 1, columns: int = 3, height: float = 2.5, **share: Any
) -> tuple[Chart, list[list[Axes]]]:
    """`rows` of panels for each title, in as many columns as fit; gives the panels of each title."""
    wide = min(len(titles), columns)
    deep = -(-len(titles) // wide)
    size = (6.4 if wide < 3 else 2.7 * wide, 0.9 + height * rows * deep)
    figure, grid = style.chart(rows * deep, wide, size=size, squeeze=False, **share)
    panels = [[grid[at // wide * rows + row][at % wide] for row in range(rows)] for at in range(len(titles))]
    for title, own in zip(titles, panels, strict=True):
        if title:
            own[0].set_title(title, loc="left", fontsize=9)
    for unused in grid.flat:
        if not any(unused is axes for own in panels for axes in own):
            unused.set_visible(False)
    return figure, panels


def _head(figure: Chart, title: str, note: str, axes: Axes) -> None:
    """The title above all panels, the legend below."""
    figure.suptitle(f"{title} · {note}" if note else title, x=0.01, ha="left", fontweight="bold", fontsize=10)
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > 1:
        columns = style.legend_columns(figure.get_figwidth() - 0.2, labels, 0.85)
        order = style.in_rows(len(labels), columns)
        handles, labels = [handles[at] for at in order], [labels[at] for at in order]
        figure.legend(handles, labels, loc="outside lower left", ncols=columns, handlelength=3.4)


def _of_points(comparison: Comparison, shown: Sequence[Point]) -> str:
    return comparison.name + (
        f", {len(shown)} of {len(comparison.points)} points" if len(shown) < len(comparison.points) else ""
    )


def _counted(comparison: Comparison, points: Sequence[Point]) -> str:
    """The runs of each algorithm at each of the points, as text."""
    counts = [len(comparison.of(name, point)) for name in comparison.algorithms for point in points]
    least, most = min(count for count in counts if count), max(counts)
    return f"{most} run{'s' * (most > 1)}" if least == most else f"{least} to {most} runs"


@style.styled
def _against(comparison: Comparison, variable: Variable, measures: list[Measure]) -> Chart:
    at = comparison.variables.index(variable)
    others = list(dict.fromkeys(point[:at] + point[at + 1 :] for point in comparison.points))
    shown = [tuple(other) for other in chosen(others, _MOST_PANELS)]
    titles = [comparison.describe_but(variable, other) for other in shown]
    figure, panels = _panels(titles, rows=len(measures))
    axis = variable.axis
    order = np.argsort(axis.places, kind="stable")
    for row, measure in enumerate(measures):
        lines = [
            _means(comparison, measure, [(*other[:at], variable.values[index], *other[at:]) for index in order])
            for other in shown
        ]
        _lines_of_means([own[row] for own in panels], measure, lines, axis)
    for axes in (axes for own in panels for axes in own):
        _place_values(axes, variable, axis)
    title = measures[0].title if len(measures) == 1 else "Queueing delay of data packets"
    note = f"{comparison.name}, {_counted(comparison, comparison.points)} each"
    _head(figure, f"{title} against {variable.label}", note, panels[0][0])
    return figure


Means = dict[str, tuple[Numbers, Numbers]]


def _means(comparison: Comparison, measure: Measure, points: Sequence[Point]) -> Means:
    """Means and half widths of each algorithm at points."""
    found = {}
    for name in comparison.algorithms:
        intervals = [comparison.interval(name, measure, point) for point in points]
        means, halves = ([getattr(one, part) for one in intervals] for part in ("mean", "half_width"))
        found[name] = np.array(means), np.nan_to_num(np.array(halves))
    return found


def _lines_of_means(panels: Sequence[Axes], measure: Measure, lines: Sequence[Means], axis: Axis) -> None:
    """A measure in panels with one scale: lines with bands, which do not stretch the scale without end."""
    places = np.sort(np.array(axis.places), kind="stable")
    largest = max((float(np.nanmax(mean, initial=0.0)) for own in lines for mean, _ in own.values()), default=0.0)
    highest = max(
        (float(np.nanmax(mean + half, initial=0.0)) for own in lines for mean, half in own.values()), default=0.0
    )
    factor, unit = style.unit_of(largest, measure.unit)
    top = 1.02 if measure.column == "jain" else 1.05 * min(highest, 1.4 * largest) / factor or 1.0
    for axes, own in zip(panels, lines, strict=True):
        for at, (name, (mean, half)) in enumerate(own.items()):
            look = style.line_style(at) | {"label": name, "marker": "o", "markersize": 3}
            if not axis.is_ordered:
                # Nothing lies between two names: dots with their intervals, side by side.
                beside = places + (at - (len(own) - 1) / 2) * min(0.1, 0.6 / len(own))
                axes.errorbar(beside, mean / factor, half / factor, **look | {"linestyle": "none", "capsize": 2})
                continue
            axes.plot(places, mean / factor, **look)
            if len(own) > _MOST_BANDS:
                # Bands on top of each other have no colours.
                error = {"color": look["color"], "elinewidth": 0.8, "alpha": 0.6}
                axes.errorbar(places, mean / factor, half / factor, fmt="none", **error)
            elif len(places) > 1 and (half > 0).any():
                low, high = np.maximum(mean - half, 0) / factor, (mean + half) / factor
                axes.fill_between(places, low, high, color=look["color"], alpha=0.13, linewidth=0)
        axes.set_ylim(0, top)
    panels[0].set_ylabel(f"{measure.title[0].lower()}{measure.title[1:]}" + (f" ({unit})" if unit else ""))


def _place_values(axes: Axes, variable: Variable, axis: Axis) -> None:
    axes.set_xlabel(f"{variable.label} ({axis.unit})" if axis.unit else variable.label)
    if axis.scale == "equal":
        axes.set_xticks(axis.places, variable.values)
        axes.set_xlim(-0.3, max(axis.places) + 0.3)
    elif axis.scale == "log":
        axes.set_xscale("log")
        if len(axis.places) <= 8:
            axes.set_xticks(axis.places, [f"{place:g}" for place in axis.places])
            axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.set_xlim(left=0 if 0 <= min(axis.places) < 0.5 * max(axis.places) else None)


@style.styled
def _bars(comparison: Comparison) -> Chart:
    """A bar for each algorithm's mean, with its 95 % interval and a dot for every run."""
    measures = comparison.measures
    height = 0.95 + 0.36 * len(comparison.algorithms)
    columns = {1: 1, 2: 2, 4: 2}.get(len(measures), 3)
    rows = -(-len(measures) // columns)
    size = (2.0 + 2.4 * columns if columns > 1 else 5.0, rows * height + 0.35)
    figure, panels = style.chart(rows, columns, size=size, sharey=True, squeeze=False)
    for axes, measure in zip(panels.flat, measures, strict=False):
        _bar_panel(axes, comparison, measure)
    for unused in panels.flat[len(measures) :]:
        figure.delaxes(unused)
    runs = _counted(comparison, comparison.points)
    about = f"mean of {runs}, 95 % interval" if runs != "1 run" else "one run"
    if all(comparison.is_identical(name) for name in comparison.algorithms):
        about = f"{runs.replace('runs', 'seeds')}, identical"
    figure.suptitle(f"{comparison.name}: {about}", x=0.01, ha="left", fontweight="bold", fontsize=10.5)
    return figure


def _bar_panel(axes: Axes, comparison: Comparison, measure: Measure) -> None:
    names = comparison.algorithms
    bars = [(name, comparison.values(name, measure)) for name in names]
    largest = max((value for _, values in bars for value in values), default=0.0)
    factor, unit = style.unit_of(largest, measure.unit)
    high = _horizontal_bars(axes, bars, factor)
    axes.set_xlim(0, 1.0 if measure.column == "jain" else high * 1.04 or 1.0)
    axes.set_xlabel(f"{measure.title[0].lower()}{measure.title[1:]} ({unit})" if unit else measure.title)


def _horizontal_bars(axes: Axes, bars: Sequence[tuple[str, list[float]]], factor: float) -> float:
    """Bars of means with intervals and dots; gives the largest end."""
    ends = [0.0]
    for at, (_, values) in enumerate(bars):
        interval = analyse.mean_interval(values)
        mean, half = interval.mean / factor, interval.half_width / factor
        axes.barh(at, mean, height=0.62, color=style.COLOURS[at % len(style.COLOURS)], alpha=0.82, linewidth=0)
        if half > 0:
            error: dict[str, Any] = {"color": style.BLACK, "elinewidth": 1.2, "capsize": 3.5}
            axes.errorbar(mean, at, xerr=half, fmt="none", zorder=3, **error)
        runs = np.array(values) / factor
        dots: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 2.6, "markeredgewidth": 0.5}
        if len(runs) > 1:
            axes.plot(runs, np.full(len(runs), at + 0.2), markerfacecolor="white", color=style.BLACK, zorder=4, **dots)
        ends += [*runs, mean + half if half > 0 else 0.0]
    axes.set_yticks(range(len(bars)), [name for name, _ in bars])
    axes.set_ylim(len(bars) - 0.45, -0.55)
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    return float(max(ends))


@style.styled
def _shares(comparison: Comparison) -> Chart:
    """A bar for the mean goodput of each algorithm's flows where several compete."""
    several = comparison.shares()
    points = chosen(list(dict.fromkeys(point for _, point, _, _ in several)), _MOST_PANELS)
    most = max(sum(1 for _, at, _, _ in several if at == point) for point in points)
    figure, panels = _panels([comparison.describe(point) for point in points], height=0.5 + 0.3 * most)
    largest = max(interval.mean for *_, interval in several)
    factor, unit = style.unit_of(largest, "bit/s")
    for point, (axes,) in zip(points, panels, strict=True):
        own = [(f"{who} in {mix}", interval) for mix, at, who, interval in several if at == point]
        for at, (_, interval) in enumerate(own):
            axes.barh(at, interval.mean / factor, height=0.62, color=style.COLOURS[at % len(style.COLOURS)], alpha=0.82)
            if interval.half_width > 0:
                half = interval.half_width / factor
                axes.errorbar(interval.mean / factor, at, xerr=half, fmt="none", color=style.BLACK, capsize=3.5)
        axes.set_yticks(range(len(own)), [name for name, _ in own])
        axes.invert_yaxis()
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"goodput of a flow ({unit})")
    _head(figure, "Competing algorithms", _of_points(comparison, points), panels[0][0])
    return figure


@style.styled
def _goodput(comparison: Comparison) -> Chart:
    """Goodput of all flows over time: the mean of the runs that are still going, its 95 % interval as a band.

    A curve ends where less than half of an algorithm's runs are left.
    """
    points = chosen(comparison.points, _MOST_PANELS)
    ends = [outcome.simulated_s for outcome in comparison.outcomes if outcome.arrived_bytes is not None]
    width = analyse.bin_width(2 * max(ends, default=0.0))  # a mean and a band need fewer points than a run
    curves = {
        (name, point): mean_over_time(
            [outcome.arrived for outcome in comparison.of(name, point) if outcome.arrived is not None], width
        )
        for point in points
        for name in comparison.algorithms
    }
    largest = max((float(np.max(mean, initial=0.0)) for _, mean, _ in curves.values()), default=0.0)
    factor, unit = style.unit_of(largest, "bit/s")
    figure, panels = _panels(
        [comparison.describe(point) for point in points], columns=2, height=2.3 if len(points) > 1 else 2.9, sharey=True
    )
    for point, (axes,) in zip(points, panels, strict=True):
        for at, name in enumerate(comparison.algorithms):
            times, mean, half = curves[name, point]
            look = style.line_style(at)
            axes.plot(times, mean / factor, label=name, **look)
            low, high = np.maximum(mean - half, 0) / factor, (mean + half) / factor
            axes.fill_between(times, low, high, color=look["color"], alpha=0.16, linewidth=0)
        rate = _capacity(comparison, point)
        if rate is not None and rate <= 2 * largest:
            axes.axhline(rate / factor, label="link", **style.LIMIT)
        axes.set_ylim(0, 1.15 * largest / factor if largest else 1.0)
        axes.set_xlim(0, max(float(curves[name, point][0][-1]) for name in comparison.algorithms) or None)
        axes.set_xlabel("time (s)")
        axes.set_ylabel(f"goodput ({unit})")
    _head(figure, "Goodput over time", f"{_of_points(comparison, points)}, means over {width:g} s", panels[0][0])
    return figure


def _capacity(comparison: Comparison, point: Point) -> float | None:
    """The rate in bit/s of the link that bounds the flows at a point, if it is the same in all runs."""
    rates = {outcome.capacity_bps for name in comparison.algorithms for outcome in comparison.of(name, point)}
    return rates.pop() if len(rates) == 1 else None


def mean_over_time(runs: list[tuple[Numbers, Numbers]], width: float) -> tuple[Numbers, Numbers, Numbers]:
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


@style.styled
def _cwnd(comparison: Comparison) -> Chart:
    """Congestion windows over time with the first seed: a row an algorithm, a column a point."""
    points = chosen(comparison.points, _MOST_COLUMNS)
    names = comparison.algorithms
    size = (6.4 if len(points) < 3 else 2.5 * len(points), 0.75 + 1.35 * len(names))
    figure, panels = style.chart(len(names), len(points), size=size, sharex="col", squeeze=False)
    seeds: set[int] = set()
    for row, name in enumerate(names):
        for column, point in enumerate(points):
            axes = panels[row][column]
            first = next((outcome for outcome in comparison.of(name, point) if outcome.windows), None)
            if first is not None:
                _windows(axes, first, row)
                seeds.add(first.seed)
            where = comparison.describe(point) if row == 0 else ""
            axes.set_title(f"{where}\n{name}" if where else name, loc="left", fontsize=9)
            axes.set_ylim(bottom=0)
            axes.yaxis.set_major_locator(MaxNLocator(4))
            if column == 0:
                axes.set_ylabel("cwnd (segments)")
    for axes in panels[-1]:
        axes.set_xlabel("time (s)")
        axes.set_xlim(left=0)
    seed = f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, sorted(seeds)))}"
    note = f"{_of_points(comparison, points)}, {seed if seeds else 'no windows'}"
    figure.suptitle(f"Congestion windows · {note}", x=0.01, ha="left", fontweight="bold", fontsize=10)
    figure.align_ylabels()
    return figure


def _windows(axes: Axes, outcome: Outcome, at: int) -> None:
    curves = outcome.window_curves
    algorithm = dict(zip(outcome.flows.name, outcome.flows.congestion, strict=True))
    rivals = list(dict.fromkeys(algorithm.values()))
    for flow, (times, windows) in curves.items():
        colour = at if len(rivals) == 1 else rivals.index(algorithm[flow])
        label = None if len(rivals) == 1 else algorithm[flow]
        look: dict[str, Any] = {
            "color": style.COLOURS[colour % len(style.COLOURS)],
            "linewidth": 1.1 if len(curves) < 4 else 0.7,
        }
        axes.plot(times, windows, drawstyle="steps-post", label=label, **look)
    if len(rivals) > 1:
        handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        axes.legend(handles.values(), handles.keys(), loc="upper right", fontsize=7)
    style.leave_out_peak(axes, list(curves.values()))


@style.styled
def _completion(comparison: Comparison) -> Chart:
    """The distribution of the flows' completion times over all runs; a curve below 1 has unfinished flows."""
    points = chosen(comparison.points, _MOST_PANELS)
    figure, panels = _panels(
        [comparison.describe(point) for point in points], columns=2, height=2.3 if len(points) > 1 else 2.9
    )
    for point, (axes,) in zip(points, panels, strict=True):
        everyone = [outcome for name in comparison.algorithms for outcome in comparison.of(name, point)]
        finite = {name for one in everyone for name, time in completions(one) if time is not None}
        seen: list[float] = []
        for at, name in enumerate(comparison.algorithms):
            flows = [time for one in comparison.of(name, point) for who, time in completions(one) if who in finite]
            times = sorted(time for time in flows if time is not None)
            share = np.arange(1, len(times) + 1) / max(len(flows), 1)
            axes.step([0.0, *times], [0.0, *share], where="post", label=name, **style.line_style(at))
            seen += times
        axes.set_ylim(0, 1.02)
        if seen and max(seen) > 20 * min(seen) > 0:
            axes.set_xscale("log")
        else:
            axes.set_xlim(0, 1.05 * max(seen) if seen else 1.0)
        axes.set_xlabel("completion time (s)")
        axes.set_ylabel("share of the flows")
    _head(figure, "Completion times", _of_points(comparison, points), panels[0][0])
    return figure


@style.styled
def _rtt(comparison: Comparison) -> Chart:
    """Goodput of each flow against its base round-trip time."""
    points = chosen(comparison.points, _MOST_PANELS)
    figure, panels = _panels(
        [comparison.describe(point) for point in points], columns=2, height=2.3 if len(points) > 1 else 2.9
    )
    for point, (axes,) in zip(points, panels, strict=True):
        series = goodput_by_rtt(comparison, point)
        largest = max((interval.mean for rows in series.values() for _, interval in rows), default=0.0)
        factor, unit = style.unit_of(largest, "bit/s")
        for at, (name, rows) in enumerate(series.items()):
            rtts = [rtt * 1e3 for rtt, _ in rows]
            means = np.array([interval.mean for _, interval in rows]) / factor
            halves = np.nan_to_num(np.array([interval.half_width for _, interval in rows])) / factor
            look = style.line_style(at) | ({} if len(rows) <= 30 else {"linestyle": "none"})
            axes.errorbar(rtts, means, yerr=halves, label=name, marker="o", markersize=3, capsize=2, **look)
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.set_xlabel("base round-trip time of the flow (ms)")
        axes.set_ylabel(f"goodput ({unit})")
    _head(figure, "Goodput against round-trip time", _of_points(comparison, points), panels[0][0])
    return figure


_DRAWN: dict[str, Callable[[Comparison], Chart]] = {
    "bars": _bars,
    "shares": _shares,
    "goodput": _goodput,
    "cwnd": _cwnd,
    "completion": _completion,
    "rtt": _rtt,
}
