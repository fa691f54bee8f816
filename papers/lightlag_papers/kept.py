"""Finished runs of a paper in a file, a line each, so that an interrupted reproduction continues after the last one."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

__all__ = ["KeptRuns"]


class KeptRuns:
    """The finished runs of an earlier, interrupted reproduction, to which those of this one are added.

    A run is a plain value for JSON under a key that stands for all that the run depends on, such as that of
    :func:`lightlag.outcomes.journal.key_of`. Truncated lines are left out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.Lock()
        self._found: dict[str, Any] = {}
        text = path.read_text("utf-8", "replace") if path.exists() else ""
        self._torn = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            try:
                entry = json.loads(line)
                self._found[entry["key"]] = entry["run"]
            except (ValueError, KeyError, TypeError):
                continue

    def __len__(self) -> int:
        return len(self._found)

    def find(self, key: str) -> Any | None:
        """The run with a key; None if there is none."""
        return self._found.get(key)

    def add(self, key: str, run: Any) -> None:
        """Write a finished run; the first one makes the file.

        Raises
        ------
        OSError
            If it cannot be written. The file keeps the runs before it.
        """
        line = json.dumps({"key": key, "run": run}, separators=(",", ":"), allow_nan=False) + "\n"
        with self._guard:
            self._found[key] = run
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                # A line that broke off stays alone.
                file.write(f"\n{line}" if self._torn else line)
                self._torn = False

    def told(self) -> str:
        """The runs that an interruption leaves, and the way to continue."""
        if not self._found:
            return "no run had finished, nothing was written"
        return f"{len(self)} runs had finished and are kept in {self.path}; the same command continues with the others"

    def remove(self) -> None:
        """Remove the file, once the reproduction is complete."""
        self.path.unlink(missing_ok=True)
