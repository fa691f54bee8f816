"""The conclusion of a comparison, in sentences from the engine: the best algorithm, by how much, and how certain that
is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from lightlag import _engine
from lightlag.outcomes.design import Point
from lightlag.outcomes.outcomes import Outcomes

__all__ = ["Answer", "AtPoint", "answer", "listed"]


@dataclass(frozen=True, slots=True)
class AtPoint:
    """The best algorithm by goodput at a point, or the best point of one algorithm."""

    point: Point | None
    level: tuple[str, ...]
    """The best algorithm, and the ones that cannot be distinguished from it."""
    lead: str
    """The gap to the second best, in words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The conclusion of a comparison."""

    headline: str
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
        AtPoint(None if at is None else comparison.points[at], tuple(level), lead)
        for at, level, lead in ((one["point"], one["level"], one["lead"]) for one in found["points"])
    )
    return Answer(found["headline"], tuple(found["sentences"]), points)


def listed(parts: Iterable[str], word: str = "and") -> str:
    """Joins parts with commas, and with `word` before the last.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = parts
    return f"{', '.join(most)} {word} {last}" if most else last
