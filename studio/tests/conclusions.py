"""Reads outcomes of comparisons as JSON, and writes the package's conclusions and intervals as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

from lightlag.comparison import Comparison
from lightlag.outcomes.design import MEASURES, Design
from lightlag.outcomes.outcome import Flows, Outcome
from lightlag.outcomes.variables import Competitor
from lightlag.report.answer import answer


def outcome(name: str, run: dict[str, Any]) -> Outcome:
    flows = run["flows"]
    unknown = [None] * len(flows)
    return Outcome(
        name,
        (),
        run["seed"],
        run["goodput_bps"],
        run["completion_s"],
        run["jain"],
        run["retransmitted_share"],
        run["queueing_mean_s"],
        run["queueing_p95_s"],
        run["bottleneck"],
        run["timeouts"],
        run["simulated_s"],
        run["result_hash"],
        Flows(*([flow[key] for flow in flows] for key in FLOW), unknown),
        None,
        None,
        None,
    )


FLOW = ("name", "congestion", "goodput_bps", "completion_s", "min_rtt_s")


def main() -> None:
    conclusions = []
    for candidates in json.load(sys.stdin):
        runs = [outcome(one["name"], run) for one in candidates for run in one["outcomes"]]
        algorithms = tuple(Competitor(one["name"], (one["name"],), (one["name"],)) for one in candidates)
        comparison = Comparison(Design({"name": "x"}, algorithms, (), 1, len(candidates[0]["outcomes"])), runs)
        found = answer(comparison)
        shown = [[m.show(comparison.interval(name, m)) for m in MEASURES[:5]] for name in comparison.algorithms]
        conclusions.append({"headline": found.headline, "sentences": list(found.sentences), "shown": shown})
    json.dump(conclusions, sys.stdout)


if __name__ == "__main__":
    main()
