"""Swarms that ns-3.37 and lightlag fly on the same paths, with the same pairs and starts.

    make target/peers/ns3-air-swarm
    python benchmarks/peers/air swarms

The second command keeps both outcomes of each swarm in `exchanged.json`, beside this file.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lightlag.analyse import mean_interval
from lightlag.reproduce.fanet.causes import CAUSES, Metric
from lightlag.reproduce.fanet.claims import shown
from lightlag.reproduce.fanet.outcome import Outcome
from lightlag.reproduce.table import BEFOREHAND, Layout, Row, Verdict

FILE = Path(__file__).with_name("exchanged.json")
THEIRS, OURS = "ns-3.37", "lightlag"
TOLERANCE = 0.1
COLUMNS: dict[str, tuple[Metric, int]] = {
    "delivered, MB": (lambda one: sum(flow.bytes for flow in one.flows) / 1e6, 2),
    "served flows": (lambda one: one.served, 1),
    **CAUSES,
}
Pairs = Sequence[tuple[Outcome, Outcome]]
"""The outcomes of swarms in ns-3 and in lightlag."""


def read(text: str) -> dict[tuple[str, str], Pairs]:
    """The outcomes of the kept swarms, by the range of the radio and the algorithm."""
    found: dict[tuple[str, str], list[tuple[Outcome, Outcome]]] = {}
    kept: Mapping[str, Mapping[str, Any]] = json.loads(text)
    for one in kept.values():
        both = Outcome.of_record(one[THEIRS]), Outcome.of_record(one[OURS])
        found.setdefault((one["radio"], one["algorithm"]), []).append(both)
    return dict(found)


def layout(found: Mapping[tuple[str, str], Pairs]) -> Layout:
    """Each metric in both simulators, and the mean difference of a swarm."""
    lines = []
    for (radio, algorithm), pairs in found.items():
        for name, (metric, digits) in COLUMNS.items():
            both = [(metric(a), metric(b)) for a, b in pairs]
            known = [(a, b) for a, b in both if not math.isnan(a + b)]
            sides = [f"{statistics.fmean(side):.{digits}f}" for side in zip(*known, strict=True)] or ["", ""]
            apart = shown(mean_interval(b - a for a, b in known), digits) if known else ""
            lines.append((radio, algorithm, str(len(pairs)), name, *sides, apart))
    header = ("range", "algorithm", "swarms", "", THEIRS, OURS, "difference of a swarm")
    return Layout("exchanged", "Exchanged swarms: the same paths, pairs and starts", header, tuple(lines))


def rows(found: Mapping[tuple[str, str], Pairs]) -> list[Row]:
    """The data that both deliver in the same swarms."""
    return [_row(radio, algorithm, pairs) for (radio, algorithm), pairs in found.items()]


def _row(radio: str, algorithm: str, pairs: Pairs) -> Row:
    metric, digits = COLUMNS["delivered, MB"]
    theirs, ours = ([metric(one) for one in side] for side in zip(*pairs, strict=True))
    apart = mean_interval(b - a for a, b in zip(theirs, ours, strict=True))
    close = abs(apart.mean) <= TOLERANCE * statistics.fmean(theirs) or abs(apart.mean) <= apart.half_width
    return Row(
        "exchanged swarms",
        f"{algorithm}, range {radio}: data delivered in {len(pairs)} swarms, MB",
        "",
        f"{math.fsum(theirs):.{digits}f} ({THEIRS})",
        f"{math.fsum(ours):.{digits}f}",
        Verdict.check(close),
        f"the mean difference of a swarm is {shown(apart, digits)} MB: within {TOLERANCE:.0%}, or not different from 0 "
        f"at 95 % ({BEFOREHAND})",
    )
