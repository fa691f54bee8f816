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
    name: str
    """Its name in the tables."""
    why: str
    """The behaviour of the peer, and the evidence for it."""
    applies: Callable[[Cell], bool]
    """Whether it acts in this cell."""
    ours_is_more: bool
    """The direction in which it moves the ratio."""
    proof: Switch | None = None
    """The switches that make us do the same, to show that it is the reason; None if we have none."""


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
        "ρ is updated only when the smoothed RTT equals its minimum, and that was the handshake's, whose packets are "
        "short. ρ stays 1.",
        lambda cell: cell.loss > 0,
        ours_is_more=True,
        proof=Switch("ρ = 1", congestion={"reference_rtt": "10 s"}),
    ),
    Difference(
        "ns-3",
        "vegas",
        "smoothed RTT",
        "The RTT of a round is the smoothed one, which delayed ACKs lengthen, and its base that of the handshake. "
        "3 to 20 ms without any queue end slow start early and count as two segments in the queue. In the trace the "
        "window stays for good at 25 segments (50 ms) and at 69 (200 ms), of BDPs of 41 and 166.",
        lambda cell: True,
        ours_is_more=True,
    ),
    Difference(
        "ns-3",
        "vegas",
        "a loss hardly counts",
        "A loss sets the window to ssthresh, which stays at three quarters of an old window, or to one segment less. "
        "Linux halves it, and so do we. In the trace at 600 ms every loss sets 103 to 123 segments to the same 102.",
        lambda cell: cell.loss > 0,
        ours_is_more=False,
    ),
    Difference(
        "ns-3",
        "bbr",
        "waiting for delayed ACKs",
        "After the losses of startup, or several at once, the estimate of the bandwidth falls to a few segments a "
        "round trip. Each waits for the delayed ACK (SRTT = RTT + 200 ms), and so it stays to the end, at 1 to 9 "
        "segments; single seeds do so at every RTT. With `--ns3::TcpSocket::DelAckTimeout=40ms` ns-3 itself gets "
        "8.1 Mbit/s at 200 ms without loss, and with an RTT of 210 ms 9.1.",
        lambda cell: cell.round_trip_ms == 200 or cell.loss > 0,
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
