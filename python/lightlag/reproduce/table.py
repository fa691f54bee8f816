"""The table that a reproduction leaves: the paper's value, the theory's, ours, and a verdict."""

from __future__ import annotations

import csv
import enum
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as RichTable


class Verdict(enum.Enum):
    """What a row says about the paper's claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    NOT_JUDGED = "for information"

    @classmethod
    def of(cls, holds: bool) -> Verdict:
        """The verdict of a check that holds or does not."""
        return cls.REPRODUCED if holds else cls.NOT_REPRODUCED


@dataclass(frozen=True)
class Row:
    """One quantity of one figure or table.

    Attributes
    ----------
    item
        The paper's figure or table, or a row of it.
    quantity
        What is compared, with its unit.
    paper
        The paper's value or claim; empty if it gives none.
    theory
        A closed form or an independent model; empty if there is none.
    ours
        What lightlag measured, with the spread over seeds where there are several.
    verdict
        Whether the paper's claim holds.
    reason
        The tolerance of the check, or why a claim does not hold.
    """

    item: str
    quantity: str
    paper: str
    theory: str
    ours: str
    verdict: Verdict
    reason: str = ""

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of `COLUMNS`."""
        return (self.item, self.quantity, self.paper, self.theory, self.ours, self.verdict.value, self.reason)


COLUMNS = ("item", "quantity", "paper", "closed form or model", "lightlag", "verdict", "note")


@dataclass(frozen=True)
class Layout:
    """A table in the paper's own layout, ours beside it.

    Attributes
    ----------
    name
        File name without suffix.
    title
        What it shows.
    header, lines
        Names of columns, and the text of each line.
    """

    name: str
    title: str
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    def to_rich(self) -> RichTable:
        """The table for the terminal."""
        from rich.table import Table as RichTable

        table = RichTable(*self.header, title=self.title, title_justify="left", title_style="bold")
        for line in self.lines:
            table.add_row(*line)
        return table


def to_csv(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table as comma-separated values: the same runs give the same bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue()


def to_markdown(rows: Iterable[Row]) -> str:
    """The rows as a table in Markdown."""
    return markdown_table(COLUMNS, (row.cells() for row in rows))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; bars inside cells are escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def to_rich(rows: Iterable[Row], title: str) -> RichTable:
    """The rows as a table for the terminal; notes follow below the rows that need one."""
    from rich.table import Table as RichTable

    colours = {Verdict.REPRODUCED: "green", Verdict.NOT_REPRODUCED: "red", Verdict.NOT_JUDGED: "dim"}
    table = RichTable(title=title, title_justify="left", title_style="bold")
    for name in COLUMNS[:-1]:
        table.add_column(name, overflow="fold")
    for row in rows:
        *cells, _, _ = row.cells()
        table.add_row(*cells, f"[{colours[row.verdict]}]{row.verdict.value}[/]")
    return table


def number(value: float, digits: int = 2) -> str:
    """A number with a fixed count of decimals, so that tables line up and bytes repeat."""
    return f"{value:.{digits}f}"
