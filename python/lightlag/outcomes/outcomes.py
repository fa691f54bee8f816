"""The runs of a comparison: their values, means, intervals and tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lightlag import _engine
from lightlag.analyse import Interval, mean_interval
from lightlag.errors import InputError
from lightlag.outcomes.design import MEASURES, TABLES, Design, Measure, Point, Values, columns_of
from lightlag.outcomes.outcome import UDP, Outcome
from lightlag.outcomes.variables import Variable
from lightlag.records import origin as _origin
from lightlag.text.table import Row
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["Outcomes"]


class Outcomes:
    """Finished runs of algorithms side by side, over the same seeds and values of variables.

    Figures and reports are made from them; :class:`lightlag.Comparison` has both.
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
        directory: Path | None = None,
        origin: Mapping[str, Any] | None = None,
    ) -> None:
        """Creates a comparison from finished runs.

        Parameters
        ----------
        keys
            Keys of the runs in a journal, in the order of the outcomes.
        expected
            Number of runs of the complete comparison. Defaults to the number of runs of the design.
        confidences
            Confidence of the intervals by metric column, where it is not 0.95.
        version
            The version of lightlag that made the runs.
        directory
            The results directory that the comparison was read from; None for a new comparison.
        origin
            Origin of the runs. Defaults to this process.
        """
        self._origin = origin
        self.design = design
        self.expected = design.run_count if expected is None else expected
        self._confidences = dict(confidences or {})
        self.version = version
        self.directory = directory
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
        """The labels of the algorithms with finished runs."""
        points = {point for _, point in self._cells}
        self.points = [point for point in design.points() if point in points]
        """The points that have finished runs: combinations of values."""

    @property
    def name(self) -> str:
        """The name of the scenario, or the names of several."""
        scenarios = [variable.values for variable in self.variables if not variable.keys]
        return ", ".join(scenarios[0]) if scenarios else str(self.scenario["name"])

    @property
    def origin(self) -> dict[str, Any]:
        """Origin of the results: versions, commit, platform and command; empty if an older version computed them."""
        return _origin.origin(packages=["polars"]) if self._origin is None else dict(self._origin)

    @property
    def repeat(self) -> str | None:
        """The command that repeats the comparison, to be typed in its results directory.

        None if a class that exists only in a program took part, or if the scenarios are not known.
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
        """Returns the values of a point with their labels."""
        pairs = zip(self.variables, point, strict=True)
        return ", ".join(f"{variable.label} {value}" if variable.keys else value for variable, value in pairs)

    def describe_but(self, variable: Variable, others: Point) -> str:
        """Returns the values of a point with their labels, except the value of one variable."""
        left = [one for one in self.variables if one is not variable]
        pairs = zip(left, others, strict=True)
        return ", ".join(f"{one.label} {value}" if one.keys else value for one, value in pairs)

    def of(self, algorithm: str, point: Point | None = None) -> list[Outcome]:
        """Returns the runs of an algorithm, at one point or at all points."""
        if point is not None:
            return self._cells.get((algorithm, point), [])
        return [outcome for outcome in self.outcomes if outcome.congestion == algorithm]

    def values(self, algorithm: str, measure: Measure, point: Point | None = None) -> list[float]:
        """Returns the values of a metric for an algorithm, from each run that has it."""
        values = (getattr(outcome, measure.column) for outcome in self.of(algorithm, point))
        return [value for value in values if value is not None and not math.isnan(value)]

    def is_identical(self, algorithm: str, point: Point | None = None) -> bool:
        """Returns true if several runs of an algorithm are identical.

        These runs have no randomness, so they count as one.
        """
        runs = self.of(algorithm, point)
        return len(runs) > 1 and all(one.is_same(runs[0]) for one in runs[1:])

    def interval(self, algorithm: str, measure: Measure, point: Point | None = None) -> Interval:
        """Returns mean and 95 % interval of a metric over an algorithm's runs; no half width if they are identical."""
        interval = mean_interval(self.values(algorithm, measure, point), self.confidence(measure))
        if self.is_identical(algorithm, point):
            return Interval(interval.mean, math.nan, interval.count)
        return interval

    def confidence(self, measure: Measure) -> float:
        """Returns the confidence of a metric's intervals: 0.95, or the value required by the target of a study."""
        return self._confidences.get(measure.column, 0.95)

    def cells(self) -> Iterable[tuple[str, Point]]:
        """Returns every algorithm at every point that has finished runs, point by point."""
        return ((name, point) for point in self.points for name in self.algorithms if (name, point) in self._cells)

    @property
    def runs(self) -> pl.DataFrame:
        """The runs as a data frame, one row each."""
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
        """The flows of all runs as a data frame: one row per run and flow."""
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
        """The means as a data frame, one row per algorithm, point and metric: mean, half width of the 95 % interval,
        runs.

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
        """Returns a table by name as a data frame of pandas.

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
        """Returns the comparison as a text table; fairness only if there are several flows."""
        labels = [variable.label for variable in self.variables]
        there = self.measures
        shown = [measure for measure in MEASURES if measure.column != "jain" or measure in there]
        largest = {measure: self._largest(measure) for measure in shown}
        return [
            {"congestion": name, **dict(zip(labels, point, strict=True)), **self._row(name, point, largest)}
            for name, point in self.cells()
        ]

    def _largest(self, measure: Measure) -> float:
        """Returns the largest mean of a metric in any cell."""
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
        """Returns the goodput of algorithms that compete.

        Each entry has the candidate, the point, the algorithm and the mean goodput of the algorithm's flows.
        """
        found = json.loads(_engine.analysis(json.dumps({"shares": self.asked()})))
        return [
            (self.algorithms[one["algorithm"]], self.points[one["point"]], one["name"], _interval(**one["interval"]))
            for one in found
        ]

    def asked(self, run: Callable[[Outcome], dict[str, Any]] | None = None) -> dict[str, Any]:
        """Returns the comparison in the form that the engine reads.

        Parameters
        ----------
        run
            Function that returns the data of a run for the engine. By default these are the flows if several algorithms
            compete in the run, and nothing otherwise.
        """
        measures = [measure.column for measure in self.measures]
        points = {point: at for at, point in enumerate(self.points)}

        def by_seed(runs: Iterable[Outcome], column: str) -> list[tuple[int, float]]:
            values = ((one.seed, getattr(one, column)) for one in runs)
            return [(seed, value) for seed, value in values if value is not None and not math.isnan(value)]

        def cell(name: str, point: Point) -> dict[str, Any]:
            runs = self.of(name, point)
            compete = any(len(set(one.flows.congestion) - {UDP}) > 1 for one in runs)
            shown = run or (Outcome.asked if compete else None)
            rtts = (rtt for one in runs for rtt in one.flows.min_rtt_s if rtt is not None)
            return {
                "algorithm": self.algorithms.index(name),
                "point": points[point],
                "min_rtt_s": min(rtts, default=None),
                "is_fixed": self.is_identical(name, point),
                "values": {column: by_seed(runs, column) for column in measures},
                "runs": [] if shown is None else [shown(one) for one in runs],
            }

        return {
            "algorithms": self.algorithms,
            "variables": [
                {"label": one.label, "values": one.values, "is_name": not one.keys} for one in self.variables
            ],
            "points": self.points,
            "measures": measures,
            "confidences": {measure.column: self.confidence(measure) for measure in MEASURES},
            "cells": [cell(name, point) for name, point in self.cells()],
        }

    def about(self) -> dict[str, Any]:
        """Returns the contents of ``run.json`` for the comparison."""
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
        """Returns the runs with their keys in a journal."""
        return zip(self._keys or [""] * len(self.outcomes), self.outcomes, strict=True)

    @property
    def measures(self) -> list[Measure]:
        """Metrics that at least one run has; fairness only if there are several flows."""
        alone = all(len(outcome.flows.name) == 1 for outcome in self.outcomes)
        return [
            measure
            for measure in MEASURES
            if not (measure.column == "jain" and alone)
            and any(getattr(outcome, measure.column) is not None for outcome in self.outcomes)
        ]

    @property
    def has_traces(self) -> bool:
        """Whether the scenario recorded the data for figures over time."""
        return any(outcome.arrived_bytes is not None for outcome in self.outcomes)

    def __getstate__(self) -> dict[str, Any]:
        # What unpickles it did not compute it.
        return self.__dict__ | {"_origin": self.origin}


def _interval(mean: float | None, half_width: float | None, count: int) -> Interval:
    """Returns an interval from its JSON form, in which None stands for NaN."""
    return Interval(math.nan if mean is None else mean, math.nan if half_width is None else half_width, count)
