"""The labs of the course: their solutions pass the checker, other answers do not, and every scenario runs."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import lightlag as ll
from conftest import Lightlag
from lightlag import course
from lightlag.course import theory
from lightlag.course.contents import template_text
from lightlag.course.quantity import parse
from lightlag.course.solving import Solved, answers_of
from lightlag.errors import AlgorithmError, InputError
from manual import course as pages

SOLVED: dict[str, list[Solved]] = {}
LABS = [name for name in course.LABS if name != "lab10"]
EXPLAINED = 0.03
"""Deviation from the theory that needs no explanation."""


def solved(name: str) -> list[Solved]:
    """The solution of a lab, computed once."""
    if name not in SOLVED:
        SOLVED[name] = course.solution(course.lab(name))
    return SOLVED[name]


@pytest.mark.parametrize("name", LABS)
def test_the_solution_of_a_lab_passes_the_checker(name: str, tmp_path: Path) -> None:
    lab = course.lab(name)
    file = tmp_path / "answers.toml"
    file.write_text(answers_of(solved(name), lab), "utf-8")
    report = course.check(lab, course.read_answers(file))
    assert report.verdicts() == ["right"] * len(lab.questions)


@pytest.mark.parametrize("name", LABS)
def test_every_wrong_answer_is_caught_with_a_hint_that_does_not_contain_the_right_one(name: str) -> None:
    lab = course.lab(name)
    answers: dict[str, object] = {}
    for one in solved(name):
        question = one.question
        if question.options:
            answers[question.id] = next(letter for letter in question.options if letter != one.value)
        elif question.words:
            answers[question.id] = "tahoe"
        else:
            assert isinstance(one.value, float)
            answers[question.id] = f"{one.value * (1 + 1.5 * question.within)!r} {question.unit}"
    report = course.check(lab, answers)
    assert report.verdicts() == ["wrong"] * len(lab.questions)
    for checked, one in zip(report.checked, solved(name), strict=True):
        assert checked.message
        if not one.question.options:
            assert not re.search(rf"\b{re.escape(one.answer)}\b", checked.message)


@pytest.mark.parametrize("name", LABS)
def test_values_agree_with_the_theory_or_the_reason_explains_the_deviation(name: str) -> None:
    for one in solved(name):
        assert one.question.reason, one.question.id
        if one.deviation is not None:
            assert one.question.formula, one.question.id
            assert abs(one.deviation) < 0.35, one.question.id
            assert abs(one.deviation) < EXPLAINED or len(one.question.reason) > 60, one.question.id


@pytest.mark.parametrize("name", course.LABS)
def test_a_lab_has_questions_for_90_minutes_and_scenarios_that_run(name: str) -> None:
    lab = course.lab(name)
    assert 6 <= len(lab.questions) <= 10
    ids = [one.id for one in lab.questions]
    assert len(set(ids)) == len(ids)
    for file, text in lab.files().items():
        if file.endswith(".toml"):
            plain = tomllib.loads(text)
            assert f"{plain['name']}.toml" == file
            result = ll.run(plain, sets={"duration": "2 s"} if name != "lab9" else {})
            assert result.flows["sent_segments"].sum() > 0


def test_the_class_to_start_from_runs_and_the_sample_meets_all_requirements(tmp_path: Path) -> None:
    lab = course.lab("lab10")
    own = tmp_path / "mine.py"
    own.write_text(template_text("mine.py"), "utf-8")
    start = course.check(lab, {}, algorithm=f"{own}:Mine")
    by_id = {one.question.id: one.verdict for one in start.checked}
    assert by_id["goodput"] == by_id["queue"] == "wrong"
    assert by_id["fairness"] == by_id["repeats"] == "right"
    assert by_id["q3"] == "missing"
    own.write_text(template_text("sample.py"), "utf-8")
    answers = tmp_path / "answers.toml"
    answers.write_text(answers_of(course.solution(lab), lab), "utf-8")
    report = course.check(lab, course.read_answers(answers))
    assert report.is_right
    assert report.points == (12, 12)


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("class Mine(ll.CongestionControl)\n    pass\n", InputError, "mine.py: line 3: SyntaxError"),
        ("class Other: pass\n", InputError, "mine.py: has no class Mine"),
        (
            "class Mine(ll.CongestionControl):\n    def on_ack(self, ack):\n        self.cwnd /= 0\n"
            "    def on_congestion(self, event):\n        pass\n",
            AlgorithmError,
            'mine.py", line 5, in on_ack',
        ),
        ("import os\nos._exit(3)\n", AlgorithmError, "mine.py:Mine: its process ended with status 3"),
    ],
)
def test_a_class_that_fails_is_reported_with_file_and_line(
    source: str, kind: type[Exception], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import lightlag as ll\n\n" + source, "utf-8")
    with pytest.raises(kind) as error:
        course.check("lab10", {"q3": "1 Mbit/s"}, algorithm=f"{file}:Mine")
    assert message in str(error.value)


BAD = {
    "unknown question": ('[answers]\nq99 = "1"', "q99: is not a question of lab1"),
    "no unit": ('[answers]\nq4 = "0.93"', 'q4: "0.93" has no unit; write "0.93 s"'),
    "number without unit": ("[answers]\nq4 = 0.93", 'q4: "0.93" has no unit; write "0.93 s"'),
    "other quantity": ('[answers]\nq4 = "3 Mbit/s"', '"Mbit/s" is not a unit of this answer'),
    "wrong type": ("[answers]\nq4 = [1]", "q4: [1] is not a number"),
    "no number": ('[answers]\nq4 = "soon"', '"soon" is not a number'),
    "no option": ('[answers]\nq8 = "maybe"', '"maybe" is not an option; write one of "a", "b", "c"'),
    "option as number": ("[answers]\nq8 = 2", "q8: 2 is not a text"),
    "unknown key": ('author = "x"', "author: is not a key here"),
    "other lab": ('lab = "lab2"', "the file belongs to lab2, not to lab1"),
    "no lab": ('lab = "lab11"', "is not a lab"),
    "no table": ("answers = 3", "write the line [answers]"),
    "no TOML": ("q1 = 10 segments", "is not valid TOML"),
    "algorithm": ('algorithm = "a.py:A"', "lab1 needs no algorithm"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_gives_one_error_that_names_the_place_and_the_fix(kind: str, tmp_path: Path) -> None:
    text, message = BAD[kind]
    file = tmp_path / "answers.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(InputError) as error:
        course.check("lab1", course.read_answers(file, course.lab("lab1")))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_or_is_not_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        course.read_answers(tmp_path / "none.toml")
    (tmp_path / "image.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not text in UTF-8"):
        course.read_answers(tmp_path / "image.toml")


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("12.5 Mbit/s", "Mbit/s", 12.5),
        ("12500kbps", "Mbit/s", 12.5),
        ("0.5 min", "s", 30.0),
        ("1,024 KiB", "MB", 1.048576),
        ("85 %", "%", 85.0),
        ("0.85", "%", 85.0),
        ("3 times", "", 3.0),
        ("-1.5e1 ms", "ms", -15.0),
    ],
)
def test_units_are_converted(text: str, unit: str, value: float) -> None:
    assert parse(text, unit, "q1") == pytest.approx(value)


@pytest.mark.parametrize("text", ["3 MB/s", "3 apples", "", "nan s", "1e999 s", "- s", "3 s s"])
def test_other_units_and_numbers_are_errors(text: str) -> None:
    with pytest.raises(InputError):
        parse(text, "Mbit/s", "q1")


def test_the_commands_write_check_and_solve(lightlag: Lightlag, tmp_path: Path) -> None:
    assert "lab10" in lightlag("course", "list").stdout
    lightlag("course", "new", "lab1")
    empty = lightlag("course", "check", "lab1", "lab1/answers.toml")
    assert (empty.returncode, "8 missing" in empty.stdout) == (1, True)
    again = lightlag("course", "new", "lab1")
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
    lightlag("course", "solution", "lab1", "-o", "solved.toml")
    right = lightlag("course", "check", "lab1", "solved.toml", "--json")
    found = json.loads(right.stdout)
    assert (right.returncode, found["points"], found["of"]) == (0, 8, 8)
    other = lightlag("course", "check", "lab11", "solved.toml")
    assert (other.returncode, "did you mean" in other.stderr) == (2, True)


@pytest.mark.parametrize("name", course.LABS)
def test_the_pages_have_the_questions_and_scenarios_of_the_package(name: str) -> None:
    lab = course.lab(name)
    for page, generated in pages.parts(lab).items():
        text = page.read_text("utf-8")
        assert pages.filled(text, generated) == text, "python -m manual.course writes the pages"
    student = (pages.COURSE / f"{name}.md").read_text("utf-8")
    assert not any(one.reason in student for one in lab.questions)
    minutes = [int(row.split()[1]) for row in student.splitlines() if row.startswith("| ") and " min | " in row]
    assert sum(minutes) == 90


def test_formulas_have_their_known_values() -> None:
    assert theory.rounds(2e6) == 8
    assert theory.mathis(1e-2, 0.1) == pytest.approx(8 * 1448 / 0.1 * 12.247, rel=1e-3)
    assert theory.cubic_k(4000) == pytest.approx(3000 ** (1 / 3))
    assert theory.jain([1, 0]) == 0.5
    assert theory.aimd_ratio(0.5) == 1
    # Without a queue, the sawtooth from half of the pipe to the pipe carries three quarters.
    assert theory.busy_with_queue(-1, 1000) == pytest.approx(0.75)
    # Padhye's formula has Mathis' limit for rare losses.
    assert theory.padhye(1e-8, 0.1, 0.3) == pytest.approx(theory.mathis(1e-8, 0.1), rel=1e-3)
