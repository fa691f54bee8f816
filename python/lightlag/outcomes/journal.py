"""The finished runs of a comparison, one line each.

They are written as they finish, so no run is lost or made twice.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lightlag import _engine
from lightlag.files.input import MAX_RESULTS_BYTES, read_bytes, read_results
from lightlag.files.output import new_file
from lightlag.outcomes.outcome import Outcome

__all__ = ["Journal", "key_of", "lines", "read", "read_all"]


def key_of(*parts: bytes) -> str:
    """Returns the key of the results that this build of the engine computes from these parts."""
    described = hashlib.blake2b(_engine.__build__.encode(), digest_size=16)
    for part in parts:
        described.update(len(part).to_bytes(8, "little"))
        described.update(part)
    return described.hexdigest()


def lines(outcomes: Iterable[tuple[str, Outcome]]) -> Iterator[str]:
    """Yields keys and outcomes as the lines of a journal."""
    for key, outcome in outcomes:
        yield json.dumps({"key": key, "outcome": outcome.to_json()}, separators=(",", ":"), allow_nan=False) + "\n"


def read_all(path: Path) -> list[tuple[str, Outcome]]:
    """Returns the keys and outcomes in a file that must be complete.

    Raises
    ------
    OSError, ValueError, KeyError, TypeError
        If it is not complete.
    """
    entries = map(json.loads, read_results(path).splitlines())
    return [(entry["key"], Outcome.from_json(entry["outcome"])) for entry in entries]


def read(path: Path) -> dict[str, Outcome]:
    """Returns the outcomes of a journal by key. Truncated lines, and lines that are not runs, are left out."""
    found: dict[str, Outcome] = {}
    try:
        content = read_bytes(path, MAX_RESULTS_BYTES, only_files=True)
    except FileNotFoundError:
        return found
    for line in content.split(b"\n"):
        try:
            entry: dict[str, Any] = json.loads(line)
            key, outcome = entry["key"], Outcome.from_json(entry["outcome"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        if isinstance(key, str):
            found[key] = outcome
    return found


class Journal:
    """A file that stores finished runs as they are added."""

    def __init__(self, path: str | os.PathLike[str], *, fresh: bool = False) -> None:
        """With `fresh`, the first run that is added replaces the contents of the file."""
        self.path = Path(path)
        self.finished = {} if fresh else read(self.path)
        """The outcomes of an earlier comparison, by key."""
        self._fresh = fresh
        self._file: FileIO | None = None

    def __enter__(self) -> Self:
        return self

    def add(self, key: str, outcome: Outcome) -> None:
        """Writes a finished run; the first run creates the file.

        Raises
        ------
        OSError
            If it cannot be written. The earlier runs remain in the file.
        """
        try:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                if self._fresh:
                    with new_file(self.path) as partial:
                        partial.touch()
                self._file = self.path.open("ab", buffering=0)
                if self._file.tell() > 0:
                    # A line that broke off stays alone.
                    self._write(b"\n")
            self._write("".join(lines([(key, outcome)])).encode())
        except OSError as error:
            if not read(self.path):
                self.path.unlink(missing_ok=True)
            raise OSError(f"{self.path}: cannot write: {error.strerror or error}") from error
        self.finished[key] = outcome

    def _write(self, data: bytes) -> None:
        assert self._file is not None, "opened before"
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def remove(self) -> None:
        """Removes the file once its runs are stored elsewhere."""
        self.path.unlink(missing_ok=True)
