"""The sky of a scenario: its satellites, who sees them, and the ways between its stations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lightlag.constellation.ephemeris import Ephemeris
from lightlag.errors import InputError
from lightlag.files.output import new_file
from lightlag.records.records import Records
from lightlag.scenario import ScenarioLike, read_scenario

__all__ = ["Sky", "sky", "sky_of"]


def sky(scenario: ScenarioLike) -> Sky:
    """The sky of a scenario with a constellation: a file, the name of a preset, or any other form.

    Raises
    ------
    InputError
        If the scenario has no constellation.
    """
    found = read_scenario(scenario).sky()
    if found is None:
        raise InputError("the scenario has no constellation; write [constellation] and [[stations]], or name a preset")
    return Sky(found)


def sky_of(run: Records) -> Sky:
    """The sky through which the flows of a run went.

    Raises
    ------
    InputError
        If its scenario has no constellation.
    """
    found = run.source.sky()
    if found is None:
        # A folder keeps no sky: its scenario tells it.
        found = read_scenario(run.scenario).sky()
    if found is None:
        raise InputError(f"{run.name}: no constellation; write [constellation] and [[stations]]")
    return Sky(found)


class Sky(Ephemeris):
    """Satellites and ground stations. :func:`sky` makes one of a scenario."""

    def player(
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
            Pairs of stations whose ways are drawn; by default the first station with each of the others.
        until_s
            The time at which the player ends, in seconds from the start on.
        step_s
            Seconds between two stored positions; by default 10, or more where the page would grow large.
        result
            A run through this sky, whose flows are drawn instead of pairs, with their round trips, goodput and windows.
        """
        from lightlag.constellation import player as constellation_player

        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise InputError(f'{path}: "{path.suffix}" is not a format of players; end the name in .html')
        text = constellation_player.page(self, pairs=pairs, until_s=until_s, step_s=step_s, title=title, result=result)
        with new_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
        return path
