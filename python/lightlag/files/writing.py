"""Files and folders that appear under their names complete or not at all.

A folder is written under a name beside its own, ``.NAME.PROCESS-NUMBER.partial``, and takes its name at the end. While
somebody writes there is ``.NAME.lock``: a second command is refused, and whoever has the lock knows that partial
folders of that name were left by a process that was killed.
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
"""The file that makes a folder a results folder."""
_FILES = '\n  "files": '
"""The start of its last entry. Reading the scenario of a large network again would take longer than its run."""
OVER_TIME = ("cwnd", "goodput", "sequence", "rtt", "queue")
"""The figures over time that a run has; ``lightlag plot`` writes them beside its results."""
SPARE_BYTES = 1_000_000
"""Disk space of the smallest results, with room for the file system."""
_DECORATION = len("..0000000-000.partial")
"""Characters that the name of a partial folder has beyond that of the folder."""

_remedies = ("force=True", "")
"""What replaces results, and what names another folder, in the words of whoever asked for them."""

_numbers = itertools.count()
_guard = threading.Lock()
_locked: dict[Path, tuple[int, int]] = {}
"""Locks of this process: their number for each folder, and the file."""


def speak_of_options() -> None:
    """Lets messages name the options of commands instead of arguments of functions."""
    global _remedies
    _remedies = ("--force", " with --out")


def check_folder(
    folder: str | os.PathLike[str],
    force: bool = False,
    *,
    space: float = 0.0,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """Fails if results cannot be written to a folder, before hours are spent on a run.

    Parameters
    ----------
    force
        A folder of results that exists may be replaced.
    space
        Bytes that the results may take.
    inputs
        Files and results folders that the same command reads. They are never replaced.

    Raises
    ------
    FileExistsError
        If something stands there that is not to be replaced.
    FolderError
        If its name, permissions or the disk do not allow it.
    """
    folder = Path(folder)
    shown = printable(folder)
    parent, kind = _nearest(folder)
    if folder.name in ("", "..") or "\0" in str(folder):
        raise FolderError(f"{shown}: is not the name of a folder for results; name one that is not there yet")
    _check_names(folder, parent)
    if kind == "folder" and os.path.lexists(folder):
        _check_existing(folder, force, inputs)
    elif kind != "folder":
        raise FileExistsError(f"{printable(parent)}: is not a folder; choose another place for the results")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise FolderError(
            f"{shown}: cannot be written: {printable(parent)} is closed to you, or its disk takes no files; choose "
            "another place for the results"
        )
    check_room(parent, space, shown)


def check_room(parent: str | os.PathLike[str], space: float, shown: str | None = None) -> None:
    """Fails if results do not fit on a disk.

    Parameters
    ----------
    parent
        A folder on it.
    space
        Bytes that they may take.
    shown
        What is to be written, as the error names it.

    Raises
    ------
    FolderError
        If there is less.
    """
    free = shutil.disk_usage(parent).free
    if free >= max(space, SPARE_BYTES):
        return
    take = f"take {size(SPARE_BYTES)} or more" if free < SPARE_BYTES else f"may take {size(space)}"
    raise FolderError(
        f"{shown or printable(parent)}: has no room: the disk has {size(free)} left, and the results {take}; record "
        "less, run for a shorter time, or choose another place"
    )


def _nearest(folder: Path) -> tuple[Path, str]:
    """The nearest existing parent, and whether it is a folder."""
    for parent in folder.parents:
        try:
            return parent, "folder" if parent.stat() and parent.is_dir() else "file"
        except (OSError, ValueError):
            continue
    return Path(), "folder"


def _check_names(folder: Path, parent: Path) -> None:
    try:
        longest = os.pathconf(parent, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
    except (OSError, ValueError):
        longest = 255
    for part in folder.parts:
        most = longest - (_DECORATION if part == folder.name else 0)
        if len(os.fsencode(part)) > most:
            raise FolderError(
                f"{printable(folder)}: cannot write: a name in it has {len(os.fsencode(part))} bytes, and results here "
                f"have room for {most}; choose a shorter one"
            )


def _check_existing(folder: Path, force: bool, inputs: Iterable[str | os.PathLike[str]]) -> None:
    shown = printable(folder)
    if folder.is_symlink() or not folder.is_dir():
        raise FileExistsError(f"{shown}: is not a folder; choose another place for the results")
    if not force:
        # A program has no options.
        force_, out = _remedies
        raise FileExistsError(f"{shown}: exists already; replace it with {force_} or choose another place{out}")
    try:
        is_ours = (folder / MARK).is_file() or not any(folder.iterdir())
    except OSError as error:
        raise FolderError(f"{shown}: cannot be replaced: {error.strerror}; choose another place") from None
    if not is_ours:
        raise FileExistsError(
            f"{shown}: holds something else than results (no {MARK}), which --force does not replace; choose another "
            "place"
        )
    real = folder.resolve()
    if real == Path.cwd():
        raise FileExistsError(
            f"{shown}: is the folder that you are in; choose another place, or change to another folder"
        )
    for given in inputs:
        if (input_ := Path(given).resolve()) == real or _is_lost(input_, real):
            raise FileExistsError(
                f"{shown}: holds {printable(given)}, which this command reads; choose another place for the results"
            )


def _is_lost(file: Path, folder: Path) -> bool:
    """Returns true if a file goes when the results in a folder are replaced."""
    if not file.is_relative_to(folder):
        return False
    return file.is_dir() or str(file.relative_to(folder)) in written(folder)


@contextmanager
def reserved(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder for the files of a command that works for `folder`; no other process writes there meanwhile.

    What a killed process left there is removed first; results that it had moved aside return to their name.

    Raises
    ------
    BusyError
        If another process is writing there.
    FolderError
        If it cannot be written.
    """
    shown, folder = printable(folder), Path(folder)
    try:
        folder = folder.parent.resolve() / folder.name
        made = _make_parents(folder)
    except OSError as error:
        raise FolderError(f"{shown}: cannot write: {error.strerror}; choose another place") from None
    work = partial_path(folder)
    try:
        with _lock(folder, shown):
            _sweep(folder)
            try:
                yield work
            finally:
                shutil.rmtree(work, ignore_errors=True)
    finally:
        for parent in reversed(made):
            with suppress(OSError):
                parent.rmdir()


@contextmanager
def new_folder(folder: str | os.PathLike[str], *, force: bool) -> Iterator[Path]:
    """A sibling folder to write to, which takes the name `folder` at the end. Signals wait until then.

    Parameters
    ----------
    force
        Replace a folder of results that exists. It steps aside when the new one is complete; files in it that lightlag
        did not write move to the new one.

    Raises
    ------
    FileExistsError
        If something stands there that is not to be replaced.
    OSError
        If it cannot be written; nothing is left behind.
    """
    folder = Path(folder)
    check_folder(folder, force)
    with _signals.held(), reserved(folder) as partial, naming(folder):
        partial.mkdir()
        yield partial
        _list_files(partial)
        _swap(partial, folder)


def partial_path(path: Path) -> Path:
    """A name beside `path` for its contents until they are complete."""
    return path.with_name(f".{path.name}.{os.getpid()}-{next(_numbers)}.partial")


def _make_parents(folder: Path) -> list[Path]:
    """Makes the missing parents, from the first to the last."""
    missing = [parent for parent in folder.parents if not parent.exists()][::-1]
    made: list[Path] = []
    for parent in missing:
        parent.mkdir(exist_ok=True)
        made.append(parent)
    return made


@contextmanager
def _lock(folder: Path, shown: str) -> Iterator[None]:
    """Keeps other processes from writing to the folder; this one may lock it several times."""
    with _guard:
        held, handle = _locked.get(folder, (0, -1))
        _locked[folder] = (held + 1, handle if held else _open_lock(folder, shown))
    try:
        yield
    finally:
        with _guard:
            held, handle = _locked.pop(folder)
            if held > 1:
                _locked[folder] = (held - 1, handle)
            elif handle >= 0:
                # Before it is open to others: they find that theirs has gone and make a new one.
                with suppress(OSError):
                    _lock_path(folder).unlink()
                os.close(handle)


def _lock_path(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.lock")


def is_locked(folder: Path) -> bool:
    """Returns True if a process is writing results to the folder now."""
    if sys.platform == "win32":
        return False
    try:
        handle = os.open(_lock_path(folder), os.O_RDWR | os.O_CLOEXEC)
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


def _open_lock(folder: Path, shown: str) -> int:
    path = _lock_path(folder)
    if sys.platform == "win32":
        return -1
    while True:
        try:
            # A command that wrote nothing may have just removed the parents that it had made.
            folder.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not folder.parent.exists():
                continue
            raise FolderError(f"{shown}: cannot write: {error.strerror}; choose another place") from None
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
                "or choose another place with --out"
            ) from None
        except FileNotFoundError:
            # Whoever had it has removed it.
            pass
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS):
                os.close(handle)
                raise
            # A file system without locks.
            return handle
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Removes partial results of killed processes beside a locked folder."""
    left = re.compile(rf"\.{re.escape(folder.name)}\.\d+(-\d+)?\.(partial|old)")
    own = f".{folder.name}.{os.getpid()}-"
    found = [path for path in folder.parent.iterdir() if left.fullmatch(path.name) and not path.name.startswith(own)]
    for old in (path for path in found if path.suffix == ".old"):
        if folder.exists():
            _retire(old, folder)
        else:
            old.rename(folder)
    for partial in (path for path in found if path.suffix == ".partial"):
        shutil.rmtree(partial, ignore_errors=True)


def _list_files(partial: Path) -> None:
    """Lists in `run.json` the files of the results, so that other files beside them are never replaced."""
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
"""Bytes of a file that are read at once."""


def add_entries(mark: Path, entries: Mapping[str, Any]) -> None:
    """Adds entries at the end of a `run.json`, without reading those before, which may hold a large network."""
    added = json.dumps(entries, indent=2).removeprefix("{")
    with mark.open("r+b") as file:
        start = max(0, file.seek(0, os.SEEK_END) - _BLOCK)
        file.seek(start)
        about = file.read().rstrip().removesuffix(b"}").rstrip()
        file.seek(start)
        file.write(about + f",{added}\n".encode())
        file.truncate()


def mentions(file: Path, words: bytes) -> bool:
    """Whether a file, which may be large, contains these bytes."""
    with file.open("rb") as text:
        before = b""
        while block := text.read(_BLOCK):
            if words in before + block:
                return True
            before = block[-len(words) :]
    return False


def _swap(partial: Path, folder: Path) -> None:
    """Gives a folder its name. A folder that had it moves aside first and is removed afterwards.

    Raises
    ------
    OSError
        If a step fails. The message names the place of the earlier results unless they are back under their name.
    """
    old = partial.with_suffix(".old")
    replaces = folder.exists()
    if replaces:
        folder.rename(old)
    try:
        partial.rename(folder)
    except BaseException as error:
        if replaces:
            _put_back(old, folder, error)
        raise
    if not replaces:
        return
    try:
        _retire(old, folder)
    except OSError as error:
        raise OSError(
            f"{folder}: holds the new results; the earlier ones could not be removed ({error.strerror or error}), and "
            f"what is left of them is in {printable(old)}"
        ) from error


def _put_back(old: Path, folder: Path, cause: BaseException) -> None:
    try:
        old.rename(folder)
    except OSError as error:
        reason = getattr(cause, "strerror", None) or cause
        raise OSError(
            f"{folder}: cannot write: {reason}; the earlier results could not get their name back "
            f"({error.strerror or error}) and are in {printable(old)}"
        ) from error


def _retire(old: Path, new: Path) -> None:
    """Removes results, after the files in them that are not ours have moved to the new ones."""
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


def written(folder: Path) -> frozenset[str]:
    """The files of a results folder that lightlag wrote: those it lists, and the figures of ``lightlag plot``."""
    try:
        about = read_results(folder / MARK)
        start = about.rfind(_FILES)
        listed = json.loads(about)["files"] if start < 0 else json.loads(about[start + len(_FILES) :].rstrip(" \n}"))
        return frozenset({MARK, *_figures(), *(name for name in listed if isinstance(name, str))})
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset({MARK})


def is_beside_results(path: Path) -> bool:
    """Returns true if a file has the place of a figure or the report in a results folder."""
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
