"""``lightlag plot``: figures of results, of one or of several over each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lightlag._text import printable, say
from lightlag.errors import InputError

if TYPE_CHECKING:
    from lightlag.comparison import Comparison
    from lightlag.results import Result


def plot(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Results folders: several of one kind are drawn together.")
    ],
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            "-m",
            help="cwnd (default), goodput, sequence, rtt or queue; of one run also swarm, airtime or routes of radios,"
            " globe or handovers of a constellation; of comparisons any of their figures.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Figure to write: .pdf, .svg or .png; of globe and swarm also a film, .gif or .mp4, or a page that"
            " plays, .html. Default: DIR/METRIC.pdf; of several METRIC.pdf",
        ),
    ] = None,
) -> None:
    r"""Draw a figure of a results folder, or of several over each other.

    \b
    lightlag plot results/geo -m cwnd -o cwnd.pdf
    lightlag plot results/cubic results/hybla -m goodput -o both.pdf    a line for each folder and flow
    lightlag plot results/old-compare results/new-compare -m bars       the algorithms of both side by side
    """
    from lightlag import overlay
    from lightlag.comparison import Comparison
    from lightlag.difference import read_result
    from lightlag.results import Result
    from lightlag.study import StudyResults

    read = [read_result(folder) for folder in folders]
    found = [one.comparison() if isinstance(one, StudyResults) else one for one in read]
    if isinstance(found[0], Comparison):
        _of_comparisons(overlay.named(found, Comparison), metric, out, folders)
    else:
        _of_runs(overlay.named(found, Result), "cwnd" if metric is None else metric, out, folders)


def _of_comparisons(found: dict[str, Comparison], metric: str | None, out: Path | None, folders: list[Path]) -> None:
    from lightlag import overlay

    comparison = overlay.merged(found)
    metric = comparison.figures[0] if metric is None else metric
    path = _path(metric, out, folders)
    comparison.plot(metric, path)
    say(path)


def _of_runs(found: dict[str, Result], metric: str, out: Path | None, folders: list[Path]) -> None:
    from lightlag import _progress, moving
    from lightlag.plot import FIGURES
    from lightlag.style import save

    path = _path(metric, out, folders)
    moving.check(metric, path)
    if moving.is_moving(path):
        if len(found) > 1:
            raise InputError(f"{printable(path)}: films and pages show one result; name one folder, or a figure")
        (result,) = found.values()
        with _progress.of_count(path.name, shown=True) as progress:
            moving.write(result, metric, path, progress)
    else:
        if metric not in FIGURES:
            raise InputError(f'no figure of "{metric}"; there are {", ".join(FIGURES)}')
        save(FIGURES[metric](found), path)
    say(path)


def _path(metric: str, out: Path | None, folders: list[Path]) -> Path:
    if out is not None:
        return out
    return folders[0] / f"{metric}.pdf" if len(folders) == 1 else Path(f"{metric}.pdf")
