"""The growth functions of BIC and CUBIC: Figs. 1 and 2 (§II-A)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import lightlag as ll
from lightlag_papers.cubic_inet import equations as cubic_equations
from lightlag_papers.cubic_inet.growth import RTT_S, Growth
from lightlag_papers.epochs import OPEN, WindowTrace, epochs
from lightlag_papers.hybla_cubic.equations import RTT0_S, Bic
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import Row, Verdict, number

FLOW = "source->sink"
BIC_LOSS, CUBIC_LOSS = 2000, 500
"""Numbers of the packets whose loss ends slow start. Wmax is one segment more."""


def trace_of(congestion: str, lost: int) -> WindowTrace:
    """Returns the window of a flow that loses one packet."""
    sets = {"defaults.tcp.congestion": congestion, "links.0.loss": _loss(lost)}
    return WindowTrace.of(ll.run(scenario("hybla_cubic/growth"), sets=sets).trace("cwnd"), FLOW)


def _loss(packet: int) -> str:
    return f'{{ packets = [{packet}], direction = "forward" }}'


@dataclass(frozen=True)
class BicGrowth:
    """BIC's window after one loss.

    Attributes
    ----------
    w_max
        The window before the loss.
    window
        The window at the end of each round trip, in segments. The ACKs of a round trip arrive within 2 ms here,
        so each round trip is one step.
    """

    w_max: float
    window: NDArray[np.float64]

    @classmethod
    def run(cls, variant: str) -> BicGrowth:
        """Runs the scenario with BIC as in its paper, or as in Linux."""
        trace = trace_of(f'{{ algorithm = "bic", variant = "{variant}" }}', BIC_LOSS)
        (epoch,) = epochs(trace)
        grows = (trace.time_s > epoch.reduction_s) & (trace.phase == OPEN) & (trace.cwnd > trace.ssthresh)
        begin = float(trace.time_s[grows][0])
        ends = np.arange(begin + 0.5 * RTT_S, float(trace.time_s[-1]), RTT_S)
        return cls(epoch.window, trace.cwnd[np.searchsorted(trace.time_s, ends, side="right") - 1])

    @property
    def ideal(self) -> Bic:
        """The growth function with the same initial window."""
        return Bic(float(self.window[0]), self.w_max)

    def steps(self, low: float, high: float) -> NDArray[np.float64]:
        """Returns the growth in each round trip in which the window stays between `low` and `high`."""
        inside = self.window[(self.window >= low) & (self.window <= high)]
        return np.diff(inside)

    def arrives(self) -> int:
        """Returns the index of the round trip in which the window reaches Wmax again, to a hundredth of a segment."""
        return int(np.flatnonzero(self.window >= self.w_max - 0.011)[0])


def bic_rows(paper: BicGrowth, linux: BicGrowth) -> list[Row]:
    """Returns the rows for the three phases of Fig. 1."""
    ideal, w_max = paper.ideal, paper.w_max
    linear = [float(growth.steps(0, w_max - 65).mean()) for growth in (paper, linux)]
    way = w_max - paper.window[(paper.window > w_max - 60) & (paper.window < w_max - 1)]
    shrinks = float(np.exp(np.diff(np.log(way)).mean()))
    arrival = paper.arrives()
    probing = np.diff(paper.window[arrival : arrival + 9])
    worst = max(abs(float(window) - ideal.window(at)) for at, window in enumerate(paper.window[: arrival + 1]))
    return [
        Row.claim(
            "Fig. 1",
            "BIC, additive increase: segments per round trip",
            "linear far from Wmax",
            f"{linear[0]:.2f}; {linear[1]:.2f} in Linux",
            abs(linear[0] / 32 - 1) <= 0.02 and abs(linear[1] / 16 - 1) <= 0.02,
            "tolerance 2 %",
            theory="32 (Smax); 16 in Linux",
        ),
        Row.claim(
            "Fig. 1",
            "BIC, binary search: remaining fraction of the distance to Wmax after a round trip",
            "half, as a search",
            number(shrinks, 3),
            abs(shrinks / np.exp(-0.5) - 1) <= 0.02,
            "tolerance 2 %, from 60 segments below Wmax to one",
            theory=f"{np.exp(-0.5):.3f} (half of the distance in steps per ACK: exp(-1/2))",
        ),
        Row.check(
            "Fig. 1",
            "BIC: round trips from the loss back to Wmax",
            number(ideal.arrives, 1),
            f"{arrival} (Wmax = {w_max:.0f})",
            abs(arrival - ideal.arrives) <= 1,
            "tolerance one round trip",
        ),
        Row.check(
            "Fig. 1",
            "BIC: largest distance to the growth function up to Wmax, segments",
            "0",
            number(worst),
            worst <= 2,
            "at most two: an ACK counts by the window that it meets, which grows within a round",
        ),
        Row.claim(
            "Fig. 1",
            "BIC, max probing: segments in each round trip beyond Wmax",
            "slowly at first, then faster",
            ", ".join(f"{step:.1f}" for step in probing),
            bool((np.diff(probing[:6]) > 0).all()) and abs(float(probing[-1]) / 32 - 1) <= 0.02,
            "each of the first six larger than the one before, then 32 within 2 %",
            theory="1, 2, 4, 8, 16, 32, 32, ...",
        ),
    ]


CUBICS = {
    "paper2008": '{ algorithm = "cubic", variant = "paper2008" }',
    "linux-2.6": '{ algorithm = "cubic", variant = "linux-2.6", initial_ssthresh = 0 }',
}
"""CUBIC as in its paper, and in whole segments, as in the Linux kernels whose code ns-2's TCP-Linux contains."""


def cubic_growth(variant: str) -> Growth:
    """Runs the scenario with a variant, and returns one epoch of CUBIC."""
    return Growth.of(trace_of(CUBICS[variant], CUBIC_LOSS))


def cubic_rows(paper: Growth, linux: Growth) -> list[Row]:
    """Returns the rows that compare equation 1 with simulated epochs."""
    w_max = paper.epoch.w_max
    k = cubic_equations.k(w_max)
    worst = float(np.abs(paper.deviation()).max())
    behind = float((np.abs(paper.deviation()) - np.maximum(1.0, paper.per_round())).max())
    whole = float((np.abs(linux.deviation()) - np.maximum(2.0, 2 * linux.per_round())).max())
    return [
        Row.claim(
            "Fig. 2",
            "CUBIC: K (equation 1), s",
            "cbrt(Wmax β / C)",
            f"{paper.epoch.k_s:.3f}; {linux.epoch.k_s:.3f} in Linux 2.6",
            abs(paper.epoch.k_s / k - 1) <= 0.01 and abs(linux.epoch.k_s / k - 1) <= 0.02,
            "tolerance 1 %, and 2 % in whole segments. With β = 0.2, the share that is removed",
            theory=number(k, 3),
        ),
        Row(
            "Fig. 2",
            "CUBIC: the window after the loss over Wmax",
            "β",
            "0.8 = 1 - β",
            f"{paper.epoch.threshold / w_max:.3f}; {linux.epoch.threshold / linux.epoch.w_max:.3f} in Linux 2.6",
            Verdict.UNDECIDED,
            'the text uses β for the removed part (in K) and for the remaining part ("reduces to βWmax"): one of '
            "the two is an error",
        ),
        Row.claim(
            "Fig. 2",
            "CUBIC: largest distance to W(t), segments",
            "C (t - K)³ + Wmax",
            f"{worst:.2f}; {float(np.abs(linux.deviation()).max()):.2f} in Linux 2.6 (Wmax = {w_max:.0f})",
            behind <= 0 and whole <= 0,
            "everywhere at most what W(t) grows by in a round trip, or one segment, and twice that in Linux, which "
            "computes in whole segments and aims a round trip ahead",
            theory="0",
        ),
    ]


HYBLA_RTTS_S = (0.025, 0.05, 0.1, 0.2, 0.4, 0.6)
HYBLA_FROM_S, HYBLA_SECONDS = 4.0, 10.0
HYBLA_TOLERANCE = 0.1
HYBLA_PAPER = {
    "defaults.tcp.profile": '"rfc"',
    "defaults.tcp.delayed_ack": "false",
    "defaults.tcp.growth": '"per_ack"',
}
"""Settings for the update rule of equation 8, without Linux's integer arithmetic."""


def hybla_slope(rtt_s: float, **sets: str) -> float:
    """Returns the growth of Hybla's rate W/RTT in congestion avoidance without losses, in segments/s²."""
    changes = {
        "duration": f"{HYBLA_SECONDS:g} s",
        "defaults.tcp.congestion": '"hybla"',
        "defaults.tcp.initial_ssthresh": "2",
        "links.0.delay": f"{rtt_s / 2 * 1e3:g} ms",
        "links.0.loss": "0",
    }
    trace = WindowTrace.of(ll.run(scenario("hybla_cubic/growth"), sets=changes | sets).trace("cwnd"), FLOW)
    inside = trace.time_s >= HYBLA_FROM_S
    return float(np.polyfit(trace.time_s[inside], trace.cwnd[inside] / rtt_s, 1)[0])


def hybla_row() -> Row:
    """Returns the row for equation 7: the growth of Hybla's rate does not depend on the round-trip time."""
    slopes, linux = ([hybla_slope(rtt_s, **sets) for rtt_s in HYBLA_RTTS_S] for sets in (HYBLA_PAPER, {}))
    ideal = 1 / RTT0_S**2
    return Row.claim(
        "equation 7",
        f"Hybla in avoidance, RTT {', '.join(f'{rtt_s * 1e3:.0f}' for rtt_s in HYBLA_RTTS_S)} ms: growth of W/RTT "
        "without losses, segments/s²",
        "B(t) does not depend on the RTT",
        f"{', '.join(f'{slope:.0f}' for slope in slopes)}; {', '.join(f'{slope:.0f}' for slope in linux)} in Linux 2.6",
        all(abs(slope / ideal - 1) <= HYBLA_TOLERANCE for slope in slopes),
        f"tolerance {HYBLA_TOLERANCE:.0%}. Equation 7 describes growth without losses. Linux adds multiples of 1/128 "
        "of a segment, which stops a window of 128 segments at 25 ms",
        theory=f"{ideal:.0f} (1/RTT0²), less ρ²/W: the number of ACKs per round is the window of the round before",
    )
