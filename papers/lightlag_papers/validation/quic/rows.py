"""The rows of the cards: each printed number with our value, and its verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lightlag_papers.validation.measured.fact import Spread, Verdict, number
from lightlag_papers.validation.measured.runs import Task, Work
from lightlag_papers.validation.quic.cards import METRICS, Card, Kind, Line, Settings, merged
from lightlag_papers.validation.quic.paths import LENGTH, MEASURES, scenario

__all__ = ["SEEDS", "Row", "Tested", "judge", "rows"]

SEEDS = 8
"""Seeds of a run with random losses or jitter, unless its settings have `seeds`."""


@dataclass(frozen=True)
class Tested:
    """Our value with one changed setting; its ratio to the printed number."""

    change: str
    ratio: float


@dataclass(frozen=True)
class Row:
    """A printed number with our value.

    Attributes
    ----------
    card, setup, sender, label
        The card, and the line with the setting that varies.
    kind, metric, unit
        Kind and quantity of the number; the unit is empty where it is a ratio of two runs.
    printed, low, high
        The number, and the range that the source prints with it.
    ours
        Our median with the range over seeds; infinite if the transfer does not finish.
    verdict
        The verdict.
    longest
        Length of a run that does not finish.
    tests
        Changes that test suspected causes; empty unless the row differs.
    """

    card: str
    setup: str
    sender: str
    label: str
    kind: Kind
    metric: str
    unit: str
    printed: float
    low: float | None
    high: float | None
    ours: Spread
    verdict: Verdict
    longest: str = LENGTH
    tests: tuple[Tested, ...] = ()

    @property
    def ratio(self) -> float:
        """Our value divided by the printed number."""
        return self.ours.value / self.printed

    @property
    def source(self) -> str:
        """The printed number as text."""
        shown = self.kind.sign + number(self.printed)
        if self.low is not None and self.high is not None and self.low < self.high:
            shown += f" ({number(self.low)} to {number(self.high)})"
        return shown

    @property
    def value(self) -> str:
        """Our value as text."""
        return self.ours.text("") if math.isfinite(self.ours.value) else f"> {self.longest}"

    def record(self) -> dict[str, Any]:
        """Returns the row as plain values for JSON."""
        ours = [self.ours.value, self.ours.low, self.ours.high]
        return {
            "card": self.card,
            "setup": self.setup,
            "sender": self.sender,
            "setting": self.label,
            "kind": self.kind.value,
            "quantity": self.metric,
            "unit": self.unit,
            "printed": self.printed,
            "ours": dict(zip(("value", "low", "high"), map(_finite, ours), strict=True)),
            "ratio": _finite(self.ratio),
            "verdict": self.verdict.value,
            "changes": [{"change": one.change, "ratio": _finite(one.ratio)} for one in self.tests],
        }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def judge(kind: Kind, ratio: float) -> Verdict:
    """Returns the verdict on our value divided by the printed number.

    Examples
    --------
    >>> judge(Kind.BOUND, 0.2).value, judge(Kind.BOUND, 1.01).value
    ('agrees', 'differs')
    >>> judge(Kind.MEAN, 0.86).value, judge(Kind.MEAN, 1.16).value, judge(Kind.OPEN, 1.0).value
    ('agrees', 'differs', 'no verdict')
    """
    if kind.tolerance is None:
        return Verdict.NO_VERDICT
    least = 0.0 if kind.is_bound else 1 - kind.tolerance
    return Verdict.AGREES if least <= ratio <= 1 + kind.tolerance else Verdict.DIFFERS


def rows(work: Work, card: Card) -> list[Row]:
    """Runs a card and returns its rows. The changes of a line are run for the rows that differ."""
    cells = [(line, at) for line in card.lines for at in range(len(line.runs))]
    ours = _spreads(work, card.name, [(line, line.runs[at], {}) for line, at in cells])
    first = [_row(card, line, at, mine) for (line, at), mine in zip(cells, ours, strict=True)]
    wanted = [
        (index, line, at, change)
        for index, (line, at) in enumerate(cells)
        if first[index].verdict is Verdict.DIFFERS
        for change in line.changes
    ]
    runs = [(line, line.runs[at], change.settings) for _, line, at, change in wanted]
    tests: list[list[Tested]] = [[] for _ in cells]
    for (index, line, at, change), mine in zip(wanted, _spreads(work, f"{card.name}, changes", runs), strict=True):
        tests[index].append(Tested(change.name, mine.value / line.printed[at]))
    return [replace(row, tests=tuple(found)) for row, found in zip(first, tests, strict=True)]


def _spreads(work: Work, said: str, runs: Sequence[tuple[Line, Settings, Settings]]) -> list[Spread]:
    """Returns our value of runs with changes, divided by the one of the line's base if it has one."""
    tops = [(line, merged(settings, changes)) for line, settings, changes in runs]
    bases = [(line, merged(line.base, changes)) for line, _, changes in runs if line.base is not None]
    values = _values(work, said, [*tops, *bases])
    below = iter(values[len(tops) :])
    found = []
    for (line, _), mine in zip(tops, values, strict=False):
        base = 1.0 if line.base is None else Spread.of(next(below)).value
        found.append(Spread.of([value / base for value in mine]))
    return found


def _values(work: Work, said: str, runs: Sequence[tuple[Line, Settings]]) -> list[list[float]]:
    """Returns the values of each run over its seeds; infinite for a transfer that does not finish."""
    tasks = [
        Task(scenario(settings), seed, MEASURES[line.metric]) for line, settings in runs for seed in _seeds(settings)
    ]
    found = iter(work.run(said, tasks))
    values = [[next(found)["value"] for _ in _seeds(settings)] for _, settings in runs]
    return [[math.inf if one is None else float(one) for one in each] for each in values]


def _seeds(settings: Settings) -> range:
    random = "loss" in settings or "lost_every" in settings or "jitter" in settings or settings.get("loss_percent")
    return range(1, 1 + int(settings.get("seeds", SEEDS) if random else 1))


def _row(card: Card, line: Line, at: int, ours: Spread) -> Row:
    printed = line.printed[at]
    low, high = line.ranges[at] if line.ranges else (None, None)
    unit = METRICS[line.metric] if line.base is None else ""
    verdict = judge(line.kind, ours.value / printed)
    setup = (card.name, line.setup, line.sender, line.labels[at])
    longest = line.runs[at].get("length", LENGTH)
    return Row(*setup, line.kind, line.metric, unit, printed, low, high, ours, verdict, longest)
