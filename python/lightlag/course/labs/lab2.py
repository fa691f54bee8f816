"""Lab 2: fairness of additive increase and multiplicative decrease."""

from __future__ import annotations

from lightlag.course import theory
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.runs import Runs

__all__ = ["LAB"]

ONE, TWO, UNEQUAL = "lab2-one-flow", "lab2-two-flows", "lab2-unequal"
PIPE = 10e6 * 0.04 / 8 / theory.PACKET
"""Bandwidth-delay product of part A, in packets."""


def _period(runs: Runs) -> float:
    """Mean time between two losses after slow start."""
    flow = runs(ONE).flow()
    return runs(ONE).end_s / (int(flow["recoveries"]) - 1)


def _period_in_theory(runs: Runs) -> float:
    top = 2 * PIPE + 1
    # One segment per round; the round trip grows with the queue from one pipe to the top.
    return top / 2 * 0.04 * (1 + top / PIPE) / 2 + 0.04 * top / PIPE


def _fair(runs: Runs) -> float:
    return theory.jain([runs(TWO).goodput("first"), runs(TWO).goodput("second")])


LAB = Lab(
    name="lab2",
    title="Fairness of AIMD",
    about="How two flows find the same rate without talking to each other, and when they do not.",
    scenarios=(ONE, TWO, UNEQUAL),
    questions=(
        Question(
            id="q1",
            ask="Part A, one flow: what is the maximum of cwnd in the regular sawtooth (after 30 s)?",
            unit="segments",
            within=0.03,
            measured=lambda runs: runs(ONE).max_cwnd(30.0, 120.0),
            theory=lambda _: 2 * PIPE + 1,
            formula="pipe + queue = 2 BDP, and the packet in transmission",
            hint="Zoom the chart of cwnd to some seconds after 30 s, and read the tips.",
            reason="A packet is lost when the path holds the window no longer: 33.3 packets in transit, 33 in the "
            "queue, one in transmission.",
        ),
        Question(
            id="q2",
            ask="Part A: which fraction of its window does the flow keep after a loss?",
            within=0.04,
            measured=lambda runs: runs(ONE).ssthresh(120.0) / runs(ONE).max_cwnd(30.0, 120.0),
            theory=lambda _: 0.5,
            formula="multiplicative decrease of Reno: β = 0.5",
            hint="ssthresh, the second line of the chart of cwnd, is the window after a loss.",
            reason="NewReno halves its flight (RFC 6582).",
        ),
        Question(
            id="q3",
            ask="Part A: how long is one tooth, on average?",
            unit="s",
            within=0.08,
            measured=_period,
            theory=_period_in_theory,
            formula="(Wmax / 2) rounds of a mean round trip between 40 and 80 ms, and a round of fast recovery",
            hint="The window grows by one segment per round trip. Measure ten teeth in the chart and divide.",
            reason="34 rounds from half of the maximum to the maximum. The round trip grows with the queue, from 40 "
            "to 80 ms.",
            errors="Using the round trip without the queue.",
        ),
        Question(
            id="q4",
            ask="Part A with a queue of 8 packets instead of 1 bdp: how busy is the link a->b (table Links, Busy)?",
            unit="%",
            within=0.03,
            measured=lambda runs: 100 * runs(ONE, {"links.0.queue": "8 packets"}).busy("a->b"),
            theory=lambda _: 100 * theory.busy_with_queue(8, PIPE),
            formula="mean of min(W, pipe) over the sawtooth from (pipe + queue) / 2 to pipe + queue",
            hint="Change the queue of the link and run again. With less than one pipe of queue the link idles after "
            "each loss.",
            reason="After a loss the window is 21 segments, the pipe 33. Theory leaves out the rounds in fast "
            "recovery, in which nothing grows.",
            errors="Reading the goodput: it is lower, because headers are not counted.",
        ),
        Question(
            id="q5",
            ask="Part B, two flows: what is the goodput of the second flow?",
            unit="Mbit/s",
            within=0.04,
            measured=lambda runs: runs(TWO).goodput("second"),
            theory=lambda _: 10 * theory.PAYLOAD / theory.PACKET / 2,
            formula="half of 10 Mbit/s · 1448 / 1500",
            hint="Read the column Goodput of the table Flows at the end of the run.",
            reason="Both flows halve at a loss and add the same per round trip, so that their windows approach each "
            "other (Chiu and Jain 1989). The second flow also needs time to get its share.",
        ),
        Question(
            id="q6",
            ask="Part B: compute Jain's index of the two goodputs, (x + y)² / (2 (x² + y²)).",
            within=0.01,
            measured=_fair,
            theory=lambda _: 1.0,
            formula="equal shares have index 1",
            hint="Use both rows of the table Flows. The index of two flows is between 0.5 and 1.",
            reason="The first flow had the link to itself for 20 s, which is part of its goodput.",
        ),
        Question(
            id="q7",
            ask="Part C, round trips of 40 and 120 ms: what is the ratio of the goodputs, near to far?",
            within=0.05,
            measured=lambda runs: runs(UNEQUAL).goodput("near") / runs(UNEQUAL).goodput("far"),
            theory=lambda runs: runs(UNEQUAL).mean_rtt("far") / runs(UNEQUAL).mean_rtt("near"),
            formula="ratio of the mean round trips, for equal loss rates (Mathis et al. 1997)",
            hint="Divide the two values of the column Goodput.",
            reason="Each flow adds one segment per round trip of its own, and both see the same loss rate. The queue "
            "adds 20 ms to both round trips. The near flow also gains from its faster slow start. With drop-tail, "
            "losses are shared by both, and the ratio can reach the square.",
            errors="Expecting 120 / 40 = 3: the queue is part of both round trips.",
        ),
        Question(
            id="q8",
            ask="Why does the sum of both goodputs not reach 10 Mbit/s?",
            options={
                "a": "headers of packets are part of the rate, but not of the goodput",
                "b": "TCP never fills a link",
                "c": "a queue of 100 packets is too short",
                "d": "the access links of 1 Gbit/s are the limit",
            },
            chosen=lambda runs: "a" if runs(TWO).busy("router->server") > 0.99 else "c",
            hint="Read the column Busy of the link router->server.",
            reason="The link is busy all the time. 1,448 of 1,500 bytes are payload, and a few segments are sent "
            "twice.",
        ),
    ),
)
