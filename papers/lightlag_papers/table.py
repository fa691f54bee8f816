"""The table that a reproduction leaves: the paper's value, the theory's, ours, and a verdict."""

from __future__ import annotations

import csv
import enum
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as RichTable


class Verdict(enum.Enum):
    """The outcome of a row.

    A *claim* is what a paper prints: a number, an order, a shape in words. It is reproduced or not, or cannot be judged
    where the paper contradicts itself or leaves open what decides. An *own check* compares with a closed form, a model
    or another simulator; it holds or does not. The two are never counted together.
    """

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "cannot be judged"
    HOLDS = "holds"
    FAILS = "does not hold"
    NOT_JUDGED = "for information"

    @classmethod
    def claim(cls, holds: bool) -> Verdict:
        """The verdict on a claim of the paper."""
        return cls.REPRODUCED if holds else cls.NOT_REPRODUCED

    @classmethod
    def check(cls, holds: bool) -> Verdict:
        """The verdict of an own check."""
        return cls.HOLDS if holds else cls.FAILS

    @property
    def of_a_claim(self) -> bool:
        """Whether a claim of the paper is meant."""
        return self in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED)

    @property
    def decided(self) -> bool:
        """Whether the row was judged at all."""
        return self not in (Verdict.UNDECIDED, Verdict.NOT_JUDGED)

    @property
    def failed(self) -> bool:
        """Whether what was judged came out wrong."""
        return self in (Verdict.NOT_REPRODUCED, Verdict.FAILS)


@dataclass(frozen=True)
class Band:
    """The limits of a value on both sides.

    Attributes
    ----------
    low, high
        The ends, which belong to it.
    origin
        Where the band comes from. It is fixed before the run.

    Examples
    --------
    >>> Band(1.4, 3, BEFOREHAND).text
    '1.4 to 3 (set beforehand)'
    >>> 2.7 in Band.down_to(2.3, 2.7), 3.3 in Band.down_to(2.3, 2.7)
    (True, False)
    """

    low: float
    high: float
    origin: str

    @classmethod
    def down_to(cls, low: float, printed: float) -> Band:
        """A band whose lower end is given, and whose upper end is above the printed value by the same factor."""
        return cls(low, printed * printed / low, f"the lower end {BEFOREHAND}, the upper by the same factor")

    @classmethod
    def like(cls, other: Band, theirs: float, printed: float) -> Band:
        """The band of another printed number, carried over by its factors."""
        scale = printed / theirs
        return cls(other.low * scale, other.high * scale, f"the factors of the band of {theirs:g}, {BEFOREHAND}")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def text(self) -> str:
        """The ends and the origin."""
        return f"{self.low:.3g} to {self.high:.3g} ({self.origin})"


BEFOREHAND = "set beforehand"
"""From the scatter of a model of the same experiment, before the simulator first ran it."""
AS_PRINTED = "as printed"
"""The paper's own words are the criterion."""


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
        The paper's value or claim; empty for an own check and for information.
    theory
        A closed form or an independent model; empty if there is none.
    ours
        What lightlag measured, with the spread over seeds where there are several.
    verdict
        Of the paper's claim, or of an own check.
    reason
        The band or tolerance with its origin, and why something does not hold.
    """

    item: str
    quantity: str
    paper: str
    theory: str
    ours: str
    verdict: Verdict
    reason: str = ""

    def __post_init__(self) -> None:
        if self.verdict.of_a_claim != bool(self.paper):
            raise ValueError(f"{self.item}, {self.quantity}: {self.verdict.value}, and the paper says {self.paper!r}")
        if self.verdict is not Verdict.NOT_JUDGED and not self.reason:
            raise ValueError(f"{self.item}, {self.quantity}: {self.verdict.value} by no criterion")

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of `COLUMNS`."""
        return (self.item, self.quantity, self.paper, self.theory, self.ours, self.verdict.value, self.reason)

    @classmethod
    def of_cells(cls, cells: Sequence[str]) -> Row:
        """The row of which :meth:`cells` gave this text."""
        item, quantity, paper, theory, ours, verdict, reason = cells
        return cls(item, quantity, paper, theory, ours, Verdict(verdict), reason)


COLOURS = {
    Verdict.REPRODUCED: "green",
    Verdict.HOLDS: "green",
    Verdict.NOT_REPRODUCED: "red",
    Verdict.FAILS: "red",
    Verdict.UNDECIDED: "yellow",
    Verdict.NOT_JUDGED: "dim",
}
"""On a terminal."""

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


def record(header: Sequence[str], lines: Iterable[Sequence[str]]) -> list[dict[str, str]]:
    """A table whose columns have different names, as one mapping a line for JSON."""
    return [dict(zip(header, line, strict=True)) for line in lines]


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

    table = RichTable(title=title, title_justify="left", title_style="bold")
    for name in COLUMNS[:-1]:
        table.add_column(name, overflow="fold")
    for row in rows:
        *cells, _, _ = row.cells()
        table.add_row(*cells, f"[{COLOURS[row.verdict]}]{row.verdict.value}[/]")
    return table


@dataclass(frozen=True)
class Tally:
    """The number of rows of a table with each verdict.

    Examples
    --------
    >>> Tally(38, 6, 4, 9, 1, 13).text
    '38 of 44 claims reproduced, 4 more cannot be judged; 9 of 10 own checks hold; 13 rows for information.'
    """

    reproduced: int
    not_reproduced: int
    undecided: int
    holds: int
    fails: int
    informs: int

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Tally:
        """Count."""
        verdicts = [row.verdict for row in rows]
        return cls(*(verdicts.count(verdict) for verdict in Verdict))

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def record(self) -> dict[str, int]:
        """The counts by verdict."""
        return dict(zip((verdict.value for verdict in Verdict), astuple(self), strict=True))

    @property
    def claims(self) -> str:
        """The claims in words."""
        judged = self.reproduced + self.not_reproduced
        open_ = f", {self.undecided} more cannot be judged" if self.undecided else ""
        return f"{self.reproduced} of {judged} claims reproduced{open_}" if judged or open_ else "no claims"

    @property
    def checks(self) -> str:
        """The own checks in words."""
        judged = self.holds + self.fails
        return f"{self.holds} of {judged} own checks hold" if judged else "no own checks"

    @property
    def text(self) -> str:
        """One sentence."""
        return f"{self.claims}; {self.checks}; {self.informs} rows for information."


def number(value: float, digits: int = 2) -> str:
    """A number with a fixed count of decimals, so that tables line up and bytes repeat."""
    return f"{value:.{digits}f}"
