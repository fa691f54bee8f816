"""Writes the package's explanations of the speed of shipped scenarios, as JSON by scenario."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import lightlag as ll
from lightlag.report.slow import account

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def main() -> None:
    accounts = {}
    for name in sys.argv[1:]:
        told = account(ll.run(SCENARIOS / f"{name}.toml"))
        accounts[name] = {"headline": told.headline, "flows": [[flow, list(said)] for flow, said in told.flows]}
    print(json.dumps(accounts))


if __name__ == "__main__":
    main()
