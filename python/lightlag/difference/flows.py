"""The flows of two runs side by side, matched by name.

Where proxies split a flow, segments and timeouts are those of its longest leg, as in a comparison, and its round trip
is the sum of those of its legs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lightlag.outcomes.design import Measure
from lightlag.records.summary import legs_of, longest_leg

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MEASURES", "frame"]

MEASURES = {
    measure.column: measure
    for measure in (
        Measure("goodput_bps", "Goodput", "bit/s", "payload in order over the time from start to finish or end"),
        Measure("completion_s", "Completion time", "s", "from the start to the last byte"),
        Measure("mean_rtt_s", "RTT", "ms", "the mean of the round-trip samples"),
        Measure("retransmitted_share", "Resent", "%", "segments with payload sent again, of all that were sent"),
        Measure("timeouts", "Timeouts", "", "expirations of the retransmission timer"),
        Measure("queue_packets", "Queue", "packets", "the mean number of packets that wait at the flow's bottleneck"),
        Measure("queueing_s", "Queueing", "ms", "the mean wait of data packets there, with record.queueing"),
    )
}
"""The measures of a flow by column. Its bottleneck is the slowest link direction on its way."""


def frame(a: Mapping[str, Any], b: Mapping[str, Any]) -> pl.DataFrame:
    """A row for each flow and each measure that one of the runs has.

    Parameters
    ----------
    a, b
        Summaries of runs.

    Returns
    -------
    polars.DataFrame
        ``flow``, ``measure``, ``a``, ``b``, ``difference`` (``b`` less ``a``), ``relative`` (the difference by ``a``),
        ``only_a`` and ``only_b`` (whether the other run has no such flow).
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
    """The measures of each flow by its name."""
    legs, links = legs_of(summary), {link["name"]: link for link in summary["links"]}
    return {flow["name"]: _flow(flow, legs.get(flow["name"], []), links) for flow in summary["flows"]}


def _flow(
    flow: Mapping[str, Any], legs: list[dict[str, Any]], links: Mapping[str, Mapping[str, Any]]
) -> dict[str, float | None]:
    sender = longest_leg(legs) if legs else flow
    rtts = [part["mean_rtt_s"] for part in (legs if legs else (flow,))]
    sent, again = sender["sent_segments"], sender["retransmitted_segments"]
    bottleneck = links.get(flow["bottleneck"], {})
    return {
        "goodput_bps": flow["goodput_bps"],
        "completion_s": None if flow["finish_s"] is None else flow["finish_s"] - flow["start_s"],
        "mean_rtt_s": None if None in rtts else sum(rtts),
        # Datagrams are never sent again, and have no timer.
        "retransmitted_share": None if "datagrams" in flow or not sent else again / sent,
        "timeouts": None if "datagrams" in flow else sender["timeouts"],
        "queue_packets": bottleneck.get("mean_queue_packets"),
        "queueing_s": bottleneck.get("mean_wait_s"),
    }
