"""The results of a study on disk: Parquet files in parts, each with its data dictionary."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.files import destinations
from lightlag.files.input import read_results
from lightlag.files.writing import check_folder, new_folder
from lightlag.records import origin as _origin
from lightlag.scenario import congestion_names
from lightlag.study.design import StudyDesign
from lightlag.study.store import Store
from lightlag.study.tables import DICTIONARY, Tables
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import polars as pl


__all__ = ["check_place", "default", "export", "is_own", "place"]

AGAIN = "lightlag study run study.toml --out ../again --store ../again-store"
"""Command that repeats every run, to be typed in the results directory."""
ROWS = 500_000
"""Maximum number of rows of a file; further rows go to further files."""


def export(study: StudyDesign, store: Store, directory: Path, *, force: bool, failed: Sequence[str] = ()) -> Tables:
    """Writes the tables of a study, as a whole or not at all.

    The bytes do not depend on the executors of the runs, on their order, or on interruptions.

    Raises
    ------
    FileExistsError
        If the directory exists and `force` is not set, or if it holds other files.
    """
    plan = study.plan()
    tables = Tables.of(plan, store, study.metrics, study.target)
    about = {
        "study": study.name,
        "version": _engine.__version__,
        "build": _engine.__build__,
        **_commit(),
        "repeat": AGAIN if _is_repeatable(study) else None,
        "finished": len(tables.runs),
        "cells": len(plan.cells),
        "failed": sorted(failed),
        "columns": {name: DICTIONARY[name] for name in _columns(tables) if name in DICTIONARY},
        "variables": {one.label: list(one.keys) for one in plan.design.variables},
        "design": study.table(),
    }
    with new_folder(directory, force=force) as partial:
        for name, table in (("runs", tables.runs), ("flows", tables.flows)):
            (partial / name).mkdir()
            for (label,), part in table.group_by("congestion", maintain_order=True):
                safe = re.sub(r"[^A-Za-z0-9.=+-]+", "_", str(label)).strip("_.") or "none"
                for at in range(0, len(part), ROWS):
                    file = partial / name / f"{safe}-{at // ROWS:04}.parquet"
                    if file.exists():
                        raise InputError(f'congestion: two labels give a file {file.name}; "{printable(label)}" is one')
                    _write(part.slice(at, ROWS), file, study)
        _write(tables.summary, partial / "summary.parquet", study)
        tables.summary.write_csv(partial / "summary.csv")
        (partial / "study.toml").write_text(study.to_toml(directory), "utf-8")
        (partial / "run.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    return tables


def default(study: StudyDesign) -> Path:
    """Returns the default directory of the results of a study."""
    return Path("results") / study.name


def place(study: StudyDesign, *, force: bool) -> Path:
    """Returns the default directory for new results: ``results/NAME``.

    If it holds other results, this is the first of ``NAME-2``, ``NAME-3``, … that is free or holds this study.

    Parameters
    ----------
    force
        Return ``results/NAME``: its results are to be replaced.
    """
    return destinations.unused(default(study), force=force, may_take=lambda directory: is_own(directory, study))


def is_own(directory: Path, study: StudyDesign) -> bool:
    """Returns True if a directory is empty, or holds results of a study of this name."""
    try:
        if not any(directory.iterdir()):
            return True
        return bool(json.loads(read_results(directory / "run.json"))["study"] == study.name)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def check_place(directory: Path, study: StudyDesign, *, force: bool, file: Path | None = None) -> None:
    """Fails if the results of a study must not be written to a directory. Results of the same study are replaced.

    Parameters
    ----------
    force
        Replace results of a run, a comparison or another study.
    file
        The file of the study.

    Raises
    ------
    FileExistsError
        If the directory holds other files.
    FolderError
        If it cannot be written.
    """
    if not force and directory.is_dir() and not is_own(directory, study):
        raise FileExistsError(
            f"{printable(directory)}: holds other results; name another directory with --out, or use --force"
        )
    check_folder(directory, force=True, inputs=[] if file is None else [file])


def _commit() -> dict[str, Any]:
    """Returns the part of an origin that is the same for every process that makes runs of this study."""
    origin = _origin.installation()
    return {key: origin[key] for key in ("commit", "modified")}


def _is_repeatable(study: StudyDesign) -> bool:
    """Returns true if the study file is complete and independent of the location of the directory."""
    design = study.plan().design
    own = {name for one in design.competitors for name in one.algorithms} - set(congestion_names())
    return not own and all(map(_origin.is_repeatable, design.scenarios.values()))


def _columns(tables: Tables) -> list[str]:
    return list(dict.fromkeys([*tables.runs.columns, *tables.flows.columns, *tables.summary.columns]))


def _write(table: pl.DataFrame, path: Path, study: StudyDesign) -> None:
    """Writes a table with its data dictionary in the metadata."""
    keys = {one.label: " and ".join(one.keys) or "the name of the scenario" for one in study.plan().design.variables}
    numbers = {one.numeric[0]: f"{one.label} as a number" for one in study.plan().design.variables if one.numeric}
    known = keys | numbers | DICTIONARY
    about = {"columns": {name: known[name] for name in table.columns}, "study": study.name}
    table.write_parquet(path, compression="zstd", metadata={"lightlag": json.dumps(about, ensure_ascii=False)})
