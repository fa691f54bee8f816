"""Measurements of ns-3 over the satellite: version 3.37, `benchmarks/simulators/ns3/siot.cc`.

    make target/simulators/ns3-siot
    for rtt in 60 240 600; do for seed in $(seq 20); do
        nice -n 19 target/simulators/ns3-siot --rtt=$rtt --seed=$seed
    done; done

Its CUBIC counts acknowledged segments and has no Reno-friendly region, so our CUBIC is configured in the same
way: RFC 9438 without that region and without HyStart, with the paper's factor of 0.8.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import lightlag as ll
from lightlag_papers.cubic_inet.satellite import START_S, finishes
from lightlag_papers.paper import Effort
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import BEFOREHAND, Row, Verdict

SEEDS = 20
ERRORS = 2.0
"""Maximum difference between two means, in joint standard errors."""
SETS = {
    "defaults.tcp.congestion": '{ algorithm = "cubic", variant = "rfc9438", beta = 0.8, reno_friendly = false, '
    'slow_start = "standard" }',
    "defaults.tcp.growth": "per_segment",
    "record.trace": "off",
}
STEPS = 47
"""Number of flows at 600 ms in which a single ACK raised ns-3's window at least two segments above ssthresh."""
STEP = (15.2, 1255, 1286, 5210)
"""The largest such jump: time in s, window before, ssthresh, and window after."""

NS3 = {
    0.06: (
        (-5, 10, 4.1, 14.1),
        (25.7, 20.7, -4.3, 3.9),
        (14.9, 6.9, -4.1, 12.2),
        (4.3, 17.6, 10.9, 3.8),
        (3.8, 7.3, 3.4, 23.4),
        (21, 19.3, -3.9, 16.8),
        (-6.3, -5.3, 11, -4.5),
        (5.2, 6.6, 4.3, 6.2),
        (26.3, 10.6, 9.9, 4.2),
        (5.6, 8.1, 4.7, 5),
        (5.9, 6.5, 7.5, 5.9),
        (6.6, -6.3, 5.6, 6.8),
        (-3.5, 28.7, 3.9, 23.2),
        (6, 10.7, 5.3, 4.5),
        (19.1, 27.9, 6.1, 4.3),
        (18.3, 14.5, 4, 15),
        (27, 10.2, 14.7, 34.2),
        (23.8, 4.5, 10.3, -4.2),
        (7.8, 16.6, 4.4, 7.1),
        (9.3, 4.8, 4.6, 6),
    ),
    0.24: (
        (-7.2, 29.6, 7.5, 38.3),
        (42.1, 47.9, 6.7, 9),
        (29.5, 19.7, -6.5, 37.4),
        (14.6, 46.7, 34.5, 7.9),
        (7.2, 15.6, -6.1, 59.1),
        (44, 32.7, -6.1, 29.3),
        (-11.1, -7.5, 24.6, -6.5),
        (8.7, -14.1, 6.7, 13.5),
        (40.2, 32.8, 29.2, 12.3),
        (12.3, 14.9, 8, 8.9),
        (17, 17.7, 22.1, 15.4),
        (14.7, -8.9, 8.6, 10.4),
        (-6.3, 45.8, -8.4, 56.9),
        (26.6, 17.5, 13.4, 10.2),
        (33.7, 44.8, 16.2, 21.4),
        (36.6, 40.2, 15.1, 31.9),
        (34.2, 23.9, 47, 41.4),
        (39.4, 7, 23.4, -6.5),
        (18.4, 32.4, 17.3, 18.3),
        (27.6, -8, 8.6, 11.7),
    ),
    0.6: (
        (-16.8, 38.5, -18.8, 55.4),
        (62.7, -49, -12.2, -25.3),
        (59.9, -24.5, -12.4, 56.3),
        (-17.5, -66.2, 50.4, -17.1),
        (-14.9, 42.8, -11.2, 60.5),
        (-73.9, -30.4, -12.6, 66.9),
        (-46.2, -15.2, 42.9, -13.5),
        (-26.3, -25.5, -15.8, -17.8),
        (68.7, 61.5, -25.1, -44.9),
        (32.9, -25.1, -17.8, -14.7),
        (-20.2, -18.7, 38.7, -20),
        (-19.3, -16, -25.6, -14.1),
        (-14.4, 76.3, -19.4, 74.1),
        (-41.2, -29.2, -14.3, -15.8),
        (59.9, 70.9, -19.7, 40.7),
        (-65.9, -59.8, 29.2, 73.6),
        (-58.9, 62.2, 62.8, 44.3),
        (66.4, -17.8, 46.9, -13.4),
        (-45, 51.4, -19.1, 34.2),
        (-22.9, -16.3, -13.4, -17.7),
    ),
}
"""Duration of each transfer in s, by round-trip time in s and run; negative if the sender had a timeout."""


@dataclass(frozen=True)
class Flow:
    """A transfer: its duration, and whether its sender had a timeout."""

    seconds: float
    timeout: bool


Runs = list[list[Flow]]


@dataclass(frozen=True)
class Beside:
    """Runs of both simulators by round-trip time."""

    ours: dict[float, Runs]

    @classmethod
    def run(cls, effort: Effort) -> Beside:
        """Runs our simulator."""
        seeds = effort.seeds_of(SEEDS)
        return cls({rtt: effort.map(partial(transfers, rtt), seeds) for rtt in NS3})


def transfers(rtt_s: float, seed: int) -> list[Flow]:
    """Runs one seed, and returns its transfers."""
    delay = f"{rtt_s / 4 * 1e3:g} ms"
    result = ll.run(
        scenario("cubic_inet/satellite"), seed=seed, sets=SETS | {"links.0.delay": delay, "links.1.delay": delay}
    )
    timeouts = [flow["timeouts"] > 0 for flow in result.summary["flows"]]
    return [Flow(end - START_S, late) for end, late in zip(finishes(result), timeouts, strict=True)]


def theirs(rtt_s: float) -> Runs:
    """Returns the transfers in ns-3's runs."""
    return [[Flow(abs(value), value < 0) for value in run] for run in NS3[rtt_s]]


def mean_and_error(runs: Runs) -> tuple[float, float]:
    """Returns the mean and standard error over all runs of the mean duration of their flows."""
    means = [statistics.fmean(flow.seconds for flow in run) for run in runs]
    return statistics.fmean(means), statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else math.nan


def rows(found: Beside) -> list[Row]:
    """Returns one row per round-trip time, and one for flows with and without a timeout."""
    return [*(_row(found, rtt) for rtt in NS3), _timeout_row(found)]


def _row(found: Beside, rtt_s: float) -> Row:
    (ours, error), (other, their_error) = mean_and_error(found.ours[rtt_s]), mean_and_error(theirs(rtt_s))
    joint = math.hypot(error, their_error)
    apart = abs(ours - other) / joint
    return Row(
        "beyond: ns-3",
        f"RTT {rtt_s * 1e3:.0f} ms, CUBIC that counts segments: mean time of a transfer, s",
        "",
        f"{other:.1f} ± {their_error:.1f} (ns-3.37, {len(NS3[rtt_s])} seeds, standard error)",
        f"{ours:.1f} ± {error:.1f} ({len(found.ours[rtt_s])} seeds, standard error)",
        Verdict.NOT_JUDGED if math.isnan(joint) else Verdict.check(apart <= ERRORS),
        f"the means within {ERRORS:.0f} joint standard errors ({BEFOREHAND}); they are {apart:.1f} apart",
    )


def _timeout_row(found: Beside) -> Row:
    rtt_s = max(NS3)
    shown = [
        "; ".join(f"{_mean(runs, late)} {'with' if late else 'without'} a timeout" for late in (False, True))
        for runs in (theirs(rtt_s), found.ours[rtt_s])
    ]
    at, window, threshold, after = STEP
    return Row.informing(
        "beyond: ns-3",
        f"RTT {rtt_s * 1e3:.0f} ms: mean time of the transfers whose sender had no timeout, and one, s",
        shown[1],
        "without a timeout both take about as long. After one, ns-3's slow start adds all that an ACK covers, and an "
        "ACK that closes a hole covers a window: there is no limit of RFC 3465 §2.3, and none at ssthresh. In "
        f"{STEPS} flows the trace has such a step, the largest at {at} s from {window} past an ssthresh of {threshold} "
        f"to {after} segments. That is not copied",
        theory=f"{shown[0]} (ns-3.37)",
    )


def _mean(runs: Sequence[Sequence[Flow]], late: bool) -> str:
    values = [flow.seconds for run in runs for flow in run if flow.timeout == late]
    return f"{statistics.fmean(values):.1f} ({len(values)})" if values else "none"
