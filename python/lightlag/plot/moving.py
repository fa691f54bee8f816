"""Animations of results: films, and pages that play in a browser.

Examples
--------
>>> import lightlag as ll
>>> from lightlag.plot import moving
>>> moving.is_moving("globe.gif"), moving.is_moving("globe.pdf")
(True, False)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from lightlag.constellation import plot as constellation_plot
from lightlag.constellation import satellites as constellation
from lightlag.drawing import films, style
from lightlag.errors import InputError
from lightlag.files.output import write_text
from lightlag.records.records import Records
from lightlag.swarm import paths as swarm_paths
from lightlag.swarm import player as swarm_player
from lightlag.swarm import plot as swarm_plot

__all__ = ["PICTURES", "check", "is_moving", "write"]

Progress = Callable[[int, int], None]

_PAGE = ".html"
_PICTURES = 150
"""Number of frames of a film, which lasts 15 s."""


def check(metric: str, path: str | os.PathLike[str]) -> None:
    """Fails if the suffix of a file is valid neither for a figure nor for an animation of the metric."""
    path = Path(path)
    possible = (*style.SUFFIXES, *films.WRITERS, _PAGE)
    if metric in PICTURES and path.suffix.lower() not in possible:
        raise InputError(
            f'{path}: "{path.suffix}" is not a format of figures, films or pages; end the name in {", ".join(possible)}'
        )


def is_moving(path: str | os.PathLike[str]) -> bool:
    """Returns true if the suffix of a file belongs to a film or a page."""
    return Path(path).suffix.lower() in (*films.WRITERS, _PAGE)


def write(result: Records, metric: str, path: str | os.PathLike[str], progress: Progress | None = None) -> Path:
    """Writes a film (.gif, .mp4) or a page (.html) of an entire run.

    Parameters
    ----------
    metric
        ``"globe"`` for a constellation, ``"swarm"`` for radio media.
    progress
        Called with the number of finished frames and the total.
    """
    if metric not in PICTURES:
        names = ", ".join(PICTURES)
        raise InputError(
            f'no animation of "{metric}"; there are {names}. The name of a figure ends with .pdf, .svg or .png'
        )
    return PICTURES[metric](result, Path(path), progress)


def _globe(result: Records, path: Path, progress: Progress | None) -> Path:
    if not result.scenario.get("constellation"):
        raise InputError(f"{result.name}: no constellation; a globe needs one")
    sky = constellation.sky(result.scenario)
    if path.suffix.lower() == _PAGE:
        return sky.animation(path, result=result, title=f"{result.name}, seed {result.seed}")
    return constellation_plot.film(
        sky, path, until_s=result.simulated_s, every_s=_step(result), result=result, progress=progress
    )


def _swarm(result: Records, path: Path, progress: Progress | None) -> Path:
    radio, paths = swarm_paths.radio_of(result.scenario), result.paths
    if path.suffix.lower() == _PAGE:
        text = swarm_player.page(result.positions, title=result.name, radio=radio, paths=paths)
        write_text(path, text)
        return path
    return swarm_plot.animate(
        result.positions, path, every_s=_step(result), radio=radio, paths=paths, progress=progress
    )


def _step(result: Records) -> float:
    """Returns the simulated seconds between two frames."""
    return max(result.simulated_s / _PICTURES, 0.1)


PICTURES: dict[str, Callable[[Records, Path, Progress | None], Path]] = {"globe": _globe, "swarm": _swarm}
"""Functions that write the animations of a result, by metric."""
