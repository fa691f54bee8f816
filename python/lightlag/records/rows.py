"""The parts of a summary as rows of text for people."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightlag.records.lists import column
from lightlag.records.summary import leg_name, legs_of
from lightlag.text.overview import counted
from lightlag.text.quantities import milliseconds, number, rate, share, size, window
from lightlag.text.table import Row

if TYPE_CHECKING:
    from lightlag.results.result import Result

_SHOWN = 20
_SHOWN_LINKS = 8
_CAUSES = ("queue", "retry", "lifetime", "no_route")


def shown_flows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the flows that people see: all if there are at most 20, otherwise the first 20 that delivered data.

    Where no flow delivered data, the first 20 are shown.
    """
    flows: Sequence[dict[str, Any]] = summary["flows"]
    if len(flows) <= _SHOWN:
        return list(flows)
    served = (at for at, count in enumerate(column(flows, "delivered_bytes")) if count)
    return [flows[at] for at in itertools.islice(served, _SHOWN)] or list(flows[:_SHOWN])


def other_flows(summary: dict[str, Any]) -> str:
    """Returns a line about the flows that :func:`shown_flows` leaves out, empty if it shows all."""
    flows, shown = summary["flows"], shown_flows(summary)
    more = len(flows) - len(shown)
    if not more:
        return ""
    count = f"and {counted(more, 'more flow')}"
    silent = column(flows, "delivered_bytes").count(0) - sum(not flow["delivered_bytes"] for flow in shown)
    if silent == more:
        return f"{count}, without delivered data"
    return f"{count}, {silent:,} of them without delivered data" if silent else count


def flow_rows(summary: dict[str, Any]) -> list[Row]:
    """The flows of a summary as text: those of :func:`shown_flows`, each with a row for every leg if it has any."""
    legs = legs_of(summary)
    shown = [part for flow in shown_flows(summary) for part in (flow, *legs.get(flow["name"], []))]
    largest = max((flow["goodput_bps"] for flow in shown), default=0.0)
    has_datagrams = any("datagrams" in flow for flow in shown)
    has_pages = any("responses" in flow or "pages" in flow for flow in shown)
    has_signals = any("signals" in flow for flow in shown)
    return [
        (_flow_row(flow, largest) if "leg" in flow or flow["name"] not in legs else _split_flow_row(flow, largest))
        | (_datagram_cells(flow) if has_datagrams else {})
        | (_page_cells(flow) if has_pages else {})
        | (_signal_cells(flow) if has_signals else {})
        for flow in shown
    ]


def _flow_row(flow: dict[str, Any], largest_bps: float) -> Row:
    """A flow as text. Flows of datagrams have no retransmissions and no acknowledgements.

    Parameters
    ----------
    largest_bps
        The largest goodput of the column, whose unit all take.
    """
    connection = "datagrams" not in flow
    return {
        "flow": f"  {leg_name(flow)}" if "leg" in flow else flow["name"],
        "congestion": flow["congestion"],
        "goodput": rate(flow["goodput_bps"], like=largest_bps),
        "finished": "–" if flow["finish_s"] is None else f"{number(flow['finish_s'])} s",
        "resent": share(flow["retransmitted_segments"], flow["sent_segments"]) if connection else "–",
        "timeouts": str(flow["timeouts"]) if connection else "–",
        "mean RTT": milliseconds(flow["mean_rtt_s"]),
        "mean cwnd": window(flow["mean_cwnd_segments"]) if connection else "–",
        "limited by": limited_by(flow["limited_s"]) if connection else "–",
    }


def _split_flow_row(flow: dict[str, Any], largest_bps: float) -> Row:
    """A flow that proxies split, as text: the rows of its legs describe its senders."""
    row = _flow_row(flow, largest_bps)
    return dict.fromkeys(row, "–") | {key: row[key] for key in ("flow", "goodput", "finished")}


def _datagram_cells(flow: dict[str, Any]) -> Row:
    """Losses and delays of a flow's datagrams, or of a sink's messages, if it has some."""
    if messages := flow.get("messages"):
        return {
            "lost": share(messages["lost"] + messages["dropped"], messages["sent"]),
            "mean delay": milliseconds(messages["mean_delay_s"]),
            "95 % delay": milliseconds(messages["p95_delay_s"]),
        }
    datagrams = flow.get("datagrams")
    if datagrams is None:
        return {"lost": "–", "mean delay": "–", "95 % delay": "–"}
    return {
        "lost": share(datagrams["lost"], flow["sent_segments"]),
        "mean delay": milliseconds(datagrams["mean_delay_s"]),
        "95 % delay": milliseconds(datagrams["p95_delay_s"]),
    }


def _signal_cells(flow: dict[str, Any]) -> Row:
    """Signals to the ends of a flow, through the network or at their own node, and how many were heeded."""
    signals = flow.get("signals")
    if signals is None:
        return {"signals": "–"}
    told, heeded = signals["sent"] + signals["local"], signals["received"] + signals["local"]
    return {"signals": f"{heeded} of {told} heeded"}


def _page_cells(flow: dict[str, Any]) -> Row:
    """The responses or the pages of a flow, if it has some."""
    pages = flow.get("responses") or flow.get("pages")
    if pages is None:
        return {"responses": "–", "mean time": "–", "95 % time": "–"}
    return {
        "responses": str(pages["count"]),
        "mean time": milliseconds(pages["mean_s"]),
        "95 % time": milliseconds(pages["p95_s"]),
    }


def _dropped(links: Sequence[dict[str, Any]]) -> list[int]:
    """Packets that each link direction dropped, for any cause."""
    causes = ("dropped_queue", "dropped_aqm", "dropped_error", "dropped_outage", "dropped_acks", "dropped_route")
    counts = [column(links, cause) for cause in causes]
    return [sum(count or 0 for count in causes) for causes in zip(*counts, strict=True)]


def link_rows(summary: dict[str, Any]) -> list[Row]:
    """The link directions of a summary as text, for people: those that dropped most or were busiest, at most 8."""
    links: Sequence[dict[str, Any]] = summary["links"]
    dropped, utilisation = _dropped(links), column(links, "utilisation")
    by_weight = heapq.nsmallest(_SHOWN_LINKS, range(len(links)), key=lambda at: (-dropped[at], -utilisation[at]))
    shown = [link for link in map(links.__getitem__, sorted(by_weight)) if link["carried_bytes"]]
    # Columns that plain links never fill are shown only if some link fills them.
    rare = [
        (key, title)
        for key, title in (
            ("dropped_outage", "dropped (outage)"),
            ("dropped_aqm", "dropped (AQM)"),
            ("dropped_acks", "ACKs thinned out"),
            ("dropped_route", "dropped (no way)"),
            ("withdrawn", "sent another way"),
            ("marked", "marked"),
            ("duplicated", "duplicated"),
            ("reordered", "reordered"),
            ("repair_packets", "repair packets"),
            ("repaired", "repaired"),
        )
        if any(link.get(key) for link in shown)
    ]
    most = max((link["carried_bytes"] for link in shown), default=0)
    return [
        {
            "link": link["name"],
            "utilisation": f"{link['utilisation']:.1%}",
            "carried": size(link["carried_bytes"], like=most),
            "dropped (queue)": str(link["dropped_queue"]),
            "dropped (error)": str(link["dropped_error"]),
            **{title: str(link[key]) for key, title in rare},
            "mean queue": number(link["mean_queue_packets"]),
            "max queue": str(link["max_queue_packets"]),
        }
        for link in shown
    ]


def radio_rows(summary: dict[str, Any]) -> list[Row]:
    """The radios of a summary as text, for people: the busiest, at most 8."""
    radios = sorted(summary.get("radios", []), key=lambda radio: -float(radio["utilisation"]))
    aggregate = any(radio["aggregates"] for radio in radios)

    def together(radio: dict[str, Any]) -> Row:
        mean = radio["mpdus_per_aggregate"]
        return {"frames/A-MPDU": "–" if mean is None else number(mean, 3)} if aggregate else {}

    most = max((radio["routing_bytes"] for radio in radios[:_SHOWN_LINKS]), default=0)
    return [
        {
            "radio": radio["name"],
            "sends": f"{radio['utilisation']:.1%}",
            "busy": f"{radio['busy']:.1%}",
            "frames": str(radio["sent_frames"]),
            **together(radio),
            "mean queue": number(radio["mean_queue_packets"], 3),
            "retries": share(radio["retries"], radio["sent_frames"]),
            "collisions": str(radio["collisions"]),
            "dropped": str(sum(radio[f"dropped_{cause}"] for cause in _CAUSES)),
            "routing": size(radio["routing_bytes"], like=most),
            "broken links": str(radio["broken_links"]),
        }
        for radio in radios[:_SHOWN_LINKS]
    ]


def medium_rows(summary: dict[str, Any]) -> list[Row]:
    """The media of a summary as text, for people: sums over the radios on each."""
    media: dict[str, list[dict[str, Any]]] = {}
    for radio in summary.get("radios", []):
        media.setdefault(radio["medium"], []).append(radio)
    return [_medium_row(name, radios) for name, radios in media.items()]


def _medium_row(name: str, radios: list[dict[str, Any]]) -> Row:
    """A medium as text. On the air may be more than all of the time: stations far apart send at once."""

    def total(key: str) -> Any:
        return sum(radio[key] for radio in radios)

    return {
        "medium": name,
        "radios": str(len(radios)),
        "on the air": f"{total('utilisation'):.1%}",
        "mean busy": f"{total('busy') / len(radios):.1%}",
        "frames": f"{total('sent_frames'):,}",
        "retries": share(total("retries"), total("sent_frames")),
        "collisions": f"{total('collisions'):,}",
        "dropped": f"{sum(total(f'dropped_{cause}') for cause in _CAUSES):,}",
        "no route": f"{total('dropped_no_route'):,}",
        "routing": size(total("routing_bytes")),
        "route changes": f"{total('route_changes'):,}",
    }


def way_rows(result: Result) -> list[Row]:
    """The ways of flows through a sky as text: at most 8, those of :func:`shown_flows` first.

    Round trips are those that senders measured, the greatest of those that were recorded.
    """
    rows = []
    parts = result.parts
    least_rtts = dict(zip(column(parts["flows"], "name"), column(parts["flows"], "min_rtt_s"), strict=True))
    starts = result.paths.filter(hop=0)
    crossing = dict.fromkeys(starts["flow"].unique(maintain_order=True).to_list())
    first = [flow["name"] for flow in shown_flows(parts) if flow["name"] in crossing]
    names = itertools.islice(dict.fromkeys([*first, *crossing]), _SHOWN_LINKS)
    # A table of each flow would take gigabytes if there are many.
    ways = [starts.filter(starts["flow"] == name) for name in names]
    trace = result.trace() if parts["scenario"]["record"]["trace"] != "off" else None
    for way in ways:
        name = str(way["flow"][0])
        least, greatest = least_rtts[name], None
        if trace is not None:
            greatest = trace.filter(trace["flow"].cast(str) == name)["rtt_s"].drop_nans().max()
        hops = way["hops"].to_list()
        lasts = [*way["time_s"].to_list()[1:], result.simulated_s]
        out = sum(last - since for since, last, links in zip(way["time_s"], lasts, hops, strict=True) if links == 0)
        links = sorted({links for links in hops if links})
        rows.append(
            {
                "way of": name,
                "least RTT": milliseconds(least),
                "greatest RTT": milliseconds(greatest),  # type: ignore[arg-type]
                "links": "–" if not links else str(links[0]) if len(links) == 1 else f"{links[0]} to {links[-1]}",
                "changes": str(way.height - 1),
                "without a way": f"{number(out)} s",
            }
        )
    return rows


def proxy_rows(summary: dict[str, Any]) -> list[Row]:
    """The flows at proxies as text, for people: at most the first 20."""
    return [
        {
            "proxy": proxy["node"],
            "flow": proxy["flow"],
            "congestion": proxy["congestion"],
            "passed on": size(proxy["acknowledged_bytes"]),
            "lost": size(proxy["lost_bytes"]) if proxy["lost_bytes"] else "–",
            "resent": share(proxy["retransmitted_segments"], proxy["sent_segments"]),
            "timeouts": str(proxy["timeouts"]),
            "min RTT": milliseconds(proxy["min_rtt_s"]),
            "mean buffer": size(proxy["mean_buffer_bytes"]),
            "max buffer": size(proxy["max_buffer_bytes"]),
        }
        for proxy in summary.get("proxies", [])[:_SHOWN]
    ]


def limited_by(limits: Mapping[str, float]) -> str:
    """The two causes that held a sender back for longest, with their share of its time."""
    total = sum(limits.values())
    if total <= 0:
        return "–"
    first = sorted(limits.items(), key=lambda item: -item[1])[:2]
    return ", ".join(f"{name} {value / total:.0%}" for name, value in first if value / total >= 0.005)
