"""The options of commands that write figures: style and format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lightlag.errors import InputError
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag.drawing.looks import Look

__all__ = ["Dpi", "Font", "Force", "Format", "Height", "Label", "Style", "Titles", "Width", "check", "path", "suffix"]
__all__ += ["with_suffix"]

Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help="pdf, svg, png or pgf, if no file suffix specifies it. Default: pdf."
    ),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace a file that lightlag did not write.")]
Style = Annotated[
    str,
    typer.Option(
        "--style",
        metavar="STYLE",
        help="plain; ieee or acm: a column of their papers, serif, without titles; slide: a slide of 16:9.",
    ),
]
Width = Annotated[
    str | None,
    typer.Option("--width", metavar="LENGTH", help="3.5in, 88mm, 8.8cm, 252pt (TeX's points) or 700px."),
]
Height = Annotated[str | None, typer.Option("--height", metavar="LENGTH", help="Default: one that suits the width.")]
Font = Annotated[
    str | None, typer.Option("--font", metavar="FONT", help="serif, sans, mono, or a font that is installed.")
]
Titles = Annotated[
    bool | None,
    typer.Option("--titles/--no-titles", help="Titles and notes above. Default: not for papers", show_default=False),
]
Dpi = Annotated[
    int | None,
    typer.Option("--dpi", metavar="N", help="Pixels of a PNG per inch. Default: 600 for ieee and acm, otherwise 200."),
]
Label = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="NAME=TEXT",
        help='Name in figures to replace, may be repeated: --label cubic="CUBIC (Linux)", --label loss="Packet loss". '
        "Algorithms, variables, metrics, runs, flows and links have names.",
    ),
]


def path(out: Path | None, format: str | None, look: Look) -> Path | None:
    """Returns the file of a command's only figure: ``--out``, with the suffix of ``--format`` if it has none.

    Raises
    ------
    InputError
        As :func:`check` and :func:`suffix`, and if the suffix does not belong to a figure format.
    """
    check(out, format, look)
    if out is None:
        return None
    from lightlag.drawing.style import format_of

    target = with_suffix(out, format)
    format_of(target)
    return target


def with_suffix(out: Path, format: str | None) -> Path:
    """Returns the file of a figure; if a format is named and the file has no suffix, the format's is added."""
    from lightlag.files.output import is_stream

    ending = suffix(format, out)
    if is_stream(out):
        return out
    return out if out.suffix or ending is None or not out.name else out.with_name(out.name + ending)


def check(out: Path | None, format: str | None, look: Look) -> None:
    """Fails if options of figures are given, but no file to write a figure to."""
    from lightlag.drawing.looks import PLAIN

    if out is None and (format is not None or look != PLAIN):
        raise InputError("--style, --width, --height, --font, --titles, --dpi and --format need a figure; add --out")


def suffix(format: str | None, out: Path | None = None) -> str | None:
    """Returns the suffix of a format; empty if none is named.

    Raises
    ------
    InputError
        If it is not a figure format, or if the file to write ends in another suffix.
    """
    if format is None:
        return None
    from lightlag.drawing.style import SUFFIXES

    found = f".{format.lower().removeprefix('.')}"
    if found not in SUFFIXES:
        names = ", ".join(each[1:] for each in SUFFIXES)
        raise InputError(f'--format: "{printable(format)}" is not a format of figures; there are {names}')
    if out is not None and out.suffix.lower() not in ("", found):
        raise InputError(f"--format {found[1:]}: {printable(out)} ends in {out.suffix}; leave one of them out")
    return found
