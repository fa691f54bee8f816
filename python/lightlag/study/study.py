"""Studies that can be run, and their results, which include the definition of the study."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lightlag._renamed import former_attributes, former_keywords
from lightlag.errors import InputError
from lightlag.files.input import check_regular, parquet_errors, parquet_reason, read_results
from lightlag.outcomes.design import TABLES
from lightlag.records.pandas import to_pandas
from lightlag.study.campaign import Where, carry_out, default_store
from lightlag.study.design import StudyDesign
from lightlag.study.folder import check_place, export, place
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


@former_attributes("Study")
class Study(StudyDesign):
    """A study: scenarios, axes, competing algorithms, paired seeds, and the required precision of a metric.

    The arguments are the keys of a ``study.toml``.

    Parameters
    ----------
    scenarios
        One scenario or several, each in a form that :func:`lightlag.run` takes.
    name
        Name of its results. Defaults to the names of the scenarios.
    congestion
        As in :func:`lightlag.compare`.
    vary
        Values of keys: ``{"links.1.loss": [0, 1e-3]}``. Each key is an axis.
    axes
        More axes: tables with ``key`` and ``values``, ``zip``, ``points``, or ``design``, ``count`` and ``ranges``.
    exclude
        Points to leave out: tables that give one or several values for keys, or for ``congestion`` and ``scenario``.
    set
        Changes to apply to every scenario.
    seed
        The first seed; all cells run with the same seeds.
    replications
        Number of runs of each cell.
    until
        Required precision, instead of `replications`: ``{"metric": "goodput_bps", "within": "2 %", "max_seeds": 200}``.
    metrics
        Metrics in the results, by their column; by default all.
    curves
        Whether to store goodput over time and the windows of each run, for figures over time: about 20 kB per run.
    budget
        ``{"runs": 1000, "cpu": "2 h", "wall": "30 min"}``.
    directory
        Directory that paths of scenarios are relative to; by default the working directory.

    Raises
    ------
    InputError, ScenarioError
        If the arguments cannot be combined or a scenario cannot be run; the message names the key.

    Examples
    --------
    >>> import lightlag as ll
    >>> study = ll.Study("geo", congestion=["cubic", "hybla"], vary={"links.1.loss": [0, 1e-3]}, replications=5)
    >>> len(study.plan().cells), study.max_runs
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
            Directory of the results. Results of the same study are replaced. By default ``results/NAME``, or where
            that holds other results ``results/NAME-2`` and so on.
        store
            Store of the runs of this study and of others: a directory or a URL. Defaults to ``store`` next to
            `out`.
        jobs, processes, cluster, profile
            Where runs are made: in threads (the default), processes, or a dask cluster; see :class:`Where`.
        progress
            Whether to report progress on stderr.

        Raises
        ------
        InputError
            If runs failed; the message has the reasons. All other runs are stored, and are in the tables.
        FileExistsError
            If the directory holds other results.
        """
        directory = place(self, force=False) if out is None else Path(out)
        self.plan()
        check_place(directory, self, force=False)
        with new_store(default_store(directory) if store is None else store) as kept:
            where = Where(jobs, processes, cluster, profile)
            found = carry_out(self, kept, where, style="text" if progress else "quiet")
            failures = found.schedule.failures
            export(self, kept, directory, force=True, failed=list(failures))
        if failures:
            key, (_, reason) = next(iter(failures.items()))
            raise InputError(
                f"{len(failures):,} runs failed, such as {key[:12]}: {reason}; the others are in {directory}"
            )
        return StudyResults(directory)


@former_attributes("StudyResults")
class StudyResults:
    """The results of a study.

    Attributes
    ----------
    directory
        The directory of the results.
    about
        The contents of ``run.json``.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        shown = printable(directory)
        try:
            self.about: dict[str, Any] = json.loads(read_results(directory / "run.json"))
            self.about["design"], self.about["finished"], self.about["variables"], self.about["build"]
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(
                f'{shown}: does not hold the results of a study; write them with "lightlag study export", or '
                "read a run or a comparison with lightlag.load"
            ) from None

    @property
    def version(self) -> str:
        """The version of lightlag that wrote the results."""
        return str(self.about["version"])

    @property
    def build(self) -> str:
        """The build of the engine that made the runs."""
        return str(self.about["build"])

    @property
    def runs(self) -> pl.LazyFrame:
        """One row per run: congestion, a column for each variable, seed, metrics. Read it with ``.collect()``."""
        return self._scan("runs/*.parquet")

    @property
    def flows(self) -> pl.LazyFrame:
        """One row for each flow of each run."""
        return self._scan("flows/*.parquet")

    @property
    def summary(self) -> pl.DataFrame:
        """One row for each cell and metric: mean, half width of its interval, and number of runs."""
        return self._scan("summary.parquet").collect()

    def to_pandas(self, name: Literal["runs", "flows", "summary"] = "runs") -> pd.DataFrame:
        """Returns a table by name as a data frame of pandas.

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
        """The study that the results belong to."""
        return Study.of(self.about["design"], self.about.get("folder", ""))

    def sql(self, query: str) -> pl.DataFrame:
        """Runs an SQL query over the tables ``runs``, ``flows`` and ``summary``, and returns DuckDB's result.

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
                    path = str(self.directory / f"{files}.parquet").replace("'", "''")
                    connection.execute(f"create view {name} as select * from read_parquet('{path}')")
                answer = connection.execute(query)
                names = [column[0] for column in answer.description]
                return pl.DataFrame(answer.fetchall(), schema=names, orient="row", infer_schema_length=None)
        except duckdb.Error as error:
            raise InputError(f"sql: {printable(str(error).splitlines()[0])}") from None

    def comparison(self, store: str | os.PathLike[str] | None = None) -> Comparison:
        """Returns the study as a comparison, which has figures and a report.

        Parameters
        ----------
        store
            The store with the runs; by default the one next to the results directory.

        Raises
        ------
        InputError
            If there is no such store.
        """
        kept = open_store(default_store(self.directory) if store is None else store, make=False)
        return comparison(self.study.plan(), kept, self.study.target, Schedule(self.study, kept, dry=True).total)

    def _scan(self, files: str) -> pl.LazyFrame:
        import polars as pl

        found = sorted(self.directory.glob(files))
        if not found:
            raise InputError(f"{printable(self.directory)}: {files} is missing; export the study again")
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


@former_keywords()
def open_study(directory: str | os.PathLike[str]) -> StudyResults:
    """Opens the results of a study.

    Raises
    ------
    InputError
        If the directory does not hold results of a study.

    Examples
    --------
    ``ll.open_study("results/geo-loss").runs.filter(congestion="cubic").collect()``
    """
    return StudyResults(Path(directory))
