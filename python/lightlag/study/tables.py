"""The results of a study as tables: one row per run, one row per flow of a run, one row per cell and metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightlag.analyse import student_t
from lightlag.comparison.comparison import Comparison
from lightlag.outcomes.design import MEASURES, Values, columns_of
from lightlag.outcomes.outcome import Outcome
from lightlag.outcomes.plan import Plan, Run
from lightlag.study import entry as entries
from lightlag.study.store import Store
from lightlag.study.target import Target

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DICTIONARY", "Tables", "comparison"]

PLAIN = ("timeouts", "simulated_s", "bottleneck", "result_hash")
DICTIONARY = {
    "congestion": "label of the algorithm, or of the algorithms that the flows take in turn",
    "seed": "seed of the run",
    **{measure.column: measure.about for measure in MEASURES},
    "timeouts": "expirations of the retransmission timer, of all flows",
    "simulated_s": "simulated time in seconds",
    "bottleneck": "link direction with the longest total wait of data packets",
    "result_hash": "hash of every recorded value of the run",
    "flow": "name of the flow",
    "algorithm": "congestion control of the flow",
    "min_rtt_s": "minimum round-trip sample of the flow; the sum over its legs if proxies split it",
    "leg": "leg whose segments are counted, if proxies split the flow",
    "measure": "column of the table of runs",
    "mean": "mean of the runs that have the metric",
    "half_width": "half-width of the confidence interval of the mean (Student's t); NaN if there is none",
    "runs": "number of runs that have the metric",
    "identical": "whether all runs have exactly the same value: nothing in them is random",
    "reached": "whether the target of the study is reached at this point; null for other metrics",
}
"""The columns of all tables, with their meanings; columns of variables are named by their keys."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of the runs that have finished."""

    runs: pl.DataFrame
    flows: pl.DataFrame
    summary: pl.DataFrame

    @classmethod
    def of(cls, plan: Plan, store: Store, measures: Sequence[str], target: Target | None) -> Tables:
        """Returns the tables of a plan in the order of its cells and seeds.

        The order does not depend on the executor, or on the order in which runs finish.
        """
        import polars as pl

        names = columns_of(plan.design.variables)
        values = Values(plan.design.variables)
        cells = pl.DataFrame(
            [[at, cell.congestion, *values.of(cell.point)] for at, cell in enumerate(plan.cells)],
            schema={"cell": pl.UInt32, "congestion": pl.String, **names},
            orient="row",
        )
        found = _found(plan, store).join(store.table(), on="key", how="inner").sort("cell", "seed")
        found = found.join(cells, on="cell", maintain_order="left")
        place = ["congestion", *names, "seed"]
        flows = found.select(*place, "flows").explode("flows").unnest("flows", separator=".")
        flows = flows.rename({"flows.name": "flow", "flows.congestion": "algorithm"})
        flows = flows.rename({name: name.removeprefix("flows.") for name in flows.columns})
        runs = found.select(*place, *measures, *PLAIN)
        return cls(runs, flows, _summary(found, cells, [*names], measures, target))


def _found(plan: Plan, store: Store) -> pl.DataFrame:
    """Returns the cell, seed and key of every finished run of a plan."""
    import polars as pl

    runs = ((at, Run(cell, seed)) for at, cell in enumerate(plan.cells) for seed in plan.seeds)
    rows = [(at, run.seed, key) for at, run in runs if (key := run.key) in store]
    return pl.DataFrame(rows, schema={"cell": pl.UInt32, "seed": pl.UInt64, "key": pl.String}, orient="row")


def _summary(
    found: pl.DataFrame, cells: pl.DataFrame, names: list[str], measures: Sequence[str], target: Target | None
) -> pl.DataFrame:
    import polars as pl

    kept = [*measures, *PLAIN[:3]]
    same = pl.all_horizontal(pl.col(name).n_unique() == 1 for name in kept) & (pl.len() > 1)
    each = []
    for measure in measures:
        column = pl.col(measure).filter(pl.col(measure).is_not_null() & pl.col(measure).is_not_nan())
        each += [
            column.mean().alias(f"{measure} mean"),
            column.std().alias(f"{measure} std"),
            column.len().alias(f"{measure} count"),
        ]
    grouped = found.group_by("cell", maintain_order=True).agg(same.alias("identical"), *each)
    quantiles: dict[tuple[int, bool], float] = {}

    def half(spread: float | None, count: int, is_judged: bool) -> float:
        if spread is None or count < 2:
            return math.nan
        if (count, is_judged) not in quantiles:
            inside = target.inside if target is not None and is_judged else 0.95
            quantiles[count, is_judged] = student_t(inside, count - 1) / math.sqrt(count)
        return spread * quantiles[count, is_judged]

    rows = []
    for row in grouped.iter_rows(named=True):
        for measure in measures:
            mean, spread, count = (row[f"{measure} {what}"] for what in ("mean", "std", "count"))
            is_judged = target is not None and target.metric == measure
            width = math.nan if row["identical"] else half(spread, count, is_judged)
            reached = None
            if target is not None and is_judged:
                reached = count > 1 and (row["identical"] or target.is_within(mean, width))
            rows.append((row["cell"], measure, mean, width, count, row["identical"], reached))
    schema = {"cell": pl.UInt32, "measure": pl.String, "mean": pl.Float64, "half_width": pl.Float64}
    schema |= {"runs": pl.UInt32, "identical": pl.Boolean, "reached": pl.Boolean}
    table = pl.DataFrame(rows, schema=schema, orient="row").join(cells, on="cell", maintain_order="left")
    kept = ["congestion", *names, "measure", "mean", "half_width", "runs", "identical"]
    return table.select(*kept, *(["reached"] if target is not None else []))


def comparison(plan: Plan, store: Store, target: Target | None = None, expected: int | None = None) -> Comparison:
    """Returns the finished runs as a comparison, which has figures and a report.

    Parameters
    ----------
    expected
        Number of runs of the complete study.
    """
    finished = _found(plan, store)
    by_key = {one.key: one for one in entries.entries(store.table().join(finished, on="key", how="semi"))}
    outcomes: list[Outcome] = []
    keys = []
    for at, seed, key in finished.iter_rows():
        outcomes.append(by_key[key].outcome(plan.cells[at], seed))
        keys.append(key)
    confidences = {} if target is None else {target.metric: target.inside}
    return Comparison(plan.design, outcomes, keys, expected=expected, confidences=confidences)
