"""Queue: the delay that one flow causes at a bottleneck, against the size of its queue."""

from __future__ import annotations

from collections.abc import Sequence

from lightlag.results.result import Result
from lightlag.validation.section import Section, columns, groups
from lightlag.validation.sharing import RATE, RTT_S
from lightlag.validation.tasks import Measured, Setup, Task, dumbbell

__all__ = ["section", "tasks"]

SIZES_BDP = (0.25, 0.5, 1.0, 2.0, 4.0)
SECONDS = 40.0


def tasks(setup: Setup) -> list[Task]:
    """Returns a run of one flow for each queue size and seed."""
    found = []
    for size in SIZES_BDP:
        scenario = dumbbell(
            [setup.choice],
            seconds=SECONDS * setup.scale,
            rate=RATE,
            rtts_s=[RTT_S],
            queue=f"{size:g} bdp",
            starts=[0.0],
        )
        found += [Task((size,), scenario, seed, _measure) for seed in setup.seeds]
    return found


def _measure(result: Result) -> dict[str, float]:
    link = next(link for link in result.summary["links"] if link["name"] == "left->right")
    return {"delay_mean_s": link["mean_wait_s"], "delay_p95_s": link["p95_wait_s"], "utilisation": link["utilisation"]}


def section(measured: Sequence[Measured]) -> Section:
    """Returns the section on delay and utilisation by queue size."""
    names = ("delay_mean_s", "delay_p95_s", "utilisation")
    rows = [{"queue_bdp": size} | columns(runs, *names) for (size,), runs in groups(measured)]
    said = [
        f"{row['queue_bdp']:g} BDP: {row['delay_mean_s'] * 1e3:.3g} ms, {100 * row['utilisation']:.1f} % used"
        for row in rows
    ]
    return Section("queue", "Queue", rows, "; ".join(said))
