"""Finished runs by key, in a directory or in any file system that fsspec supports.

    store.json               the format
    journals/NAME.jsonl      one line per run of one process, as it finishes; only that process writes there
    parts/NAME.parquet       runs of journals that were closed
    failures/NAME.jsonl      the failures in them
    claims/NAME              batches that workers have started

A run in a journal or in a part is finished for every reader. Writers never share a file, a part gets its name when it
is complete, and a journal is removed only after the part with its runs exists. A process may therefore be killed at any
time, several may write simultaneously, and nothing depends on clocks. Where a file system cannot append to a file
(s3://), a writer collects its runs and writes them as a part, at least every `GATHER_S` seconds.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import secrets
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from lightlag.errors import InputError
from lightlag.files.input import check_regular, parquet_errors, parquet_reason
from lightlag.study import entry as entries
from lightlag.study.entry import Entry
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import polars as pl

if sys.platform != "win32":
    import fcntl

__all__ = ["CLAIMS", "Store", "Writer", "merge", "new_store", "open_store"]

FORMAT = 1
MARK = "store.json"
JOURNALS, PARTS, FAILURES, CLAIMS = "journals", "parts", "failures", "claims"
LINES = 20_000
"""Number of runs in a journal; a larger journal is converted to a part."""
GATHER_S = 10.0
GLANCE_S, GLANCES = 0.01, 0.02
"""Minimum seconds between two checks of other writers' journals, and the maximum fraction of time that checks may take.
"""


class Files(Protocol):
    """The file operations that a store needs."""

    can_append: bool

    def names(self, directory: str) -> list[tuple[str, int]]:
        """Returns the names and sizes of the files in a directory."""

    def read(self, name: str, offset: int = 0) -> bytes:
        """Returns the bytes of a file, starting at an offset."""

    def write(self, name: str, data: bytes) -> None:
        """Creates a file with this content, complete or not at all."""

    def remove(self, name: str) -> None:
        """Removes a file, if it exists."""

    def take(self, name: str) -> bool:
        """Creates an empty file. Returns false if it exists already."""


class Local:
    """Files in a directory of this machine, or of a file system that it shares with others."""

    can_append = True

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def has_others(self) -> bool:
        """Returns true if the directory holds files that are not part of a store.

        Another process may be creating one.
        """
        own = {MARK, JOURNALS, PARTS, FAILURES, CLAIMS}
        there = {path.name for path in self.directory.iterdir()} if self.directory.exists() else set()
        return any(name not in own and not name.startswith(f".{MARK}.") for name in there)

    def names(self, directory: str) -> list[tuple[str, int]]:
        """Returns the names and sizes of the files in a directory."""
        found = []
        with contextlib.suppress(FileNotFoundError), os.scandir(self.directory / directory) as scanned:
            for one in scanned:
                with contextlib.suppress(FileNotFoundError):
                    if not one.name.startswith("."):
                        found.append((one.name, one.stat().st_size))
        return sorted(found)

    def read(self, name: str, offset: int = 0) -> bytes:
        """Returns the bytes of a file, starting at an offset."""
        check_regular(self.directory / name)
        with (self.directory / name).open("rb") as file:
            file.seek(offset)
            return file.read()

    def write(self, name: str, data: bytes) -> None:
        """Creates a file with this content, complete or not at all."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            with partial.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise

    def remove(self, name: str) -> None:
        """Removes a file, if it exists."""
        (self.directory / name).unlink(missing_ok=True)

    def take(self, name: str) -> bool:
        """Creates an empty file. Returns false if it exists already."""
        path = self.directory / name
        for _ in range(2):
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
                return True
            except FileExistsError:
                return False
            except FileNotFoundError:
                path.parent.mkdir(parents=True, exist_ok=True)
        return True


class Remote:
    """Files in a directory of a file system that fsspec supports, given by its URL."""

    can_append = False

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError:
            raise InputError(
                f'{printable(url)}: stores at a URL need fsspec; pip install "lightlag[cluster]"'
            ) from None
        try:
            self.system, self.root = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise InputError(f"{printable(url)}: is not a valid location of a store: {printable(error)}") from None

    def names(self, directory: str) -> list[tuple[str, int]]:
        """Returns the names and sizes of the files in a directory."""
        self.system.invalidate_cache()
        try:
            found = self.system.ls(f"{self.root}/{directory}", detail=True)
        except FileNotFoundError:
            return []
        return sorted((one["name"].rpartition("/")[2], int(one["size"] or 0)) for one in found if one["type"] == "file")

    def read(self, name: str, offset: int = 0) -> bytes:
        """Returns the bytes of a file, starting at an offset."""
        found: bytes = self.system.cat_file(f"{self.root}/{name}", start=offset or None)
        return found

    def write(self, name: str, data: bytes) -> None:
        """Creates a file with this content; it appears under its name when it is complete."""
        self.system.makedirs(f"{self.root}/{name}".rpartition("/")[0], exist_ok=True)
        self.system.pipe_file(f"{self.root}/{name}", data)

    def remove(self, name: str) -> None:
        """Removes a file, if it exists."""
        with contextlib.suppress(FileNotFoundError):
            self.system.rm_file(f"{self.root}/{name}")

    def take(self, name: str) -> bool:
        """Creates an empty file. Returns false if it is known to exist already."""
        try:
            self.system.info(f"{self.root}/{name}")
        except FileNotFoundError:
            self.write(name, b"")
            return True
        return False


def open_store(place: str | os.PathLike[str], *, make: bool = True, look: bool = True) -> Store:
    """Opens the store in a directory or at a URL.

    Parameters
    ----------
    make
        Whether to create a store if there is none.
    look
        Whether to read the contents. A process that only writes does not need them.

    Raises
    ------
    InputError
        If it has another format, if it contains other files, or if it does not exist and `make` is false.
    """
    if not isinstance(place, (str, os.PathLike)):
        raise InputError(f"store: {printable(repr(place)):.40} is not a valid location; name a directory or a URL")
    text = os.fspath(place)
    is_url = "://" in text
    files: Files = Remote(text) if is_url else Local(Path(text))
    return Store(files, text, make=make, look=look)


@contextmanager
def new_store(place: str | os.PathLike[str]) -> Iterator[Store]:
    """Yields a store to write to.

    It is created if missing, and removed again if the block fails before anything is stored.

    Raises
    ------
    InputError
        As :func:`open_store`.
    """
    directory = Path(place)
    is_url = "://" in os.fspath(place)
    made = [] if is_url else [each for each in (directory, *directory.parents) if not each.exists()]
    store = open_store(place)
    try:
        yield store
    except BaseException:
        if made and [path.name for path in directory.iterdir()] == [MARK]:
            store.files.remove(MARK)
            with contextlib.suppress(OSError):
                for each in made:
                    each.rmdir()
        raise


class Store:
    """The finished runs in a store, as far as they were read."""

    def __init__(self, files: Files, place: str, *, make: bool = True, look: bool = True) -> None:
        self.files = files
        self.place = place
        self.keys: set[str] = set()
        """Keys of all finished runs that were read."""
        self.failures: dict[str, str] = {}
        """Reasons of failure for runs that have failed and never succeeded, by key."""
        self._recent: dict[str, dict[str, Entry]] = {}
        self._offsets: dict[str, int] = {}
        self._parts: set[str] = set()
        self._lists: set[str] = set()
        self._failed: dict[str, Entry] = {}
        """Failures that are so far only in journals."""
        self._next_glance = 0.0
        self._values: dict[str, dict[str, float | None]] = {}
        self._check(make)
        if look:
            self.refresh()

    @property
    def address(self) -> str:
        """Absolute address of the store, valid from any working directory."""
        return str(self.files.directory.resolve()) if isinstance(self.files, Local) else self.place

    def _check(self, make: bool) -> None:
        shown = printable(self.place)
        try:
            about = json.loads(self.files.read(MARK))
        except FileNotFoundError:
            if not make:
                raise InputError(f"{shown}: holds no store; name the one of the study with --store") from None
            if isinstance(self.files, Local) and self.files.has_others():
                raise InputError(f"{shown}: holds other files, and no store; choose another path") from None
            self._write(MARK, json.dumps({"lightlag": "store", "format": FORMAT}).encode())
            return
        except NotADirectoryError:
            raise InputError(f"{shown}: is a file; choose another path for the store") from None
        except OSError as error:
            raise OSError(f"{shown}: cannot read: {error.strerror or error}") from None
        except ValueError:
            about = None
        if not isinstance(about, dict) or about.get("lightlag") != "store":
            raise InputError(f"{shown}/{MARK}: does not describe a store; choose another path")
        if about.get("format") != FORMAT:
            other = printable(repr(about.get("format")))
            raise InputError(
                f"{shown}: is a store of format {other:.20}, and this version of lightlag uses format {FORMAT}; choose "
                "another place, or use the version that wrote it"
            )

    def claim(self, name: str) -> bool:
        """Claims a batch, to mark it as started. Returns false if another process has claimed it before.

        A claim is a hint: a process that died may have left it. On a full disk every claim succeeds.
        """
        try:
            return self.files.take(f"{CLAIMS}/{name}")
        except OSError:
            return True

    def release(self, name: str) -> None:
        """Removes a claim."""
        with contextlib.suppress(OSError):
            self.files.remove(f"{CLAIMS}/{name}")

    def glance(self) -> None:
        """Reads what others have added to their journals, unless that would take more than a small fraction of the
        time.
        """
        now = time.monotonic()
        if now >= self._next_glance:
            self._look_at_journals()
            self._next_glance = time.monotonic() + max(GLANCE_S, (time.monotonic() - now) / GLANCES)

    def refresh(self) -> None:
        """Reads everything that was written to the store since the last call."""
        for name, _ in self.files.names(PARTS):
            if name.endswith(".parquet") and name not in self._parts:
                with contextlib.suppress(FileNotFoundError):
                    self.keys.update(self._part(name, ["key"])["key"])
                    self._parts.add(name)
        for name, _ in self.files.names(FAILURES):
            if name not in self._lists:
                self._lists.add(name)
                for text in self.files.read(f"{FAILURES}/{name}").splitlines():
                    if (entry := entries.parsed(text)) is not None and entry.key not in self.keys:
                        self.failures[entry.key] = entry.failure or ""
        self._look_at_journals()

    def _look_at_journals(self) -> None:
        there = dict(self.files.names(JOURNALS))
        for gone in self._recent.keys() - there.keys():
            del self._recent[gone]
        for name, size in there.items():
            offset = self._offsets.get(name, 0)
            if size > offset:
                with contextlib.suppress(FileNotFoundError):
                    self._follow(name, offset)

    def _follow(self, name: str, offset: int) -> None:
        data = self.files.read(f"{JOURNALS}/{name}", offset)
        whole = data.rfind(b"\n") + 1
        self._offsets[name] = offset + whole
        recent = self._recent.setdefault(name, {})
        for text in data[:whole].splitlines():
            entry = entries.parsed(text)
            if entry is None:
                continue
            if entry.found is None:
                self._fail(entry)
                continue
            recent[entry.key] = entry
            self.keys.add(entry.key)
            self.failures.pop(entry.key, None)
            self._failed.pop(entry.key, None)

    def _fail(self, entry: Entry) -> None:
        if entry.key not in self.keys:
            self.failures[entry.key] = entry.failure or ""
            self._failed[entry.key] = entry

    def _part(self, name: str, columns: list[str] | None = None) -> pl.DataFrame:
        import polars as pl

        try:
            return pl.read_parquet(self._source(name), columns=columns)
        except parquet_errors() as error:
            if isinstance(error, FileNotFoundError):
                raise
            part = f"{printable(self.place)}/{PARTS}/{printable(name)}"
            raise InputError(
                f"{part}: is not a complete part of a store: {parquet_reason(error)}; "
                "remove it, and the same command makes its runs again"
            ) from None

    def _source(self, name: str) -> Path | io.BytesIO:
        if isinstance(self.files, Local):
            return self.files.directory / PARTS / name
        return io.BytesIO(self.files.read(f"{PARTS}/{name}"))

    def __contains__(self, key: str) -> bool:
        return key in self.keys

    def __len__(self) -> int:
        return len(self.keys)

    def table(self, columns: list[str] | None = None) -> pl.DataFrame:
        """Returns all finished runs as a table, each once: with all columns, or with the given ones."""
        import polars as pl

        parts = [self._part(name, columns) for name in sorted(self._parts)]
        recent = entries.frame(one for journal in self._recent.values() for one in journal.values())
        parts.append(recent if columns is None else recent.select(columns))
        return pl.concat(parts).unique("key", keep="any", maintain_order=False)

    def value(self, key: str, measure: str) -> float | None:
        """Returns a metric of a finished run."""
        for journal in self._recent.values():
            if key in journal:
                return journal[key].value(measure)
        if key not in self._values.get(measure, {}):
            self._values[measure] = dict(self.table(["key", measure]).iter_rows())
        return self._values[measure][key]

    def writer(self) -> Writer:
        """Returns a writer for this process."""
        return Writer(self)

    def compact(self) -> None:
        """Converts journals whose writers have ended to parts. Journals that are still being written are left alone."""
        if not isinstance(self.files, Local) or sys.platform == "win32":
            return
        for name, _ in self.files.names(JOURNALS):
            path = self.files.directory / JOURNALS / name
            try:
                handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.close_journal(name)
            except OSError as error:
                # Another process writes there; or the file system has no locks, so writers cannot be detected.
                if error.errno not in (errno.EWOULDBLOCK, errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS):
                    raise self.named(error) from None
            finally:
                os.close(handle)

    def close_journal(self, name: str) -> None:
        """Replaces a journal by a part with the same runs."""
        with contextlib.suppress(FileNotFoundError):
            self._follow(name, self._offsets.get(name, 0))
        self.add_part(self._recent.get(name, {}).values())
        if self._failed:
            self._write(f"{FAILURES}/{_unique()}.jsonl", "".join(map(entries.line, self._failed.values())).encode())
            self._failed.clear()
        self.files.remove(f"{JOURNALS}/{name}")
        self._recent.pop(name, None)
        self._offsets.pop(name, None)

    def add_part(self, found: Iterable[Entry]) -> None:
        """Writes runs as a part, ordered by key."""
        table = entries.frame(found)
        if not table.is_empty():
            self.add_table(table)

    def add_table(self, table: pl.DataFrame) -> None:
        """Writes rows as a part."""
        buffer = io.BytesIO()
        table.sort("key").write_parquet(buffer, compression="zstd")
        name = f"{_unique()}.parquet"
        self._write(f"{PARTS}/{name}", buffer.getvalue())
        self._parts.add(name)
        self.keys.update(table["key"])

    def _write(self, name: str, data: bytes) -> None:
        try:
            self.files.write(name, data)
        except OSError as error:
            raise self.named(error) from None

    def named(self, error: OSError) -> OSError:
        """Returns a file system error that names the location of the store."""
        named = OSError(f"{printable(self.place)}: cannot write: {error.strerror or error}")
        named.errno = error.errno
        return named


class Writer:
    """Writes the finished runs of this process: to a journal or, if files cannot be appended to, in parts."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.added = 0
        self._name = ""
        self._handle = -1
        self._gathered: list[Entry] = []
        self._since = time.monotonic()
        self._lines = 0
        self._torn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, entry: Entry) -> None:
        """Stores a run.

        Raises
        ------
        OSError
            If it cannot be written. Earlier runs remain stored.
        """
        if self.store.files.can_append:
            self._append(entries.line(entry).encode())
            if self._lines >= LINES:
                self.close()
        else:
            self._gathered.append(entry)
            if len(self._gathered) >= LINES or time.monotonic() - self._since >= GATHER_S:
                self.flush()
        self.added += 1

    def flush(self) -> None:
        """Writes the runs that were collected."""
        gathered, self._gathered, self._since = self._gathered, [], time.monotonic()
        self.store.add_part(gathered)

    def close(self) -> None:
        """Converts the journal to a part."""
        self.flush()
        if self._handle < 0:
            return
        handle, self._handle = self._handle, -1
        try:
            self.store.close_journal(self._name)
        except OSError:
            # A full disk: the journal stays as it is, and is as good.
            pass
        finally:
            os.close(handle)

    def _append(self, data: bytes) -> None:
        try:
            if self._handle < 0:
                self._open()
            # A line that broke off stays alone.
            left = memoryview(b"\n" + data if self._torn else data)
            self._torn = True
            while left:
                left = left[os.write(self._handle, left) :]
            self._torn = False
            self._lines += 1
        except OSError as error:
            raise self.store.named(error) from None

    def _open(self) -> None:
        assert isinstance(self.store.files, Local), "only there journals are written"
        directory = self.store.files.directory / JOURNALS
        directory.mkdir(parents=True, exist_ok=True)
        self._name, self._lines = f"{_unique()}.jsonl", 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self._handle = os.open(directory / self._name, flags, 0o666)
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unique() -> str:
    """Returns a name that no other process uses."""
    host = "".join(one if one.isalnum() else "-" for one in socket.gethostname())[:40]
    return f"{host}-{os.getpid()}-{secrets.token_hex(4)}"


def merge(into: Store, others: Iterable[Store]) -> Iterator[tuple[str, int]]:
    """Copies the runs of other stores; yields the location of each store and the number of its runs that were new.

    Raises
    ------
    InputError
        If two stores hold different results under one key.
    """
    for other in others:
        table = other.table()
        known = into.table(["key", "result_hash"]).rename({"result_hash": "known"})
        both = table.join(known, on="key", how="left")
        apart = both.filter(both["known"].is_not_null() & (both["known"] != both["result_hash"]))
        if len(apart):
            key = apart["key"][0]
            raise InputError(
                f"{printable(other.place)} and {printable(into.place)} hold different results of run {key}: one of the "
                "two is damaged, or was not made by lightlag; none of it was merged"
            )
        new = both.filter(both["known"].is_null()).drop("known")
        if len(new):
            into.add_table(new)
        yield other.place, len(new)
