"""Rate, delay and loss of one direction of a path at some times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

__all__ = ["PACKET", "Direction", "Floats", "NotComputedError", "Sampled", "Values", "in_series"]

Floats = npt.NDArray[np.float64]

PACKET = 1500
"""Size in bytes of the packets for which losses and overheads are computed."""


class NotComputedError(Exception):
    """A property of a path that follows only from a run; the message names it."""


@dataclass(frozen=True)
class Values:
    """Values of a part of a path, one per time.

    Attributes
    ----------
    rate_bps
        Rate of packets of 1500 bytes; 0 while packets wait for the end of an outage.
    delay_s
        Propagation delay, without waiting and transmission.
    loss
        Probability that a packet of 1500 bytes is lost; 1 in an outage in which packets are lost.
    """

    rate_bps: Floats
    delay_s: Floats
    loss: Floats

    @classmethod
    def nowhere(cls, count: int) -> Values:
        """Returns the values while there is no path."""
        return cls(np.full(count, np.inf), np.full(count, np.nan), np.ones(count))

    def put(self, where: npt.NDArray[np.bool_], others: Values) -> None:
        """Replaces the values at some times."""
        self.rate_bps[where], self.delay_s[where], self.loss[where] = others.rate_bps, others.delay_s, others.loss


def in_series(parts: list[Values]) -> Values:
    """Returns the values of a path that consists of parts: the lowest rate, the sum of delays, losses in series."""
    with np.errstate(divide="ignore"):
        # Sums of logarithms are exact for small probabilities.
        arrives = reduce(np.add, [np.log1p(-part.loss) for part in parts])
    return Values(
        reduce(np.minimum, [part.rate_bps for part in parts]),
        reduce(np.add, [part.delay_s for part in parts]),
        0.0 - np.expm1(arrives),
    )


class Direction:
    """One direction of a path, whose values can be computed or were measured."""

    queue_packets: int
    """Limit of the queue before the slowest link, in packets of 1500 bytes."""

    def at(self, times: Floats) -> Values:
        """Returns the values at each time, in ascending order."""
        raise NotImplementedError

    def rates(self, times: Floats) -> Floats:
        """Returns the mean rate of each interval between two times, without intervals in which all packets are lost."""
        values = self.at(times[:-1])
        return np.where(values.loss < 1.0, values.rate_bps, 0.0)


class Sampled(Direction):
    """A direction that was measured at equal intervals."""

    def __init__(self, step_s: float, values: Values, queue_packets: int) -> None:
        self._step_s, self._values, self.queue_packets = step_s, values, queue_packets

    def at(self, times: Floats) -> Values:
        last = len(self._values.rate_bps) - 1
        index = np.minimum(np.floor(times / self._step_s + 1e-9).astype(np.int64), last)
        return Values(self._values.rate_bps[index], self._values.delay_s[index], self._values.loss[index])
