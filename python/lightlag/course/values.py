"""The right values of a lab, computed by runs."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypeAlias

from lightlag.course.contents import Lab, scenario_text
from lightlag.course.question import Question
from lightlag.course.runs import Runs
from lightlag.errors import AlgorithmError, InputError
from lightlag.text.terminal import printable

__all__ = ["LIMIT_S", "Value", "value_of", "values_of"]

Value: TypeAlias = float | str | bool

LIMIT_S = 300
"""Maximum duration of the check of a student's class, in seconds of wall-clock time."""


def value_of(question: Question, runs: Runs) -> Value:
    """Returns the right answer to a question."""
    if question.required is not None:
        return bool(question.required(runs))
    if question.measured is not None:
        return float(question.measured(runs))
    assert question.chosen is not None, f"{question.id} has no right answer"
    return question.chosen(runs)


def values_of(given: Lab, algorithm: str | None = None) -> dict[str, Value]:
    """Returns the right answers to the questions of a lab.

    A class of a student runs in a process of its own, with a time limit.

    Raises
    ------
    InputError
        If the class cannot be loaded.
    AlgorithmError
        If it fails.
    """
    if not given.needs_algorithm:
        runs = Runs(scenario_text)
        return {one.id: value_of(one, runs) for one in given.questions}
    assert algorithm is not None, "the checker requires the class"
    return _apart(given, algorithm)


def _apart(given: Lab, algorithm: str) -> dict[str, Value]:
    with tempfile.TemporaryDirectory(prefix="lightlag-course-") as folder:
        found = Path(folder) / "values.json"
        command = [sys.executable, "-m", f"{__package__}.trial", given.name, algorithm, str(found)]
        command += [one.id for one in given.questions]
        shown = printable(algorithm)
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise AlgorithmError(f"{shown}: ran for more than {LIMIT_S} s; look for a loop without an end") from None
        if not found.exists():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise AlgorithmError(f"{shown}: its process ended with status {done.returncode}: {printable(last)}")
        reply = json.loads(found.read_text("utf-8"))
    if "error" in reply:
        raise (InputError if reply["kind"] == "input" else AlgorithmError)(reply["error"])
    values: dict[str, Value] = reply["values"]
    return values
