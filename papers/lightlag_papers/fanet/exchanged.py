"""Swarms that are simulated in ns-3.37 and in lightlag with the same paths, pairs and start times.

    make target/simulators/ns3-air-swarm
    python benchmarks/simulators/air swarms

The second command stores both outcomes of each swarm in `exchanged.json`, next to this file.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightlag.analyse import mean_interval
from lightlag_papers.fanet.causes import CAUSES, HOPS, REPEATED, Metric
from lightlag_papers.fanet.outcome import Outcome
from lightlag_papers.table import BEFOREHAND, Layout, Row, pm

FILE = Path(__file__).with_name("exchanged.json")
THEIRS, OURS = "ns-3.37", "lightlag"
TOLERANCE = 0.1
DELIVERED, SERVED = "delivered, MB", "served flows"
COLUMNS: dict[str, tuple[Metric, int]] = {
    DELIVERED: (lambda one: sum(flow.bytes for flow in one.flows) / 1e6, 2),
    SERVED: (lambda one: one.served, 1),
    **CAUSES,
}
JUDGED = (DELIVERED, SERVED, REPEATED, HOPS)
Pairs = Sequence[tuple[Outcome, Outcome]]
"""Pairs of outcomes of the same swarm, in ns-3 and in lightlag."""


def read(text: str) -> dict[tuple[str, str], Pairs]:
    """Returns the outcomes of the stored swarms, by radio range and algorithm."""
    found: dict[tuple[str, str], list[tuple[Outcome, Outcome]]] = {}
    kept: Mapping[str, Mapping[str, Any]] = json.loads(text)
    for one in kept.values():
        both = Outcome.of_record(one[THEIRS]), Outcome.of_record(one[OURS])
        found.setdefault((one["radio"], one["algorithm"]), []).append(both)
    return dict(found)


def layout(found: Mapping[tuple[str, str], Pairs]) -> Layout:
    """Returns the table of all metrics in both simulators, with the mean difference per swarm."""
    lines = []
    for (radio, algorithm), pairs in found.items():
        for name in COLUMNS:
            both = Both.of(name, pairs)
            lines.append((radio, algorithm, _count(pairs), name, both.theirs, both.ours, both.difference))
    header = ("range", "algorithm", "swarms", "", THEIRS, OURS, "difference of a swarm")
    return Layout("exchanged", "Exchanged swarms: the same paths, pairs and starts", header, tuple(lines))


def rows(found: Mapping[tuple[str, str], Pairs]) -> list[Row]:
    """Returns the rows that compare data, served flows, retransmitted frames and hops of the same swarms."""
    return [_row(radio, algorithm, pairs) for (radio, algorithm), pairs in found.items()]


@dataclass(frozen=True)
class Both:
    """A metric of the same swarms in both simulators, as text; empty if no swarm has the metric in both.

    Attributes
    ----------
    theirs, ours
        Means over the swarms.
    difference
        Mean difference per swarm, with its 95 % confidence interval.
    is_close
        Whether the difference is within the tolerance, or not significantly different from 0.
    """

    theirs: str = ""
    ours: str = ""
    difference: str = ""
    is_close: bool = True

    @classmethod
    def of(cls, name: str, pairs: Pairs) -> Both:
        """Returns the comparison of a metric of :data:`COLUMNS`."""
        metric, digits = COLUMNS[name]
        both = [(metric(a), metric(b)) for a, b in pairs]
        known = [(a, b) for a, b in both if not math.isnan(a + b)]
        if not known:
            return cls()
        theirs, ours = (statistics.fmean(side) for side in zip(*known, strict=True))
        apart = mean_interval(b - a for a, b in known)
        is_close = abs(apart.mean) <= TOLERANCE * theirs or abs(apart.mean) <= apart.half_width
        return cls(f"{theirs:.{digits}f}", f"{ours:.{digits}f}", pm(apart, digits), is_close)


def _count(pairs: Pairs) -> str:
    return f"{len(pairs)} of {pairs[0][0].seconds:g} s"


def _row(radio: str, algorithm: str, pairs: Pairs) -> Row:
    assessed = [Both.of(name, pairs) for name in JUDGED]
    return Row.check(
        "exchanged swarms",
        f"{algorithm}, range {radio}, {_count(pairs)}: {'; '.join(JUDGED)}",
        f"{'; '.join(both.theirs for both in assessed)} ({THEIRS})",
        "; ".join(both.ours for both in assessed),
        all(both.is_close for both in assessed),
        f"each mean difference of a swarm within {TOLERANCE:.0%}, or not different from 0 at 95 % ({BEFOREHAND}); they "
        f"are {'; '.join(both.difference for both in assessed)}",
    )
