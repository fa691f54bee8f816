"""``lightlag new``: the files of something of one's own, to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lightlag._text import say
from lightlag.errors import InputError


def congestion(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name: lower-case letters, digits and _.")],
    language: Annotated[
        str, typer.Option("--language", "-l", metavar="LANGUAGE", help="python, numba (compiled), rust or c.")
    ] = "python",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="The new folder; by default NAME.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace a folder that exists.")] = False,
) -> None:
    r"""Write a congestion control to start from, with its test and its figure.

    \b
    lightlag new congestion mine                    a class in Python
    lightlag new congestion mine --language rust    a library
    python mine/test_mine.py                        tests it, draws it, compares it
    """
    from lightlag.own import template

    if any(ord(letter) < 32 for letter in name):
        raise InputError("the name has a control character in it; take lower-case letters, digits and _")
    folder = out or Path(name)
    for path in template.write(name, language, folder, force=force):
        if not path.startswith("lightlag-plugin/"):
            say(f"{folder / path}")
    say(f"now: python {folder / f'test_{name}.py'}")
