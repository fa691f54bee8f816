"""Opens the page in a browser without showing the token to other users of the machine.

On Linux every user may read the arguments of every process, and a browser gets the address as an argument. The browser
is therefore given a file that only this user can read, and that redirects to the address. Other systems hide arguments
or pass the address in another way; a browser outside of WSL could not read the file.
"""

from __future__ import annotations

import html
import os
import platform
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

__all__ = ["opener"]

PAGE = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={}">
<title>lightlag studio</title>
"""


@contextmanager
def opener(address: str, directory: Path) -> Iterator[None]:
    """Opens a browser at an address; the file that redirects there is removed at the end.

    Parameters
    ----------
    directory
        The directory of the file. Sandboxed browsers can read files in the user's directories, but not temporary files.
    """
    shown: str | None = address
    file = None
    if _shows_arguments():
        file = _private(address, directory)
        shown = None if file is None else file.as_uri()
    if shown is not None:
        threading.Thread(target=webbrowser.open, args=[shown], daemon=True).start()
    try:
        yield
    finally:
        if file is not None:
            with suppress(OSError):
                file.unlink()


def _shows_arguments() -> bool:
    return sys.platform not in ("darwin", "win32") and "microsoft" not in platform.release().lower()


def _private(address: str, directory: Path) -> Path | None:
    """Returns a file that only this user can read and that redirects to the address; None if it cannot be created."""
    for place in (*(one for one in (directory, *directory.parents) if one.is_dir()), Path(tempfile.gettempdir())):
        path = place / f".lightlag-studio-{token_hex(8)}.html"
        with suppress(OSError):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(PAGE.format(html.escape(address)))
            return path
    return None
