"""``lightlag studio``: the page with the native engine, served on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lightlag.errors import InputError


def studio(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A scenario in TOML or JSON, or the name of a preset.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Default: 8765, or the next free one; 0 takes any.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
    folder: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="A folder whose results and scenarios may be read. May be repeated; results go to the first. Default: "
            "results.",
        ),
    ] = None,
) -> None:
    r"""Open the studio in a browser: scenarios, live runs and results, with the engine of this machine.

    \b
    lightlag studio                        results of the folder results
    lightlag studio geo.toml               with a scenario; what lies beside it may be read, too
    lightlag studio --folder /data/runs --no-browser

    It answers only this machine, and only those who know the token in the address. A scenario from the page runs no
    code and reads no file outside of these folders. Ctrl-C ends it; records of runs up to then are kept.
    """
    try:
        from lightlag.studio.server import serve
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.startswith("lightlag"):
            raise
        raise InputError(f'the studio needs {error.name}; pip install "lightlag[studio]"') from None

    folders = folder or [Path("results")]
    if file is not None and Path(file).exists():
        folders = [*folders, Path(file).parent]
    serve(file, folders, port, opens=not no_browser)
