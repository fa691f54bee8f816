#!/usr/bin/env python
"""The result hashes of all shipped scenarios by the native engine as JSON, for the page to compare with."""

from __future__ import annotations

import json
from pathlib import Path

import lightlag as ll
from lightlag import _engine

SCENARIOS = Path(__file__).parents[1] / "scenarios"


def main() -> None:
    hashes = {path.stem: ll.run(path).result_hash for path in sorted(SCENARIOS.glob("*.toml"))}
    print(json.dumps({"version": _engine.__version__, "hashes": hashes}, indent=1))


if __name__ == "__main__":
    main()
