"""The charts of a comparison: the figures that it has, as data for a page.

They show what :mod:`lightlag.comparison.plot` draws for paper.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lightlag import analyse
from lightlag.analyse import Interval, mean_interval
from lightlag.outcomes.design import MEASURES, Measure, Point
from lightlag.outcomes.kinds import AGAINST, caption, chosen, completions, goodput_by_rtt, kind_against, kinds
from lightlag.outcomes.outcome import Outcome
from lightlag.outcomes.outcomes import Outcomes
from lightlag.outcomes.variables import Variable
from lightlag.report.answer import listed
from lightlag.report.charts import Bar, Bars, Chart, Line, Lines, rounded, unit_of, usual_top
from lightlag.text.quantities import number

__all__ = ["charts"]

_MOST_PANELS = 6
_MOST_BANDS = 5
_MOST_POINTS = 24_000
"""Points of all windows together."""
_MOST_STEPS = 400
"""Steps of a distribution."""


def charts(comparison: Outcomes) -> list[Chart]:
    """A chart for each figure of a comparison."""
    return [_chart(comparison, kind) for kind in kinds(comparison)]


def _chart(comparison: Outcomes, kind: str) -> Chart:
    if kind in _MADE:
        title, make = _MADE[kind]
        width = 18 if kind == "bars" else 26
        group = "time" if kind in ("goodput", "cwnd") else ""
        return Chart(kind, title, caption(kind), make(comparison), group, width)
    for variable in comparison.variables:
        for name, columns in AGAINST.items():
            if kind_against(name, variable) == kind:
                measures = [one for one in MEASURES if one.column in columns]
                title = f"{measures[0].title} against {variable.label}"
                return Chart(kind, title, caption(kind), _against(comparison, variable, measures))
    raise KeyError(kind)


def _against(comparison: Outcomes, variable: Variable, measures: Sequence[Measure]) -> list[Lines]:
    at = comparison.variables.index(variable)
    others = list(dict.fromkeys(point[:at] + point[at + 1 :] for point in comparison.points))
    axis = variable.axis
    order = sorted(range(len(axis.places)), key=lambda place: axis.places[place])
    panels = []
    for other in chosen(others, _MOST_PANELS):
        where = comparison.describe_but(variable, tuple(other))
        for measure in measures:
            points = [(*other[:at], variable.values[place], *other[at:]) for place in order]
            means = {
                name: [comparison.interval(name, measure, point) for point in points] for name in comparison.algorithms
            }
            largest = max((one.mean for own in means.values() for one in own if one.count), default=0.0)
            factor, unit = unit_of(largest, measure.unit)
            # Bands on top of each other have no colours, and nothing lies between two names.
            looks = {"dots", "unjoined"} if not axis.is_ordered else {"dots"}
            looks |= {"bars"} if not axis.is_ordered or len(means) > _MOST_BANDS else set()
            places = [axis.places[place] for place in order]
            lines = [
                _line_of_means(name, number, places, own, factor, frozenset(looks))
                for number, (name, own) in enumerate(means.items())
            ]
            title = f"{measure.title}{f' ({unit})' if unit else ''}{f', {where}' if where else ''}"
            y = {"min": 0} | ({"max": 1.02} if measure.column == "jain" else {})
            says = _says_against(measure, variable, means, points, where)
            panels.append(Lines(title, says, _axis(variable, order), y, lines))
    return panels


def _line_of_means(
    name: str, at: int, places: Sequence[float], means: Sequence[Interval], factor: float, looks: frozenset[str]
) -> Line:
    halves = [0.0 if math.isnan(one.half_width) else one.half_width for one in means]
    low = [(one.mean - half) / factor for one, half in zip(means, halves, strict=True)]
    high = [(one.mean + half) / factor for one, half in zip(means, halves, strict=True)]
    return Line(name, at, places, [one.mean / factor for one in means], low, high, looks)


def _axis(variable: Variable, order: Sequence[int]) -> dict[str, Any]:
    axis = variable.axis
    about: dict[str, Any] = {"label": f"{variable.label} ({axis.unit})" if axis.unit else variable.label}
    about["unit"] = axis.unit
    if axis.scale == "equal":
        return about | {"scale": "equal", "ticks": [[axis.places[at], variable.values[at]] for at in order]}
    if len(order) <= 8:
        about["ticks"] = [[axis.places[at], f"{axis.places[at]:g}"] for at in order]
    return about | {"scale": axis.scale}


def _says_against(
    measure: Measure, variable: Variable, means: dict[str, list[Interval]], points: Sequence[Point], where: str
) -> str:
    """The first and the last value of each line in words."""
    at = next(place for place, value in enumerate(points[0]) if value in variable.values) if points else 0
    ends = f"{variable.label} {points[0][at]} to {points[-1][at]}"
    parts = [f"{name} {measure.show(own[0])} to {measure.show(own[-1])}" for name, own in means.items()]
    return f"{measure.title} from {ends}{f', {where}' if where else ''}: {'; '.join(parts)}."


def _bars(comparison: Outcomes) -> list[Bars]:
    return [_bar_panel(comparison, measure) for measure in comparison.measures]


def _bar_panel(comparison: Outcomes, measure: Measure) -> Bars:
    names = comparison.algorithms
    values = {name: comparison.values(name, measure) for name in names}
    factor, unit = unit_of(max((one for own in values.values() for one in own), default=0.0), measure.unit)
    bars, said = [], []
    for at, name in enumerate(names):
        interval = comparison.interval(name, measure)
        said.append(f"{name} {measure.show(interval)}")
        if interval.count:
            runs = [] if interval.count == 1 else [value / factor for value in values[name]]
            bars.append(Bar(name, at, interval.mean / factor, interval.half_width / factor, runs))
    x: dict[str, Any] = {"label": unit}
    if measure.column == "jain":
        x["max"] = 1
    return Bars(measure.title, f"{measure.title}: {', '.join(said)}.", x, bars)


def _shares(comparison: Outcomes) -> list[Bars]:
    several = comparison.shares()
    points = chosen(list(dict.fromkeys(point for _, point, _, _ in several)), _MOST_PANELS)
    factor, unit = unit_of(max(interval.mean for *_, interval in several), "bit/s")
    panels = []
    for point in points:
        own = [(f"{who} in {mix}", interval) for mix, at, who, interval in several if at == point]
        bars = [
            Bar(name, at, interval.mean / factor, interval.half_width / factor)
            for at, (name, interval) in enumerate(own)
        ]
        said = ", ".join(f"{name} {MEASURES[0].show(interval)}" for name, interval in own)
        where = comparison.describe(point)
        says = f"Goodput of a flow{f' at {where}' if where else ''}: {said}."
        panels.append(Bars(where or "Goodput of a flow", says, {"label": unit}, bars))
    return panels


def _goodput(comparison: Outcomes) -> list[Lines]:
    """The mean of the runs that are still going; a line ends where less than half of an algorithm's runs are left."""
    points = chosen(comparison.points, _MOST_PANELS)
    traced = [one for one in comparison.outcomes if one.arrived_bytes is not None]
    width = analyse.bin_width(2 * max((one.simulated_s for one in traced), default=0.0))
    curves = {
        (name, point): _over_time(comparison.of(name, point), width)
        for point in points
        for name in comparison.algorithms
    }
    means = [one.mean for curve in curves.values() for one in curve]
    factor, unit = unit_of(max(means, default=0.0), "bit/s")
    panels = []
    for point in points:
        own = {name: curves[name, point] for name in comparison.algorithms}
        rates = {one.capacity_bps for name in own for one in comparison.of(name, point)}
        rate = rates.pop() if len(rates) == 1 else None
        most = math.inf if rate is None else rate / factor
        lines = [_line_over_time(name, at, curve, width, factor, most) for at, (name, curve) in enumerate(own.items())]
        limits = [] if rate is None else [("link", rate / factor)]
        where = comparison.describe(point)
        peaks = [
            f"{name} at most {number(max(one.mean for one in curve) / factor, 3)} {unit}"
            for name, curve in own.items()
            if curve
        ]
        says = f"Goodput over time{f' at {where}' if where else ''}: {', '.join(peaks)}."
        x = {"label": "time (s)", "unit": "s", "min": 0, "max": _end(own.values(), width)}
        panels.append(Lines(f"{where or 'Goodput'} ({unit})", says, x, {"min": 0}, lines, limits))
    return panels


def _over_time(runs: Sequence[Outcome], width: float) -> list[Interval]:
    """The goodput in each interval, over the runs that last to its end."""
    going = [run for run in runs if run.arrived_bytes is not None]
    curves: list[list[float]] = []
    for run in going:
        assert run.arrived_bytes is not None, "chosen so"
        whole = math.floor(run.simulated_s / width + 1e-9)
        levels = [_level(run.arrived_bytes, run.simulated_s, at * width) for at in range(whole + 1)]
        curves.append([(after - before) * 8 / width for before, after in itertools.pairwise(levels)])
    found = []
    for at in range(max(map(len, curves), default=0)):
        values = [curve[at] for curve in curves if at < len(curve)]
        if 2 * len(values) < len(curves):
            break
        found.append(mean_interval(values))
    return found


def _level(levels: Sequence[float], seconds: float, time: float) -> float:
    """Between the equal steps of a curve, by straight lines."""
    place = min(time / seconds * (len(levels) - 1), len(levels) - 1) if seconds else 0.0
    at = min(int(place), len(levels) - 2)
    return levels[at] + (place - at) * (levels[at + 1] - levels[at])


def _line_over_time(name: str, at: int, curve: Sequence[Interval], width: float, factor: float, most: float) -> Line:
    """The mean and its interval, which ends where goodput does: at zero and at the rate of the link."""
    means = [one.mean / factor for one in curve]
    halves = [0.0 if math.isnan(one.half_width) else one.half_width / factor for one in curve]
    if not any(halves):
        return Line(name, at, (width / 2, width), means)
    low = [max(mean - half, 0.0) for mean, half in zip(means, halves, strict=True)]
    high = [max(min(mean + half, most), mean) for mean, half in zip(means, halves, strict=True)]
    return Line(name, at, (width / 2, width), means, low, high)


def _end(curves: Iterable[Sequence[Interval]], width: float) -> float:
    return max((len(curve) for curve in curves), default=0) * width or 1.0


def _cwnd(comparison: Outcomes) -> list[Lines]:
    """Congestion windows over time with the first seed: a panel for each algorithm and point."""
    points = chosen(comparison.points, 4)
    cells = [(name, point) for point in points for name in comparison.algorithms]
    firsts = {cell: next((one for one in comparison.of(*cell) if one.windows), None) for cell in cells}
    count = sum(len(one.windows or {}) for one in firsts.values() if one is not None)
    most = max(40, _MOST_POINTS // max(count, 1))
    panels = []
    for (name, point), first in firsts.items():
        where = comparison.describe(point)
        at = comparison.algorithms.index(name)
        lines = [] if first is None else _windows(first, at, most)
        end = max((one.simulated_s for one in comparison.of(name, point)), default=1.0)
        highest = max((value for line in lines for value in line.y if value is not None), default=0.0)
        seed = "" if first is None else f", seed {first.seed}"
        says = (
            f"Congestion window of {name}{f' at {where}' if where else ''}{seed}: at most {number(highest)} segments."
        )
        top = usual_top([(line.x, line.y) for line in lines])
        above = "" if top is None else f", up to {highest:,.0f}"
        title = f"{name}{f', {where}' if where else ''} (segments{seed}{above})"
        x = {"label": "time (s)", "unit": "s", "min": 0, "max": end}
        panels.append(
            Lines(
                title,
                says,
                x,
                {"min": 0} | ({} if top is None else {"max": top}),
                lines,
                empty="no windows were recorded",
                height=170,
            )
        )
    return panels


def _windows(outcome: Outcome, at: int, most: int) -> list[Line]:
    algorithm = dict(zip(outcome.flows.name, outcome.flows.congestion, strict=True))
    rivals = list(dict.fromkeys(algorithm.values()))
    lines = []
    for flow, (times, windows) in (outcome.windows or {}).items():
        colour = at if len(rivals) == 1 else rivals.index(algorithm[flow])
        kept = _fewer(times, windows, most)
        label = flow if len(rivals) == 1 else f"{flow} ({algorithm[flow]})"
        looks = frozenset({"step", "thin", "solid"} if len(algorithm) > 1 else {"step", "solid"})
        lines.append(Line(label, colour, [times[row] for row in kept], [windows[row] for row in kept], looks=looks))
    return lines


def _fewer(times: Sequence[float], values: Sequence[float], most: int) -> list[int]:
    """The rows that a curve with fewer points keeps."""
    import polars as pl

    if len(times) <= most:
        return list(range(len(times)))
    return analyse.thinned_rows(pl.Series(times), pl.Series(values), most).to_list()


def _completion(comparison: Outcomes) -> list[Lines]:
    """The distribution of the flows' completion times over all runs; a curve below 1 has unfinished flows."""
    panels = []
    for point in chosen(comparison.points, _MOST_PANELS):
        everyone = [outcome for name in comparison.algorithms for outcome in comparison.of(name, point)]
        finite = {name for one in everyone for name, time in completions(one) if time is not None}
        lines, said, latest = [], [], 0.0
        for at, name in enumerate(comparison.algorithms):
            flows = [time for one in comparison.of(name, point) for who, time in completions(one) if who in finite]
            times = sorted(time for time in flows if time is not None)
            if times:
                latest = max(latest, times[-1])
                said.append(
                    f"{name} half by {number(times[(len(times) - 1) // 2])} s, {len(times)} of {len(flows)} at all"
                )
            shares = [number / max(len(flows), 1) for number in range(1, len(times) + 1)]
            step = max(1, -(-len(times) // _MOST_STEPS))
            kept = [*range(step - 1, len(times), step)]
            x, y = [0.0, *(times[row] for row in kept)], [0.0, *(shares[row] for row in kept)]
            lines.append(Line(name, at, x, y, looks=frozenset({"step"})))
        where = comparison.describe(point)
        says = f"Finished flows{f' at {where}' if where else ''}: {'; '.join(said) or 'none'}."
        x_axis = {"label": "completion time (s)", "unit": "s", "min": 0, "max": 1.05 * latest or 1.0}
        panels.append(Lines(where or "Share of the flows", says, x_axis, {"min": 0, "max": 1.02}, lines))
    return panels


def _rtt(comparison: Outcomes) -> list[Lines]:
    """Goodput of each flow against its base round-trip time."""
    panels = []
    for point in chosen(comparison.points, _MOST_PANELS):
        series = goodput_by_rtt(comparison, point)
        factor, unit = unit_of(
            max((interval.mean for rows in series.values() for _, interval in rows), default=0.0), "bit/s"
        )
        lines, said = [], []
        for at, (name, rows) in enumerate(series.items()):
            x = rounded((rtt * 1e3 for rtt, _ in rows), 5)
            joined = frozenset({"dots", "bars"} if len(rows) <= 30 else {"dots", "bars", "unjoined"})
            means = [interval.mean / factor for _, interval in rows]
            halves = [0.0 if math.isnan(one.half_width) else one.half_width / factor for _, one in rows]
            low = [mean - half for mean, half in zip(means, halves, strict=True)]
            high = [mean + half for mean, half in zip(means, halves, strict=True)]
            lines.append(Line(name, at, x, means, low, high, joined))
            if rows:
                said.append(
                    f"{name} {number(means[0], 3)} {unit} at {x[0]} ms, {number(means[-1], 3)} {unit} at {x[-1]} ms"
                )
        where = comparison.describe(point)
        says = f"Goodput against base round trip{f' at {where}' if where else ''}: {listed(said) if said else 'none'}."
        about = {"label": "base round-trip time of the flow (ms)", "unit": "ms", "min": 0}
        panels.append(Lines(f"{where or 'Goodput of a flow'} ({unit})", says, about, {"min": 0}, lines))
    return panels


_MADE: dict[str, tuple[str, Callable[[Outcomes], Sequence[Lines | Bars]]]] = {
    "bars": ("Every measure", _bars),
    "shares": ("Competing algorithms", _shares),
    "goodput": ("Goodput over time", _goodput),
    "cwnd": ("Congestion windows over time", _cwnd),
    "completion": ("Completion times", _completion),
    "rtt": ("Goodput against round-trip time", _rtt),
}
