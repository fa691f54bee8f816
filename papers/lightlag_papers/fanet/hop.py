"""A single hop without interference, where ns-3's BBR starves with delayed ACKs: ns-3 compared with our simulator."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import lightlag as ll
from lightlag_papers.fanet.setting import BBR_LINUX, BBR_NS3, EACH_ACKED, NS3_EACH_ACKED, Candidate
from lightlag_papers.paper import Effort
from lightlag_papers.table import Layout, Row

NS3 = {("each", 10): 12.91, ("each", 60): 2.42, ("every second", 10): 2.34, ("every second", 60): 0.41}
"""Goodputs of ns-3.37 in Mbit/s, medians of ten seeds, by ACK policy and duration in s.

    ns3-air-chain --traffic=tcp --algorithm=TcpBbr --hops=1 --aggregate=0 --arp=0 --preamble-dbm=-101
"""
POLICIES: Mapping[str, Sequence[Candidate]] = {
    "each": (EACH_ACKED, NS3_EACH_ACKED),
    "every second": (BBR_LINUX, BBR_NS3),
}
SEEDS = 10
CLOSE, FACTOR = 0.03, 2.0
"""Tolerance as a fraction, and as a factor.

The factor is large because randomness decides when the decline starts: the maximum of ns-3's seeds is ten times the
minimum.
"""

Runner = Callable[[Candidate, int, int], float]
"""Returns the goodput of a candidate in Mbit/s, for a seed and a duration in seconds."""


def run(candidate: Candidate, seed: int, seconds: int) -> float:
    """Runs one flow over 40 m at 24 Mbit/s, with ns-3's initial window of ten segments, and returns its goodput."""
    medium = {"standard": "802.11n", "rate": "24 Mbit/s", "detection": "-101 dBm", "routing": "static"}
    tcp = {**candidate.tcp, "initial_window": 10}
    nodes = [{"name": f"n{at}", "at": [f"{40 * at} m", "0 m", "0 m"]} for at in (0, 1)]
    scenario: dict[str, Any] = {
        "name": "hop",
        "duration": f"{1 + seconds} s",
        "media": [medium],
        "nodes": nodes,
        "flows": [{"from": "n0", "to": "n1", "start": "1 s", "tcp": tcp}],
        "record": {"trace": "off", "queue": "off"},
    }
    return float(ll.run(scenario, seed=seed).summary["flows"][0]["delivered_bytes"]) * 8e-6 / seconds


def fill(effort: Effort, runner: Runner) -> tuple[list[Row], Layout]:
    """Returns the rows that check ns-3's rules, and the table of goodputs."""
    seeds = effort.seeds_of(SEEDS)
    asked = [(one, seed, seconds) for policy, seconds in NS3 for one in POLICIES[policy] for seed in seeds]
    found = effort.collect(lambda each: runner(*each), asked, lambda each: (each[0].label, each[2]))
    lines, rows = [], []
    for (policy, seconds), theirs in NS3.items():
        ours, as_ns3 = (found[one.label, seconds] for one in POLICIES[policy])
        lines.append((policy, str(seconds), _spread(ours), _spread(as_ns3), f"{theirs:.2f}"))
        rows.append(_row(policy, seconds, statistics.median(as_ns3)))
    header = ("segments acknowledged", "seconds", "BBR as Linux", "BBR as ns-3", "ns-3.37")
    return rows, Layout("hop", "One clean hop of 24 Mbit/s: Mbit/s, medians (all)", header, tuple(lines))


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def _row(policy: str, seconds: int, ours: float) -> Row:
    theirs = NS3[policy, seconds]
    exact = policy == "each"
    holds = abs(ours / theirs - 1) <= CLOSE if exact else abs(math.log(ours / theirs)) <= math.log(FACTOR)
    return Row.check(
        "one hop",
        f"BBR as ns-3 on a clean hop for {seconds} s, an ACK for {policy} segment: goodput, Mbit/s",
        f"{theirs:.2f} (ns-3.37)",
        f"{ours:.2f}",
        holds,
        f"medians within {CLOSE:.0%}" if exact else f"medians within a factor of {FACTOR:g}",
    )
