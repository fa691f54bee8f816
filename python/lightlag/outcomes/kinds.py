"""The figures that a comparison has, and what they show, whoever draws them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lightlag import analyse
from lightlag.outcomes.design import MEASURES, Point
from lightlag.outcomes.outcome import UDP, Outcome
from lightlag.outcomes.outcomes import Outcomes
from lightlag.outcomes.variables import Variable

__all__ = ["AGAINST", "CAPTIONS", "MOST_COLUMNS", "MOST_PANELS", "caption", "chosen", "completions"]
__all__ += ["goodput_by_rtt", "kind_against", "kinds", "others_of", "panel_count"]

MOST_PANELS = 6
"""Points that a figure shows, each in a panel."""
MOST_COLUMNS = 4
"""Points beside each other in a figure of windows."""

AGAINST = {
    "goodput": ("goodput_bps",),
    "completion": ("completion_s",),
    "fairness": ("jain",),
    "resent": ("retransmitted_share",),
    "queueing": ("queueing_mean_s", "queueing_p95_s"),
}
"""Figures against a variable, and the columns of their measures."""

CAPTIONS = {
    "bars": "Means with 95 % intervals (Student t); a dot is one run.",
    "shares": "Goodput of a flow of each algorithm where several compete in one run; means with 95 % intervals.",
    "goodput": "Goodput of all flows over time, payload counted as it arrives: the mean of the runs still going, its "
    "95 % interval as a band, which ends at zero and at the rate of the slowest link on their way, headers included: "
    "the dotted line.",
    "cwnd": "Congestion windows over time with the first seed.",
    "completion": "Share of the flows of all runs that had finished, against the time since their start.",
    "rtt": "Goodput of each flow against its smallest round-trip time in any run; means with 95 % intervals.",
}


def caption(kind: str) -> str:
    """The contents of a figure."""
    return CAPTIONS.get(kind, "Means with 95 % intervals (Student t), as bands or, beside names, as bars.")


def kinds(comparison: Outcomes) -> list[str]:
    """The figures that a comparison has."""
    found = []
    columns = {measure.column for measure in comparison.measures}
    several = [variable for variable in comparison.variables if len(variable.values) > 1]
    if not several:
        found.append("bars")
    for variable in several:
        found += [kind_against(name, variable) for name, (first, *_) in AGAINST.items() if first in columns]
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
    """The figure of a measure against a variable."""
    return f"{name}-vs-{re.sub(r'[^A-Za-z0-9._]+', '-', variable.label)}"


def panel_count(comparison: Outcomes, kind: str) -> int:
    """The panels of a figure, if all that it shows has room."""
    points = min(len(comparison.points), MOST_PANELS)
    if kind == "bars":
        return len(comparison.measures)
    if kind == "cwnd":
        return len(comparison.algorithms) * min(points, MOST_COLUMNS)
    if kind == "shares":
        return min(len({point for _, point, _, _ in comparison.shares()}), MOST_PANELS)
    for variable in comparison.variables:
        for name, columns in AGAINST.items():
            if kind_against(name, variable) == kind:
                return len([one for one in MEASURES if one.column in columns]) * len(others_of(comparison, variable))
    return points


def others_of(comparison: Outcomes, variable: Variable) -> list[Point]:
    """The values of all variables but one, in panels of a figure against that one."""
    at = comparison.variables.index(variable)
    others = list(dict.fromkeys(point[:at] + point[at + 1 :] for point in comparison.points))
    return [tuple(other) for other in chosen(others, MOST_PANELS)]


def _rtts_differ(comparison: Outcomes) -> bool:
    bases = [_base_rtts(comparison, point) for point in comparison.points]
    return any(max(base.values()) > 1.2 * min(base.values()) for base in bases if len(base) > 1)


def _base_rtts(comparison: Outcomes, point: Point) -> dict[str, float]:
    """The smallest sample of each flow in any run: some run finds the queues empty, not every one."""
    base: dict[str, float] = {}
    for name in comparison.algorithms:
        for outcome in comparison.of(name, point):
            for flow, rtt in zip(outcome.flows.name, outcome.flows.min_rtt_s, strict=True):
                if rtt:
                    base[flow] = min(base.get(flow, rtt), rtt)
    return base


def chosen(points: Sequence[Point], most: int) -> list[Point]:
    """At most this many items, evenly spaced, with the first and the last."""
    if len(points) <= most:
        return list(points)
    return [points[round(at * (len(points) - 1) / (most - 1))] for at in range(most)]


def completions(outcome: Outcome) -> list[tuple[str, float | None]]:
    """The flows of a run with their completion times; None of one that did not finish."""
    return list(zip(outcome.flows.name, outcome.flows.completion_s, strict=True))


def goodput_by_rtt(comparison: Outcomes, point: Point) -> dict[str, list[tuple[float, analyse.Interval]]]:
    """The flows of each algorithm, or of each competing one, by round-trip time."""
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
