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
from lightlag_papers.hybla_cubic.scenarios import scenario
from lightlag_papers.table import Row, Verdict, number

FLOW = "source->sink"
BIC_LOSS, CUBIC_LOSS = 2000, 500
"""The packets whose loss ends slow start: Wmax is one more."""


def trace_of(congestion: str, lost: int) -> WindowTrace:
    """The window of a flow that loses one packet."""
    sets = {"defaults.tcp.congestion": congestion, "links.0.loss": _loss(lost)}
    return WindowTrace.of(ll.run(scenario("growth"), sets=sets).trace("cwnd"), FLOW)


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
        The window at the end of each round trip, in segments. The ACKs of a round come within two milliseconds here,
        so that each round is one step.
    """

    w_max: float
    window: NDArray[np.float64]

    @classmethod
    def run(cls, variant: str) -> BicGrowth:
        """Run the scenario with BIC as in its paper, or as in Linux."""
        trace = trace_of(f'{{ algorithm = "bic", variant = "{variant}" }}', BIC_LOSS)
        (epoch,) = epochs(trace)
        grows = (trace.time_s > epoch.reduction_s) & (trace.phase == OPEN) & (trace.cwnd > trace.ssthresh)
        begin = float(trace.time_s[grows][0])
        ends = np.arange(begin + 0.5 * RTT_S, float(trace.time_s[-1]), RTT_S)
        return cls(epoch.window, trace.cwnd[np.searchsorted(trace.time_s, ends, side="right") - 1])

    @property
    def ideal(self) -> Bic:
        """The growth function from the same start."""
        return Bic(float(self.window[0]), self.w_max)

    def steps(self, low: float, high: float) -> NDArray[np.float64]:
        """The increase in each round trip that starts and ends between two windows."""
        inside = self.window[(self.window >= low) & (self.window <= high)]
        return np.diff(inside)

    def arrives(self) -> int:
        """The round trip in which the window is Wmax again, to a hundredth of a segment."""
        return int(np.flatnonzero(self.window >= self.w_max - 0.011)[0])


def bic_rows(paper: BicGrowth, linux: BicGrowth) -> list[Row]:
    """The three phases of Fig. 1."""
    ideal, w_max = paper.ideal, paper.w_max
    linear = [float(growth.steps(0, w_max - 65).mean()) for growth in (paper, linux)]
    way = w_max - paper.window[(paper.window > w_max - 60) & (paper.window < w_max - 1)]
    shrinks = float(np.exp(np.diff(np.log(way)).mean()))
    arrival = paper.arrives()
    probing = np.diff(paper.window[arrival : arrival + 9])
    worst = max(abs(float(window) - ideal.window(at)) for at, window in enumerate(paper.window[: arrival + 1]))
    return [
        Row(
            "Fig. 1",
            "BIC, additive increase: segments a round trip",
            "linear far from Wmax",
            "32 (Smax); 16 in Linux",
            f"{linear[0]:.2f}; {linear[1]:.2f} in Linux",
            Verdict.claim(abs(linear[0] / 32 - 1) <= 0.02 and abs(linear[1] / 16 - 1) <= 0.02),
            "tolerance 2 %",
        ),
        Row(
            "Fig. 1",
            "BIC, binary search: what a round trip leaves of the way to Wmax",
            "half, as a search",
            f"{np.exp(-0.5):.3f} (half of the way in steps of an ACK: exp(-1/2))",
            number(shrinks, 3),
            Verdict.claim(abs(shrinks / np.exp(-0.5) - 1) <= 0.02),
            "tolerance 2 %, from 60 segments below Wmax to one",
        ),
        Row(
            "Fig. 1",
            "BIC: round trips from the loss back to Wmax",
            "",
            number(ideal.arrives, 1),
            f"{arrival} (Wmax = {w_max:.0f})",
            Verdict.check(abs(arrival - ideal.arrives) <= 1),
            "tolerance one round trip",
        ),
        Row(
            "Fig. 1",
            "BIC: largest distance to the growth function up to Wmax, segments",
            "",
            "0",
            number(worst),
            Verdict.check(worst <= 2),
            "at most two: an ACK counts by the window that it meets, which grows within a round",
        ),
        Row(
            "Fig. 1",
            "BIC, max probing: segments in each round trip beyond Wmax",
            "slowly at first, then faster",
            "1, 2, 4, 8, 16, 32, 32, ...",
            ", ".join(f"{step:.1f}" for step in probing),
            Verdict.claim(bool((np.diff(probing[:6]) > 0).all()) and abs(float(probing[-1]) / 32 - 1) <= 0.02),
            "each of the first six larger than the one before, then 32 within 2 %",
        ),
    ]


CUBICS = {
    "paper2008": '{ algorithm = "cubic", variant = "paper2008" }',
    "linux-2.6": '{ algorithm = "cubic", variant = "linux-2.6", initial_ssthresh = 0 }',
}
"""CUBIC as in its paper, and as in the kernels whose code ns-2 TCP-Linux holds: in whole segments."""


def cubic_growth(variant: str) -> Growth:
    """One epoch of CUBIC."""
    return Growth.of(trace_of(CUBICS[variant], CUBIC_LOSS))


def cubic_rows(paper: Growth, linux: Growth) -> list[Row]:
    """Equation 1 against simulated epochs."""
    w_max = paper.epoch.w_max
    k = cubic_equations.k(w_max)
    worst = float(np.abs(paper.deviation()).max())
    behind = float((np.abs(paper.deviation()) - np.maximum(1.0, paper.per_round())).max())
    whole = float((np.abs(linux.deviation()) - np.maximum(2.0, 2 * linux.per_round())).max())
    return [
        Row(
            "Fig. 2",
            "CUBIC: K (equation 1), s",
            "cbrt(Wmax β / C)",
            number(k, 3),
            f"{paper.epoch.k_s:.3f}; {linux.epoch.k_s:.3f} in Linux 2.6",
            Verdict.claim(abs(paper.epoch.k_s / k - 1) <= 0.01 and abs(linux.epoch.k_s / k - 1) <= 0.02),
            "tolerance 1 %; 2 % in whole segments. With β = 0.2, the share that is removed",
        ),
        Row(
            "Fig. 2",
            "CUBIC: the window after the loss over Wmax",
            "β",
            "0.8 = 1 - β",
            f"{paper.epoch.threshold / w_max:.3f}; {linux.epoch.threshold / linux.epoch.w_max:.3f} in Linux 2.6",
            Verdict.UNDECIDED,
            'the text uses β for what is removed (in K) and for what stays ("reduces to βWmax"): one of the two is '
            "a slip",
        ),
        Row(
            "Fig. 2",
            "CUBIC: largest distance to W(t), segments",
            "C (t - K)³ + Wmax",
            "0",
            f"{worst:.2f}; {float(np.abs(linux.deviation()).max()):.2f} in Linux 2.6 (Wmax = {w_max:.0f})",
            Verdict.claim(behind <= 0 and whole <= 0),
            "everywhere at most what W(t) grows by in a round trip, or one segment; in Linux, which computes in whole "
            "segments and aims a round trip ahead, twice that",
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
"""The update rule of equation 8, without Linux's integers."""


def hybla_slope(rtt_s: float, **sets: str) -> float:
    """By how much Hybla's rate W/RTT grows in avoidance without losses, in segments/s²."""
    changes = {
        "duration": f"{HYBLA_SECONDS:g} s",
        "defaults.tcp.congestion": '"hybla"',
        "defaults.tcp.initial_ssthresh": "2",
        "links.0.delay": f"{rtt_s / 2 * 1e3:g} ms",
        "links.0.loss": "0",
    }
    trace = WindowTrace.of(ll.run(scenario("growth"), sets=changes | sets).trace("cwnd"), FLOW)
    inside = trace.time_s >= HYBLA_FROM_S
    return float(np.polyfit(trace.time_s[inside], trace.cwnd[inside] / rtt_s, 1)[0])


def hybla_row() -> Row:
    """Equation 7: Hybla's rate does not depend on the round-trip time."""
    slopes, linux = ([hybla_slope(rtt_s, **sets) for rtt_s in HYBLA_RTTS_S] for sets in (HYBLA_PAPER, {}))
    ideal = 1 / RTT0_S**2
    return Row(
        "equation 7",
        f"Hybla in avoidance, RTT {', '.join(f'{rtt_s * 1e3:.0f}' for rtt_s in HYBLA_RTTS_S)} ms: growth of W/RTT "
        "without losses, segments/s²",
        "B(t) does not depend on the RTT",
        f"{ideal:.0f} (1/RTT0²), less ρ²/W: the ACKs of a round are those of the window before",
        f"{', '.join(f'{slope:.0f}' for slope in slopes)}; {', '.join(f'{slope:.0f}' for slope in linux)} in Linux 2.6",
        Verdict.claim(all(abs(slope / ideal - 1) <= HYBLA_TOLERANCE for slope in slopes)),
        f"tolerance {HYBLA_TOLERANCE:.0%}. Equation 7 is about growth. Linux adds whole 1/128 of a segment, which "
        "stops a window of 128 segments at 25 ms. What losses and a queue make of it is below",
    )
