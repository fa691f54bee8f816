"""The scenarios of the validation, and the commands that run them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

import lightlag as ll

FOLDER = Path(__file__).parent
SHOWN = "papers/lightlag_papers/validation"
"""The directory of the scenarios, relative to the top of the repository."""


@dataclass(frozen=True)
class Run:
    """A scenario with changes.

    Attributes
    ----------
    scenario
        Name of a file in this directory.
    sets
        Changes, by dotted path.
    """

    scenario: str
    sets: dict[str, str] = field(default_factory=dict)

    def result(self) -> ll.Result:
        """Runs the scenario."""
        return ll.run(FOLDER / f"{self.scenario}.toml", seed=1, sets=self.sets)

    @property
    def command(self) -> str:
        """The command that makes the same run; a long list of loss times is shortened."""
        sets = [f"--set {shlex.quote(f'{key}={_short(value)}')}" for key, value in self.sets.items()]
        return " ".join([f"lightlag run {SHOWN}/{self.scenario}.toml", *sets])


def _short(value: str) -> str:
    times = value.split(", ")
    return value if len(times) < 6 else ", ".join([*times[:2], "…", times[-2], times[-1]])
