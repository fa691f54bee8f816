"""Figures of a comparison over time: goodput, and congestion windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lightlag import analyse
from lightlag.drawing import framing, names, scales, style
from lightlag.drawing.curves import Numbers
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.outcomes.design import Point
from lightlag.outcomes.kinds import MOST_COLUMNS, MOST_PANELS, chosen
from lightlag.outcomes.outcome import Outcome
from lightlag.outcomes.outcomes import Outcomes
from lightlag.plot import captions
from lightlag.plot.comparison_panels import (
    all_of,
    describe,
    fitting,
    of_points,
    panels_of,
)

__all__ = ["cwnd", "goodput", "mean_over_time"]

_ABOVE = 5.0
"""The rate of a link is plotted if it is at most this many times the largest goodput."""
_WINDOW_IN = 1.6
"""Minimum width in inches of a panel with windows."""


@styled
def goodput(comparison: Outcomes, *, ax: Any = None) -> Chart:
    """Plots the goodput of all flows over time: the mean of the runs that have not ended, with its 95 % interval as a
    band.

    A curve ends where less than half of an algorithm's runs are left. A band is cut off at zero and at the link's rate,
    because all means lie between them.
    """
    points = chosen(comparison.points, MOST_PANELS)
    ends = [outcome.simulated_s for outcome in comparison.outcomes if outcome.arrived_bytes is not None]
    width = analyse.bin_width(2 * max(ends, default=0.0))  # a mean and a band need fewer points than a run
    curves = {
        (name, point): mean_over_time(
            [outcome.arrived for outcome in comparison.of(name, point) if outcome.arrived is not None],
            width,
        )
        for name in comparison.algorithms
        for point in points
    }
    largest = max((float(np.max(mean, initial=0.0)) for _, mean, _ in curves.values()), default=0.0)
    rates = {point: _capacity(comparison, point) for point in points}
    bands = {
        (name, point): (np.maximum(mean - half, 0.0), np.minimum(mean + half, np.maximum(mean, rates[point] or np.inf)))
        for (name, point), (_, mean, half) in curves.items()
    }
    highest = max((float(np.max(high, initial=0.0)) for _, high in bands.values()), default=0.0)
    factor, unit = scales.unit_of(largest, "bit/s")
    figure, panels = panels_of(
        [describe(comparison, point) for point in points],
        columns=2,
        height=2.3 if len(points) > 1 else 2.9,
        ax=ax,
        sharey=True,
    )
    drawn = {point: rate for point, rate in rates.items() if rate is not None and rate <= _ABOVE * largest}
    for point, (axes,) in zip(points, panels, strict=True):
        for at, name in enumerate(comparison.algorithms):
            times, mean, _ = curves[name, point]
            if len(times) == 1:
                continue
            look = style.line_style(at)
            axes.plot(times, mean / factor, label=names.algorithm(name), **look)
            low, high = bands[name, point]
            axes.fill_between(times, low / factor, high / factor, color=look["color"], alpha=0.16, linewidth=0)
        if not axes.lines:
            framing.say_empty(axes, "no run recorded a trace")
        if point in drawn:
            axes.axhline(drawn[point] / factor, label="link", **style.LIMIT)
        axes.set_xlim(0, max(float(curves[name, point][0][-1]) for name in comparison.algorithms) or None)
        axes.set_xlabel("time (s)")
    for axes in all_of(panels)[:: _columns(panels)] if ax is None else all_of(panels):
        axes.set_ylabel(f"goodput ({unit})")
    top = scales.cut_intervals(all_of(panels), largest / factor, highest / factor, unit)
    for axes in all_of(panels):
        axes.set_ylim(0, max(top, 1.06 * max(drawn.values(), default=0.0) / factor))
    note = f"{of_points(comparison, points)}, means over {width:g} s"
    framing.head(figure, all_of(panels), "Goodput over time", note, ax=ax)
    if isinstance(figure, Chart):
        figure.caption = captions.of_comparison(
            comparison, "Goodput of all flows over time", points=points, shows=f"means over intervals of {width:g} s",
            intervals="bands",
        )  # fmt: skip
    return figure


def _columns(panels: list[list[Axes]]) -> int:
    place = panels[0][0].get_subplotspec()
    return 1 if place is None else place.get_gridspec().ncols


def _capacity(comparison: Outcomes, point: Point) -> float | None:
    """Returns the rate in bit/s of the link that bounds the flows at a point, if it is the same in all runs."""
    rates = {outcome.capacity_bps for name in comparison.algorithms for outcome in comparison.of(name, point)}
    return rates.pop() if len(rates) == 1 else None


def mean_over_time(runs: list[tuple[Numbers, Numbers]], width: float) -> tuple[Numbers, Numbers, Numbers]:
    """Returns middles of intervals, means and half widths over the runs that last to the end of an interval."""
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


@styled
def cwnd(comparison: Outcomes, *, ax: Any = None) -> Chart:
    """Plots congestion windows over time for the first seed: one row per algorithm, one column per point."""
    algorithms = comparison.algorithms
    points = chosen(comparison.points, MOST_COLUMNS if ax is not None else fitting(_WINDOW_IN, MOST_COLUMNS))
    size = (6.4 if len(points) < 3 else 2.5 * len(points), 0.75 + 1.35 * len(algorithms))
    figure, panels = style.chart(
        len(algorithms), len(points), size=size, follow=0.3, ax=ax, sharex="col", squeeze=False
    )
    seeds: set[int] = set()
    for row, name in enumerate(algorithms):
        for column, point in enumerate(points):
            axes = panels[row][column]
            if column == 0 and ax is not None:
                axes.set_ylabel("cwnd (segments)")
            axes.yaxis.set_major_locator(MaxNLocator(4))
            where = describe(comparison, point) if row == 0 else ""
            label = names.algorithm(name)
            framing.panel_title(axes, f"{where}\n{label}" if where else label)
            first = next((outcome for outcome in comparison.of(name, point) if outcome.windows), None)
            if first is None:
                framing.say_empty(axes, "no run recorded windows")
                continue
            _windows(axes, first, row)
            seeds.add(first.seed)
    for axes in panels[-1]:
        axes.set_xlabel("time (s)")
        axes.set_xlim(left=0)
    seed = f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, sorted(seeds)))}"
    note = f"{of_points(comparison, points)}, {seed if seeds else 'no windows'}"
    framing.head(figure, list(panels.flat), "Congestion windows", note, ax=ax)
    if isinstance(figure, Chart):
        about = f"One run each, with {seed}" if seeds else ""
        figure.caption = captions.of_comparison(
            comparison, "Congestion windows over time", points=points, extra=[about]
        )
    if ax is None:
        figure.supylabel("Congestion window (segments)", fontsize=style.points(9))
    return figure


def _windows(axes: Axes, outcome: Outcome, at: int) -> None:
    """Plots the windows of one run. If algorithms compete in it, each has its own line style, which a legend names."""
    curves = outcome.window_curves
    algorithm = dict(zip(outcome.flows.name, outcome.flows.congestion, strict=True))
    rivals = list(dict.fromkeys(algorithm.values()))
    for flow, (times, windows) in curves.items():
        look = style.line_style(at) | {"linestyle": "solid"}
        if len(rivals) > 1:
            label = names.algorithm(algorithm[flow])
            look = style.line_style(rivals.index(algorithm[flow])) | {"label": label}
        look["linewidth"] = style.points(1.1 if len(curves) < 4 else 0.7)
        axes.plot(times, windows, drawstyle="steps-post", **look)
    axes.set_ylim(bottom=0)
    scales.tame_peak(axes, list(curves.values()))
