"""All variants of CUBIC on the paper's satellite path, and HyStart, which the paper names as future work (§6)."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import lightlag as ll
from lightlag.analyse import Interval, mean_interval
from lightlag_papers.cubic_inet import satellite
from lightlag_papers.cubic_inet.rtt_sweep import RTTS_S
from lightlag_papers.cubic_inet.satellite import BYTES, FLOWS, START_S
from lightlag_papers.paper import Effort
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import Layout, Row, pm

SEEDS = 5
SAMPLED = {"defaults.tcp.rtt_samples": "send_time"}
"""Setting for HyStart: it needs a round-trip sample with every ACK, but INET takes one per round trip."""


def _cubic(variant: str, slow_start: str = "") -> str:
    chosen = f', slow_start = "{slow_start}"' if slow_start else ""
    return f'{{ algorithm = "cubic", variant = "{variant}"{chosen} }}'


VARIANTS: dict[str, dict[str, str]] = {
    label: {"defaults.tcp.congestion": congestion} | more
    for label, congestion, more in (
        ("inet2023", _cubic("inet2023"), {}),
        ("inet2023, HyStart", _cubic("inet2023", "hystart"), SAMPLED),
        ("paper of 2008", _cubic("paper2008"), {}),
        ("Linux 2.6", _cubic("linux-2.6"), {}),
        ("Linux", _cubic("linux"), SAMPLED),
        ("RFC 8312", _cubic("rfc8312"), SAMPLED),
        ("RFC 9438", _cubic("rfc9438"), SAMPLED),
    )
}
"""Settings of each variant. The variants of the RFCs and of Linux have HyStart by default."""
PUBLISHED, STARTED = "inet2023", "inet2023, HyStart"


@dataclass(frozen=True)
class Sample:
    """The results of one run.

    Attributes
    ----------
    seconds
        Completion time of each flow, from its start.
    lost
        Number of data packets dropped by queues.
    """

    seconds: list[float]
    lost: int

    @property
    def mbps(self) -> float:
        """The total rate of all flows, in Mbit/s."""
        return sum(BYTES * 8 / one for one in self.seconds) / 1e6


def run(label: str, rtt_s: float, seed: int) -> ll.Result:
    """Runs the scenario with one variant for all flows."""
    delay = f"{rtt_s / 4 * 1e3:g} ms"
    path = {"links.0.delay": delay, "links.1.delay": delay, "record.trace": "off"}
    return ll.run(scenario("cubic_inet/satellite"), seed=seed, sets=VARIANTS[label] | path)


def sample(label: str, rtt_s: float, seed: int) -> Sample:
    """Runs the scenario and reduces it to its results."""
    result = run(label, rtt_s, seed)
    lost = sum(link["dropped_queue"] for link in result.summary["links"])
    return Sample([end - START_S for end in satellite.finishes(result)], lost)


@dataclass(frozen=True)
class Variants:
    """All runs, by variant and round-trip time."""

    samples: dict[tuple[str, float], list[Sample]]

    @classmethod
    def run(cls, effort: Effort) -> Variants:
        """Runs all variants with the same seeds."""
        seeds = effort.seeds_of(SEEDS)
        points = [(label, rtt, seed) for label in VARIANTS for rtt in RTTS_S for seed in seeds]
        return cls(effort.collect(lambda point: sample(*point), points, lambda point: point[:2]))

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return len(next(iter(self.samples.values())))

    def aggregate(self, label: str, rtt_s: float) -> Interval:
        """Returns the mean over all runs of the flows' total rate, in Mbit/s."""
        return mean_interval(one.mbps for one in self.samples[label, rtt_s])

    def seconds(self, label: str, rtt_s: float) -> Interval:
        """Returns the mean completion time of a flow over all runs."""
        return mean_interval(statistics.fmean(one.seconds) for one in self.samples[label, rtt_s])


def rows(found: Variants) -> list[Row]:
    """Returns the rows for the effect of HyStart and the spread of the variants."""
    return [_hystart_row(found), _spread_row(found)]


def _ms() -> str:
    return ", ".join(f"{rtt * 1e3:.0f}" for rtt in RTTS_S)


def _hystart_row(found: Variants) -> Row:
    pairs = [(found.seconds(PUBLISHED, rtt), found.seconds(STARTED, rtt)) for rtt in RTTS_S]
    changes = [b.mean / a.mean - 1 for a, b in pairs]
    return Row.informing(
        "§6, future work",
        f"inet2023 without and with HyStart at {_ms()} ms: mean time of completion, s",
        "; ".join(f"{pm(a, 1)}, {pm(b, 1)}" for a, b in pairs),
        f"{', '.join(f'{change:+.0%}' for change in changes)} with it. The paper expects it to be beneficial. HyStart "
        "ends slow start where the path fills; on this one a random loss mostly comes first, and no queue overflows, "
        "so that there is little to gain, and what a longer slow start would have sent to lose",
    )


def _spread_row(found: Variants) -> Row:
    rtt = RTTS_S[-1]
    means = {label: found.aggregate(label, rtt) for label in VARIANTS}
    best, worst = (pick(means, key=lambda label: means[label].mean) for pick in (max, min))
    return Row.informing(
        "beyond: variants",
        f"RTT {rtt * 1e3:.0f} ms: throughput of all clients, Mbit/s: the fastest and the slowest variant of CUBIC",
        f"{best}: {pm(means[best], 2)}; {worst}: {pm(means[worst], 2)}",
        f"{FLOWS} clients, {found.seeds} seeds; the TCP around the variants is the same",
    )


def layout(found: Variants) -> Layout:
    """Returns the table of all variants by round-trip time."""
    header = ("variant", *(f"{rtt * 1e3:.0f} ms" for rtt in RTTS_S))
    lines = tuple((label, *(pm(found.aggregate(label, rtt), 2) for rtt in RTTS_S)) for label in VARIANTS)
    title = f"Throughput of all clients in Mbit/s by round-trip time, every variant of CUBIC, {found.seeds} seeds"
    return Layout("variants", title, header, lines)
