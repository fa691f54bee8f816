"""Manual pages from the help of the commands, one for each: ``python -m lightlag.cli.man DIR`` writes them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["pages", "write"]

_SECTIONS = re.compile(r"\n{2,}")


def write(folder: Path) -> list[Path]:
    """Writes every manual page to a directory, and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in pages().items():
        (folder / f"{name}.1").write_text(text, encoding="utf-8")
        written.append(folder / f"{name}.1")
    return written


def pages() -> dict[str, str]:
    """The pages by name: ``lightlag``, ``lightlag-run``, ``lightlag-study-add``."""
    from typer.main import get_command

    from lightlag.cli.app import app

    return dict(_pages(get_command(app), ["lightlag"], "Simulates transport protocols over long or lossy paths."))


def _pages(command: Any, path: list[str], short: str) -> Iterator[tuple[str, str]]:
    inside = list(getattr(command, "commands", {}))
    yield "-".join(path), _page(command, path, short, inside)
    for name in inside:
        about = command.entries[name].short_help
        yield from _pages(command.commands[name], [*path, name], about)


def _page(command: Any, path: list[str], short: str, inside: list[str]) -> str:
    from lightlag import _engine

    name = "-".join(path)
    lines = [
        f'.TH "{name.upper()}" 1 "" "lightlag {_engine.__version__}" "User Commands"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(short.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_text(' '.join(path))}",
        _text(_usage(command)),
        ".SH DESCRIPTION",
        *_paragraphs(command.help or short),
    ]
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    if any(getattr(one, "help", None) for one in arguments):
        lines.append(".SH ARGUMENTS")
        for one in arguments:
            lines += [".TP", f".I {_text(_metavar(one))}", _text(getattr(one, "help", None) or "")]
    lines.append(".SH OPTIONS")
    for one in (one for one in command.params if one.param_type_name == "option"):
        lines += [".TP", _option(one), _text(one.help or "")]
    lines += [".TP", r"\fB\-h\fR, \fB\-\-help\fR", "Show the help and exit."]
    if inside:
        lines.append(".SH COMMANDS")
        for one in inside:
            lines += [".TP", f".B {_text(one)}", _text(command.entries[one].short_help)]
    if command.epilog:
        lines += [".SH EXAMPLES", *_paragraphs(command.epilog.replace("Examples:\n", ""))]
    others = ["-".join([*path, one]) for one in inside]
    lines += _see_also(others, path)
    return "\n".join(line for line in lines if line) + "\n"


def _see_also(others: list[str], path: list[str]) -> list[str]:
    named = [*(["-".join(path[:-1])] if len(path) > 1 else []), *others]
    if not named:
        return []
    rows = [f".BR {_text(name)} (1){',' if at + 1 < len(named) else ''}" for at, name in enumerate(named)]
    return [".SH SEE ALSO", *rows]


def _usage(command: Any) -> str:
    arguments = [_metavar(one) for one in command.params if one.param_type_name == "argument"]
    return " ".join(["[OPTIONS]", *arguments, *(["COMMAND [ARGS]..."] if hasattr(command, "commands") else [])])


def _metavar(one: Any) -> str:
    return str(one.metavar or one.name.upper())


def _option(one: Any) -> str:
    names = ", ".join(rf"\fB{_text(name)}\fR" for name in (*one.opts, *one.secondary_opts))
    kind = one.metavar or one.type.name.upper().replace(" RANGE", "")
    return names if one.is_flag else rf"{names} \fI{_text(str(kind))}\fR"


def _paragraphs(text: str) -> Iterator[str]:
    """Yields the paragraphs of a help text; one that starts with a backspace character keeps its line breaks."""
    for at, part in enumerate(_SECTIONS.split(text.strip("\n"))):
        if at:
            yield ".PP"
        if part.startswith("\b"):
            yield ".nf"
            yield from (_text(line) for line in part.split("\n")[1:] if line.strip())
            yield ".fi"
        else:
            yield _text(" ".join(part.split()))


def _text(text: str) -> str:
    r"""Escapes a line of text, so that roff does not take any of its characters for a request or an escape.

    Examples
    --------
    >>> print(_text(".5 of --rate\\s"))
    \&.5 of \-\-rate\es
    """
    text = (
        text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("^", r"\(ha").replace("~", r"\(ti")
    )
    text = text.replace("`", r"\(ga").replace('"', r"\(dq")
    text = "".join(one if one.isascii() else rf"\[u{ord(one):04X}]" for one in text)
    return rf"\&{text}" if text[:1] in (".", "'") or text.startswith(r"\(aq") else text


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m lightlag.cli.man DIR")
    for page in write(Path(sys.argv[1])):
        print(page)
