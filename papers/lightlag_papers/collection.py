"""Reproduction of all papers: one table of verdicts, and one page with all figures."""

from __future__ import annotations

import base64
import html
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine, _signals
from lightlag.files.output import GENERATOR
from lightlag.files.writing import check_folder
from lightlag.records import origin
from lightlag.text.terminal import say
from lightlag_papers.paper import Effort, Paper, Picture, Progress, Reproduction, status
from lightlag_papers.shelf import Shelf
from lightlag_papers.table import COLOURS, COLUMNS, Layout, Row, Tally, to_csv

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

COMMAND = "lightlag reproduce all"
COUNTS = ("paper", "claims reproduced", "not reproduced", "undecided", "own checks hold", "do not hold")


@dataclass(frozen=True)
class Collection:
    """Reproductions of several papers.

    Attributes
    ----------
    found
        One reproduction for each paper, in the order of the papers.
    """

    found: Sequence[Reproduction]

    @property
    def tally(self) -> Tally:
        """The number of rows with each verdict, over all papers."""
        return reduce(add, (one.tally for one in self.found), Tally(0, 0, 0, 0, 0, 0))

    def record(self) -> dict[str, Any]:
        """All results except the figures, as plain values for JSON."""
        return {
            "version": _engine.__version__,
            "summary": self.tally.text,
            "tally": self.tally.record(),
            "papers": [one.record() for one in self.found],
        }

    def print(self, console: Console) -> None:
        """Prints the table of verdicts, and the reasons for negative verdicts."""
        console.print(self._counts())
        for one in self.found:
            if readings := one.readings:
                console.print(_reading_counts(one.paper.name, readings))
                one.print_lead(console)
            one.print_failures(console)
        console.print(self.tally.text)

    def _counts(self) -> RichTable:
        from rich.table import Table as RichTable

        table = RichTable(*COUNTS, title="Verdicts", title_justify="left", title_style="bold")
        for one in self.found:
            table.add_row(*_counts(one.paper.name, one.tally))
        table.add_section()
        table.add_row(*_counts("together", self.tally))
        return table

    def save(self, directory: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes one directory per paper, `verdicts.csv`, `run.json` and `index.html`, all or nothing.

        Parameters
        ----------
        directory
            The new directory.
        force
            Replace the directory if it exists.
        """
        from lightlag.files.writing import new_folder

        with new_folder(directory, force=force) as partial:
            for one in self.found:
                one.save(partial / one.paper.name)
            about: dict[str, Any] = {"reproduction": "all", "version": _engine.__version__}
            about |= {"summary": self.tally.text, "origin": origin.installation()}
            (partial / "run.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
            rows = ((one.paper.name, *row.cells()) for one in self.found for row in one.rows)
            (partial / "verdicts.csv").write_text(to_csv(("paper", *COLUMNS), rows), "utf-8")
            (partial / "index.html").write_text(self.page(partial), "utf-8")
        return Path(directory)

    def page(self, folder: Path) -> str:
        """Returns a self-contained HTML page with verdicts, tables, notes, and the figures of all papers."""
        counts = [_counts(f'<a href="#{one.paper.name}">{_text(one.paper.title)}</a>', one.tally) for one in self.found]
        parts = [
            "<h1>Papers, run again</h1>",
            f"<p>{_text(self.tally.text)}</p>",
            _table(COUNTS, (*counts, _counts("together", self.tally)), escaped=True),
            "<p>A claim is what a paper prints. A row with an empty paper column is an own check, or stands for "
            f"information; they are counted separately. lightlag {_text(_engine.__version__)}, "
            f"<code>{COMMAND}</code></p>",
            *(_section(one, folder / one.paper.name) for one in self.found),
        ]
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"{GENERATOR}\n"
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>Papers, run again</title>\n<style>{_style()}</style>\n</head>\n"
            f"<body>\n{chr(10).join(parts)}\n</body>\n</html>\n"
        )


def reproduce_all(
    papers: Iterable[Paper],
    out: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    jobs: int = 1,
    seeds: int | None = None,
    quiet: bool = True,
) -> Collection:
    """Runs the experiments of several papers, and writes the results into a directory if one is given.

    Finished papers are stored next to the directory until all have finished (:mod:`lightlag_papers.shelf`). After
    an interruption, the same call runs only the remaining papers.

    Parameters
    ----------
    papers
        The papers.
    out, force
        Results directory, and whether to replace it if it exists.
    jobs
        Number of simultaneous runs.
    seeds
        Number of runs for each item with a spread; by default set by the item's check.
    quiet
        Print nothing. Otherwise the table is printed to stdout, and the current step to stderr.
    """
    if out is None:
        collection = Collection(list(_found(papers, None, jobs, seeds, quiet)))
    else:
        check_folder(out, force)
        shelf = Shelf(out, list(papers), seeds)
        with shelf.open():
            if shelf.finished and not quiet:
                say(f"kept from before: {', '.join(paper.name for paper in shelf.finished)}", file=sys.stderr)
            collection = Collection(list(_found(shelf.papers, shelf, jobs, seeds, quiet)))
            with _signals.held():
                collection.save(out, force=force)
                for one in collection.found:
                    one.kept = Path(out).absolute() / one.paper.name
                shelf.remove()
    if not quiet:
        from rich.console import Console

        console = Console()
        collection.print(console)
        if out is not None:
            console.print(f"The index page is {os.fspath(Path(out) / 'index.html')}", highlight=False)
    return collection


def _found(
    papers: Iterable[Paper], shelf: Shelf | None, jobs: int, seeds: int | None, quiet: bool
) -> Iterator[Reproduction]:
    """Yields the reproductions of the papers. Stored ones are used as they are; the others are run and stored."""
    with status(shown=not quiet) as progress:
        for paper in papers:
            one = shelf.take(paper) if shelf else None
            if one is None:
                one = Reproduction(paper)
                kept = None if shelf is None else shelf.runs_of(paper)
                paper.work(one, Effort(seeds, jobs, _prefixed(progress, paper.name), kept))
                if shelf is not None:
                    shelf.keep(one)
            yield one


def _prefixed(progress: Progress, name: str) -> Progress:
    return lambda what: progress(f"{name}: {what}")


def _counts(name: str, tally: Tally) -> tuple[str, ...]:
    counts = (tally.reproduced, tally.not_reproduced, tally.undecided, tally.holds, tally.fails)
    return (name, *map(str, counts))


def _reading_counts(name: str, readings: Layout) -> RichTable:
    """Returns each reading of a paper with the number of claims that it reproduces.

    The table of claims by readings is in the paper's directory.
    """
    from rich.table import Table as RichTable

    table = RichTable(*readings.header[:2], title=f"{name}: readings", title_justify="left", title_style="bold")
    for line in readings.lines:
        table.add_row(*line[:2])
    return table


def _section(one: Reproduction, folder: Path) -> str:
    paper = one.paper
    parts = [
        f'<h2 id="{paper.name}">{_text(paper.title)}</h2>',
        f"<p>{_text(paper.reference)}; <code>{_text(paper.command)}</code>. {_text(one.summary())}</p>",
        *([f"<p>{_marked(one.lead)}</p>"] if one.lead else []),
        _verdicts(one.rows),
        *(_figure(picture, folder) for picture in one.figures),
        *(_layout(layout) for layout in one.layouts),
        *(f"<p>{_marked(note)}</p>" for note in one.notes),
    ]
    return "\n".join(parts)


def _verdicts(rows: Iterable[Row]) -> str:
    lines = []
    for row in rows:
        *cells, verdict, note = row.cells()
        told = f'<td class="{COLOURS[row.verdict]}">{_text(verdict)}</td><td>{_text(note)}</td>'
        lines.append(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}{told}</tr>")
    heads = "".join(f"<th>{_text(name)}</th>" for name in COLUMNS)
    return f'<div class="wide"><table><tr>{heads}</tr>\n{chr(10).join(lines)}\n</table></div>'


def _figure(picture: Picture, folder: Path) -> str:
    data = base64.b64encode((folder / f"{picture.name}.png").read_bytes()).decode()
    caption = _text(picture.caption)
    return (
        f'<figure><img src="data:image/png;base64,{data}" alt="{caption}"><figcaption>{caption}</figcaption></figure>'
    )


def _layout(layout: Layout) -> str:
    return f"<h3>{_text(layout.title)}</h3>\n{_table(layout.header, layout.lines)}"


def _table(header: Iterable[str], lines: Iterable[Iterable[str]], *, escaped: bool = False) -> str:
    show = (lambda cell: cell) if escaped else _text
    heads = "".join(f"<th>{_text(name)}</th>" for name in header)
    rows = "\n".join(f"<tr>{''.join(f'<td>{show(cell)}</td>' for cell in line)}</tr>" for line in lines)
    return f'<div class="wide"><table><tr>{heads}</tr>\n{rows}\n</table></div>'


def _text(value: str) -> str:
    return html.escape(value)


def _marked(note: str) -> str:
    """Converts the bold, italic and code parts of a note to HTML; notes have no other Markdown."""
    text = _text(note)
    for mark, tag in (("**", "b"), ("*", "i"), ("`", "code")):
        first, *rest = text.split(mark)
        if len(rest) % 2 == 0:
            inside = [f"<{tag}>{part}</{tag}>" if at % 2 == 0 else part for at, part in enumerate(rest)]
            text = first + "".join(inside)
    return text


def _style() -> str:
    colours = {"green": "#1a7f37", "red": "#cf222e", "yellow": "#9a6700", "dim": "#6e7781"}
    classes = "".join(f"td.{name} {{ color: {colour}; white-space: nowrap; }}\n" for name, colour in colours.items())
    return f"""
body {{ font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1f2328; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 13px; }}
th, td {{ border: 1px solid #d0d7de; padding: .25rem .5rem; text-align: left; vertical-align: top; }}
th {{ background: #f6f8fa; }}
figure {{ margin: 1.5rem 0; }}
img {{ max-width: 100%; }}
figcaption {{ color: #57606a; font-size: 13px; }}
{classes}"""
