"""CUBIC and BBR in swarms of UAVs, 2021: throughput and fairness by density and speed; causes; and what lies beyond."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lightlag import _engine
from lightlag.reproduce.fanet import causes, claims, figures, hop, peer, runs, sweeps
from lightlag.reproduce.fanet.claims import Sweep
from lightlag.reproduce.fanet.setting import (
    BBR,
    BBR_LINUX,
    BBR_NS3,
    CONNECTED,
    CUBIC,
    CUBIC_LINUX,
    EACH_ACKED,
    FULL_SPEED,
    NODES,
    NS3_EACH_ACKED,
    READINGS,
    Contender,
    Reading,
    as_linux,
)
from lightlag.reproduce.fanet.sweeps import Runner, Swarms
from lightlag.reproduce.paper import Effort, Picture, Reproduction

WANTED = ("newreno", "cubic", "bbr", "bbr3", "vegas", "westwood+", "hybla", "illinois", "copa")
"""Beyond the paper: by loss, by delay, by rate."""

NOTES = (
    "**Chosen, because the paper does not say:** transmitters of 16 dBm, no gains, noise figure 7 dB, path loss with "
    "an exponent of 3, NIST's error model, frames of 24 Mbit/s and broadcasts of 6, no RTS, 7 transmissions of a "
    "frame, a MAC queue of 500 packets and 500 ms: the defaults of ns-3.30.1. Gauss-Markov mobility with α 0.85, steps "
    "of 0.5 s and the noise of the example in ns-3's documentation; the mean speed of a node is drawn from 0 to the "
    "speed of the figure. Thirty different random pairs start within the first second; a first window of one segment, "
    "buffers of 128 KiB, an ACK for every second segment.",
    "**Two readings of the radio.** With these defaults 24 Mbit/s reach 44 m, and 3 to 4 % of the pairs of nodes are "
    "connected in a box of 400 x 400 x 100 m: the mean is that of a few neighbours, and of many flows without a byte. "
    "With 16 dB more everybody is connected over two or three hops, which is what the paper reasons about. This "
    "reading is judged; the other one stands beside it.",
    "**The paper contradicts itself.** Table 1 has 20 to 60 UAVs and 5 to 25 flows, the text 40 to 80 and 30; we "
    "follow the text. It places the largest and the smallest throughput of Fig. 5 both at 5 m/s. Equation 5 lacks the "
    "square, and sums from 0; as printed it is 1/n for every allocation, so Jain's index is taken. 60 UAVs at 25 m/s "
    "belong to both experiments.",
    "**Which CUBIC and BBR.** ns-3.30.1 had neither, so the paper ran code of its own. Judged are, in ns-3's TCP, "
    "CUBIC as ns-3.37 has it, BBR with the rules of its draft, and *BBR of ns-3* with those of ns-3.37's TcpBbr "
    '(`variant = "ns3"`). That one takes n ACKs in a flight for n/(n+1) of its rate, so that with an ACK for every '
    "second segment its estimate of the bandwidth falls until segments wait for the timer of delayed ACKs: "
    "docs/models/congestion-control.md. Linux's CUBIC and BBR stand beside them.",
    "**ns-3.37 itself** ran the same experiment (`benchmarks/peers/ns3/air-swarm.cc`) with swarms of its own, as "
    "many as time allowed. At legacy rates its stations agree on block acknowledgements, although nothing is "
    "aggregated; a frame that is given up is then followed by requests to acknowledge, which go on failing where the "
    "neighbour has gone. In 20 s of a swarm of 40 nodes with BBR 34,475 transmissions failed, and 12,200 with "
    "`--aggregate=0`, which leaves the agreement out; with CUBIC 39 MB arrived, and 47 MB without it.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fill a reproduction with every item."""
    fill(reproduction, effort, runs.run, contenders())
    effort.progress("one clean hop")
    rows, goodputs = hop.fill(effort, hop.run)
    reproduction.add(rows)
    reproduction.layouts.append(goodputs)


def contenders() -> list[Contender]:
    """The algorithms beyond the paper: ns-3's, BBR with an ACK for each segment, and others in the TCP of Linux."""
    names = [entry["name"] for entry in json.loads(_engine.catalog())["congestion"]]
    return [CUBIC, BBR, EACH_ACKED, BBR_NS3, NS3_EACH_ACKED, *(as_linux(name) for name in WANTED if name in names)]


def fill(reproduction: Reproduction, effort: Effort, runner: Runner, contenders: Sequence[Contender]) -> None:
    """Fill a reproduction with every item, from the runs of `runner`; `contenders` take part beyond the paper."""
    swarms = Swarms(effort, runner)
    found: dict[tuple[str, Reading], Sweep] = {}
    for reading in READINGS:
        effort.progress(f"Figs. 3 to 6, {reading.name} radio")
        ran = swarms.run(one for varies in ("nodes", "speed") for one in sweeps.settings_of(varies, reading))
        for varies in ("nodes", "speed"):
            found[varies, reading] = sweeps.sweep(varies, reading, ran)
    for varies in ("nodes", "speed"):
        _figures(reproduction, varies, found[varies, CONNECTED])
    _readings(reproduction, found)

    effort.progress("CUBIC and BBR of Linux")
    both = (CUBIC_LINUX, BBR_LINUX)
    ran = swarms.run(sweeps.settings_of("nodes", CONNECTED, both), sweeps.BEYOND_SEEDS)
    title = "CUBIC and BBR of Linux, connected radio"
    linux = sweeps.sweep("nodes", CONNECTED, ran, both)
    reproduction.layouts.append(claims.layout({"lightlag": linux}, "linux", title))

    effort.progress("causes")
    _causes(reproduction, found)
    for name, settings in sweeps.beyond(contenders).items():
        effort.progress(f"beyond the paper: {name}")
        large = [one for one in settings.values() if one.nodes >= sweeps.LARGE]
        usual = [one for one in settings.values() if one.nodes < sweeps.LARGE]
        ran = {**swarms.run(usual, sweeps.BEYOND_SEEDS), **swarms.run(large, 1)}
        reproduction.layouts.append(sweeps.layout(name, settings, ran))
    reproduction.notes += NOTES


def _figures(reproduction: Reproduction, varies: str, ours: Sweep) -> None:
    theirs = peer.sweep(varies, CONNECTED)
    first, second = claims.THROUGHPUT_ITEM[varies], claims.FAIRNESS_ITEM[varies]
    what = "the number of UAVs" if varies == "nodes" else "the speed"
    reproduction.add(
        claims.rows(ours, theirs),
        [
            Picture(_name(first), figures.throughput(ours, theirs), f"{first}. Throughput of a flow by {what}."),
            Picture(_name(second), figures.jain(ours, theirs), f"{second}. Jain's index by {what}."),
        ],
    )


def _name(item: str) -> str:
    return item.lower().replace(". ", "")


def _readings(reproduction: Reproduction, found: dict[tuple[str, Reading], Sweep]) -> None:
    for varies in ("nodes", "speed"):
        for reading in READINGS:
            both = {"lightlag": found[varies, reading], "ns-3.37": peer.sweep(varies, reading)}
            known = {name: one for name, one in both.items() if one is not None}
            title = f"{claims.THROUGHPUT_ITEM[varies]} and {claims.FAIRNESS_ITEM[varies][-1]}, {reading.name} radio"
            reproduction.layouts.append(claims.layout(known, f"{varies}_{reading.name}", title))
            title = f"{title}: causes"
            reproduction.layouts.append(causes.layout(known, f"{varies}_{reading.name}_causes", title))
    by_name = {reading.name: found["nodes", reading] for reading in READINGS}
    caption = "Throughput by the number of UAVs in both readings of the radio."
    reproduction.pictures.append(Picture("readings", figures.readings(by_name), caption))


def _causes(reproduction: Reproduction, found: dict[tuple[str, Reading], Sweep]) -> None:
    reproduction.add(causes.rows(found["nodes", CONNECTED], found["speed", CONNECTED]))
    modelled = {
        (reading.name, nodes): causes.connectivity(nodes, FULL_SPEED, reading)
        for reading in READINGS
        for nodes in NODES
    }
    reproduction.add(causes.connectivity_rows(modelled))
    reproduction.layouts.append(causes.connectivity_layout(modelled))
