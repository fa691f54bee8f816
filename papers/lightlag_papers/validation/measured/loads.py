"""Page loads over satellites: the testbed of Kosek and others with and without PEPs, and pages of the web."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import lightlag as ll
from lightlag_papers.validation.measured import webpages
from lightlag_papers.validation.measured.fact import Fact, Section, Spread, Verdict, judge
from lightlag_papers.validation.measured.kosek import AMOUNTS, GEO, GOODPUTS, LEO, LOADS, QUIC_MS, Load, Orbit
from lightlag_papers.validation.measured.runs import HERE, Task, Values, Work
from lightlag_papers.validation.measured.tolerances import PAGES

if TYPE_CHECKING:
    from lightlag_papers.paper import Picture

NAME = "pages"
KOSEK = "Kosek et al. 2022"
MICHEL = "Michel et al. 2022 (IMC)"
SEEDS = 21
"""Seeds of a page load over a path with losses. The testbed repeats each setting 100 times."""
GOODPUT_SEEDS = 5
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

HARDLY = 0.03
"""Minimum change of a ratio that makes a switched setting its cause."""

Change = Callable[[dict[str, Any]], None]


ABOUT = [
    "Kosek et al. load the ETSI Kepler page (75 objects, 816 kB, one host) with Chromium over OpenSAND, 100 times per "
    "setting. The model has the settings that the authors publish (kosekmi/2022-ifip-nw-quic-proxies, "
    "kosekmi/quic-opensand-emulation): HTTP/1.1 without TLS, at most 6 connections, 40 ms between gateway and server, "
    "losses of frames towards the satellite in both directions, PEPsal at the gateway and at the terminal, which opens "
    "its next connection when the handshake of the one before is complete. Forward, packets are sent in BBFRAMEs of "
    "QPSK 1/4 with GSE, which are lost as a whole. The terminal has 100 kbit/s, and requests up to 5.12 Mbit/s; the "
    "testbed requests a rate once per second, and the model the volume that waits, which is granted half a second and "
    "a round trip later. Round trips (606 and 144 ms), the payload per second "
    f"({PAYLOAD_MBPS:g} Mbit/s, for which {SYMBOL_RATE_MBD:g} MBd suffice; nominally 40) and the initial window of the "
    f"PEPs over the satellite ({PEP_WINDOW} segments; nominally 100) are measured there: without loss, the last byte "
    "of the document arrives 530 ms after its first over GEO, a round trip between the PEPs. Open, and ours: CUBIC at "
    "the ends and Reno in the PEPs, as in the example of the repository; "
    f"PEP buffers of {BUFFER}; {webpages.HEADERS} B of headers per response and {webpages.REQUEST} B per request. "
    "Our browser requests objects when the document is complete, and spends no time on parsing.",
    f"Ours: the median of {SEEDS} seeds where packets are lost. A row agrees if the ratio is within {PAGES:.0%}; the "
    "quartiles of the measurement are shown and do not count. Reasons list the ratio with one setting changed. QUIC "
    "has NewReno, the algorithm of RFC 9002; the testbed's is not known to us. The rows of Michel et al. were not read "
    "in their source and leave page, HTTP and TLS open: they have no verdict.",
]


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


def _traffic(**keys: Any) -> Change:
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
    "HTTP/2": _traffic(http="2"),
    "3 connections": _traffic(connections=3),
    "images as early as documents": _traffic(priorities=False),
    "server time 50 ms": _traffic(file=f"{HERE}/kepler-slow.json"),
    "30 objects": _traffic(file=f"{HERE}/kepler-30.json"),
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


def write_pages(work: Work) -> None:
    """Writes the files of the pages, and of changed ones."""
    pages = {name: make() for name, make in webpages.PAGES.items()}
    kepler = pages["etsi-kepler"]["objects"]
    pages["kepler-slow"] = {"objects": [one | {"server_time": "50 ms"} for one in kepler]}
    # Every 2.5th object, each with 2.5 times its size, has about the same sum.
    few = [one | {"size": round(2.5 * one["size"])} for at, one in enumerate(kepler[1:]) if at % 5 in (0, 2)]
    pages["kepler-30"] = {"objects": [kepler[0], *few]}
    for name, page in pages.items():
        (work.directory / f"{name}.json").write_text(json.dumps(page), "utf-8")


def section(work: Work, loads: Sequence[Load] = LOADS, seeds: int = SEEDS) -> Section:
    """Returns the rows."""
    write_pages(work)
    found = Section(NAME, "Page loads over satellites", list(ABOUT))
    pairs = _loads(work, found, loads, seeds)
    _quic(work, found, seeds)
    _downloads(work, found)
    _websites(work, found)
    found.figures.append(_figure(pairs))
    return found


def _medians(
    work: Work, said: str, contents: Sequence[Mapping[str, Any]], measure: Callable[[ll.Result], Values], seeds: int
) -> list[dict[str, Spread]]:
    """Returns the median and range of each value, for each scenario; one run where nothing is lost."""
    numbers = [seeds if content["links"][1].get("loss") else 1 for content in contents]
    tasks = [
        Task(content, seed, measure, directory=work.directory)
        for content, number in zip(contents, numbers, strict=True)
        for seed in range(1, number + 1)
    ]
    values = iter(work.run(said, tasks))
    rows = [[next(values) for _ in range(number)] for number in numbers]
    return [{key: Spread.of([one[key] for one in row]) for key in row[0]} for row in rows]


def _loads(work: Work, found: Section, loads: Sequence[Load], seeds: int) -> list[tuple[Load, Spread]]:
    """Adds the rows of page load times, and of documents without loss."""
    contents = [page_load(one.orbit, one.loss_percent, pep=one.pep) for one in loads]
    ours = _medians(work, "page loads", contents, loaded, seeds)
    for one, content, mine in zip(loads, contents, ours, strict=True):
        quantities = [("page load time", "load_s", _scaled(one.load_ms, 1e-3))]
        if not one.loss_percent:
            quantities.append(("time of the complete document", "document_s", Spread(one.document_ms / 1e3)))
        for quantity, key, measured in quantities:
            fact = _judged(KOSEK, one.setting, quantity, "s", measured, mine[key])
            if fact.verdict is Verdict.DIFFERS:
                changes = switches(pep=one.pep, loss=one.loss_percent > 0)
                others = _medians(
                    work, one.setting, [switched(content, change) for change in changes.values()], loaded, seeds
                )
                ratios = {name: other[key].value / measured.value for name, other in zip(changes, others, strict=True)}
                fact = _explained(fact, ratios)
            found.facts.append(fact)
    _ratios(work, found, loads, ours, seeds)
    return [(one, mine["load_s"]) for one, mine in zip(loads, ours, strict=True)]


def _ratios(
    work: Work, found: Section, loads: Sequence[Load], ours: Sequence[Mapping[str, Spread]], seeds: int
) -> None:
    """Adds a row for the effect of the PEPs on each path."""
    values = {(one.orbit.name, one.loss_percent, one.pep): (one, mine) for one, mine in zip(loads, ours, strict=True)}
    for (name, loss, pep), (load, mine) in values.items():
        plain = values.get((name, loss, False))
        if not pep or plain is None:
            continue
        measured = load.load_ms.value / plain[0].load_ms.value
        ratio = Spread(mine["load_s"].value / plain[1]["load_s"].value)
        setting = f"{name}, loss {loss:g} %, TCP"
        fact = _judged(KOSEK, setting, "page load time with PEPs / without", "", Spread(measured), ratio)
        if fact.verdict is Verdict.DIFFERS:
            content = page_load(load.orbit, loss, pep=True)
            changed = [switched(content, change) for change in PEP_SWITCHES.values()]
            others = _medians(work, setting, changed, loaded, seeds)
            scale = plain[1]["load_s"].value * measured
            fact = _explained(
                fact, {key: other["load_s"].value / scale for key, other in zip(PEP_SWITCHES, others, strict=True)}
            )
        found.facts.append(fact)


def _judged(source: str, setting: str, quantity: str, unit: str, measured: Spread, ours: Spread) -> Fact:
    """Returns a row; only medians count."""
    verdict = judge(Spread(measured.value), Spread(ours.value), PAGES)
    return Fact(source, setting, quantity, unit, measured, ours, verdict, f"within {PAGES:.0%}")


def _explained(fact: Fact, ratios: Mapping[str, float]) -> Fact:
    """Returns a row that differs, with the ratio for each change, and the names of those that hardly matter."""
    assert fact.ratio is not None
    near = {name for name, ratio in ratios.items() if abs(ratio - fact.ratio) < HARDLY}
    shown = "; ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items() if name not in near)
    others = ", ".join(name for name in ratios if name in near)
    reason = f"ratio with one change: {shown}" + (f"; less than {HARDLY} by: {others}" if others else "")
    return replace(fact, reason=reason)


def _quic(work: Work, found: Section, seeds: int) -> None:
    """Adds the rows of pages over HTTP/3. The objects of a page share one stream between proxies of QUIC in the model,
    so their rows have no verdict.
    """
    plain = [(orbit, loss, measured) for orbit, loss, proxies, measured in QUIC_MS if not proxies]
    contents = [switched(page_load(orbit, loss, pep=False), over_quic) for orbit, loss, _ in plain]
    ours = _medians(work, "page loads over QUIC", contents, loaded, seeds)
    for (orbit, loss, measured_ms), content, mine in zip(plain, contents, ours, strict=True):
        setting, measured = f"{orbit.name}, loss {loss:g} %, QUIC", Spread(measured_ms / 1e3)
        fact = _judged(KOSEK, setting, "page load time", "s", measured, mine["load_s"])
        if fact.verdict is Verdict.DIFFERS:
            changed = [switched(content, change) for change in QUIC_SWITCHES.values()]
            others = _medians(work, setting, changed, loaded, seeds)
            values = zip(QUIC_SWITCHES, others, strict=True)
            fact = _explained(fact, {name: other["load_s"].value / measured.value for name, other in values})
        found.facts.append(fact)
    reason = "objects share one stream between proxies of QUIC in the model"
    for orbit, loss, proxies, measured_ms in QUIC_MS:
        if proxies:
            setting = f"{orbit.name}, loss {loss:g} %, QUIC with proxies"
            measured = Spread(measured_ms / 1e3)
            found.facts.append(Fact(KOSEK, setting, "page load time", "s", measured, None, Verdict.NO_VERDICT, reason))


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


def _downloads(work: Work, found: Section) -> None:
    """Adds the rows of the growth and of the mean goodput of a download over GEO."""
    growth = [download(size, 0, pep=pep, length_s=LONGEST_S) for size, pep, _ in AMOUNTS]
    ours = _medians(work, "downloads", growth, received, 1)
    for (size, pep, measured), content, mine in zip(AMOUNTS, growth, ours, strict=True):
        setting = f"GEO, loss 0 %, {'TCP with PEPs' if pep else 'TCP'}, iperf3 -R; our time starts with the first byte"
        quantity = f"time until {size / 1e6:g} MB have arrived"
        fact = _judged(KOSEK, setting, quantity, "s", Spread(measured), mine["body_s"])
        if fact.verdict is Verdict.DIFFERS:
            ratios = _download_ratios(work, content, "body_s", pep=pep, seeds=1, unit=measured)
            earlier = mine["body_s"].value + GEO.rtt_ms / 1e3
            fact = _explained(fact, ratios | {"clock a round trip earlier": earlier / measured})
        found.facts.append(fact)
    # The client's clock starts when the connection is open, and a request takes another round trip.
    length_s = DOWNLOAD_S + GEO.rtt_ms / 1e3
    whole = [download(100_000_000, loss, pep=pep, length_s=length_s) for loss, pep, _ in GOODPUTS]
    ours = _medians(work, "downloads of 30 s", whole, received, GOODPUT_SEEDS)
    for (loss, pep, measured), content, mine in zip(GOODPUTS, whole, ours, strict=True):
        setting = f"GEO, loss {loss:g} %, {'TCP with PEPs' if pep else 'TCP'}, iperf3 -R, 30 s"
        mbps = _scaled(mine["bytes"], 8e-6 / DOWNLOAD_S)
        fact = _judged(KOSEK, setting, "goodput", "Mbit/s", Spread(measured), mbps)
        if fact.verdict is Verdict.DIFFERS:
            unit = measured * DOWNLOAD_S / 8e-6
            fact = _explained(fact, _download_ratios(work, content, "bytes", pep=pep, seeds=GOODPUT_SEEDS, unit=unit))
        found.facts.append(fact)


def _scaled(value: Spread, factor: float) -> Spread:
    low, high = (None if bound is None else bound * factor for bound in (value.low, value.high))
    return Spread(value.value * factor, low, high)


def _download_ratios(
    work: Work, content: Mapping[str, Any], key: str, *, pep: bool, seeds: int, unit: float
) -> dict[str, float]:
    every = switches(pep=pep, loss=content["links"][1]["loss"] > 0)
    changes = {name: change for name, change in every.items() if name in DOWNLOAD_SWITCHES or name not in SWITCHES}
    others = _medians(work, "downloads", [switched(content, one) for one in changes.values()], received, seeds)
    return {name: other[key].value / unit for name, other in zip(changes, others, strict=True)}


WEBSITES = (
    ("GEO", 600.0, 82.0, 4.5, Spread(10.91, 8.36, 13.59), 2030.0),
    ("Starlink", 49.0, 178.0, 17.0, Spread(2.12, 1.60, 2.78), 167.0),
)
"""Access, round trip in ms (of GEO ours), rates down and up in Mbit/s, and measured: onLoad in s, set-up in ms."""


def website(rtt_ms: float, down_mbps: float, up_mbps: float) -> dict[str, Any]:
    """Returns a load of the median page with HTTP/2, TLS 1.3 and lookups over a satellite access without PEP."""
    rates = {"forward": f"{down_mbps:g} Mbit/s", "backward": f"{up_mbps:g} Mbit/s"}
    traffic = {"kind": "page", "file": f"{HERE}/desktop-2024.json", "http": "2", "count": 1}
    setup = {"dns": "lookup", "dns_time": f"{rtt_ms:g} ms", "tls": "1.3"}
    return {
        "name": "website",
        "duration": f"{LONGEST_S} s",
        "defaults": {"tcp": {"profile": "linux", "congestion": "cubic"}, "setup": setup},
        "links": [
            link(("server", "gateway"), "1 Gbit/s", 5.0),
            link(("gateway", "client"), rates, rtt_ms / 2 - 5.0, queue="1 bdp"),
        ],
        "flows": [{"name": "page", "from": "server", "to": "client", "traffic": traffic}],
        "record": {"trace": "off", "queue": "off", "drops": False},
    }


WEBSITE_SWITCHES: dict[str, Change] = {
    "TLS 1.2": lambda content: content["defaults"]["setup"].update(tls="1.2"),
    "HTTP/1.1": _traffic(http="1.1"),
    "the mobile page": _traffic(file=f"{HERE}/mobile-2024.json"),
    "no lookups": lambda content: content["defaults"].update(setup={"tls": "1.3"}),
    "a tenth of the rate": lambda content: content["links"][1].update(
        rate={side: f"{float(rate.split()[0]) / 10:g} Mbit/s" for side, rate in content["links"][1]["rate"].items()}
    ),
}


def _websites(work: Work, found: Section) -> None:
    """Adds the rows of pages over GEO and Starlink, without a verdict."""
    contents = [website(rtt, down, up) for _, rtt, down, up, _, _ in WEBSITES]
    changes = {"": _unchanged, **WEBSITE_SWITCHES}
    every = [switched(content, change) for change in changes.values() for content in contents]
    rows = _medians(work, "websites", every, loaded, 1)
    pairs = dict(zip(changes, (rows[at : at + 2] for at in range(0, len(rows), 2)), strict=True))
    # The set-up includes the lookup, a round trip, which the measured time does not.
    values = {
        name: [
            (one["load_s"].value, one["set_up_s"].value - (0.0 if name == "no lookups" else rtt / 1e3))
            for one, (_, rtt, *_) in zip(pair, WEBSITES, strict=True)
        ]
        for name, pair in pairs.items()
    }
    for at, (quantity, unit) in enumerate((("onLoad", "s"), ("connection and TLS", "s"))):
        measured = [site[4] if at == 0 else Spread(site[5] / 1e3) for site in WEBSITES]
        for which, site in enumerate(WEBSITES):
            setting = f"{site[0]}, websites; ours: the median desktop page of 2024, HTTP/2, TLS 1.3, no PEP"
            ours = {name: row[which][at] for name, row in values.items()}
            _shown(found, setting, quantity, unit, measured[which], ours)
        ratio = Spread(measured[0].value / measured[1].value)
        ours = {name: row[0][at] / row[1][at] for name, row in values.items()}
        _shown(found, "GEO / Starlink", quantity, "", ratio, ours)


def _unchanged(_: dict[str, Any]) -> None:
    """Changes nothing."""


def _shown(found: Section, setting: str, quantity: str, unit: str, measured: Spread, ours: Mapping[str, float]) -> None:
    others = "; ".join(f"{name} {value / measured.value:.2f}" for name, value in ours.items() if name)
    reason = f"not read in its source, and the page is open; ratio with one change: {others}"
    found.facts.append(Fact(MICHEL, setting, quantity, unit, measured, Spread(ours[""]), Verdict.NO_VERDICT, reason))


def _figure(pairs: Sequence[tuple[Load, Spread]]) -> Picture:
    """Returns the page load times over the loss, measured and ours."""
    from matplotlib.figure import Figure

    from lightlag.drawing import style
    from lightlag_papers.drawing import labels, styled
    from lightlag_papers.paper import Picture

    @styled
    def draw() -> Figure:
        figure = Figure(figsize=(7.0, 3.4), layout="constrained")
        for axes, orbit in zip(figure.subplots(1, 2), (GEO, LEO), strict=True):
            for at, pep in enumerate((False, True)):
                mine = [(one, ours) for one, ours in pairs if one.orbit == orbit and one.pep == pep]
                name = "with PEPs" if pep else "TCP"
                x = range(len(mine))
                look = style.line_style(at)
                axes.plot(
                    x, [one.load_ms.value / 1e3 for one, _ in mine], **look, marker="o", label=f"{name}, measured"
                )
                dashed = look | {"linestyle": "", "marker": "x"}
                axes.plot(x, [ours.value for _, ours in mine], **dashed, label=f"{name}, lightlag")
                axes.set_xticks(list(x), [f"{one.loss_percent:g}" for one, _ in mine])
            axes.set_title(orbit.name)
            axes.set_ylim(bottom=0)
            labels(axes, "page load time (s)", "packet loss (%)")
        axes.legend(loc="lower left")
        return figure

    return Picture(
        "measured-pages", draw(), "Median load time of the ETSI Kepler page: measured (circles), ours (crosses)."
    )
