"""Figures of a comparison, by kind.

- ``bars``: every metric, if only the algorithm varies.
- ``goodput-vs-LABEL`` and so on: a metric against a variable, a line per algorithm with its 95 % interval as a band,
  a panel for each combination of the other variables.
- ``goodput-heatmap`` and so on: the means at every pair of values of two variables, a panel per algorithm.
- ``best-heatmap``: the algorithm with the highest goodput at each pair of values.
- ``shares``: each algorithm's goodput share where several compete.
- ``goodput`` and ``cwnd``: over time.
- ``completion``: the distribution of the flows' completion times.
- ``rtt``: the goodput of each flow against its round-trip time, where these differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from lightlag import analyse
from lightlag._renamed import renamed
from lightlag.drawing import framing, looks, names, scales, style
from lightlag.drawing.curves import Numbers
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.errors import InputError
from lightlag.outcomes.design import MEASURES, Measure, Point
from lightlag.outcomes.kinds import (
    AGAINST,
    BEST,
    MOST_PANELS,
    chosen,
    completions,
    goodput_by_rtt,
    kind_against,
    kind_of_map,
    kinds,
    others_of,
)
from lightlag.outcomes.outcomes import Outcomes
from lightlag.outcomes.variables import Axis, Variable
from lightlag.plot import captions, comparison_over_time, heatmap
from lightlag.plot.captions import COMPLETION, never_finished, partly_finished
from lightlag.plot.comparison_panels import (
    all_of,
    axis_label,
    counted,
    describe,
    fitting,
    of_points,
    panels_of,
    quantity,
    title_of,
)

__all__ = ["draw"]

_MOST_BANDS = 5
_STRIP = 0.09
"""Height of the strip for values that no run has, as a fraction of the height of the axes."""
_BARS_IN = 1.6
"""Minimum width in inches of a panel with bars, if several panels are side by side."""


def draw(comparison: Outcomes, kind: str | None = None, ax: Any = None) -> Chart:
    """Returns a figure of a comparison.

    Parameters
    ----------
    kind
        A name from :func:`lightlag.outcomes.kinds.kinds`; by default the first.
    ax
        A user's axes, one for each panel.

    Raises
    ------
    InputError
        If the comparison has no such figure.
    """
    there = kinds(comparison)
    kind = there[0] if kind is None else kind
    if kind not in there:
        if message := renamed(kind.partition("-")[0]):
            raise InputError(message)
        raise InputError(f'no comparison figure "{kind}"; there are {", ".join(there)}')
    if kind in _DRAWN:
        return _DRAWN[kind](comparison, ax=ax)
    if kind == BEST:
        return heatmap.best(comparison, ax=ax)
    for name, columns in AGAINST.items():
        if kind == kind_of_map(name):
            return heatmap.of_measure(comparison, next(one for one in MEASURES if one.column == columns[0]), ax=ax)
    for variable in comparison.variables:
        for name, columns in AGAINST.items():
            if kind_against(name, variable) == kind:
                return _against(comparison, variable, [one for one in MEASURES if one.column in columns], ax=ax)
    raise KeyError(kind)


@styled
def _against(comparison: Outcomes, variable: Variable, measures: list[Measure], *, ax: Any = None) -> Chart:
    at = comparison.variables.index(variable)
    shown = others_of(comparison, variable)
    titles = [describe(comparison, other, variable) for other in shown]
    figure, panels = panels_of(titles, rows=len(measures), ax=ax)
    axis = variable.axis
    order = np.argsort(axis.places, kind="stable")
    points = [[(*other[:at], variable.values[index], *other[at:]) for index in order] for other in shown]
    for row, measure in enumerate(measures):
        lines = [_means(comparison, measure, own) for own in points]
        _lines_of_means([own[row] for own in panels], measure, lines, axis)
    for axes in all_of(panels):
        _place_values(axes, variable, axis)
    if COMPLETION in measures:
        _mark_missing(comparison, points, panels, axis)
    title = title_of(measures[0]) if len(measures) == 1 else "Queueing delay of data packets"
    title = f"{title} against {names.plain(variable.label)}"
    note = f"{comparison.name}, {counted(comparison, comparison.points)} each"
    framing.head(figure, all_of(panels), title, note, ax=ax)
    _caption(
        figure, comparison, title, points=[point for own in points for point in own], shows="means",
        intervals=_bands(comparison, axis), measures=measures,
    )  # fmt: skip
    return figure


def _caption(figure: Chart, comparison: Outcomes, title: str, **about: Any) -> None:
    if isinstance(figure, Chart):
        figure.caption = captions.of_comparison(comparison, title, **about)


def _bands(comparison: Outcomes, axis: Axis) -> str:
    return "bands" if axis.is_ordered and len(comparison.algorithms) <= _MOST_BANDS else "bars"


def _mark_missing(
    comparison: Outcomes, points: Sequence[Sequence[Point]], panels: Sequence[Sequence[Axes]], axis: Axis
) -> None:
    """Marks completion times that no run or only some runs have, with entries for the legend.

    Values that no run has are crosses in a strip above all others.
    """
    places = np.sort(np.array(axis.places), kind="stable")
    every = [never_finished(comparison, own) for own in points]
    if any(every):
        for axes, *_ in panels:
            _add_strip(axes)
    for own, (axes, *_), never in zip(points, panels, every, strict=True):
        cross: dict[str, Any] = {"marker": "x", "linestyle": "none", "markersize": style.points(4.5), "clip_on": False}
        for name, point in never:
            # Side by side, in the order of the algorithms.
            others = [one for one, where in never if where == point]
            aside = (others.index(name) - (len(others) - 1) / 2) * style.points(6.5)
            colour = style.line_style(comparison.algorithms.index(name))["color"]
            where = axes.get_xaxis_transform() + framing.shifted(axes, right=aside)
            axes.plot(places[own.index(point)], 1 - _STRIP / 2, transform=where, color=colour, zorder=5, **cross)
            if all((name, each) in never for each in own):
                at = comparison.algorithms.index(name)
                look = style.line_style(at) | {"marker": style.MARKERS[at % len(style.MARKERS)]}
                framing.explain(axes, names.algorithm(name), markersize=style.points(4), **look)
        if never:
            framing.explain(axes, "no run finished", **cross)
        hollow: dict[str, Any] = {"linestyle": "none", "markersize": style.points(4), "markerfacecolor": "white"}
        partly = partly_finished(comparison, own)
        for name, point, *_ in partly:
            at = comparison.algorithms.index(name)
            x = places[own.index(point)] + _beside(axis, at, len(comparison.algorithms))
            look = {"color": style.line_style(at)["color"], "marker": style.MARKERS[at % len(style.MARKERS)]}
            axes.plot(x, comparison.interval(name, COMPLETION, point).mean, zorder=4, **look, **hollow)
        if partly:
            framing.explain(axes, "only some runs finished", marker="o", **hollow)


def _beside(axis: Axis, at: int, count: int) -> float:
    """Returns the horizontal distance of an algorithm's values from their position: 0 on axes of quantities."""
    return 0.0 if axis.is_ordered else (at - (count - 1) / 2) * min(0.1, 0.6 / count)


def _add_strip(axes: Axes) -> None:
    """Adds a strip to the upper end of axes, above all values and notes."""
    axes.set_ylim(top=axes.get_ylim()[1] / (1 - _STRIP))
    strip = Rectangle((0, 1 - _STRIP), 1, _STRIP, transform=axes.transAxes, color="#efefef", linewidth=0, zorder=0.5)
    axes.add_patch(strip)
    for text in axes.texts:
        text.set_y(min(text.get_position()[1], 0.99 - _STRIP))


Means = dict[str, tuple[Numbers, Numbers]]


def _means(comparison: Outcomes, measure: Measure, points: Sequence[Point]) -> Means:
    """Returns the means and half widths of each algorithm at the given points."""
    found = {}
    for name in comparison.algorithms:
        intervals = [comparison.interval(name, measure, point) for point in points]
        means, halves = ([getattr(one, part) for one in intervals] for part in ("mean", "half_width"))
        found[name] = np.array(means), np.nan_to_num(np.array(halves))
    return found


def _lines_of_means(panels: Sequence[Axes], measure: Measure, lines: Sequence[Means], axis: Axis) -> None:
    """Plots a metric in panels with the same scale: lines with bands. Bands influence the scale only up to a limit."""
    places = np.sort(np.array(axis.places), kind="stable")
    largest = max((float(np.nanmax(mean, initial=0.0)) for own in lines for mean, _ in own.values()), default=0.0)
    highest = max(
        (float(np.nanmax(mean + half, initial=0.0)) for own in lines for mean, half in own.values()), default=0.0
    )
    factor, unit = scales.unit_of(largest, measure.unit)
    top = 1.02 if measure.column == "jain" else scales.cut_intervals(panels, largest / factor, highest / factor, unit)
    for axes, own in zip(panels, lines, strict=True):
        for at, (name, (mean, half)) in enumerate(own.items()):
            if np.isnan(mean).all():
                continue
            marker = style.MARKERS[at % len(style.MARKERS)]
            label = names.algorithm(name)
            look = style.line_style(at) | {"label": label, "marker": marker, "markersize": style.points(4)}
            if not axis.is_ordered:
                # Nothing lies between two names: dots with their intervals, side by side.
                beside = places + _beside(axis, at, len(own))
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
        if not axes.lines and measure is COMPLETION:
            framing.say_empty(axes, "no run finished within the simulated time")
        elif not axes.lines:
            framing.say_empty(axes, f"no {measure.title.lower()} in any run")
    panels[0].set_ylabel(quantity(measure, unit))


def _place_values(axes: Axes, variable: Variable, axis: Axis) -> None:
    axes.set_xlabel(axis_label(variable, axis.unit))
    if axis.scale == "equal":
        texts = scales.tick_texts(variable.values)
        axes.set_xticks(axis.places, texts)
        axes.set_xlim(-0.3, max(axis.places) + 0.3)
        _turn_if_long(axes, texts)
    elif axis.scale == "log":
        axes.set_xscale("log")
        values = variable.values if not axis.unit else [scales.tick(place) for place in axis.places]
        shown = scales.tick_texts(values)
        named = dict(zip(axis.places, shown, strict=True))
        other = scales.power_of_ten if scales.in_powers(axis.places) else scales.tick
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: named.get(value, other(value))))
        if len(axis.places) <= 8:
            axes.xaxis.set_major_locator(FixedLocator(axis.places))
            _turn_if_long(axes, shown)
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.set_xlim(left=0 if 0 <= min(axis.places) < 0.5 * max(axis.places) else None)


def _turn_if_long(axes: Axes, texts: list[str]) -> None:
    """Rotates tick labels that would overlap."""
    size = style.points(8.5)
    if sum(framing.width_in(text, size) + 0.1 for text in texts) > framing.room_in(axes):
        axes.tick_params(axis="x", rotation=90)


@styled
def _bars(comparison: Outcomes, *, ax: Any = None) -> Chart:
    """Plots a bar for each algorithm's mean, with its 95 % interval and a dot for every run."""
    measures = comparison.measures
    height = 0.95 + (0.36 if looks.current().width_in is None else 0.26) * len(comparison.algorithms)
    columns = min({1: 1, 2: 2, 4: 2}.get(len(measures), 3), fitting(_BARS_IN, 3))
    if ax is not None:
        columns = len(measures)
    rows = -(-len(measures) // columns)
    size = (2.0 + 2.4 * columns if columns > 1 else 5.0, rows * height + 0.35)
    figure, panels = style.chart(rows, columns, size=size, follow=0.0, ax=ax, sharey=True, squeeze=False)
    for axes, measure in zip(panels.flat, measures, strict=False):
        _bar_panel(axes, comparison, measure)
    for unused in panels.flat[len(measures) :]:
        figure.delaxes(unused)
    runs = counted(comparison, comparison.points)
    about = f"mean of {runs}, 95 % interval" if runs != "1 run" else "one run"
    if all(comparison.is_identical(name) for name in comparison.algorithms):
        about = f"{runs.replace('runs', 'seeds')}, identical"
    framing.head(figure, list(panels.flat), f"{comparison.name}: {about}", handles={}, ax=ax)
    dots = "dots are single runs" if runs != "1 run" else ""
    _caption(
        figure, comparison, "Metrics of each algorithm", points=comparison.points, shows="means", intervals="whiskers",
        measures=measures, extra=[dots[:1].upper() + dots[1:]],
    )  # fmt: skip
    return figure


def _bar_panel(axes: Axes, comparison: Outcomes, measure: Measure) -> None:
    bars = [
        (names.algorithm(name), comparison.values(name, measure), comparison.interval(name, measure))
        for name in comparison.algorithms
    ]
    largest = max((value for _, values, _ in bars for value in values), default=0.0)
    factor, unit = scales.unit_of(largest, measure.unit)
    high = _horizontal_bars(axes, bars, factor)
    axes.set_xlim(0, 1.0 if measure.column == "jain" else high * 1.04 or 1.0)
    axes.set_xlabel(quantity(measure, unit))
    for at, (_, values, _) in enumerate(bars):
        if not values:
            why = "no run finished" if measure is COMPLETION else "no value"
            small: dict[str, Any] = {"fontsize": style.points(7.5), "color": style.GREY, "gid": framing.NOTE}
            axes.annotate(why, (0, at), (4, 0), textcoords="offset points", va="center", **small)


def _horizontal_bars(axes: Axes, bars: Sequence[tuple[str, list[float], analyse.Interval]], factor: float) -> float:
    """Plots bars of means with intervals and dots; returns the upper end of the highest."""
    ends = [0.0]
    for at, (_, values, interval) in enumerate(bars):
        if not values:
            continue
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
    axes.set_yticks(range(len(bars)), [name for name, *_ in bars])
    axes.set_ylim(len(bars) - 0.45, -0.55)
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    return float(max(ends))


@styled
def _shares(comparison: Outcomes, *, ax: Any = None) -> Chart:
    """Plots a bar for the mean goodput of each algorithm's flows where several compete."""
    several = comparison.shares()
    points = chosen(list(dict.fromkeys(point for _, point, _, _ in several)), MOST_PANELS)
    most = max(sum(1 for _, at, _, _ in several if at == point) for point in points)
    figure, panels = panels_of([describe(comparison, point) for point in points], height=0.5 + 0.3 * most, ax=ax)
    largest = max(interval.mean for *_, interval in several)
    factor, unit = scales.unit_of(largest, "bit/s")
    for point, (axes,) in zip(points, panels, strict=True):
        own = [
            (f"{names.algorithm(who)} in {names.algorithm(mix)}", interval)
            for mix, at, who, interval in several
            if at == point
        ]
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
    framing.head(figure, all_of(panels), "Competing algorithms", of_points(comparison, points), handles={}, ax=ax)
    title = "Goodput per flow of algorithms that compete"
    _caption(figure, comparison, title, points=points, shows="means", intervals="whiskers")
    return figure


@styled
def _completion(comparison: Outcomes, *, ax: Any = None) -> Chart:
    """Plots the distribution of the flows' completion times over all runs.

    A curve stays below 1 if flows are unfinished.
    """
    points = chosen(comparison.points, MOST_PANELS)
    figure, panels = panels_of(
        [describe(comparison, point) for point in points], columns=2, height=2.3 if len(points) > 1 else 2.9, ax=ax
    )
    for point, (axes,) in zip(points, panels, strict=True):
        everyone = [outcome for name in comparison.algorithms for outcome in comparison.of(name, point)]
        finite = {name for one in everyone for name, time in completions(one) if time is not None}
        seen: list[float] = []
        never = []
        for at, name in enumerate(comparison.algorithms):
            flows = [time for one in comparison.of(name, point) for who, time in completions(one) if who in finite]
            times = sorted(time for time in flows if time is not None)
            if not times:
                never += [names.algorithm(name)] if comparison.of(name, point) else []
                continue
            share = np.arange(1, len(times) + 1) / max(len(flows), 1)
            label = names.algorithm(name)
            axes.step([0.0, *times], [0.0, *share], where="post", label=label, **style.line_style(at))
            seen += times
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("completion time (s)")
        if not seen:
            framing.say_empty(axes, "no flow finished")
        elif never:
            framing.small_note(axes, f"no flow finished: {', '.join(never)}")
        if seen and max(seen) > 20 * min(seen) > 0:
            axes.set_xscale("log")
            scales.in_numbers(axes.xaxis)
            axes.set_xlabel("completion time (s, log)")
        elif seen:
            axes.set_xlim(0, 1.05 * max(seen))
        axes.set_ylabel("fraction of the flows")
    framing.head(figure, all_of(panels), "Completion times", of_points(comparison, points), ax=ax)
    _caption(
        figure, comparison, "Distribution of completion times", points=points,
        shows="distributions of the flows of all runs", measures=[COMPLETION],
        extra=["A curve that ends below 1 has flows that did not finish"],
    )  # fmt: skip
    return figure


@styled
def _rtt(comparison: Outcomes, *, ax: Any = None) -> Chart:
    """Plots goodput of each flow against its base round-trip time."""
    points = chosen(comparison.points, MOST_PANELS)
    figure, panels = panels_of(
        [describe(comparison, point) for point in points], columns=2, height=2.3 if len(points) > 1 else 2.9, ax=ax
    )
    found = [goodput_by_rtt(comparison, point) for point in points]
    largest = max((one.mean for series in found for rows in series.values() for _, one in rows), default=0.0)
    factor, unit = scales.unit_of(largest, "bit/s")
    for series, (axes,) in zip(found, panels, strict=True):
        if not series:
            framing.say_empty(axes, "no flow has a round-trip time")
        for at, (name, rows) in enumerate(series.items()):
            rtts = [rtt * 1e3 for rtt, _ in rows]
            means = np.array([interval.mean for _, interval in rows]) / factor
            halves = np.nan_to_num(np.array([interval.half_width for _, interval in rows])) / factor
            look = style.line_style(at) | ({} if len(rows) <= 30 else {"linestyle": "none"})
            marker = style.MARKERS[at % len(style.MARKERS)]
            label = names.algorithm(name)
            axes.errorbar(rtts, means, yerr=halves, label=label, marker=marker, markersize=4, capsize=2, **look)
        axes.set_xlim(left=0)
        axes.set_xlabel("base round-trip time of the flow (ms)")
        axes.set_ylabel(f"goodput ({unit})")
    every = [one for series in found for rows in series.values() for _, one in rows]
    highest = max((one.mean + np.nan_to_num(one.half_width) for one in every), default=0.0)
    top = scales.cut_intervals(all_of(panels), largest / factor, highest / factor, unit)
    for axes in all_of(panels):
        axes.set_ylim(0, top)
    title = "Goodput against round-trip time"
    framing.head(figure, all_of(panels), title, of_points(comparison, points), ax=ax)
    _caption(figure, comparison, f"{title} of each flow", points=points, shows="means", intervals="whiskers")
    return figure


_DRAWN: dict[str, Callable[..., Chart]] = {
    "bars": _bars,
    "shares": _shares,
    "goodput": comparison_over_time.goodput,
    "cwnd": comparison_over_time.cwnd,
    "completion": _completion,
    "rtt": _rtt,
}
