"""The table of a reproduction: the paper's value, the theoretical value, our value, and a verdict."""

from __future__ import annotations

import csv
import enum
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from lightlag.analyse import Interval


class Verdict(enum.Enum):
    """The outcome of a row.

    A *claim* is a statement of a paper: a number, an order, or a shape in words. It is reproduced or not, or has
    no verdict if the paper contradicts itself or leaves a decisive value open. An *own check* compares our value
    with a closed form, a model or another simulator; it holds or does not. Claims and own checks are counted
    separately.
    """

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"
    HOLDS = "holds"
    FAILS = "does not hold"
    NOT_JUDGED = "for information"

    @classmethod
    def claim(cls, holds: bool) -> Verdict:
        """Returns the verdict on a claim of the paper."""
        return cls.REPRODUCED if holds else cls.NOT_REPRODUCED

    @classmethod
    def check(cls, holds: bool) -> Verdict:
        """Returns the verdict of an own check."""
        return cls.HOLDS if holds else cls.FAILS

    @property
    def of_a_claim(self) -> bool:
        """Whether the verdict is about a claim of the paper."""
        return self in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED)

    @property
    def decided(self) -> bool:
        """Whether the row has a verdict."""
        return self not in (Verdict.UNDECIDED, Verdict.NOT_JUDGED)

    @property
    def failed(self) -> bool:
        """Whether the verdict is negative."""
        return self in (Verdict.NOT_REPRODUCED, Verdict.FAILS)


@dataclass(frozen=True)
class Band:
    """The lower and upper limit of a value.

    Attributes
    ----------
    low, high
        The limits, both inclusive.
    origin
        Source of the band. It is fixed before the run.

    Examples
    --------
    >>> Band(1.4, 3, BEFOREHAND).text
    '1.4 to 3 (set in advance)'
    >>> 2.7 in Band.down_to(2.3, 2.7), 3.3 in Band.down_to(2.3, 2.7)
    (True, False)
    """

    low: float
    high: float
    origin: str

    @classmethod
    def down_to(cls, low: float, printed: float) -> Band:
        """Returns a band with this lower limit; its upper limit is above the printed value by the same factor."""
        return cls(low, printed * printed / low, f"the lower end {BEFOREHAND}, the upper by the same factor")

    @classmethod
    def like(cls, other: Band, theirs: float, printed: float) -> Band:
        """Returns the band for another printed value, with the same relative limits."""
        scale = printed / theirs
        return cls(other.low * scale, other.high * scale, f"the factors of the band of {theirs:g}, {BEFOREHAND}")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def text(self) -> str:
        """The limits and their origin, as text."""
        return f"{self.low:.3g} to {self.high:.3g} ({self.origin})"


BEFOREHAND = "set in advance"
"""Origin of a band that follows from the scatter of an experiment's model, before the simulator first ran it."""
AS_PRINTED = "as printed"
"""Origin of a criterion that consists of the paper's own words."""


@dataclass(frozen=True)
class Row:
    """One quantity of one figure or table.

    Attributes
    ----------
    item
        The paper's figure or table, or a row of the table.
    quantity
        The compared quantity, with its unit.
    paper
        The paper's value or claim; empty for an own check and for information.
    theory
        A closed form or an independent model; empty if there is none.
    ours
        Our measured value, with the spread over seeds if there are several.
    verdict
        Verdict on the paper's claim, or on an own check.
    reason
        The band or tolerance with its origin, and the cause of a deviation.
    """

    item: str
    quantity: str
    paper: str
    theory: str
    ours: str
    verdict: Verdict
    reason: str = ""

    @classmethod
    def claim(
        cls, item: str, quantity: str, paper: str, ours: str, holds: bool, reason: str, *, theory: str = ""
    ) -> Row:
        """Returns a claim of the paper, reproduced or not."""
        return cls(item, quantity, paper, theory, ours, Verdict.claim(holds), reason)

    @classmethod
    def check(cls, item: str, quantity: str, theory: str, ours: str, holds: bool, reason: str) -> Row:
        """Returns an own check, which holds or does not."""
        return cls(item, quantity, "", theory, ours, Verdict.check(holds), reason)

    @classmethod
    def informing(cls, item: str, quantity: str, ours: str, reason: str = "", *, theory: str = "") -> Row:
        """Returns a row for information, without a verdict."""
        return cls(item, quantity, "", theory, ours, Verdict.NOT_JUDGED, reason)

    def __post_init__(self) -> None:
        if self.verdict.of_a_claim != bool(self.paper):
            raise ValueError(f"{self.item}, {self.quantity}: {self.verdict.value}, and the paper has {self.paper!r}")
        if self.verdict is not Verdict.NOT_JUDGED and not self.reason:
            raise ValueError(f"{self.item}, {self.quantity}: {self.verdict.value} by no criterion")

    def cells(self) -> tuple[str, ...]:
        """Returns the row as text, in the order of `COLUMNS`."""
        return (self.item, self.quantity, self.paper, self.theory, self.ours, self.verdict.value, self.reason)

    @classmethod
    def of_cells(cls, cells: Sequence[str]) -> Row:
        """Restores a row from the text of :meth:`cells`."""
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
"""Colours of the verdicts on a terminal."""

COLUMNS = ("item", "quantity", "paper", "closed form or model", "lightlag", "verdict", "note")


@dataclass(frozen=True)
class Layout:
    """A table in the paper's own layout, with our values.

    Attributes
    ----------
    name
        File name without suffix.
    title
        Title of the table.
    header, lines
        Names of columns, and the text of each line.
    """

    name: str
    title: str
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    def to_rich(self) -> RichTable:
        """Returns the table for the terminal."""
        from rich.table import Table as RichTable

        table = RichTable(*self.header, title=self.title, title_justify="left", title_style="bold")
        for line in self.lines:
            table.add_row(*line)
        return table


def record(header: Sequence[str], lines: Iterable[Sequence[str]]) -> list[dict[str, str]]:
    """Returns a table as one mapping per line for JSON; the names of the columns must be different."""
    return [dict(zip(header, line, strict=True)) for line in lines]


def to_csv(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Returns a table as comma-separated values. The same runs give the same bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue()


def to_markdown(rows: Iterable[Row]) -> str:
    """Returns the rows as a table in Markdown."""
    return markdown_table(COLUMNS, (row.cells() for row in rows))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown; bars inside cells are escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def to_rich(rows: Iterable[Row], title: str) -> RichTable:
    """Returns the rows as a table for the terminal. Notes are printed below the rows that need one."""
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
    '38 of 44 claims reproduced, 4 undecided; 9 of 10 own checks hold; 13 rows for information.'
    """

    reproduced: int
    not_reproduced: int
    undecided: int
    holds: int
    fails: int
    informs: int

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Tally:
        """Counts the verdicts of rows."""
        verdicts = [row.verdict for row in rows]
        return cls(*(verdicts.count(verdict) for verdict in Verdict))

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def record(self) -> dict[str, int]:
        """Returns the counts by verdict."""
        return dict(zip((verdict.value for verdict in Verdict), astuple(self), strict=True))

    @property
    def claims(self) -> str:
        """The counts of claims, in words."""
        judged = self.reproduced + self.not_reproduced
        open_ = f", {self.undecided} undecided" if self.undecided else ""
        return f"{self.reproduced} of {judged} claims reproduced{open_}" if judged or open_ else "no claims"

    @property
    def checks(self) -> str:
        """The counts of own checks, in words."""
        judged = self.holds + self.fails
        return f"{self.holds} of {judged} own checks hold" if judged else "no own checks"

    @property
    def text(self) -> str:
        """One sentence with all counts."""
        rows = f"{self.informs} row{'s' * (self.informs != 1)}"
        return f"{self.claims}; {self.checks}; {rows} for information."


def pm(interval: Interval, digits: int = 2) -> str:
    """Formats a mean with the half-width of its interval, which is left out for a single value."""
    half = "" if interval.count < 2 else f" ± {interval.half_width:.{digits}f}"
    return f"{interval.mean:.{digits}f}{half}"


def number(value: float, digits: int = 2) -> str:
    """Formats a number with fixed decimals, so that tables are aligned and repeated runs give the same bytes."""
    return f"{value:.{digits}f}"
