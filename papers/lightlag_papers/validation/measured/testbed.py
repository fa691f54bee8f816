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
FADE = {
    "mean": -20,
    "deviation": 0,
    "correlation_time": "1000 s",
    "step": "10 s",
    "clear_sky": "20 dB",
    "symbol_rate": f"{SYMBOL_RATE_MBD:g} MBd",
    "modcods": {"table": "dvb-s2", "use": ["QPSK 1/4"]},
    "frames": {"label": 6},
}
"""Carrier forward: BBFRAMEs with GSE and the testbed's only MODCOD, without rain (e^-20 dB). Its label is ours."""
FRAME_MS = 32_490 / SYMBOL_RATE_MBD / 1e3 + 3_330 / SYMBOL_RATE_MBD / 2e3
"""Mean time of a packet at the gateway: its frame, after half a dummy frame. The measured round trips contain it."""
RETURN_MBPS = 8.3
"""Rate return: 14.8 MBd with the lowest modulation and code of the testbed, 0.56 bit per symbol."""
ASSIGNED = {"frame": "26.5 ms", "constant": "100 kbit/s", "max_rate": "5.12 Mbit/s"}
"""Capacity of the terminal, from the testbed's configuration: the constant assignment, and at most this rate (RBDC)."""
REQUEST_PERIOD_MS = 1000.0
"""Time between two requests of the terminal (`sync_period`). A need waits for half of it on average."""
GROUND_MS = 40.0
"""One-way delay between gateway and server: netem in the testbed."""
QUEUE = "6000 packets"
"""Queue of the gateway for best effort."""
FORWARD_MBPS = 18.7
"""Rate of IP packets that have the measured payload, for the model without frames."""
PEP_WINDOW = 10
"""Initial window of the PEPs over the satellite in segments. The testbed sets 100, but over GEO, without loss, the
document's last byte arrives 530 ms after its first (median of `responseEnd` less `responseStart`; 520 to 541 ms in 80 %
of the loads): a second round trip between the PEPs (526 ms), where 100 segments need only the server's (80 ms)."""
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
    delay_ms = orbit.rtt_ms / 2 - GROUND_MS - FRAME_MS / 2
    latency_ms = REQUEST_PERIOD_MS / 2 + 2 * delay_ms
    satellite = link(
        ("gateway", "terminal"),
        {"forward": f"{FORWARD_MBPS:g} Mbit/s", "backward": f"{RETURN_MBPS:g} Mbit/s"},
        delay_ms,
        queue=QUEUE,
        loss=loss_percent / 100,
        fade={"forward": FADE},
        on_demand={"backward": {**ASSIGNED, "latency": f"{latency_ms:g} ms"}},
    )
    content: dict[str, Any] = {
        "name": "kosek",
        "duration": f"{length_s:g} s",
        "defaults": {"tcp": {"profile": "linux", "congestion": "cubic"}},
        "links": [
            link(("server", "gateway"), "1 Gbit/s", GROUND_MS),
            satellite,
            link(("terminal", "client"), "1 Gbit/s", 0.0),
        ],
        "flows": [{"name": "page", "from": "server", "to": "client", "traffic": dict(traffic)}],
        "record": {"trace": "off", "queue": "off", "drops": False},
    }
    if pep:
        near, far = {"congestion": "newreno"}, {"congestion": "newreno", "initial_window": PEP_WINDOW}
        pepsal = {"buffer": BUFFER, "opens": "when-established"}
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

    A page that is not complete at the end of the run has the length of the run.
    """
    times = result.responses["duration_s"].to_list()
    objects = result.objects
    first = objects.filter(objects["object"].is_in(["index", "document1"]))
    document = first["end_s"].to_list() or [LONGEST_S]
    start = first["start_s"].to_list() or [LONGEST_S]
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
        content["links"][1]["loss"] *= factor

    return change


def _all(*changes: Change) -> Change:
    def change(content: dict[str, Any]) -> None:
        for one in changes:
            one(content)

    return change


def _symbol_rate(content: dict[str, Any]) -> None:
    content["links"][1]["fade"] = {"forward": FADE | {"symbol_rate": "40 MBd"}}


def _delay(content: dict[str, Any], more_ms: float) -> None:
    ms = float(content["links"][1]["delay"].removesuffix(" ms"))
    content["links"][1]["delay"] = f"{ms + more_ms:g} ms"


def _packets(content: dict[str, Any]) -> None:
    """Sends and loses packets instead of frames."""
    del content["links"][1]["fade"]
    _delay(content, FRAME_MS / 2)


def _superframes(content: dict[str, Any]) -> None:
    """Sends packets every 10 ms forward, and every 26.5 ms return at any rate."""
    _packets(content)
    _unassigned(content)
    # On average half a frame, which the measured round trip contains.
    content["links"][1]["aggregate"] = {"forward": {"interval": "10 ms"}, "backward": {"interval": "26.5 ms"}}
    _delay(content, -9.125)


def _fragments(content: dict[str, Any]) -> None:
    """Loses frames with either of two packets of IP. OpenSAND sends a frame of 2 kB as one datagram."""
    loss = content["links"][1]["loss"]
    content["links"][1]["loss"] = {"forward": 1 - (1 - loss) ** 2, "backward": loss}


def _unassigned(content: dict[str, Any]) -> None:
    """Lets the terminal send at the rate of its carrier."""
    del content["links"][1]["on_demand"]


def _constant(content: dict[str, Any]) -> None:
    """Leaves the terminal its constant assignment only."""
    content["links"][1]["on_demand"]["backward"]["max_rate"] = ASSIGNED["constant"]


def _early(content: dict[str, Any]) -> None:
    """Grants a request after a round trip."""
    needs = content["links"][1]["on_demand"]["backward"]
    needs["latency"] = f"{float(needs['latency'].removesuffix(' ms')) - REQUEST_PERIOD_MS / 2:g} ms"


SWITCHES: dict[str, Change] = {
    "TLS 1.3": _tls("1.3"),
    "TLS 1.2": _tls("1.2"),
    "HTTP/2": traffic_keys(http="2"),
    "3 connections": traffic_keys(connections=3),
    "images as early as documents": traffic_keys(priorities=False),
    "server time 50 ms": traffic_keys(file=f"{HERE}/kepler-slow.json"),
    "30 objects": traffic_keys(file=f"{HERE}/kepler-30.json"),
    "Reno at the ends": _ends(congestion="newreno"),
    "initial window 20": _ends(initial_window=20),
    "windows kept when idle": _ends(idle_restart="off"),
    "40 MBd": _symbol_rate,
    "packets instead of frames": _packets,
    "packets in frames of 10 and 26.5 ms": _superframes,
    "return link of 8.3 Mbit/s": _unassigned,
    "return link of 100 kbit/s": _constant,
    "grants after a round trip": _early,
}
PEP_SWITCHES: dict[str, Change] = {
    "PEP buffers of 64 kB": _proxies(buffer="64 kB"),
    "initial windows of PEPs 100": _proxies(initial_window=100),
    "next connection with the SYN": _proxies(opens="on-syn"),
    "CUBIC in PEPs": _proxies(congestion="cubic"),
}
LOSS_SWITCHES: dict[str, Change] = {
    "two IP packets per frame": _fragments,
    "two IP packets per frame and Reno at the ends": _all(_fragments, _ends(congestion="newreno")),
    "losses × 4": _loss(4),
}
"""netem drops the IP packets that carry frames. OpenSAND 5.2 sends a frame, of up to 2001 B with QPSK 1/4 and without
padding, as one datagram of UDP, which IP splits over a link with an MTU of 1500 B."""
DOWNLOAD_SWITCHES = (
    "Reno at the ends",
    "initial window 20",
    "40 MBd",
    "packets instead of frames",
    "packets in frames of 10 and 26.5 ms",
    "return link of 8.3 Mbit/s",
    "return link of 100 kbit/s",
    "grants after a round trip",
)


def switched(content: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """Returns a scenario with one change."""
    found = deepcopy(dict(content))
    change(found)
    return found


def switches(*, pep: bool, loss: bool) -> dict[str, Change]:
    """Returns the changes that apply to a setting."""
    return SWITCHES | (PEP_SWITCHES if pep else {}) | (LOSS_SWITCHES if loss else {})


def over_quic(content: dict[str, Any]) -> None:
    """Changes a page load to HTTP/3 with the defaults of QUIC."""
    flow = content["flows"][0]
    flow["transport"], flow["congestion"] = "quic", "newreno"
    flow["traffic"].pop("http", None)
    flow["traffic"].pop("connections", None)


def _quic_keys(**keys: Any) -> Change:
    def change(content: dict[str, Any]) -> None:
        content["flows"][0].setdefault("quic", {}).update(keys)

    return change


QUIC_SWITCHES: dict[str, Change] = {
    "CUBIC": _quic_keys(congestion="cubic"),
    "0-RTT": _quic_keys(zero_rtt=True),
    "no pacing": _quic_keys(pacing=False),
    "initial window of 32": _quic_keys(initial_window=32),
    "profile quiche": _quic_keys(profile="quiche"),
}
"""Changes of a page load over QUIC, one at a time."""
