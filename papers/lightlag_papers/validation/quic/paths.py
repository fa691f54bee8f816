"""The scenarios of the cards, and the quantities that are read from their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import lightlag as ll
from lightlag_papers.validation.measured import testbed
from lightlag_papers.validation.measured.kosek import GEO
from lightlag_papers.validation.measured.runs import Values
from lightlag_papers.validation.quic.cards import Settings

__all__ = ["MEASURES", "scenario"]

LENGTH = "900 s"
"""Length of a run that does not finish, unless the settings have `length`."""
MOST_PACKETS = 200_000
"""Number of packets in which every n-th one is lost; more than any card sends."""
LARGE = "400 MB"
"""Buffers of TCP where it tests a cause, so that they limit no transfer."""
BUFFER = "8 MB"
"""Buffer of a proxy for each direction; ours."""


CONTROL_BYTES = 64
"""More than the control streams of HTTP/3 carry, which arrive before the response."""


def scenario(settings: Settings) -> dict[str, Any]:
    """Returns the scenario of a run.

    Settings: `rate` and `back` of the link in the directions of data and of ACKs, one-way `delay`, `queue`, `jitter`;
    `loss` in both directions, or `lost_every` for the loss of every n-th data packet; `servers_link` for a faster link
    in front. A transfer of `size` starts at its sender, or `count` responses at a `request` of the receiver. `testbed`
    instead selects the path of Kosek et al., with `loss_percent` and, as `proxy`, the QUIC settings of two proxies.
    `transport` is `tcp` where Linux's TCP with the same congestion control tests a cause.
    """
    if "testbed" in settings:
        return _testbed(settings)
    link: dict[str, Any] = {
        "between": ["sender", "receiver"],
        "rate": {"forward": settings["rate"], "backward": settings.get("back", settings["rate"])},
        "delay": settings["delay"],
        "queue": settings.get("queue", "1 bdp"),
    }
    if "jitter" in settings:
        link["jitter"] = settings["jitter"]
    if "loss" in settings:
        link["loss"] = settings["loss"]
    if every := settings.get("lost_every"):
        lost = {"packets": list(range(every, MOST_PACKETS, every))}
        link["loss"] = {"forward": lost, "backward": 1 / every}
    links = [link]
    if "servers_link" in settings:
        link["between"] = ["router", "receiver"]
        links.insert(0, {"between": ["sender", "router"], "rate": settings["servers_link"], "delay": "0 ms"})
    flow: dict[str, Any] = {"from": "sender", "to": "receiver", "transport": "quic"}
    if settings.get("request", False):
        count = settings.get("count", 1)
        flow["traffic"] = {"kind": "requests", "request": "257 B", "response": settings["size"], "count": count}
    else:
        flow["transfer"] = settings["size"]
    return {
        "name": "card",
        "duration": settings.get("length", LENGTH),
        "links": links,
        "flows": [flow | (_linux(settings["quic"]) if "transport" in settings else _sender(settings["quic"]))],
        "record": {"trace": "off", "queue": "off", "drops": False},
    }


def _sender(quic: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keys of a flow; the congestion control is next to the transport."""
    found: dict[str, Any] = {"quic": {key: value for key, value in quic.items() if key != "congestion"}}
    return found | ({"congestion": quic["congestion"]} if "congestion" in quic else {})


def _linux(quic: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keys of a flow over TCP with the congestion control of a QUIC flow and large buffers."""
    tcp = {"profile": "linux", "send_buffer": LARGE, "receive_buffer": LARGE}
    return {"transport": "tcp", "tcp": tcp, "congestion": quic["congestion"]}


def _testbed(settings: Settings) -> dict[str, Any]:
    """Returns a download over the geostationary path of Kosek et al. with QUIC."""
    traffic = {"kind": "requests", "request": "257 B", "response": settings["size"], "count": 1}
    content = testbed.scenario(
        GEO, settings["loss_percent"], pep=False, traffic=traffic, length_s=float(settings["length"].removesuffix(" s"))
    )
    content["flows"][0] |= {"transport": "quic"} | _sender(settings["quic"])
    if proxy := settings.get("proxy"):
        # The client opens the connections, so the gateway's server is the end towards the satellite.
        content["proxies"] = [
            {"node": "gateway", "kind": "quic", "buffer": BUFFER, "quic": {"server": proxy}},
            {"node": "terminal", "kind": "quic", "buffer": BUFFER, "quic": {"client": proxy}},
        ]
    content["record"] = {"trace": "change", "queue": "off", "drops": False}
    return content


def time(result: ll.Result) -> Values:
    """Returns the time when the last byte arrived in s; null if it did not."""
    return {"value": result.summary["flows"][0]["finish_s"]}


def packets(result: ll.Result) -> Values:
    """Returns the number of packets that crossed the link in both directions; null if the data did not arrive."""
    arrived = result.summary["flows"][0]["finish_s"] is not None
    return {"value": result.summary["packet_hops"] if arrived else None}


def returned(result: ll.Result) -> Values:
    """Returns the megabytes that the link carried in the direction of the ACKs."""
    return {"value": result.summary["links"][-1]["carried_bytes"] / 1e6}


def returned_with_drops(result: ll.Result) -> Values:
    """Returns the megabytes of packets in the direction of the ACKs, with those that its queue dropped."""
    back = result.summary["links"][-1]
    arrived = result.summary["flows"][0]["acks_received"]
    return {"value": back["carried_bytes"] / 1e6 * (1 + back["dropped_queue"] / arrived)}


def _mean_mbps(result: ll.Result, start_s: float, end_s: float) -> Values:
    """Returns the mean goodput in an interval after the first byte, in Mbit/s."""
    trace = result.trace("goodput")
    times, arrived = trace["time_s"].to_list(), trace["arrived_bytes"].to_list()
    first_s = next((at for at, count in zip(times, arrived, strict=True) if count > CONTROL_BYTES), None)
    if first_s is None:
        return {"value": 0.0}

    def at(moment_s: float) -> int:
        return max((count for time, count in zip(times, arrived, strict=True) if time <= first_s + moment_s), default=0)

    return {"value": 8e-6 * (at(end_s) - at(start_s)) / (end_s - start_s)}


def thirty(result: ll.Result) -> Values:
    """Returns the mean goodput of the 30 s after the first byte in Mbit/s."""
    return _mean_mbps(result, 0.0, 30.0)


def third(result: ll.Result) -> Values:
    """Returns the goodput of the third second after the first byte in Mbit/s."""
    return _mean_mbps(result, 2.0, 3.0)


MEASURES: dict[str, Callable[[ll.Result], Values]] = {
    "time": time,
    "packets": packets,
    "return": returned,
    "return with drops": returned_with_drops,
    "goodput": thirty,
    "third second": third,
}
"""The function of each quantity of a card."""
