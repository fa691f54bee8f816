"""Writes the package's diagnoses of the scenarios on standard input, as a JSON list."""

from __future__ import annotations

import json
import sys
import tomllib

import lightlag as ll


def main() -> None:
    told = []
    for toml in json.load(sys.stdin):
        found = ll.why(tomllib.loads(toml))
        rows = [[*row.values()] for row in found.rows()]
        told.append({"headline": found.headline(), "sentences": found.sentences(), "rows": rows})
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
