"""Why a run was as fast as it was, in sentences of the engine: where the time of senders went, losses, queues, BDP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.records.lists import texts

if TYPE_CHECKING:
    from lightlag.records.records import Records

__all__ = ["Account", "account"]


@dataclass(frozen=True, slots=True)
class Account:
    """The account of a run.

    Attributes
    ----------
    headline
        The run in a sentence.
    flows
        The names of flows, the slowest first, each with its sentences.
    """

    headline: str
    flows: tuple[tuple[str, tuple[str, ...]], ...]


def account(result: Records) -> Account:
    """Why a run was as fast as it was."""
    parts = result.parts
    run = "".join(texts({key: parts[key] for key in ("flows", "legs", "links", "simulated_s") if key in parts}))
    senders = json.loads(_engine.analysis(f'{{"told_senders": {run}}}'))
    recorded = [{"trace": _trace(result, **sender), "drops": _drops(result, sender["flow"])} for sender in senders]
    told = json.loads(_engine.analysis(f'{{"account": {{"run": {run}, "recorded": {json.dumps(recorded)}}}}}'))
    return Account(told["headline"], tuple((name, tuple(sentences)) for name, sentences in told["flows"]))


def _trace(result: Records, flow: str, leg: int | None) -> dict[str, Any] | None:
    """What a sender had sent by its last row, and the rows in which its window was larger than ever before."""
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
    """The packets of a flow on their way to the receiver that were dropped: link, cause, number."""
    import polars as pl

    if not result.scenario["record"].get("drops", True):
        return None
    own = result.drops.filter((pl.col("flow").cast(pl.String) == flow) & ~pl.col("backward"))
    counted = own.group_by(pl.col("link", "cause").cast(pl.String)).len()
    return list(counted.sort("len", "link", "cause", descending=[True, False, False]).iter_rows())
