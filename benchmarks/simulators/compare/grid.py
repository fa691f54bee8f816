"""The scenarios: one flow over one bottleneck, for a grid of round-trip times and loss rates."""

from __future__ import annotations

from dataclasses import dataclass

MEGABITS = 10.0
PAYLOAD = 1448
"""Payload of a segment in bytes."""
PACKET = 1500
"""Bytes of an IP packet that carries such a segment, timestamps included."""
ROUND_TRIPS_MS = (50, 200, 600)
LOSSES = (0.0, 1e-4, 1e-3)
SEEDS = 16
"""Runs of a cell with losses, on each side. With 3 runs on one side and 10 on the other, the ratio of a cell varied
randomly by up to 15 %.
"""

_SECONDS = {50: 100, 200: 200, 600: 400}
"""Simulated time, by round-trip time: long enough for several losses per run at a rate of 1e-4, short enough for ns-3
to run in seconds.
"""


@dataclass(frozen=True)
class Cell:
    """A path: 10 Mbit/s, a drop-tail queue of one BDP at the sender, independent losses of data packets."""

    round_trip_ms: int
    loss: float

    @property
    def bdp(self) -> int:
        """Bandwidth-delay product in packets, which is also the length of the queue."""
        return int(MEGABITS * 1e3 * self.round_trip_ms / 8 / PACKET)

    @property
    def seconds(self) -> int:
        """Simulated time in seconds."""
        return _SECONDS[self.round_trip_ms]

    @property
    def seeds(self) -> range:
        """Seeds to run: without random losses every run is the same."""
        return range(1, 1 + (SEEDS if self.loss else 1))

    def __str__(self) -> str:
        return f"{self.round_trip_ms} ms, {self.loss:g}"


CELLS = [Cell(round_trip_ms, loss) for round_trip_ms in ROUND_TRIPS_MS for loss in LOSSES]


@dataclass(frozen=True)
class Outcome:
    """The result of one run, or the mean of several."""

    goodput_mbps: float
    retransmitted: float
    cwnd: float


def mean(outcomes: list[Outcome]) -> Outcome:
    """Returns the mean of each number in the outcomes."""
    columns = zip(*((o.goodput_mbps, o.retransmitted, o.cwnd) for o in outcomes), strict=True)
    return Outcome(*(sum(column) / len(outcomes) for column in columns))
