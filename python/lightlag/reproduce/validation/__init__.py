"""Judges: what lightlag measures beside what closed forms and papers say, as ``docs/validation.md``.

``lightlag validate tcp`` runs them all, prints the tables and writes the page.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from lightlag.errors import InputError
from lightlag.reproduce.paper import Effort, status
from lightlag.reproduce.validation.judge import Judgement
from lightlag.reproduce.validation.marked import sections, with_section
from lightlag.reproduce.validation.page import Findings, document, image

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Findings", "Judgement", "document", "validate"]


def validate(out: str | os.PathLike[str], *, jobs: int = 1, seeds: int | None = None, quiet: bool = True) -> Findings:
    """Run every judge and every paper, and write the page with its figures.

    Parameters
    ----------
    out
        The page, a Markdown file in a folder that exists. Figures go to ``images`` beside it.
    jobs
        Runs at a time.
    seeds
        Runs for each item of a paper that has a spread; by default what its check asks for.
    quiet
        Print nothing; otherwise the tables to stdout, and to stderr what is done next.
    """
    from lightlag.reproduce import PAPERS
    from lightlag.reproduce.validation import judges, response, transport

    path = Path(out)
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it, or name another file with --out")
    with status(shown=not quiet) as progress:
        effort = Effort(seeds, jobs, progress)
        progress("closed forms")
        found = Findings(closed_forms=judges.all_judgements(effort))
        progress("windows under random losses")
        found.cells = response.cells(effort)
        progress("congestion control as a whole")
        found.transport = transport.all_judgements(effort)
        for paper in PAPERS.values():
            progress(paper.title)
            found.papers = [*found.papers, paper.reproduce(jobs=jobs, seeds=seeds)]
    _write(found, path)
    if not quiet:
        from rich.console import Console

        _print(found, Console())
        print(f"{path}: {len(found.failures())} of the judgements do not hold")
    return found


def _write(found: Findings, path: Path) -> None:
    """The page and its figures."""
    from lightlag._writing import new_file

    # What other commands have measured stays.
    kept = sections(path.read_text("utf-8")) if path.exists() else []
    with new_file(path) as partial:
        partial.write_text(reduce(with_section, kept, document(found)), "utf-8")
    for paper in found.papers:
        for picture in paper.pictures:
            figure = path.parent / image(paper, picture)
            figure.parent.mkdir(exist_ok=True)
            picture.save(figure)


def _print(found: Findings, console: Console) -> None:
    """The tables of algorithms, what is missing, and what does not hold."""
    from lightlag.reproduce.validation import page, response

    console.print(_rich("Mean window under random losses", page.RESPONSE_HEADER, page.response_lines(found.cells)))
    lines = [(j.judge, j.point, j.ours, j.theory, j.deviation, j.verdict) for j in found.transport]
    header = ("judge", "point", "lightlag", "theory", "deviation", "verdict")
    console.print(_rich("Congestion control as a whole", header, lines))
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
