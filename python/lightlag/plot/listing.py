"""The figures that there are, or that a result has: their names, units, and a sentence about each."""

from __future__ import annotations

from typing import NamedTuple

from lightlag.outcomes.design import MEASURES
from lightlag.outcomes.kinds import AGAINST, BEST, kind_against, kind_of_map, kinds, map_of
from lightlag.outcomes.outcomes import Outcomes
from lightlag.records.page_load import has_pages
from lightlag.records.records import Records

__all__ = ["Plot", "Plots", "of_comparison", "of_run", "possible"]


class Plot(NamedTuple):
    """A figure that can be plotted."""

    name: str
    """Name as ``plot`` and ``lightlag plot -m`` take it."""
    unit: str
    """Unit of the values; empty for values without one."""
    about: str
    """A sentence about it."""


class Plots(tuple[Plot, ...]):
    """Figures, shown as a table."""

    __slots__ = ()

    @property
    def names(self) -> list[str]:
        """Names of the figures."""
        return [one.name for one in self]

    def rows(self) -> list[dict[str, str]]:
        """Returns the figures as rows of a text table."""
        return [{"metric": one.name, "unit": one.unit or "–", "shows": one.about} for one in self]

    def __repr__(self) -> str:
        wide = max((len(one.name) for one in self), default=0)
        units = max((len(one.unit or "–") for one in self), default=0)
        return "\n".join(f"{one.name:{wide}}  {one.unit or '–':{units}}  {one.about}" for one in self)

    def _repr_html_(self) -> str:
        from lightlag.text.table import html_table

        return html_table(self.rows())


_OVER_TIME = (
    Plot("cwnd", "segments", "Congestion windows over time; of one flow also ssthresh and its recoveries."),
    Plot(
        "goodput", "bit/s", "Payload that arrives over time, per flow and in total, with the rate of the slowest link."
    ),
    Plot("sequence", "B", "Payload sent and acknowledged over time."),
    Plot("rtt", "ms", "Round-trip times: samples and SRTT of one flow, or the SRTT of each."),
    Plot("queue", "packets", "Packets waiting at the link directions with the longest queues."),
)
_RADIO = (
    Plot("swarm", "m", "Nodes on radio media from above, with names, links and the paths of flows."),
    Plot("airtime", "s", "Time on the air of each radio, by kind of frame."),
    Plot("routes", "hops", "Number of hops of each flow's path over time."),
)
_SKY = (
    Plot("globe", "", "Satellites around the Earth, the links between them, and the paths of flows."),
    Plot(
        "handovers", "segments, ms", "Window and round trips of a flow above the satellites at both ends of its path."
    ),
)
_PAGE = (Plot("waterfall", "s", "Objects of a web page: when each was requested and had arrived."),)

_OF_COMPARISONS = {
    "bars": Plot("bars", "", "Every metric as bars: means with 95 % intervals and a dot for each run."),
    "shares": Plot("shares", "bit/s", "Goodput per flow of algorithms that compete."),
    "goodput": Plot("goodput", "bit/s", "Goodput over time: means with 95 % intervals as bands."),
    "cwnd": Plot("cwnd", "segments", "Congestion windows over time with the first seed."),
    "completion": Plot("completion", "s", "Distribution of the completion times of flows."),
    "rtt": Plot("rtt", "bit/s", "Goodput of each flow against its base round-trip time."),
    BEST: Plot(BEST, "", "The algorithm with the highest goodput at each pair of values of two variables."),
}


def possible() -> Plots:
    """Returns every figure; ``KEY`` stands for a variable of a comparison or a study."""
    several = [Plot(f"{name}-vs-KEY", unit, f"{about} against a variable.") for name, unit, about in _measures()]
    maps = [
        Plot(kind_of_map(name), unit, f"{about} over two variables, as colours.") for name, unit, about in _measures()
    ]
    of = _OF_COMPARISONS
    others = [one._replace(about=f"Of a comparison: {one.about[:1].lower()}{one.about[1:]}") for one in of.values()]
    compared = [*several, *maps, *others]
    return Plots([*_OVER_TIME, *_RADIO, *_SKY, *_PAGE, *compared])


def of_run(result: Records) -> Plots:
    """Returns the figures of a run, as far as their data was recorded."""
    found: list[Plot] = []
    has_trace = not result.table("trace").is_empty()
    has_queue = not result.table("queue").is_empty()
    found += [one for one in _OVER_TIME if (has_queue if one.name == "queue" else has_trace)]
    scenario = result.scenario
    if scenario.get("media") or "medium" in (scenario.get("topology") or {}):
        there = {"swarm": "positions", "airtime": "interfaces", "routes": "paths"}
        tables = {name: result.table(table) for name, table in there.items()}  # type: ignore[arg-type]
        found += [one for one in _RADIO if not tables[one.name].is_empty()]
    if scenario.get("constellation"):
        found += [one for one in _SKY if one.name == "globe" or has_trace]
    return Plots([*found, *(_PAGE if has_pages(result) else ())])


def of_comparison(comparison: Outcomes) -> Plots:
    """Returns the figures of a comparison."""
    every = dict(_OF_COMPARISONS)
    shown = map_of(comparison)
    for name, unit, about in _measures():
        for variable in comparison.variables:
            kind = kind_against(name, variable)
            every[kind] = Plot(kind, unit, f"{about} against {variable.label}.")
        if shown is not None:
            over = f"over {shown.across.label} and {shown.up.label}, as colours"
            every[kind_of_map(name)] = Plot(kind_of_map(name), unit, f"{about} {over}.")
    return Plots([every[kind] for kind in kinds(comparison)])


def _measures() -> list[tuple[str, str, str]]:
    """Returns the metrics that have figures against variables: names, units, and the start of a sentence."""
    titles = {one.column: one for one in MEASURES}
    shown = [(name, titles[columns[0]]) for name, columns in AGAINST.items()]
    return [(name, measure.unit, _about(name, measure.title)) for name, measure in shown]


def _about(name: str, title: str) -> str:
    return {
        "goodput": "Mean goodput",
        "completion": "Mean completion time",
        "fairness": "Mean fairness (Jain)",
        "retransmitted": "Mean fraction of retransmitted segments",
        "queueing": "Mean queueing delay",
    }.get(name, f"Mean of {title.lower()}")
