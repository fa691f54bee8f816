"""The scenarios of the judges, and the commands that run them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

import lightlag as ll

FOLDER = Path(__file__).parent
SHOWN = "papers/lightlag_papers/validation"
"""The folder as seen from the top of the repository."""


@dataclass(frozen=True)
class Run:
    """A scenario with changes.

    Attributes
    ----------
    scenario
        Name of a file in this folder.
    sets
        Changes, by dotted path.
    """

    scenario: str
    sets: dict[str, str] = field(default_factory=dict)

    def result(self) -> ll.Result:
        """Run it."""
        return ll.run(FOLDER / f"{self.scenario}.toml", seed=1, sets=self.sets)

    @property
    def command(self) -> str:
        """The same run by hand; a long list of loss times is shortened."""
        sets = [f"--set {shlex.quote(f'{key}={_short(value)}')}" for key, value in self.sets.items()]
        return " ".join([f"lightlag run {SHOWN}/{self.scenario}.toml", *sets])


def _short(value: str) -> str:
    times = value.split(", ")
    return value if len(times) < 6 else ", ".join([*times[:2], "…", times[-2], times[-1]])
