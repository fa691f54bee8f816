"""Page loads over satellites: the rows of Kosek and others with and without PEPs, and of pages of the web."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import lightlag as ll
from lightlag_papers.validation.measured import webpages
from lightlag_papers.validation.measured.fact import Fact, Section, Spread, Verdict, judge
from lightlag_papers.validation.measured.kosek import AMOUNTS, GEO, GOODPUTS, LEO, LOADS, QUIC_MS, Load
from lightlag_papers.validation.measured.runs import HERE, Task, Values, Work
from lightlag_papers.validation.measured.testbed import (
    BUFFER,
    BURST_B,
    DOWNLOAD_S,
    DOWNLOAD_SWITCHES,
    LONGEST_S,
    PAYLOAD_MBPS,
    PEP_SWITCHES,
    PEP_WINDOW,
    RESEQUENCING,
    SPREAD_MS,
    SWITCHES,
    SYMBOL_RATE_MBD,
    Change,
    download,
    link,
    loaded,
    over_quic,
    over_quic_proxies,
    page_load,
    quic_switches,
    received,
    started,
    switched,
    switches,
    traffic_keys,
)
from lightlag_papers.validation.measured.tolerances import PAGES

if TYPE_CHECKING:
    from lightlag_papers.paper import Picture

NAME = "pages"
KOSEK = "Kosek et al. 2022"
MICHEL = "Michel et al. 2022 (IMC)"
SEEDS = 100
"""Seeds of a page load: as many as the testbed has repetitions of each setting."""
QUIC_SEEDS = 21
"""Seeds of a page load over QUIC."""
GOODPUT_SEEDS = 5
HARDLY = 0.03
"""Minimum change of a ratio that makes a switched setting its cause."""

ABOUT = [
    "Kosek et al. load the ETSI Kepler page (75 objects, 816 kB, one host) with Chromium over OpenSAND, 100 times per "
    "setting. The model has the settings that the authors publish (kosekmi/2022-ifip-nw-quic-proxies, "
    "kosekmi/quic-opensand-emulation): HTTP/1.1 without TLS, at most 6 connections, 40 ms between gateway and server, "
    "losses of frames towards the satellite in both directions. Forward, packets are sent in BBFRAMEs of "
    "QPSK 1/4 with GSE, which are lost as a whole, with either of their two packets of IP. Return, a DVB-RCS2 terminal "
    "has 100 kbit/s, and requests a rate of up to 5.12 Mbit/s once per second: the arrivals since the last request, "
    f"plus what waits, spread over the minimum scheduling latency (MSL, {SPREAD_MS:g} ms), as OpenSAND computes it. "
    f"Its bursts carry {BURST_B} B and are lost one by one. After a lost frame or burst, OpenSAND's receiver keeps up "
    f"to {RESEQUENCING} more in case it is only late.",
    "PEPsal, at the gateway and at the terminal, opens its next connection when the handshake of the one before is "
    f"complete, has an initial window of {PEP_WINDOW} segments over the satellite, and reads and writes 8 KiB in turn. "
    "Its sockets have Nagle's algorithm, so the small segment at the end of a write waits for the acknowledgement of "
    "the one before. This explains the document, whose last byte arrives one round trip between the PEPs after its "
    "first over GEO (530 ms) and two over LEO (126 ms). Round trips (606 and 144 ms) and the payload per second "
    f"({PAYLOAD_MBPS:g} Mbit/s, for which {SYMBOL_RATE_MBD:g} MBd suffice; nominally 40) are measured there. Open, and "
    "ours: Reno, the default of the testbed's scripts; "
    f"PEP buffers of {BUFFER}; {webpages.HEADERS} B of headers per response and {webpages.REQUEST} B per request. "
    "Our browser requests objects when the document is complete, and spends no time on parsing.",
    f"Ours: the median of {SEEDS} seeds, or {QUIC_SEEDS} with QUIC, which also open the connection at different times "
    f"of a request period. A row agrees if the ratio is within {PAGES:.0%}; the quartiles of the measurement are shown "
    "and do not count. Reasons list the ratio with one setting changed. QUIC "
    "has the Reno of quicly, whose losses leave 0.7 of the window: the testbed's server (h2o) and proxies (qperf) use "
    "quicly, with its default. The rows of Michel et al. were not read in their source and leave page, HTTP and TLS "
    "open: they have no verdict.",
]


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
    _quic(work, found, min(seeds, QUIC_SEEDS))
    _downloads(work, found)
    _websites(work, found)
    found.figures.append(_figure(pairs))
    return found


def _medians(
    work: Work, said: str, contents: Sequence[Mapping[str, Any]], measure: Callable[[ll.Result], Values], seeds: int
) -> list[dict[str, Spread]]:
    """Returns the median and range of each value, for each scenario. Each seed opens the connection in another part of
    the terminal's request period.
    """
    tasks = [
        Task(started(content, (seed - 0.5) / seeds), seed, measure, directory=work.directory)
        for content in contents
        for seed in range(1, seeds + 1)
    ]
    values = iter(work.run(said, tasks))
    rows = [[next(values) for _ in range(seeds)] for _ in contents]
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
    """Adds the rows of pages over HTTP/3."""
    contents = [
        switched(page_load(orbit, loss, pep=False), over_quic_proxies if proxies else over_quic)
        for orbit, loss, proxies, _ in QUIC_MS
    ]
    ours = _medians(work, "page loads over QUIC", contents, loaded, seeds)
    for (orbit, loss, proxies, measured_ms), content, mine in zip(QUIC_MS, contents, ours, strict=True):
        setting = f"{orbit.name}, loss {loss:g} %, QUIC{' with proxies' if proxies else ''}"
        measured = Spread(measured_ms / 1e3)
        fact = _judged(KOSEK, setting, "page load time", "s", measured, mine["load_s"])
        if fact.verdict is Verdict.DIFFERS:
            changes = quic_switches(proxies=proxies, loss=loss > 0)
            others = _medians(work, setting, [switched(content, change) for change in changes.values()], loaded, seeds)
            values = zip(changes, others, strict=True)
            fact = _explained(fact, {name: other["load_s"].value / measured.value for name, other in values})
        found.facts.append(fact)


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
    every = switches(pep=pep, loss=content["media"][0]["burst_loss"] > 0)
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
    "HTTP/1.1": traffic_keys(http="1.1"),
    "the mobile page": traffic_keys(file=f"{HERE}/mobile-2024.json"),
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
