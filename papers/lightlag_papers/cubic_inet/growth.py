"""The growth function of one epoch: Fig. 1 (§3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import lightlag as ll
from lightlag_papers.cubic_inet import equations
from lightlag_papers.epochs import OPEN, Epoch, WindowTrace, epochs
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import Row, number

FLOW = "client->server"
RTT_S = 0.1


@dataclass(frozen=True)
class Growth:
    """The window in the epoch after a loss.

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
        """Runs the scenario and extracts the epoch from its trace."""
        return cls.of(WindowTrace.of(ll.run(scenario("cubic_inet/growth")).trace("cwnd"), FLOW))

    @classmethod
    def of(cls, trace: WindowTrace) -> Growth:
        """Extracts the only epoch from a trace."""
        (epoch,) = epochs(trace)
        inside = (trace.time_s > epoch.reduction_s) & (trace.phase == OPEN)
        times, window = trace.time_s[inside], trace.cwnd[inside]
        begin = times[np.flatnonzero(~np.isnan(trace.k_s[inside]))[0]]
        inside = times >= begin
        return cls(epoch, times[inside] - begin, window[inside])

    def deviation(self) -> NDArray[np.float64]:
        """Returns the difference between the window and equation 2, in segments.

        The code aims at the value one round trip ahead, and takes one round trip to reach it.
        """
        w_max = self.epoch.w_max
        theory: NDArray[np.float64] = np.array([equations.window(float(t), w_max) for t in self.t_s])
        return np.subtract(self.window, theory)

    def per_round(self) -> NDArray[np.float64]:
        """Returns by how much equation 2 grows per round trip, in segments: 3 C (t - K)² RTT."""
        slope: NDArray[np.float64] = 3 * equations.C * np.square(self.t_s - equations.k(self.epoch.w_max))
        return slope * RTT_S


def rows(growth: Growth) -> list[Row]:
    """Returns the rows that compare equations 1 and 2 with a simulated epoch."""
    w_max, k = growth.epoch.w_max, growth.epoch.k_s
    expected = equations.k(w_max)
    at_begin = growth.window[0] / w_max
    deviation = growth.deviation()
    inflection = inflection_s(growth)
    asymmetry = asymmetry_segments(growth, expected)
    worst = float(np.abs(deviation).max())
    behind = float((np.abs(deviation) - np.maximum(1.0, growth.per_round())).max())
    return [
        Row.claim(
            "Fig. 1",
            "the epoch starts at (1 - β) Wmax",
            f"{1 - equations.BETA:.2f} Wmax",
            f"{at_begin:.3f} Wmax (Wmax = {w_max:.1f})",
            abs(at_begin - (1 - equations.BETA)) <= 0.01,
            "tolerance 0.01: equation 2 at t = 0",
            theory=f"{1 - equations.BETA:.2f} Wmax",
        ),
        Row.claim(
            "Fig. 1",
            "K (equation 1), s",
            "cbrt(Wmax β / C)",
            number(k, 3),
            abs(k / expected - 1) <= 0.01,
            "tolerance 1 %",
            theory=number(expected, 3),
        ),
        Row.claim(
            "Fig. 1",
            "largest distance to W(t) (equation 2), segments",
            "C (t - K)³ + Wmax",
            f"{worst:.2f} within {growth.t_s[-1]:.1f} s",
            behind <= 0,
            "everywhere at most what W(t) grows by in a round trip, or one segment: the window follows ACK by ACK",
            theory="0",
        ),
        Row.claim(
            "Fig. 1",
            "concave before, convex after: time of inflection, s",
            "at K",
            number(inflection, 2),
            abs(inflection - expected) <= 2 * RTT_S,
            "tolerance two round trips; from a cubic fitted to the simulated window",
            theory=number(expected, 2),
        ),
        Row.claim(
            "Fig. 1",
            "symmetry about K: largest |W(K + x) + W(K - x) - 2 Wmax|, segments",
            "symmetric",
            number(asymmetry),
            asymmetry <= 0.02 * w_max,
            f"tolerance 2 % of Wmax, {0.02 * w_max:.1f} segments",
            theory="0",
        ),
    ]


def inflection_s(growth: Growth) -> float:
    """Returns the inflection time of the simulated window in s, from a cubic fitted between 0 and 2 K."""
    inside = growth.t_s <= 2 * growth.epoch.k_s
    cubic = np.polynomial.Polynomial.fit(growth.t_s[inside], growth.window[inside], 3).convert()
    _, _, second, third = (float(value) for value in np.real(cubic.coef))
    return -second / (3 * third)


def asymmetry_segments(growth: Growth, k: float) -> float:
    """Returns the asymmetry about K: the maximum of |W(K + x) + W(K - x) - 2 Wmax|, in segments."""
    x = np.linspace(0, k, 200)
    before, after = (np.interp(at, growth.t_s, growth.window) for at in (k - x, k + x))
    return float(np.abs(before + after - 2 * growth.epoch.w_max).max())
