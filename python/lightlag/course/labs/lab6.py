"""Lab 6: satellites and performance-enhancing proxies."""

from __future__ import annotations

from lightlag.course import theory
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.runs import Runs

__all__ = ["LAB"]

PLAIN, PEP, GROWTH = "lab6-satellite", "lab6-pep", "lab6-growth"
QUIC = {"flows.0.transport": "quic"}
SPACE_S = 4 * 35_786e3 / theory.LIGHT
"""Round trip of light through a satellite in the zenith of both ends."""
RTT_S = SPACE_S + 0.042


def _growth(runs: Runs, congestion: str) -> float:
    """Growth of the window in the round trip before 5.71 s."""
    seen = runs(GROWTH, {"defaults.tcp.congestion": congestion})
    return seen.cwnd(5.71) - seen.cwnd(5.71 - RTT_S)


def _pep_in_theory(_: Runs) -> float:
    """Handshake and first window to the gateway, handshake and slow start over the satellite."""
    space = theory.transfer_time(5e6, 20e6, SPACE_S, window=100)
    return space + 0.04 + 0.02 + 0.001


def _quic(runs: Runs) -> str:
    ratio = runs(PLAIN, QUIC).finish() / runs(PEP, QUIC).finish()
    return "a" if abs(ratio - 1) < 0.01 else "b"


LAB = Lab(
    name="lab6",
    title="Satellites and PEP",
    about="What a round trip of half a second costs, and what proxies and Hybla do about it.",
    scenarios=(PLAIN, PEP, GROWTH),
    questions=(
        Question(
            id="q1",
            ask="lab6-satellite: what is the minimum round trip (chart of RTT)?",
            unit="ms",
            within=0.01,
            measured=lambda runs: 1e3 * runs(PLAIN).min_rtt(),
            theory=lambda _: 1e3 * RTT_S,
            formula="4 · 35,786 km / c + 2 · 21 ms",
            hint="Read the lowest sample of the chart of RTT.",
            reason="Up and down, there and back: 477.5 ms of light. The rest is the terrestrial part.",
            errors="Counting the distance twice instead of four times.",
        ),
        Question(
            id="q2",
            ask="lab6-satellite: when has the download of 5 MB finished?",
            unit="s",
            within=0.02,
            measured=lambda runs: runs(PLAIN).finish(),
            theory=lambda _: theory.transfer_time(5e6, 20e6, RTT_S),
            formula="Kurose and Ross, as in lab 1",
            hint="Read the time at the end of the progress bar.",
            reason="Nine rounds of half a second. At the rate of the link 5 MB would take 2 s.",
        ),
        Question(
            id="q3",
            ask="lab6-pep: how many times as fast is the download with the proxies?",
            within=0.03,
            measured=lambda runs: runs(PLAIN).finish() / runs(PEP).finish(),
            theory=lambda runs: theory.transfer_time(5e6, 20e6, RTT_S) / _pep_in_theory(runs),
            formula="slow start with W₁ = 100 over 477.5 ms, after a handshake with the gateway",
            hint="Divide the answer to q2 by the time of the run with proxies.",
            reason="The gateway opens the connection over the satellite when the first one is open, and 100 segments "
            "save three rounds. The split itself saves only the 42 ms of each round. A receiver of Linux first "
            "advertises 64 kB, so that only 45 of the 100 segments are sent in the first round: hence less than in "
            "theory.",
        ),
        Question(
            id="q4",
            ask="lab6-pep with an initial window of 10 segments at the first proxy "
            "(proxies.0.server.initial_window): how many times as fast as without proxies?",
            within=0.03,
            measured=lambda runs: runs(PLAIN).finish() / runs(PEP, {"proxies.0.server.initial_window": 10}).finish(),
            theory=lambda _: (
                theory.transfer_time(5e6, 20e6, RTT_S) / (theory.transfer_time(5e6, 20e6, SPACE_S, window=10) + 0.061)
            ),
            formula="as q3, with W₁ = 10",
            hint="Change the value in the text of the scenario, run again, and divide.",
            reason="Most of the gain of a PEP comes from the larger window that an operator may use on a link of its "
            "own, not from the split.",
        ),
        Question(
            id="q5",
            ask="Hybla grows as if the round trip were 25 ms. What is its ρ = RTT / 25 ms on this path?",
            within=0.02,
            measured=lambda runs: runs(PLAIN).min_rtt() / 0.025,
            theory=lambda _: RTT_S / 0.025,
            formula="ρ = RTT / RTT₀ (Caini and Firrincieli 2004)",
            hint="Use the answer to q1.",
            reason="520 / 25.",
        ),
        Question(
            id="q6",
            ask="lab6-growth, with hybla: by how many segments does cwnd grow in the round trip that ends at 5.71 s "
            "(5.71 s minus the answer to q1)?",
            unit="segments",
            within=0.06,
            measured=lambda runs: _growth(runs, "hybla"),
            theory=lambda _: (RTT_S / 0.025) ** 2,
            formula="ρ² segments per round trip in congestion avoidance",
            hint="Read cwnd at 5.71 s and one round trip earlier, and subtract.",
            reason="Each ACK adds ρ² / W. The window grows during the round, so that later ACKs add less: for W = "
            "2,800 that is about ρ⁴ / (2 W) less. Nearer to the start the difference is larger.",
        ),
        Question(
            id="q7",
            ask="The same for newreno: by how many segments does cwnd grow in that round trip?",
            unit="segments",
            within=0.01,
            measured=lambda runs: _growth(runs, "newreno"),
            theory=lambda _: 1.0,
            formula="1 segment per round trip",
            hint="Set congestion to newreno and run again.",
            reason="Additive increase.",
        ),
        Question(
            id="q8",
            ask='Set transport = "quic" for the flow, with and without proxies. What does a PEP do for QUIC?',
            options={
                "a": "nothing: it cannot split an encrypted connection",
                "b": "the same as for TCP",
                "c": "it makes QUIC slower",
            },
            chosen=_quic,
            hint="Compare the two finish times.",
            reason="The transport headers of QUIC are encrypted (RFC 9000): the proxy forwards its packets.",
        ),
    ),
)
