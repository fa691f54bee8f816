"""Files that commands write.

:func:`new_file` opens each of them; :func:`check_file` rejects one before the work starts.

A regular file is written under a temporary name next to its final path and renamed at the end, so that it is either
complete or unchanged; a symbolic link stays, and its target is replaced. Pipes and character devices are written to.
``-`` is standard output.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lightlag import _signals
from lightlag.errors import FolderError
from lightlag.files.writing import MARK, is_beside_results, naming, partial_path, written
from lightlag.text.terminal import printable, say

__all__ = ["GENERATOR", "MADE_BY", "check_file", "is_stream", "new_file", "say_written", "write_text"]

STDOUT = Path("-")
MADE_BY = "made by lightlag"
"""Text in the metadata of films, which have no field for the program that made them."""
GENERATOR = '<meta name="generator" content="lightlag">'
"""Line of an HTML page that names the program that made it."""
_MARKS = (
    GENERATOR.encode(),
    MADE_BY.encode(),
    b"/Creator (lightlag)",  # PDF
    b"Software\0lightlag",  # PNG
    b"<dc:title>lightlag</dc:title>",  # SVG
    b"%% Creator: lightlag",  # PGF
)
_EDGE = 1 << 16
"""Number of bytes at the start and the end of a file that are searched for the mark of a program."""
READER_S = 2.0
"""Time limit in seconds for a process to open a pipe for reading."""


def check_file(
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    inputs: Iterable[str | os.PathLike[str]] = (),
    header: str | None = None,
) -> None:
    """Fails if a command must not write to a file.

    Parameters
    ----------
    force
        Replace a file that lightlag did not write.
    inputs
        Files and results directories that the same command reads. They are never replaced.
    header
        First line of files of this kind that lightlag writes, where they have no other mark.

    Raises
    ------
    FileExistsError
        If a file exists that must not be replaced.
    FolderError
        If it cannot be written.
    """
    path = Path(path)
    shown = printable(path)
    about = _status(path)
    if about is None:
        _check_parent(_target(path), shown)
    elif is_stream(path):
        if stat.S_ISBLK(about.st_mode) or stat.S_ISSOCK(about.st_mode):
            raise FolderError(f"{shown}: is neither a file nor a pipe; name a file")
    elif stat.S_ISDIR(about.st_mode):
        raise FolderError(f"{shown}: is a directory; name a file in it")
    else:
        is_ours = _is_ours(path, header)
        for given in inputs:
            if _is_input(path, Path(given), is_ours):
                raise FileExistsError(f"{shown}: is read by this command; choose another file")
        if not force and not is_ours:
            raise FileExistsError(
                f"{shown}: exists already, and lightlag did not write it; replace it with --force, or choose another "
                "file"
            )
        _check_parent(_target(path), shown)


def is_stream(path: Path) -> bool:
    """Returns true if a path leads to standard output, a pipe or a device, and not to a file or directory."""
    about = _status(path)
    if about is None:
        return path == STDOUT
    return not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)) or _standard(about) is not None


@contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields a file to write to. At the end its contents are moved to `path`, and replace an existing file.

    Signals are held until the end. :func:`check_file` decides whether a file may be replaced.

    Raises
    ------
    FolderError
        If the path leads to a directory or a block device, or nothing reads the pipe.
    OSError
        If it cannot be written. A regular file is then as before.
    """
    path = Path(path)
    with _signals.held(), naming(path):
        check_file(path, force=True)
        if is_stream(path):
            with tempfile.TemporaryDirectory(prefix="lightlag-") as directory:
                spooled = Path(directory) / (path.name or "output")
                yield spooled
                _send(spooled, path)
            return
        target = _target(path)
        _sweep(target)
        partial = partial_path(target)
        try:
            yield partial
            with suppress(OSError):
                shutil.copymode(target, partial)
            partial.replace(target)
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file of text in UTF-8, as :func:`new_file` does."""
    with new_file(path) as partial:
        partial.write_text(text, "utf-8")


def say_written(path: Path) -> None:
    """Prints the path of a file that was written; on standard error if the file itself went to standard output."""
    about = _status(path)
    is_stdout = path == STDOUT or (about is not None and _standard(about) is not None)
    say(path, file=sys.stderr if is_stdout else sys.stdout)


def _status(path: Path) -> os.stat_result | None:
    """Returns the status of the file that a path leads to; None for a new file and for standard output."""
    if "\0" in str(path):
        raise FolderError(f"{printable(path)}: is not a valid file name; choose one without a zero byte")
    if path == STDOUT:
        return None
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FolderError(f"{printable(path)}: cannot write: {error.strerror}; choose another file") from None


def _standard(about: os.stat_result) -> int | None:
    """Returns the standard stream with this file status, for paths such as /dev/stdout."""
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(about, os.fstat(number)):
                return number
    return None


def _target(path: Path) -> Path:
    """Returns the file that a path leads to through symbolic links, whether or not it exists."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _check_parent(target: Path, shown: str) -> None:
    parent = target.parent
    if not parent.is_dir():
        raise FolderError(f"{shown}: there is no directory {printable(parent)}; create it, or choose another file")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise FolderError(
            f"{shown}: cannot be written: you have no write permission in {printable(parent)}, or its file system is "
            "read-only; choose another path"
        )


def _is_ours(path: Path, header: str | None) -> bool:
    """Returns true if lightlag wrote a file, or if it is empty."""
    if is_beside_results(path):
        return True
    try:
        with path.open("rb") as file:
            edges = [file.read(_EDGE)]
            file.seek(max(0, path.stat().st_size - _EDGE))
            edges.append(file.read(_EDGE))
    except OSError:
        return False
    if header is not None and edges[0].split(b"\n", 1)[0] == header.encode():
        return True
    return not edges[0] or any(mark in edge for mark in _MARKS for edge in edges)


def _is_input(path: Path, given: Path, is_ours: bool) -> bool:
    """Returns true if a file is an input, or belongs to a results directory that is an input."""
    with suppress(OSError, ValueError):
        if path.samefile(given):
            return True
        if (given / MARK).is_file():
            real, directory = path.resolve(), given.resolve()
            return (
                not is_ours
                and real.is_relative_to(directory)
                and str(real.relative_to(directory)) in written(directory)
            )
    return False


def _send(spooled: Path, path: Path) -> None:
    """Copies a file to standard output, a pipe or a device."""
    with spooled.open("rb") as source, _opened(path) as stream:
        shutil.copyfileobj(source, stream)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    about = _status(path)
    number = 1 if about is None else _standard(about)
    if number is not None:
        # Flush the stream first, so that earlier output precedes the new data.
        (sys.stdout if number == 1 else sys.stderr).flush()
        handle = os.dup(number)
    else:
        handle = _open_stream(path)
    with open(handle, "wb") as stream:  # noqa: PTH123
        yield stream


def _open_stream(path: Path) -> int:
    """Opens a pipe or a device without creating a file; a pipe needs a reader."""
    flags = os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
    until = time.monotonic() + READER_S
    while True:
        try:
            handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
            break
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > until or _signals.asked():
                raise FolderError(
                    f"{printable(path)}: is a pipe that no process reads; start its reader first"
                ) from None
        time.sleep(0.01)
    os.set_blocking(handle, True)
    return handle


def _sweep(path: Path) -> None:
    """Removes partial files of processes that have ended."""
    left = re.compile(rf"\.{re.escape(path.name)}\.(\d+)-\d+\.partial")
    with suppress(OSError):
        for sibling in path.parent.iterdir():
            if (found := left.fullmatch(sibling.name)) and sibling.is_file() and not _lives(int(found[1])):
                sibling.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    if sys.platform == "win32":  # there, os.kill with 0 is Ctrl-C
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
