"""Runs of ns-3's Wi-Fi and ad hoc routing without swarms: saturation, hidden pairs, one link, chains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kept import Run

KEPT = Path("benchmarks/simulators/ns3/air.json")
UNLIMITED = 1_000_000
LEGACY = {"a": {"standard": "a"}, "n": {"standard": "n"}}
STATIONS = (1, 2, 5, 10, 20)
HOPS = (1, 2, 3, 4, 5, 6, 7, 8)
DISTANCES = (10, 20, 30, 38, 40, 41, 42, 43, 44, 45, 46, 47, 48, 50, 51, 52, 55, 60, 62, 65, 70)
STEEP_M = 46
"""Minimum distance in metres with losses of some or all frames."""
STEEP_SEEDS = (1, 2, 3, 4, 5)
LOSSY_SEEDS = tuple(range(1, 21))
LOSSY = (
    ("nist", 1, 48),
    ("nist", 1, 50),
    ("nist", 1, 51),
    ("yans", 0, 65),
    ("yans", 0, 70),
    ("table", 0, 65),
    ("table", 0, 70),
)
"""Links that lose more than half of their frames, but not all: error model, preamble detection, length in metres."""
PATIENT = {"ns3::WifiMacQueue::MaxDelay": "100s"}
"""Option that lets frames wait in the queue for longer than the run."""
KEEPING = {"keep-window": 1}
"""Option with which every failed block acknowledgement request doubles the contention window."""
OFFERED_MBPS = 130
"""Total load in Mbit/s that stations with A-MPDUs offer: twice the rate of MCS 7."""
SEEDS = (1, 2, 3)
AGGREGATE_SEEDS = tuple(range(1, 13))
CHAIN_SEEDS = tuple(range(1, 6))
HIDDEN_SEEDS = tuple(range(1, 26))
SEARCHING_SEEDS = tuple(range(1, 41))
DISCOVERY_SEEDS = tuple(range(1, 21))
PROACTIVE_SEEDS = tuple(range(1, 6))
BBR_SEEDS = tuple(range(1, 11))
LIGHT_SEEDS = tuple(range(1, 13))
AGREEING_SEEDS = tuple(range(1, 11))
OVERLOADED_SEEDS = tuple(range(1, 11))
BLIND_HOPS = (2, 3, 4)
OVERLOADED_HOPS = (2, 3, 4)
UNTRIGGERED = {"EnableRouteAggregation": "true", "RouteAggregationTime": "1000s"}
DETECTED_M = 51.5
"""Distance in metres with a received power of -82 dBm."""
DETECTION: tuple[dict[str, float], ...] = ({}, {"preamble-dbm": -101})
"""Options for preamble detection above -82 dBm, where nodes two hops away are hidden, and above -101 dBm."""


def runs() -> Iterator[Run]:
    """Yields every run of the plan."""
    yield from saturation()
    yield from hidden()
    yield from distance()
    yield from (lossy(traffic, *link, seed) for link in LOSSY for traffic in ("udp", "tcp") for seed in LOSSY_SEEDS)
    yield from chains()
    yield from discovery()


def saturation() -> Iterator[Run]:
    """Stations on a circle of 5 m: legacy rates with and without a limit of retries, and aggregates."""
    for stations in STATIONS:
        for seed in SEEDS:
            for options in LEGACY.values():
                for retries in (7, UNLIMITED):
                    yield _saturation(**options, stations=stations, retries=retries, seed=seed)
        for seed in AGGREGATE_SEEDS:
            for changed in ({}, KEEPING, PATIENT):
                yield aggregates(stations, seed, **changed)
    for size in (2, 4, 8, 16, 28):
        # Subframes of 1540 B: a delimiter of 4 B, and 1538 B padded to 1540 B with 1500 B of payload.
        yield _saturation(standard="n", mode="HtMcs7", stations=1, aggregate=size * 1544, seed=1)
    yield _saturation(standard="n", mode="HtMcs7", stations=1, aggregate=0, seed=1)


def aggregates(stations: int, seed: int, **options: str | float) -> Run:
    """Stations that send A-MPDUs, each with a queue of 128 frames."""
    options = {"offered": OFFERED_MBPS / stations, "ns3::WifiMacQueue::MaxSize": "128p", **options}
    return _saturation(standard="n", mode="HtMcs7", stations=stations, retries=7, seed=seed, **options)


def hidden() -> Iterator[Run]:
    """Two stations that are hidden from one another, with equal and with unequal power at the receiver."""
    for size in (100, 250, 500, 1000, 1500):
        for rts in (65535, 1):
            for seed in SEEDS:
                yield _saturation(
                    layout="pair", standard="a", stations=2, radius=40, size=size, rts=rts, retries=7, seed=seed
                )
    # 15 dB more power at the receiver with an exponent of 3: 40 m / 10^0.5.
    yield _saturation(layout="pair", standard="a", stations=2, radius=40, other=12.65, retries=7, seed=1)


def distance() -> Iterator[Run]:
    """One link by its length, for each error model, and with and without the detection of preambles."""
    for errors in ("nist", "yans", "table"):
        for preamble in (1, 0):
            for gap in DISTANCES:
                for seed in STEEP_SEEDS if gap >= STEEP_M else (1,):
                    options = {"gap": gap, "errors": errors, "preamble": preamble, "arp": 0, "seconds": 5, "seed": seed}
                    yield _chain(traffic="udp", megabits=20, **options)
                    yield _chain(traffic="tcp", **options)


def lossy(traffic: str, errors: str, preamble: int, gap: int, seed: int) -> Run:
    """A link that loses more than half of its frames, and whose stations negotiate no block acknowledgements."""
    options = {"gap": gap, "errors": errors, "preamble": preamble, "arp": 0, "seconds": 5, "seed": seed, "aggregate": 0}
    return _chain(traffic=traffic, **({"megabits": 20} if traffic == "udp" else {}), **options)


def chains() -> Iterator[Run]:
    """Chains of nodes 40 m apart: every route protocol, overloaded UDP, NewReno, and BBR.

    Stations negotiate block acknowledgements in some of the runs only. At legacy rates no frame is aggregated, but after
    each dropped frame a request has to reach the receiver, and nothing is delivered until then.
    """
    for hops in HOPS:
        for seed in CHAIN_SEEDS:
            for traffic in ("udp", "tcp"):
                if hops in BLIND_HOPS:
                    yield searching(traffic, hops, seed, arp=0)
        for traffic in ("udp", "tcp"):
            for detection in DETECTION:
                yield from static_chains(traffic, detection, hops)
        for seed in searching_seeds(hops):
            yield searching("udp", hops, seed)
            yield searching("tcp", hops, seed)
        for seed in BBR_SEEDS:
            for ack_every in (1, 2):
                yield bbr(hops, ack_every, seed)
        for seed in AGREEING_SEEDS:
            yield agreeing(hops, seed)
        for seed in LIGHT_SEEDS:
            for routing in ("static", "aodv"):
                yield light(hops, routing, seed)
    for hops in OVERLOADED_HOPS:
        for seed in OVERLOADED_SEEDS:
            for is_above in (True, False):
                yield overloaded(hops, seed, is_above=is_above)
    yield from proactive()
    yield from map(untriggered, PROACTIVE_SEEDS)


def bbr(hops: int, ack_every: int, seed: int) -> Run:
    """BBR over static routes. `ack_every` is the number of segments per ACK."""
    options = {"hops": hops, "seconds": 10, "seed": seed}
    return chain("tcp", algorithm="TcpBbr", **DETECTION[1], **{"ack-every": ack_every}, **options)


def proactive() -> Iterator[Run]:
    """Chains over OLSR and DSDV, once their routes have settled."""
    for hops in (2, 4, 8):
        for routing, start in (("olsr", 40), ("dsdv", 60)):
            for seed in PROACTIVE_SEEDS:
                yield _chain(traffic="udp", megabits=1, hops=hops, routing=routing, start=start, seconds=10, seed=seed)


def untriggered(seed: int) -> Run:
    """DSDV over two hops with full dumps only: triggered updates are delayed for longer than the run."""
    joined = {f"ns3::dsdv::RoutingProtocol::{name}": value for name, value in UNTRIGGERED.items()}
    return _chain(traffic="udp", megabits=1, hops=2, routing="dsdv", start=60, seconds=10, seed=seed, **joined)


def chain(traffic: str, *, routing: str = "static", arp: int = 0, **options: str | float) -> Run:
    """A chain whose stations have negotiated no block acknowledgements; with `arp` = 0 they are configured with all addresses."""
    offered: dict[str, str | float] = {"megabits": 20} if traffic == "udp" else {}
    return _chain(traffic=traffic, **offered, aggregate=0, arp=arp, routing=routing, **options)


def static_chains(traffic: str, detection: dict[str, float], hops: int) -> list[Run]:
    """Chains over static routes. If nodes two hops apart are hidden, results differ a lot between seeds."""
    seeds = CHAIN_SEEDS if detection else HIDDEN_SEEDS
    return [chain(traffic, **detection, hops=hops, seconds=10, seed=seed) for seed in seeds]


def light(hops: int, routing: str, seed: int) -> Run:
    """A chain with an offered load of 1 Mbit/s."""
    return _chain(traffic="udp", megabits=1, hops=hops, routing=routing, seconds=10, seed=seed)


def searching(traffic: str, hops: int, seed: int, *, arp: int = 1) -> Run:
    """A chain over AODV."""
    return chain(traffic, routing="aodv", arp=arp, hops=hops, seconds=10, seed=seed)


def searching_seeds(hops: int) -> tuple[int, ...]:
    """Returns the seeds for AODV; more over several hops, where results differ a lot between seeds."""
    return CHAIN_SEEDS if hops == 1 else SEARCHING_SEEDS


def agreeing(hops: int, seed: int) -> Run:
    """A chain whose stations negotiate block acknowledgements, and are configured with all addresses."""
    return _chain(traffic="udp", megabits=20, arp=0, hops=hops, routing="static", seconds=10, seed=seed)


def overloaded(hops: int, seed: int, *, is_above: bool) -> Run:
    """A chain over AODV in which nodes two hops away detect one another, and broadcasts reach as far as data.

    Frames expire in the queue of the source, and nothing else breaks links. `is_above`: whether packets also wait in
    ns-3's FqCoDel above that queue.
    """
    options: dict[str, str | float] = {"ns3::WifiRemoteStationManager::NonUnicastMode": "OfdmRate24Mbps"}
    options |= {} if is_above else {"queue-disc": 0}
    return chain("udp", routing="aodv", arp=1, **DETECTION[1], hops=hops, seconds=10, seed=seed, **options)


def discovery() -> Iterator[Run]:
    """Runs for the first packet over AODV: its delay and the messages, without HELLO and ARP, and with both."""
    for hops in HOPS:
        for seed in DISCOVERY_SEEDS:
            for hello, arp in ((0, 0), (1, 1)):
                # Later, errors about routes that expire make further requests in ns-3.
                options = {"hello": hello, "arp": arp, "seconds": 3, "start": 5, "seed": seed}
                yield _chain(traffic="udp", routing="aodv", hops=hops, count=1, **options)


def _saturation(**options: str | float) -> Run:
    return Run("ns3-air-saturation", options)


def _chain(**options: str | float) -> Run:
    return Run("ns3-air-chain", options)
