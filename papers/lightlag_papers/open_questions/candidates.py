"""The algorithms of interest for satellites, as far as this version has them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache

from lightlag import _engine

WANTED = (
    *("newreno", "cubic", "hybla", "westwood", "westwood+", "westwoodbr", "illinois", "vegas", "copa", "bbr", "bbr3"),
    *("peach", "peach+", "star", "jersey", "noordwijk", "wave"),
)
"""Names in the order of the tables: loss-based, delay-based, rate-based, and algorithms made for satellites."""


PLAIN = '"{limit}"'
PRIORITY = '{{ discipline = "priority", limit = "{limit}" }}'
WARNING = '{{ discipline = "step", limit = "{limit}", threshold = "50 packets", weight = 0.02 }}'


@dataclass(frozen=True)
class Algorithm:
    """An algorithm as configured for the comparison.

    Attributes
    ----------
    label
        Label in tables and figures; reconstructed models are marked.
    name
        Name in a scenario.
    sets
        Changes to the TCP.
    queue
        The queue that it requires in routers, with a placeholder for the limit.
    probes
        Whether it starts with a sudden window, whose size must be configured.
    """

    label: str
    name: str
    sets: dict[str, str] = field(default_factory=dict, hash=False)
    queue: str = PLAIN
    probes: bool = False

    def changes(self, window: int, place: str = "defaults.tcp") -> dict[str, str]:
        """Returns the algorithm's settings in a scenario; `window` is the capacity of path and queue in segments."""
        table = f'{{ algorithm = "{self.name}", sudden_window = {window} }}' if self.probes else f'"{self.name}"'
        return {f"{place}.congestion": table} | {f"{place}.{key}": value for key, value in self.sets.items()}


def queue_for(limit: str, *sharing: Algorithm) -> str:
    """Returns the queue of a scenario: the one that a participating algorithm requires, otherwise drop-tail."""
    return next((one.queue for one in sharing if one.queue != PLAIN), PLAIN).format(limit=limit)


@cache
def algorithms() -> tuple[Algorithm, ...]:
    """Returns all algorithms that this version has. Hybla is included twice, also with the pacing that its authors
    require.
    """
    present = {entry["name"]: entry.get("provenance") for entry in json.loads(_engine.catalog())["congestion"]}
    found = []
    for name in WANTED:
        if name in present:
            label = f"{name} (r)" if present[name] == "reconstructed" else name
            peach = name.startswith("peach")
            found.append(Algorithm(label, name, queue=PRIORITY if peach else PLAIN, probes=peach))
        if name == "hybla":
            found.append(Algorithm("hybla, paced", name, {"pacing": "true"}))
    return tuple(found)


@cache
def alone() -> tuple[Algorithm, ...]:
    """Returns all algorithms that can run alone: also Jersey with ECN warnings, whose queue does not suit others."""
    warned = [
        Algorithm(f"{one.label}, warned", one.name, {"ecn": '"classic"'}, WARNING)
        for one in algorithms()
        if one.name == "jersey"
    ]
    return (*algorithms(), *warned)


def named(label: str) -> Algorithm:
    """Returns the algorithm with this name or label."""
    return next(one for one in alone() if label in (one.label, one.name))
