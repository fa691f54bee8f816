"""The reasons for the speed of a run, in sentences from the engine: what limited its senders, losses, queues, BDP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.records.summary import for_analysis

if TYPE_CHECKING:
    from lightlag.records.records import Records

__all__ = ["Account", "account"]


@dataclass(frozen=True, slots=True)
class Account:
    """An explanation of the speed of a run.

    Attributes
    ----------
    headline
        The run in a sentence.
    flows
        Sentences about each flow, by the flow's name, the slowest first.
    """

    headline: str
    flows: tuple[tuple[str, tuple[str, ...]], ...]


def account(result: Records) -> Account:
    """Returns the reasons for the speed of a run."""
    run = for_analysis(result.parts)
    senders = json.loads(_engine.analysis(f'{{"told_senders": {run}}}'))
    recorded = [{"trace": _trace(result, **sender), "drops": _drops(result, sender["flow"])} for sender in senders]
    told = json.loads(_engine.analysis(f'{{"account": {{"run": {run}, "recorded": {json.dumps(recorded)}}}}}'))
    return Account(told["headline"], tuple((name, tuple(sentences)) for name, sentences in told["flows"]))


def _trace(result: Records, flow: str, leg: int | None) -> dict[str, Any] | None:
    """Returns the bytes that a sender has sent by its last row, and the rows that set a new maximum of its window."""
    import polars as pl

    if result.scenario["record"]["trace"] == "off":
        return None
    trace = result.trace()
    rows = trace.filter(pl.col("flow").cast(pl.String) == flow)
    if leg is not None and "leg" in rows.columns:
        rows = rows.filter(leg=leg)
    if rows.is_empty():
        return None
    window = rows["cwnd_segments"].fill_nan(None).fill_null(float("-inf"))
    highest = rows.filter(window > window.cum_max().shift(1, fill_value=float("-inf")))
    return {
        "sent_bytes": rows["sent_bytes"][-1],
        "highest": highest.select("time_s", "arrived_bytes", "cwnd_segments").rows(),
    }


def _drops(result: Records, flow: str) -> list[tuple[str, str, int]] | None:
    """Returns the dropped packets of a flow on the forward path: link, cause and number of packets."""
    import polars as pl

    if not result.scenario["record"].get("drops", True):
        return None
    own = result.drops.filter((pl.col("flow").cast(pl.String) == flow) & ~pl.col("backward"))
    counted = own.group_by(pl.col("link", "cause").cast(pl.String)).len()
    return list(counted.sort("len", "link", "cause", descending=[True, False, False]).iter_rows())
