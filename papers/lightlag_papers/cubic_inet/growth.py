"""The growth function of one epoch: Fig. 1 (§3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import lightlag as ll
from lightlag_papers.cubic_inet import equations
from lightlag_papers.cubic_inet.scenarios import scenario
from lightlag_papers.epochs import OPEN, Epoch, WindowTrace, epochs
from lightlag_papers.table import Row, Verdict, number

FLOW = "client->server"
RTT_S = 0.1


@dataclass(frozen=True)
class Growth:
    """The window after one loss, from the start of the epoch on.

    Attributes
    ----------
    epoch
        The reduction and its epoch.
    t_s, window
        Seconds since the start of the epoch, and the window in segments.
    """

    epoch: Epoch
    t_s: NDArray[np.float64]
    window: NDArray[np.float64]

    @classmethod
    def run(cls) -> Growth:
        """Run the scenario and cut the epoch out of its trace."""
        return cls.of(WindowTrace.of(ll.run(scenario("growth")).trace("cwnd"), FLOW))

    @classmethod
    def of(cls, trace: WindowTrace) -> Growth:
        """Cut the only epoch out of a trace."""
        (epoch,) = epochs(trace)
        inside = (trace.time_s > epoch.reduction_s) & (trace.phase == OPEN)
        times, window = trace.time_s[inside], trace.cwnd[inside]
        begin = times[np.flatnonzero(~np.isnan(trace.k_s[inside]))[0]]
        inside = times >= begin
        return cls(epoch, times[inside] - begin, window[inside])

    def deviation(self) -> NDArray[np.float64]:
        """The window less equation 2, in segments. The code aims a round trip ahead and takes one to get there."""
        w_max = self.epoch.w_max
        theory: NDArray[np.float64] = np.array([equations.window(float(t), w_max) for t in self.t_s])
        return np.subtract(self.window, theory)

    def per_round(self) -> NDArray[np.float64]:
        """By how much equation 2 grows in a round trip, in segments: 3 C (t - K)² RTT."""
        slope: NDArray[np.float64] = 3 * equations.C * np.square(self.t_s - equations.k(self.epoch.w_max))
        return slope * RTT_S


def rows(growth: Growth) -> list[Row]:
    """Equations 1 and 2 against a simulated epoch."""
    w_max, k = growth.epoch.w_max, growth.epoch.k_s
    expected = equations.k(w_max)
    at_begin = growth.window[0] / w_max
    deviation = growth.deviation()
    inflection = inflection_s(growth)
    asymmetry = asymmetry_segments(growth, expected)
    worst = float(np.abs(deviation).max())
    behind = float((np.abs(deviation) - np.maximum(1.0, growth.per_round())).max())
    return [
        Row(
            "Fig. 1",
            "the epoch begins at (1 - β) Wmax",
            f"{1 - equations.BETA:.2f} Wmax",
            f"{1 - equations.BETA:.2f} Wmax",
            f"{at_begin:.3f} Wmax (Wmax = {w_max:.1f})",
            Verdict.claim(abs(at_begin - (1 - equations.BETA)) <= 0.01),
            "tolerance 0.01: equation 2 at t = 0",
        ),
        Row(
            "Fig. 1",
            "K (equation 1), s",
            "cbrt(Wmax β / C)",
            number(expected, 3),
            number(k, 3),
            Verdict.claim(abs(k / expected - 1) <= 0.01),
            "tolerance 1 %",
        ),
        Row(
            "Fig. 1",
            "largest distance to W(t) (equation 2), segments",
            "C (t - K)³ + Wmax",
            "0",
            f"{worst:.2f} within {growth.t_s[-1]:.1f} s",
            Verdict.claim(behind <= 0),
            "everywhere at most what W(t) grows by in a round trip, or one segment: the window follows ACK by ACK",
        ),
        Row(
            "Fig. 1",
            "concave before, convex after: time of inflection, s",
            "at K",
            number(expected, 2),
            number(inflection, 2),
            Verdict.claim(abs(inflection - expected) <= 2 * RTT_S),
            "from a cubic fitted to the simulated window; tolerance two round trips",
        ),
        Row(
            "Fig. 1",
            "symmetry about K: largest |W(K + x) + W(K - x) - 2 Wmax|, segments",
            "symmetric",
            "0",
            number(asymmetry),
            Verdict.claim(asymmetry <= 0.02 * w_max),
            f"tolerance 2 % of Wmax, {0.02 * w_max:.1f} segments",
        ),
    ]


def inflection_s(growth: Growth) -> float:
    """The inflection of the simulated window: that of a cubic fitted from 0 to 2 K."""
    inside = growth.t_s <= 2 * growth.epoch.k_s
    cubic = np.polynomial.Polynomial.fit(growth.t_s[inside], growth.window[inside], 3).convert()
    _, _, second, third = (float(value) for value in np.real(cubic.coef))
    return -second / (3 * third)


def asymmetry_segments(growth: Growth, k: float) -> float:
    """The largest difference between what is missing before K and what is gained as long after it."""
    x = np.linspace(0, k, 200)
    before, after = (np.interp(at, growth.t_s, growth.window) for at in (k - x, k + x))
    return float(np.abs(before + after - 2 * growth.epoch.w_max).max())
