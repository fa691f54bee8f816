"""``lightlag new``: the files of a scenario or an algorithm to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lightlag.errors import InputError
from lightlag.text.terminal import say


def scenario(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the scenario; the file is NAME.toml.")],
    path: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="geo, meo, leo, moon, wan or lan; sets typical round-trip time and loss."),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help='Rate of the slowest link, such as "20 Mbit/s".')
    ] = None,
    rtt: Annotated[
        str | None, typer.Option(metavar="TIME", help='Round-trip time without queueing, such as "600 ms".')
    ] = None,
    congestion: Annotated[
        str | None, typer.Option("--congestion", "-c", metavar="NAME", help="Congestion control of the flow.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="File to write; default: NAME.toml.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace an existing file.")] = False,
) -> None:
    r"""Write a commented scenario that runs. On a terminal, missing options are prompted for; otherwise defaults apply.

    \b
    lightlag new scenario mine                                  four questions
    lightlag new scenario mine --path leo --rate "50 Mbit/s" --rtt "60 ms" -c bbr
    """
    from lightlag.commands import questions
    from lightlag.commands.files import put
    from lightlag.files.output import is_stream, say_written

    answers = questions.answers(path=path, rate=rate, rtt=rtt, congestion=congestion)
    place = out or Path(f"{questions.named(name)}.toml")
    for written in put({place: questions.text(name, answers)}, force=force):
        say_written(written)
    if not is_stream(place):
        say(f"now: lightlag run {place}")


def congestion(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the algorithm: lower-case letters, digits and _.")
    ],
    language: Annotated[
        str, typer.Option("--language", "-l", metavar="LANGUAGE", help="python, numba (compiled), rust or c.")
    ] = "python",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Directory to write; default: NAME.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace an existing directory.")] = False,
) -> None:
    r"""Write a congestion control to start from, with its test and its figure.

    \b
    lightlag new congestion mine                    a class in Python
    lightlag new congestion mine --language rust    a library
    python mine/test_mine.py                        tests it, plots it, compares it
    """
    from lightlag.custom import template

    if any(ord(letter) < 32 for letter in name):
        raise InputError("the name has a control character in it; use lower-case letters, digits and _")
    folder = out or Path(name)
    for path in template.write(name, language, folder, force=force):
        if not path.startswith("lightlag-plugin/"):
            say(f"{folder / path}")
    say(f"now: python {folder / f'test_{name}.py'}")
