"""The start of the command ``lightlag``: what needs no command line is answered without it."""

from __future__ import annotations

import os
import sys

from lightlag import _printing

__all__ = ["main"]

COMPLETING = "_LIGHTLAG_COMPLETE"
"""The variable in which a shell that asks for completions names itself."""


def main() -> None:
    """The command ``lightlag``."""
    # Commands draw into files, and matplotlib fails to load if this variable holds no name of a backend.
    os.environ["MPLBACKEND"] = "agg"
    # The date of a figure, which ours do not have; matplotlib also fails if it is not a number.
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    with _printing.streams():
        _main()


def _main() -> None:
    if sys.argv[1:] == ["--version"]:
        from lightlag import _engine

        print(f"lightlag {_engine.__version__}")
        return
    if shell := os.environ.get(COMPLETING):
        from lightlag._completion import answer

        answer(shell)
        return
    from lightlag.cli import main

    main()
