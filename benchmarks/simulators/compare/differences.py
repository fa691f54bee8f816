"""Named differences: why a simulator's goodput differs, and in which cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grid import Cell
from settings import Switch


@dataclass(frozen=True)
class Difference:
    """A behaviour of a simulator that moves its goodput away from ours."""

    simulator: str
    algorithm: str
    name: str
    """Name of the difference in the tables."""
    why: str
    """The behaviour of the simulator, and the evidence for it."""
    applies: Callable[[Cell], bool]
    """Whether the difference applies to a cell."""
    ours_is_more: bool
    """Whether the difference makes our goodput the higher one."""
    proof: Switch | None = None
    """Our switches for the same behaviour, to prove the cause; None if there are none."""


DIFFERENCES = [
    Difference(
        "ns-3",
        "newreno",
        "half the pipe",
        "ssthresh is half of what is in the pipe when the loss is noticed, two or three segments less than FlightSize, "
        "which RFC 6675 §5 (4.2) halves. In the trace 57 segments become 27.5, and 28 become 13.",
        lambda cell: cell.loss > 0,
        ours_is_more=True,
    ),
    Difference(
        "ns-3",
        "hybla",
        "NewReno in effect",
        "ρ is updated only when the smoothed RTT equals its minimum. The minimum is the RTT of the handshake, whose "
        "packets are short, so ρ stays 1.",
        lambda cell: cell.loss > 0,
        ours_is_more=True,
        proof=Switch("ρ = 1", congestion={"reference_rtt": "10 s"}),
    ),
    Difference(
        "ns-3",
        "vegas",
        "smoothed RTT",
        "The RTT of a round is the smoothed RTT, which delayed ACKs lengthen, and the base RTT is the handshake's. "
        "The difference of 3 to 20 ms without any queue ends slow start early and counts as two segments in the queue. "
        "In the trace the window remains at 25 segments (50 ms) and at 69 (200 ms), with BDPs of 41 and 166.",
        lambda cell: True,
        ours_is_more=True,
    ),
    Difference(
        "ns-3",
        "vegas",
        "little reduction after a loss",
        "A loss sets the window to ssthresh, which remains at three quarters of an old window, or to one segment less. "
        "Linux and lightlag halve the window. In the trace at 600 ms every loss sets 103 to 123 segments to 102.",
        lambda cell: cell.loss > 0,
        ours_is_more=False,
    ),
    Difference(
        "ns-3",
        "bbr",
        "waiting for delayed ACKs",
        "After several losses in one round trip, as in startup, the bandwidth estimate falls to a few segments per "
        "round trip. Each of them waits for the delayed ACK (SRTT = RTT + 200 ms), and the window remains at 1 to 9 "
        "segments to the end; this happens with some seeds at every RTT. With "
        "`--ns3::TcpSocket::DelAckTimeout=40ms` ns-3 itself reaches 8.1 Mbit/s at 200 ms without loss, and with an RTT "
        "of 210 ms 9.1.",
        lambda cell: cell.round_trip_ms == 200 or cell.loss > 0,
        ours_is_more=True,
    ),
]


def difference(simulator: str, algorithm: str, cell: Cell, ratio: float) -> Difference | None:
    """Returns the difference that explains the ratio in a cell; None if there is none."""
    for entry in DIFFERENCES:
        named = (entry.simulator, entry.algorithm) == (simulator, algorithm)
        if named and entry.ours_is_more == (ratio > 1) and entry.applies(cell):
            return entry
    return None
