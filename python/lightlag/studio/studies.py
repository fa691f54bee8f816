"""Progress of a study, from its file and its store. No code that a study names is opened."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag.errors import InputError
from lightlag.files.input import read_results, read_text
from lightlag.studio.places import Places
from lightlag.studio.scenarios import Sent, check_competitors, check_texts, parsed, without_code
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag.study import Study
    from lightlag.study.schedule import Schedule
    from lightlag.study.store import Store

__all__ = ["looked_through", "place_of_store", "read", "status", "store_of", "told"]

MOST_CELLS = 1000
"""Maximum number of cells in a status."""


def read(path: Path, places: Places) -> Study:
    """Returns the study in a file, which must not name code, and may name files in the given directories only.

    Raises
    ------
    InputError, ScenarioError
        If it is not a study, or names code or a file outside of the given directories.
    """
    from lightlag.study import Study

    return Study.of(looked_through(path, places), path.parent, path.stem)


def looked_through(path: Path, places: Places) -> dict[str, Any]:
    """Returns the table of a study file, whose scenarios are plain values without code.

    Raises
    ------
    InputError, ScenarioError
        If it is not a study, or names code or a file outside of the given directories.
    """
    try:
        table = tomllib.loads(read_text(path, "utf-8-sig"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"{printable(path.name)}: is not a study: {printable(error)}") from None
    without_code(table, "study")
    check_texts({key: value for key, value in table.items() if key not in ("scenarios", "congestion")}, "study")
    check_competitors(table.get("congestion"))
    given = table.get("scenarios")
    scenarios = [_scenario(one, path.parent, places) for one in given] if isinstance(given, list) else given
    return {**table, "scenarios": scenarios} if scenarios is not None else table


def status(study: Study, store: Store) -> dict[str, Any]:
    """Returns the finished, failed and open runs, with the keys of ``lightlag study status --json``."""
    from lightlag.study.schedule import Schedule

    schedule = Schedule(study, store, dry=True)
    return told(study, schedule, {key: why for key, why in store.failures.items() if key in schedule.left})


def told(study: Study, schedule: Schedule, failures: Mapping[str, str]) -> dict[str, Any]:
    """Returns the progress of a schedule, with its failures by the key of the run."""
    cells = [
        {"congestion": state.cell.congestion, "point": list(state.cell.point), "finished": state.finished}
        | {"seeds": state.limit, "reached": None if state.verdict is None else state.verdict.is_reached}
        for state in schedule.states[:MOST_CELLS]
    ]
    counts = {"finished": schedule.finished, "total": schedule.total, "failures": dict(failures)}
    return {"study": study.name, "cells": cells, "more": max(0, len(schedule.states) - MOST_CELLS)} | counts


def store_of(path: Path, places: Places, name: object = None) -> Store:
    """Returns the store of a study, which must exist; see :func:`place_of_store`.

    Raises
    ------
    InputError
        If there is no store.
    """
    from lightlag.study.store import open_store

    place = place_of_store(path, places, name)
    if place is None:
        raise InputError(
            f"{printable(path.name)}: has no store yet; run it here, or with: lightlag study run {printable(path.name)}"
        )
    return open_store(place, make=False)


def place_of_store(path: Path, places: Places, name: object = None) -> Path | None:
    """Returns the directory of a store: the named one, or the one among the results, next to the study or its
    directory.

    Raises
    ------
    InputError
        If the named one does not exist, or is outside of the given directories.
    """
    if name is not None:
        return places.find(name)
    for folder in (places.results, path.parent, path.parent.parent):
        store = folder / "store"
        if store.is_dir() and places.name(store.resolve()) is not None:
            return store.resolve()
    return None


def _scenario(given: object, folder: Path, places: Places) -> object:
    """Returns a scenario of a study, as plain values unless it is a preset."""
    from lightlag import presets

    if isinstance(given, Mapping):
        tree, base = dict(given), folder
    elif not isinstance(given, str) or (given in presets.PRESETS and not (folder / given).is_file()):
        return given
    else:
        path = places.inside(folder / given, printable(given))
        if path.is_dir():
            head = parsed(read_results(places.inside(path / "run.json", printable(given))), "json")
            tree, base = head.get("scenario") or {}, path
        else:
            tree, base = parsed(read_text(path), "json" if path.suffix == ".json" else "toml"), path.parent
    without_code(tree, printable(given))
    # Values as the engine reads them from JSON.
    plain: dict[str, Any] = json.loads(json.dumps(Sent(places, {}, base).place(tree), default=str))
    return plain
