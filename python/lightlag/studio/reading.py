"""Results in the form in which the page shows them: their summary, their tables, their report."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag.errors import InputError
from lightlag.files.input import read_results
from lightlag.studio.columns import packed
from lightlag.studio.places import Places
from lightlag.studio.studies import read, store_of
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import polars as pl

    from lightlag.comparison.comparison import Comparison

__all__ = ["MOST_ROWS", "folder_of", "report", "summary", "table"]

MOST_ROWS = 1_000_000
"""Maximum number of rows of a reply."""
OF_COMPARISONS = ("runs", "flows", "summary")
"""The tables of a comparison and of a study."""


def summary(places: Places, name: object) -> dict[str, Any]:
    """Returns the contents of ``run.json``; for a run also its flows and links, as in ``lightlag run --json``.

    Raises
    ------
    InputError
        If the place holds no results.
    """
    from lightlag.results.result import load

    folder = folder_of(places, name)
    if (folder / "runs").is_dir() or (folder / "curves.jsonl").exists():
        return _head(folder)
    return load(folder).summary if "result_hash" in (head := _head(folder)) else head


def table(places: Places, name: object, of: str, first: int, rows: int, columns: list[str]) -> bytes:
    """Returns a part of a table in the engine's format. Its head has ``total``, the number of rows of the entire table,
    and ``first``, the index of the first row.

    Raises
    ------
    InputError
        If there is no such table or column.
    """
    folder = folder_of(places, name)
    whole = _table(folder, of, places)
    if unknown := [one for one in columns if one not in whole.columns]:
        raise InputError(f"{printable(unknown[0])}: is not a column of {of}; there are {', '.join(whole.columns)}")
    part = whole.slice(first, min(rows, MOST_ROWS))
    return packed({"total": whole.height, "first": first}, {of: part.select(columns) if columns else part})


def report(places: Places, name: object) -> str:
    """Returns the report of results as a page, as ``lightlag report`` writes it.

    Raises
    ------
    InputError
        If the place holds no results that have a report.
    """
    from lightlag.comparison import saving as comparison_report
    from lightlag.results.result import load

    folder = folder_of(places, name)
    if "reproduction" in _head(folder):
        page = folder / "index.html"
        if not page.is_file():
            raise InputError(f"{printable(name)}: is one paper, whose report is not HTML; open its report.md")
        return read_results(page)
    if (comparison := _comparison(folder, places)) is not None:
        return comparison_report.report(comparison)
    return load(folder).report()


def _table(folder: Path, of: str, places: Places) -> pl.DataFrame:
    from lightlag.records.source import Folder
    from lightlag.study.study import open_study

    if (folder / "runs").is_dir():
        if of not in OF_COMPARISONS:
            raise InputError(f'no table "{printable(of)}"; there are {", ".join(OF_COMPARISONS)}')
        study = open_study(folder)
        return study.summary if of == "summary" else (study.runs if of == "runs" else study.flows).collect()
    comparison = _comparison(folder, places)
    if comparison is None:
        return Folder(folder).table(of)
    if of not in OF_COMPARISONS:
        raise InputError(f'no table "{printable(of)}"; there are {", ".join(OF_COMPARISONS)}')
    found: pl.DataFrame = getattr(comparison, of)
    return found


def _comparison(folder: Path, places: Places) -> Comparison | None:
    """Returns the comparison in a directory, or the study in it as a comparison; None for a run."""
    from lightlag.comparison.comparison import load_comparison

    if (folder / "curves.jsonl").exists():
        return load_comparison(folder)
    if not (folder / "runs").is_dir():
        return None
    from lightlag.study.schedule import Schedule
    from lightlag.study.tables import comparison

    # Paths in study.toml are relative to the directory; paths in run.json are relative to the study's original
    # directory.
    study, store = read(folder / "study.toml", places), store_of(folder / "study.toml", places)
    return comparison(study.plan(), store, study.target, Schedule(study, store, dry=True).total)


def _head(folder: Path) -> dict[str, Any]:
    try:
        head = json.loads(read_results(folder / "run.json"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{printable(folder.name)}: holds no results that can be read: {printable(error)}") from None
    if not isinstance(head, dict):
        raise InputError(f"{printable(folder.name)}: holds no results that can be read")
    return head


def folder_of(places: Places, name: object) -> Path:
    """Returns the directory of results. Symbolic links in it must not lead out of the given directories.

    Raises
    ------
    InputError
        If the place holds no results, or a link in it leads out of the directories.
    """
    folder = places.find(name)
    if not (folder / "run.json").is_file():
        raise InputError(f"{printable(name):.80}: holds no results; choose one from the list")
    for parent, folders, files in os.walk(folder):
        for one in (Path(parent) / inside for inside in (*folders, *files)):
            if one.is_symlink():
                places.inside(one, printable(one.name))
            elif not (one.is_dir() or one.is_file()):
                raise InputError(f"{printable(one.name)}: is neither a file nor a directory")
    return folder
