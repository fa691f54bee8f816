"""Named differences: why a peer's number is another one, and in which cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grid import Cell


@dataclass(frozen=True)
class Difference:
    """A behaviour of a peer that moves its goodput away from ours."""

    peer: str
    algorithm: str
    applies: Callable[[Cell, float], bool]
    """Whether it explains this cell, given our goodput over theirs."""
    why: str


DIFFERENCES: list[Difference] = []


def explanation(peer: str, algorithm: str, cell: Cell, ratio: float) -> str | None:
    """The difference that explains a cell; None if there is no such."""
    for difference in DIFFERENCES:
        if (difference.peer, difference.algorithm) == (peer, algorithm) and difference.applies(cell, ratio):
            return difference.why
    return None
