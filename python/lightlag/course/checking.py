"""Compares the values of students with the simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from lightlag.course.answers import Answers
from lightlag.course.catalogue import lab
from lightlag.course.contents import Lab
from lightlag.course.quantity import parse
from lightlag.course.question import Question
from lightlag.course.values import Value, values_of
from lightlag.errors import InputError
from lightlag.text.terminal import meant, printable

__all__ = ["Checked", "Report", "check"]

Verdict = Literal["right", "wrong", "missing"]


@dataclass(frozen=True, slots=True)
class Checked:
    """A question with its verdict."""

    question: Question
    verdict: Verdict
    message: str = ""
    """A hint for a wrong answer."""


@dataclass(frozen=True, slots=True)
class Report:
    """The verdicts about the answers to a lab."""

    lab: Lab
    student: str
    checked: tuple[Checked, ...]

    @property
    def is_right(self) -> bool:
        """Whether every answer is right."""
        return all(one.verdict == "right" for one in self.checked)

    @property
    def points(self) -> tuple[int, int]:
        """Points of the right answers, and of all."""
        right = sum(one.question.points for one in self.checked if one.verdict == "right")
        return right, sum(one.question.points for one in self.checked)

    def verdicts(self) -> list[Verdict]:
        """Returns the verdicts in the order of the questions."""
        return [one.verdict for one in self.checked]

    def sentence(self) -> str:
        """Returns the summary in one line."""
        found = self.verdicts()
        counts = ", ".join(f"{found.count(kind)} {kind}" for kind in ("right", "wrong", "missing") if kind in found)
        right, most = self.points
        student = f", {printable(self.student)}" if self.student else ""
        return f"{self.lab.name}: {self.lab.title}{student}: {counts}; {right} of {most} points"

    def to_json(self) -> dict[str, Any]:
        """Returns everything as plain values."""
        right, most = self.points
        return {
            "lab": self.lab.name,
            "student": self.student,
            "points": right,
            "of": most,
            "questions": [
                {"id": one.question.id, "verdict": one.verdict, "message": one.message} for one in self.checked
            ],
        }


def check(
    given: str | Lab, answers: Answers | Mapping[str, object], algorithm: str | None = None, source: str = "answers"
) -> Report:
    """Checks answers.

    Parameters
    ----------
    given
        A lab, or its name.
    answers
        Answers by question, or a file that :func:`read_answers` has read.
    algorithm
        The class of the student in lab 10: ``FILE:CLASS``.
    source
        The origin of the answers, for errors.

    Raises
    ------
    InputError
        If a question is unknown, an answer has the wrong type or lacks its unit, or the class cannot be loaded.
    AlgorithmError
        If the class of the student fails.
    """
    found = given if isinstance(given, Lab) else lab(given)
    if not isinstance(answers, Answers):
        answers = Answers(found, answers, algorithm=algorithm, source=source)
    asked = {one.id: one for one in found.questions if one.required is None}
    for key in answers.values:
        if key not in asked:
            hint = meant(key, tuple(asked))
            raise InputError(
                f"{answers.source}: {printable(key)[:40]}: is not a question of {found.name}; "
                f"{hint}write {', '.join(asked)}"
            )
    read = {key: _read(asked[key], value, answers.source) for key, value in answers.values.items()}
    if found.needs_algorithm and answers.algorithm is None:
        raise InputError(f'{answers.source}: algorithm: is missing; write algorithm = "mine.py:Mine"')
    needed = [one for one in found.questions if one.required is not None or read.get(one.id) is not None]
    values = values_of(replace_questions(found, needed), answers.algorithm)
    checked = tuple(_checked(one, read.get(one.id), values.get(one.id)) for one in found.questions)
    return Report(found, answers.student, checked)


def replace_questions(given: Lab, questions: list[Question]) -> Lab:
    """Returns the lab with fewer questions, so that only their runs are made."""
    return replace(given, questions=tuple(questions))


def _read(question: Question, value: object, source: str) -> float | str | None:
    """Returns an answer in the form of its question; None if it is missing."""
    place = f"{source}: {question.id}"
    if isinstance(value, str) and not value.strip():
        return None
    if question.options or question.words:
        if not isinstance(value, str):
            raise InputError(f"{place}: {printable(repr(value)):.60} is not a text; write {question.form} in quotes")
        text = value.strip().lower().rstrip(".")
        if question.options and text not in question.options:
            raise InputError(f'{place}: "{printable(value):.40}" is not an option; write {question.form}')
        return text
    return parse(value, question.unit, place)


def _checked(question: Question, answer: float | str | None, value: Value | None) -> Checked:
    if question.required is not None:
        return Checked(question, "right") if value is True else Checked(question, "wrong", question.hint)
    if answer is None:
        return Checked(question, "missing")
    if isinstance(answer, float) and isinstance(value, float):
        is_right = abs(answer - value) <= question.within * abs(value) * (1 + 1e-9)
    else:
        is_right = answer == value
    return Checked(question, "right") if is_right else Checked(question, "wrong", question.hint)
