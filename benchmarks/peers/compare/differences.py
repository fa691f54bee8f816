"""Named differences: why a peer's number is another one, and in which cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grid import Cell
from settings import Switch


@dataclass(frozen=True)
class Difference:
    """A behaviour of a peer that moves its goodput away from ours."""

    peer: str
    algorithm: str
    why: str
    applies: Callable[[Cell], bool]
    """Whether it acts in this cell."""
    ours_is_more: bool
    """Which way it moves the ratio."""
    proof: Switch | None = None
    """What makes us do the same, to show that it is the reason; None where we have no such switch."""


DIFFERENCES = [
    Difference(
        "ns-3",
        "hybla",
        "it is NewReno there: ρ is updated only when the smoothed RTT equals its minimum, which is the handshake's",
        lambda cell: cell.loss > 0,
        ours_is_more=True,
        proof=Switch("ρ = 1", congestion={"reference_rtt": "10 s"}),
    ),
    Difference(
        "ns-3",
        "vegas",
        "it compares the smoothed RTT, which delayed ACKs lengthen, with the handshake's: 3 to 5 ms without queue end "
        "slow start and count as 2 segments in the queue at a window of 25 (50 ms) or 69 (200 ms), below the BDP",
        lambda cell: True,
        ours_is_more=True,
    ),
    Difference(
        "ns-3",
        "vegas",
        "a loss sets its window to an old ssthresh, or one segment less, where Linux and we halve it",
        lambda cell: cell.loss > 0,
        ours_is_more=False,
    ),
    Difference(
        "ns-2",
        "bic",
        "it counts in whole segments, so that the last 8 below Wmax are slow, not the last 4, and an increment takes "
        "an ACK more; our slow start has to count segments with the rest",
        lambda cell: cell.loss > 0,
        ours_is_more=True,
    ),
]


def difference(peer: str, algorithm: str, cell: Cell, ratio: float) -> Difference | None:
    """The difference that explains our goodput over theirs in a cell; None if there is no such."""
    for entry in DIFFERENCES:
        named = (entry.peer, entry.algorithm) == (peer, algorithm)
        if named and entry.ours_is_more == (ratio > 1) and entry.applies(cell):
            return entry
    return None
