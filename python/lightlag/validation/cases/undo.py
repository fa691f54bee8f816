"""The cases about spurious loss recovery."""

from __future__ import annotations

import math

from lightlag.validation.cases.case import Case, Check, Marks, Step, Values, Variant
from lightlag.validation.cases.paths import ACCESS_S, Path
from lightlag.validation.cases.phases import Run

__all__ = ["CASES"]

BASE = Path(seconds=12, link={"reorder": True, "outage": "hold"})
EVENT_S = 6.0
"""Time of the event for an algorithm without states."""
LATE_S = 0.02
"""Extra delay of the reordered packets: more than the quarter of the minimum RTT that RACK waits."""
HELD_S = 0.6
"""Time for which the link holds its packets: until a tail loss probe, and a timeout after it."""


def _place(path: Path, run: Run) -> float:
    """Returns the time of an event whose first ACK arrives in the first PROBE_UP."""
    if not run.has_states:
        return EVENT_S
    phase = run.first("up", 1.0)
    return math.nan if phase is None else phase.start_s - 0.4 * path.rtt_s


def _reordered(path: Path, run: Run) -> tuple[Path, Marks] | None:
    at = _place(path, run)
    if math.isnan(at):
        return None
    usual = path.rtt_s / 2 - ACCESS_S
    late = {"at": f"{at:.9f} s", "delay": f"{(usual + LATE_S) * 1e3:g} ms"}
    again = {"at": f"{at + 0.003:.9f} s", "delay": f"{usual * 1e3:g} ms"}
    return path.changed(late, again), {"at": at}


def _held(path: Path, run: Run) -> tuple[Path, Marks] | None:
    at = _place(path, run)
    if math.isnan(at):
        return None
    return path.changed({"at": f"{at:.9f} s", "down": True}, {"at": f"{at + HELD_S:.9f} s", "down": False}), {"at": at}


def _undone(phase_name: str) -> object:
    def measure(run: Run, marks: Marks) -> Values:
        at = marks["at"]
        rows = [row for row in range(run.row(at) + 1, len(run.time)) if run.recovery[row] == phase_name]
        empty = dict.fromkeys(("window", "estimate", "state") if run.has_states else ("window",), math.nan)
        if not rows:
            return empty | {"episodes": 0.0}
        first = rows[0]
        # The undo ends the episode.
        end = next((row for row in range(first, len(run.time)) if run.recovery[row] == "open"), None)
        if end is None:
            return empty | {"episodes": 1.0}
        before = run.row(at)
        settled = float(run.time[end]) + BASE.rtt_s
        values = {
            "episodes": 1.0,
            "window": run.value(run.window, settled) / float(run.window[before]),
        }
        if run.has_states:
            values["estimate"] = run.value(run.rate, settled) / float(run.rate[before])
            back = next((one for one in run.phases if one.name == "up" and one.end_s > float(run.time[end])), None)
            start = float(run.time[end])
            values["state"] = math.nan if back is None else run.rounds(start, max(back.start_s, start))
        return values

    return measure


def _case(name: str, title: str, about: str, step: Step, phase: str, episode: str) -> Case:
    return Case(
        name,
        title,
        about
        + " The draft requires that the spurious losses are detected, that the bounds are restored, and that the flow "
        "returns to its state; its pseudocode returns to PROBE_UP through a round of PROBE_REFILL. Our bounds: a "
        "round trip after the undo, a window of at least 95 % and an estimate of at least 98 % of the ones before, "
        "which a probe may raise; PROBE_UP again within 3 rounds of the undo.",
        (
            Check("episodes", episode, 1, 1),
            Check("window", "window a round trip after the undo / window before", 0.95),
            Check("estimate", "estimate a round trip after the undo / estimate before", 0.98),
            Check("state", "rounds from the undo to PROBE_UP", 0, 3),
        ),
        (Variant(BASE, _undone(phase), (step,), needs_states=False, around_s=(-0.5, 2.0)),),  # type: ignore[arg-type]
    )


CASES = (
    _case(
        "spurious-recovery",
        "Handling spurious fast recovery",
        "For 3 ms the bottleneck delays its packets by 20 ms more, so that later ones overtake five of them; the "
        "first PROBE_UP has just started when its first ACK arrives (after 6 s for an algorithm without states). 20 "
        "Mbit/s, 50 ms, queue of 2 BDP.",
        _reordered,
        "recovery",
        "fast recovery starts",
    ),
    _case(
        "spurious-rto",
        "Handling spurious RTO recovery",
        "The bottleneck holds its packets for 0.6 s and then sends them, so that the timer expires although nothing "
        "is lost; the first PROBE_UP has just started when the ACKs stop (after 6 s for an algorithm without states). "
        "The draft names reordering as the cause; a packet that is late by a timeout is late by more than the queue. "
        "20 Mbit/s, 50 ms, queue of 2 BDP.",
        _held,
        "loss",
        "recovery after a timeout starts",
    ),
)
