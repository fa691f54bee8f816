"""Sharing of a bottleneck: between two algorithms, and between flows of one algorithm with three round-trip times."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import pairwise

import lightlag as ll
from lightlag.analyse import jain, mean_interval
from lightlag_papers.open_questions.candidates import Algorithm, algorithms, queue_for
from lightlag_papers.open_questions.paths import PACKET, PAYLOAD
from lightlag_papers.paper import Effort
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import Layout, Row, Verdict, pm

PAIR_SEEDS, TRIP_SEEDS = 2, 3
WINDOW = 1000
"""Capacity of the longest path and its queue, in segments."""
APART_S = 0.7
"""Step in s between the starts of flows; the seed multiplies it. Without errors, nothing else differs between seeds."""
TRIPS = ("25 ms", "150 ms", "600 ms")
QUEUES = {"150 ms": "187500 B", "20 packets": "20 packets"}
LONG, SHORT = QUEUES
RATE_BPS = 10e6


def _pair(one: Algorithm, other: Algorithm, seed: int) -> tuple[float, float]:
    """Returns the goodputs of two flows in Mbit/s. With an even seed the first flow starts later, otherwise the
    second.
    """
    late = f"{APART_S * ((seed + 1) // 2):g} s"
    sets = one.changes(WINDOW, "flows.0.tcp") | other.changes(WINDOW, "flows.1.tcp")
    sets |= {f"flows.{seed % 2}.start": late, "links.2.queue": queue_for("1 bdp", one, other)}
    first, second = ll.run(scenario("open_questions/pair"), seed=seed, sets=sets).summary["flows"]
    return first["goodput_bps"] / 1e6, second["goodput_bps"] / 1e6


@dataclass(frozen=True)
class Pairs:
    """Goodputs of the two flows in Mbit/s for each seed, by the two algorithms."""

    found: dict[tuple[str, str], list[tuple[float, float]]]

    @classmethod
    def run(cls, effort: Effort) -> Pairs:
        """Runs every pair once in each starting order. The other half of the matrix follows by symmetry."""
        every = algorithms()
        seeds = effort.seeds_of(PAIR_SEEDS)
        points = [(a, b, seed) for at, a in enumerate(every) for b in every[at:] for seed in seeds]
        rates = effort.map(lambda point: _pair(*point), points)
        found: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for (a, b, _), (first, second) in zip(points, rates, strict=True):
            found.setdefault((a.label, b.label), []).append((first, second))
            if a is not b:
                found.setdefault((b.label, a.label), []).append((second, first))
        return cls(found)

    def share(self, one: str, other: str) -> float:
        """Returns the mean fraction of `one` in the goodput of both flows; 0.5 is fair."""
        return statistics.fmean(a / (a + b) for a, b in self.found[one, other])

    def jain(self, one: str, other: str) -> float:
        """Returns the mean of Jain's index over the seeds."""
        return statistics.fmean(jain(list(pair)) for pair in self.found[one, other])

    def used(self, one: str, other: str) -> float:
        """Returns the mean fraction of the link's capacity that both flows use together."""
        return statistics.fmean(sum(pair) for pair in self.found[one, other]) * PACKET / PAYLOAD / RATE_BPS * 1e6


def pair_rows(found: Pairs) -> list[Row]:
    """Returns the rows for two flows of the same algorithm, and for every algorithm against CUBIC."""
    labels = [one.label for one in algorithms()]
    alike = {label: found.jain(label, label) for label in labels}
    least = min(alike, key=lambda label: alike[label])
    beside = {label: found.share(label, "cubic") for label in labels if label != "cubic"}
    most, weakest = max(beside, key=lambda label: beside[label]), min(beside, key=lambda label: beside[label])
    return [
        Row.check(
            "pairs, GEO",
            "two flows of one algorithm: Jain's index of cubic and newreno, and the minimum of all",
            "1 in the long run; a cycle of NewReno is W/2 = 500 round trips of 0.6 to 1.2 s",
            f"{alike['cubic']:.3f}, {alike['newreno']:.3f}; {least}: {alike[least]:.3f}",
            alike["cubic"] >= 0.9,
            "cubic at least 0.9 over 200 s. NewReno's depends on how far apart the two start, for it has not ended its "
            "first cycle by then",
        ),
        Row.informing(
            "pairs, GEO",
            "competing with cubic: maximum and minimum fraction of the goodput",
            f"{most}: {beside[most]:.0%}; {weakest}: {beside[weakest]:.0%}",
            (
                "delay-based algorithms yield to algorithms that fill the queue; algorithms without a reduction after "
                "losses take the link"
            ),
            theory="50 %",
        ),
    ]


def pair_layout(found: Pairs) -> Layout:
    """Returns the matrix of shares as a table."""
    labels = [one.label for one in algorithms()]
    header = ("row | competitor", *labels)
    lines = tuple((one, *(f"{found.share(one, other):.0%}" for other in labels)) for one in labels)
    return Layout(
        "pairs",
        ("Fraction of the goodput of one flow competing with another over GEO (10 Mbit/s, 600 ms, 1 BDP, 200 s)"),
        header,
        lines,
    )


@dataclass(frozen=True)
class RoundTrips:
    """Goodputs in Mbit/s of the flows with 25, 150 and 600 ms for each seed, by queue and algorithm."""

    found: dict[tuple[str, str], list[list[float]]]

    @classmethod
    def run(cls, effort: Effort) -> RoundTrips:
        """Runs all algorithms with both queues."""
        seeds = effort.seeds_of(TRIP_SEEDS)
        points = [(limit, one, seed) for limit in QUEUES for one in algorithms() for seed in seeds]
        return cls(effort.collect(lambda point: _trips(*point), points, lambda point: (point[0], point[1].label)))

    def means(self, queue: str, label: str) -> list[float]:
        """Returns the mean goodput for each round-trip time, in Mbit/s."""
        return [statistics.fmean(rates) for rates in zip(*self.found[queue, label], strict=True)]

    def jain(self, queue: str, label: str) -> float:
        """Returns the mean of Jain's index over the seeds."""
        return statistics.fmean(jain(rates) for rates in self.found[queue, label])


def _trips(limit: str, one: Algorithm, seed: int) -> list[float]:
    """Returns the goodputs of the three flows in Mbit/s; the seed shifts their starts."""
    sets = {f"flows.{at}.start": f"{APART_S * (seed * (at + 1) % 4):g} s" for at in range(len(TRIPS))}
    sets |= one.changes(WINDOW) | {"links.3.queue": queue_for(QUEUES[limit], one)}
    flows = ll.run(scenario("open_questions/round_trips"), seed=seed, sets=sets).summary["flows"]
    return [flow["goodput_bps"] / 1e6 for flow in flows]


def trip_rows(found: RoundTrips) -> list[Row]:
    """Returns the rows on the rates with different round-trip times: as measured, and as expected from the window
    growth.
    """
    forms = {
        "newreno": "between 1/RTT and 1/RTT² (losses at the same time)",
        "cubic": "nearer to each other than NewReno's",
        "hybla, paced": "the same rate at every RTT",
    }
    return [
        *(_trip_row(found, queue, label, form) for queue in QUEUES for label, form in forms.items()),
        *(_jain_row(found, queue) for queue in QUEUES),
    ]


def _trip_row(found: RoundTrips, queue: str, label: str, form: str) -> Row:
    means = found.means(queue, label)
    falls = all(a > b for a, b in pairwise(means))
    return Row(
        "round trips",
        f"{label}, queue of {queue}: goodput with {', '.join(TRIPS)}, Mbit/s",
        "",
        form,
        f"{', '.join(f'{mean:.2f}' for mean in means)}; Jain {found.jain(queue, label):.2f}",
        Verdict.check(falls) if label == "newreno" else Verdict.NOT_JUDGED,
        "the shorter, the faster" if label == "newreno" else "",
    )


def _jain_row(found: RoundTrips, queue: str) -> Row:
    reno, hybla = (found.jain(queue, label) for label in ("newreno", "hybla, paced"))
    growth = ", ".join(f"{(max(rtt / 0.025, 1) / (rtt + 0.15)) ** 2:.0f}" for rtt in (0.025, 0.15, 0.6))
    about = (
        "what Hybla was made for"
        if queue == SHORT
        else "ρ follows the smallest round-trip time, but a window grows by ρ² in the one that the queue has made "
        f"longer: with 150 ms more that is {growth} segments/s², and the flow with 25 ms is left behind"
    )
    return Row(
        "round trips",
        f"queue of {queue}: Jain's index of Hybla, paced, and of NewReno",
        "",
        "Hybla's nearer to 1",
        f"{hybla:.2f}, {reno:.2f}",
        Verdict.check(hybla > reno) if queue == SHORT else Verdict.NOT_JUDGED,
        about,
    )


def trip_layout(found: RoundTrips, queue: str) -> Layout:
    """Returns the table with one line per algorithm."""
    header = ("algorithm", *(f"{trip}, Mbit/s" for trip in TRIPS), "Jain", "600 ms over 25 ms")
    lines = []
    for one in algorithms():
        columns = list(zip(*found.found[queue, one.label], strict=True))
        means = found.means(queue, one.label)
        cells = [pm(mean_interval(column)) for column in columns]
        over = f"{means[-1] / means[0]:.2f}" if means[0] else ""
        lines.append((one.label, *cells, f"{found.jain(queue, one.label):.2f}", over))
    title = f"Three round-trip times at one bottleneck of 10 Mbit/s, queue of {queue}, 300 s"
    return Layout(f"round_trips_{queue.replace(' ', '_')}", title, header, tuple(lines))
