"""Validation: lightlag's results compared with closed forms and papers, as the pages of ``docs/validation``.

``lightlag validate tcp`` runs all comparisons, prints the tables and writes the pages.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lightlag_papers.paper import Effort, status
from lightlag_papers.validation import findings, pages
from lightlag_papers.validation.checks import Check
from lightlag_papers.validation.findings import Findings, image

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Check", "Findings", "validate"]


def validate(out: str | os.PathLike[str], *, jobs: int = 1, seeds: int | None = None, quiet: bool = True) -> Findings:
    """Runs every check and every paper, and writes their pages with the figures.

    Parameters
    ----------
    out
        The directory for the pages; its parent must exist. Figures are written to its subdirectory ``images``, and the
        index next to the directory.
    jobs
        Number of simultaneous runs.
    seeds
        Number of runs for each item of a paper with a spread; by default set by the item's check.
    quiet
        Print nothing. Otherwise the tables are printed to stdout, and the current step to stderr.
    """
    from lightlag_papers import PAPERS
    from lightlag_papers.validation import references, response, transport

    folder = Path(out)
    pages.check_folder(folder)
    with status(shown=not quiet) as progress:
        effort = Effort(seeds, jobs, progress)
        progress("closed forms")
        found = Findings(closed_forms=references.all_checks(effort))
        progress("windows under random losses")
        found.cells = response.cells(effort)
        progress("congestion control as a whole")
        found.transport = transport.all_checks(effort)
        for paper in PAPERS.values():
            progress(paper.title)
            found.papers = [*found.papers, paper.reproduce(jobs=jobs, seeds=seeds)]
    _write(found, folder)
    if not quiet:
        from rich.console import Console

        _print(found, Console())
        print(f"{pages.index_of(folder)}: {len(found.failures())} of the checks do not hold")
    return found


def _write(found: Findings, folder: Path) -> None:
    """Writes the pages and their figures."""
    pages.write(folder, findings.pages(found))
    for paper in found.papers:
        for picture in paper.figures:
            figure = folder / image(paper, picture)
            figure.parent.mkdir(exist_ok=True)
            picture.save(figure)


def _print(found: Findings, console: Console) -> None:
    """Prints the tables of algorithms, the algorithms that were left out, and the checks that do not hold."""
    from lightlag_papers.validation import response

    header, cells = findings.RESPONSE_HEADER, findings.response_lines(found.cells)
    console.print(_rich("Mean window under random losses", header, cells))
    lines = [(j.reference, j.point, j.ours, j.theory, j.deviation, j.verdict) for j in found.transport]
    header = ("quantity", "point", "lightlag", "theory", "deviation", "verdict")
    console.print(_rich("Complete algorithms", header, lines))
    if absent := response.missing():
        console.print(f"not in this version, and left out: {', '.join(absent)}")
    for line in found.failures():
        console.print(f"[red]does not hold[/] {line}", highlight=False)


def _rich(title: str, header: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> object:
    from rich.table import Table
    from rich.text import Text

    table = Table(*header, title=title, title_justify="left", title_style="bold")
    for line in lines:
        table.add_row(*(Text(cell.strip("*"), "red" if cell.startswith("**") else "") for cell in line))
    return table
