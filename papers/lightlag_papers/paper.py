"""A paper that can be reproduced, and its reproduction."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lightlag import _engine, _signals
from lightlag.records import origin
from lightlag_papers import table
from lightlag_papers.kept import KeptRuns
from lightlag_papers.readings import NAME as READINGS
from lightlag_papers.table import Layout, Row, Tally

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K")

Progress = Callable[[str], object]
"""Callback that receives the description of the next step."""


@dataclass(frozen=True)
class Effort:
    """The effort of a reproduction.

    Attributes
    ----------
    seeds
        Number of runs for each item with a spread; with None the number set by the item's check.
    jobs
        Number of simultaneous runs.
    progress
        Called with the description of the next step.
    kept
        The finished runs, if the reproduction stores them; otherwise None.
    """

    seeds: int | None = None
    jobs: int = 1
    progress: Progress = lambda _: None
    kept: KeptRuns | None = None

    def seeds_of(self, asked: int) -> range:
        """Returns the seeds of an item: 1, 2, ... up to the number of runs."""
        return range(1, 1 + (asked if self.seeds is None else self.seeds))

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Applies a function to items in parallel, and returns the results in order.

        Threads are enough, because a run does not hold the GIL.
        """
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(work, items))

    def collect(self, work: Callable[[T], R], runs: Iterable[T], key: Callable[[T], K]) -> dict[K, list[R]]:
        """Executes runs in parallel and collects the results by key; runs with equal keys differ only in the seed."""
        wanted = list(runs)
        found: dict[K, list[R]] = {}
        for run, result in zip(wanted, self.map(work, wanted), strict=True):
            found.setdefault(key(run), []).append(result)
        return found


@dataclass(frozen=True)
class Picture:
    """A figure with its file name and caption.

    Attributes
    ----------
    figure
        The figure; None if it is already stored in the reproduction's directory.
    """

    name: str
    figure: Figure | None
    caption: str

    def save(self, path: Path) -> None:
        """Writes the figure in the format of the path's suffix."""
        from lightlag import plot

        assert self.figure is not None, "what is drawn already is copied"
        plot.save(self.figure, path)


@dataclass
class Reproduction:
    """A reproduction: the table and the figures of a paper.

    Attributes
    ----------
    paper
        The paper.
    rows
        The rows of the table: the paper's value, theory, our value, and verdict.
    layouts
        Tables in the paper's own layout.
    figures
        The figures.
    notes
        Paragraphs about choices that the paper left open and about the findings.
    lead
        The paragraph before the table, on the paper's best reading. Empty if there is only one reading.
    kept
        The directory in which the reproduction is already stored; None if it is not.
    """

    paper: Paper
    rows: list[Row] = field(default_factory=list)
    layouts: list[Layout] = field(default_factory=list)
    figures: list[Picture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lead: str = ""
    kept: Path | None = None

    @classmethod
    def restored(cls, paper: Paper, record: Mapping[str, Any], kept: Path) -> Reproduction:
        """Restores a saved reproduction from its directory and the values of :meth:`record`.

        Raises
        ------
        KeyError, TypeError, ValueError
            If the values are not from :meth:`record`.
        """
        return cls(
            paper,
            [Row.of_cells([line[name] for name in table.COLUMNS]) for line in record["rows"]],
            [
                Layout(one["name"], one["title"], tuple(one["header"]), tuple(map(tuple, one["lines"])))
                for one in record["tables"]
            ],
            [Picture(one["name"], None, one["caption"]) for one in record["figures"]],
            list(record["notes"]),
            record["lead"],
            kept,
        )

    def add(self, rows: Sequence[Row], pictures: Sequence[Picture] = (), notes: Sequence[str] = ()) -> None:
        """Adds the rows, figures and notes of an item."""
        self.rows += rows
        self.figures += pictures
        self.notes += notes

    @property
    def tally(self) -> Tally:
        """The number of rows with each verdict."""
        return Tally.of(self.rows)

    def report(self) -> str:
        """Returns the reproduction as Markdown."""
        parts = [f"# {self.paper.title}\n", f"{self.paper.reference}\n", f"    {self.paper.command}\n"]
        parts.append(f"{self.summary()}\n")
        if self.lead:
            parts.append(f"{self.lead}\n")
        parts.append(table.to_markdown(self.rows))
        for layout in self.layouts:
            parts += [f"## {layout.title}\n", table.markdown_table(layout.header, layout.lines)]
        if self.notes:
            parts.append("## Notes\n")
            parts += [f"{note}\n" for note in self.notes]
        if self.figures:
            parts.append("## Figures\n")
            parts += [f"![{p.caption}]({p.name}.png)\n\n{p.caption}\n" for p in self.figures]
        return "\n".join(parts)

    def summary(self) -> str:
        """One sentence with the counts of claims and of own checks, separately."""
        return self.tally.text

    def record(self) -> dict[str, Any]:
        """All results except the figures, as plain values for JSON."""
        return {
            "paper": self.paper.name,
            "title": self.paper.title,
            "reference": self.paper.reference,
            "version": _engine.__version__,
            "summary": self.summary(),
            "tally": self.tally.record(),
            "rows": table.record(table.COLUMNS, map(Row.cells, self.rows)),
            "tables": [
                {
                    "name": one.name,
                    "title": one.title,
                    "header": list(one.header),
                    "lines": [list(line) for line in one.lines],
                }
                for one in self.layouts
            ],
            "figures": [{"name": one.name, "caption": one.caption} for one in self.figures],
            "notes": list(self.notes),
            "lead": self.lead,
        }

    def print(self, console: Console) -> None:
        """Prints the table, with the reasons for negative verdicts."""
        console.print(table.to_rich(self.rows, self.paper.title))
        for layout in self.layouts:
            console.print(layout.to_rich())
        self.print_lead(console)
        self.print_failures(console)
        console.print(self.summary())

    @property
    def readings(self) -> Layout | None:
        """The table of claims by readings, if the paper was read in several ways."""
        return next((layout for layout in self.layouts if layout.name == READINGS), None)

    def print_lead(self, console: Console) -> None:
        """Prints the best reading, if there are several."""
        if self.lead:
            console.print(self.lead.replace("**", ""), highlight=False, markup=False)

    def print_failures(self, console: Console) -> None:
        """Prints the negative verdicts with their reasons."""
        for row in self.rows:
            if row.verdict.failed:
                console.print(f"[red]{row.verdict.value}[/] {row.item}, {row.quantity}: {row.reason}")

    def save(self, directory: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes `table.csv`, the tables, `report.md`, `run.json` and the figures into a directory, all or nothing.

        Parameters
        ----------
        directory
            The new directory.
        force
            Replace the directory if it exists.
        """
        from lightlag.files.writing import new_folder

        with new_folder(directory, force=force) as partial:
            if self.kept is not None:
                shutil.copytree(self.kept, partial, dirs_exist_ok=True)
                return Path(directory)
            about: dict[str, Any] = {"reproduction": self.paper.name, "version": _engine.__version__}
            about |= {"summary": self.summary(), "origin": origin.installation()}
            (partial / "run.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
            (partial / "table.csv").write_text(table.to_csv(table.COLUMNS, map(Row.cells, self.rows)), "utf-8")
            for layout in self.layouts:
                text = table.to_csv(layout.header, layout.lines)
                (partial / f"{layout.name}.csv").write_text(text, "utf-8")
            (partial / "report.md").write_text(self.report(), "utf-8")
            for picture in self.figures:
                for suffix in ("pdf", "png"):
                    picture.save(partial / f"{picture.name}.{suffix}")
        return Path(directory)


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced.

    Attributes
    ----------
    name
        Name for ``lightlag reproduce NAME``.
    title, reference
        Title, authors and publication.
    items
        The figures and tables that are reproduced.
    work
        Function that fills a reproduction.
    deviations
        Text on why claims or own checks do not hold, for the head of the paper's page.
    """

    name: str
    title: str
    reference: str
    items: tuple[str, ...]
    work: Callable[[Reproduction, Effort], None]
    deviations: str = ""

    @property
    def command(self) -> str:
        """The command that reproduces the paper."""
        return f"lightlag reproduce {self.name}"

    def reproduce(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        force: bool = False,
        jobs: int = 1,
        seeds: int | None = None,
        quiet: bool = True,
    ) -> Reproduction:
        """Runs the paper's experiments, and writes the results into a directory if one is given.

        If a directory is given, a paper with many runs stores finished runs next to it. After an interruption,
        the same call makes only the remaining runs.

        Parameters
        ----------
        out, force
            Results directory, and whether to replace it if it exists.
        jobs
            Number of simultaneous runs.
        seeds
            Number of runs for each item with a spread; by default set by the item's check.
        quiet
            Print nothing. Otherwise the table is printed to stdout, and the current step to stderr.
        """
        from lightlag.files.writing import check_folder

        if out is not None:
            check_folder(out, force)
        reproduction = Reproduction(self)
        kept = None if out is None else KeptRuns(Path(out).with_name(f".{Path(out).name}.runs"))
        with status(shown=not quiet) as progress, nullcontext() if kept is None else _signals.telling(kept.told):
            self.work(reproduction, Effort(seeds, jobs, progress, kept))
        if out is not None:
            reproduction.save(out, force=force)
        if kept is not None:
            kept.remove()
        if not quiet:
            from rich.console import Console

            console = Console()
            reproduction.print(console)
            if out is not None:
                console.print(f"Table, report and figures are in {os.fspath(out)}", highlight=False)
        return reproduction


@contextmanager
def status(*, shown: bool) -> Iterator[Progress]:
    """Shows the current step in a line on stderr; nothing if stderr is not a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not shown or not console.is_terminal:
        yield lambda _: None
        return
    with console.status("") as status:
        yield status.update
