"""The start of the command ``lightlag``: requests that need no command line are handled without it."""

from __future__ import annotations

import os
import sys

from lightlag.cli import printing

__all__ = ["main"]

THREADS = "POLARS_MAX_THREADS"
"""Environment variable that limits the number of polars threads; polars does not accept 0."""
COMPLETING = "_LIGHTLAG_COMPLETE"
"""Environment variable with the name of a shell that requests completions."""


def main() -> None:
    """The command ``lightlag``."""
    # Commands draw into files, and matplotlib fails to load if this variable holds no name of a backend.
    os.environ["MPLBACKEND"] = "agg"
    # The date of a figure, which ours do not have; matplotlib also fails if it is not a number.
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    try:
        with printing.streams():
            _check_environment()
            _main()
    except SystemExit as end:
        _end_without_threads(end)
        raise


def _end_without_threads(end: SystemExit) -> None:
    """Ends the process immediately if it would wait for a thread whose algorithm does not return."""
    watchdog = sys.modules.get("lightlag.machine.watchdog")
    if watchdog is not None and watchdog.has_left_threads():
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else 0)


def _check_environment() -> None:
    """Fails if an environment variable has a value with which a library panics."""
    value = os.environ.get(THREADS, "1")
    if value.strip("0 ") == "":
        print(f"error: {THREADS}: {value!r} is not a number of threads; write 1 or more, or unset it", file=sys.stderr)
        raise SystemExit(2)


def _main() -> None:
    if sys.argv[1:] == ["--version"]:
        from lightlag import _engine

        print(f"lightlag {_engine.__version__}")
        return
    if shell := os.environ.get(COMPLETING):
        from lightlag.cli.completion import answer

        answer(shell)
        return
    from lightlag.cli.app import main

    main()
