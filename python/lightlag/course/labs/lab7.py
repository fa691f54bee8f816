"""Lab 7: handovers in low orbit."""

from __future__ import annotations

import math

from lightlag.course import theory
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.runs import Runs

__all__ = ["LAB"]

SKY, HANDOVER = "lab7-constellation", "lab7-handover"
VEGAS = {"defaults.tcp.congestion": "vegas"}
PIPE = 50e6 * 0.04 / 8 / theory.PACKET
"""Bandwidth-delay product of the short path, in packets. The queue has the same length."""
GROUND_KM = 5570.0
"""Great circle from London to New York."""


def _vegas_floor(_: Runs) -> float:
    """Window for which Vegas computes four segments of queue, with a minimum of 40 ms and a round trip of 90 ms."""
    return 4 / (1 - 0.04 / 0.09)


def _light_s() -> float:
    """Round trip over satellites that are at the minimum elevation, towards each other."""
    earth, height, elevation = 6371.0, 550.0, math.radians(25)
    slant = math.sqrt((earth * math.sin(elevation)) ** 2 + 2 * earth * height + height**2) - earth * math.sin(elevation)
    angle = math.acos(earth * math.cos(elevation) / (earth + height)) - elevation
    arc = (GROUND_KM / earth - 2 * angle) * (earth + height)
    return 2 * (2 * slant + arc) * 1e3 / theory.LIGHT


def _steps(runs: Runs) -> float:
    """Segments per second by which Vegas reduces its window between 20 and 28 s."""
    return (runs(HANDOVER, VEGAS).cwnd(20.0) - runs(HANDOVER, VEGAS).cwnd(28.0)) / 8


LAB = Lab(
    name="lab7",
    title="LEO handovers",
    about="What a path that changes does to algorithms that measure it.",
    scenarios=(SKY, HANDOVER),
    questions=(
        Question(
            id="q1",
            ask="lab7-constellation: what is the minimum round trip from London to New York (chart of RTT)?",
            unit="ms",
            within=0.02,
            measured=lambda runs: 1e3 * runs(SKY).min_rtt(),
            theory=lambda _: 1e3 * _light_s(),
            formula="2 · (two slant ranges at 25° + arc at 550 km between these satellites) / c",
            hint="Read the lowest sample of the chart of RTT.",
            reason="The best satellites are low above the horizon, towards the other city: 1,123 km away, at 25°, "
            "and 941 km nearer to it. Lasers follow the grid of planes and slots, which is a detour of some percent.",
        ),
        Question(
            id="q2",
            ask="A fibre along the great circle has 5,570 km and light in it 2/3 of c. How many milliseconds is the "
            "satellite's round trip shorter?",
            unit="ms",
            within=0.08,
            measured=lambda runs: 1e3 * (3 * GROUND_KM * 1e3 / theory.LIGHT - runs(SKY).min_rtt()),
            theory=lambda _: 1e3 * (3 * GROUND_KM * 1e3 / theory.LIGHT - _light_s()),
            formula="2 · 5,570 km / (2/3 c), minus q1",
            hint="Compute the round trip of the fibre, and subtract the answer to q1.",
            reason="Light in glass is slower by a third; the detour through space is smaller. The deviation is the "
            "one of q1, relative to a small difference. Real cables are longer than the great circle.",
        ),
        Question(
            id="q3",
            ask="How many hops has the path at the start (below the Globe, table Paths of flows; or result.paths)?",
            within=0.01,
            measured=lambda runs: float(len(runs(SKY).paths()[0]) - 1),
            theory=lambda _: float(2 + math.ceil(GROUND_KM * 6921 / 6371 / 1970) - 1),
            formula="up and down, and lasers of up to 1,970 km along the plane (2 π 6,921 km / 22)",
            hint="Open the Globe; the table lists each path with its hops.",
            reason="Four satellites, three lasers between them, an uplink and a downlink.",
        ),
        Question(
            id="q4",
            ask="How often does the path change in 180 s?",
            within=0.01,
            measured=lambda runs: float(len(runs(SKY).paths()) - 1),
            theory=lambda _: 180 / 600 * 22,
            formula="lightlag orbit: 22 changes in 600 s",
            hint="Count the rows of the table of paths; the first one does not count.",
            reason="Satellites pass a station in minutes, and either end or a laser may change. 180 s "
            "are a short sample of the rate over 600 s.",
        ),
        Question(
            id="q5",
            ask="lab7-handover, cubic: the delay falls from 45 to 20 ms at 30 s. How many packets can the path hold "
            "then: in transit, and in the queue?",
            unit="packets",
            within=0.03,
            measured=lambda runs: (
                runs(HANDOVER).link("terminal->server")["rate_bps"] * runs(HANDOVER).min_rtt() / 8 / theory.PACKET
                + int(runs(HANDOVER).link("terminal->server")["max_queue_packets"])
            ),
            theory=lambda _: 2 * PIPE,
            formula="BDP + queue = 2 · 50 Mbit/s · 40 ms",
            hint="1 bdp is computed from the first delay. A packet has 1,500 bytes.",
            reason="166 in transit and 166 in the queue. CUBIC's window is larger after the long path, so packets "
            "are lost: a handover to a shorter path causes congestion.",
        ),
        Question(
            id="q6",
            ask="lab7-handover, vegas: what is its cwnd just before the handover at 30 s (at 29.9 s)?",
            unit="segments",
            within=0.05,
            measured=lambda runs: runs(HANDOVER, VEGAS).cwnd(29.9),
            theory=_vegas_floor,
            formula="W (1 − RTTmin / RTT) = β = 4: Vegas reduces W only above it (Brakmo and Peterson 1995)",
            hint="Set congestion to vegas, run, and read the chart of cwnd.",
            reason="Vegas takes the longer path for a queue and shrinks until it believes that at most 4 segments are "
            "queued: 7.2 segments. It moves in whole segments, and so stops below.",
        ),
        Question(
            id="q7",
            ask="By how many segments per second does Vegas' cwnd fall between 20 and 28 s?",
            unit="segments/s",
            within=0.05,
            measured=_steps,
            theory=lambda _: 1 / 0.09,
            formula="one segment per round trip of 90 ms",
            hint="Read cwnd at both times, subtract, and divide by 8 s.",
            reason="Vegas changes by one segment per round trip.",
        ),
        Question(
            id="q8",
            ask="How many times the goodput of vegas has cubic in lab7-handover?",
            within=0.05,
            measured=lambda runs: runs(HANDOVER).goodput() / runs(HANDOVER, VEGAS).goodput(),
            hint="Compare both, or divide two values of the column Goodput.",
            reason="No closed form: Vegas loses the time that it needs to shrink and to grow again. BBR forgets its "
            "minimum after 10 s, and has nearly the goodput of CUBIC with a shorter queue.",
        ),
        Question(
            id="q9",
            ask="What misleads Vegas?",
            options={
                "a": "packets lost in the handover",
                "b": "its minimum of the round trip, which belongs to another path",
                "c": "a receive buffer that is too small",
                "d": "the lower rate of the new path",
            },
            chosen=lambda runs: "b" if int(runs(HANDOVER, VEGAS).flow()["retransmitted_segments"]) == 0 else "a",
            hint="Does Vegas lose a packet? Read the column Lost.",
            reason="Vegas loses no packet and has no limit but its window.",
        ),
    ),
)
