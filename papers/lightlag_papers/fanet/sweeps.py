"""The runs of a reproduction, and the questions beyond the paper. Runs are made by a given runner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from lightlag_papers.fanet.causes import CANDIDATES, CAUSES, METRICS, cell
from lightlag_papers.fanet.outcome import Outcome
from lightlag_papers.fanet.readings import Ground, Outcomes
from lightlag_papers.fanet.setting import BBR_LINUX, CUBIC, SEEDS, Access, Candidate, Routing, Setting
from lightlag_papers.paper import Effort
from lightlag_papers.table import Layout

Runner = Callable[[Setting, int], Outcome]
"""Runs a setting with a seed. Settings with the same nodes, speed and seed have the same swarm."""

BEYOND_SEEDS = 2
BEYOND_NODES = (20, 50, 100, 200, 500)
LARGE = 200
"""Minimum number of nodes of a large swarm, which runs with a single seed.

Such a run takes as long as three to ten others. Large swarms show how the load of routing grows, which differs by a
tenth between seeds.
"""
PROTOCOLS = ("aodv", "olsr", "gpsr")


class Swarms:
    """The runs of a reproduction. Figures and tables that need the same swarm share one run."""

    def __init__(self, effort: Effort, runner: Runner) -> None:
        self._effort = effort
        self._runner = runner
        self._found: dict[Setting, list[Outcome]] = {}

    def run(self, settings: Iterable[Setting], seeds: int = SEEDS) -> Outcomes:
        """Returns the outcomes of these settings, and runs the seeds that are missing."""
        wanted = list(dict.fromkeys(settings))
        known = {setting: self._found.setdefault(setting, []) for setting in wanted}
        each = self._effort.seeds_of(seeds)
        missing = [(setting, seed) for setting in wanted for seed in each[len(known[setting]) :]]
        for (setting, _), outcome in zip(
            missing, self._effort.map(lambda one: self._runner(*one), missing), strict=True
        ):
            known[setting].append(outcome)
        return known


def settings_of(ground: Ground) -> list[Setting]:
    """Returns all settings of the readings with one ground: both figures, all algorithms."""
    return [
        setting
        for candidate in CANDIDATES
        for varies in ("nodes", "speed")
        for setting in ground.settings(varies, candidate)
    ]


def beyond(candidates: Sequence[Candidate]) -> dict[str, dict[str, Setting]]:
    """Returns the questions beyond the paper, each with its settings by label."""
    both = (CUBIC, BBR_LINUX)
    return {
        "algorithms": {one.label: Setting(one) for one in candidates},
        "access": {f"{one.label}, {access.value}": Setting(one, access=access) for access in Access for one in both},
        "routing": {
            **{f"{one.label}, {name}": Setting(one, routing=name) for name in PROTOCOLS for one in both},
            **{f"{one.label}, aodv {Routing.NS3.value}": Setting(one, rules=Routing.NS3) for one in both},
        },
        "sizes": {f"{one.label}, {nodes} UAVs": Setting(one, nodes=nodes) for nodes in BEYOND_NODES for one in both},
    }


TITLES = {
    "algorithms": "Beyond the paper: every algorithm, 60 UAVs at 25 m/s, range 150 m",
    "access": "Beyond the paper: RTS/CTS, and aggregates of HT MCS 7",
    "routing": "Beyond the paper: routing protocols",
    "sizes": "Beyond the paper: 20 to 500 UAVs in the same box",
}


def layout(name: str, settings: Mapping[str, Setting], outcomes: Outcomes) -> Layout:
    """Returns the outcomes of a question, one line per setting."""
    columns = {label: column for label, column in METRICS.items() if not label.startswith("Jain, equation")} | CAUSES
    lines = []
    for label, setting in settings.items():
        runs = outcomes[setting]
        lines.append((label, str(len(runs)), *(cell(runs, *column) for column in columns.values())))
    return Layout(name, TITLES[name], ("", "seeds", *columns), tuple(lines))
