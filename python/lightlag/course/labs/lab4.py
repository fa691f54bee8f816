"""Lab 4: loss against congestion."""

from __future__ import annotations

import math

from lightlag.course import theory
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.runs import Runs

__all__ = ["LAB"]

FILE = "lab4-lossy-link"
TENTH = {"links.0.loss": {"forward": 1e-2}}
CLEAN = {"links.0.loss": {"forward": 0.0}}
FAST = {"links.0.rate": "1 Gbit/s"}
TIMEOUT_S = 0.25
"""Timeout of a round trip of 50 ms: SRTT + 4 RTTVAR, with the minimum of 200 ms for 4 RTTVAR in Linux."""


def _where(runs: Runs) -> str:
    lost = runs(FILE, TENTH).lost("client->server")
    return "b" if lost["error"] > lost["queue"] else "a"


LAB = Lab(
    name="lab4",
    title="Loss against congestion",
    about="What TCP does if the radio loses packets, and not the queue.",
    scenarios=(FILE,),
    questions=(
        Question(
            id="q1",
            ask="What is the goodput of NewReno at a loss of 1e-3?",
            unit="Mbit/s",
            within=0.04,
            measured=lambda runs: runs(FILE).goodput(),
            theory=lambda _: theory.mathis(1e-3, 0.05) / 1e6,
            formula="MSS / RTT · √(3 / (2 p)) (Mathis et al. 1997)",
            hint="Read the column Goodput after the run of 300 s.",
            reason="The first seconds, slow start at up to 100 Mbit/s, are part of the mean.",
        ),
        Question(
            id="q2",
            ask="Set the forward loss to 1e-2. What is the goodput?",
            unit="Mbit/s",
            within=0.04,
            measured=lambda runs: runs(FILE, TENTH).goodput(),
            theory=lambda _: theory.padhye(1e-2, 0.05, TIMEOUT_S) / 1e6,
            formula="Padhye et al. 1998, b = 1, T₀ = 250 ms",
            hint="Change loss of the link, forward, and run again.",
            reason="Padhye's model expects a timeout for 18 % of the losses at this rate; with SACK and RACK there is "
            "none, so the goodput is near Mathis' 2.84 Mbit/s.",
            errors="Setting the loss for both directions: losses of ACKs hardly matter.",
        ),
        Question(
            id="q3",
            ask="Ten times the loss: by which factor did the goodput fall, from q1 to q2?",
            within=0.06,
            measured=lambda runs: runs(FILE).goodput() / runs(FILE, TENTH).goodput(),
            theory=lambda _: math.sqrt(10),
            formula="goodput ∝ 1 / √p",
            hint="Divide the two goodputs. Compare with the square root of ten.",
            reason="The square root of ten. The rest is slow start, which is a larger part of the mean in q1.",
        ),
        Question(
            id="q4",
            ask="A loss of 1e-3, and a link of 1 Gbit/s instead of 100 Mbit/s. How many times the goodput of q1 is it?",
            within=0.05,
            measured=lambda runs: runs(FILE, FAST).goodput() / runs(FILE).goodput(),
            theory=lambda _: 1.0,
            formula="the rate of the link is not in Mathis' formula",
            hint="Change rate, run again, and divide.",
            reason="Loss and round trip are the limit, not the link. What remains is a faster slow start.",
        ),
        Question(
            id="q5",
            ask="100 Mbit/s and 1e-3 again: what is the goodput of bbr?",
            unit="Mbit/s",
            within=0.03,
            measured=lambda runs: runs(FILE, {"defaults.tcp.congestion": "bbr"}).goodput(),
            theory=lambda _: 100 * theory.PAYLOAD / theory.PACKET * (1 - 1e-3),
            formula="(1 − p) · rate · 1448 / 1500",
            hint="Select bbr as congestion below Defaults, TCP.",
            reason="BBR does not reduce its rate for a loss. Its search for the minimum round trip, 0.2 s in 10 s, "
            "and the drain after each probe cost some percent.",
        ),
        Question(
            id="q6",
            ask="Without any loss of the link (forward 0): which percentage of the time is the link busy?",
            unit="%",
            within=0.02,
            measured=lambda runs: 100 * runs(FILE, CLEAN).busy("client->server"),
            theory=lambda _: 100.0,
            formula="a queue of one BDP keeps the link busy (lab 2)",
            hint="Set the loss to 0, run again, and read Busy of client->server.",
            reason="The same algorithm fills the same link: losses of the queue are signals, losses of the radio are "
            "not.",
        ),
        Question(
            id="q7",
            ask="At a loss of 1e-2: what dropped the packets (text below *Why is it slow?*)?",
            options={
                "a": "the queue, because slow start overshot",
                "b": "errors on the link",
                "c": "an AQM",
            },
            chosen=_where,
            hint="Open the flow in the text below the charts; it names the causes of the losses.",
            reason="All losses are errors: the window never reaches the queue.",
        ),
        Question(
            id="q8",
            ask="Which change helps NewReno on this link?",
            options={
                "a": "a longer queue",
                "b": "a larger receive buffer",
                "c": "error correction or retransmission on the link itself",
                "d": "a faster link",
            },
            chosen=lambda runs: "c" if runs(FILE, CLEAN).goodput() > 5 * runs(FILE).goodput() else "a",
            hint="Which of these changes the variables of Mathis' formula?",
            reason="Only the loss p and the round trip are in the formula. Wi-Fi retransmits frames for this reason.",
        ),
    ),
)
