"""The results of a study on the disk: Parquet in parts, each with its data dictionary, and what reads them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lightlag import _engine
from lightlag.comparison.comparison import TABLES
from lightlag.errors import InputError
from lightlag.files.input import check_regular, parquet_errors, parquet_reason, read_results
from lightlag.files.writing import check_folder, new_folder
from lightlag.records import origin as _origin
from lightlag.scenario import congestion_names
from lightlag.study.design import Study
from lightlag.study.store import Store, open_store
from lightlag.study.tables import DICTIONARY, Tables, comparison
from lightlag.text.overview import frame, tables
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from lightlag.comparison.comparison import Comparison

__all__ = ["StudyResults", "check_place", "export", "open_study"]

AGAIN = "lightlag study run study.toml --out ../again --store ../again-store"
"""Makes every run once more, typed in the folder of the results."""
ROWS = 500_000
"""Of a file: what does not fit goes to another one."""


def export(study: Study, store: Store, folder: Path, *, force: bool, failed: Sequence[str] = ()) -> Tables:
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


def check_place(folder: Path, study: Study, *, force: bool, file: Path | None = None) -> None:
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


def _is_repeatable(study: Study) -> bool:
    """Whether its file says all that it takes, wherever the folder is."""
    design = study.plan().design
    own = {name for one in design.competitors for name in one.algorithms} - set(congestion_names())
    return not own and all(map(_origin.is_repeatable, design.scenarios.values()))


def _columns(tables: Tables) -> list[str]:
    return list(dict.fromkeys([*tables.runs.columns, *tables.flows.columns, *tables.summary.columns]))


def _write(table: pl.DataFrame, path: Path, study: Study) -> None:
    """A table with a data dictionary in its metadata."""
    keys = {one.label: " and ".join(one.keys) or "the name of the scenario" for one in study.plan().design.variables}
    numbers = {one.numeric[0]: f"{one.label} as a number" for one in study.plan().design.variables if one.numeric}
    known = keys | numbers | DICTIONARY
    about = {"columns": {name: known[name] for name in table.columns}, "study": study.name}
    table.write_parquet(path, compression="zstd", metadata={"lightlag": json.dumps(about, ensure_ascii=False)})


class StudyResults:
    """The results of a study.

    Attributes
    ----------
    folder
        Where they stand.
    about
        The contents of ``run.json``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shown = printable(folder)
        try:
            self.about: dict[str, Any] = json.loads(read_results(folder / "run.json"))
            self.about["design"], self.about["finished"], self.about["variables"], self.about["build"]
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(
                f'{shown}: does not hold the results of a study; write them with "lightlag study export", or '
                "read a run or a comparison with lightlag.load"
            ) from None

    @property
    def version(self) -> str:
        """The version of lightlag that wrote them."""
        return str(self.about["version"])

    @property
    def build(self) -> str:
        """The engine that made the runs."""
        return str(self.about["build"])

    @property
    def runs(self) -> pl.LazyFrame:
        """A row a run: congestion, a column for each variable, seed, measures. ``.collect()`` reads it."""
        return self._scan("runs/*.parquet")

    @property
    def flows(self) -> pl.LazyFrame:
        """A row for each flow of each run."""
        return self._scan("flows/*.parquet")

    @property
    def summary(self) -> pl.DataFrame:
        """A row for each cell and measure: mean, half width of its interval, and the number of runs."""
        return self._scan("summary.parquet").collect()

    def to_pandas(self, name: Literal["runs", "flows", "summary"] = "runs") -> pd.DataFrame:
        """A table by name as a data frame of pandas.

        Raises
        ------
        InputError
            If there is no such table, or pandas or pyarrow is missing.
        """
        from lightlag.records.pandas import to_pandas

        if name not in TABLES:
            raise InputError(f'no table "{printable(name)}"; there are {", ".join(TABLES)}')
        return to_pandas(self.summary if name == "summary" else getattr(self, name).collect())

    @cached_property
    def study(self) -> Study:
        """The study."""
        return Study.of(self.about["design"], self.about.get("folder", ""))

    def sql(self, query: str) -> pl.DataFrame:
        """The answer of DuckDB to a query over the tables ``runs``, ``flows`` and ``summary``.

        Examples
        --------
        ``results.sql("select congestion, median(goodput_bps) from runs group by all")``
        """
        try:
            import duckdb
        except ImportError:
            raise InputError('SQL needs DuckDB; pip install "lightlag[study]"') from None
        import polars as pl

        try:
            with duckdb.connect() as connection:
                for name, files in (("runs", "runs/*"), ("flows", "flows/*"), ("summary", "summary")):
                    path = str(self.folder / f"{files}.parquet").replace("'", "''")
                    connection.execute(f"create view {name} as select * from read_parquet('{path}')")
                answer = connection.execute(query)
                names = [column[0] for column in answer.description]
                return pl.DataFrame(answer.fetchall(), schema=names, orient="row", infer_schema_length=None)
        except duckdb.Error as error:
            raise InputError(f"sql: {printable(str(error).splitlines()[0])}") from None

    def comparison(self, store: str | os.PathLike[str] | None = None) -> Comparison:
        """The study as a comparison, which has figures and a report.

        Parameters
        ----------
        store
            The store with its runs; by default the one beside the folder.

        Raises
        ------
        InputError
            If there is no such store.
        """
        from lightlag.study.campaign import default_store
        from lightlag.study.schedule import Schedule

        kept = open_store(default_store(self.folder) if store is None else store, make=False)
        return comparison(self.study.plan(), kept, self.study.target, Schedule(self.study, kept, dry=True).total)

    def _scan(self, files: str) -> pl.LazyFrame:
        import polars as pl

        found = sorted(self.folder.glob(files))
        if not found:
            raise InputError(f"{printable(self.folder)}: {files} is missing; export the study again")
        try:
            for path in found:
                check_regular(path)
                pl.read_parquet_schema(path)
        except parquet_errors() as error:
            reason = parquet_reason(error)
            raise InputError(f"{printable(path)}: is damaged: {reason}; export the study again") from None
        return pl.scan_parquet(found)

    def _repr_html_(self) -> str:
        from html import escape

        text = f"{escape(printable(self.about['study']))}</b> · {self.about['finished']:,} runs"
        rows = [{key: _shown(value) for key, value in row.items()} for row in self.summary.to_dicts()]
        return frame(f"<b>{text} of {self.about['cells']:,} cells", *tables([rows], ["row"]))

    def __repr__(self) -> str:
        return (
            f"<StudyResults {self.about['study']!r}: {self.about['finished']:,} runs of {self.about['cells']:,} cells>"
        )


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable(value)


def open_study(folder: str | os.PathLike[str]) -> StudyResults:
    """Opens the results of a study.

    Raises
    ------
    InputError
        If the folder does not hold any.

    Examples
    --------
    ``ll.open_study("results/geo-loss").runs.filter(congestion="cubic").collect()``
    """
    return StudyResults(Path(folder))
