"""The growth functions of the paper, with windows in segments, and times in round trips unless a unit is given."""

from __future__ import annotations

import math
from dataclasses import dataclass

BETA = 0.2
"""The fraction of CUBIC's window that a loss removes, as used in K (equation 1). The text also states that the
window becomes βWmax; there β would have to be the remaining fraction, 0.8.
"""
RTT0_S = 0.025
"""Hybla's reference round-trip time in s (§II-B)."""


@dataclass(frozen=True)
class Bic:
    """BIC's window after a loss (Fig. 1). Every ACK increases it, so that dW/dt = S(W) with t in round trips.

    Attributes
    ----------
    start, w_max
        Window after the loss, and window before it.
    largest, smallest
        Smax and Smin: maximum and minimum growth of the search per round trip.
    """

    start: float
    w_max: float
    largest: float = 32.0
    smallest: float = 0.01

    @property
    def linear_ends(self) -> float:
        """Time when half of the distance to Wmax falls below Smax."""
        return max(0.0, (self.w_max - self.start - 2 * self.largest) / self.largest)

    @property
    def search_ends(self) -> float:
        """Time when half of the distance to Wmax falls below Smin. The distance decreases as exp(-t/2)."""
        near = min(2 * self.largest, self.w_max - self.start)
        return self.linear_ends + 2 * math.log(near / (2 * self.smallest))

    @property
    def arrives(self) -> float:
        """Time when the window reaches Wmax again: the last 2 Smin are covered at Smin per round trip."""
        return self.search_ends + 2

    def window(self, t: float) -> float:
        """Returns the window after `t` round trips.

        Examples
        --------
        >>> bic = Bic(1750.0, 2000.0)
        >>> [round(bic.window(t), 2) for t in (0, 5, bic.linear_ends, bic.arrives, bic.arrives + 3)]
        [1750.0, 1910.0, 1936.0, 2000.0, 2007.0]
        """
        if t <= self.linear_ends:
            return self.start + self.largest * t
        if t <= self.search_ends:
            near = min(2 * self.largest, self.w_max - self.start)
            return self.w_max - near * math.exp((self.linear_ends - t) / 2)
        if t <= self.arrives:
            return self.w_max - self.smallest * (self.arrives - t)
        return self.w_max + self._probed(t - self.arrives)

    def _probed(self, t: float) -> float:
        """Returns the growth by max probing in `t` round trips: 1, 2, 4, ... segments per round trip, then Smax."""
        step, gained = 1.0, 0.0
        while t > 1 and step < self.largest:
            gained, step, t = gained + step, 2 * step, t - 1
        return gained + step * t


def hybla(p: float, rtt_s: float) -> float:
    """Returns Hybla's mean window at loss rate `p`: ρ sqrt(3/2p), which is ρ times Reno's window.

    Examples
    --------
    >>> round(hybla(2e-4, 0.6))
    2078
    """
    return max(rtt_s / RTT0_S, 1.0) * math.sqrt(1.5 / p)
