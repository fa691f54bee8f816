"""Readings of a paper: values for what it leaves open, each compared with every claim.

Each claim counts once. A reading is a set of values that is fixed before it is run, and is evaluated as a unit.
The reading that reproduces the most claims is the paper's best reading, and its rows are the rows of the
reproduction. Different claims cannot use different readings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lightlag_papers.table import Layout, Row, Tally, Verdict

NAME = "readings"
"""The name of the table of claims by readings, which `lightlag reproduce all` also prints."""

_CELLS = {Verdict.REPRODUCED: "yes", Verdict.NOT_REPRODUCED: "no", Verdict.UNDECIDED: "open"}


@dataclass(frozen=True)
class Readings:
    """The claims of a paper under each of its readings.

    Attributes
    ----------
    rows
        One row per claim for each reading, by the reading's name. All have the same claims in the same order.

    Raises
    ------
    ValueError
        If there is no reading, if a row is not a claim, or if the readings do not have the same claims.

    Examples
    --------
    >>> good, bad = (Row("Fig. 1", "W", "8", "", "9", Verdict.claim(holds), "at most 9") for holds in (True, False))
    >>> readings = Readings({"50 packets": [bad, bad], "1 BDP": [bad, good]})
    >>> readings.best, readings.reproduced(readings.best), [row.quantity for row in readings.never()]
    ('1 BDP', 1, ['W'])
    """

    rows: Mapping[str, Sequence[Row]]

    def __post_init__(self) -> None:
        claims = [[_claim(row) for row in rows] for rows in self.rows.values()]
        if not claims:
            raise ValueError("there is no reading")
        if any(one != claims[0] for one in claims):
            raise ValueError("the readings do not have the same claims")
        if not all(row.verdict.of_a_claim for rows in self.rows.values() for row in rows):
            raise ValueError("a row of a reading is not a claim of the paper")

    def reproduced(self, reading: str) -> int:
        """Returns the number of claims that a reading reproduces."""
        return Tally.of(self.rows[reading]).reproduced

    @property
    def best(self) -> str:
        """The reading that reproduces the most claims; the first one in case of a tie."""
        return max(self.rows, key=self.reproduced)

    def holding(self, claim: int) -> list[str]:
        """Returns the names of the readings that reproduce a claim, given by its index."""
        return [name for name, rows in self.rows.items() if rows[claim].verdict is Verdict.REPRODUCED]

    def never(self) -> list[Row]:
        """Returns the claims that no reading reproduces, as rows of the best reading."""
        return [row for claim, row in enumerate(self.rows[self.best]) if not self.holding(claim)]

    def judged(self) -> list[Row]:
        """Returns the rows of the best reading; the notes add how many readings reproduce the claim."""
        return [
            replace(row, reason=f"{row.reason}. {self._count(claim)}") for claim, row in enumerate(self.rows[self.best])
        ]

    def _count(self, claim: int) -> str:
        holding, all_ = self.holding(claim), len(self.rows)
        if len(holding) == all_:
            return "So in every reading" if all_ > 1 else "There is one reading"
        return f"So in {len(holding)} of {all_} readings" if holding else f"In none of {all_} readings"

    def layout(self, title: str) -> Layout:
        """Returns the table of claims by readings: "yes" if the reading reproduces the claim."""
        return self._table(NAME, title, lambda row: _CELLS[row.verdict])

    def measured(self, name: str, title: str) -> Layout:
        """Returns the table of claims by readings, with the measured values."""
        return self._table(name, title, lambda row: row.ours)

    def _table(self, name: str, title: str, cell: Callable[[Row], str]) -> Layout:
        claims = self.rows[self.best]
        header = ("reading", "reproduced", *(f"{row.item}: {row.paper}" for row in claims))
        lines = [
            (reading, f"{self.reproduced(reading)} of {len(claims)}", *map(cell, rows))
            for reading, rows in self.rows.items()
        ]
        return Layout(name, title, header, tuple(lines))

    def lead(self, what: str) -> str:
        """Returns a paragraph on the best reading, its claims, and the claims that no reading reproduces.

        Parameters
        ----------
        what
            A name for the claims, such as ``the claims of Figs. 4 to 6``.
        """
        total = len(self.rows[self.best])
        text = f"**Best of {len(self.rows)} readings:** {self.best}. "
        text += f"It reproduces {self.reproduced(self.best)} of {total} of {what}."
        if equal := [name for name in self.rows if self.reproduced(name) == self.reproduced(self.best)][1:]:
            text += f" So do {len(equal)} others: {'; '.join(equal)}."
        failed = [row for row in self.rows[self.best] if row.verdict is Verdict.NOT_REPRODUCED]
        if failed:
            text += f" It does not reproduce: {_listed(failed)}."
        never = [row for row in self.never() if row.verdict is Verdict.NOT_REPRODUCED]
        return text + (f" No reading reproduces: {_listed(never)}." if never else " Every claim holds in some reading.")


def _claim(row: Row) -> tuple[str, str]:
    return row.item, row.paper


def _listed(rows: Sequence[Row]) -> str:
    return "; ".join(f"{row.item}, “{row.paper}”" for row in rows)
