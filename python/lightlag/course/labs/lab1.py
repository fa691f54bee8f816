"""Lab 1: slow start."""

from __future__ import annotations

from lightlag.course import theory
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.runs import Runs

__all__ = ["LAB"]

FILE = "lab1-slow-start"
SHORT = {"flows.0.transfer": "100 kB"}
FAST = {"links.0.rate": "500 Mbit/s"}
NEAR = {"links.0.delay": "25 ms"}
WIDE = {"defaults.tcp.initial_window": 40}


def _rounds(runs: Runs) -> float:
    """Rounds of data: on the fast link a round takes one round trip and hardly more."""
    fast = runs(FILE, FAST)
    return float(int((fast.finish() - 1.5 * fast.min_rtt()) / fast.min_rtt()) + 1)


def _limit(runs: Runs) -> str:
    """The change that shortens the transfer most: of the rate, the round trip or the receive buffer."""
    base = runs(FILE).finish()
    gains = {
        "a": base / runs(FILE, FAST).finish(),
        "b": base / runs(FILE, NEAR).finish(),
        "c": base / runs(FILE, {"defaults.tcp.receive_buffer": "160 MB"}).finish(),
    }
    return max(gains, key=lambda letter: gains[letter])


LAB = Lab(
    name="lab1",
    title="Slow start",
    about="How a connection finds its rate, and why short transfers are slow on long paths.",
    scenarios=(FILE,),
    questions=(
        Question(
            id="q1",
            ask="How large is the congestion window until the first ACK of data arrives (chart of cwnd, at 0.15 s)?",
            unit="segments",
            within=0.01,
            measured=lambda runs: runs(FILE).cwnd(0.15),
            theory=lambda _: 10.0,
            formula="initial window of RFC 6928: 10 segments",
            hint="Move the pointer over the chart of cwnd. The handshake takes the first 0.1 s, and no data is "
            "acknowledged before 0.2 s.",
            reason="RFC 6928 allows 10 segments. The window does not change before the first ACK of data.",
            errors="Reading the window at 0.25 s, after the first doubling.",
        ),
        Question(
            id="q2",
            ask="How large is the congestion window at 0.55 s?",
            unit="segments",
            within=0.01,
            measured=lambda runs: runs(FILE).cwnd(0.55),
            theory=lambda _: 10.0 * 2**4,
            formula="W = 10 · 2^k after k rounds; ACKs of rounds 1 to 4 have arrived at 0.55 s",
            hint="Each segment that is acknowledged adds one segment. Count the rounds whose ACKs have arrived.",
            reason="The first data is acknowledged at 0.2 s, and the window doubles in each round trip of 0.1 s: at "
            "0.55 s for the fourth time.",
            errors="Counting the handshake as a round of data.",
        ),
        Question(
            id="q3",
            ask="In how many rounds are the 2 MB sent? (Data of one window is one round.)",
            within=0.01,
            measured=_rounds,
            theory=lambda _: float(theory.rounds(2e6)),
            formula="smallest k with 10 (2^k − 1) ≥ 1,382 segments",
            hint="A full segment carries 1,448 bytes. Add the windows of the rounds until the sum is large enough.",
            reason="After 7 rounds 1,270 segments have been sent, after 8 rounds up to 2,550.",
            errors="Comparing only the last window with the size, instead of the sum of all windows.",
        ),
        Question(
            id="q4",
            ask="When has the transfer finished (time at the end of the progress bar)?",
            unit="s",
            within=0.02,
            measured=lambda runs: runs(FILE).finish(),
            theory=lambda _: theory.transfer_time(2e6, 50e6, 0.1),
            formula="handshake + transmission of all packets + pauses between windows + delay of the last packet "
            "(Kurose and Ross)",
            hint="The progress bar stops when the last byte has arrived.",
            reason="0.1 s for the handshake, 0.33 s for 1,382 packets at 50 Mbit/s, 0.45 s of pauses in the first six "
            "rounds, 0.05 s for the delay of the last packet.",
            errors="Dividing 2 MB by 50 Mbit/s gives 0.32 s: that ignores the pauses.",
        ),
        Question(
            id="q5",
            ask="Set the transfer to 100 kB. What is its goodput?",
            unit="Mbit/s",
            within=0.03,
            measured=lambda runs: runs(FILE, SHORT).goodput(),
            theory=lambda _: 8 * 100e3 / theory.transfer_time(100e3, 50e6, 0.1) / 1e6,
            formula="8 · 100 kB / transfer time (Kurose and Ross)",
            hint="Change transfer of the flow, run again, and read the column Goodput of the table Flows.",
            reason="70 segments take three rounds and the handshake: 0.36 s for 100 kB, 4 % of the rate of the link.",
        ),
        Question(
            id="q6",
            ask="2 MB again, and a link of 500 Mbit/s instead of 50. How many times as fast does the transfer finish?",
            within=0.03,
            measured=lambda runs: runs(FILE).finish() / runs(FILE, FAST).finish(),
            theory=lambda _: theory.transfer_time(2e6, 50e6, 0.1) / theory.transfer_time(2e6, 500e6, 0.1),
            formula="ratio of the transfer times (Kurose and Ross)",
            hint="Divide the first duration by the second. The answer is surprisingly close to 1.",
            reason="Eight rounds and the handshake remain. Only the time to transmit the packets becomes shorter.",
            errors="Expecting a factor of 10.",
        ),
        Question(
            id="q7",
            ask="The link of 50 Mbit/s, and an initial window of 40 segments (initial_window below Defaults, TCP). "
            "When has the transfer of 2 MB finished?",
            unit="s",
            within=0.02,
            measured=lambda runs: runs(FILE, WIDE).finish(),
            theory=lambda _: theory.transfer_time(2e6, 50e6, 0.1, window=40),
            formula="as q4, with W₁ = 40",
            hint="In Python: defaults.tcp.initial_window = 40. The first two rounds are skipped.",
            reason="Two rounds fewer. They would have been the two with the longest pauses.",
        ),
        Question(
            id="q8",
            ask="Which change shortens this transfer most?",
            options={
                "a": "ten times the rate of the link",
                "b": "half the round-trip time",
                "c": "ten times the receive buffer",
            },
            chosen=_limit,
            hint="Try all three. Compare them with the answer to q6.",
            reason="The pauses are multiples of the round-trip time. This is why content is stored near its readers "
            "(CDN).",
        ),
    ),
)
