"""The solution of a lab: right values, theory, and the deviation between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lightlag.course.answers import template
from lightlag.course.contents import Lab, scenario_text, template_text
from lightlag.course.quantity import show
from lightlag.course.question import Question
from lightlag.course.runs import Runs
from lightlag.course.values import Value, values_of

__all__ = ["SAMPLE", "Solved", "answers_of", "sample", "solution"]

SAMPLE = "mine.py"
"""Name of the file with the sample algorithm of lab 10."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A question with its right value, and the value of the theory."""

    question: Question
    value: Value
    theory: float | None

    @property
    def deviation(self) -> float | None:
        """Deviation from the theory, as a fraction of it."""
        if self.theory is None or not isinstance(self.value, float):
            return None
        return self.value / self.theory - 1

    @property
    def answer(self) -> str:
        """The right answer as a student writes it."""
        if isinstance(self.value, bool):
            return "met" if self.value else "not met"
        return show(self.value, self.question.unit) if isinstance(self.value, float) else self.value

    @property
    def shown_theory(self) -> str:
        """The value of the theory, or a dash."""
        return "–" if self.theory is None else show(self.theory, self.question.unit)

    @property
    def shown_deviation(self) -> str:
        """The deviation in percent, or a dash."""
        return "–" if self.deviation is None else f"{100 * self.deviation:+.1f}%"


def sample() -> str:
    """Returns the text of the sample algorithm."""
    return template_text("sample.py")


def solution(given: Lab, algorithm: str | None = None) -> list[Solved]:
    """Returns the solution of a lab.

    Parameters
    ----------
    algorithm
        The class for lab 10; by default the sample.
    """
    if given.needs_algorithm and algorithm is None:
        with TemporaryDirectory(prefix="lightlag-course-") as folder:
            file = Path(folder) / SAMPLE
            file.write_text(sample(), "utf-8")
            return solution(given, f"{file}:Mine")
    values = values_of(given, algorithm)
    runs = Runs(scenario_text, algorithm)
    return [Solved(one, values[one.id], one.theory(runs) if one.theory else None) for one in given.questions]


def answers_of(solved: list[Solved], given: Lab) -> str:
    """Returns the file of the right answers."""
    values: Mapping[str, str] = {one.question.id: one.answer for one in solved if one.question.required is None}
    return template(given, values)
