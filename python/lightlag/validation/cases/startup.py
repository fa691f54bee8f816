"""The cases about STARTUP and DRAIN."""

from __future__ import annotations

import math
from typing import Any

from lightlag.validation.cases.case import Case, Check, Marks, Values, Variant
from lightlag.validation.cases.paths import Path
from lightlag.validation.cases.phases import PROBE_BW, Phase, Run

__all__ = ["CASES", "is_next"]

BASE = Path()
FAST = Path(
    rate_bps=100e6, seconds=6, queue="1.25 MB", traffic={"kind": "constant", "rate": "40 Mbit/s", "size": "1448 B"}
)
LOSS_AT_S = 2.0
"""Time when the losses of the application-limited STARTUP start: after some 40 rounds, before the first PROBE_RTT."""


def is_next(run: Run, phase: Phase | None, *names: str) -> float:
    """Returns 1 if a phase is followed by one of these, 0 if by another, NaN if there is no such phase."""
    if phase is None:
        return math.nan
    after = run.following(phase)
    return float(after is not None and after.name in names)


def _flat_rounds(run: Run, phase: Phase) -> float:
    """Returns the rounds from the last growth of the estimate by a quarter to the end of a phase."""
    base, since = 0.0, phase.start_s
    for row in range(phase.first, phase.last):
        if run.rate[row] >= 1.25 * base:
            base, since = float(run.rate[row]), float(run.time[row])
    return run.rounds(since, phase.end_s)


def _plateau(run: Run, _: Marks) -> Values:
    startup = run.first("startup")
    if startup is None or not startup.is_over:
        return dict.fromkeys(("estimate", "flat", "next"), math.nan)
    return {
        "estimate": float(run.rate[startup.last - 1]) / BASE.payload_bps,
        "flat": _flat_rounds(run, startup),
        "next": is_next(run, startup, "drain"),
    }


def _lossy_startup(run: Run, _: Marks) -> Values:
    startup = run.first("startup")
    stays = startup is not None and startup.end_s >= LOSS_AT_S
    if startup is None or not startup.is_over or not stays:
        return {"stays": float(stays), "rounds": math.nan, "next": math.nan}
    return {
        "stays": 1.0,
        "rounds": run.rounds(LOSS_AT_S, startup.end_s),
        "next": is_next(run, startup, "drain", *PROBE_BW),
    }


def _drain(run: Run, _: Marks) -> Values:
    drain = run.first("drain")
    if drain is None or not drain.is_over:
        return dict.fromkeys(("gain", "flight", "rounds", "next"), math.nan)
    return {
        "gain": float(run.pacing_gain[drain.first]),
        "flight": float(run.flight[drain.last] / run.product[drain.last]),
        "rounds": run.rounds(drain.start_s, drain.end_s),
        "next": is_next(run, drain, *PROBE_BW),
    }


def _cut_in_drain(part: float) -> Any:
    def step(path: Path, run: Run) -> tuple[Path, Marks] | None:
        drain = run.first("drain")
        if drain is None:
            return None
        rate = f"{path.rate_bps * (1 - part) / 1e6:g} Mbit/s"
        return path.changed({"at": f"{drain.start_s:.9f} s", "rate": rate}), {"at": drain.start_s}

    return step


def _long_drain(run: Run, marks: Marks) -> Values:
    drain = run.at(marks["at"])
    if drain is None or drain.name != "drain" or not drain.is_over:
        return dict.fromkeys(("above", "flight", "rounds", "next"), math.nan)
    rows = slice(drain.first, drain.last)
    return {
        "above": float((run.flight[rows] > run.product[rows]).mean()),
        "flight": float(run.flight[drain.last] / run.product[drain.last]),
        "rounds": run.rounds(drain.start_s, drain.end_s),
        "next": is_next(run, drain, *PROBE_BW),
    }


def _short_drain(run: Run, marks: Marks) -> Values:
    return {"rounds_10": _long_drain(run, marks)["rounds"]}


CASES = (
    Case(
        "startup-plateau",
        "Exiting STARTUP on bandwidth plateau",
        "Bulk data on 20 Mbit/s, 50 ms, queue of 2 BDP. The draft requires an estimate within 2 % of the link, an end "
        "after 3 consecutive rounds with less than 25 % growth, and DRAIN as the next state. The rounds are counted "
        "from the last ACK that raised the estimate by a quarter, which is up to a round before the round that the "
        "algorithm counts from: 3 to 4.",
        (
            Check("estimate", "estimated bandwidth at the end of STARTUP / payload rate of the link", 0.98, 1.02),
            Check("flat", "rounds without growth of 25 % before the end of STARTUP", 3, 4),
            Check("next", "DRAIN follows", 1, 1),
        ),
        (Variant(BASE, _plateau, around_s=(0.0, 2.0)),),
    ),
    Case(
        "startup-loss",
        "Exiting STARTUP on loss when application-limited",
        "The application writes 40 Mbit/s on a link of 100 Mbit/s and 50 ms, so that it limits every sample; from 2 s "
        "on 10 % of the packets are lost, 17 in each round. The draft requires an exit to DRAIN once a full round in "
        "recovery lost more than 2 % in at least 6 ranges. Our bound: at most 4 rounds, as the first loss takes a "
        "round to be detected, recovery a round, and the loss round that follows is counted at its end. An "
        "application-limited flow may have less than the BDP in flight; the ACK that starts DRAIN then ends it too, "
        "and the trace shows PROBE_BW.",
        (
            Check("stays", "STARTUP lasts until the losses start", 1, 1),
            Check("rounds", "rounds from the first losses to the end of STARTUP", 0, 4),
            Check("next", "DRAIN or PROBE_BW follows", 1, 1),
        ),
        (Variant(FAST.changed({"at": f"{LOSS_AT_S:g} s", "loss": 0.1}), _lossy_startup),),
    ),
    Case(
        "drain-inflight",
        "Exiting DRAIN based on inflight",
        "Bulk data on 20 Mbit/s, 50 ms, queue of 2 BDP. The draft requires a pacing gain of 0.5, and PROBE_BW once "
        "the data in flight is at most the estimated BDP. Our bound: 5 % more, four segments, because the trace shows "
        "the sender after the ACK, with the segments that it released. The draft bounds DRAIN to 3 rounds.",
        (
            Check("gain", "pacing gain in DRAIN", 0.495, 0.505),
            Check("flight", "data in flight at the exit / estimated BDP", 0, 1.05),
            Check("rounds", "rounds in DRAIN", 0, 3),
            Check("next", "PROBE_BW follows", 1, 1),
        ),
        (Variant(BASE, _drain, around_s=(0.0, 2.0)),),
    ),
    Case(
        "drain-time",
        "Exiting DRAIN based on time",
        "As before, and the rate of the link falls when DRAIN starts. The draft names a fall of 10 %, with the data "
        "in flight above the BDP for several rounds, but at a pacing gain of 0.5 the queue of such a link empties in "
        "about a round (last row, for information). The link therefore loses 55 % of its rate. The draft requires an "
        "exit after 3 round trips; its pseudocode ends DRAIN when the round count exceeds the count at the start by "
        "more than 3, at the start of the fourth round after. The flight must still be above the BDP by the 5 % of "
        "the case before.",
        (
            Check("above", "fraction of DRAIN with more than the estimated BDP in flight", 0.99, 1),
            Check("flight", "data in flight at the exit / estimated BDP", 1.05),
            Check("rounds", "rounds in DRAIN, rate 55 % lower", 3, 4.5),
            Check("next", "PROBE_BW follows", 1, 1),
            Check("rounds_10", "rounds in DRAIN, rate 10 % lower", is_bounded=False),
        ),
        (
            Variant(
                BASE,
                _long_drain,
                (_cut_in_drain(0.55),),
                around_s=(-1.0, 4.0),
                checks=("above", "flight", "rounds", "next"),
            ),
            Variant(BASE, _short_drain, (_cut_in_drain(0.1),), checks=("rounds_10",)),
        ),
    ),
)
