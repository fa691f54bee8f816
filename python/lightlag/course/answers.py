"""The files that students fill in: template and reader."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap

from lightlag.course.catalogue import LABS, lab
from lightlag.course.contents import Lab
from lightlag.errors import InputError
from lightlag.files.input import read_text
from lightlag.text.terminal import meant, printable

__all__ = ["Answers", "read_answers", "template"]


@dataclass(frozen=True, slots=True)
class Answers:
    """A student's file."""

    lab: Lab
    values: Mapping[str, object] = field(default_factory=dict)
    """Answers by question; an empty text is a missing answer."""
    student: str = ""
    algorithm: str | None = None
    """A class of the student, ``FILE:CLASS``; a relative file is relative to the directory of the answers."""
    source: str = "answers"
    """The file, for errors."""


def read_answers(path: str | Path, expected: Lab | None = None) -> Answers:
    """Reads a file with answers.

    Raises
    ------
    InputError
        If it cannot be read, belongs to another lab, or has an unknown key or question.
    """
    file = Path(path)
    shown = printable(str(path))
    try:
        plain = tomllib.loads(read_text(file))
    except OSError as error:
        raise InputError(f"{shown}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{shown}: is not text in UTF-8; save it in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{shown}: is not valid TOML: {printable(str(error))}; put each answer in quotes") from None
    known = ("lab", "student", "algorithm", "answers")
    for key in plain:
        if key not in known:
            raise InputError(
                f"{shown}: {printable(key)}: is not a key here; {meant(key, known)}write {', '.join(known)}"
            )
    named = plain.get("lab", expected.name if expected else None)
    if not isinstance(named, str) or named not in LABS:
        raise InputError(f'{shown}: lab: {printable(repr(named)):.60} is not a lab; write lab = "lab1" to "lab10"')
    if expected is not None and named != expected.name:
        raise InputError(f"{shown}: lab: the file belongs to {named}, not to {expected.name}; check it as {named}")
    found = lab(named)
    texts = {}
    for key in ("student", "algorithm"):
        texts[key] = plain.get(key, "")
        if not isinstance(texts[key], str):
            raise InputError(f"{shown}: {key}: {printable(repr(texts[key])):.60} is not a text; put it in quotes")
    values = plain.get("answers", {})
    if not isinstance(values, dict):
        raise InputError(f"{shown}: answers: is not a table; write the line [answers] above the answers")
    algorithm = texts["algorithm"].strip()
    if algorithm and not found.needs_algorithm:
        raise InputError(f"{shown}: algorithm: {found.name} needs no algorithm; remove the line")
    if algorithm:
        name, colon, cls = algorithm.rpartition(":")
        algorithm = f"{file.parent / name}{colon}{cls}" if colon else algorithm
    return Answers(found, values, texts["student"], algorithm or None, shown)


def template(given: Lab, values: Mapping[str, str] | None = None, algorithm: str = "mine.py:Mine") -> str:
    """Returns the text of a file for answers, empty or with values."""
    lines = [
        f"# {given.title}. Write your answers between the quotes, numbers with their unit. Check them with",
        f"#     lightlag course check {given.name} answers.toml",
        f'lab     = "{given.name}"',
        'student = ""',
    ]
    if given.needs_algorithm:
        lines += ["", "# Your class, as FILE:CLASS.", f'algorithm = "{algorithm}"']
    lines += ["", "[answers]"]
    for question in given.questions:
        if question.required is not None:
            continue
        asked = f"{question.id}: {question.ask} ({question.form})"
        lines += [f"# {line}" for line in wrap(asked, 110)]
        lines += [f"#   {letter}: {line}" for letter, text in question.options.items() for line in wrap(text, 104)]
        lines += [f'{question.id} = "{(values or {}).get(question.id, "")}"', ""]
    return "\n".join(lines).rstrip() + "\n"
