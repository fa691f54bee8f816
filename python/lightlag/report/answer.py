"""The conclusion of a comparison, in sentences from the engine: the best algorithm, by how much, and how certain that
is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from lightlag import _engine
from lightlag.outcomes.design import Measure, Point
from lightlag.outcomes.outcomes import Outcomes

__all__ = ["Answer", "AtPoint", "Difference", "Differences", "answer", "differences", "listed"]


@dataclass(frozen=True, slots=True)
class AtPoint:
    """The best algorithm by goodput at a point, or the best point of one algorithm."""

    point: Point | None
    level: tuple[str, ...]
    """The best algorithm, and the ones that cannot be distinguished from it."""
    lead: str
    """The gap to the second best, in words."""
    costs: str
    """The material costs of the best, in a sentence; empty if there are none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The conclusion of a comparison."""

    headline: str
    """The best candidate, its lead, and what it costs."""
    sentences: tuple[str, ...]
    """Further sentences: other algorithms and metrics, and candidates that share a run."""
    points: tuple[AtPoint, ...]


def answer(comparison: Outcomes) -> Answer:
    """Returns the conclusion of a comparison with finished runs.

    Raises
    ------
    ValueError
        If no run has a goodput.
    """
    found = json.loads(_engine.analysis(json.dumps({"answer": comparison.asked()})))
    if found is None:
        raise ValueError("no candidate has a value")
    points = tuple(
        AtPoint(
            None if one["point"] is None else comparison.points[one["point"]],
            tuple(one["level"]),
            one["lead"],
            one["costs"],
        )
        for one in found["points"]
    )
    return Answer(found["headline"], tuple(found["sentences"]), points)


@dataclass(frozen=True, slots=True)
class Difference:
    """A candidate compared with another one."""

    name: str
    mean: float
    is_clear: bool
    """Whether the difference is significant, or exact because nothing is random."""
    words: str
    """The difference in words, with its interval and the number of seeds that would probably decide."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The candidates at a point, or the points of one algorithm, compared with the best, with the intervals of the
    conclusion.
    """

    point: Point | None
    base: str
    """The best candidate."""
    mean: float
    """Its mean."""
    rows: tuple[Difference, ...]
    """The other candidates, best first."""


def differences(comparison: Outcomes, measure: Measure) -> list[Differences]:
    """Returns the differences of a metric from the best candidate, by point."""
    asked = {"differences": {"comparison": comparison.asked(), "measure": measure.column}}
    return [
        Differences(
            None if one["point"] is None else comparison.points[one["point"]],
            one["base"],
            one["mean"],
            tuple(Difference(row["name"], row["mean"], row["is_clear"], row["words"]) for row in one["rows"]),
        )
        for one in json.loads(_engine.analysis(json.dumps(asked)))
    ]


def listed(parts: Iterable[str], word: str = "and") -> str:
    """Joins parts with commas, and with `word` before the last.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = parts
    return f"{', '.join(most)} {word} {last}" if most else last
