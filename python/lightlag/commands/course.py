"""``lightlag course``: labs for a class on networks, and the checker of their answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lightlag.text.terminal import print_json, printable, say

Name = Annotated[str, typer.Argument(metavar="LAB", help="Name of a lab, such as lab3; lightlag course list has all.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace existing files.")]


def list_() -> None:
    """List the labs of the course."""
    from lightlag.course import LABS, lab
    from lightlag.text.table import print_rows

    labs = [lab(name) for name in LABS]
    rows = [
        {"lab": one.name, "title": one.title, "questions": str(len(one.questions)), "what it shows": one.about}
        for one in labs
    ]
    print_rows(rows, "ten labs of 90 minutes")


def new(
    name: Name,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Directory to write; default: LAB.")
    ] = None,
    force: Force = False,
) -> None:
    r"""Write the files that a lab starts with: its scenarios, and a file for the answers.

    \b
    lightlag course new lab3
    lightlag course check lab3 lab3/answers.toml
    """
    from lightlag.commands.files import put
    from lightlag.course import lab, template
    from lightlag.files.output import say_written, write_text

    found = lab(name)
    folder = out or Path(name)
    scenarios = {folder / file: text for file, text in found.files().items() if file.endswith(".toml")}
    others = {folder / file: text for file, text in found.files().items() if not file.endswith(".toml")}
    others[folder / "answers.toml"] = template(found)
    for path in others:
        if path.exists() and not force:
            raise FileExistsError(f"{printable(path)}: exists already; replace it with --force, or name another --out")
    written = put(scenarios, force=force)
    for path, text in others.items():
        write_text(path, text)
    for path in (*written, *others):
        say_written(path)
    say(f"now: lightlag course check {name} {printable(folder / 'answers.toml')}")


def check(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="ANSWERS", help="File with answers, answers.toml.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    r"""Check answers: the right values are computed by running the scenarios of the lab.

    \b
    lightlag course check lab3 lab3/answers.toml

    A wrong answer prints a hint, which does not contain the right value. The exit status is 0 if every answer is right,
    1 if one is wrong or missing, and 2 if the file cannot be read.

    Lab 10 runs the class that the file names, in a process of its own. It is code, and may do what you may.
    """
    from lightlag.course import check, lab, read_answers
    from lightlag.text.table import print_rows

    found = lab(name)
    report = check(found, read_answers(file, found))
    if as_json:
        print_json(report.to_json(), allow_nan=False)
    else:
        rows = [
            {"question": one.question.id, "verdict": one.verdict, "hint": one.message or " "} for one in report.checked
        ]
        print_rows(rows, report.sentence())
    if not report.is_right:
        raise typer.Exit(1)


def solution(
    name: Name,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Also write a file with the right answers.")
    ] = None,
    force: Force = False,
) -> None:
    """Compute the solution of a lab, for teachers: right values, the theory, and the deviation from it.

    Lab 10 has a sample class, mine.py, which is written next to the file with the answers.
    """
    from lightlag.course import lab
    from lightlag.course import solution as solved
    from lightlag.course.solving import SAMPLE, answers_of, sample
    from lightlag.files.output import say_written, write_text
    from lightlag.text.table import print_rows

    found = lab(name)
    files = [] if out is None else [out, *([out.parent / SAMPLE] if found.needs_algorithm else [])]
    for path in files:
        if path.exists() and not force:
            raise FileExistsError(f"{printable(path)}: exists already; replace it with --force, or name another --out")
    answers = solved(found)
    rows = [
        {
            "question": one.question.id,
            "answer": one.answer,
            "theory": one.shown_theory,
            "deviation": one.shown_deviation,
            "formula": one.question.formula or " ",
        }
        for one in answers
    ]
    print_rows(rows, f"{found.name}: {found.title}")
    for path, text in zip(files, (answers_of(answers, found), sample()), strict=False):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
        say_written(path)
