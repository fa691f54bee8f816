"""Finished runs in a file, one per line, so that an interrupted reproduction or measurement can be continued."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["KeptRuns", "Lines"]


class Lines:
    """A file of JSON objects, one per line, that can be appended to. Incomplete lines are left out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.Lock()
        self._text = path.read_text("utf-8", "replace") if path.exists() else ""
        self._torn = bool(self._text) and not self._text.endswith("\n")

    def __iter__(self) -> Iterator[Any]:
        """Content of the file when it was opened."""
        for line in self._text.splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue

    def add(self, entry: dict[str, Any]) -> None:
        """Appends an object; the first one creates the file.

        Raises
        ------
        OSError
            If the object cannot be written. Earlier lines stay in the file.
        """
        line = json.dumps(entry, separators=(",", ":"), allow_nan=False) + "\n"
        with self._guard:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                # A line that broke off stays alone.
                file.write(f"\n{line}" if self._torn else line)
                self._torn = False


class KeptRuns:
    """The finished runs of an interrupted reproduction and of this one.

    A run is a plain value for JSON under a key that covers all inputs of the run, such as the key of
    :func:`lightlag.outcomes.journal.key_of`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = Lines(path)
        self._found: dict[str, Any] = {}
        for entry in self._lines:
            with suppress(KeyError, TypeError):
                self._found[entry["key"]] = entry["run"]

    def __len__(self) -> int:
        return len(self._found)

    def find(self, key: str) -> Any | None:
        """Returns the run with a key; None if there is none."""
        return self._found.get(key)

    def add(self, key: str, run: Any) -> None:
        """Stores a finished run; the first one creates the file.

        Raises
        ------
        OSError
            If the run cannot be written. Earlier runs stay in the file.
        """
        self._found[key] = run
        self._lines.add({"key": key, "run": run})

    def told(self) -> str:
        """Returns a text with the number of stored runs after an interruption, and the command to continue."""
        if not self._found:
            return "no run had finished, nothing was written"
        return (
            f"{len(self)} runs had finished and are stored in {self.path}; the same command continues with the others"
        )

    def remove(self) -> None:
        """Removes the file, once the reproduction is complete."""
        self.path.unlink(missing_ok=True)
