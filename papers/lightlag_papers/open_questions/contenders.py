"""The algorithms that satellites call for, as far as this version has them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache

from lightlag import _engine

WANTED = (
    *("newreno", "cubic", "hybla", "westwood", "westwood+", "westwoodbr", "illinois", "vegas", "copa", "bbr", "bbr3"),
    *("peach", "peach+", "star", "jersey", "noordwijk", "wave"),
)
"""In the order of the tables: by loss, by delay, by rate, and those made for satellites."""


PLAIN = '"{limit}"'
PRIORITY = '{{ discipline = "priority", limit = "{limit}" }}'
WARNING = '{{ discipline = "step", limit = "{limit}", threshold = "50 packets", weight = 0.02 }}'


@dataclass(frozen=True)
class Algorithm:
    """An algorithm as it takes part.

    Attributes
    ----------
    label
        Its name in tables and figures; reconstructed models are marked.
    name
        As in a scenario.
    sets
        Changes to its TCP.
    queue
        The queue that it asks of routers, with the place of a limit.
    probes
        Whether it probes for a window that it has to be told.
    """

    label: str
    name: str
    sets: dict[str, str] = field(default_factory=dict, hash=False)
    queue: str = PLAIN
    probes: bool = False

    def changes(self, window: int, place: str = "defaults.tcp") -> dict[str, str]:
        """Its settings in a scenario; `window` is the capacity of path and queue in segments."""
        table = f'{{ algorithm = "{self.name}", sudden_window = {window} }}' if self.probes else f'"{self.name}"'
        return {f"{place}.congestion": table} | {f"{place}.{key}": value for key, value in self.sets.items()}


def queue_for(limit: str, *sharing: Algorithm) -> str:
    """A queue in a scenario: the one that one of those asks for who share it, else drop-tail."""
    return next((one.queue for one in sharing if one.queue != PLAIN), PLAIN).format(limit=limit)


@cache
def algorithms() -> tuple[Algorithm, ...]:
    """Every algorithm that this version has; Hybla also with the pacing that its authors demand."""
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
    """The same, and those that ask for a router which others do not get along with: Jersey with its warnings."""
    warned = [
        Algorithm(f"{one.label}, warned", one.name, {"ecn": '"classic"'}, WARNING)
        for one in algorithms()
        if one.name == "jersey"
    ]
    return (*algorithms(), *warned)


def named(label: str) -> Algorithm:
    """The algorithm with this name or label."""
    return next(one for one in alone() if label in (one.label, one.name))
