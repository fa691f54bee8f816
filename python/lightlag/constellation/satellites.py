"""The constellation of a scenario: its satellites, their visibility, and the paths between its stations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lightlag._renamed import renamed
from lightlag.constellation.ephemeris import Ephemeris
from lightlag.errors import InputError
from lightlag.files.output import write_text
from lightlag.records.records import Records
from lightlag.scenario import ScenarioLike, read_scenario

__all__ = ["Sky", "sky", "sky_of"]


def sky(scenario: ScenarioLike) -> Sky:
    """Returns the constellation of a scenario: a file, the name of a preset, or any other form.

    Raises
    ------
    InputError
        If the scenario has no constellation.
    """
    found = read_scenario(scenario).sky()
    if found is None:
        raise InputError(
            "the scenario has no constellation; write [constellation] and [[stations]], or name a preset such as "
            "starlink-550"
        )
    return Sky(found)


def sky_of(run: Records) -> Sky:
    """Returns the constellation that carried the flows of a run.

    Raises
    ------
    InputError
        If the scenario of the run has no constellation.
    """
    found = run.source.sky()
    if found is None:
        # A results directory stores no constellation; its scenario defines it.
        found = read_scenario(run.scenario).sky()
    if found is None:
        raise InputError(f"{run.name}: no constellation; write [constellation] and [[stations]]")
    return Sky(found)


class Sky(Ephemeris):
    """Satellites and ground stations. :func:`sky` creates one from a scenario."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            raise AttributeError(renamed(f"Sky.{name}") or f"{type(self).__name__!r} object has no attribute {name!r}")

    def animation(
        self,
        path: str | os.PathLike[str],
        *,
        pairs: Sequence[tuple[str, str]] = (),
        until_s: float = 60.0,
        step_s: float | None = None,
        title: str = "Constellation",
        result: Records | None = None,
    ) -> Path:
        """Writes an HTML page with a globe that turns and plays; see :func:`lightlag.constellation.player.page`.

        Parameters
        ----------
        path
            The file, which is replaced if it exists.
        pairs
            Pairs of stations whose paths are shown; by default the first station with each of the others.
        until_s
            End of the animation, in seconds since the start.
        step_s
            Seconds between two stored positions; by default 10, or more where the page would grow large.
        result
            A run over this constellation, whose flows are shown instead of pairs, with their round trips, goodput and
            windows.
        """
        from lightlag.constellation import player as constellation_player

        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise InputError(f'{path}: "{path.suffix}" is not a format of animations; end the name in .html')
        text = constellation_player.page(self, pairs=pairs, until_s=until_s, step_s=step_s, title=title, result=result)
        write_text(path, text)
        return path
