"""Comparison with measurements of real links and of a real kernel: a scorecard with one row per measured fact.

``lightlag validate measured`` runs models of the measured paths, prints a verdict for each fact and writes the pages
``docs/validation/measured.md`` and ``docs/validation/satellite-access.md``.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine, _signals
from lightlag.errors import InputError
from lightlag.text.terminal import meant
from lightlag_papers.kept import KeptRuns
from lightlag_papers.paper import status
from lightlag_papers.validation import pages
from lightlag_papers.validation.measured.fact import COLUMNS, Section, Verdict
from lightlag_papers.validation.measured.runs import Work

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["SECTIONS", "Scorecard", "validate"]

SECTIONS: Mapping[str, str] = {
    "netem": "netem",
    "hystart": "hystart",
    "starlink": "starlink",
    "geo": "geo",
    "pages": "loads",
}
"""The modules of the sections by name."""

KEPT = Path("results/measured.jsonl")
"""The file in which finished runs are stored until the scorecard is complete."""


@dataclass
class Scorecard:
    """All rows of the scorecard, by section."""

    sections: Sequence[Section] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """Returns all rows as plain values for JSON."""
        from lightlag_papers.validation.measured.page import counts

        agree, differ, rest = counts(self.sections)
        return {
            "validated": "measured",
            "version": _engine.__version__,
            "agrees": agree,
            "differs": differ,
            "no_verdict": rest,
            "sections": [one.record() for one in self.sections],
        }

    def failures(self) -> list[str]:
        """Returns one line for each row that differs."""
        return [
            f"{fact.source}; {fact.setting}; {fact.quantity}: {fact.reason}"
            for one in self.sections
            for fact in one.facts
            if fact.verdict is Verdict.DIFFERS
        ]


def validate(
    out: str | os.PathLike[str] | None,
    *,
    section: str | None = None,
    data: str | os.PathLike[str] | None = None,
    scenario: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    kept: str | os.PathLike[str] = KEPT,
    quiet: bool = True,
) -> Scorecard:
    """Compares every measured fact, prints the rows and writes the page with its figures.

    Parameters
    ----------
    out
        The directory for the pages; None to write none.
    section
        Name of the only section to run.
    data
        Directory with the user's own measurements, which are compared instead of the measured facts of this package.
    scenario
        Scenario file for `data`; by default a path is fitted to the first half of each measurement.
    jobs
        Number of simultaneous runs.
    kept
        File with finished runs. After an interruption, the same call makes only the remaining ones.
    quiet
        Print nothing. Otherwise the rows are printed to stdout, and the current step to stderr.

    Raises
    ------
    InputError
        If there is no such section, the directory cannot be created, or `data` holds no measurement.
    """
    if section is not None and section not in SECTIONS:
        raise InputError(f'no section "{section}"; {meant(section, SECTIONS)}name one of {", ".join(SECTIONS)}')
    folder = None if out is None else Path(out)
    if folder is not None:
        pages.check_folder(folder)
    store = KeptRuns(Path(kept))
    names = SECTIONS if section is None else [section]
    card = Scorecard()
    with (
        tempfile.TemporaryDirectory(prefix=".lightlag-measured-") as directory,
        status(shown=not quiet) as progress,
        _signals.telling(store.told),
    ):
        work = Work(Path(directory), jobs, None if data is not None else store, progress)
        if data is not None:
            from lightlag_papers.validation.measured import own

            given = None if scenario is None else Path(scenario)
            card.sections = [own.section(work, Path(data), given)]
            names = []
        for name in names:
            module = importlib.import_module(f"{__name__}.{SECTIONS[name]}")
            card.sections = [*card.sections, module.section(work)]
    if folder is not None:
        write(card, folder)
    if section is None and data is None:
        store.remove()
    if not quiet:
        from rich.console import Console

        show(card, Console())
        if folder is not None:
            print(f"{folder / 'measured.md'}: is written")
    return card


def write(card: Scorecard, folder: Path) -> None:
    """Writes the page with its figures, and the rows as JSON, except among the pages of the documentation."""
    import json

    from lightlag.files.output import write_text
    from lightlag_papers.validation.measured.page import measured_page
    from lightlag_papers.validation.measured.satellite import satellite_page

    written = {"measured": measured_page(card.sections)}
    for one in card.sections:
        if one.name == "pages":
            written["satellite-access"] = satellite_page(one)
    pages.write(folder, written)
    images = folder / "images"
    for one in card.sections:
        for picture in one.figures:
            images.mkdir(exist_ok=True)
            picture.save(images / f"{picture.name}.png")
    if folder == pages.FOLDER:
        return
    write_text(folder / "measured.json", json.dumps(card.record(), indent=1, ensure_ascii=False) + "\n")


def show(card: Scorecard, console: Console) -> None:
    """Prints the rows of each section, without reasons, and the reasons of those that differ."""
    from rich.table import Table
    from rich.text import Text

    from lightlag_papers.validation.measured.page import counts

    for one in card.sections:
        table = Table(*COLUMNS[:-1], title=one.title, title_justify="left", title_style="bold")
        for fact in one.facts:
            style = "red" if fact.verdict is Verdict.DIFFERS else ""
            table.add_row(*(Text(cell.strip("*"), style) for cell in fact.cells()[:-1]))
        console.print(table)
    for line in card.failures():
        console.print(f"[red]differs[/] {line}", highlight=False, soft_wrap=True)
    agree, differ, rest = counts(card.sections)
    console.print(f"{agree} of {agree + differ} measured facts agree; {rest} no verdict", highlight=False)
