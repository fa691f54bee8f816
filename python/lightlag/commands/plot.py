"""``lightlag plot``: figures of results, of one or of several over each other."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from lightlag.commands import figures
from lightlag.commands.figures import Dpi, Font, Force, Format, Height, Label, Style, Titles, Width
from lightlag.errors import InputError
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag.comparison.comparison import Comparison
    from lightlag.drawing.style import Chart
    from lightlag.results.result import Result


def plot(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR...", help="Results directories; several of one kind share a figure.", show_default=False
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="cwnd (default), goodput, sequence, rtt or queue; for one run also swarm, airtime or routes of "
            "radios, globe or handovers of a constellation, waterfall of a page; for comparisons and studies bars, "
            "goodput-vs-loss, goodput-heatmap and others, which --list shows. "
            "Several, separated by commas or repeated, are panels of one figure.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Figure to write: .pdf, .svg, .png or .pgf; for globe and swarm also an animation: .gif, .mp4"
            " or .html. Default: DIR/METRIC.pdf; for several METRIC.pdf",
        ),
    ] = None,
    separate: Annotated[
        bool, typer.Option("--separate", help="A panel per results directory, instead of all in one.")
    ] = False,
    format: Format = None,
    style: Style = "plain",
    width: Width = None,
    height: Height = None,
    font: Font = None,
    titles: Titles = None,
    dpi: Dpi = None,
    label: Label = None,
    caption: Annotated[
        bool, typer.Option("--caption", help="Write the caption, ready for LaTeX, next to the figure: FIGURE.txt.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List the figures of DIR, with units, instead of plotting; without DIR all.")
    ] = False,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="DIR|URL", help="Store of the runs of a study. Default: store next to DIR."),
    ] = None,
    force: Force = False,
) -> None:
    r"""Plot results: of one directory, or of several in one figure.

    \b
    lightlag plot results/geo -m cwnd -o cwnd.pdf
    lightlag plot results/cubic results/hybla -m goodput -o both.pdf    a line per directory and flow
    lightlag plot results/geo -m cwnd,rtt,goodput,queue                 2 x 2 panels over the same time
    lightlag plot results/geo --style ieee --format pgf                 a column of a paper, for LaTeX
    lightlag plot results/geo --width 3.5in --font serif -o cwnd.svg
    lightlag plot results/old-compare results/new-compare -m bars       the algorithms of both side by side
    lightlag plot results/old-compare results/new-compare --separate    a panel for each, with the same scales
    lightlag plot results/geo-compare -m goodput,completion,cwnd        several figures of a comparison
    lightlag plot results/grid -m goodput-heatmap                       two variables, a panel per algorithm
    lightlag plot results/geo-compare -m bars --label cubic="CUBIC (Linux)" --caption
    lightlag plot results/geo-compare --list
    """
    from lightlag.comparison.comparison import Comparison
    from lightlag.difference.difference import check_store, read_result
    from lightlag.drawing import looks, names
    from lightlag.plot import overlay
    from lightlag.results.result import Result
    from lightlag.study import StudyResults

    folders = folders or []
    if not folders and not list_:
        raise InputError("no results directory; name one, such as results/geo, or list all figures with --list")
    metrics = None if not metric else _metrics(",".join(metric))
    _check_folders(folders, metrics or [])
    look = looks.of(style, width=width, height=height, font=font, titles=titles, dpi=dpi)
    labels = names.of_options(label)
    read = [read_result(folder) for folder in folders]
    check_store(store, read)
    found = [one.comparison(store) if isinstance(one, StudyResults) else one for one in read]
    if list_:
        _list(dict(zip(map(str, folders), found, strict=True)))
        return
    target = _Target(out, format, folders, force, caption)
    with looks.within(look), names.within(labels):
        if isinstance(found[0], Comparison):
            _of_comparisons(overlay.named(found, Comparison), metrics, separate, target)
        else:
            _of_runs(overlay.named(found, Result), metrics or ["cwnd"], separate, target)


def _list(found: Mapping[str, Comparison | Result]) -> None:
    """Prints the figures of each result, or all figures if there is none."""
    from lightlag.plot import listing
    from lightlag.text.table import print_rows

    for name, result in found.items():
        print_rows(result.plots().rows(), f"figures of {name}")
    if not found:
        print_rows(listing.possible().rows(), "figures of runs, comparisons and studies; -m takes their names")


def _metrics(metric: str) -> list[str]:
    return [name.strip() for name in metric.split(",")]


def _check_folders(folders: list[Path], metrics: list[str]) -> None:
    """Fails if a missing directory has the name of a figure: figures are one argument, with commas between them."""
    from lightlag.records.records import Metric

    for folder in folders:
        if str(folder) in get_args(Metric) and not folder.exists():
            raise InputError(f"{folder}: is a figure, not a directory; write -m {','.join([*metrics, str(folder)])}")


@dataclass(frozen=True)
class _Target:
    """Destination of a figure, from the options of the command."""

    out: Path | None
    format: str | None
    folders: list[Path]
    force: bool
    with_caption: bool = False

    def path(self, metric: str) -> Path:
        """The file of a figure.

        Raises
        ------
        FileExistsError
            If the file must not be replaced.
        """
        from lightlag.drawing.style import format_of
        from lightlag.files.output import check_file, is_stream
        from lightlag.plot import moving

        path = self._path(metric)
        if not is_stream(path):
            moving.check(metric, path)
            if not moving.is_moving(path):
                format_of(path)
        check_file(path, force=self.force, inputs=self.folders)
        if self.with_caption:
            if is_stream(path) or moving.is_moving(path):
                raise InputError(f"--caption: {printable(path)} is not a file of a figure; name one with --out")
            check_file(_caption_file(path), force=self.force, inputs=self.folders, header=_CAPTION_HEAD)
        return path

    def _path(self, metric: str) -> Path:
        if self.out is not None:
            return figures.with_suffix(self.out, self.format)
        name = f"{metric.replace(',', '-')}{figures.suffix(self.format) or '.pdf'}"
        return self.folders[0] / name if len(self.folders) == 1 else Path(name)

    def save(self, figure: Chart, path: Path) -> None:
        """Writes a figure and its caption; a file without a suffix, such as a pipe, gets the format of ``--format``.

        Raises
        ------
        InputError
            If a label names nothing in the figure.
        """
        from lightlag.drawing import names
        from lightlag.drawing.style import format_of, save
        from lightlag.files.output import say_written, write_text
        from lightlag.text.terminal import say

        names.check_used()
        named = (figures.suffix(self.format) or "")[1:]
        save(figure, path, format_of(path) if path.suffix or not named else named)
        if self.with_caption:
            write_text(_caption_file(path), f"{_CAPTION_HEAD}\n{figure.latex_caption}\n")
        say_written(path)
        if figure.caption:
            say(f"caption: {figure.caption}", file=sys.stderr)


_CAPTION_HEAD = "% Caption of a figure of lightlag: \\caption{\\protect\\input{THIS FILE}}"
"""First line of a file with a caption: a comment of LaTeX."""


def _caption_file(figure: Path) -> Path:
    return figure.with_suffix(".txt")


def _of_comparisons(found: dict[str, Comparison], metrics: list[str] | None, separate: bool, target: _Target) -> None:
    from lightlag.plot import comparisons, facets

    if metrics is None:
        metrics = [next(iter(found.values())).figures[0]]
    path = target.path(",".join(metrics))
    if len(metrics) > 1 or (separate and len(found) > 1):
        target.save(facets(found, metrics, separate=separate), path)
    else:
        target.save(comparisons(found, metrics[0]), path)


def _of_runs(found: dict[str, Result], metrics: list[str], separate: bool, target: _Target) -> None:
    from lightlag.files.output import say_written
    from lightlag.plot import FIGURES, facets, moving
    from lightlag.text import progress as _progress

    metric = ",".join(metrics)
    if len(metrics) == 1 and metric not in {*FIGURES, *moving.PICTURES}:
        raise InputError(f'no figure of "{metric}"; there are {", ".join(FIGURES)}')
    path = target.path(metric)
    if moving.is_moving(path):
        if len(found) > 1:
            raise InputError(f"{printable(path)}: animations show one result; name one directory, or a figure")
        (result,) = found.values()
        with _progress.of_count(path.name, shown=True) as progress:
            moving.write(result, metric, path, progress)
        say_written(path)
    elif len(metrics) > 1 or (separate and len(found) > 1):
        target.save(facets(found, metrics, separate=separate), path)
    else:
        target.save(FIGURES[metric](found), path)
