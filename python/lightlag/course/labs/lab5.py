"""Lab 5: long fat pipes."""

from __future__ import annotations

from lightlag.course import theory
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.runs import Runs

__all__ = ["LAB"]

FILE = "lab5-long-fat"
WIDE = {"defaults.tcp.receive_buffer": "16 MB"}
CUBIC = WIDE | {"defaults.tcp.congestion": "cubic"}
LOSS = {"links.0.loss": 1e-4, "duration": "300 s"}
PIPE = 400e6 * 0.1 / 8
BUFFERS = {"a": "1 MB", "b": "2 MB", "c": "4 MB", "d": "6 MB"}


def _buffer(runs: Runs) -> str:
    """The smallest buffer with 90 % of the rate of the link."""
    enough = 0.9 * 400 * theory.PAYLOAD / theory.PACKET
    good = [
        letter
        for letter, buffer in BUFFERS.items()
        if runs(FILE, {"defaults.tcp.receive_buffer": buffer}).goodput() >= enough
    ]
    return good[0]


def _growth(runs: Runs) -> float:
    seen = runs(FILE, WIDE)
    return (seen.cwnd(50.0) - seen.cwnd(30.0)) / 20


LAB = Lab(
    name="lab5",
    title="Long fat pipes",
    about="Why windows must be large, and why Reno's growth is too slow for them.",
    scenarios=(FILE,),
    questions=(
        Question(
            id="q1",
            ask="What is the bandwidth-delay product of this path, in MB?",
            unit="MB",
            within=0.02,
            measured=lambda runs: runs(FILE).link("client->server")["rate_bps"] * runs(FILE).min_rtt() / 8e6,
            theory=lambda _: PIPE / 1e6,
            formula="BDP = rate · RTT",
            hint="Multiply the rate by the round trip, and mind bits and bytes.",
            reason="400 Mbit/s · 0.1 s = 40 Mbit.",
            errors="40 Mbit written as 40 MB.",
        ),
        Question(
            id="q2",
            ask="The scenario as it is, with a receive buffer of 64 kB: what is the goodput?",
            unit="Mbit/s",
            within=0.03,
            measured=lambda runs: runs(FILE).goodput(),
            theory=lambda _: 64e3 * 8 / 0.1 / 1e6,
            formula="receive window / RTT",
            hint="Read the column Goodput. The text below the charts names the limit.",
            reason="One window per round trip. 44 whole segments fit into 64 kB.",
        ),
        Question(
            id="q3",
            ask="Which is the smallest of these receive buffers that gives at least 90 % of the link?",
            options=BUFFERS,
            chosen=_buffer,
            hint="Try them. Compare the answer with q1.",
            reason="The window must be at least the BDP of 5 MB.",
        ),
        Question(
            id="q4",
            ask="A receive buffer of 16 MB: by how many segments per second does NewReno's cwnd grow between 30 and "
            "50 s?",
            unit="segments/s",
            within=0.06,
            measured=_growth,
            theory=lambda runs: 1 / runs(FILE, WIDE).mean_rtt(),
            formula="additive increase: 1 / RTT, with the queue in the round trip",
            hint="Read cwnd at 30 s and at 50 s, subtract, and divide by 20 s.",
            reason="One segment per round trip, which is 133 ms on average, because a third of a BDP is queued.",
        ),
        Question(
            id="q5",
            ask="At this growth, how long does NewReno need after a loss at 5,000 segments until it is back there?",
            unit="s",
            within=0.08,
            measured=lambda runs: 2500 / _growth(runs),
            theory=lambda runs: 2500 * runs(FILE, WIDE).mean_rtt(),
            formula="(W / 2) · RTT",
            hint="A loss halves the window. Divide the rest by the growth of q4.",
            reason="More than five minutes without a loss, that is one loss in 9 million packets, 3 W² / 8 (compare "
            "RFC 3649 §1).",
        ),
        Question(
            id="q6",
            ask="CUBIC, 16 MB: its cwnd falls at about 28 s. Which fraction of the window remains?",
            within=0.02,
            measured=lambda runs: runs(FILE, CUBIC).ssthresh(29.0) / runs(FILE, CUBIC).max_cwnd(20.0, 29.0),
            theory=lambda _: 0.7,
            formula="β of CUBIC: 0.7 (RFC 9438 §4.6)",
            hint="Read cwnd just before the fall, and ssthresh just after it.",
            reason="CUBIC keeps 70 %.",
        ),
        Question(
            id="q7",
            ask="CUBIC: K = ∛(Wmax (1 − β) / C) is the time until the window is back at Wmax, with C = 0.4. Compute "
            "it for the fall at about 28 s, with Wmax from the chart.",
            unit="s",
            within=0.03,
            measured=lambda runs: runs(FILE, CUBIC).last_cubic_k(),
            theory=lambda runs: theory.cubic_k(runs(FILE, CUBIC).max_w_max()),
            formula="K = ∛(Wmax · 0.3 / 0.4) (RFC 9438 §4.2)",
            hint="Wmax is cwnd before the fall; β is the answer to q6.",
            reason="16 s instead of more than 300 s, whatever the round trip is.",
            errors="A square root instead of a cube root.",
        ),
        Question(
            id="q8",
            ask="A loss of 1e-4 and a duration of 300 s, 16 MB: how many times the goodput of NewReno has CUBIC?",
            within=0.08,
            measured=lambda runs: runs(FILE, CUBIC | LOSS).goodput() / runs(FILE, WIDE | LOSS).goodput(),
            theory=lambda _: 1.054 * (0.1 / 1e-4) ** 0.75 / (1.2247 / 1e-4**0.5),
            formula="1.054 (RTT / p)^0.75 (RFC 9438 §5.1) divided by √(3 / (2 p))",
            hint="Run both with links.0.loss = 1e-4 and divide.",
            reason="The formula assumes equal distances between the losses. At random distances, CUBIC's convex "
            "growth gains more in long gaps than it loses in short ones; Reno's growth is linear.",
        ),
    ),
)
