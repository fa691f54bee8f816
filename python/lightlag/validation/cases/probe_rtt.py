"""The cases about PROBE_RTT."""

from __future__ import annotations

import itertools
import math

from lightlag.validation.cases.case import Case, Check, Marks, Values, Variant
from lightlag.validation.cases.paths import Path
from lightlag.validation.cases.phases import PROBE_BW, Run
from lightlag.validation.cases.startup import is_next

__all__ = ["CASES", "IN_STARTUP"]

BASE = Path(seconds=35)
STILL = Path(seconds=35, jitter="0 s")
"""A path without jitter, in which no sample is below the minimum RTT once the queue was empty."""
INTERVAL_S = 5.0
"""BBR.ProbeRTTInterval."""
IDLE_S = 11.0
"""Pause of the application: longer than ProbeRTTInterval, and than the 10 s of version 1."""


def _probe_rtt(run: Run, _: Marks) -> Values:
    phases = [one for one in run.phases if one.name == "probe_rtt" and one.is_over]
    pairs = list(itertools.pairwise(phases))
    if not pairs:
        return dict.fromkeys(("interval", "gain", "flight", "seconds", "next", "resumes"), math.nan)
    first = phases[0]
    flights = [float((run.flight / run.product)[one.first : one.last].min()) for one in phases]
    resumed = [run.goodput(one.end_s + 2 * BASE.rtt_s, one.end_s + 2 * BASE.rtt_s + 0.5) for one in phases[:-1]]
    gains = [after.start_s - before.end_s for before, after in pairs]
    return {
        "interval": sum(gains) / len(gains),
        "gain": float(run.window_gain[first.first]),
        "flight": min(flights),
        "seconds": max(one.end_s - one.start_s for one in phases),
        "next": sum(is_next(run, one, *PROBE_BW) for one in phases) / len(phases),
        "resumes": min(resumed) / BASE.payload_bps,
    }


def _pause(path: Path, run: Run) -> tuple[Path, Marks] | None:
    """Pauses the application in PROBE_BW, a second after it started."""
    phase = next((one for one in run.phases if one.name in PROBE_BW), None)
    if phase is None:
        return None
    at = phase.start_s + 1.0
    return path.limited(run, at, 0.0, at + IDLE_S), {"pause": at, "at": at + IDLE_S}


def _restarted(run: Run, marks: Marks) -> Values:
    at = marks["at"]
    starts = [one for one in run.phases if one.name == "probe_rtt" and at - IDLE_S < one.start_s < at + 4]
    sending = at + 0.002
    return {
        "probe_rtt": float(len(starts)),
        "pacing": run.value(run.pacing, sending) / run.value(run.rate, sending),
        "goodput": run.goodput(at + 2 * BASE.rtt_s, at + 2 * BASE.rtt_s + 1.0) / BASE.payload_bps,
    }


def _in_startup(run: Run, _: Marks) -> Values:
    phase = run.first("probe_rtt")
    before = None if phase is None else run.at(phase.start_s - 1e-6)
    if phase is None or before is None or not phase.is_over:
        return {"from": math.nan, "seconds": math.nan, "next": math.nan}
    return {
        "from": float(before.name == "startup"),
        "seconds": phase.end_s - phase.start_s,
        "next": is_next(run, phase, "startup"),
    }


CASES = (
    Case(
        "probe-rtt",
        "Entering and exiting PROBE_RTT",
        "Bulk data on 20 Mbit/s, 50 ms, queue of 2 BDP, for 35 s, without jitter, so that no sample is below the "
        "minimum RTT. The draft requires PROBE_RTT after 5 s without a smaller RTT, a window gain of 0.5, at least "
        "200 ms and a round trip with that flight, and PROBE_BW after it. The phase also covers the time until the "
        "flight has fallen. Our bounds: up to 0.1 s more, two round trips, as the timer is read at an ACK; at most "
        "200 ms and three round trips; 0.4 to 0.55 of the BDP in flight; at least 90 % of the link starting two round "
        "trips after it.",
        (
            Check("interval", "mean time from the end of PROBE_RTT to the next one (s)", 5.0, 5.1),
            Check("gain", "window gain in PROBE_RTT", 0.5, 0.5),
            Check("flight", "smallest data in flight / estimated BDP", 0.4, 0.55),
            Check("seconds", "longest PROBE_RTT (s)", 0.2, 0.35),
            Check("next", "fraction of the phases that PROBE_BW follows", 1, 1),
            Check("resumes", "goodput from 0.1 to 0.6 s after PROBE_RTT / payload rate of the link", 0.9, 1.01),
        ),
        (Variant(STILL, _probe_rtt),),
    ),
    Case(
        "probe-rtt-skipped",
        "Skipping PROBE_RTT due to application-limited sending",
        "The application pauses in PROBE_BW for 11 s, which is longer than the 5 s of the draft and the 10 s of "
        "version 1, and then has bulk data again. The draft requires that no PROBE_RTT follows the idle time, and "
        "that the flow restarts at exactly its estimated bandwidth. Our bounds: no PROBE_RTT for 4 s; a pacing gain "
        "of 0.98 to 1, as the pacing margin is 1 %; at least 90 % of the link starting two round trips after it.",
        (
            Check("probe_rtt", "number of PROBE_RTT in the pause and in the 4 s after it", 0, 0),
            Check("pacing", "pacing rate at the restart / estimated bandwidth", 0.98, 1.0),
            Check("goodput", "goodput from 0.1 to 1.1 s after the restart / payload rate of the link", 0.9, 1.01),
        ),
        (Variant(BASE, _restarted, (_pause,), around_s=(-13.0, 5.0)),),
    ),
)

IN_STARTUP = (
    Case(
        "probe-rtt-startup",
        "Entering and exiting PROBE_RTT during STARTUP",
        "The application writes 2 Mbit/s on a link of 20 Mbit/s and 50 ms, so that STARTUP lasts beyond the interval "
        "of PROBE_RTT. The draft requires STARTUP after PROBE_RTT. Our bound: PROBE_RTT takes at most 200 ms and "
        "three round trips.",
        (
            Check("from", "PROBE_RTT starts in STARTUP", 1, 1),
            Check("seconds", "time in PROBE_RTT (s)", 0.2, 0.35),
            Check("next", "STARTUP follows", 1, 1),
        ),
        (Variant(Path(traffic={"kind": "constant", "rate": "2 Mbit/s", "size": "1448 B"}), _in_startup),),
    ),
)
