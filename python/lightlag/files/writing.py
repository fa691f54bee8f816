"""Files and directories that appear under their names complete or not at all.

A directory is written under a name next to its own, ``.NAME.PROCESS-NUMBER.partial``, and takes its name at the end.
During writing, ``.NAME.lock`` exists: a second command is rejected, and partial directories found by the holder of the
lock were left by a process that was killed.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lightlag import _signals
from lightlag.errors import BusyError, FolderError
from lightlag.files.input import read_results
from lightlag.text.quantities import size
from lightlag.text.terminal import printable

if sys.platform != "win32":
    import fcntl

__all__ = [
    "MARK",
    "OVER_TIME",
    "add_entries",
    "check_folder",
    "check_room",
    "is_beside_results",
    "is_locked",
    "naming",
    "new_folder",
    "partial_path",
    "reserved",
    "speak_of_options",
    "written",
]

MARK = "run.json"
"""The file that makes a directory a results directory."""
_FILES = '\n  "files": '
"""Start of the last entry of `run.json`.

Reading the scenario of a large network again would take longer than its run.
"""
OVER_TIME = ("cwnd", "goodput", "sequence", "rtt", "queue")
"""Data over time that a run records; ``lightlag plot`` writes figures of it next to the results."""
SPARE_BYTES = 1_000_000
"""Disk space of the smallest results, including a margin for the file system."""
_DECORATION = len("..0000000-000.partial")
"""Number of characters that the name of a partial directory adds to the name of the directory."""

_remedies = ("force=True", "")
"""Options that replace results and that name another directory, as spelled in the interface in use."""

_numbers = itertools.count()
_guard = threading.Lock()
_locked: dict[Path, tuple[int, int]] = {}
"""Locks of this process: for each directory their number, and the lock file."""


def speak_of_options() -> None:
    """Lets messages name the options of commands instead of arguments of functions."""
    global _remedies
    _remedies = ("--force", " with --out")


def check_folder(
    directory: str | os.PathLike[str],
    force: bool = False,
    *,
    space: float = 0.0,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Fails if results cannot be written to a directory, before a run that may take hours.

    Parameters
    ----------
    force
        Allows existing results to be replaced.
    space
        Maximum size of the results in bytes.
    inputs
        Files and results directories that the same command reads. They are never replaced.

    Raises
    ------
    FileExistsError
        If a file or directory of that name exists and may not be replaced.
    FolderError
        If the name, the permissions or the disk do not allow writing.
    """
    directory = Path(directory)
    shown = printable(directory)
    parent, kind = _nearest(directory)
    if directory.name in ("", "..") or "\0" in str(directory):
        raise FolderError(f"{shown}: is not a valid directory name for results; name a new one")
    _check_names(directory, parent)
    if kind == "folder" and os.path.lexists(directory):
        _check_existing(directory, force, inputs)
    elif kind != "folder":
        raise FileExistsError(f"{printable(parent)}: is not a directory; choose another path for the results")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise FolderError(
            f"{shown}: cannot be written: you have no write permission in {printable(parent)}, or its file system is "
            "read-only; choose another path for the results"
        )
    check_room(parent, space, shown)


def check_room(parent: str | os.PathLike[str], space: float, shown: str | None = None) -> None:
    """Fails if results do not fit on a disk.

    Parameters
    ----------
    parent
        A directory on the disk.
    space
        Maximum size of the results in bytes.
    shown
        Name of the file or directory in the error.

    Raises
    ------
    FolderError
        If there is less free space.
    """
    free = shutil.disk_usage(parent).free
    if free >= max(space, SPARE_BYTES):
        return
    take = f"take {size(SPARE_BYTES)} or more" if free < SPARE_BYTES else f"may take {size(space)}"
    raise FolderError(
        f"{shown or printable(parent)}: not enough disk space: {size(free)} are free, and the results {take}; record "
        "less, run for a shorter time, or choose another path"
    )


def _nearest(directory: Path) -> tuple[Path, str]:
    """Returns the nearest existing parent, and whether it is a directory."""
    for parent in directory.parents:
        try:
            return parent, "folder" if parent.stat() and parent.is_dir() else "file"
        except (OSError, ValueError):
            continue
    return Path(), "folder"


def _check_names(directory: Path, parent: Path) -> None:
    try:
        longest = os.pathconf(parent, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
    except (OSError, ValueError):
        longest = 255
    for part in directory.parts:
        most = longest - (_DECORATION if part == directory.name else 0)
        if len(os.fsencode(part)) > most:
            raise FolderError(
                f"{printable(directory)}: cannot write: a name in it has {len(os.fsencode(part))} bytes, and the limit "
                f"for results here is {most}; choose a shorter one"
            )


def _check_existing(directory: Path, force: bool, inputs: Iterable[str | os.PathLike[str]]) -> None:
    shown = printable(directory)
    if directory.is_symlink() or not directory.is_dir():
        raise FileExistsError(f"{shown}: is not a directory; choose another path for the results")
    if not force:
        # A program has no options.
        force_, out = _remedies
        raise FileExistsError(f"{shown}: exists already; replace it with {force_} or choose another path{out}")
    try:
        is_ours = (directory / MARK).is_file() or not any(directory.iterdir())
    except OSError as error:
        raise FolderError(f"{shown}: cannot be replaced: {error.strerror}; choose another path") from None
    if not is_ours:
        raise FileExistsError(
            f"{shown}: holds other files than results (no {MARK}), which --force does not replace; choose another path"
        )
    real = directory.resolve()
    if real == Path.cwd():
        raise FileExistsError(f"{shown}: is the current directory; choose another path, or change to another directory")
    for given in inputs:
        if (input_ := Path(given).resolve()) == real or _is_lost(input_, real):
            raise FileExistsError(
                f"{shown}: holds {printable(given)}, which this command reads; choose another path for the results"
            )


def _is_lost(file: Path, directory: Path) -> bool:
    """Returns true if a file is removed when the results in a directory are replaced."""
    if not file.is_relative_to(directory):
        return False
    return file.is_dir() or str(file.relative_to(directory)) in written(directory)


@contextmanager
def reserved(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields a directory for the working files of a command that writes `directory`; no other process can write there.

    Files left by a killed process are removed first; results that it had moved aside return to their name.

    Raises
    ------
    BusyError
        If another process is writing there.
    FolderError
        If it cannot be written.
    """
    shown, directory = printable(directory), Path(directory)
    try:
        directory = directory.parent.resolve() / directory.name
        made = _make_parents(directory)
    except OSError as error:
        raise FolderError(f"{shown}: cannot write: {error.strerror}; choose another path") from None
    work = partial_path(directory)
    try:
        with _lock(directory, shown):
            _sweep(directory)
            try:
                yield work
            finally:
                shutil.rmtree(work, ignore_errors=True)
    finally:
        for parent in reversed(made):
            with suppress(OSError):
                parent.rmdir()


@contextmanager
def new_folder(directory: str | os.PathLike[str], *, force: bool) -> Iterator[Path]:
    """Yields a sibling directory to write to, which is renamed to `directory` at the end. Signals are held until then.

    Parameters
    ----------
    force
        Replace existing results. The old directory is moved aside when the new one is complete; files in it that
        lightlag did not write move to the new one.

    Raises
    ------
    FileExistsError
        If a file or directory of that name exists and may not be replaced.
    OSError
        If it cannot be written; no partial files remain.
    """
    directory = Path(directory)
    check_folder(directory, force)
    with _signals.held(), reserved(directory) as partial, naming(directory):
        partial.mkdir()
        yield partial
        _list_files(partial)
        _swap(partial, directory)


def partial_path(path: Path) -> Path:
    """Returns a sibling path of `path` for its contents until they are complete."""
    return path.with_name(f".{path.name}.{os.getpid()}-{next(_numbers)}.partial")


def _make_parents(directory: Path) -> list[Path]:
    """Creates the missing parents, the outermost first."""
    missing = [parent for parent in directory.parents if not parent.exists()][::-1]
    made: list[Path] = []
    for parent in missing:
        parent.mkdir(exist_ok=True)
        made.append(parent)
    return made


@contextmanager
def _lock(directory: Path, shown: str) -> Iterator[None]:
    """Prevents other processes from writing to the directory; this process may lock it several times."""
    with _guard:
        held, handle = _locked.get(directory, (0, -1))
        _locked[directory] = (held + 1, handle if held else _open_lock(directory, shown))
    try:
        yield
    finally:
        with _guard:
            held, handle = _locked.pop(directory)
            if held > 1:
                _locked[directory] = (held - 1, handle)
            elif handle >= 0:
                # Before it is open to others: they find that theirs has gone and make a new one.
                with suppress(OSError):
                    _lock_path(directory).unlink()
                os.close(handle)


def _lock_path(directory: Path) -> Path:
    return directory.with_name(f".{directory.name}.lock")


def is_locked(directory: Path) -> bool:
    """Returns True if a process is writing results to the directory now."""
    if sys.platform == "win32":
        return False
    try:
        handle = os.open(_lock_path(directory), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _open_lock(directory: Path, shown: str) -> int:
    path = _lock_path(directory)
    if sys.platform == "win32":
        return -1
    while True:
        try:
            # A command that wrote nothing may have just removed the parents that it had made.
            directory.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not directory.parent.exists():
                continue
            raise FolderError(f"{shown}: cannot write: {error.strerror}; choose another path") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), os.stat(path)):  # noqa: PTH116
                os.truncate(handle, 0)
                os.write(handle, str(os.getpid()).encode())
                return handle
        except BlockingIOError:
            writer = os.pread(handle, 20, 0).decode("ascii", "replace")
            os.close(handle)
            raise BusyError(
                f"{shown}: another lightlag (process {printable(writer)}) is writing there; wait for it, "
                "or choose another path with --out"
            ) from None
        except FileNotFoundError:
            # The process that held the lock has removed it.
            pass
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS):
                os.close(handle)
                raise
            # A file system without locks.
            return handle
        os.close(handle)


def _sweep(directory: Path) -> None:
    """Removes partial results that killed processes left next to a locked directory."""
    left = re.compile(rf"\.{re.escape(directory.name)}\.\d+(-\d+)?\.(partial|old)")
    own = f".{directory.name}.{os.getpid()}-"
    found = [path for path in directory.parent.iterdir() if left.fullmatch(path.name) and not path.name.startswith(own)]
    for old in (path for path in found if path.suffix == ".old"):
        if directory.exists():
            _retire(old, directory)
        else:
            old.rename(directory)
    for partial in (path for path in found if path.suffix == ".partial"):
        shutil.rmtree(partial, ignore_errors=True)


def _list_files(partial: Path) -> None:
    """Lists in `run.json` the files of the results, so that other files in the directory are never replaced."""
    mark = partial / MARK
    if not mark.exists():
        return
    about = mark.read_text("utf-8")
    if '"files":' in about:
        about = json.dumps({key: value for key, value in json.loads(about).items() if key != "files"}, indent=2)
        mark.write_text(about, "utf-8")
    files = sorted(str(path.relative_to(partial)) for path in partial.rglob("*") if not path.is_dir())
    add_entries(mark, {"files": files})
    with mark.open("rb") as file:
        os.fsync(file.fileno())


_BLOCK = 1 << 16
"""Read size in bytes."""


def add_entries(mark: Path, entries: Mapping[str, Any]) -> None:
    """Appends entries to a `run.json` without parsing the existing ones, which may hold a large network."""
    added = json.dumps(entries, indent=2).removeprefix("{")
    with mark.open("r+b") as file:
        start = max(0, file.seek(0, os.SEEK_END) - _BLOCK)
        file.seek(start)
        about = file.read().rstrip().removesuffix(b"}").rstrip()
        file.seek(start)
        file.write(about + f",{added}\n".encode())
        file.truncate()


def mentions(file: Path, words: bytes) -> bool:
    """Returns true if a file, which may be large, contains these bytes."""
    with file.open("rb") as text:
        before = b""
        while block := text.read(_BLOCK):
            if words in before + block:
                return True
            before = block[-len(words) :]
    return False


def _swap(partial: Path, directory: Path) -> None:
    """Renames a partial directory to its final name. An existing directory of that name is moved aside first and
    removed afterwards.

    Raises
    ------
    OSError
        If a step fails. The message names the location of the earlier results unless their name could be restored.
    """
    old = partial.with_suffix(".old")
    replaces = directory.exists()
    if replaces:
        directory.rename(old)
    try:
        partial.rename(directory)
    except BaseException as error:
        if replaces:
            _put_back(old, directory, error)
        raise
    if not replaces:
        return
    try:
        _retire(old, directory)
    except OSError as error:
        raise OSError(
            f"{directory}: holds the new results; the earlier results cannot be removed ({error.strerror or error}) "
            f"and remain in {printable(old)}"
        ) from error


def _put_back(old: Path, directory: Path, cause: BaseException) -> None:
    try:
        old.rename(directory)
    except OSError as error:
        reason = getattr(cause, "strerror", None) or cause
        raise OSError(
            f"{directory}: cannot write: {reason}; the earlier results could not be renamed back "
            f"({error.strerror or error}) and are in {printable(old)}"
        ) from error


def _retire(old: Path, new: Path) -> None:
    """Removes old results, after the files in them that are not ours have moved to the new results."""
    ours = written(old)
    for path in sorted(old.rglob("*")):
        name = path.relative_to(old)
        if path.is_dir() and not path.is_symlink():
            continue
        target = new / name
        if str(name) not in ours and not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
    shutil.rmtree(old)


def written(directory: Path) -> frozenset[str]:
    """Returns the files of a results directory that lightlag wrote: those it lists, and the figures of ``lightlag
    plot``.
    """
    try:
        about = read_results(directory / MARK)
        start = about.rfind(_FILES)
        listed = json.loads(about)["files"] if start < 0 else json.loads(about[start + len(_FILES) :].rstrip(" \n}"))
        return frozenset({MARK, *_figures(), *(name for name in listed if isinstance(name, str))})
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset({MARK})


def is_beside_results(path: Path) -> bool:
    """Returns true if a file has the path of a plot or the report in a results directory."""
    return path.name in {"report.html", *_figures()} and (path.parent / MARK).is_file()


def _figures() -> frozenset[str]:
    return frozenset(f"{metric}.pdf" for metric in OVER_TIME)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Makes errors of the file system name the path that could not be written."""
    try:
        yield
    except (FileExistsError, FolderError):
        raise
    except OSError as error:
        if error.errno is None and str(error).startswith(str(path)):
            raise
        raise OSError(f"{printable(path)}: cannot write: {error.strerror or error}") from error
    except Exception as error:
        # polars reports a full disk as an error of its own.
        if type(error).__module__.startswith("polars"):
            raise OSError(f"{printable(path)}: cannot write: {error}") from error
        raise
