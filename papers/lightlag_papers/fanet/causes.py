"""The causes of low throughput: connectivity, hops, collisions, drops and timeouts; and also the delay."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from lightlag.analyse import mean_interval
from lightlag_papers.fanet import model
from lightlag_papers.fanet.claims import AXES
from lightlag_papers.fanet.outcome import Outcome
from lightlag_papers.fanet.readings import Fairness, Ground, Outcomes, Throughput, jain_index, mean_kbps
from lightlag_papers.fanet.setting import BBRS, CUBIC, FULL_SPEED, RADIOS, SECONDS, Candidate, Radio
from lightlag_papers.table import BEFOREHAND, Layout, Row, pm

DERIVED = {40: (0.67, 0.026), 60: (1.01, 0.032), 80: (1.36, 0.041)}
"""Mean degree and fraction of connected pairs of uniformly placed nodes, by their number, for a range of 44 m.

The values were derived before the runs.
"""
TOLERANCE = 0.15
MODEL_SEEDS = 5
CANDIDATES = (CUBIC, *BBRS)


def connectivity(nodes: int, speed: float, radio: Radio) -> model.Connectivity:
    """Returns the connectivity that the model gives for these settings, averaged over several random swarms."""
    found = [
        model.connectivity(model.paths(nodes, speed, SECONDS, seed)[::2], radio.range_m, 2 * model.STEP_S)
        for seed in range(1, 1 + MODEL_SEEDS)
    ]
    return model.Connectivity(
        *(statistics.fmean(getattr(one, name) for one in found) for name in ("degree", "connected", "hops", "changes"))
    )


def connectivity_rows(found: Mapping[tuple[str, int], model.Connectivity]) -> list[Row]:
    """Returns the rows that compare moving swarms with randomly placed nodes: mobility does not change the density."""
    lines = []
    for nodes, (degree, connected) in DERIVED.items():
        one = found[RADIOS[0].name, nodes]
        holds = abs(one.degree / degree - 1) <= TOLERANCE and abs(one.connected / connected - 1) <= TOLERANCE
        lines.append(
            Row.check(
                "connectivity",
                f"{nodes} UAVs, range 44 m: neighbours, and fraction of connected pairs",
                f"{degree:.2f}, {connected:.1%} (placed uniformly)",
                f"{one.degree:.2f}, {one.connected:.1%} (model, moving)",
                holds,
                f"within {TOLERANCE:.0%} of nodes placed uniformly ({BEFOREHAND})",
            )
        )
    return lines


def connectivity_layout(found: Mapping[tuple[str, int], model.Connectivity]) -> Layout:
    """Returns the table of the model's connectivity for every density and range."""
    header = ("range", "UAVs", "neighbours", "connected pairs", "hops", "changes of a link in a second")
    lines = tuple(
        (
            radio,
            str(nodes),
            f"{one.degree:.2f}",
            f"{one.connected:.1%}",
            f"{one.hops:.2f}",
            f"{one.changes:.2f}",
        )
        for (radio, nodes), one in found.items()
    )
    return Layout("connectivity", f"Connectivity at {FULL_SPEED} m/s, from the model", header, lines)


Metric = Callable[[Outcome], float]
REPEATED, DROPPED, TIMEOUTS = "retransmitted frames, %", "dropped frames per second", "timeouts of a flow"
HOPS = "hops of a delivered segment"
CAUSES: dict[str, tuple[Metric, int]] = {
    REPEATED: (lambda one: 100 * one.air.repeating, 0),
    DROPPED: (lambda one: one.air.dropped / one.seconds, 1),
    TIMEOUTS: (lambda one: one.timeouts / len(one.flows), 1),
    HOPS: (lambda one: one.hops, 2),
    "delay of a delivered segment, ms": (lambda one: 1e3 * one.delay_s, 0),
    "routing, kbit/s": (lambda one: one.air.routing_bytes * 8e-3 / one.seconds, 0),
}
"""Columns of the table of causes: metric and number of decimals. Both simulators measure them in the same way."""


def _jain(throughput: Throughput, fairness: Fairness) -> Metric:
    return lambda one: jain_index(one, throughput, fairness)


METRICS: dict[str, tuple[Metric, int]] = {
    "kbit/s over the run": (lambda one: mean_kbps(one, Throughput.RUN), 0),
    "by equation 4": (lambda one: mean_kbps(one, Throughput.ACTIVE), 0),
    **{
        f"Jain, {throughput.value}, {fairness.value}": (_jain(throughput, fairness), 2)
        for throughput in Throughput
        for fairness in Fairness
    },
    "served flows": (lambda one: one.served, 1),
}


def layout(
    columns: Mapping[str, tuple[Metric, int]], ground: Ground, outcomes: Outcomes, name: str, title: str
) -> Layout:
    """Returns a table of metrics at every point, for the swarms of a ground and all algorithms."""
    lines = []
    for varies in AXES:
        for candidate in CANDIDATES:
            settings = ground.settings(varies, candidate)
            for point, setting in zip(ground.points(varies), settings, strict=True):
                cells = [cell(outcomes[setting], *column) for column in columns.values()]
                lines.append((f"{point} {AXES[varies]}", candidate.label, *cells))
    return Layout(name, title, ("at", "algorithm", *columns), tuple(lines))


def cell(runs: Sequence[Outcome], metric: Metric, digits: int) -> str:
    """Returns the mean of a metric over the runs in which it is defined, as text."""
    known = [value for value in map(metric, runs) if not math.isnan(value)]
    return pm(mean_interval(known), digits) if known else ""


def rows(ground: Ground, outcomes: Outcomes) -> list[Row]:
    """Returns rows for information on the delay and the causes that the paper names; it gives no numbers."""
    return [
        _row(
            "Fig. 5, text",
            "timeouts of a flow",
            "each takes a second or more, and routes are found again in tens of milliseconds",
            lambda candidate: _means(CAUSES[TIMEOUTS], ground, "speed", candidate, outcomes),
            f"at {', '.join(map(str, ground.points('speed')))} m/s",
        ),
        _row(
            "Fig. 3, text",
            REPEATED,
            "more nodes share the medium",
            lambda candidate: _means(CAUSES[REPEATED], ground, "nodes", candidate, outcomes),
            f"at {', '.join(map(str, ground.points('nodes')))} UAVs",
        ),
        _row(
            "abstract",
            "mean delay of a delivered segment, ms",
            "a metric of the paper without a number; from the first transmission to the delivery in order",
            lambda candidate: _means(CAUSES["delay of a delivered segment, ms"], ground, "nodes", candidate, outcomes),
            f"at {', '.join(map(str, ground.points('nodes')))} UAVs",
        ),
    ]


def _row(item: str, quantity: str, reason: str, means: Callable[[Candidate], str], where: str) -> Row:
    ours = "; ".join(f"{candidate.label} {means(candidate)}" for candidate in CANDIDATES)
    return Row.informing(item, f"{quantity} {where}", ours, reason)


def _means(column: tuple[Metric, int], ground: Ground, varies: str, candidate: Candidate, outcomes: Outcomes) -> str:
    metric, digits = column
    found = []
    for setting in ground.settings(varies, candidate):
        known = [value for value in map(metric, outcomes[setting]) if not math.isnan(value)]
        found.append(f"{statistics.fmean(known):.{digits}f}" if known else "none")
    return ", ".join(found)
