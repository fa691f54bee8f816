"""Writes the charts of comparisons, made by the package, as JSON by scenario to standard output."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import lightlag as ll
from lightlag.report.comparison_charts import charts

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def main() -> None:
    congestion, duration, *names = sys.argv[1:]
    found = {}
    for name in names:
        options = {"replications": 3, "duration": duration, "progress": False, "jobs": 1}
        comparison = ll.compare(SCENARIOS / f"{name}.toml", congestion.split(","), **options)
        hashes = [one.result_hash for one in comparison.outcomes]
        drawn = [
            one.to_json() | {"name": one.name, "title": one.title, "says": [panel.says for panel in one.panels]}
            for one in charts(comparison)
            if one.name != "bars"
        ]
        found[name] = {"hashes": hashes, "charts": drawn}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
