"""Starlink: throughput of one connection against capacity, the 15-s slot, and congestion controls."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lightlag as ll
from lightlag import imports
from lightlag.imports import Options
from lightlag_papers.validation.measured import data, figures
from lightlag_papers.validation.measured.fact import Fact, Section, Spread, Verdict, judge, number
from lightlag_papers.validation.measured.runs import HERE, Task, Values, Work, goodput
from lightlag_papers.validation.measured.tolerances import SLOT, STARLINK

NAME = "starlink"
SLOT_S = 15
FIRST_EDGE_S = 12
"""Second of the minute in which a slot starts; the next ones are :27, :42 and :57."""
SEEDS = 5
TRACE_S = 120
SEGMENT_S, SEGMENTS, SHIFT_S = 400, 3, 3000
"""Length, number and distance of our runs over the trace of the Autobahn, which has 8460 s."""

GROWTH_S = 10
"""Time after the start of a connection that a profile leaves out."""

LOSS_DOWN, LOSS_UP = 0.0033, 0.0004
"""Loss of irtt's probes over Starlink for 100 s: 33 of 10,000 down, in 28 bursts, and 4 up."""
BURST_DOWN = 33 / 28
DOWN_MBPS, UP_MBPS, RTT_MS = 160.0, 30.0, 40.0
"""A fixed Starlink: BBR's highest means are 150 down and well over 25 up; half the idle round trips are below 40 ms."""
LAGOS_DOWN, LAGOS_UP = 0.041, 0.079
"""Losses of probes in the last second of a slot down and in its first second up (Starlink-Emulator, Lagos)."""
LAGOS_MS, LAGOS_S, PROBES = 82, 600, 1000
"""One-way delay, duration of our probes, and their number per second."""
QUEUE_DOWN, QUEUE_UP = "1500 packets", "4000 packets"
"""The queues that NetScalpel's model of Starlink has."""

ABOUT = [
    "Three data sets are read by `lightlag import`: LeoCC's capacity (120 s, in milliseconds) with its base delays, "
    "the "
    "Autobahn's throughput (8460 s, in seconds, both directions simultaneously, taken as capacity) and FjordLink's "
    "pings "
    "from a "
    "vessel. A *fixed* Starlink has "
    f"{DOWN_MBPS:g}/{UP_MBPS:g} Mbit/s, an RTT of {RTT_MS:g} ms, queues of {QUEUE_DOWN} down and {QUEUE_UP} up, and "
    "the losses "
    f"that irtt counted on another dish: {LOSS_DOWN:.2%} down, in bursts of {BURST_DOWN:.2f}, and {LOSS_UP:.2%} up. "
    "The facts come "
    "from other dishes, places and years than the traces: a ratio that differs is a fact about both.",
    f"A row agrees if it is within {STARLINK:.0%}, of the slot's profile within {SLOT} of the mean, or if the ranges "
    "overlap. Facts that were not read in their source, or that are keys of our link, have no verdict.",
]


def leocc(tcp: Mapping[str, Any], *, loss: float = LOSS_DOWN, udp: bool = False) -> dict[str, Any]:
    """Returns LeoCC's path: base delays that change, then the capacity down."""
    flow: dict[str, Any] = {"from": "server", "to": "client"}
    if udp:
        flow |= {"transport": "udp", "traffic": {"kind": "constant", "rate": "100 Mbit/s"}}
    changing = {
        "between": ["server", "gateway"],
        "rate": "10 Gbit/s",
        "delay": {"forward": "11 ms", "backward": "11 ms"},
        "queue": "10000 packets",
        "trace": f"{HERE}/delays.csv",
    }
    access: dict[str, Any] = {
        "between": ["gateway", "client"],
        "rate": {"forward": "48.7 Mbit/s", "backward": f"{UP_MBPS:g} Mbit/s"},
        "delay": "1 ms",
        "queue": {"forward": QUEUE_DOWN, "backward": QUEUE_UP},
        "trace": {"forward": {"file": f"{HERE}/capacity.opportunities", "format": "mahimahi"}},
    }
    if loss:
        access["loss"] = {"forward": {"mean": loss, "burst": BURST_DOWN}, "backward": LOSS_UP}
    return _scenario("leocc", TRACE_S, [changing, access], flow, tcp)


def fixed(tcp: Mapping[str, Any], direction: str, *, factor: float = 1.0, edges: bool = False) -> dict[str, Any]:
    """Returns the fixed Starlink with one connection of 30 s.

    Parameters
    ----------
    tcp
        Options of the sender.
    direction
        Direction of the data: "down" or "up".
    factor
        Factor of the measured losses.
    edges
        Whether all losses are in the last second of each slot, with the same mean.
    """
    link: dict[str, Any] = {
        "between": ["server", "client"],
        "rate": {"forward": f"{DOWN_MBPS:g} Mbit/s", "backward": f"{UP_MBPS:g} Mbit/s"},
        "delay": f"{RTT_MS / 2:g} ms",
        "queue": {"forward": QUEUE_DOWN, "backward": QUEUE_UP},
    }
    if edges:
        link["changes"] = {
            side: [
                {"at": f"{at} s", "loss": SLOT_S * mean if at % SLOT_S == SLOT_S - 1 else 0.0}
                for at in range(30)
                if at % SLOT_S in (0, SLOT_S - 1) and at
            ]
            for side, mean in (("forward", LOSS_DOWN), ("backward", LOSS_UP))
        }
    elif factor:
        down = {"mean": factor * LOSS_DOWN, "burst": BURST_DOWN}
        link["loss"] = {"forward": down, "backward": factor * LOSS_UP}
    ends = ("server", "client") if direction == "down" else ("client", "server")
    return _scenario("fixed", 30, [link], {"from": ends[0], "to": ends[1]}, tcp)


def _scenario(
    name: str, length_s: int, links: list[dict[str, Any]], flow: dict[str, Any], tcp: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "duration": f"{length_s} s",
        "defaults": {"tcp": {"profile": "linux", **tcp}},
        "links": links,
        "flows": [flow],
        "record": {"trace": "sampled", "queue": "off", "drops": False, "interval": "100 ms"},
    }


def delivered(result: ll.Result) -> Values:
    """Returns the rate of delivered data in Mbit/s."""
    return {"delivered_mbps": 8e-6 * result.summary["flows"][0]["delivered_bytes"] / result.simulated_s}


def round_trips(result: ll.Result) -> Values:
    """Returns median and 95th percentile of the sampled round trips in ms, and the goodput in Mbit/s."""
    rtts = sorted(result.trace()["rtt_s"].drop_nans().drop_nulls().to_list())
    flow = result.summary["flows"][0]
    return {
        "median_ms": 1e3 * statistics.median(rtts),
        "p95_ms": 1e3 * rtts[int(0.95 * (len(rtts) - 1))],
        "goodput_mbps": flow["goodput_bps"] / 1e6,
    }


def seconds(result: ll.Result) -> Values:
    """Returns the data that arrived in each second of the run, in Mbit, with the index of the second."""
    trace = result.trace()
    arrived = {
        round(when): count
        for when, count in zip(trace["time_s"], trace["arrived_bytes"], strict=True)
        if abs(when - round(when)) < 1e-6
    }
    pairs = [(at, 8e-6 * (arrived[at + 1] - count)) for at, count in arrived.items() if at + 1 in arrived]
    return {"seconds": [at for at, _ in pairs], "mbit": [amount for _, amount in pairs]}


def profile(pairs: Sequence[tuple[int, float]]) -> list[float]:
    """Returns the mean of each second of the slot, relative to the mean of all values.

    Parameters
    ----------
    pairs
        Second of the minute, and the throughput.

    Examples
    --------
    >>> [round(value, 2) for value in profile([(second, 1.0 + (second == 26)) for second in range(12, 27)])][-2:]
    [0.94, 1.88]
    """
    mean = statistics.fmean(value for _, value in pairs)
    slots: dict[int, list[float]] = {}
    for second, value in pairs:
        slots.setdefault((second - FIRST_EDGE_S) % SLOT_S, []).append(value)
    return [statistics.fmean(slots[at]) / mean if slots.get(at) else 0.0 for at in range(SLOT_S)]


def write_traces(work: Work) -> None:
    """Writes the traces, as `lightlag import` converts them."""
    step_s = 0.01
    rows = (f"{step_s * at:.2f},{ms / 1e3:g}" for at, ms in enumerate(data.base_delays()))
    (work.directory / "delays.csv").write_text("time_s,delay_s\n" + "\n".join(rows) + "\n", "utf-8")
    columns = ("time=utc_start_download", "down=download_mbps:Mbit/s", "up=upload_mbps:Mbit/s")
    _imported(work, "capacity", data.FOLDER / data.LEOCC / "starlink-120s.down.gz", Options(delay="1 ms"))
    path = data.FOLDER / data.AUTOBAHN / "throughput-1s.csv"
    _imported(work, "autobahn", path, Options(delay=f"{RTT_MS / 2:g} ms", columns=columns))
    # The other columns are the traffic of the vessel, which an import would take for the capacity.
    path = data.FOLDER / data.FJORD / "dish-1s-2024-12-12.csv"
    pings_only = data.rows(path, lambda row: f"{row['time']},{row['pop_ping_latency_ms']}\n")
    table = work.directory / "pings.csv"
    table.write_text("time,rtt_ms\n" + "".join(pings_only), "utf-8")
    _imported(work, "fjord", table, Options(rate="100 Mbit/s"))


def _imported(work: Work, name: str, path: Path, options: Options) -> None:
    page = imports.to_scenario(path, name=name, options=options)
    for file, text in {f"{name}.toml": page.text, **page.files}.items():
        (work.directory / file).write_text(text, "utf-8")


def driving(tcp: Mapping[str, Any], start_s: int) -> dict[str, Any]:
    """Returns the path with the throughput of the Autobahn as capacity, and one download of `SEGMENT_S`."""
    link = {
        "between": ["client", "server"],
        "rate": {"forward": "64 Mbit/s", "backward": "495 Mbit/s"},
        "delay": f"{RTT_MS / 2:g} ms",
        "queue": {"forward": QUEUE_UP, "backward": QUEUE_DOWN},
        "trace": {"forward": f"{HERE}/autobahn-forward-trace.csv", "backward": f"{HERE}/autobahn-trace.csv"},
    }
    flow = {"from": "server", "to": "client", "start": f"{start_s} s"}
    content = _scenario("autobahn", start_s + SEGMENT_S, [link], flow, tcp)
    content["record"]["interval"] = "1 s"
    return content


SWITCHES: dict[str, dict[str, Any]] = {
    "no losses": {"factor": 0.0},
    "a tenth of the losses": {"factor": 0.1},
    "ten times the losses": {"factor": 10.0},
    "all losses in the last second of a slot": {"edges": True},
}
"""Changes of the losses of the fixed Starlink."""

CUBIC, BBR = {"congestion": "cubic"}, {"congestion": "bbr"}


def section(work: Work, seeds: int = SEEDS) -> Section:
    """Returns the rows."""
    write_traces(work)
    found = Section(NAME, "Starlink", list(ABOUT))
    _capacity(work, found, seeds)
    _fixed(work, found, seeds)
    _edges(work, found)
    _slot(work, found)
    _pings(work, found)
    return found


def _values(work: Work, said: str, content: Mapping[str, Any], measure: Any, seeds: int) -> list[Values]:
    return work.run(said, [Task(content, seed, measure, directory=work.directory) for seed in range(1, seeds + 1)])


def _goodputs(work: Work, said: str, content: Mapping[str, Any], seeds: int) -> list[float]:
    return [one["goodput_mbps"] for one in _values(work, said, content, goodput, seeds)]


def _ratios(tops: Sequence[float], bottoms: Sequence[float]) -> Spread:
    return Spread.of([top / bottom for top, bottom in zip(tops, bottoms, strict=True)])


def _capacity(work: Work, found: Section, seeds: int) -> None:
    """Adds the rows on one connection against the capacity."""
    times = data.capacity()
    capacity_mbps = 12e-3 * len(times) / (times[-1] / 1e3)
    udp = [one["delivered_mbps"] for one in _values(work, "LeoCC, UDP", leocc(CUBIC, loss=0, udp=True), delivered, 1)]
    headers = 1500 / 1472
    mine = Spread(udp[0] * headers)
    found.facts.append(
        Fact(
            "LeoCC 2025, capacity trace",
            "120 s down, imported; datagrams at 100 Mbit/s",
            "delivered, with headers",
            "Mbit/s",
            Spread(capacity_mbps),
            mine,
            judge(Spread(capacity_mbps), mine, 0.01),
            "within 1 %: checks importer and link, not TCP",
        )
    )
    lossy = _values(work, "LeoCC, UDP", leocc(CUBIC, udp=True), delivered, seeds)
    datagrams = [one["delivered_mbps"] for one in lossy]
    runs = {
        name: _goodputs(work, f"LeoCC, {name}", leocc(tcp, loss=loss), seeds)
        for name, tcp, loss in (
            ("cubic", CUBIC, LOSS_DOWN),
            ("bbr", BBR, LOSS_DOWN),
            ("cubic, no loss", CUBIC, 0.0),
            ("cubic, a tenth of the loss", CUBIC, LOSS_DOWN / 10),
        )
    }
    ours = _ratios(runs["cubic"], datagrams)
    switches = "; ".join(
        f"{name}: {_ratios(values, datagrams).value:.2f}" for name, values in runs.items() if name != "cubic"
    )
    for source, setting, value in (
        ("NUWiNS 2024, Maine", "Starlink, TCP and UDP down, congestion control not stated", Spread(0.58)),
        ("Satellite-vs-Cellular 2023", "Starlink Mobility, driving, TCP and UDP down", Spread(0.23, 0.20, 0.23)),
    ):
        verdict = judge(value, ours, STARLINK)
        reason = f"CUBIC over LeoCC's capacity with irtt's losses; {switches}"
        found.facts.append(Fact(source, setting, "TCP / UDP throughput", "", value, ours, verdict, reason))


def _fixed(work: Work, found: Section, seeds: int) -> None:
    """Adds the rows on CUBIC and BBR over a fixed Starlink."""
    source = "wirelessmoves 2023, fixed dish in Germany"
    runs: dict[tuple[str, str], list[float]] = {}
    switched: dict[str, dict[tuple[str, str], list[float]]] = {name: {} for name in SWITCHES}
    for direction in ("down", "up"):
        for name, tcp in (("cubic", CUBIC), ("bbr", BBR)):
            key = direction, name
            runs[key] = _goodputs(work, f"Starlink, {name} {direction}", fixed(tcp, direction), seeds)
            for text, changes in SWITCHES.items():
                content = fixed(tcp, direction, **changes)
                switched[text][key] = _goodputs(work, f"Starlink, {text}", content, seeds)
    # Parts 3 to 8 of the author's posts: CUBIC around 20 and a fifth of BBR, BBR well above 120, and 150 elsewhere.
    measured = {
        ("down", "cubic"): Spread(20.0),
        ("down", "bbr"): Spread(120.0, 120.0, 150.0),
        ("up", "cubic"): Spread(5.5, 5.0, 6.0),
        ("up", "bbr"): Spread(25.0),
    }
    for key, value in measured.items():
        direction, name = key
        ours = Spread.of(runs[key])
        reason = "; ".join(f"{text} {number(Spread.of(ones[key]).value)}" for text, ones in switched.items())
        setting = f"one iperf3 connection of 30 s {direction}, {name}"
        verdict = judge(value, ours, STARLINK)
        found.facts.append(Fact(source, setting, "goodput", "Mbit/s", value, ours, verdict, reason))
    for direction, value in (("down", Spread(0.17, 0.13, 0.2)), ("up", Spread(0.22, 0.2, 0.24))):
        ours = _ratios(runs[direction, "cubic"], runs[direction, "bbr"])
        verdict = judge(value, ours, STARLINK)
        ratios = {text: _ratios(ones[direction, "cubic"], ones[direction, "bbr"]) for text, ones in switched.items()}
        reason = "; ".join(f"{text} {ratio.value:.2f}" for text, ratio in ratios.items())
        setting = f"one connection {direction}, cubic and bbr"
        found.facts.append(Fact(source, setting, "goodput of CUBIC / BBR", "", value, ours, verdict, reason))
    ours = _ratios(runs["up", "bbr"], runs["up", "cubic"])
    value = Spread(1.18)
    ratios = {text: _ratios(ones["up", "bbr"], ones["up", "cubic"]) for text, ones in switched.items()}
    reason = "; ".join(f"{text} {ratio.value:.2f}" for text, ratio in ratios.items())
    found.facts.append(
        Fact(
            "FjordLink 2024, README",
            "Starlink on a vessel, upload",
            "goodput of BBR / CUBIC",
            "",
            value,
            ours,
            judge(value, ours, STARLINK),
            reason,
        )
    )
    _loaded(work, found)


def _loaded(work: Work, found: Section) -> None:
    """Adds facts that were read in other authors' notes only: they get no verdict."""
    michel, ours = "Michel et al. 2022 (IMC), Belgium", {}
    for direction in ("down", "up"):
        for factor in (1.0, 0.0):
            content = fixed(CUBIC, direction, factor=factor)
            (ours[direction, factor],) = _values(work, "Starlink, round trips", content, round_trips, 1)
    second_hand = "read in another author's notes only; no losses: "
    for direction, middle, high in (("down", 95.0, 175.0), ("up", 104.0, 237.0)):
        setting = f"100 MB {direction}, one QUIC connection, CUBIC; ours TCP"
        for quantity, value, key in (
            ("median RTT under load", middle, "median_ms"),
            ("95th percentile of the RTT under load", high, "p95_ms"),
        ):
            mine, without = ours[direction, 1.0][key], ours[direction, 0.0][key]
            reason = f"{second_hand}{number(without)}"
            _no_verdict(found, michel, setting, quantity, "ms", Spread(value), Spread(mine), reason)
    down = ours["down", 1.0]["goodput_mbps"], ours["down", 0.0]["goodput_mbps"]
    setting = "100 MB down, one QUIC connection, CUBIC; ours TCP"
    reached, reason = Spread(125.0, 100.0, 150.0), f"{second_hand}{number(down[1])}"
    _no_verdict(found, michel, setting, "goodput", "Mbit/s", reached, Spread(down[0]), reason)
    ratios = [ours["down", factor]["median_ms"] / RTT_MS for factor in (1.0, 0.0)]
    rise, reason = Spread(3.0, 2.0, 4.0), f"{second_hand}{ratios[1]:.2f}"
    quantity = "RTT under a download / idle RTT"
    _no_verdict(found, "Mohan et al. 2024 (WWW)", "Starlink, world", quantity, "", rise, Spread(ratios[0]), reason)


def lagos() -> dict[str, Any]:
    """Returns Lagos' path with the measured losses at the edges of slots, and probes in both directions."""
    link = {
        "between": ["server", "client"],
        "rate": "100 Mbit/s",
        "delay": f"{LAGOS_MS} ms",
        "loss": 0.004,
        "slots": {
            "forward": {"period": f"{SLOT_S} s", "loss": LAGOS_DOWN, "before": "1 s", "after": "0 s"},
            "backward": {"period": f"{SLOT_S} s", "loss": LAGOS_UP, "before": "0 s", "after": "1 s"},
        },
    }
    probes = {"transport": "udp", "traffic": {"kind": "constant", "rate": "1 Mbit/s", "size": f"{125_000 // PROBES} B"}}
    content = _scenario("lagos", LAGOS_S, [link], {"from": "server", "to": "client", **probes}, {})
    content["flows"].append({"from": "client", "to": "server", **probes})
    content["record"] |= {"trace": "off", "drops": True}
    return content


def slot_losses(result: ll.Result) -> Values:
    """Returns the fraction of lost probes in each second of the slot in which they were sent, down and up."""
    counts = {"down": [0] * SLOT_S, "up": [0] * SLOT_S}
    drops = result.drops
    for when, flow in zip(drops["time_s"], drops["flow"].cast(str), strict=True):
        counts["down" if flow == "server->client" else "up"][int(when - LAGOS_MS / 1e3) % SLOT_S] += 1
    sent = PROBES * result.simulated_s / SLOT_S
    return {side: [count / sent for count in values] for side, values in counts.items()}


def _edges(work: Work, found: Section) -> None:
    """Adds the rows on losses at the edges of slots."""
    (lost,) = _values(work, "Starlink, losses of slots", lagos(), slot_losses, 1)
    for side, second, value in (("up", 0, LAGOS_UP), ("down", SLOT_S - 1, LAGOS_DOWN)):
        others = [fraction for at, fraction in enumerate(lost[side]) if at != second]
        reason = f"the losses are keys of the link: checks `slots`; other seconds {max(others):.2%} at most"
        quantity = f"loss {side} in second {second} of the slot; 0.4 % in the others"
        ours = Spread(100 * lost[side][second])
        _no_verdict(found, "Starlink-Emulator 2024, Lagos", "probes", quantity, "%", Spread(100 * value), ours, reason)


def _no_verdict(
    found: Section,
    source: str,
    setting: str,
    quantity: str,
    unit: str,
    value: Spread,
    ours: Spread | None,
    reason: str,
) -> None:
    found.facts.append(Fact(source, setting, quantity, unit, value, ours, Verdict.NO_VERDICT, reason))


def _slot(work: Work, found: Section) -> None:
    """Adds the rows on the profile inside the slot, and its figure."""
    rows = data.autobahn()
    measured = profile([(second, down) for _, second, down, _ in rows])
    starts = [SHIFT_S * at for at in range(SEGMENTS)]
    # The seconds that our runs cover, without the first ten, in which a connection grows.
    covered = [row for row in rows if any(start + GROWTH_S <= row[0] < start + SEGMENT_S for start in starts)]
    capacity = {when: down for when, _, down, _ in covered}
    profiles = {
        f"measured, {len(rows)} s": measured,
        f"measured, {len(covered)} s": profile([(second, down) for _, second, down, _ in covered]),
    }
    mean = statistics.fmean(capacity.values())
    shares = {}
    for name, tcp in (("cubic", CUBIC), ("bbr", BBR)):
        tasks = [Task(driving(tcp, start), 1, seconds, directory=work.directory) for start in starts]
        amounts = {
            at: amount
            for one in work.run(f"Autobahn, {name}", tasks)
            for at, amount in zip(one["seconds"], one["mbit"], strict=True)
        }
        pairs = [(when % 60, amounts[when]) for when in capacity if when in amounts]
        profiles[f"lightlag, {name}"] = profile(pairs)
        shares[name] = statistics.fmean(amount for _, amount in pairs) * 1500 / 1448 / mean
    _profile_facts(found, profiles)
    found.figures.append(figures.slot(list(profiles.items())))
    found.about.append(
        f"Over the Autobahn's capacity ({SEGMENTS} runs of {SEGMENT_S} s, no losses) CUBIC gets "
        f"{shares['cubic']:.0%} of "
        f"the mean throughput, and BBR {shares['bbr']:.0%}."
    )


def _profile_facts(found: Section, profiles: Mapping[str, Sequence[float]]) -> None:
    """Adds the rows on the seconds at the edge of a slot."""
    whole, covered = list(profiles.values())[:2]
    edges = (("last second of the slot / mean", SLOT_S - 1), ("first second of the slot / mean", 0))
    for name in ("cubic", "bbr"):
        for quantity, at in edges:
            setting = f"iperf3 down from a car; ours {name} over this capacity"
            reason = f"the seconds of our runs; all seconds {whole[at]:.2f}. The capacity has the dip itself"
            _edge(found, "Starlink on the Autobahn 2024", setting, quantity, covered[at], profiles, name, at, reason)
    for (quantity, at), value in zip(edges, (124 / 134.2, 108 / 134.2), strict=True):
        bbr = profiles["lightlag, bbr"][at]
        reason = f"ours: CUBIC over the Autobahn's capacity, another dish; BBR {bbr:.2f}"
        _edge(found, "NUWiNS 2024, Maine", "TCP down", quantity, value, profiles, "cubic", at, reason)


def _edge(
    found: Section,
    source: str,
    setting: str,
    quantity: str,
    measured: float,
    profiles: Mapping[str, Sequence[float]],
    name: str,
    at: int,
    reason: str,
) -> None:
    ours = profiles[f"lightlag, {name}"][at]
    verdict = Verdict.AGREES if abs(measured - ours) <= SLOT else Verdict.DIFFERS
    found.facts.append(Fact(source, setting, quantity, "", Spread(measured), Spread(ours), verdict, reason))


def pings(result: ll.Result) -> Values:
    """Returns the median of the round trips of small messages in ms."""
    rtts = result.trace()["rtt_s"].drop_nans().drop_nulls().to_list()
    return {"median_ms": 1e3 * statistics.median(rtts)}


def _pings(work: Work, found: Section) -> None:
    """Adds the row on pings, which checks the importer."""
    from lightlag_papers.validation.measured.data import FJORD, FOLDER, rows

    measured = Spread.of(
        list(rows(FOLDER / FJORD / "dish-1s-2024-12-12.csv", lambda row: float(row["pop_ping_latency_ms"])))
    )
    link = {"between": ["client", "server"], "rate": "100 Mbit/s", "delay": "13 ms", "trace": f"{HERE}/fjord-trace.csv"}
    flow = {"from": "client", "to": "server", "traffic": {"kind": "periodic", "every": "1 s", "size": "56 B"}}
    content = _scenario("fjord", 2100, [link], flow, CUBIC | {"delayed_ack": False})
    content["record"]["interval"] = "1 s"
    (mine,) = _values(work, "FjordLink", content, pings, 1)
    ours = Spread(mine["median_ms"])
    found.facts.append(
        Fact(
            "FjordLink 2024, dish at 1 Hz",
            "ping to the PoP, imported; messages each second",
            "median RTT",
            "ms",
            measured,
            ours,
            judge(Spread(measured.value), ours, 0.02),
            "within 2 %: checks importer and link",
        )
    )
