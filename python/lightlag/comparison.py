"""Several algorithms side by side: the same seeds for each, means with their 95 % intervals."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.analyse import Interval, delivered, jain, mean_interval
from lightlag.results import Result, Row, rate

if TYPE_CHECKING:
    import polars as pl

    from lightlag.analyse import Numbers
    from lightlag.style import Chart

__all__ = ["MEASURES", "Comparison", "Measure", "Outcome"]


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that a comparison compares."""

    column: str
    title: str
    unit: str
    """As printed; "bit/s" takes a decimal prefix, "%" multiplies by 100."""

    def show(self, interval: Interval) -> str:
        """Mean ± half width with the unit, rounded to two digits of the half width."""
        if interval.count == 0:
            return "–"
        mean, half, unit = interval.mean, interval.half_width, self.unit
        if unit == "%":
            mean, half = mean * 100, half * 100
        elif unit == "bit/s":
            text = rate(mean).split()[1]
            factor = 10.0 ** (3 * " kMGT".index((text[:-5] or " ")[0]))
            mean, half, unit = mean / factor, half / factor, text
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
    Measure("goodput_bps", "Goodput", "bit/s"),
    Measure("completion_s", "Completion time", "s"),
    Measure("jain", "Jain fairness", ""),
    Measure("retransmitted_share", "Resent", "%"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a comparison keeps of one run."""

    congestion: str
    seed: int
    goodput_bps: float
    """Payload delivered by all flows over the time from the first start to the last finish or the end."""
    completion_s: float | None
    """From the first start to the last finish; None if a transfer is unfinished or there is none."""
    jain: float
    retransmitted_share: float
    timeouts: int
    result_hash: str
    delivered: tuple[Numbers, Numbers] | None
    """Times in seconds and the bytes that all flows together had delivered; None if there is no trace."""
    result: Result | None
    """The run itself, for the first seed."""

    @classmethod
    def of(cls, congestion: str, seed: int, result: Result, keep: bool) -> Outcome:
        """Reduces a run to what a comparison needs."""
        flows = result.summary["flows"]
        start = min(flow["start_s"] for flow in flows)
        finishes = [flow["finish_s"] for flow in flows]
        ends = [result.simulated_s if finish is None else finish for finish in finishes]
        seconds = max(ends) - start
        sent = sum(flow["sent_segments"] for flow in flows)
        again = sum(flow["retransmitted_segments"] for flow in flows)
        return cls(
            congestion=congestion,
            seed=seed,
            goodput_bps=sum(flow["delivered_bytes"] for flow in flows) * 8 / seconds if seconds > 0 else 0.0,
            completion_s=None if None in finishes else seconds,
            jain=jain(flow["goodput_bps"] for flow in flows),
            retransmitted_share=again / sent if sent else 0.0,
            timeouts=sum(flow["timeouts"] for flow in flows),
            result_hash=result.result_hash,
            delivered=_delivered(result),
            result=result if keep else None,
        )


_POINTS = 5000


def _delivered(result: Result) -> tuple[Numbers, Numbers] | None:
    """The delivered bytes on a grid that is fine enough for any figure."""
    import numpy as np

    trace = result.trace("goodput")
    if trace.is_empty():
        return None
    times = np.linspace(0.0, result.simulated_s, _POINTS + 1)
    total = np.zeros_like(times)
    for _, level in delivered(trace, times):
        total += level
    return times, total


def bin_width(seconds: float) -> float:
    """A round interval that cuts a time into 50 to 125 bins, at least 0.1 s.

    Examples
    --------
    >>> bin_width(120.0), bin_width(10.0), bin_width(3600.0)
    (1.0, 0.1, 50.0)
    """
    least = max(seconds / 125, 0.1)
    power = 10.0 ** math.floor(math.log10(least) + 1e-9)
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= least * (1 - 1e-9))


class Comparison:
    """Algorithms side by side, over the same seeds. Made by :func:`lightlag.compare`."""

    def __init__(self, algorithms: Sequence[str], scenario: dict[str, Any], outcomes: Sequence[Outcome]) -> None:
        self.scenario = scenario
        self.outcomes = tuple(outcomes)
        self.algorithms = [name for name in algorithms if any(outcome.congestion == name for outcome in outcomes)]

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return str(self.scenario["name"])

    @property
    def runs(self) -> pl.DataFrame:
        """One row a run."""
        import polars as pl

        columns = {
            "congestion": pl.String,
            "seed": pl.UInt64,
            "goodput_bps": pl.Float64,
            "completion_s": pl.Float64,
            "jain": pl.Float64,
            "retransmitted_share": pl.Float64,
            "timeouts": pl.UInt64,
            "result_hash": pl.String,
        }
        rows = [[getattr(outcome, column) for column in columns] for outcome in self.outcomes]
        return pl.DataFrame(rows, schema=columns, orient="row")

    @property
    def summary(self) -> pl.DataFrame:
        """One row an algorithm and measure: mean, half width of the 95 % interval and number of runs."""
        import polars as pl

        rows = []
        for name in self.algorithms:
            for measure in MEASURES:
                interval = self.interval(name, measure)
                rows.append((name, measure.column, interval.mean, interval.half_width, interval.count))
        schema = {
            "congestion": pl.String,
            "measure": pl.String,
            "mean": pl.Float64,
            "half_width": pl.Float64,
            "runs": pl.UInt32,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def of(self, algorithm: str) -> list[Outcome]:
        """The runs of an algorithm."""
        return [outcome for outcome in self.outcomes if outcome.congestion == algorithm]

    def values(self, algorithm: str, measure: Measure) -> list[float]:
        """A measure of each run of an algorithm, where it has one."""
        values = (getattr(outcome, measure.column) for outcome in self.of(algorithm))
        return [value for value in values if value is not None and not math.isnan(value)]

    def interval(self, algorithm: str, measure: Measure) -> Interval:
        """Mean and 95 % interval of a measure over an algorithm's runs."""
        return mean_interval(self.values(algorithm, measure))

    def rows(self) -> list[Row]:
        """The comparison as text, for people."""
        return [{"congestion": name, **self._row(name)} for name in self.algorithms]

    def _row(self, name: str) -> Row:
        runs = len(self.of(name))
        row = {}
        for measure in MEASURES:
            interval = self.interval(name, measure)
            some = f" ({interval.count} of {runs})" if 0 < interval.count < runs else ""
            row[measure.title.lower()] = measure.show(interval) + some
        return row | {"runs": str(runs)}

    def plot(self, kind: str = "bars", path: str | os.PathLike[str] | None = None) -> Chart:
        """A figure: ``"bars"`` of every measure, ``"goodput"`` or ``"cwnd"`` over time.

        Parameters
        ----------
        path
            Where to write it; the suffix decides the format (.pdf, .svg, .png).
        """
        from lightlag import plot
        from lightlag.errors import InputError

        if kind not in plot.COMPARISONS:
            raise InputError(f'no comparison figure "{kind}"; there are {", ".join(plot.COMPARISONS)}')
        figure = plot.COMPARISONS[kind](self)
        if path is not None:
            plot.save(figure, path)
        return figure

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes ``run.json``, ``runs.parquet``, ``summary.csv`` and the figures, as a whole or not at all."""
        from lightlag import plot
        from lightlag._writing import new_folder

        with new_folder(folder, force=force) as partial:
            about = {"comparison": self.algorithms, "version": _engine.__version__, "scenario": self.scenario}
            (partial / "run.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
            self.runs.write_parquet(partial / "runs.parquet")
            self.summary.write_csv(partial / "summary.csv")
            for kind in plot.COMPARISONS:
                if kind == "bars" or self.has_traces:
                    for suffix in ("pdf", "png"):
                        self.plot(kind, partial / f"{kind}.{suffix}")
        return Path(folder)

    @property
    def has_traces(self) -> bool:
        """Whether the scenario recorded what figures over time need."""
        return any(outcome.delivered is not None for outcome in self.outcomes)

    def __repr__(self) -> str:
        return f"<Comparison {self.name!r}: {', '.join(self.algorithms)}; {len(self.outcomes)} runs>"

    def _repr_html_(self) -> str:
        from lightlag.results import html_table

        return f"<b>{self.name}</b>" + html_table(self.rows())
