"""``lightlag studio``: the studio with the native engine, served on this machine."""

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
    listen: Annotated[
        str, typer.Option(metavar="IP", help="Address to listen on; in a container, whose port is forwarded: 0.0.0.0.")
    ] = "127.0.0.1",
    folder: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="Directory with results and scenarios to read. May be repeated; new results go to the first. Default: "
            "results.",
        ),
    ] = None,
) -> None:
    r"""Open the studio in a browser: scenarios, live runs and results, with the engine of this machine.

    \b
    lightlag studio                        the results in results/
    lightlag studio geo.toml               a scenario; files next to it can also be read
    lightlag studio --folder /data/runs --no-browser

    The server accepts connections from this machine only, with the token in the address. A scenario from the studio
    runs no code and reads no file outside of these directories. Ctrl-C ends the server; records so far are written.
    """
    try:
        from lightlag.studio.server import serve
    except ModuleNotFoundError as error:
        from lightlag.studio.needs import missing

        if error.name is None or error.name.startswith("lightlag") or (lacks := missing()) is None:
            raise
        raise InputError(lacks) from None

    folders = folder or [Path("results")]
    if file is not None and Path(file).exists():
        folders = [*folders, Path(file).parent]
    serve(file, folders, port, opens=not no_browser, listen=listen)
