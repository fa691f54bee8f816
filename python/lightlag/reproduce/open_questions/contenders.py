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
    two_priorities
        Whether it sends segments that a full queue has to drop first.
    """

    label: str
    name: str
    sets: dict[str, str] = field(default_factory=dict, hash=False)
    two_priorities: bool = False

    def changes(self, place: str = "defaults.tcp") -> dict[str, str]:
        """What a scenario sets for it."""
        return {f"{place}.congestion": f'"{self.name}"'} | {f"{place}.{key}": value for key, value in self.sets.items()}


def queue_for(limit: str, *sharing: Algorithm) -> str:
    """A drop-tail queue in a scenario, with two priorities if one of those who share it needs them."""
    if any(one.two_priorities for one in sharing):
        return f'{{ discipline = "priority", limit = "{limit}" }}'
    return f'"{limit}"'


@cache
def algorithms() -> tuple[Algorithm, ...]:
    """Every algorithm that this version has; Hybla also with the pacing that its authors demand."""
    present = {entry["name"]: entry.get("provenance") for entry in json.loads(_engine.catalog())["congestion"]}
    found = []
    for name in WANTED:
        if name in present:
            label = f"{name} (r)" if present[name] == "reconstructed" else name
            found.append(Algorithm(label, name, two_priorities=name.startswith("peach")))
        if name == "hybla":
            found.append(Algorithm("hybla, paced", name, {"pacing": "true"}))
    return tuple(found)


def named(label: str) -> Algorithm:
    """The algorithm with this name or label."""
    return next(one for one in algorithms() if label in (one.label, one.name))
