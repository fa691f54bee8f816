"""Moving pictures of results: films, and pages that play in a browser.

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
from lightlag.files.output import new_file
from lightlag.records.records import Records
from lightlag.swarm import paths as swarm_paths
from lightlag.swarm import player as swarm_player
from lightlag.swarm import plot as swarm_plot

__all__ = ["PICTURES", "check", "is_moving", "write"]

Progress = Callable[[int, int], None]

_PAGE = ".html"
_PICTURES = 150
"""Of a film: 15 s of it."""


def check(metric: str, path: str | os.PathLike[str]) -> None:
    """Fails if neither a figure nor a moving picture of a metric that has both can have the suffix of a file."""
    path = Path(path)
    possible = (*style.SUFFIXES, *films.WRITERS, _PAGE)
    if metric in PICTURES and path.suffix.lower() not in possible:
        raise InputError(
            f'{path}: "{path.suffix}" is not a format of figures, films or pages; end the name in {", ".join(possible)}'
        )


def is_moving(path: str | os.PathLike[str]) -> bool:
    """Whether the suffix of a file is that of a film or of a page."""
    return Path(path).suffix.lower() in (*films.WRITERS, _PAGE)


def write(result: Records, metric: str, path: str | os.PathLike[str], progress: Progress | None = None) -> Path:
    """Writes a film (.gif, .mp4) or a page (.html) of a whole run.

    Parameters
    ----------
    metric
        ``"globe"`` of a constellation, ``"swarm"`` of radio media.
    progress
        Called with the number of pictures done and that of all.
    """
    if metric not in PICTURES:
        names = ", ".join(PICTURES)
        raise InputError(f'no moving picture of "{metric}"; there are {names}. A figure ends with .pdf, .svg or .png')
    return PICTURES[metric](result, Path(path), progress)


def _globe(result: Records, path: Path, progress: Progress | None) -> Path:
    if not result.scenario.get("constellation"):
        raise InputError(f"{result.name}: no constellation; a globe is that of a run through a sky")
    sky = constellation.sky(result.scenario)
    if path.suffix.lower() == _PAGE:
        return sky.player(path, result=result, title=f"{result.name}, seed {result.seed}")
    return constellation_plot.film(
        sky, path, until_s=result.simulated_s, every_s=_step(result), result=result, progress=progress
    )


def _swarm(result: Records, path: Path, progress: Progress | None) -> Path:
    radio, paths = swarm_paths.radio_of(result.scenario), result.paths
    if path.suffix.lower() == _PAGE:
        text = swarm_player.page(result.positions, title=result.name, radio=radio, paths=paths)
        with new_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
        return path
    return swarm_plot.animate(
        result.positions, path, every_s=_step(result), radio=radio, paths=paths, progress=progress
    )


def _step(result: Records) -> float:
    """Simulated seconds from picture to picture."""
    return max(result.simulated_s / _PICTURES, 0.1)


PICTURES: dict[str, Callable[[Records, Path, Progress | None], Path]] = {"globe": _globe, "swarm": _swarm}
"""Moving pictures of a result by metric."""
