"""The generated parts of the course's pages: ``python -m manual.course`` writes them.

A page of a lab, ``docs/course/lab3.md``, has its scenarios and its questions between markers; the page of the solution,
``docs/course/teachers/lab3.md``, has its reasons. Everything else on these pages is written by hand.
"""

from __future__ import annotations

from pathlib import Path

from lightlag import course
from lightlag.course.contents import scenario_text
from lightlag.course.question import Question

COURSE = Path(__file__).resolve().parents[2] / "docs" / "course"
_START, _END = "<!-- generated: {} -->\n", "<!-- end -->\n"


def scenarios(lab: course.Lab) -> str:
    """Returns the scenarios of a lab as blocks."""
    blocks = [f"`{name}.toml`:\n\n```toml\n{scenario_text(name)}```\n" for name in lab.scenarios]
    return "\n".join(blocks)


def questions(lab: course.Lab) -> str:
    """Returns the questions of a lab as a list."""
    return "\n".join(_asked(one) for one in lab.questions)


def _asked(question: Question) -> str:
    head = f"- **{question.id}.** {question.ask}"
    if question.required is not None:
        return head + f" ({question.points} points)"
    if question.options:
        return "\n".join([head, *(f"  - {letter}: {text}" for letter, text in question.options.items())])
    return f"{head} *({question.form}.)*"


def reasons(lab: course.Lab) -> str:
    """Returns the reasons of the answers, for teachers."""
    return "\n".join(_reason(one) for one in lab.questions)


def _reason(question: Question) -> str:
    formula = f" Theory: {question.formula}." if question.formula else ""
    errors = f" *Common error:* {question.errors}" if question.errors else ""
    points = "1 point" if question.points == 1 else f"{question.points} points"
    return f"- **{question.id}** ({points}).{formula} {question.reason}{errors}"


def parts(lab: course.Lab) -> dict[Path, dict[str, str]]:
    """Returns the generated parts of the pages of a lab."""
    return {
        COURSE / f"{lab.name}.md": {"scenarios": scenarios(lab), "questions": questions(lab)},
        COURSE / "teachers" / f"{lab.name}.md": {"reasons": reasons(lab)},
    }


def filled(text: str, generated: dict[str, str]) -> str:
    """Returns a page with its generated parts.

    Raises
    ------
    ValueError
        If the page lacks a marker.
    """
    for name, part in generated.items():
        head, start, rest = text.partition(_START.format(name))
        _, end, tail = rest.partition(_END)
        if not start or not end:
            raise ValueError(f"the page lacks {_START.format(name).strip()} or {_END.strip()}")
        text = f"{head}{start}\n{part.rstrip()}\n\n{end}{tail}"
    return text


def main() -> None:
    for name in course.LABS:
        for page, generated in parts(course.lab(name)).items():
            page.write_text(filled(page.read_text("utf-8"), generated), "utf-8")


if __name__ == "__main__":
    main()
