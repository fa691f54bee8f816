"""Why a run was as fast as it was, in sentences: where the time of each sender went, losses, queues, window and BDP."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightlag.outcomes.outcome import UDP
from lightlag.records.summary import leg_name, legs_of, longest_leg
from lightlag.report.answer import listed
from lightlag.text.quantities import milliseconds, number, rate, size

if TYPE_CHECKING:
    import polars as pl

    from lightlag.records.records import Records

__all__ = ["Account", "account"]

_FLOWS = 6
"""That have an account of their own."""
_FULL = 0.9
"""The share of the time from which on a link is called full."""
_UNLIMITED = 1e9
"""Segments of a window from which on it is none: that of ``congestion = "none"``."""
_LITTLE = 0.05
"""The share of a sender's time below which a limit is left out."""

_HELD = {
    "cwnd": "the congestion window held it back",
    "rwnd": "the receiver's window held it back",
    "application": "its application had nothing to send, or the connection opened and closed",
    "pacing": "pacing held it back",
    "recovery": "it repaired losses",
    "timeout": "it waited for timeouts, or repaired after them",
}


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
    summary = result.summary
    flows = [flow for flow in summary["flows"] if flow["congestion"] != UDP]
    legs = legs_of(summary)
    seen = _Seen(result, {link["name"]: link for link in summary["links"]})
    if not flows:
        return Account(f"No flow of TCP; {len(summary['flows'])} flows of datagrams.", ())
    slowest = sorted(flows, key=lambda flow: flow["goodput_bps"])[:_FLOWS]
    alone = len(flows) == 1
    told = tuple((flow["name"], _of_flow(flow, legs.get(flow["name"]), seen, alone=alone)) for flow in slowest)
    return Account(_headline(flows, legs, seen), told)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The facts that the sentences look up."""

    result: Records
    links: Mapping[str, Mapping[str, Any]]

    def trace(self, flow: str, leg: int | None) -> pl.DataFrame | None:
        """The trace of a sender, if there is one."""
        import polars as pl

        if self.result.scenario["record"]["trace"] == "off":
            return None
        trace = self.result.trace()
        rows = trace.filter(pl.col("flow").cast(pl.String) == flow)
        return rows if leg is None or "leg" not in rows.columns else rows.filter(leg=leg)

    def drops(self, flow: str) -> list[tuple[str, str, int]] | None:
        """The packets of a flow on their way to the receiver that were dropped: link, cause, number."""
        import polars as pl

        if not self.result.scenario["record"].get("drops", True):
            return None
        own = self.result.drops.filter((pl.col("flow").cast(pl.String) == flow) & ~pl.col("backward"))
        counted = own.group_by(pl.col("link", "cause").cast(pl.String)).len()
        return list(counted.sort("len", "link", "cause", descending=[True, False, False]).iter_rows())


def _headline(flows: Sequence[Mapping[str, Any]], legs: Mapping[str, Any], seen: _Seen) -> str:
    if len(flows) == 1:
        (flow,) = flows
        return f"{flow['name']} reached {_of_its_path(flow, seen)}: {_main_reason(flow, legs.get(flow['name']), seen)}."
    rates = [flow["goodput_bps"] for flow in flows]
    reasons = [_kind(flow, legs.get(flow["name"]), seen) for flow in flows]
    order = sorted(dict.fromkeys(reasons), key=lambda kind: -reasons.count(kind))
    parts = [f"{'all' if len(order) == 1 else reasons.count(kind)} {_MANY[kind]}" for kind in order]
    return f"{len(flows):,} flows reached {rate(min(rates))} to {rate(max(rates))}: {listed(parts)}."


_MANY = {
    "path": "met a slowest link that was full",
    "failure": "were given up",
    "none": "did not start",
    "cwnd": "were held back most by the congestion window",
    "rwnd": "were held back most by the receiver's window",
    "application": "waited most for their application",
    "pacing": "were held back most by pacing",
    "recovery": "spent most of their time on repairs",
    "timeout": "spent most of their time on timeouts",
}


def _sender(flow: Mapping[str, Any], legs: Sequence[Mapping[str, Any]] | None) -> Mapping[str, Any]:
    """The sender whose account counts: that of the longest leg where proxies split a flow."""
    return longest_leg(legs) if legs else flow


def _kind(flow: Mapping[str, Any], legs: Sequence[Mapping[str, Any]] | None, seen: _Seen) -> str:
    if flow.get("failure"):
        return "failure"
    if _utilisation(flow, seen) >= _FULL:
        return "path"
    limits = _sender(flow, legs)["limited_s"]
    return max(limits, key=lambda name: limits[name]) if sum(limits.values()) > 0 else "none"


def _utilisation(flow: Mapping[str, Any], seen: _Seen) -> float:
    """The share of the run in which the slowest link on the way transmitted."""
    link = seen.links.get(flow["bottleneck"] or "")
    return float(link["utilisation"]) if link else 0.0


def _rate_of(flow: Mapping[str, Any], seen: _Seen) -> float | None:
    link = seen.links.get(flow["bottleneck"] or "")
    return None if link is None or link["rate_bps"] is None else float(link["rate_bps"])


def _of_its_path(flow: Mapping[str, Any], seen: _Seen) -> str:
    goodput, capacity = flow["goodput_bps"], _rate_of(flow, seen)
    if not capacity:
        return rate(goodput)
    share = f"{_percent(goodput / capacity)} of the {rate(capacity)}"
    return f"{rate(goodput)}, {share} of its slowest link, {flow['bottleneck']}"


def _percent(share: float) -> str:
    """A share in percent, with two digits for small ones."""
    return f"{share:.0%}" if share >= 0.095 else f"{100 * share:.2g}%"


def _main_reason(flow: Mapping[str, Any], legs: Sequence[Mapping[str, Any]] | None, seen: _Seen) -> str:
    kind = _kind(flow, legs, seen)
    if kind == "failure":
        return f"it was given up ({flow['failure']})"
    if kind == "path":
        return f"the path was the limit, the link transmitted {_utilisation(flow, seen):.0%} of the time"
    if kind == "none":
        return "it did not start"
    limits = _sender(flow, legs)["limited_s"]
    return f"for {limits[kind] / sum(limits.values()):.0%} of its time {_HELD[kind]}"


def _of_flow(
    flow: Mapping[str, Any], legs: Sequence[Mapping[str, Any]] | None, seen: _Seen, *, alone: bool
) -> tuple[str, ...]:
    sender = _sender(flow, legs)
    ended = _ended(flow)
    found = [f"{ended[0].upper()}{ended[1:]}." if alone else f"It reached {_of_its_path(flow, seen)}; {ended}."]
    if legs:
        found.append(f"What follows is about its longest leg, {leg_name(sender)}.")
    found += _limits(sender["limited_s"])
    trace = seen.trace(flow["name"], sender.get("leg"))
    found += _window(flow, sender, trace, seen)
    found += _losses(flow["name"], sender, seen)
    found += _queues(flow, sender, seen)
    found += _sharing(flow, seen)
    return tuple(found)


def _ended(flow: Mapping[str, Any]) -> str:
    if flow.get("failure"):
        return f"it was given up: {flow['failure']}"
    if flow["finish_s"] is None:
        return f"it had delivered {size(flow['delivered_bytes'])} when the run ended"
    return f"its {size(flow['delivered_bytes'])} took {number(flow['finish_s'] - flow['start_s'])} s"


def _limits(limits: Mapping[str, float]) -> list[str]:
    """Where its time went."""
    total = sum(limits.values())
    if total <= 0:
        return []
    parts = [
        f"for {value / total:.0%} {_HELD[name]}"
        for name, value in sorted(limits.items(), key=lambda item: -item[1])
        if value / total >= _LITTLE
    ]
    return [f"Its time, {number(total)} s: {'; '.join(parts)}."]


def _payload(sender: Mapping[str, Any], trace: pl.DataFrame | None) -> float | None:
    """Bytes of a full segment, about."""
    first = sender["sent_segments"] - sender["retransmitted_segments"]
    sent = int(trace["sent_bytes"][-1]) if trace is not None and trace.height else sender["delivered_bytes"]
    return sent / first if first > 0 and sent > 0 else None


def _window(flow: Mapping[str, Any], sender: Mapping[str, Any], trace: pl.DataFrame | None, seen: _Seen) -> list[str]:
    """The mean window beside the BDP, and how long it took to get there."""
    capacity, rtt, payload = _rate_of(flow, seen), sender["min_rtt_s"], _payload(sender, trace)
    mean = sender["mean_cwnd_segments"]
    waits = sender["limited_s"]["application"] > 0.5 * sum(sender["limited_s"].values())
    if not capacity or not rtt or not payload or not mean or waits or mean > _UNLIMITED:
        return []
    bdp = capacity * rtt / 8
    share = mean * payload / bdp
    is_full = _utilisation(flow, seen) >= _FULL
    least = f"{size(bdp)} ({rate(capacity)} × {milliseconds(rtt)})"
    found = [
        f"The BDP is {least}, about {bdp / payload:,.0f} segments; its mean window, {mean:,.0f} segments, is "
        f"{_percent(share)} of that{', too little to fill the path' if share < _FULL and not is_full else ''}."
    ]
    if sender["limited_s"]["rwnd"] >= _LITTLE * sum(sender["limited_s"].values()) > 0:
        found.append("A receive buffer that holds at least the BDP, and what queues hold, would not hold it back.")
    by_receiver = sender["limited_s"]["rwnd"] > 0.5 * sum(sender["limited_s"].values())
    if trace is not None and trace.height and not is_full and not by_receiver:
        start = flow["start_s"] if sender.get("start_s") is None else sender["start_s"]
        found += _growth(trace, bdp / payload, start, rtt, capacity)
    return found


def _growth(trace: pl.DataFrame, bdp_segments: float, start_s: float, rtt_s: float, capacity_bps: float) -> list[str]:
    """How long the window took to reach the BDP, and what that cost."""
    reached = trace.filter(trace["cwnd_segments"].fill_nan(0) >= bdp_segments)
    if reached.is_empty():
        highest = trace["cwnd_segments"].fill_nan(None).to_list()
        most = max(value for value in highest if value is not None)
        return [f"The window never reached the BDP; it was {most:,.0f} segments at most."]
    took = float(reached["time_s"][0]) - start_s
    if took <= 2 * rtt_s:
        return []
    came, could = int(reached["arrived_bytes"][0]), capacity_bps * took / 8
    return [
        f"The window took {number(took, 3)} s, {number(took / rtt_s, 3)} of the least round trips, to reach the BDP; "
        f"until then {size(came)} had arrived of the {size(could)} that the link could have carried."
    ]


def _losses(name: str, sender: Mapping[str, Any], seen: _Seen) -> list[str]:
    again, sent = sender["retransmitted_segments"], sender["sent_segments"]
    drops = seen.drops(name)
    found = []
    if drops:
        parts = [f"{count:,} at {link} ({_CAUSES.get(cause, cause)})" for link, cause, count in drops[:3]]
        found.append(f"Packets on their way to the receiver were dropped: {listed(parts)}.")
    elif drops is not None and again == 0:
        return ["No packet was dropped on its way to the receiver, and none was sent again."]
    repairs = [
        f"{sender[key]:,} {word}{'s' * (sender[key] != 1)}" if word != "fast recovery" else _recoveries(sender[key])
        for key, word in (("recoveries", "fast recovery"), ("timeouts", "timeout"))
        if sender[key]
    ]
    with_ = f", in {listed(repairs)}" if repairs else ""
    if sent:
        found.append(f"It sent {again:,} of {sent:,} segments again ({again / sent:.2%}){with_}.")
    return found


def _recoveries(count: int) -> str:
    return f"{count:,} fast recover{'y' if count == 1 else 'ies'}"


_CAUSES = {
    "queue": "the queue was full",
    "aqm": "by the queue discipline",
    "error": "errors on the link",
    "outage": "an outage of the link",
    "retry": "no answer on the air",
    "lifetime": "waited too long on the air",
    "no_route": "no route",
    "route": "no way through the sky",
    "scheduled": "losses that the scenario lists",
}


def _queues(flow: Mapping[str, Any], sender: Mapping[str, Any], seen: _Seen) -> list[str]:
    least, mean = sender["min_rtt_s"], sender["mean_rtt_s"]
    link = seen.links.get(flow["bottleneck"] or "")
    if not least or not mean or link is None:
        return []
    more = mean - least
    found = (
        f"Its mean round trip, {milliseconds(mean)}, is {milliseconds(more)} above the least, {milliseconds(least)}; "
        f"the queue of {flow['bottleneck']} held {number(link['mean_queue_packets'], 3)} packets on average, "
        f"{link['max_queue_packets']:,} at most."
    )
    return [found] if math.isfinite(more) else []


def _sharing(flow: Mapping[str, Any], seen: _Seen) -> list[str]:
    capacity = _rate_of(flow, seen)
    end = seen.result.simulated_s
    first, last = flow["start_s"], end if flow["finish_s"] is None else flow["finish_s"]

    def beside(other: Mapping[str, Any]) -> bool:
        """Whether it wants the same link for at least half of the flow's time."""
        until = end if other["finish_s"] is None else other["finish_s"]
        limits = other["limited_s"]
        is_busy = limits["application"] <= 0.5 * sum(limits.values())
        return is_busy and bool(min(until, last) - max(other["start_s"], first) >= 0.5 * (last - first))

    same = [one for one in seen.result.summary["flows"] if one["bottleneck"] == flow["bottleneck"] and beside(one)]
    if len(same) < 2 or not capacity:
        return []
    return [
        f"{len(same):,} flows share {flow['bottleneck']} most of that time: an equal share of its rate is "
        f"{rate(capacity / len(same))}."
    ]
