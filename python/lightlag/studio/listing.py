"""The results, studies and scenarios below the given directories."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lightlag.files.input import read_bytes, read_results
from lightlag.studio.places import Places

__all__ = ["Listing"]

DEEPEST = 6
"""Maximum depth of directories below a given one."""
MOST_FOLDERS = 5000
MOST_ENTRIES = 2000
LARGEST_HEAD = 32 << 20
"""Maximum size of a ``run.json`` that is read, in bytes; results with a larger one are listed by name."""
LARGEST_TOML = 1 << 20
SCENARIO = {"links", "topology", "flows"}
"""Keys of scenarios; every scenario has one of them."""


class Listing:
    """Scans directories, and caches the contents of files until they change."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._read: dict[tuple[str, int, int], dict[str, Any] | None] = {}

    def entries(self) -> dict[str, Any]:
        """Returns the entries, the latest first, each with ``place``, ``kind``, ``name``, ``date`` and the values of
        its kind.

        ``kind`` is "run", "comparison", "study", "reproduction" (results), "study file" or "scenario". ``more`` is true
        if the list is incomplete.
        """
        found: dict[Path, dict[str, Any]] = {}
        is_cut = False
        # The innermost directory names its entries.
        for root in sorted(self._places.roots, key=lambda one: -len(one.parts)):
            for path in self._walk(root):
                is_cut = len(found) >= MOST_ENTRIES
                if is_cut:
                    break
                if path not in found and (entry := self._entry(path)) is not None:
                    found[path] = entry
        entries = sorted(found.values(), key=lambda entry: (entry["date"], entry["place"]), reverse=True)
        return {"entries": entries, "more": is_cut}

    def _walk(self, root: Path) -> Iterator[Path]:
        """Yields each ``run.json`` and each TOML file. Links are not followed, results are not entered."""
        waiting, seen = [(root, 0)], 0
        while waiting and seen < MOST_FOLDERS:
            folder, depth = waiting.pop()
            seen += 1
            try:
                inside = sorted(os.scandir(folder), key=lambda one: one.name)
            except OSError:
                continue
            if any(one.name == "run.json" and one.is_file(follow_symlinks=False) for one in inside):
                yield folder / "run.json"
                continue
            for one in inside:
                if one.name.startswith("."):
                    continue
                if one.is_dir(follow_symlinks=False) and depth < DEEPEST:
                    waiting.append((folder / one.name, depth + 1))
                elif one.name.endswith(".toml") and one.is_file(follow_symlinks=False):
                    yield folder / one.name

    def _entry(self, path: Path) -> dict[str, Any] | None:
        try:
            about = path.stat()
        except OSError:
            return None
        key = (str(path), about.st_mtime_ns, about.st_size)
        if key not in self._read:
            self._read[key] = _results(path, about.st_size) if path.name == "run.json" else _file(path, about.st_size)
        known = self._read[key]
        place = self._places.name(path.parent if path.name == "run.json" else path)
        if known is None or place is None:
            return None
        date = datetime.fromtimestamp(about.st_mtime, UTC).isoformat(timespec="seconds")
        return {"place": place, "date": date} | known


def _results(path: Path, size: int) -> dict[str, Any] | None:
    """Returns the properties of results for the list, depending on the kind in their ``run.json``."""
    name = path.parent.name
    if size > LARGEST_HEAD:
        return {"kind": "run", "name": name, "scenario": None, "hash": None}
    try:
        head = json.loads(read_results(path))
        if "result_hash" in head:
            facts = {"scenario": str(head["scenario"]["name"]), "hash": str(head["result_hash"])}
            return {"kind": "run", "name": name, "seed": head["seed"], "interrupted": head["interrupted"]} | facts
        if "comparison" in head:
            scenario = str(head["design"]["scenario"]["name"])
            counts = {"finished": head["finished"], "complete": head["complete"], "algorithms": head["comparison"]}
            return {"kind": "comparison", "name": name, "scenario": scenario, "hash": None} | counts
        for kind in ("study", "reproduction"):
            if kind in head:
                return {"kind": kind, "name": name, "scenario": str(head[kind]), "hash": None}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def _file(path: Path, size: int) -> dict[str, Any] | None:
    if size > LARGEST_TOML:
        return None
    try:
        table = tomllib.loads(read_bytes(path, only_files=True).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    kind = "study file" if "scenarios" in table else "scenario" if SCENARIO & table.keys() else None
    if kind is None:
        return None
    name = table.get("name")
    return {"kind": kind, "name": path.name, "scenario": name if isinstance(name, str) else path.stem, "hash": None}
