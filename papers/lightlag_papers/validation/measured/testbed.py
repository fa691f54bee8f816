"""The testbed of Kosek and others: page loads and downloads over satellites with and without PEPs, and changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import lightlag as ll
from lightlag_papers.validation.measured.kosek import GEO, Orbit
from lightlag_papers.validation.measured.runs import HERE, Values

LONGEST_S = 120
DOWNLOAD_S = 30

PAYLOAD_MBPS = 18.04
"""Payload per second of the testbed's connections as soon as they no longer grow."""
SYMBOL_RATE_MBD = 38.6
"""Symbol rate forward, such that a connection has that payload. The testbed has 40 MBd: 3 % more than measured."""
RESEQUENCING = 5
"""Frames, or bursts, that OpenSAND's receiver keeps after a lost one (`satcarrier_udp_stack`)."""
FADE = {
    "mean": -20,
    "deviation": 0,
    "correlation_time": "1000 s",
    "step": "10 s",
    "clear_sky": "20 dB",
    "symbol_rate": f"{SYMBOL_RATE_MBD:g} MBd",
    "modcods": {"table": "dvb-s2", "use": ["QPSK 1/4"]},
    "frames": {"label": 6, "resequencing": RESEQUENCING},
}
"""Carrier forward: BBFRAMEs with GSE and the testbed's only MODCOD, without rain (e^-20 dB). Its label is ours."""
FRAME_MS = 32_490 / SYMBOL_RATE_MBD / 1e3 + 3_330 / SYMBOL_RATE_MBD / 2e3
"""Mean time of a packet at the gateway: its frame, after half a dummy frame. The measured round trips contain it."""
SUPERFRAME_MS = 26.5
SYMBOLS = 536
"""Symbols of a burst."""
SLOTS = int(14.8e3 * SUPERFRAME_MS / SYMBOLS)
"""Slots per superframe of the return link: 14.8 MBd."""
BURST_B = 223
"""Payload of a burst with 16QAM 5/6. OpenSAND starts with it, and does not change it: carrier to noise is 20 dB in each
direction, and 16QAM 5/6 needs 12.6 dB."""
REQUEST_B = 4
"""Size of a request in our bursts, which OpenSAND sends on its own."""
RETURN_MBPS = SLOTS * BURST_B * 8 / SUPERFRAME_MS / 1e3
"""Rate return."""
ASSIGNED = {"constant": "100 kbit/s", "rate_based": "5.12 Mbit/s", "volume_based": False}
"""Capacity of the terminal, from the testbed's configuration: the constant assignment, and at most this rate (RBDC)."""
REQUEST_PERIOD_S = 1.0
"""Time between two requests of the terminal (`sync_period`). OpenSAND keeps a rate for this time and a superframe."""
SPREAD_MS = 23 * SUPERFRAME_MS
"""Time in which a requested rate sends what waits: OpenSAND's MSL (`msl_duration`), for LEO too."""
RETURN_MS = SUPERFRAME_MS / 2 + SUPERFRAME_MS / SLOTS
"""Mean time of a small packet at the terminal until its slot of the constant assignment ends. The measured round trips
contain it."""
PIECES = 2
"""Packets of IP that carry a frame forward, which netem drops. OpenSAND 5.2 sends a frame, of up to 2,001 B with
QPSK 1/4 and without padding, as one datagram of UDP, which IP splits over a link with an MTU of 1,500 B."""
GROUND_MS = 40.0
"""One-way delay between gateway and server: netem in the testbed."""
QUEUE = "6000 packets"
"""Queue of the gateway for best effort."""
FORWARD_MBPS = 18.7
"""Rate of IP packets that have the measured payload, for the model without frames."""
READS = {"size": "8192 B"}
"""PEPsal reads up to two pages of memory, and writes them before it reads again. Its sockets have Nagle's algorithm."""
PEP_WINDOW = 100
"""Initial window of PEPs and QUIC proxies over the satellite, from the configuration of the testbed."""
QUICLY_RENO = {"algorithm": "newreno", "beta": 0.7}
"""The default of quicly (`quicly_default_init_cc`, QUICLY_RENO_BETA), which the testbed's server of pages (h2o) and its
proxies (qperf) use; the configuration of h2o does not change it."""
BUFFER = "4 MB"
"""Buffer of a PEP for each direction; ours. The testbed starts PEPsal with the kernel's buffers."""

Change = Callable[[dict[str, Any]], None]


def link(name: tuple[str, str], rate: Any, delay_ms: float, **others: Any) -> dict[str, Any]:
    """Returns a link with a delay in ms."""
    return {"between": list(name), "rate": rate, "delay": f"{delay_ms:g} ms", **others}


def scenario(
    orbit: Orbit, loss_percent: float, *, pep: bool, traffic: Mapping[str, Any], length_s: float
) -> dict[str, Any]:
    """Returns the testbed with a client that sends requests over TCP."""
    carrier = link(
        ("gateway", "hub"),
        {"forward": f"{FORWARD_MBPS:g} Mbit/s", "backward": "1 Gbit/s"},
        0.0,
        queue=QUEUE,
        loss={"forward": 1 - (1 - loss_percent / 100) ** PIECES, "backward": 0.0},
        fade={"forward": FADE},
    )
    beam = {
        "kind": "rcs2",
        "name": "beam",
        "gateway": "hub",
        "frame": f"{SUPERFRAME_MS:g} ms",
        "carriers": 1,
        "slots": SLOTS,
        "contention_slots": 0,
        "request_size": f"{REQUEST_B} B",
        "rate_period": f"{REQUEST_PERIOD_S:g} s",
        "rate_spread": f"{SPREAD_MS:g} ms",
        "rate_timeout": f"{REQUEST_PERIOD_S + SUPERFRAME_MS / 1e3:g} s",
        "delay": f"{orbit.rtt_ms / 2 - GROUND_MS - (FRAME_MS + RETURN_MS) / 2:g} ms",
        "slot_payload": f"{BURST_B + REQUEST_B} B",
        "burst_loss": loss_percent / 100,
        "resequencing": RESEQUENCING,
        "terminal_queue": 6000,
        "forward_rate": "1 Gbit/s",
        **ASSIGNED,
    }
    content: dict[str, Any] = {
        "name": "kosek",
        "duration": f"{length_s:g} s",
        "defaults": {"tcp": {"profile": "linux", "congestion": "newreno"}},
        "links": [
            link(("server", "gateway"), "100 Gbit/s", GROUND_MS),
            carrier,
            link(("terminal", "client"), "100 Gbit/s", 0.0),
        ],
        "media": [beam],
        "nodes": [{"name": "hub"}, {"name": "terminal"}],
        "flows": [{"name": "page", "from": "server", "to": "client", "traffic": dict(traffic)}],
        "record": {"trace": "off", "queue": "off", "drops": False},
    }
    if pep:
        near = {"congestion": "newreno", "nagle": True, "minshall": True, "receive_buffer": "auto"}
        far = near | {"initial_window": PEP_WINDOW}
        pepsal = {"buffer": BUFFER, "reads": READS, "opens": "when-established"}
        content["proxies"] = [
            {"node": "gateway", **pepsal, "client": near, "server": far},
            {"node": "terminal", **pepsal, "client": far, "server": near},
        ]
    return content


def page_load(orbit: Orbit, loss_percent: float, *, pep: bool) -> dict[str, Any]:
    """Returns a load of the Kepler page."""
    traffic = {"kind": "page", "file": f"{HERE}/etsi-kepler.json", "count": 1}
    return scenario(orbit, loss_percent, pep=pep, traffic=traffic, length_s=LONGEST_S)


def download(size: int, loss_percent: float, *, pep: bool, length_s: float) -> dict[str, Any]:
    """Returns a download over GEO, which the client requests."""
    traffic = {"kind": "requests", "response": f"{size} B", "count": 1}
    return scenario(GEO, loss_percent, pep=pep, traffic=traffic, length_s=length_s)


def loaded(result: ll.Result) -> Values:
    """Returns the load time of the page, and when its document was requested and complete, in s.

    A page that is not complete at the end of the run has the time of a complete run.
    """
    times = result.responses["duration_s"].to_list()
    begin = result.summary["flows"][0]["start_s"]
    objects = result.objects
    first = objects.filter(objects["object"].is_in(["index", "document1"]))
    document = (first["end_s"] - begin).to_list() or [LONGEST_S]
    start = (first["start_s"] - begin).to_list() or [LONGEST_S]
    return {"load_s": times[0] if times else LONGEST_S, "document_s": document[0], "set_up_s": start[0]}


def received(result: ll.Result) -> Values:
    """Returns the time from the first to the last byte of the response in s, and the bytes that arrived."""
    rows = result.responses.to_dicts()
    body = rows[0]["duration_s"] - rows[0]["first_byte_s"] if rows else LONGEST_S
    return {"body_s": body, "bytes": result.summary["flows"][0]["delivered_bytes"]}


def _tls(version: str) -> Change:
    def change(content: dict[str, Any]) -> None:
        content["flows"][0]["setup"] = {"tls": version}

    return change


def traffic_keys(**keys: Any) -> Change:
    def change(content: dict[str, Any]) -> None:
        content["flows"][0]["traffic"].update(keys)

    return change


def _ends(**keys: Any) -> Change:
    def change(content: dict[str, Any]) -> None:
        content["defaults"]["tcp"].update(keys)

    return change


def _proxies(**keys: Any) -> Change:
    """Returns the change of proxies, or of their TCP over the satellite."""

    def change(content: dict[str, Any]) -> None:
        for proxy, far in zip(content["proxies"], ("server", "client"), strict=True):
            for key, value in keys.items():
                (proxy if key in {"buffer", "opens"} else proxy[far])[key] = value

    return change


def _loss(factor: float) -> Change:
    def change(content: dict[str, Any]) -> None:
        loss = content["links"][1]["loss"]
        loss.update({side: value * factor for side, value in loss.items()})
        content["media"][0]["burst_loss"] *= factor

    return change


def _symbol_rate(content: dict[str, Any]) -> None:
    content["links"][1]["fade"] = {"forward": FADE | {"symbol_rate": "40 MBd"}}


def _packets(content: dict[str, Any]) -> None:
    """Sends and loses packets instead of frames."""
    del content["links"][1]["fade"]
    content["links"][1]["delay"] = {"forward": f"{FRAME_MS:g} ms", "backward": "0 ms"}


def _whole_frames(content: dict[str, Any]) -> None:
    """Loses a frame with the printed probability, as if one packet of IP carried it."""
    content["links"][1]["loss"]["forward"] = content["media"][0]["burst_loss"]


def _immediately(content: dict[str, Any]) -> None:
    """Passes on frames and bursts after a lost one immediately."""
    content["links"][1]["fade"] = {"forward": FADE | {"frames": {"label": 6}}}
    del content["media"][0]["resequencing"]


def _beam(**keys: Any) -> Change:
    """Returns the change of the return link; ``None`` removes a key."""

    def change(content: dict[str, Any]) -> None:
        (beam,) = content["media"]
        beam.update(keys)
        for key in [key for key, value in keys.items() if value is None]:
            del beam[key]

    return change


unassigned = _beam(constant=f"{RETURN_MBPS - 0.1:g} Mbit/s", rate_based=None, rate_period=None)
"""Lets the terminal send at the rate of its carrier."""


SWITCHES: dict[str, Change] = {
    "TLS 1.3": _tls("1.3"),
    "TLS 1.2": _tls("1.2"),
    "HTTP/2": traffic_keys(http="2"),
    "3 connections": traffic_keys(connections=3),
    "images as early as documents": traffic_keys(priorities=False),
    "server time 50 ms": traffic_keys(file=f"{HERE}/kepler-slow.json"),
    "30 objects": traffic_keys(file=f"{HERE}/kepler-30.json"),
    "CUBIC at the ends": _ends(congestion="cubic"),
    "initial window 20": _ends(initial_window=20),
    "windows kept when idle": _ends(idle_restart="off"),
    "40 MBd": _symbol_rate,
    "packets instead of frames": _packets,
    "return link of 49 Mbit/s": unassigned,
    "return link of 100 kbit/s": _beam(rate_based=None, rate_period=None),
    "a request of a rate per round trip": _beam(rate_period=None),
    "a rate that sends in a round trip": _beam(rate_spread=None),
    "requests by volume": _beam(rate_based=None, rate_period=None, volume_based=True),
}
PEP_SWITCHES: dict[str, Change] = {
    "PEP buffers of 64 kB": _proxies(buffer="64 kB"),
    "initial windows of PEPs 10": _proxies(initial_window=10),
    "PEPs without Nagle's algorithm": _proxies(nagle=False, minshall=False),
    "next connection with the SYN": _proxies(opens="on-syn"),
    "CUBIC in PEPs": _proxies(congestion="cubic"),
}
LOSS_SWITCHES: dict[str, Change] = {
    "one IP packet per frame": _whole_frames,
    "frames after a lost one immediately": _immediately,
    "losses × 4": _loss(4),
}
"""Changes of lossy paths."""
DOWNLOAD_SWITCHES = (
    "CUBIC at the ends",
    "initial window 20",
    "40 MBd",
    "packets instead of frames",
    "return link of 49 Mbit/s",
    "return link of 100 kbit/s",
    "a request of a rate per round trip",
    "a rate that sends in a round trip",
    "requests by volume",
)


def started(content: Mapping[str, Any], part: float) -> dict[str, Any]:
    """Returns a scenario whose flow starts in this part of a request period. The run ends as much later."""
    (flow,) = content["flows"]
    length_s = float(content["duration"].removesuffix(" s"))
    start_s = part * REQUEST_PERIOD_S
    return {**content, "duration": f"{length_s + start_s:g} s", "flows": [{**flow, "start": f"{start_s:g} s"}]}


def switched(content: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """Returns a scenario with one change."""
    found = deepcopy(dict(content))
    change(found)
    return found


def switches(*, pep: bool, loss: bool) -> dict[str, Change]:
    """Returns the changes that apply to a setting."""
    return SWITCHES | (PEP_SWITCHES if pep else {}) | (LOSS_SWITCHES if loss else {})


def over_quic(content: dict[str, Any]) -> None:
    """Changes a page load to HTTP/3 with the defaults of QUIC and the congestion control of quicly."""
    flow = content["flows"][0]
    flow["transport"], flow["congestion"] = "quic", dict(QUICLY_RENO)
    flow["traffic"].pop("http", None)
    flow["traffic"].pop("connections", None)


def over_quic_proxies(content: dict[str, Any]) -> None:
    """Changes a page load to HTTP/3 with proxies of QUIC at the gateway and at the terminal."""
    over_quic(content)
    far = {"congestion": QUICLY_RENO, "initial_window": PEP_WINDOW}
    # The client opens the connections, so the gateway's server is the end towards the satellite.
    content["proxies"] = [
        {"node": "gateway", "kind": "quic", "buffer": BUFFER, "quic": {"server": far}},
        {"node": "terminal", "kind": "quic", "buffer": BUFFER, "quic": {"client": far}},
    ]


def _quic_keys(**keys: Any) -> Change:
    def change(content: dict[str, Any]) -> None:
        content["flows"][0].setdefault("quic", {}).update(keys)

    return change


def _far_proxies(**keys: Any) -> Change:
    """Returns the change of the proxies' ends towards the satellite."""

    def change(content: dict[str, Any]) -> None:
        for proxy in content["proxies"]:
            for end in proxy["quic"].values():
                end.update(keys)

    return change


QUIC_SWITCHES: dict[str, Change] = {
    "β = 0.5": _quic_keys(congestion="newreno"),
    "CUBIC": _quic_keys(congestion="cubic"),
    "0-RTT": _quic_keys(zero_rtt=True),
    "no pacing": _quic_keys(pacing=False),
    "initial window of 32": _quic_keys(initial_window=32),
    "profile quiche": _quic_keys(profile="quiche"),
}
"""Changes of a page load over QUIC, one at a time."""
PROXY_SWITCHES: dict[str, Change] = {
    "initial windows of proxies 10": _far_proxies(initial_window=10),
    "β = 0.5 in the proxies": _far_proxies(congestion="newreno"),
    "CUBIC in the proxies": _far_proxies(congestion="cubic"),
}


def quic_switches(*, proxies: bool, loss: bool) -> dict[str, Change]:
    """Returns the changes that apply to a setting over QUIC."""
    return QUIC_SWITCHES | (PROXY_SWITCHES if proxies else {}) | (LOSS_SWITCHES if loss else {})
