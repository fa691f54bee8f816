"""Lab 8: ad hoc networks."""

from __future__ import annotations

from lightlag.course import theory
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.runs import Runs

__all__ = ["LAB"]

FILE = "lab8-chain"
RATE = 24e6


def _to(runs: Runs, hops: int) -> float:
    return runs(FILE, {"flows.0.to": f"node{hops}"}).goodput()


def _one_hop(_: Runs) -> float:
    """Goodput over one hop in Mbit/s: an ACK of TCP for two segments, each in a frame with 36 bytes of headers."""
    data = theory.airtime_exchange(RATE, theory.PACKET + 36)
    ack = theory.airtime_exchange(RATE, 52 + 36)
    return 8 * theory.PAYLOAD / (data + ack / 2) / 1e6


def _reuse(runs: Runs) -> str:
    return "b" if _to(runs, 2) < 0.55 * _to(runs, 1) else "a"


LAB = Lab(
    name="lab8",
    title="Ad hoc networks",
    about="What is left of a radio channel that every hop shares.",
    scenarios=(FILE,),
    questions=(
        Question(
            id="q1",
            ask="Let the flow end at node1. What is its goodput?",
            unit="Mbit/s",
            within=0.03,
            measured=lambda runs: _to(runs, 1),
            theory=_one_hop,
            formula="1,448 B / (DIFS + backoff + frame + SIFS + ACK, and half of this for an ACK of TCP)",
            hint="Change to of the flow, run, and read the column Goodput.",
            reason="The radio sends 24 Mbit/s, but each frame has a preamble, pauses and an ACK of its own, and the "
            "ACKs of TCP also take the channel. Collisions of the two senders cost the rest.",
        ),
        Question(
            id="q2",
            ask="What percentage of the rate of the radio, 24 Mbit/s, is that?",
            unit="%",
            within=0.03,
            measured=lambda runs: 100 * _to(runs, 1) / 24,
            theory=lambda runs: 100 * _one_hop(runs) / 24,
            formula="q1 / 24 Mbit/s",
            hint="Divide the answer to q1 by 24 Mbit/s.",
            reason="A third of the air is overhead. Larger aggregates (802.11n) reduce it.",
        ),
        Question(
            id="q3",
            ask="Two hops, to node2: what fraction of the goodput of q1 is left?",
            within=0.04,
            measured=lambda runs: _to(runs, 2) / _to(runs, 1),
            theory=lambda _: 1 / 2,
            formula="1 / n: nodes that sense each other send in turn",
            hint="Divide the goodput to node2 by that to node1.",
            reason="Each packet is sent twice on one channel.",
        ),
        Question(
            id="q4",
            ask="Three hops, to node3: what fraction of q1 is left?",
            within=0.05,
            measured=lambda runs: _to(runs, 3) / _to(runs, 1),
            theory=lambda _: 1 / 3,
            formula="1 / n",
            hint="As q3.",
            reason="node0 does not sense node3: their frames collide at the nodes between them (hidden terminals), "
            "which costs a fifth.",
        ),
        Question(
            id="q5",
            ask="Four hops, to node4: what is the goodput?",
            unit="Mbit/s",
            within=0.06,
            measured=lambda runs: _to(runs, 4),
            theory=lambda runs: _one_hop(runs) / 4,
            formula="1 / 4 of q1 in theory (Li et al. 2001: at best 1/4, about 1/7 in practice)",
            hint="The scenario as it is.",
            reason="Between 1/4 and 1/7 of one hop, as measured by Li et al. for long chains.",
        ),
        Question(
            id="q6",
            ask="Four hops with RTS/CTS for every frame (rts_threshold = 1 in the medium): what is the goodput "
            "relative to q5?",
            within=0.08,
            measured=lambda runs: runs(FILE, {"media.0.rts_threshold": 1}).goodput() / _to(runs, 4),
            hint="Add the line to [[media]], run, and divide.",
            reason="No closed form. RTS and CTS take air for each frame; they protect the data frames from hidden "
            "terminals, and the window of 16 kB keeps few packets in the chain. Cost and gain nearly cancel.",
        ),
        Question(
            id="q7",
            ask="Why do two hops have about half of the goodput of one?",
            options={
                "a": "the second link loses half of the packets",
                "b": "both links share one channel, and each packet crosses it twice",
                "c": "the round trip doubles, and Reno's rate is inversely proportional to it",
            },
            chosen=_reuse,
            hint="Is a packet lost? How long is the round trip, compared with other labs?",
            reason="The channel is the resource. The window of 16 kB exceeds the BDP, so the round trip does not "
            "matter.",
        ),
    ),
)
