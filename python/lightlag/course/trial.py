"""The process that runs a student's class: ``python -m lightlag.course.trial LAB FILE:CLASS REPLY QUESTION...``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lightlag.course.catalogue import lab
from lightlag.course.contents import scenario_text
from lightlag.course.runs import Runs
from lightlag.course.values import value_of
from lightlag.custom.files import load
from lightlag.errors import AlgorithmError, InputError

__all__: list[str] = []


def main(name: str, algorithm: str, reply: str, ids: list[str]) -> None:
    """Computes the right values, and writes them or the error to a file."""
    found: dict[str, object]
    try:
        load(algorithm)
        runs = Runs(scenario_text, algorithm)
        found = {"values": {one.id: value_of(one, runs) for one in lab(name).questions if one.id in ids}}
    except AlgorithmError as error:
        found = {"kind": "algorithm", "error": str(error)}
    except InputError as error:
        found = {"kind": "input", "error": str(error)}
    Path(reply).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
