"""Studies that run, and their results, which hold the study again."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lightlag.errors import InputError
from lightlag.files.input import check_regular, parquet_errors, parquet_reason, read_results
from lightlag.outcomes.design import TABLES
from lightlag.records.pandas import to_pandas
from lightlag.study.campaign import Where, carry_out, default_store
from lightlag.study.design import StudyDesign
from lightlag.study.folder import check_place, export
from lightlag.study.schedule import Schedule
from lightlag.study.store import new_store, open_store
from lightlag.study.tables import comparison
from lightlag.text.overview import frame, tables
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from lightlag.comparison.comparison import Comparison

__all__ = ["Study", "StudyResults", "open_study"]


class Study(StudyDesign):
    """A study: scenarios, axes, competing algorithms, paired seeds, and how well a measure is to be known.

    The arguments are the keys of a ``study.toml``.

    Parameters
    ----------
    scenarios
        One or several, each as :func:`lightlag.run` takes it.
    name
        Of its results; by default those of the scenarios.
    congestion
        As in :func:`lightlag.compare`.
    vary
        Axes along one key each: ``{"links.1.loss": [0, 1e-3]}``.
    axes
        More of them: tables with ``key`` and ``values``, ``zip``, ``points``, or ``design``, ``count`` and ``ranges``.
    exclude
        Points that do not run: tables of keys, or of ``congestion`` and ``scenario``, with a value or several.
    set
        Changes to every scenario.
    seed
        The first seed; all cells run with the same ones.
    replications
        Runs of each cell.
    until
        In place of `replications`: ``{"measure": "goodput_bps", "within": "2 %", "most": 200}``.
    measures
        Columns of the results; by default all of them.
    curves
        Keep goodput over time and windows of each run, for figures over time: some 20 kB a run.
    budget
        ``{"runs": 1000, "cpu": "2 h", "wall": "30 min"}``.
    folder
        Paths of scenarios start there; by default the working folder.

    Raises
    ------
    InputError, ScenarioError
        If something is contradictory or cannot be run; the message names the place.

    Examples
    --------
    >>> import lightlag as ll
    >>> study = ll.Study("geo", congestion=["cubic", "hybla"], vary={"links.1.loss": [0, 1e-3]}, replications=5)
    >>> len(study.plan().cells), study.most_runs
    (4, 20)
    """

    def run(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        store: str | os.PathLike[str] | None = None,
        jobs: int | None = None,
        processes: int | None = None,
        cluster: str | None = None,
        profile: str | os.PathLike[str] | None = None,
        progress: bool = True,
    ) -> StudyResults:
        """Makes the runs that the store does not hold, and writes the tables.

        Parameters
        ----------
        out
            Folder of the results; by default ``results/NAME``. Those of the same study are replaced.
        store
            Where runs are kept, for this study and others: a folder or a URL; by default ``store`` beside `out`.
        jobs, processes, cluster, profile
            Where runs are made: threads (the default), processes, or a dask cluster; see :class:`Where`.
        progress
            Say on stderr how far it is.

        Raises
        ------
        InputError
            If runs failed, with the reasons. The others are kept and in the tables.
        FileExistsError
            If the folder holds other results.
        """
        folder = Path("results") / self.name if out is None else Path(out)
        self.plan()
        check_place(folder, self, force=False)
        with new_store(default_store(folder) if store is None else store) as kept:
            where = Where(jobs, processes, cluster, profile)
            found = carry_out(self, kept, where, style="text" if progress else "quiet")
            failures = found.schedule.failures
            export(self, kept, folder, force=True, failed=list(failures))
        if failures:
            key, (_, reason) = next(iter(failures.items()))
            raise InputError(f"{len(failures):,} runs failed, such as {key[:12]}: {reason}; the others are in {folder}")
        return StudyResults(folder)


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
