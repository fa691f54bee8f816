"""The flows of two runs side by side, matched by name.

Where proxies split a flow, segments and timeouts are taken from its longest leg, as in a comparison, and its round trip
is the sum over its legs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lightlag.outcomes import design
from lightlag.outcomes.design import Measure
from lightlag.records.lists import column
from lightlag.records.summary import asked

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MEASURES", "frame"]

MEASURES = {
    measure.column: measure
    for measure in (
        Measure("goodput_bps", "Goodput", "bit/s", "payload in order over the time from start to finish or end"),
        Measure("completion_s", "Completion time", "s", "from the start to the last byte"),
        Measure("mean_rtt_s", "RTT", "ms", "the mean of the round-trip samples"),
        next(one for one in design.MEASURES if one.column == "retransmitted_share"),
        Measure("timeouts", "Timeouts", "", "expirations of the retransmission timer"),
        Measure("queue_packets", "Queue", "packets", "the mean number of packets that wait at the flow's bottleneck"),
        Measure("queueing_s", "Queueing", "ms", "the mean wait of data packets there, with record.queueing"),
    )
}
"""The metrics of a flow, by column. The bottleneck of a flow is the slowest link direction on its path."""


def frame(a: Mapping[str, Any], b: Mapping[str, Any]) -> pl.DataFrame:
    """Returns one row per flow and metric that at least one of the runs has.

    Parameters
    ----------
    a, b
        Summaries of runs.

    Returns
    -------
    polars.DataFrame
        ``flow``, ``measure``, ``a``, ``b``, ``difference`` (``b`` minus ``a``), ``relative`` (the difference divided by
        ``a``), ``only_a`` and ``only_b`` (whether the other run has no such flow).
    """
    import polars as pl

    one, other = _flows(a), _flows(b)
    rows = []
    for flow in dict.fromkeys([*one, *other]):
        for measure in MEASURES:
            pair = one.get(flow, {}).get(measure), other.get(flow, {}).get(measure)
            if pair != (None, None):
                rows.append((flow, measure, *pair, flow not in other, flow not in one))
    names = {"flow": pl.String, "measure": pl.String, "a": pl.Float64, "b": pl.Float64}
    table = pl.DataFrame(rows, schema=names | {"only_a": pl.Boolean, "only_b": pl.Boolean}, orient="row")
    change = pl.col("b") - pl.col("a")
    relative = pl.when(pl.col("a") != 0).then(change / pl.col("a"))
    return table.select(*names, change.alias("difference"), relative.alias("relative"), "only_a", "only_b")


def _flows(summary: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Returns the metrics of each flow, by its name."""
    found: dict[str, dict[str, float | None]] = asked("flow_measures", summary)
    return {name: found[name] for name in column(summary["flows"], "name")}
