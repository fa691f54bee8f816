"""The figures that a comparison has, and what the figures for print show. The engine makes the charts of web pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lightlag import analyse
from lightlag.outcomes.design import MEASURES, Point
from lightlag.outcomes.outcome import UDP, Outcome
from lightlag.outcomes.outcomes import Outcomes
from lightlag.outcomes.variables import Variable

__all__ = ["AGAINST", "BEST", "MOST_COLUMNS", "MOST_MAPS", "MOST_PANELS", "MapOf", "chosen", "completions"]
__all__ += ["goodput_by_rtt", "kind_against", "kind_of_map", "kinds", "map_of", "others_of", "panel_count"]

MOST_PANELS = 6
"""Maximum number of points that a figure shows, each in its own panel."""
MOST_COLUMNS = 4
"""Maximum number of points side by side in a figure of congestion windows."""
MOST_MAPS = 12
"""Maximum number of panels of a heat map."""
MOST_CELLS = 60
"""Maximum number of values on an axis of a heat map."""
BEST = "best-heatmap"
"""Name of the figure that plots the best algorithm over the values of two variables."""

AGAINST = {
    "goodput": ("goodput_bps",),
    "completion": ("completion_s",),
    "fairness": ("jain",),
    "retransmitted": ("retransmitted_share",),
    "queueing": ("queueing_mean_s", "queueing_p95_s"),
}
"""Figures that plot metrics against a variable, with the columns of these metrics."""


def kinds(comparison: Outcomes) -> list[str]:
    """Returns the names of the figures that a comparison has."""
    found = []
    columns = {measure.column for measure in comparison.measures}
    several = [variable for variable in comparison.variables if len(variable.values) > 1]
    if not several:
        found.append("bars")
    for variable in several:
        found += [kind_against(name, variable) for name, (first, *_) in AGAINST.items() if first in columns]
    if map_of(comparison) is not None:
        found += [kind_of_map(name) for name, (first, *_) in AGAINST.items() if first in columns]
        found += [BEST] if len(comparison.algorithms) > 1 and AGAINST["goodput"][0] in columns else []
    if comparison.shares():
        found.append("shares")
    if comparison.has_traces:
        found += ["goodput", "cwnd"]
    if any(time is not None for outcome in comparison.outcomes for time in outcome.flows.completion_s):
        found.append("completion")
    if _rtts_differ(comparison):
        found.append("rtt")
    return found


def kind_against(name: str, variable: Variable) -> str:
    """Returns the name of the figure that plots a metric against a variable."""
    return f"{name}-vs-{re.sub(r'[^A-Za-z0-9._]+', '-', variable.label)}"


def kind_of_map(name: str) -> str:
    """Returns the name of the figure that plots a metric over the values of two variables."""
    return f"{name}-heatmap"


@dataclass(frozen=True)
class MapOf:
    """The variables of a heat map, and the values of the others."""

    across: Variable
    """The variable on the horizontal axis."""
    up: Variable
    others: tuple[Point, ...]
    """The values of the other variables, one for each panel of an algorithm."""

    def point(self, comparison: Outcomes, other: Point, across: str, up: str) -> Point:
        """Returns the point of a cell."""
        rest = iter(other)
        values = {self.across: across, self.up: up}
        return tuple(values[one] if one in values else next(rest) for one in comparison.variables)


def map_of(comparison: Outcomes) -> MapOf | None:
    """Returns the heat map of a comparison; None if no two variables have runs at most of their pairs of values.

    The axes are the first two quantities, or the first two variables if there are fewer quantities.
    """
    several = [one for one in comparison.variables if 1 < len(one.values) <= MOST_CELLS]
    first = sorted(several, key=lambda one: not one.axis.is_ordered)[:2]
    if len(first) < 2:
        return None
    across, up = sorted(first, key=comparison.variables.index)
    at = [comparison.variables.index(one) for one in (across, up)]
    pairs = {tuple(point[index] for index in at) for point in comparison.points}
    if 2 * len(pairs) < len(across.values) * len(up.values):
        return None
    others = dict.fromkeys(
        tuple(value for index, value in enumerate(point) if index not in at) for point in comparison.points
    )
    return MapOf(across, up, tuple(chosen(list(others), max(1, MOST_MAPS // len(comparison.algorithms)))))


def panel_count(comparison: Outcomes, kind: str) -> int:
    """Returns the number of panels of a figure."""
    points = min(len(comparison.points), MOST_PANELS)
    if kind == "bars":
        return len(comparison.measures)
    if kind == "cwnd":
        return len(comparison.algorithms) * min(points, MOST_COLUMNS)
    if kind == "shares":
        return min(len({point for _, point, _, _ in comparison.shares()}), MOST_PANELS)
    if kind.endswith("-heatmap") and (drawn := map_of(comparison)) is not None:
        return len(drawn.others) * (1 if kind == BEST else min(len(comparison.algorithms), MOST_MAPS))
    for variable in comparison.variables:
        for name, columns in AGAINST.items():
            if kind_against(name, variable) == kind:
                return len([one for one in MEASURES if one.column in columns]) * len(others_of(comparison, variable))
    return points


def others_of(comparison: Outcomes, variable: Variable) -> list[Point]:
    """Returns the points of the other variables, one for each panel of a figure against this variable."""
    at = comparison.variables.index(variable)
    others = list(dict.fromkeys(point[:at] + point[at + 1 :] for point in comparison.points))
    return [tuple(other) for other in chosen(others, MOST_PANELS)]


def _rtts_differ(comparison: Outcomes) -> bool:
    bases = [_base_rtts(comparison, point) for point in comparison.points]
    return any(max(base.values()) > 1.2 * min(base.values()) for base in bases if len(base) > 1)


def _base_rtts(comparison: Outcomes, point: Point) -> dict[str, float]:
    """Returns the minimum RTT sample of each flow over all runs: some runs find empty queues, but not all of them."""
    base: dict[str, float] = {}
    for name in comparison.algorithms:
        for outcome in comparison.of(name, point):
            for flow, rtt in zip(outcome.flows.name, outcome.flows.min_rtt_s, strict=True):
                if rtt:
                    base[flow] = min(base.get(flow, rtt), rtt)
    return base


def chosen(points: Sequence[Point], max_points: int) -> list[Point]:
    """Returns up to `max_points` items, evenly spaced, with the first and the last."""
    if len(points) <= max_points:
        return list(points)
    return [points[round(at * (len(points) - 1) / (max_points - 1))] for at in range(max_points)]


def completions(outcome: Outcome) -> list[tuple[str, float | None]]:
    """Returns the flows of a run with their completion times; a flow that did not finish has None."""
    return list(zip(outcome.flows.name, outcome.flows.completion_s, strict=True))


def goodput_by_rtt(comparison: Outcomes, point: Point) -> dict[str, list[tuple[float, analyse.Interval]]]:
    """Returns the round-trip time and mean goodput of each flow, by algorithm; competing algorithms are separate."""
    base = _base_rtts(comparison, point)
    found: dict[str, dict[str, list[float]]] = {}
    for name in comparison.algorithms:
        for outcome in comparison.of(name, point):
            flows = outcome.flows
            compete = len(set(flows.congestion) - {UDP}) > 1
            for flow, algorithm, goodput in zip(flows.name, flows.congestion, flows.goodput_bps, strict=True):
                if flow in base:
                    label = f"{algorithm} in {name}" if compete else name
                    found.setdefault(label, {}).setdefault(flow, []).append(goodput)
    return {
        label: sorted(
            ((base[flow], analyse.mean_interval(goodputs)) for flow, goodputs in flows.items()),
            key=lambda row: row[0],
        )
        for label, flows in found.items()
    }
