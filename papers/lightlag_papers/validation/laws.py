"""The growth and the reduction of each algorithm, for the renewal model, and response functions in closed form.

Windows are in segments, times in seconds, and growth is per round trip with an ACK for every segment, on a path
without queues.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lightlag_papers.validation.renewal import FLOWS, Flags, Law, Windows

Rule = Callable[[Windows], Windows]


def aimd(p: float, increase: float, kept: float) -> float:
    """Returns the mean window of additive increase and multiplicative decrease (RFC 9438 §4.3 equation 3).

    Examples
    --------
    >>> round(aimd(1e-3, 1, 0.5), 1)
    38.7
    """
    return math.sqrt(increase * (1 + kept) / (2 * (1 - kept) * p))


def highspeed(p: float) -> float:
    """Returns HighSpeed TCP's mean window (RFC 3649 §5): 0.12 / p^0.835, and 1.2 / √p up to 38 segments.

    Examples
    --------
    >>> round(highspeed(1e-4))
    263
    """
    return 0.12 / p**0.835 if p < 1e-3 else 1.2 / math.sqrt(p)


def power(p: float, factor: float, exponent: float, kept: float) -> float:
    """Returns the mean window if a round trip adds factor · W^exponent, with a loss every 1/p segments.

    Examples
    --------
    >>> round(power(1e-3, 1, 0, 0.5), 1)
    38.7
    """
    at = 2 - exponent
    highest = math.pow(factor * at / (p * (1 - math.pow(kept, at))), 1 / at)
    rest = 1 - exponent
    rounds = math.pow(highest, rest) * (1 - math.pow(kept, rest)) / (factor * rest)
    return 1 / (p * rounds)


class Plain(Law):
    """Growth that depends only on the window, and reduction to a fraction of the window.

    Parameters
    ----------
    slope
        Growth in segments per round trip, as a number or a function of the window.
    kept
        Window after a loss as a fraction of the window before, as a number or a function of the window.
    """

    def __init__(self, slope: Rule | float, kept: Rule | float) -> None:
        self._slope = _rule(slope)
        self._kept = _rule(kept)

    def slope(self, window: Windows, elapsed_s: Windows, rtt_s: float) -> Windows:
        """Returns the growth given by `slope`."""
        return self._slope(window)

    def reduced(self, window: Windows, lost: Flags) -> Windows:
        """Reduces windows to the retained fraction, but never below two segments (RFC 5681 §3.1)."""
        return np.where(lost, np.maximum(window * self._kept(window), 2.0), window)


def _rule(value: Rule | float) -> Rule:
    if callable(value):
        return value
    return lambda window: np.full_like(window, value)


class Cubic(Law):
    """CUBIC (RFC 9438 §4): W(t) = C (t - K)³ + Wmax, and the Reno-friendly estimate."""

    def __init__(self, *, kept: float = 0.7, c: float = 0.4, friendly: bool, fast_convergence: bool) -> None:
        self.kept, self.c = kept, c
        self.friendly, self.fast_convergence = friendly, fast_convergence
        self.w_max: Windows = np.zeros(FLOWS)
        self.k: Windows = np.zeros(FLOWS)
        self.prior: Windows = np.zeros(FLOWS)
        self.estimate: Windows = np.zeros(FLOWS)

    def slope(self, window: Windows, elapsed_s: Windows, rtt_s: float) -> Windows:
        """Returns the growth towards W(t + RTT), at most W/2 per round trip (§4.2), or by §4.3 if that is more."""
        target = self.w_max + self.c * (elapsed_s + rtt_s - self.k) ** 3
        aim = np.clip(target, window, 1.5 * window) - window
        if not self.friendly:
            return aim
        now = self.w_max + self.c * (elapsed_s - self.k) ** 3
        return np.where(now < self.estimate, np.maximum(self.estimate - window, 0.0), aim)

    def passed(self, rounds: Windows) -> None:
        """Advances the Reno-friendly estimate (§4.3).

        α = 3 (1 - β) / (1 + β) until the window before the reduction is reached again, 1 thereafter.
        """
        alpha = np.where(self.estimate < self.prior, 3 * (1 - self.kept) / (1 + self.kept), 1.0)
        self.estimate = self.estimate + rounds * alpha

    def reduced(self, window: Windows, lost: Flags) -> Windows:
        """Reduces windows as in §4.6 and §4.7."""
        after = np.where(lost, np.maximum(window * self.kept, 2.0), window)
        converging = self.fast_convergence & (window < self.w_max)
        self.w_max = np.where(lost, np.where(converging, window * (1 + self.kept) / 2, window), self.w_max)
        self.k = np.where(lost, np.cbrt((self.w_max - after) / self.c), self.k)
        self.prior = np.where(lost, window, self.prior)
        self.estimate = np.where(lost, after, self.estimate)
        return after


class Bic(Law):
    """BIC (Xu, Harfoush, Rhee 2004): binary search below the last window, and max probing above it.

    The growth is half of the distance to the last window, then 1, 2, 4, ... segments above it. The window is reduced by
    1/8.

    Up to 14 segments BIC behaves like Reno.
    """

    def __init__(self) -> None:
        self.w_max: Windows = np.zeros(FLOWS)

    def slope(self, window: Windows, elapsed_s: Windows, rtt_s: float) -> Windows:
        """Returns the growth, limited to Smin = 0.01 and Smax = 32."""
        below = np.clip((self.w_max - window) / 2, 0.01, 32.0)
        above = np.minimum(np.exp2(np.floor(np.log2(np.maximum(np.floor(window - self.w_max) + 1, 1.0)))), 32.0)
        return np.where(window < 14, 1.0, np.where(window < self.w_max, below, above))

    def reduced(self, window: Windows, lost: Flags) -> Windows:
        """Reduces windows, with fast convergence."""
        small = window < 14
        aimed = np.where(window < self.w_max, window * (1 + 0.875) / 2, window)
        self.w_max = np.where(lost & ~small, aimed, self.w_max)
        return np.where(lost, np.maximum(window * np.where(small, 0.5, 0.875), 2.0), window)


class Htcp(Law):
    """H-TCP (Shorten, Leith 2004): growth of 1 for a second, then 1 + 10 Δ + (Δ/2)²; reduction to 0.5 or 0.8."""

    def __init__(self, rtt_s: float) -> None:
        self.since_s = rtt_s
        """Time in s from the loss to the start of growth: one round trip, for the repair."""
        self.last: Windows = np.zeros(FLOWS)
        self.kept: Windows = np.full(FLOWS, 0.5)

    def slope(self, window: Windows, elapsed_s: Windows, rtt_s: float) -> Windows:
        """Returns the growth, scaled by 2 (1 - β)."""
        late = np.maximum(elapsed_s + self.since_s - 1, 0.0)
        return np.maximum(2 * (1 - self.kept) * (1 + 10 * late + late**2 / 4), 1.0)

    def reduced(self, window: Windows, lost: Flags) -> Windows:
        """Reduces windows to β.

        Without a queue, RTTmin/RTTmax is 1, so β is 0.8; it is 0.5 if the window changed by more than a fifth.
        """
        changed = np.abs(window - self.last) > 0.2 * self.last
        self.kept = np.where(lost, np.where(changed, 0.5, 0.8), self.kept)
        self.last = np.where(lost, window, self.last)
        return np.where(lost, np.maximum(window * self.kept, 2.0), window)


class Tahoe(Law):
    """Tahoe: one segment after a loss, then slow start to half of the old window. Retransmitted data counts twice."""

    def __init__(self) -> None:
        self.threshold: Windows = np.zeros(FLOWS)

    def slope(self, window: Windows, elapsed_s: Windows, rtt_s: float) -> Windows:
        """Returns the growth: doubling below the threshold, one segment per round trip above it."""
        return np.where(window < self.threshold, window, 1.0)

    def reduced(self, window: Windows, lost: Flags) -> Windows:
        """Reduces windows to one segment."""
        self.threshold = np.where(lost, np.maximum(window / 2, 2.0), self.threshold)
        return np.where(lost, 1.0, window)


def highspeed_law() -> Law:
    """Returns a(w) and b(w) of RFC 3649 §5 for windows of at least 38 segments."""
    low_w, low_p, high_w, high_p, high_b = 38.0, 1e-3, 83_000.0, 1e-7, 0.1

    def share(window: Windows) -> Windows:
        return np.log(np.maximum(window, low_w) / low_w) / math.log(high_w / low_w)

    def taken(window: Windows) -> Windows:
        return (high_b - 0.5) * share(window) + 0.5

    def slope(window: Windows) -> Windows:
        p = low_p * np.exp(share(window) * math.log(high_p / low_p))
        b = taken(window)
        return np.maximum(window**2 * p * 2 * b / (2 - b), 1.0)

    return Plain(slope, lambda window: 1 - taken(window))


def above(limit: float, high: Rule | float, low: Rule | float) -> Rule:
    """Returns a rule that combines two others: the first applies to larger windows, the second up to this window."""
    one, other = _rule(high), _rule(low)
    return lambda window: np.where(window > limit, one(window), other(window))
