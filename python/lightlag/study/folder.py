"""The results of a study on the disk: Parquet in parts, each with its data dictionary."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.errors import InputError
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


__all__ = ["check_place", "export"]

AGAIN = "lightlag study run study.toml --out ../again --store ../again-store"
"""Makes every run once more, typed in the folder of the results."""
ROWS = 500_000
"""Of a file: what does not fit goes to another one."""


def export(study: StudyDesign, store: Store, folder: Path, *, force: bool, failed: Sequence[str] = ()) -> Tables:
    """Writes the tables of a study, as a whole or not at all.

    The bytes do not depend on who made the runs, in which order, or how often it was interrupted.

    Raises
    ------
    FileExistsError
        If the folder exists, and `force` is not set or it holds something else.
    """
    plan = study.plan()
    tables = Tables.of(plan, store, study.measures, study.target)
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
    with new_folder(folder, force=force) as partial:
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
        (partial / "study.toml").write_text(study.to_toml(folder), "utf-8")
        (partial / "run.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    return tables


def check_place(folder: Path, study: StudyDesign, *, force: bool, file: Path | None = None) -> None:
    """Fails if the results of a study must not be written to a folder. Those of the same study are replaced.

    Parameters
    ----------
    force
        Replace results of a run, a comparison or another study.
    file
        The file of the study.

    Raises
    ------
    FileExistsError
        If the folder holds something else.
    FolderError
        If it cannot be written.
    """
    if not force and folder.is_dir() and any(folder.iterdir()):
        try:
            is_own = json.loads(read_results(folder / "run.json"))["study"] == study.name
        except (OSError, ValueError, KeyError, TypeError):
            is_own = False
        if not is_own:
            raise FileExistsError(
                f"{printable(folder)}: holds other results; name another folder with --out, or use --force"
            )
    check_folder(folder, force=True, inputs=[] if file is None else [file])


def _commit() -> dict[str, Any]:
    """The part of an origin that is the same for everybody who makes runs of this study."""
    origin = _origin.installation()
    return {key: origin[key] for key in ("commit", "modified")}


def _is_repeatable(study: StudyDesign) -> bool:
    """Whether its file says all that it takes, wherever the folder is."""
    design = study.plan().design
    own = {name for one in design.competitors for name in one.algorithms} - set(congestion_names())
    return not own and all(map(_origin.is_repeatable, design.scenarios.values()))


def _columns(tables: Tables) -> list[str]:
    return list(dict.fromkeys([*tables.runs.columns, *tables.flows.columns, *tables.summary.columns]))


def _write(table: pl.DataFrame, path: Path, study: StudyDesign) -> None:
    """A table with a data dictionary in its metadata."""
    keys = {one.label: " and ".join(one.keys) or "the name of the scenario" for one in study.plan().design.variables}
    numbers = {one.numeric[0]: f"{one.label} as a number" for one in study.plan().design.variables if one.numeric}
    known = keys | numbers | DICTIONARY
    about = {"columns": {name: known[name] for name in table.columns}, "study": study.name}
    table.write_parquet(path, compression="zstd", metadata={"lightlag": json.dumps(about, ensure_ascii=False)})
