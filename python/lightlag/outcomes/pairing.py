"""Differences between two sets of runs, paired by seed: the same seed draws the same losses and starts on both sides.

A run is a row of a data frame: what was run (``congestion`` and a column for each variable), its ``seed``, and a column
for each metric. The interval is Student's t on the differences, which is narrower than for two independent samples if
the seeds affect both sides in the same way.

The effect size is d_z = mean of the differences / their standard deviation (Cohen, *Statistical Power Analysis for the
Behavioral Sciences*, 2nd ed., 1988, p. 48; so named by Lakens, *Frontiers in Psychology* 4:863, 2013). Its unit is the
standard deviation of the differences, not of the runs: it is not the d of independent groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lightlag.analyse import student_t
from lightlag.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CONFIDENCE", "paired"]

CONFIDENCE = 0.95
"""Confidence of every interval."""


def paired(a: pl.DataFrame, b: pl.DataFrame, cell: Sequence[str], measures: Sequence[str]) -> pl.DataFrame:
    """Compares the metrics of two sets of runs, cell by cell.

    Parameters
    ----------
    a, b
        One row per run, with the columns of `cell`, ``seed`` and `measures`. A missing metric is null or NaN.
    cell
        The columns that identify a cell: ``congestion`` and the variables.
    measures
        The columns to compare.

    Returns
    -------
    polars.DataFrame
        One row for each cell that both sides have, in the order of `a`, and each metric that a run of the cell has:
        ``measure``; ``pairs``; ``only_a`` and ``only_b``, unpaired values; ``a`` and ``b``, the means over the pairs;
        ``difference``, ``b`` minus ``a``; ``half_width`` of its 95 % interval; ``relative``, the difference divided by
        ``a``; and ``effect_size``, d_z. A number that does not exist is null: half width and effect size of fewer than
        two pairs or of equal differences, which have no spread, and a change relative to 0.

    Raises
    ------
    InputError
        If a column is missing, or if one side has two runs of the same seed in a cell.

    Examples
    --------
    >>> import polars as pl
    >>> a = pl.DataFrame({"congestion": ["cubic"] * 3, "seed": [1, 2, 3], "goodput_bps": [9.0, 10.0, 11.0]})
    >>> b = pl.DataFrame({"congestion": ["cubic"] * 3, "seed": [1, 2, 4], "goodput_bps": [10.0, 13.0, 11.0]})
    >>> found = paired(a, b, ["congestion"], ["goodput_bps"])
    >>> found.select("pairs", "only_a", "only_b", "difference", pl.col("effect_size").round(3)).row(0)
    (2, 1, 1, 2.0, 1.414)
    """
    import polars as pl

    by = [*cell, "seed"]
    for side, frame in (("a", a), ("b", b)):
        if absent := [name for name in (*by, *measures) if name not in frame.columns]:
            raise InputError(f"{side}: has no column {absent[0]}; there are {', '.join(frame.columns)}")
        if frame.select(by).is_duplicated().any():
            raise InputError(f"{side}: has several runs of one seed in a cell; name every variable in cell")
    order, where = a.select(cell).unique(maintain_order=True).with_row_index("cell"), [*cell, "measure"]
    values = _values(a, by, measures, "a").join(
        _values(b, by, measures, "b"), on=[*by, "measure"], how="full", coalesce=True, nulls_equal=True
    )
    both = pl.col("a").is_not_null() & pl.col("b").is_not_null()
    change = (pl.col("b") - pl.col("a")).filter(both)
    found = (
        values.join(b.select(cell).unique(), on=cell, how="semi", nulls_equal=True)
        .group_by(where)
        .agg(
            both.sum().alias("pairs"),
            (pl.col("a").is_not_null() & ~both).sum().alias("only_a"),
            (pl.col("b").is_not_null() & ~both).sum().alias("only_b"),
            pl.col("a").filter(both).mean(),
            pl.col("b").filter(both).mean(),
            change.mean().alias("difference"),
            # Equal differences have no spread; the sum of their rounding errors would be one.
            pl.when(change.min() < change.max()).then(change.std()).alias("spread"),
        )
        .join(order, on=cell, nulls_equal=True)
        .join(pl.DataFrame({"measure": measures}).with_row_index("place"), on="measure")
        .sort("cell", "place")
    )
    quantiles = {count: student_t(CONFIDENCE, count - 1) for count in found["pairs"].unique() if count > 1}
    root = pl.col("pairs").cast(pl.Float64).sqrt()
    quantile = pl.col("pairs").replace_strict(quantiles, default=None, return_dtype=pl.Float64)
    return found.select(
        *where,
        "pairs",
        "only_a",
        "only_b",
        "a",
        "b",
        "difference",
        (quantile * pl.col("spread") / root).alias("half_width"),
        pl.when(pl.col("a") != 0).then(pl.col("difference") / pl.col("a")).alias("relative"),
        (pl.col("difference") / pl.col("spread")).alias("effect_size"),
    )


def _values(frame: pl.DataFrame, by: Sequence[str], measures: Sequence[str], side: str) -> pl.DataFrame:
    """Returns a table with one row per value of each metric."""
    import polars as pl

    numbers = frame.select(*by, *(pl.col(name).cast(pl.Float64) for name in measures))
    long = numbers.unpivot(measures, index=by, variable_name="measure", value_name=side)
    return long.filter(pl.col(side).is_not_nan()).drop_nulls(side)
