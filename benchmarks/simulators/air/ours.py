"""Runs lightlag with the options of the programs for ns-3, and returns the same metrics."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from kept import Run

from lightlag import run
from lightlag_papers.fanet.runs import NS3_AODV

UDP_PAYLOAD, PACKET = 1472, 1500
SENSITIVE_DBM = -101
TCP = {"profile": "ns3", "mss": "1448 B", "initial_window": 10, "receive_buffer": "128 KiB"}
RECORD = {"trace": "off", "queue": "off", "drops": False, "positions": "off"}
DSDV = {"protocol": "dsdv", "advertise": "newer", "first_dump": "1 ms"}
"""DSDV with the rules of ns-3."""
ERRORS = {"nist": "nist", "yans": "yans", "table": "table-bcc"}
BROADCASTS = "ns3::WifiRemoteStationManager::NonUnicastMode"
RATES = {"OfdmRate24Mbps": "24 Mbit/s", "OfdmRate6Mbps": "6 Mbit/s", "HtMcs7": "mcs7"}
MEGABITS = {"OfdmRate24Mbps": 24, "HtMcs7": 65}
Options = Mapping[str, str | float]


def numbers(asked: Run, start: float | None = None, variant: str | None = None, **changed: Any) -> dict[str, Any]:
    """A run of lightlag with the settings of a run of ns-3.

    `changed` are keys of the medium, `start` is a different start time, and `variant` is the variant of the congestion
    control.
    """
    made = _chain if asked.program == "ns3-air-chain" else _saturation
    options = dict(asked.options)
    options |= {key: value for key, value in (("start", start), ("variant", variant)) if value is not None}
    return made(json.dumps(options), json.dumps(changed))


def _medium(options: Options) -> dict[str, Any]:
    medium: dict[str, Any] = {
        "standard": f"802.11{options.get('standard', 'n')}",
        "rate": RATES[str(options.get("mode", "OfdmRate24Mbps"))],
        "errors": ERRORS[str(options.get("errors", "nist"))],
        "max_attempts": min(int(options.get("retries", 7)), 255),
        "rts_threshold": int(options.get("rts", 65535)),
        "broadcast_rate": RATES[str(options.get(BROADCASTS, "OfdmRate6Mbps"))],
        "routing": "static",
    }
    if options.get("preamble") == 0:
        medium |= {"detection": f"{SENSITIVE_DBM} dBm", "detection_snr": "-50 dB"}
    elif "preamble-dbm" in options:
        medium["detection"] = f"{options['preamble-dbm']} dBm"
    return medium


def _node(name: str, x: float, y: float = 0) -> dict[str, Any]:
    return {"name": name, "media": ["air"], "at": [f"{x:.6f} m", f"{y:.6f} m", "0 m"]}


def _summary(name: str, seconds: float, seed: int, parts: dict[str, Any]) -> dict[str, Any]:
    scenario = {"name": name, "duration": f"{seconds:g} s", "record": RECORD, **parts}
    return dict(run(scenario, seed=seed).summary)


def _sum(interfaces: list[dict[str, Any]], *names: str) -> int:
    return sum(int(interface[name]) for interface in interfaces for name in names)


@cache
def _chain(asked: str, changed: str) -> dict[str, Any]:
    options = json.loads(asked)
    hops, start, seconds = (options.get(key, usual) for key, usual in (("hops", 1), ("start", 1), ("seconds", 10)))
    medium = _medium(options) | {"arp": "off" if options.get("arp", 1) == 0 else "ns3"}
    routing = options.get("routing", "static")
    if routing == "aodv":
        medium["routing"] = NS3_AODV | {"hello": "off" if options.get("hello", 1) == 0 else "always"}
    else:
        medium["routing"] = DSDV if routing == "dsdv" else routing
    flow: dict[str, Any] = {"from": "n0", "to": f"n{hops}", "start": f"{start:g} s"}
    parts: dict[str, Any] = {}
    if options["traffic"] == "udp":
        rate = f"{options.get('megabits', 60):g} Mbit/s"
        flow |= {"transport": "udp", "traffic": {"kind": "constant", "rate": rate, "size": f"{UDP_PAYLOAD} B"}}
        if count := options.get("count"):
            flow["transfer"] = f"{count * UDP_PAYLOAD} B"
    else:
        parts["defaults"] = {"tcp": _tcp(options)}
    nodes = [_node(f"n{at}", at * options.get("gap", 40)) for at in range(hops + 1)]
    media = [medium | json.loads(changed)]
    parts |= {"media": media, "nodes": nodes, "flows": [flow]}
    summary = _summary("chain", start + seconds, options["seed"], parts)
    interfaces, (row,) = summary["interfaces"], summary["flows"]
    datagrams = row.get("datagrams") or {}
    requests, messages = _sum(interfaces, "route_requests"), _sum(interfaces, "routing_packets")
    return {
        "goodput_mbps": row["delivered_bytes"] * 8e-6 / seconds,
        "received": datagrams.get("received"),
        "first_delay_ms": (datagrams.get("mean_delay_s") or math.nan) * 1e3,
        "attempts": _sum(interfaces, "sent_frames") - messages,
        "frames_given_up": _sum(interfaces, "dropped_retry"),
        "timeouts": row["timeouts"],
        "rreq": requests,
        "rrep": messages - requests,
        "routing_bytes": _sum(interfaces, "routing_bytes"),
        "broken": _sum(interfaces, "broken_links"),
    }


def _tcp(options: Options) -> dict[str, Any]:
    if options.get("algorithm") == "TcpBbr":
        tcp = TCP | {"congestion": {"algorithm": "bbr", "variant": options.get("variant", "linux")}}
    else:
        tcp = TCP | {"congestion": "newreno", "growth": "per_ack"}
    return tcp | ({"delayed_ack": False} if options.get("ack-every") == 1 else {})


@cache
def _saturation(asked: str, changed: str) -> dict[str, Any]:
    options = json.loads(asked)
    stations, radius = options["stations"], options.get("radius", 5)
    if options.get("layout") == "pair":
        places = [(-radius, 0.0), (options.get("other", radius), 0.0)]
    else:
        angles = [2 * math.pi * at / stations for at in range(stations)]
        places = [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]
    size = options.get("size", PACKET)
    payload = size - (PACKET - UDP_PAYLOAD)
    # With aggregates as many as in the program for ns-3; otherwise so few that none waits for longer than the lifetime of a
    # frame, and always one that waits.
    medium = _medium(options) | {"queue": 128 if "mode" in options else 4} | json.loads(changed)
    if "offered" in options:
        rate = options["offered"] * payload / size
    else:
        rate = 2 * MEGABITS[str(options.get("mode", "OfdmRate24Mbps"))] / stations
    traffic = {"kind": "constant", "rate": f"{rate:g} Mbit/s", "size": f"{payload} B"}
    flows = [{"from": f"n{at}", "to": "sink", "transport": "udp", "traffic": traffic} for at in range(stations)]
    nodes = [_node("sink", 0), *(_node(f"n{at}", x, y) for at, (x, y) in enumerate(places))]
    seconds = 10
    summary = _summary("saturation", seconds, options["seed"], {"media": [medium], "nodes": nodes, "flows": flows})
    delivered = [row["datagrams"]["received"] for row in summary["flows"]]
    interfaces = summary["interfaces"]
    attempts, retried = (_sum(interfaces, name) for name in ("sent_frames", "dropped_retry"))
    return {
        "goodput_mbps": [count * 8e-6 * size / seconds for count in delivered],
        "acked": sum(delivered),
        "attempts": attempts,
        "failed": attempts - sum(delivered),
        "given_up": retried + _sum(interfaces, "dropped_lifetime"),
        "given_up_after_retries": retried,
    }
