"""The causes of low throughput: connectivity, hops, collisions, breaks of routes, timeouts; and the delay."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from lightlag.analyse import mean_interval
from lightlag.reproduce.fanet import model
from lightlag.reproduce.fanet.claims import AXES, Sweep, ranked, shown
from lightlag.reproduce.fanet.outcome import Outcome
from lightlag.reproduce.fanet.setting import FULL_SPEED, READINGS, SECONDS, Reading
from lightlag.reproduce.table import BEFOREHAND, Layout, Row, Verdict

DERIVED = {("default", 40): (0.67, 0.026), ("default", 60): (1.01, 0.032), ("default", 80): (1.36, 0.041)}
"""Mean degree and share of connected pairs of nodes placed uniformly, range 44 m, as derived before the runs."""
TOLERANCE = 0.15
MODEL_SEEDS = 5


def connectivity(nodes: int, speed: float, reading: Reading) -> model.Connectivity:
    """The model of a swarm, averaged over several."""
    found = [
        model.connectivity(model.paths(nodes, speed, SECONDS, seed)[::2], reading.range_m, 2 * model.STEP_S)
        for seed in range(1, 1 + MODEL_SEEDS)
    ]
    return model.Connectivity(
        *(statistics.fmean(getattr(one, name) for one in found) for name in ("degree", "connected", "hops", "changes"))
    )


def connectivity_rows(found: Mapping[tuple[str, int], model.Connectivity]) -> list[Row]:
    """Moving swarms beside nodes that are placed at random: mobility leaves the density as it is."""
    lines = []
    for (reading, nodes), (degree, connected) in DERIVED.items():
        one = found[reading, nodes]
        holds = abs(one.degree / degree - 1) <= TOLERANCE and abs(one.connected / connected - 1) <= TOLERANCE
        lines.append(
            Row(
                "connectivity",
                f"{nodes} UAVs, range 44 m: neighbours, and share of connected pairs",
                "",
                f"{degree:.2f}, {connected:.1%} (placed uniformly)",
                f"{one.degree:.2f}, {one.connected:.1%} (model, moving)",
                Verdict.check(holds),
                f"within {TOLERANCE:.0%} of nodes placed uniformly ({BEFOREHAND}); the rule at walls turns a node "
                "with its mean direction, so that nodes stay near walls and there have more neighbours",
            )
        )
    return lines


def connectivity_layout(found: Mapping[tuple[str, int], model.Connectivity]) -> Layout:
    """The model at every density, in both readings."""
    header = ("radio", "range, m", "UAVs", "neighbours", "connected pairs", "hops", "changes of a link in a second")
    ranges = {reading.name: reading.range_m for reading in READINGS}
    lines = tuple(
        (
            reading,
            f"{ranges[reading]:g}",
            str(nodes),
            f"{one.degree:.2f}",
            f"{one.connected:.1%}",
            f"{one.hops:.2f}",
            f"{one.changes:.2f}",
        )
        for (reading, nodes), one in found.items()
    )
    return Layout("connectivity", f"Connectivity at {FULL_SPEED} m/s, from the model", header, lines)


def _timeouts(outcome: Outcome) -> float:
    return outcome.timeouts / max(outcome.served, 1)


FAILING, BREAKS = "frames without an ACK, %", "broken links a second"
CAUSES: dict[str, tuple[Callable[[Outcome], float], int]] = {
    FAILING: (lambda one: 100 * one.air.failing, 0),
    BREAKS: (lambda one: one.air.breaks / one.seconds, 1),
    "timeouts of a served flow": (_timeouts, 1),
    "hops of a delivered segment": (lambda one: one.hops, 2),
    "delay of a delivered segment, ms": (lambda one: 1e3 * one.delay_s, 0),
    "routing, kbit/s": (lambda one: one.air.routing_bytes * 8e-3 / one.seconds, 0),
}
"""Columns beside the throughput, each with its decimals."""


def layout(sweeps: Mapping[str, Sweep], name: str, title: str) -> Layout:
    """Every cause at every point."""
    header = ("runs of", "at", "algorithm", *CAUSES)
    lines = []
    for whose, sweep in sweeps.items():
        for point in sweep.points:
            for algorithm in sweep.names:
                runs = sweep.of(algorithm)[point]
                cells = [_cell(runs, *cause) for cause in CAUSES.values()]
                lines.append((whose, f"{point} {AXES[sweep.varies]}", algorithm, *cells))
    return Layout(name, title, header, tuple(lines))


def _cell(runs: Sequence[Outcome], metric: Callable[[Outcome], float], digits: int) -> str:
    known = [value for value in map(metric, runs) if not math.isnan(value)]
    return shown(mean_interval(known), digits) if known else ""


def rows(density: Sweep, speed: Sweep) -> list[Row]:
    """The causes that the paper names, each with what it predicts."""
    return [_breaks(speed), _timeouts_by_speed(speed), _collisions(density), _delay(density)]


def _breaks(speed: Sweep) -> Row:
    breaks, _ = CAUSES[BREAKS]
    values = speed.means("CUBIC", breaks)
    return Row(
        "Fig. 5, text",
        f"CUBIC: broken links a second at {', '.join(map(str, speed.points))} m/s",
        "frequent route failures, which occur due to the mobility",
        "",
        ", ".join(f"{value:.1f}" for value in values),
        Verdict.claim(values[-1] >= 2 * values[0]),
        f"twice as many at the highest speed as at the lowest ({BEFOREHAND}): otherwise most breaks are not due to "
        "mobility, for a frame that collides too often breaks a route as well",
    )


def _timeouts_by_speed(speed: Sweep) -> Row:
    values = {name: speed.means(name, _timeouts) for name in speed.names}
    ranks = {name: ranked(speed, name, _timeouts) for name in values}
    return Row(
        "Fig. 5, text",
        "timeouts of a served flow, by the speed",
        "",
        "",
        "; ".join(f"{name} {', '.join(f'{one:.1f}' for one in found)}" for name, found in values.items()),
        Verdict.NOT_JUDGED,
        f"rank correlation {', '.join(f'{name} {rank}' for name, rank in ranks.items())}; each takes a second or "
        "more, and routes are found again in tens of milliseconds",
    )


def _collisions(density: Sweep) -> Row:
    failing, _ = CAUSES[FAILING]
    return Row(
        "Fig. 3, text",
        f"frames without an ACK at {', '.join(map(str, density.points))} UAVs, %",
        "",
        "",
        "; ".join(
            f"{name} {', '.join(f'{one:.0f}' for one in density.means(name, failing))}" for name in density.names
        ),
        Verdict.NOT_JUDGED,
        "the flows stay the same: what grows with the swarm is contention for a medium that more nodes share",
    )


def _delay(density: Sweep) -> Row:
    found = {
        name: [mean_interval(1e3 * run.delay_s for run in density.of(name)[point]) for point in density.points]
        for name in density.names
    }
    return Row(
        "abstract",
        f"mean delay of a delivered segment at {', '.join(map(str, density.points))} UAVs, ms",
        "named as a metric, without a number",
        "",
        "; ".join(f"{name} {', '.join(shown(one) for one in values)}" for name, values in found.items()),
        Verdict.UNDECIDED,
        "from the first transmission to the delivery in order; the paper gives none",
    )
