"""Files of JSON text sequences (RFC 7464), which grow while a run is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["SEPARATOR", "Sequence", "Sequences"]

SEPARATOR = "\x1e"
"""Character before each record (RFC 7464 §2.2)."""
_encoded = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_BUFFERED = 1 << 22
"""Number of characters of all files together that wait to be written."""


class Sequences:
    """Several files that share one bounded buffer. No file stays open, so their number is not limited."""

    def __init__(self) -> None:
        self._waiting: dict[Path, list[str]] = {}
        self._size = 0

    def add(self, path: Path, text: str) -> None:
        """Appends text to a file."""
        self._waiting.setdefault(path, []).append(text)
        self._size += len(text)
        if self._size > _BUFFERED:
            self.flush()

    def flush(self) -> None:
        """Writes what waits."""
        for path, texts in self._waiting.items():
            with path.open("a", encoding="utf-8", newline="") as file:
                file.writelines(texts)
        self._waiting.clear()
        self._size = 0


class Sequence:
    """One file: a header, then one record for each event."""

    def __init__(self, files: Sequences, path: Path) -> None:
        self.path = path
        self._files = files

    def record(self, value: Mapping[str, Any]) -> None:
        """Appends a record."""
        self._files.add(self.path, f"{SEPARATOR}{_encoded(value)}\n")

    def event(self, time_ns: int, name: str, data: Mapping[str, Any]) -> None:
        """Appends an event; times of qlog are in milliseconds."""
        self.record({"time": time_ns / 1e6, "name": name, "data": data})
