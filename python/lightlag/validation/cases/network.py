"""The cases about paths: aggregation, small and changing bandwidth, policers."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from lightlag.validation.cases.case import Case, Check, Marks, Values, Variant
from lightlag.validation.cases.paths import Path, pulses
from lightlag.validation.cases.phases import BITS, PAYLOAD, Run

__all__ = ["CASES"]

PERIOD_S, OPEN_S = 0.04, 0.001
"""ACKs arrive in a burst per period, within the open time."""
BUNCHED = Path(rtt_s=0.02, link={"outage": "hold"})
FLAT_S = 3.0
"""Time when aggregation starts in the case about PROBE_CRUISE, if the algorithm has no such state."""
SMALL = Path(rate_bps=1e5, rtt_s=0.02, queue="20 packets", seconds=60)
SLOW = Path(rate_bps=10e6, rtt_s=0.04, queue="100 kB", seconds=25)
RISE = 10
STEPS = 5
"""Number of steps of inflight_longterm: 1, 2, 4, 8 and 16 segments. Later twice the BDP limits the window."""
SHALLOW = replace(SLOW, queue="40 kB")
BROAD = Path(rate_bps=100e6, rtt_s=0.04, queue="100 kB", seconds=25)
TOKENS_BPS = 10e6
POLICED = Path(
    rate_bps=100e6,
    rtt_s=0.04,
    queue="1000 packets",
    link={"police": {"forward": {"rate": f"{TOKENS_BPS:g} bit/s", "burst": "125 kB"}}},
    seconds=40,
    policed_bps=TOKENS_BPS,
)
WAIT_S = 0.5
"""Time in CRUISE before a change, in which the losses of STARTUP are repaired."""
CHANGE_S = 6.0
"""Time of a change for an algorithm without states."""


def _bunched_startup(run: Run, _: Marks) -> Values:
    startup = run.first("startup")
    if startup is None or not startup.is_over:
        return {"estimate": math.nan, "window": math.nan}
    window = float(run.window[startup.first : startup.last].max()) * PAYLOAD
    return {
        "estimate": float(run.rate[startup.last - 1]) / BUNCHED.payload_bps,
        "window": window / BUNCHED.product,
    }


def _bunched_from_cruise(path: Path, run: Run) -> tuple[Path, Marks] | None:
    """Starts to aggregate ACKs in the first CRUISE."""
    at = FLAT_S
    if run.has_states:
        phase = run.first("cruise")
        if phase is None:
            return None
        at = phase.start_s + 0.2
    return replace(path, back=tuple(pulses(PERIOD_S, OPEN_S, at, path.seconds))), {"at": at}


def _bunched_cruise(run: Run, marks: Marks) -> Values:
    start = marks["at"] + 5.0
    goodput = run.goodput(start, run.end_s)
    if not run.has_states:
        return {"goodput": goodput / BUNCHED.payload_bps}
    cruises = [one for one in run.phases if one.name == "cruise" and one.start_s > start]
    windows = [float(run.window[one.first : one.last].max()) * PAYLOAD / BUNCHED.product for one in cruises]
    # PROBE_RTT halves the flight on purpose.
    halved = [
        (max(one.start_s, start), one.end_s) for one in run.phases if one.name == "probe_rtt" and one.end_s > start
    ]
    span = run.end_s - start
    bits = goodput * span - sum((end - begin) * run.goodput(begin, end) for begin, end in halved)
    return {
        "goodput": bits / (span - sum(end - begin for begin, end in halved)) / BUNCHED.payload_bps,
        "window": sum(windows) / len(windows) if windows else math.nan,
    }


def _small(run: Run, _: Marks) -> Values:
    start = 15.0
    values = {
        "window": float(run.part(run.window, start, run.end_s).min()),
        "goodput": run.goodput(start, run.end_s) / SMALL.payload_bps,
    }
    if run.has_states:
        rates = [run.pacing[one.first : one.last] for one in run.phases if one.name == "cruise" and one.start_s > start]
        means = [float(part.mean()) / SMALL.payload_bps for part in rates]
        values["pacing"] = sum(means) / len(means) if means else math.nan
    return values


def _change_in_cruise(factor: float) -> object:
    """Returns the step that multiplies the rate in the first CRUISE."""

    def step(path: Path, run: Run) -> tuple[Path, Marks] | None:
        at = CHANGE_S
        if run.has_states:
            phase = run.first("cruise")
            if phase is None:
                return None
            at = phase.start_s + WAIT_S
        rate = f"{path.rate_bps * factor / 1e6:g} Mbit/s"
        return path.changed({"at": f"{at:.9f} s", "rate": rate}), {"at": at}

    return step


def _found(run: Run, marks: Marks) -> Values:
    at, target = marks["at"], 0.9 * RISE * SLOW.payload_bps
    end = next((now for now in _bins(at, run.end_s) if run.goodput(now - 0.2, now) >= target), math.nan)
    values = {"all": math.nan if math.isnan(end) else run.rounds(at, end)}
    if run.has_states:
        up = next((one for one in run.phases if one.name == "up" and one.end_s > at), None)
        rows = (run.time > at) & (run.rate >= target)
        found = float(run.time[rows][0]) if rows.any() else math.nan
        values["probe"] = math.nan if up is None or math.isnan(found) else run.rounds(max(up.start_s, at), found)
    return values


def _bins(start_s: float, end_s: float) -> list[float]:
    count = int((end_s - start_s) / 0.2)
    return [start_s + 0.2 * (number + 1) for number in range(count)]


def _steps(run: Run, marks: Marks) -> Values:
    """Returns how the growth of the window changes from round to round at the start of the first PROBE_UP."""
    phase = run.first("up", marks["at"])
    if phase is None:
        return {"doubling": math.nan}
    windows, now = [], phase.start_s
    while now < phase.end_s:
        windows.append(run.value(run.window, now))
        now += run.value(run.rtt, now)
    steps = [after - before for before, after in itertools.pairwise(windows) if after > before]
    ratios = sorted(after / before for before, after in itertools.pairwise(steps[:STEPS]))
    return {"doubling": sum(ratios) / len(ratios) if ratios else math.nan}


def _lowered(run: Run, marks: Marks) -> Values:
    at, limit = marks["at"], 0.1 * BROAD.payload_bps
    settled = at + 10.0
    sent = max(run.value(run.sent, run.end_s) - run.value(run.sent, settled), 1.0)
    values = {
        "goodput": run.goodput(settled, run.end_s) / limit,
        "losses": run.losses(settled, run.end_s) * PAYLOAD / sent,
    }
    if run.has_states:
        low = (run.time > at) & (run.rate <= 1.1 * limit)
        losing = next((row for row in range(run.row(at), len(run.time)) if run.recovery[row] != "open"), None)
        found = losing is not None and low.any()
        values["rounds"] = run.rounds(float(run.time[losing]), float(run.time[low][0])) if found else math.nan
        high = run.time[(run.time > at) & (run.rate > 1.02 * limit)]
        values["seconds"] = float(high[-1]) - at if len(high) else math.nan
        if not run.is_version_1:
            last = float(high[-1]) if len(high) else math.nan
            values["cycles"] = float(sum(one.name == "down" and at < one.start_s <= last for one in run.phases))
    return values


def _policed(run: Run, _: Marks) -> Values:
    start = 10.0
    tokens = TOKENS_BPS * BITS
    sent = run.value(run.sent, run.end_s) - run.value(run.sent, start)
    values = {
        "goodput": run.goodput(start, run.end_s) / tokens,
        "losses": run.losses(start, run.end_s) * PAYLOAD / sent,
    }
    if run.has_states:
        rates = run.part(run.rate, start, run.end_s)
        values["estimate"] = float(sorted(rates)[len(rates) // 2]) / tokens
    return values


AGGREGATION = (
    Case(
        "aggregation-startup",
        "Achieving expected STARTUP bandwidth on a link with aggregation",
        "The return link delivers its ACKs in bursts, one every 40 ms, on a path of 20 Mbit/s, 20 ms and a queue of 5 "
        "BDP. The draft requires a window above 2 BDP, which extra_acked makes possible, and that STARTUP still finds "
        "the bandwidth. Our bound: an estimate of at least 90 % of the link, as the samples of bursts are coarse, and "
        "at most 125 %, the growth that BBR counts as significant.",
        (
            Check("estimate", "estimated bandwidth at the end of STARTUP / payload rate of the link", 0.9, 1.25),
            Check("window", "largest window in STARTUP / BDP", 2.0),
        ),
        (
            Variant(
                replace(BUNCHED, back=tuple(pulses(PERIOD_S, OPEN_S, 0.0, BUNCHED.seconds))),
                _bunched_startup,
                around_s=(0.0, 2.0),
            ),
        ),
    ),
    Case(
        "aggregation-cruise",
        "Achieving expected cruise bandwidth on a link with aggregation",
        "The same path; the bursts start in the first PROBE_CRUISE (after 3 s for an algorithm without states). A "
        "window of 2 BDP would leave the link idle for a third of the time. The draft requires a window that "
        "extra_acked augments, and full utilisation. Our bound: at least 90 % of the link after 5 more seconds, "
        "without the time in PROBE_RTT.",
        (
            Check("window", "mean over phases of the maximum window in PROBE_CRUISE / BDP", 2.0),
            Check("goodput", "goodput, without PROBE_RTT / payload rate of the link", 0.9, 1.01),
        ),
        (Variant(BUNCHED, _bunched_cruise, (_bunched_from_cruise,), needs_states=False),),
    ),
    Case(
        "sub-packet",
        "Correctly managing sub-packet BDPs",
        "A link of 100 kbit/s and 20 ms: a BDP of 250 B, a sixth of a packet; queue of 20 packets. The draft requires "
        "a window of at least 4 packets, a pacing rate that matches the link, and no stalls with delayed ACKs. Our "
        "bounds: a mean pacing rate in PROBE_CRUISE within 10 % of the link, because samples of one packet are "
        "coarse, and at least 90 % of the link.",
        (
            Check("window", "smallest window after 15 s (segments)", 4.0),
            Check("pacing", "mean pacing rate in PROBE_CRUISE / payload rate of the link", 0.9, 1.1),
            Check("goodput", "goodput after 15 s / payload rate of the link", 0.9, 1.01),
        ),
        (Variant(SMALL, _small, needs_states=False),),
    ),
    Case(
        "increase",
        "Increasing bandwidth 10x and ensuring full bandwidth is reached",
        "In PROBE_CRUISE (after 6 s for an algorithm without states) the link rises from 10 to 100 Mbit/s; 40 ms, "
        "queue of 100 kB. The draft requires that the flow finds the new bandwidth in O(log(BDP)) rounds. Our bound: "
        "2·log₂ of the new BDP in segments, 17 rounds of probing, as a gain of 1.25 takes 11 rounds; since the "
        "change, 80 rounds, with the 63 that may pass before a probe. A third row has a queue of 40 kB, so that "
        "losses in STARTUP have set inflight_longterm: there the steps in which the bound grows in PROBE_UP double in "
        "each round trip. It is seen in the window; our bound: the mean ratio of the first 5 steps is 1.5 to 2.5, as "
        "a round trip of the trace covers parts of two rounds.",
        (
            Check("probe", "rounds from the first PROBE_UP after the change to an estimate of 90 %", 0, 17),
            Check("all", "rounds from the change to a goodput of 90 %", 0, 80),
            Check("doubling", "growth of the window in a round of PROBE_UP / growth in the one before", 1.5, 2.5),
        ),
        (
            Variant(
                SLOW,
                _found,
                (_change_in_cruise(RISE),),  # type: ignore[arg-type]
                needs_states=False,
                checks=("probe", "all"),
                around_s=(-1.0, 6.0),
            ),
            Variant(
                SHALLOW,
                _steps,
                (_change_in_cruise(RISE),),  # type: ignore[arg-type]
                of_version_3=True,
                checks=("doubling",),
            ),
        ),
    ),
    Case(
        "decrease",
        "Decreasing bandwidth 10x and ensuring max bandwidth adapts down",
        "In PROBE_CRUISE (after 6 s for an algorithm without states) the link falls from 100 to 10 Mbit/s; 40 ms, "
        "queue of 100 kB, so that most of the data in flight is lost. The draft requires that bw_shortterm falls "
        "rapidly, and that max_bw falls to the new limit after two cycles of PROBE_BW. Our bounds: 9 rounds from the "
        "first detected loss to within 10 %, as it takes 7 factors of 0.7, one per round, after the round of the "
        "loss, and one in which the old rate was still delivered; at most 2 probes that end until the estimate stays "
        "within 2 % of the link; after 10 s at least 90 % of the link, and losses of at most LossThresh, 2 %.",
        (
            Check("rounds", "rounds from the first detected loss to an estimate within 10 % of the link", 0, 9),
            Check(
                "cycles", "PROBE_DOWN phases from the change to the last estimate more than 2 % above the link", 0, 2
            ),
            Check("seconds", "time from the change to that estimate (s)", is_bounded=False),
            Check("goodput", "goodput later than 10 s after the change / payload rate of the link", 0.9, 1.01),
            Check("losses", "fraction of packets lost later than 10 s after the change", 0, 0.02),
        ),
        (
            Variant(
                BROAD,
                _lowered,
                (_change_in_cruise(0.1),),  # type: ignore[arg-type]
                needs_states=False,
                around_s=(-1.0, 15.0),
            ),
        ),
    ),
    Case(
        "policer",
        "Handling token bucket policers",
        "A policer of 10 Mbit/s with a bucket of 125 kB, 100 ms of tokens, and no buffer, on a link of 100 Mbit/s and "
        "40 ms. The draft requires that the flow reacts to the losses and reaches a stable operating point at the "
        "token rate without excessive continuous loss. Our bounds, after 10 s: at least BBR.Beta, 70 %, of the token "
        "rate; losses of at most LossThresh, 2 %; and a median estimate of 0.7 to 1.1 of the token rate.",
        (
            Check("estimate", "median estimate after 10 s / payload of the token rate", 0.7, 1.1),
            Check("goodput", "goodput after 10 s / payload of the token rate", 0.7, 1.02),
            Check("losses", "fraction of packets lost after 10 s", 0, 0.02),
        ),
        (Variant(POLICED, _policed, needs_states=False),),
    ),
)
CASES = AGGREGATION
