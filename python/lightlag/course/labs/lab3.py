"""Lab 3: bufferbloat and active queue management."""

from __future__ import annotations

from lightlag.course import theory
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.runs import Observed, Runs

__all__ = ["LAB"]

FILE = "lab3-bufferbloat"
SHORT = {"links.1.queue": "50 packets"}
CODEL = {"links.1.queue": {"discipline": "codel", "limit": "1000 packets"}}
FQ = {"links.1.queue": {"discipline": "fq_codel", "limit": "1000 packets"}}
ALGORITHMS = ("cubic", "newreno", "bbr")
PACKET_MS = 1e3 * 8 * theory.PACKET / 20e6
"""Time of a packet on the slow link."""


def _power(seen: Observed) -> float:
    """Goodput of the download divided by its smoothed round trip at the end."""
    return seen.goodput("download") / (1e3 * seen.last_srtt("download"))


def _longer(runs: Runs) -> str:
    same = runs(FILE).goodput("download") < 1.02 * runs(FILE, SHORT).goodput("download")
    return "c" if same else "a"


def _shortest(runs: Runs) -> str:
    """The algorithm with the lowest round trip of the call."""
    return min(ALGORITHMS, key=lambda name: runs(FILE, {"defaults.tcp.congestion": name}).last_srtt("call"))


LAB = Lab(
    name="lab3",
    title="Bufferbloat and AQM",
    about="What a long queue does to everybody, and how a short one keeps the rate.",
    scenarios=(FILE,),
    questions=(
        Question(
            id="q1",
            ask="What is the maximum round trip of the download (chart of RTT, with the flow download alone)?",
            unit="ms",
            within=0.03,
            measured=lambda runs: 1e3 * runs(FILE).max_rtt("download"),
            theory=lambda _: 30 + 1000 * PACKET_MS,
            formula="RTT₀ + 1,000 packets · 1,500 B · 8 / 20 Mbit/s",
            hint="Untick call in the table Flows; the chart then shows each sample. How long does the link need for "
            "a full queue?",
            reason="A packet that finds the queue full of 1,000 packets waits 0.6 s. Packets of the call are "
            "shorter, so the wait is a little less.",
        ),
        Question(
            id="q2",
            ask="What is the maximum round trip of the call (chart of RTT, with the flow call alone)?",
            unit="ms",
            within=0.05,
            measured=lambda runs: 1e3 * runs(FILE).max_rtt("call"),
            theory=lambda _: 30 + 1000 * PACKET_MS,
            formula="as q1: both flows share one queue",
            hint="The call shares the queue, although it sends little.",
            reason="The call needs 64 kbit/s and has no queue of its own: each of its packets waits after hundreds "
            "of the download. 150 ms one way are the limit of a good conversation (ITU-T G.114).",
        ),
        Question(
            id="q3",
            ask="Set the queue to 50 packets. What is the goodput of the download now?",
            unit="Mbit/s",
            within=0.02,
            measured=lambda runs: runs(FILE, SHORT).goodput("download"),
            theory=lambda _: (20 - 0.064 * (160 + 52) / 160) * theory.PAYLOAD / theory.PACKET,
            formula="(20 Mbit/s − call with headers) · 1448 / 1500",
            hint="Change queue of the link provider - home, and run again.",
            reason="50 packets are one BDP of 20 Mbit/s · 30 ms. CUBIC keeps 70 % of its window, so that the queue "
            "hardly runs empty.",
        ),
        Question(
            id="q4",
            ask="And what is the maximum round trip of the download with 50 packets?",
            unit="ms",
            within=0.03,
            measured=lambda runs: 1e3 * runs(FILE, SHORT).max_rtt("download"),
            theory=lambda _: 30 + 50 * PACKET_MS,
            formula="RTT₀ + 50 packets · 1,500 B · 8 / 20 Mbit/s",
            hint="As in q1.",
            reason="A twentieth of the queue has a twentieth of the delay, for the same goodput.",
        ),
        Question(
            id="q5",
            ask='Set the queue to { discipline = "fq_codel", limit = "1000 packets" }. What is the SRTT of the call?',
            unit="ms",
            within=0.04,
            measured=lambda runs: 1e3 * runs(FILE, FQ).last_srtt("call"),
            theory=lambda _: 30 + PACKET_MS / 2,
            formula="RTT₀ + half a packet of the download, which is in transmission",
            hint="FQ-CoDel has a queue for each flow. Read the column SRTT of the row call.",
            reason="A sparse flow is served next (RFC 8290 §4.2): it waits only for the packet in transmission.",
        ),
        Question(
            id="q6",
            ask='With { discipline = "codel", limit = "1000 packets" }: what is the mean queueing delay of the '
            "download, that is its mean round trip minus 30 ms? (View Compare, mean RTT; or the table of lightlag "
            "run.)",
            unit="ms",
            within=0.15,
            measured=lambda runs: 1e3 * (runs(FILE, CODEL).mean_rtt("download") - 0.03),
            theory=lambda _: 5.0,
            formula="target of CoDel: 5 ms (RFC 8289 §4.2)",
            hint="It is below the target of CoDel.",
            reason="CoDel drops a packet if the delay was above 5 ms for 100 ms. It bounds the minimum of the delay, "
            "not the mean; after each drop CUBIC keeps 70 %, the queue runs empty, and the mean is below the target.",
            errors="Expecting that the delay stays at the target.",
        ),
        Question(
            id="q7",
            ask="Kleinrock's power is goodput divided by round trip. By which factor is the power of the download "
            "larger with fq_codel than with 1,000 packets? (Use Goodput and SRTT of the table Flows.)",
            within=0.1,
            measured=lambda runs: _power(runs(FILE, FQ)) / _power(runs(FILE)),
            theory=lambda runs: 20 * theory.PAYLOAD / theory.PACKET / 30 / _power(runs(FILE)),
            formula="at the optimum of Kleinrock (1979) the link is full and the queue empty: 19.3 Mbit/s at 30 ms",
            hint="Divide Goodput by SRTT for both runs, then divide the two results.",
            reason="FQ-CoDel has 96 % of the goodput and a round trip only some milliseconds above the minimum; the "
            "optimum has neither loss.",
        ),
        Question(
            id="q8",
            ask="What does a longer queue than 50 packets give the download?",
            options={
                "a": "more goodput",
                "b": "fewer losses, and therefore more goodput",
                "c": "hardly any goodput, only delay",
                "d": "less delay",
            },
            chosen=_longer,
            hint="Compare the goodputs with 50 and with 1,000 packets.",
            reason="One BDP keeps the link busy (Appenzeller et al. 2004). More only waits.",
        ),
        Question(
            id="q9",
            ask="1,000 packets and drop-tail again: with which congestion control, cubic, newreno or bbr, has the "
            "call the lowest SRTT at the end?",
            words=ALGORITHMS,
            chosen=_shortest,
            hint="Compare the three in the view Compare, or set congestion below Defaults.",
            reason="BBR measures rate and round trip, and keeps no standing queue. The other two fill what there is.",
        ),
    ),
)
