"""Readings of a paper: values for what it leaves open, each judged by every claim.

A claim counts once. A reading is a set of values that is fixed before it runs, and is judged as a whole: the one that
reproduces the most claims is the paper's best reading, and the rows of a reproduction are its rows. No claim chooses a
reading of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lightlag_papers.table import Layout, Row, Tally, Verdict

NAME = "readings"
"""The name of the table of readings by claims, which `lightlag reproduce all` prints as well."""

_CELLS = {Verdict.REPRODUCED: "yes", Verdict.NOT_REPRODUCED: "no", Verdict.UNDECIDED: "open"}


@dataclass(frozen=True)
class Readings:
    """The claims of a paper under each of its readings.

    Attributes
    ----------
    rows
        For each reading, by its name, one row per claim. All have the same claims in the same order.

    Raises
    ------
    ValueError
        If there is no reading, if a row is no claim, or if the readings do not have the same claims.

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
            raise ValueError("a row of a reading is no claim of the paper")

    def reproduced(self, reading: str) -> int:
        """The number of claims that a reading reproduces."""
        return Tally.of(self.rows[reading]).reproduced

    @property
    def best(self) -> str:
        """The reading that reproduces the most claims; the first of several."""
        return max(self.rows, key=self.reproduced)

    def holding(self, claim: int) -> list[str]:
        """The readings that reproduce a claim, by its index."""
        return [name for name, rows in self.rows.items() if rows[claim].verdict is Verdict.REPRODUCED]

    def never(self) -> list[Row]:
        """The claims that no reading reproduces, as the best reading has them."""
        return [row for claim, row in enumerate(self.rows[self.best]) if not self.holding(claim)]

    def judged(self) -> list[Row]:
        """The rows of the best reading; their notes add how many readings reproduce the claim."""
        return [
            replace(row, reason=f"{row.reason}. {self._count(claim)}") for claim, row in enumerate(self.rows[self.best])
        ]

    def _count(self, claim: int) -> str:
        holding, all_ = self.holding(claim), len(self.rows)
        if len(holding) == all_:
            return "So in every reading" if all_ > 1 else "There is one reading"
        return f"So in {len(holding)} of {all_} readings" if holding else f"In none of {all_} readings"

    def layout(self, title: str) -> Layout:
        """The table of readings by claims: yes where a reading reproduces a claim."""
        return self._table(NAME, title, lambda row: _CELLS[row.verdict])

    def measured(self, name: str, title: str) -> Layout:
        """The same table with what each reading measured."""
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
        """One paragraph: the best reading, what it reproduces, and the claims that no reading does.

        Parameters
        ----------
        what
            The claims that the readings are judged by, such as ``the claims of Figs. 4 to 6``.
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
