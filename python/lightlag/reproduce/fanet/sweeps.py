"""The sweeps of the paper's figures, and those beyond it, run by whoever can run a setting."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from lightlag.analyse import mean_interval
from lightlag.reproduce.fanet.claims import Sweep, shown
from lightlag.reproduce.fanet.outcome import Outcome
from lightlag.reproduce.fanet.setting import (
    BBR,
    BBR_NS3,
    CUBIC,
    FULL_SPEED,
    MIDDLE,
    NODES,
    SEEDS,
    SPEEDS,
    Access,
    Contender,
    Reading,
    Setting,
)
from lightlag.reproduce.paper import Effort
from lightlag.reproduce.table import Layout

Runner = Callable[[Setting, int], Outcome]
"""Runs a setting with a seed; the same nodes, speed and seed are the same swarm."""
Outcomes = Mapping[Setting, Sequence[Outcome]]
"""The outcomes of settings, by their seeds."""

BEYOND_SEEDS = 2
BEYOND_NODES = (20, 50, 100, 200, 500)
LARGE = 200
"""Swarms of so many nodes have one seed: a run takes as long as three to ten others. They show how the load of routing
grows, which differs by a tenth between seeds."""
PROTOCOLS = ("aodv", "olsr", "gpsr")


class Swarms:
    """The runs of a reproduction: figures and tables that need the same swarm share one run of it."""

    def __init__(self, effort: Effort, runner: Runner) -> None:
        self._effort = effort
        self._runner = runner
        self._found: dict[Setting, list[Outcome]] = {}

    def run(self, settings: Iterable[Setting], seeds: int = SEEDS) -> Outcomes:
        """Every outcome of these settings; those without so many seeds are run with the missing ones."""
        wanted = list(dict.fromkeys(settings))
        known = {setting: self._found.setdefault(setting, []) for setting in wanted}
        each = self._effort.seeds_of(seeds)
        missing = [(setting, seed) for setting in wanted for seed in each[len(known[setting]) :]]
        for (setting, _), outcome in zip(
            missing, self._effort.map(lambda one: self._runner(*one), missing), strict=True
        ):
            known[setting].append(outcome)
        return known


def points(varies: str, contender: Contender, reading: Reading) -> dict[int, Setting]:
    """The settings of a figure."""
    if varies == "nodes":
        return {nodes: Setting(contender, reading, nodes, FULL_SPEED) for nodes in NODES}
    return {speed: Setting(contender, reading, MIDDLE, speed) for speed in SPEEDS}


JUDGED = (CUBIC, BBR, BBR_NS3)


def settings_of(varies: str, reading: Reading, contenders: Sequence[Contender] = JUDGED) -> list[Setting]:
    """The settings of CUBIC and BBR over the nodes, or over the speed."""
    return [setting for contender in contenders for setting in points(varies, contender, reading).values()]


def sweep(varies: str, reading: Reading, found: Outcomes, contenders: Sequence[Contender] = JUDGED) -> Sweep:
    """CUBIC, BBR and its other readings over the nodes, or over the speed, from the runs of their settings."""
    settings = [points(varies, contender, reading) for contender in contenders]
    cubic, bbr, *others = ({point: found[setting] for point, setting in each.items()} for each in settings)
    labels = [contender.label for contender in contenders[2:]]
    return Sweep(varies, tuple(settings[0]), cubic, bbr, dict(zip(labels, others, strict=True)))


def beyond(contenders: Sequence[Contender]) -> dict[str, dict[str, Setting]]:
    """Questions beyond the paper, each with settings by the names of their lines."""
    return {
        "algorithms": {one.label: Setting(one) for one in contenders},
        "access": {
            f"{one.label}, {access.value}": Setting(one, access=access) for access in Access for one in (CUBIC, BBR)
        },
        "routing": {
            f"{one.label}, {protocol}": Setting(one, routing=protocol) for protocol in PROTOCOLS for one in (CUBIC, BBR)
        },
        "sizes": {
            f"{one.label}, {nodes} UAVs": Setting(one, nodes=nodes) for nodes in BEYOND_NODES for one in (CUBIC, BBR)
        },
    }


TITLES = {
    "algorithms": "Beyond the paper: every algorithm, 60 UAVs at 25 m/s",
    "access": "Beyond the paper: RTS/CTS, and aggregates of HT MCS 7",
    "routing": "Beyond the paper: routing protocols",
    "sizes": "Beyond the paper: 20 to 500 UAVs in the same box",
}


def layout(name: str, settings: Mapping[str, Setting], found: Outcomes) -> Layout:
    """The outcomes of a question, a line for each setting."""
    header = ("", "seeds", "kbit/s", "Jain", "served", "delay, ms", "hops", "without an ACK", "routing, kbit/s")
    lines = []
    for label, setting in settings.items():
        runs = found[setting]
        carried = [one for one in runs if one.served]
        lines.append(
            (
                label,
                str(len(runs)),
                shown(mean_interval(one.kbps for one in runs)),
                shown(mean_interval(one.fairness for one in runs), 2),
                f"{statistics.fmean(one.served for one in runs):.1f}",
                shown(mean_interval(1e3 * one.delay_s for one in carried)) if carried else "",
                f"{statistics.fmean(one.hops for one in carried):.2f}" if carried else "",
                f"{statistics.fmean(one.air.failing for one in runs):.0%}",
                f"{statistics.fmean(one.air.routing_bytes * 8e-3 / one.seconds for one in runs):.0f}",
            )
        )
    return Layout(name, TITLES[name], header, tuple(lines))
