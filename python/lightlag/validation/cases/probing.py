"""The cases about PROBE_UP, PROBE_DOWN and PROBE_REFILL."""

from __future__ import annotations

import math
from typing import Any

from lightlag.validation.cases.case import Case, Check, Marks, Values, Variant
from lightlag.validation.cases.paths import Path
from lightlag.validation.cases.phases import Phase, Run
from lightlag.validation.cases.startup import is_next

__all__ = ["CASES"]

BASE = Path()
LONG = Path(seconds=60)
SLOW_BPS = 8e6
"""Rate of the limited application, 40 % of the link."""


def _complete(run: Run, name: str, next_name: str) -> Phase | None:
    """Returns the first phase of this name that another one follows."""
    for phase in run.phases:
        after = run.following(phase)
        if phase.name == name and after is not None and after.name == next_name:
            return phase
    return None


def _up(run: Run, _: Marks) -> Values:
    ups = [one for one in run.phases if one.name == "up" and one.is_over and is_next(run, one, "probe_rtt") == 0]
    if not ups:
        return dict.fromkeys(("losses", "rounds", "next"), math.nan)
    rounds = [run.rounds(one.start_s, one.end_s) for one in ups]
    return {
        "losses": float(run.losses(ups[0].start_s, ups[-1].end_s)),
        "rounds": sum(rounds) / len(rounds),
        "next": sum(is_next(run, one, "down") for one in ups) / len(ups),
    }


def _limit_in(name: str, *, loss: float = 0.0) -> Any:
    """Returns the step that limits the application when the first phase of a name starts, and loses packets."""

    def step(path: Path, run: Run) -> tuple[Path, Marks] | None:
        phase = run.first(name)
        if phase is None:
            return None
        placed = path.limited(run, phase.start_s, SLOW_BPS)
        if loss:
            placed = placed.changed({"at": f"{phase.start_s:.9f} s", "loss": loss})
        return placed, {"at": phase.start_s}

    return step


def _lossy_up(run: Run, marks: Marks) -> Values:
    phase = run.at(marks["at"])
    if phase is None or phase.name != "up" or not phase.is_over:
        return {"rounds": math.nan, "next": math.nan}
    return {"rounds": run.rounds(phase.start_s, phase.end_s), "next": is_next(run, phase, "down", "cruise")}


def _stays_in_startup(run: Run, _: Marks) -> Values:
    others = {one.name for one in run.phases} - {"startup", "probe_rtt"}
    return {"startup": float(not others)}


def _stays_up(run: Run, marks: Marks) -> Values:
    phase = run.at(marks["at"])
    if phase is None or phase.name != "up":
        return {"up": math.nan, "up_s": math.nan}
    return {
        "up": float(not phase.is_over or is_next(run, phase, "probe_rtt") == 1),
        "up_s": phase.end_s - phase.start_s,
    }


def _down(run: Run, _: Marks) -> Values:
    downs = [one for one in run.phases if one.name == "down" and one.is_over and one.first > 0]
    # The DOWN that ends DRAIN does not follow a probe.
    downs = [one for one in downs if (before := run.at(one.start_s - 1e-6)) is not None and before.name == "up"]
    downs = [one for one in downs if is_next(run, one, "probe_rtt") == 0]
    if not downs:
        return dict.fromkeys(("gain", "flight", "next"), math.nan)
    flights = [float(run.flight[one.last] / run.product[one.last]) for one in downs]
    return {
        "gain": float(run.pacing_gain[downs[0].first]),
        "flight": max(flights),
        "next": sum(is_next(run, one, "cruise") for one in downs) / len(downs),
    }


def _cut_in_down(path: Path, run: Run) -> tuple[Path, Marks] | None:
    """Lowers the rate at the start of a DOWN whose next probe comes before PROBE_RTT."""
    for phase in run.phases:
        before = run.at(phase.start_s - 1e-6)
        if phase.name != "down" or before is None or before.name != "up":
            continue
        probe, rest = run.first("refill", phase.start_s), run.first("probe_rtt", phase.start_s)
        if probe is not None and rest is not None and probe.start_s + 0.1 < rest.start_s:
            rate = f"{0.9 * path.rate_bps / 1e6:g} Mbit/s"
            return path.changed({"at": f"{phase.start_s:.9f} s", "rate": rate}), {"at": phase.start_s}
    return None


def _long_down(run: Run, marks: Marks) -> Values:
    phase = run.at(marks["at"])
    if phase is None or phase.name != "down":
        return {"seconds": math.nan, "next": math.nan}
    return {"seconds": phase.end_s - phase.start_s, "next": is_next(run, phase, "refill")}


def _loss_in_up(path: Path, run: Run) -> tuple[Path, Marks] | None:
    """Loses packets for two rounds from the start of the first UP."""
    phase = run.first("up")
    if phase is None:
        return None
    return _lossy(path, phase.start_s), {"first": phase.start_s}


def _loss_in_next_up(path: Path, run: Run) -> tuple[Path, Marks] | None:
    """Loses packets for two rounds from the start of the next UP that lasts at least two rounds.

    The one directly after the losses is precautionary: it ends at the bound, before it has feedback.
    """
    first = run.first("up")
    for phase in run.phases:
        if first is None or phase.name != "up" or phase.start_s <= first.start_s:
            continue
        if run.rounds(phase.start_s, phase.end_s) >= 2:
            return _lossy(path, phase.start_s), {"at": phase.start_s}
    return None


def _lossy(path: Path, at_s: float) -> Path:
    end = at_s + 2 * path.rtt_s
    return path.changed({"at": f"{at_s:.9f} s", "loss": 0.1}, {"at": f"{end:.9f} s", "loss": 0.0})


def _lowered(run: Run, marks: Marks) -> Values:
    phase = run.at(marks["at"])
    after = None if phase is None else run.following(phase)
    if phase is None or phase.name != "up" or after is None:
        return dict.fromkeys(("rounds", "next", "bound"), math.nan)
    # In DOWN the window is at most the bound; at its start it may still fall.
    settled = run.part(run.window, after.start_s, after.end_s)
    before = float(run.window[phase.first : phase.last].max())
    return {
        "rounds": run.rounds(phase.start_s, phase.end_s),
        "next": is_next(run, phase, "down"),
        "bound": float(settled.min()) / before if len(settled) else math.nan,
    }


def _pause_in_refill(path: Path, run: Run) -> tuple[Path, Marks] | None:
    phase = run.first("refill")
    if phase is None:
        return None
    resume = phase.start_s + path.rtt_s
    return path.limited(run, phase.start_s, 0.0, resume), {"at": phase.start_s, "resume": resume}


def _paused_refill(run: Run, marks: Marks) -> Values:
    phase = run.at(marks["at"])
    if phase is None or phase.name != "refill":
        return dict.fromkeys(("estimate", "next", "goodput"), math.nan)
    before = run.value(run.rate, marks["at"] - 0.01)
    rates = run.part(run.rate, marks["at"], marks["resume"] + 0.5)
    start = marks["resume"] + 2 * BASE.rtt_s
    return {
        "estimate": float(rates.min()) / before,
        "next": is_next(run, phase, "up"),
        "goodput": run.goodput(start, start + 0.5) / BASE.payload_bps,
    }


CASES = (
    Case(
        "up-plateau",
        "Exiting PROBE_UP on bandwidth plateau",
        "Bulk data on 20 Mbit/s, 50 ms, queue of 2 BDP, which holds what PROBE_UP adds without losses. The draft "
        "requires PROBE_DOWN after 3 consecutive rounds in which the delivery rate grows by less than 25 %. Our "
        "bound: 2.95 to 4 rounds; the trace has steps of 1 ms. All phases of a run count, except ones that PROBE_RTT "
        "ends.",
        (
            Check("losses", "packets lost", 0, 0),
            Check("rounds", "rounds in PROBE_UP", 2.95, 4),
            Check("next", "fraction of the phases that PROBE_DOWN follows", 1, 1),
        ),
        (Variant(BASE, _up),),
    ),
    Case(
        "up-loss",
        "Exiting PROBE_UP on loss when application-limited",
        "When the first PROBE_UP starts, the application falls to 8 of 20 Mbit/s, and 10 % of the packets are lost "
        "thereafter. The draft requires PROBE_DOWN because of the losses over the last round trip. Our bound: within "
        "3 rounds; a loss takes a round to be detected, and at a plateau PROBE_UP would end after 3. The draft's "
        "appendix requires an update of inflight_longterm, but its pseudocode leaves the bound as it is for "
        "application-limited samples. With less than the BDP in flight, the ACK that starts PROBE_DOWN may also end "
        "it, and the trace shows PROBE_CRUISE.",
        (
            Check("rounds", "rounds from the first losses to the end of PROBE_UP", 0, 3),
            Check("next", "PROBE_DOWN or PROBE_CRUISE follows", 1, 1),
        ),
        (Variant(BASE, _lossy_up, (_limit_in("up", loss=0.1),), around_s=(-0.5, 1.5)),),
    ),
    Case(
        "limited-stays",
        "Never exiting PROBE_UP (or STARTUP) when application-limited with no loss",
        "In one run the application writes 8 Mbit/s from the start on a link of 20 Mbit/s; in the other it falls to 8 "
        "Mbit/s when the first PROBE_UP starts. The draft requires that the flow stays in STARTUP or PROBE_UP "
        "indefinitely. Another section of the draft requires PROBE_RTT if the minimum RTT is 5 s old, in every state; "
        "only that exit is accepted.",
        (
            Check("up", "PROBE_UP ends never, or by PROBE_RTT", 1, 1),
            Check("startup", "STARTUP ends never, or by PROBE_RTT", 1, 1),
            Check("up_s", "time in PROBE_UP (s)", is_bounded=False),
        ),
        (
            Variant(BASE, _stays_up, (_limit_in("up"),), checks=("up", "up_s"), around_s=(-1.0, 12.0)),
            Variant(
                Path(traffic={"kind": "constant", "rate": "8 Mbit/s", "size": "1448 B"}),
                _stays_in_startup,
                checks=("startup",),
            ),
        ),
    ),
    Case(
        "down-inflight",
        "Exiting PROBE_DOWN on inflight",
        "Bulk data on 20 Mbit/s, 50 ms, queue of 2 BDP. The draft requires a pacing gain of 0.90, and PROBE_CRUISE "
        "once the data in flight is at most the estimated BDP and below inflight_longterm with its headroom (not set "
        "here). Our bound: 5 % more, four segments, as for DRAIN. All phases after a PROBE_UP count, except ones that "
        "PROBE_RTT ends.",
        (
            Check("gain", "pacing gain in PROBE_DOWN", 0.895, 0.905),
            Check("flight", "largest data in flight at an exit / estimated BDP", 0, 1.05),
            Check("next", "fraction of the phases that PROBE_CRUISE follows", 1, 1),
        ),
        (Variant(BASE, _down),),
    ),
    Case(
        "down-time",
        "Exiting PROBE_DOWN after max time",
        "When PROBE_DOWN starts, the rate of the link falls by 10 %, so that the data in flight stays above the BDP. "
        "The draft requires PROBE_REFILL, without PROBE_CRUISE, after bw_probe_wait, which is drawn from 2 to 3 s. "
        "Our bound: 0.1 s more, two round trips, because the timer is read at an ACK. The phase is one whose next "
        "probe comes before PROBE_RTT.",
        (
            Check("seconds", "time in PROBE_DOWN (s)", 2, 3.1),
            Check("next", "PROBE_REFILL follows", 1, 1),
        ),
        (Variant(LONG, _long_down, (_cut_in_down,), of_version_3=True, around_s=(-0.5, 4.0)),),
    ),
)

LATE = (
    Case(
        "up-loss-longterm",
        "Handling loss during PROBE_UP after inflight_longterm is set",
        "10 % of the packets are lost in the first two rounds of the first PROBE_UP, which sets inflight_longterm; "
        "and again in the first two rounds of a later one, which would last for at least two rounds. The draft "
        "requires PROBE_DOWN before a plateau is detected, that is in less than 3 rounds, and a bound that is scaled "
        "down by at most BBR.Beta, 0.7. The bound is seen in the window, which it limits in PROBE_DOWN. Our bound: "
        "0.66 to 0.99 of the maximum window in PROBE_UP, with 0.04 for the segments that lie between the flight and "
        "the window.",
        (
            Check("rounds", "rounds from the first losses to the end of PROBE_UP", 0, 2.99),
            Check("next", "PROBE_DOWN follows", 1, 1),
            Check("bound", "smallest window in PROBE_DOWN / largest in PROBE_UP", 0.66, 0.99),
        ),
        (Variant(LONG, _lowered, (_loss_in_up, _loss_in_next_up), of_version_3=True, around_s=(-0.5, 1.5)),),
    ),
    Case(
        "refill-limited",
        "Handling application-limited sending during PROBE_REFILL",
        "The application pauses when PROBE_REFILL starts, for one round trip, and then has bulk data again. The draft "
        "requires that the low samples of this round do not change the estimate, and PROBE_UP as the next state. Our "
        "bound: 0.5 % for the jitter of the path; and at least 90 % of the link after two round trips, as correct "
        "handling of the probing that follows.",
        (
            Check("estimate", "smallest estimate until 0.5 s after the pause / estimate before it", 0.995, 1.02),
            Check("next", "PROBE_UP follows", 1, 1),
            Check("goodput", "goodput from 0.1 to 0.6 s after the pause / payload rate of the link", 0.9, 1.01),
        ),
        (Variant(BASE, _paused_refill, (_pause_in_refill,), of_version_3=True, around_s=(-0.5, 1.5)),),
    ),
)
