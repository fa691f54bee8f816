"""Lab 9: deep space."""

from __future__ import annotations

from lightlag.course import theory
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.runs import Runs

__all__ = ["LAB"]

MOON, MARS = "lab9-moon", "lab9-mars"
PATIENT = {"defaults.tcp.rto": {"initial": "6 s", "syn": "6 s"}}
WIDE = {"defaults.tcp.initial_window": 1000}
MOON_S = 384_400e3 / theory.LIGHT
MARS_S = 0.5 * 149_597_870_700 / theory.LIGHT


def _lower(_: Runs) -> float:
    """Minutes for 5 MB at 1 Mbit/s without a handshake and without ACKs."""
    segments = -(-5_000_000 // theory.PAYLOAD)
    return (MARS_S + segments * 8 * theory.PACKET / 1e6) / 60


def _timeouts(runs: Runs) -> str:
    base, patient = runs(MOON), runs(MOON, PATIENT)
    is_same = abs(base.finish() - patient.finish()) < 0.1
    return "c" if int(base.flow()["timeouts"]) > 0 and is_same else "a"


LAB = Lab(
    name="lab9",
    title="Deep space",
    about="What is left of TCP if light needs seconds or minutes.",
    scenarios=(MOON, MARS),
    questions=(
        Question(
            id="q1",
            ask="lab9-moon: what is the minimum round trip?",
            unit="s",
            within=0.01,
            measured=lambda runs: runs(MOON, PATIENT).min_rtt(),
            theory=lambda _: 2 * MOON_S,
            formula="2 · 384,400 km / c",
            hint="Read the lowest sample of the chart of RTT, or compute it.",
            reason="Light alone; a packet at 10 Mbit/s needs 1 ms.",
        ),
        Question(
            id="q2",
            ask="lab9-moon: when have the 5 MB arrived?",
            unit="s",
            within=0.02,
            measured=lambda runs: runs(MOON).finish(),
            theory=lambda _: theory.transfer_time(5e6, 10e6, 2 * MOON_S),
            formula="Kurose and Ross, as in lab 1",
            hint="Read the time at the end of the progress bar.",
            reason="Nine rounds of 2.6 s, although the link carries 5 MB in 4 s.",
        ),
        Question(
            id="q3",
            ask="The first timeout of TCP is 1 s. What does it cost on this path? Compare with lab9-moon after you "
            'have set rto = { initial = "6 s", syn = "6 s" } below [defaults.tcp].',
            options={
                "a": "some seconds until the transfer has finished",
                "b": "half of the goodput",
                "c": "two SYNs that were not necessary, and no time",
                "d": "nothing at all",
            },
            chosen=_timeouts,
            hint="Compare the finish times, and the column timeouts of lightlag run or the text below the charts.",
            reason="The SYN is retransmitted after 1 s and once more before its reply arrives. The timestamps of Linux "
            "show that the repetitions were not necessary, so the window is restored. Without timestamps the transfer "
            "would start with one segment (RFC 6928 §2).",
        ),
        Question(
            id="q4",
            ask="lab9-mars: how long does light need to Mars, in one direction?",
            unit="min",
            within=0.01,
            measured=lambda runs: runs(MARS).min_rtt() / 2 / 60,
            theory=lambda _: MARS_S / 60,
            formula="0.5 au / c",
            hint="Halve the round trip.",
            reason="Mars is between 0.37 and 2.7 au away.",
        ),
        Question(
            id="q5",
            ask="lab9-mars: after how many minutes have the 5 MB arrived?",
            unit="min",
            within=0.02,
            measured=lambda runs: runs(MARS).finish() / 60,
            theory=lambda _: theory.transfer_time(5e6, 1e6, 2 * MARS_S) / 60,
            formula="Kurose and Ross, as in lab 1",
            hint="Divide the time at the end of the progress bar by 60.",
            reason="Nine rounds and a handshake of 8 min 19 s.",
        ),
        Question(
            id="q6",
            ask="A protocol without handshake and without ACKs could send at the rate of the link from the start. "
            "After how many minutes would the 5 MB be there?",
            unit="min",
            within=0.05,
            measured=lambda runs: (
                (runs(MARS).min_rtt() / 2 + runs(MARS).link("earth->mars")["carried_bytes"] * 8 / 1e6) / 60
            ),
            theory=_lower,
            formula="light time + 3,454 packets · 12 ms",
            hint="Add the light time and the time to transmit 5 MB at 1 Mbit/s.",
            reason="This is what CFDP and LTP of CCSDS do: send first, repair later. lightlag does not model them.",
        ),
        Question(
            id="q7",
            ask="lab9-mars with an initial window of 1,000 segments: how many times as fast is the transfer?",
            within=0.03,
            measured=lambda runs: runs(MARS).finish() / runs(MARS, WIDE).finish(),
            theory=lambda _: (
                theory.transfer_time(5e6, 1e6, 2 * MARS_S) / theory.transfer_time(5e6, 1e6, 2 * MARS_S, window=1000)
            ),
            formula="ratio of the transfer times with W₁ = 10 and 1,000",
            hint="Set initial_window below [defaults.tcp], run again, and divide.",
            reason="Three rounds instead of nine. In theory two: but a receiver of Linux first advertises 64 kB, so "
            "that the first round has 45 segments.",
        ),
        Question(
            id="q8",
            ask="Which part of TCP makes it unfit for Mars even with a window of any size?",
            options={
                "a": "a header of 20 bytes is too large",
                "b": (
                    "the handshake and each repair of a loss cost a round trip, and both ends must be there all the "
                    "time"
                ),
                "c": "a checksum of 16 bits is too weak",
            },
            chosen=lambda runs: "b" if runs(MARS, WIDE).finish() > 2 * runs(MARS).min_rtt() else "a",
            hint="Think of a planet that turns away during the transfer.",
            reason="Delay-tolerant networks store a bundle at each hop (RFC 9171) instead of a connection between "
            "the ends.",
        ),
    ),
)
