"""The gallery: the commands of each question give the numbers of its answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from manual import gallery

pytestmark = pytest.mark.long

QUESTIONS = gallery.questions()
NUMBER = re.compile(r"\d+(?:\.\d+)?")
TOLERANCE = 0.05
"""Relative tolerance of a number, in addition to half of its last digit."""


def test_there_are_fifteen_questions_and_no_file_without_one() -> None:
    names = {path.stem for path in gallery.GALLERY.glob("*.toml")}
    assert {question.name for question in QUESTIONS} == names
    assert len(names) >= 15


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_an_answer_matches_a_run(question: gallery.Question, tmp_path: Path) -> None:
    values = gallery.measured(question, tmp_path)
    assert not question.broken(values)
    kept = (gallery.GALLERY / f"{question.name}.md").read_text("utf-8")
    new = gallery.page(question, values)
    again = "draw it again: make gallery"
    assert NUMBER.sub("#", kept) == NUMBER.sub("#", new), again
    for old, now in zip(NUMBER.findall(kept), NUMBER.findall(new), strict=True):
        last = 10.0 ** -len(old.partition(".")[2])
        assert abs(float(old) - float(now)) <= TOLERANCE * float(old) + last, f"{old} was {now} now; {again}"


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_a_question_has_a_figure_and_is_in_the_index(question: gallery.Question) -> None:
    assert (gallery.GALLERY / "images" / f"{question.name}.png").stat().st_size > 5_000
    kept = (gallery.GALLERY / f"{question.name}.md").read_text("utf-8")
    index = (gallery.GALLERY / "index.md").read_text("utf-8")
    assert question.question in kept
    assert kept.rpartition("**Answer.** ")[2].strip() in index
