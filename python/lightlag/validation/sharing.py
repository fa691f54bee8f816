"""Fairness: between flows of the same algorithm, towards CUBIC, and between round trips."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lightlag.analyse import goodput, jain
from lightlag.results.result import Result
from lightlag.validation.section import Section, columns, groups
from lightlag.validation.tasks import Measured, Setup, Task, dumbbell

__all__ = ["rtt_section", "rtt_tasks", "self_section", "self_tasks", "versus_section", "versus_tasks"]

RATE, RTT_S, SECONDS = "20 Mbit/s", 0.05, 75.0
FLOWS = (2, 4, 8)
FAIR = 0.9
"""Minimum of Jain's index for flows that joined late to count as having their fair share."""
BIN_S = 3.0
"""Seconds over which goodput is averaged to find the time when this index is reached."""
QUEUES_BDP = (0.5, 1.0, 4.0)
PAIRS = 2
"""Number of flows of each of the two algorithms."""
RATIOS = (2, 6)
JITTER = "1 ms"
"""Jitter of the access links: without it the result would depend on phase effects (Floyd and Jacobson 1992)."""
SHORT_BDP = "125 kB"
"""Queue size: rate times the shorter round trip. A queue given in BDP would use the longer one."""


def self_tasks(setup: Setup) -> list[Task]:
    """Returns runs of flows of the algorithm; half of the flows join after a third of the run."""
    seconds = SECONDS * setup.scale
    found = []
    for count in FLOWS:
        starts = [0.0] * (count // 2) + [seconds / 3] * (count - count // 2)
        scenario = dumbbell(
            [setup.choice], seconds=seconds, rate=RATE, rtts_s=[RTT_S] * count, queue="1 bdp", starts=starts
        )
        found += [Task((count,), scenario, seed, _measure_self) for seed in setup.seeds]
    return found


def _measure_self(result: Result) -> dict[str, float]:
    """Returns Jain's index over the last third, and the time from the last start until the index is high enough."""
    import numpy as np

    rates = goodput(result.trace(), BIN_S, result.simulated_s)
    table = np.array([part["goodput_bps"].to_numpy() for part in rates.partition_by("flow", maintain_order=True)])
    joined = max(flow["start_s"] for flow in result.summary["flows"])
    ends = BIN_S * np.arange(1, table.shape[1] + 1)
    fair = [end - joined for end, column in zip(ends, table.T, strict=True) if end > joined and jain(column) >= FAIR]
    last = table[:, ends > result.simulated_s * 2 / 3].mean(axis=1)
    return {"jain": jain(last), "until_fair_s": float(fair[0]) if fair else math.nan}


def self_section(measured: Sequence[Measured]) -> Section:
    """Returns the section on Jain's index by the number of flows."""
    rows = []
    for (count,), runs in groups(measured):
        never = sum(math.isnan(run.values["until_fair_s"]) for run in runs)
        rows.append({"flows": count} | columns(runs, "jain", "until_fair_s") | {"never_fair_runs": never})
    said = [
        f"{row['flows']} flows: Jain {row['jain']:.3f}, {FAIR} after "
        + ("no time of the run" if math.isnan(row["until_fair_s"]) else f"{row['until_fair_s']:.3g} s")
        for row in rows
    ]
    return Section("itself", "Fairness to itself", rows, "; ".join(said))


def versus_tasks(setup: Setup) -> list[Task]:
    """Returns runs with equal numbers of flows of the algorithm and of CUBIC, which alternate."""
    seconds, count = SECONDS * setup.scale, 2 * PAIRS
    found = []
    for queue in QUEUES_BDP:
        scenario = dumbbell(
            [setup.choice, "cubic"],
            seconds=seconds,
            rate=RATE,
            rtts_s=[RTT_S] * count,
            queue=f"{queue:g} bdp",
            starts=[0.0] * count,
        )
        found += [Task((queue,), scenario, seed, _measure_share) for seed in setup.seeds]
    return found


def _measure_share(result: Result) -> dict[str, float]:
    rates = [flow["goodput_bps"] for flow in result.summary["flows"]]
    return {"share": sum(rates[::2]) / sum(rates) if sum(rates) else math.nan}


def versus_section(measured: Sequence[Measured]) -> Section:
    """Returns the section on the goodput share by queue size."""
    rows = [{"queue_bdp": queue} | columns(runs, "share") for (queue,), runs in groups(measured)]
    said = [f"{row['queue_bdp']:g} BDP: share {row['share']:.3f}" for row in rows]
    return Section("cubic", "Fairness to CUBIC", rows, "; ".join(said) + " (0.5 is fair)")


def rtt_tasks(setup: Setup) -> list[Task]:
    """Returns runs of two flows with different round trips."""
    found = []
    for ratio in RATIOS:
        scenario = dumbbell(
            [setup.choice],
            seconds=SECONDS * setup.scale,
            rate=RATE,
            rtts_s=[RTT_S, RTT_S * ratio],
            queue=SHORT_BDP,
            jitter=JITTER,
            starts=[0.0, 0.0],
        )
        found += [Task((ratio,), scenario, seed, _measure_ratio) for seed in setup.seeds]
    return found


def _measure_ratio(result: Result) -> dict[str, float]:
    short, long = (flow["goodput_bps"] for flow in result.summary["flows"])
    return {"goodput_ratio": short / long if long else math.nan}


def rtt_section(measured: Sequence[Measured]) -> Section:
    """Returns the section on the goodput of the short round trip divided by the goodput of the long one."""
    rows = [{"rtt_ratio": ratio} | columns(runs, "goodput_ratio") for (ratio,), runs in groups(measured)]
    said = [f"RTTs 1:{row['rtt_ratio']}: goodputs {row['goodput_ratio']:.3g}:1" for row in rows]
    return Section("rtt", "Fairness between round trips", rows, "; ".join(said))
