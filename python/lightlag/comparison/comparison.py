"""Several algorithms side by side: the same seeds for each, means with their 95 % intervals."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lightlag import _engine
from lightlag.analyse import Interval, mean_interval
from lightlag.errors import InputError
from lightlag.files.input import read_results
from lightlag.outcomes.outcome import UDP, Outcome
from lightlag.outcomes.variables import Competitor, Variable
from lightlag.records import origin as _origin
from lightlag.text.quantities import factor_of
from lightlag.text.table import Row
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from lightlag.comparison.painters import Painter
    from lightlag.drawing.style import Chart

__all__ = ["MEASURES", "Comparison", "Design", "Measure", "Outcome", "Values", "columns_of", "load_comparison"]

TABLES = ("runs", "flows", "summary")
"""The tables of a comparison, and of a study."""

Point = tuple[str, ...]
"""A value of each variable, as text."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure that a comparison compares."""

    column: str
    title: str
    unit: str
    """As printed; "bit/s" takes a decimal prefix, "%" multiplies by 100, "ms" by 1000."""
    about: str

    def show(self, interval: Interval, like: float | None = None) -> str:
        """Mean ± half width with the unit, rounded to two digits of the half width.

        Parameters
        ----------
        like
            The value whose decimal prefix it takes, such as the largest of a column; by default the mean.
        """
        if interval.count == 0:
            return "–"
        mean, half, unit = interval.mean, interval.half_width, self.unit
        if unit in ("%", "ms"):
            factor = {"%": 100.0, "ms": 1000.0}[unit]
            mean, half = mean * factor, half * factor
        elif unit == "bit/s":
            factor, prefix = factor_of(mean if like is None else like)
            mean, half, unit = mean / factor, half / factor, f"{prefix}{unit}"
        digits = decimals(mean, half)
        spread = "" if math.isnan(half) else f" ± {half:.{digits}f}"
        return f"{mean:.{digits}f}{spread}{' ' * (unit not in ('', '%'))}{unit}"


def decimals(mean: float, half_width: float) -> int:
    """Decimals that show two digits of the half width, but at most four digits of the mean.

    Examples
    --------
    >>> decimals(9.41, 0.123), decimals(123.4, 17.0), decimals(9.41, 0.0), decimals(58.66, 0.0012)
    (2, 0, 3, 2)
    """

    def place(value: float, digits: int) -> int:
        return digits - 1 - math.floor(math.log10(value))

    of_mean = place(abs(mean), 4) if mean else 0
    of_half = place(half_width, 2) if half_width > 0 else of_mean
    return max(0, min(of_mean, of_half, 6))


MEASURES = (
    Measure(
        "goodput_bps",
        "Goodput",
        "bit/s",
        "payload that all flows of TCP together had delivered, over the time from the first start to the last finish "
        "or the end of the run",
    ),
    Measure("completion_s", "Completion time", "s", "from the first start to the last finish, where all flows finish"),
    Measure("jain", "Jain fairness", "", "(Σx)² / (n Σx²) of the goodputs of the n flows of TCP of a run"),
    Measure("retransmitted_share", "Resent", "%", "segments with payload sent again, of all that were sent"),
    Measure(
        "queueing_mean_s",
        "Queueing",
        "ms",
        "the mean wait of a run's data packets at the bottleneck until their transmission starts; the "
        "bottleneck is the link direction at which they waited longest in all",
    ),
    Measure("queueing_p95_s", "Queueing p95", "ms", "what 95 % of these waits did not exceed, at most 1.6 % off"),
)


@dataclass(frozen=True, slots=True)
class Design:
    """The design of a comparison."""

    scenario: dict[str, Any]
    """The scenario, or the first of several, with every default."""
    competitors: tuple[Competitor, ...]
    variables: tuple[Variable, ...] = ()
    seed: int = 1
    """The first seed."""
    replications: int = 1
    """Number of them."""
    chosen: tuple[Point, ...] | None = None
    """The points, if they are not every combination of values."""
    others: tuple[dict[str, Any], ...] = ()
    """The scenarios after the first, where there are several."""

    @property
    def scenarios(self) -> dict[str, dict[str, Any]]:
        """All scenarios, by name."""
        return {str(one["name"]): one for one in (self.scenario, *self.others)}

    def points(self) -> Iterable[Point]:
        """The points, in order."""
        return (
            itertools.product(*(variable.values for variable in self.variables)) if self.chosen is None else self.chosen
        )

    @property
    def point_count(self) -> int:
        """Number of points."""
        return math.prod(len(one.values) for one in self.variables) if self.chosen is None else len(self.chosen)

    @property
    def run_count(self) -> int:
        """Number of runs in all."""
        return self.replications * len(self.competitors) * self.point_count

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Design:
        """The design of which :meth:`to_json` gave these values."""

        def tuples(table: dict[str, Any]) -> dict[str, Any]:
            for key, value in table.items():
                if not all(isinstance(text, str) for text in (value if isinstance(value, list) else [value])):
                    raise ValueError(f"{key} holds {value!r:.60}")
            return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}

        counts = (plain["seed"], plain["replications"])
        if not all(isinstance(count, int) and count >= 0 for count in counts) or not isinstance(
            plain["scenario"]["name"], str
        ):
            raise ValueError("a seed, a number of replications or a name of the scenario is none")
        return cls(
            plain["scenario"],
            tuple(Competitor(**tuples(one)) for one in plain["competitors"]),
            tuple(Variable(**tuples(one)) for one in plain["variables"]),
            plain["seed"],
            plain["replications"],
            None if plain.get("chosen") is None else tuple(tuple(map(str, point)) for point in plain["chosen"]),
            _scenarios(plain.get("others", ())),
        )


def _scenarios(given: Any) -> tuple[dict[str, Any], ...]:
    if not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in given):
        raise ValueError(f"others holds {given!r:.60}")
    return tuple(given)


class Comparison:
    """Algorithms side by side, over the same seeds and the same values of variables.

    Made by :func:`lightlag.compare`, read with :func:`lightlag.load_comparison`.
    """

    def __init__(
        self,
        design: Design,
        outcomes: Sequence[Outcome],
        keys: Sequence[str] = (),
        *,
        expected: int | None = None,
        confidences: Mapping[str, float] | None = None,
        version: str = _engine.__version__,
        folder: Path | None = None,
        origin: Mapping[str, Any] | None = None,
    ) -> None:
        """A comparison of finished runs.

        Parameters
        ----------
        keys
            Tell the runs of a journal from others.
        expected
            Runs when it is complete; by default those of the design.
        confidences
            Of the intervals of measures, by column, where it is not 0.95.
        version
            The version of lightlag that made the runs.
        folder
            The results folder from which it was read; None of one that was just made.
        origin
            What computed the runs; by default this process.
        """
        self._origin = origin
        self.design = design
        self.expected = design.run_count if expected is None else expected
        self._confidences = dict(confidences or {})
        self.version = version
        self.folder = folder
        self.outcomes = tuple(outcomes)
        self._keys = tuple(keys)
        self.variables = design.variables
        self.scenario = design.scenario
        self._values = Values(design.variables)
        self._cells: dict[tuple[str, Point], list[Outcome]] = {}
        for outcome in outcomes:
            self._cells.setdefault((outcome.congestion, outcome.point), []).append(outcome)
        there = {name for name, _ in self._cells}
        self.algorithms = [one.label for one in design.competitors if one.label in there]
        """The labels of those that have finished runs."""
        points = {point for _, point in self._cells}
        self.points = [point for point in design.points() if point in points]
        """The combinations of values that have finished runs."""

    @property
    def name(self) -> str:
        """The name of the scenario, or of several."""
        scenarios = [variable.values for variable in self.variables if not variable.keys]
        return ", ".join(scenarios[0]) if scenarios else str(self.scenario["name"])

    @property
    def origin(self) -> dict[str, Any]:
        """Its origin: versions, commit, platform and command; empty where an older version computed it."""
        return _origin.origin(packages=["polars"]) if self._origin is None else dict(self._origin)

    @property
    def repeat(self) -> str | None:
        """The command that repeats it, typed in the folder of its results; None where a class of a program took part,
        or where the scenarios are not known.
        """
        design = self.design
        scenarios = sum(len(one.values) for one in design.variables if not one.keys) or 1
        is_whole = design.chosen is None and len(design.scenarios) == scenarios and not self._confidences
        if not is_whole or any(one.is_of_a_program for one in design.competitors):
            return None
        return _origin.repeat("compare", *design.scenarios.values())

    @property
    def is_complete(self) -> bool:
        """Whether every run has finished."""
        return len(self.outcomes) == self.expected

    def describe(self, point: Point) -> str:
        """The values of a point with their labels."""
        pairs = zip(self.variables, point, strict=True)
        return ", ".join(f"{variable.label} {value}" if variable.keys else value for variable, value in pairs)

    def describe_but(self, variable: Variable, others: Point) -> str:
        """The values of a point with their labels, without those of one variable."""
        left = [one for one in self.variables if one is not variable]
        pairs = zip(left, others, strict=True)
        return ", ".join(f"{one.label} {value}" if one.keys else value for one, value in pairs)

    def of(self, algorithm: str, point: Point | None = None) -> list[Outcome]:
        """The runs of an algorithm, at one point or at all."""
        if point is not None:
            return self._cells.get((algorithm, point), [])
        return [outcome for outcome in self.outcomes if outcome.congestion == algorithm]

    def values(self, algorithm: str, measure: Measure, point: Point | None = None) -> list[float]:
        """A measure of each run of an algorithm, where it has one."""
        values = (getattr(outcome, measure.column) for outcome in self.of(algorithm, point))
        return [value for value in values if value is not None and not math.isnan(value)]

    def is_identical(self, algorithm: str, point: Point | None = None) -> bool:
        """Whether several runs of an algorithm are identical. Nothing in them is then random, and they count as one."""
        runs = self.of(algorithm, point)
        return len(runs) > 1 and all(one.is_same(runs[0]) for one in runs[1:])

    def interval(self, algorithm: str, measure: Measure, point: Point | None = None) -> Interval:
        """Mean and 95 % interval of a measure over an algorithm's runs; no half width where they are identical."""
        interval = mean_interval(self.values(algorithm, measure, point), self.confidence(measure))
        if self.is_identical(algorithm, point):
            return Interval(interval.mean, math.nan, interval.count)
        return interval

    def confidence(self, measure: Measure) -> float:
        """The confidence of the intervals of a measure: 0.95, or what a study with a target asks of its own."""
        return self._confidences.get(measure.column, 0.95)

    def cells(self) -> Iterable[tuple[str, Point]]:
        """Every algorithm at every point that has finished runs, point by point."""
        return ((name, point) for point in self.points for name in self.algorithms if (name, point) in self._cells)

    @property
    def runs(self) -> pl.DataFrame:
        """One row a run."""
        import polars as pl

        plain = {"timeouts": pl.UInt64, "simulated_s": pl.Float64, "bottleneck": pl.String, "result_hash": pl.String}
        measures = {measure.column: pl.Float64 for measure in MEASURES}
        rows = [
            [outcome.congestion, *self._point(outcome.point), outcome.seed]
            + [getattr(outcome, column) for column in (*measures, *plain)]
            for outcome in self.outcomes
        ]
        schema = {"congestion": pl.String, **self._columns(), "seed": pl.UInt64, **measures, **plain}
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def flows(self) -> pl.DataFrame:
        """One row a run and flow."""
        import polars as pl

        schema = {"congestion": pl.String, **self._columns(), "seed": pl.UInt64, "flow": pl.String}
        schema |= {"algorithm": pl.String, "goodput_bps": pl.Float64, "completion_s": pl.Float64}
        schema |= {"min_rtt_s": pl.Float64, "leg": pl.String}
        frames = []
        for outcome in self.outcomes:
            same = dict(zip(self._columns(), self._point(outcome.point), strict=True))
            flows = outcome.flows
            columns = {"flow": flows.name, "algorithm": flows.congestion, "goodput_bps": flows.goodput_bps}
            columns |= {"completion_s": flows.completion_s, "min_rtt_s": flows.min_rtt_s, "leg": flows.leg}
            frame = pl.DataFrame(columns, schema={name: schema[name] for name in columns})
            same |= {"congestion": outcome.congestion, "seed": outcome.seed}
            frames.append(frame.with_columns(pl.lit(value).alias(name) for name, value in same.items()))
        return pl.concat(frames).select(pl.col(name).cast(kind) for name, kind in schema.items())

    @property
    def summary(self) -> pl.DataFrame:
        """One row an algorithm, point and measure: mean, half width of the 95 % interval and number of runs.

        Where all runs are identical there is no interval: its half width is NaN.
        """
        import polars as pl

        rows = []
        for name, point in self.cells():
            for measure in MEASURES:
                interval = self.interval(name, measure, point)
                numbers = (interval.mean, interval.half_width, interval.count, self.is_identical(name, point))
                rows.append((name, *self._point(point), measure.column, *numbers))
        schema = {"congestion": pl.String, **self._columns(), "measure": pl.String}
        schema |= {"mean": pl.Float64, "half_width": pl.Float64, "runs": pl.UInt32, "identical": pl.Boolean}
        return pl.DataFrame(rows, schema=schema, orient="row")

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
        return to_pandas(getattr(self, name))

    def _columns(self) -> dict[str, Any]:
        return columns_of(self.variables)

    def _point(self, point: Point) -> list[float | str]:
        return self._values.of(point)

    def rows(self) -> list[Row]:
        """The comparison as text, for people; fairness only among several flows."""
        labels = [variable.label for variable in self.variables]
        there = self.measures
        shown = [measure for measure in MEASURES if measure.column != "jain" or measure in there]
        largest = {measure: self._largest(measure) for measure in shown}
        return [
            {"congestion": name, **dict(zip(labels, point, strict=True)), **self._row(name, point, largest)}
            for name, point in self.cells()
        ]

    def _largest(self, measure: Measure) -> float:
        """The largest mean of a measure in any cell."""
        intervals = [self.interval(name, measure, point) for name, point in self.cells()]
        return max((interval.mean for interval in intervals if interval.count), default=0.0)

    def _row(self, name: str, point: Point, largest: Mapping[Measure, float]) -> Row:
        runs = len(self.of(name, point))
        row = {}
        for measure, most in largest.items():
            interval = self.interval(name, measure, point)
            some = f" ({interval.count} of {runs})" if 0 < interval.count < runs else ""
            row[measure.title.lower()] = measure.show(interval, most) + some
        return row | {"runs": f"{runs} seeds, identical" if self.is_identical(name, point) else str(runs)}

    def shares(self) -> list[tuple[str, Point, str, Interval]]:
        """Shares of the algorithms where several compete: competitors, point, algorithm, mean goodput of its flows."""
        found = []
        for name, point in self.cells():
            runs = [outcome.flows for outcome in self.of(name, point)]
            algorithms = [one for one in dict.fromkeys(runs[0].congestion) if one != UDP]
            if len(algorithms) < 2:
                continue
            for algorithm in algorithms:
                own = [[rate for rate, other in _of(run) if other == algorithm] for run in runs]
                interval = mean_interval(sum(rates) / len(rates) for rates in own if rates)
                if self.is_identical(name, point):
                    interval = Interval(interval.mean, math.nan, interval.count)
                found.append((name, point, algorithm, interval))
        return found

    def plot(self, kind: str | None = None, path: str | os.PathLike[str] | None = None, *, ax: Any = None) -> Chart:
        """A figure; :attr:`figures` names those there are.

        Parameters
        ----------
        kind
            By default the first: ``"bars"``, or the goodput against the first variable.
        path
            Where to write it; the suffix decides the format (.pdf, .svg, .png, .pgf).
        ax
            Axes of a figure of yours to draw into, one for each panel.
        """
        from lightlag import plot
        from lightlag.comparison import plot as comparison_plot

        kind = self.figures[0] if kind is None else kind
        if kind not in self.figures:
            raise InputError(f'no comparison figure "{kind}"; there are {", ".join(self.figures)}')
        figure = comparison_plot.draw(self, kind, ax)
        if path is not None:
            plot.save(figure, path)
        return figure

    @property
    def figures(self) -> list[str]:
        """The figures that this comparison has, in the order of a report."""
        from lightlag.outcomes import kinds as comparison_kinds

        return comparison_kinds.kinds(self)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        force: bool = False,
        formats: Sequence[str] = (),
        report: bool = True,
        command: str = "",
        jobs: int | None = None,
    ) -> Path:
        """Writes tables, figures and a report, as a whole or not at all.

        ``run.json``, ``runs`` and ``summary`` as Parquet and CSV, ``flows.parquet``, ``curves.jsonl``, from which
        :func:`lightlag.load_comparison` draws again, ``report.html`` and the figures.

        Parameters
        ----------
        force
            Replace a results folder that exists.
        formats
            Of the figures for print: pdf, svg and png; by default none.
        report
            Write ``report.html``, one file with the answer, charts and tables.
        command
            What was typed, for the report.
        jobs
            The most processes that draw at the same time; by default one for each processor.
        """
        from lightlag.comparison.painters import painters
        from lightlag.running.running import processors

        jobs = processors() if jobs is None else jobs
        # A process takes as long to start as four figures take to draw.
        with painters(min(jobs - 1, len(self.figures) // 4) if formats else 0) as helpers:
            self.save_with(helpers, folder, force=force, formats=formats, report=report, command=command)
        return Path(folder)

    def save_with(
        self,
        helpers: Sequence[Painter],
        folder: str | os.PathLike[str],
        *,
        force: bool,
        formats: Sequence[str],
        report: bool,
        command: str,
        study: str | None = None,
    ) -> None:
        """As :meth:`save`, with processes that draw; `study` is the text of a ``study.toml`` with the same runs."""
        from lightlag.comparison import saving as comparison_report

        about: dict[str, Any] = {"force": force, "formats": formats, "with_report": report, "command": command}
        about["study"] = study
        comparison_report.save(self, Path(folder), helpers=helpers, **about)

    def about(self) -> dict[str, Any]:
        """The contents of ``run.json``."""
        return {
            "comparison": self.algorithms,
            "version": self.version,
            "finished": len(self.outcomes),
            "complete": self.is_complete,
            "design": self.design.to_json(),
            "origin": self.origin,
            "repeat": self.repeat,
        }

    def keyed(self) -> Iterable[tuple[str, Outcome]]:
        """The runs with their keys in a journal."""
        return zip(self._keys or [""] * len(self.outcomes), self.outcomes, strict=True)

    @property
    def measures(self) -> list[Measure]:
        """Those that some run has; fairness only among several flows."""
        alone = all(len(outcome.flows.name) == 1 for outcome in self.outcomes)
        return [
            measure
            for measure in MEASURES
            if not (measure.column == "jain" and alone)
            and any(getattr(outcome, measure.column) is not None for outcome in self.outcomes)
        ]

    @property
    def has_traces(self) -> bool:
        """Whether the scenario recorded what figures over time need."""
        return any(outcome.arrived_bytes is not None for outcome in self.outcomes)

    def __getstate__(self) -> dict[str, Any]:
        # What unpickles it did not compute it.
        return self.__dict__ | {"_origin": self.origin}

    def __repr__(self) -> str:
        return f"<Comparison {self.name!r}: {', '.join(self.algorithms)}; {len(self.outcomes)} runs>"

    def _repr_html_(self) -> str:
        import html

        from lightlag.text.overview import counted, frame, tables

        head = (
            f"<b>{html.escape(printable(self.name))}</b> · {counted(len(self.outcomes), 'run')}, mean ± 95 % interval"
        )
        return frame(head, *tables([self.rows()], ["row"]))


def columns_of(variables: Sequence[Variable]) -> dict[str, Any]:
    """The columns of variables; beside quantities as text stand numbers, in the unit that their name says."""
    import polars as pl

    columns: dict[str, Any] = {}
    for one in variables:
        columns[one.label] = pl.Float64 if one.is_number else pl.String
        if one.numeric is not None:
            columns[one.numeric[0]] = pl.Float64
    return columns


class Values:
    """The values of points in these columns."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        self._each: list[dict[str, tuple[float | str, ...]]] = []
        for one in variables:
            plain = [float(value) for value in one.values] if one.is_number else one.values
            columns = [plain] if one.numeric is None else [plain, one.numeric[1]]
            self._each.append(dict(zip(one.values, zip(*columns, strict=True), strict=True)))

    def of(self, point: Point) -> list[float | str]:
        """A value for each column."""
        return [value for each, text in zip(self._each, point, strict=True) for value in each[text]]


def _of(flows: Any) -> Iterable[tuple[float, str]]:
    return zip(flows.goodput_bps, flows.congestion, strict=True)


def load_comparison(folder: str | os.PathLike[str]) -> Comparison:
    """Reads the results folder of a comparison.

    Raises
    ------
    InputError
        If the folder does not hold what a comparison writes.
    """
    from lightlag.outcomes import journal

    folder = Path(folder)
    try:
        if not (folder / "run.json").exists():
            raise InputError(
                f'{printable(folder)}: is not a results folder (no run.json); write one with "lightlag compare"'
            )
        about = json.loads(read_results(folder / "run.json"))
        design, version = Design.from_json(about["design"]), about["version"]
        if not isinstance(version, str):
            raise ValueError(f"version holds {version!r:.60}")
        found = journal.read_all(folder / "curves.jsonl")
        places = {(one.label, point) for point in design.points() for one in design.competitors}
        if stray := [one for _, one in found if (one.congestion, one.point) not in places]:
            raise ValueError(f"it has a run of {stray[0].congestion} at {stray[0].point}, which it does not compare")
        if not found:
            raise ValueError("it has no runs")
        outcomes, keys = [one for _, one in found], [key for key, _ in found]
        origin = dict(about.get("origin") or {})
        return Comparison(design, outcomes, keys, version=version, folder=folder, origin=origin)
    except InputError:
        raise
    except KeyError as error:
        reason: object = f"{error} is missing"
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        reason = error
    raise InputError(
        f"{printable(folder)}: does not hold a comparison of this version: {printable(reason)}; repeat it with "
        '"lightlag compare", or read a run or a study with lightlag.load'
    )
