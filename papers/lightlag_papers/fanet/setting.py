"""A swarm of the paper: how many nodes and flows, how fast, which radio, which routing, which TCP."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

FULL_SPEED, MIDDLE = 25, 60
"""m/s where the nodes vary, and nodes where the speed varies."""
SPEEDS = (5, 10, 15, 20, 25)
"""m/s."""
FLOWS = 30
"""Connections in the text of the paper."""
SECONDS = 100
SEEDS = 6
"""Swarms of each point."""


@dataclass(frozen=True)
class Source:
    """One of the two places where the paper gives the size of its swarms.

    Attributes
    ----------
    name
        In tables.
    swarms
        UAVs and connections of each point of the figures over the density.
    flows
        Connections where the speed varies.
    """

    name: str
    swarms: tuple[tuple[int, int], ...]
    flows: int


TABLE = Source("Table 1", ((20, 5), (30, 10), (40, 15), (50, 20), (60, 25)), 25)
TEXT = Source("text", tuple((nodes, FLOWS) for nodes in (40, 50, 60, 70, 80)), FLOWS)
SOURCES = (TABLE, TEXT)


@dataclass(frozen=True)
class Radio:
    """The transmitters, of which the paper states neither power nor range.

    Attributes
    ----------
    name
        In tables and figures.
    power_dbm
        Power of the transmitters.
    range_m
        Distance at which 2 % of full frames at 24 Mbit/s are lost: SNR 14 dB.
    """

    name: str
    power_dbm: float
    range_m: float


DEFAULT = Radio("44 m", 16.0206, 44.0)
"""The defaults of ns-3.30.1: 3 to 4 % of the pairs are connected."""
MEDIUM = Radio("81 m", 24.0206, 81.0)
"""8 dB more: most pairs are connected, over several hops."""
CONNECTED = Radio("150 m", 32.0206, 150.0)
"""16 dB more: everybody is connected, over two or three hops."""
ONE_DOMAIN = Radio("one collision domain", 49.6206, 580.0)
"""The range is longer than the diagonal of the box, 574 m: everybody hears everybody."""
RADIOS = (DEFAULT, MEDIUM, CONNECTED, ONE_DOMAIN)


class Routing(enum.Enum):
    """The rules of AODV, and of address resolution below it."""

    RFC = "RFC 3561"
    NS3 = "as ns-3"


@dataclass(frozen=True)
class Contender:
    """An algorithm in a TCP. Two are equal if their settings are, whatever their names.

    Attributes
    ----------
    label
        In tables and figures.
    algorithm
        Its name in the paper.
    tcp
        Its settings of TCP.
    """

    label: str = field(compare=False)
    algorithm: str = field(compare=False)
    tcp: Mapping[str, object] = field(default_factory=dict, hash=False)


def _as_ns3(algorithm: str, **congestion: object) -> Contender:
    tcp = {"profile": "ns3", "congestion": {"algorithm": algorithm.lower(), **congestion}, "initial_window": 1}
    return Contender(algorithm, algorithm, {**tcp, "mss": "1448 B"})


def as_linux(algorithm: str) -> Contender:
    """An algorithm in the TCP of Linux, with the buffers of ns-3."""
    tcp = {"profile": "linux", "congestion": algorithm.lower(), "mss": "1460 B", "receive_buffer": "128 KiB"}
    return Contender(f"{algorithm}, Linux", algorithm, tcp)


CUBIC = _as_ns3("CUBIC", reno_friendly=False)
"""In the TCP of ns-3, whose CUBIC has no Reno-friendly region."""
BBR_LINUX = replace(_as_ns3("BBR"), label="BBR as Linux")
"""BBR with Linux's rules, in the TCP of ns-3."""
BBR_NS3 = replace(_as_ns3("BBR", variant="ns3"), label="BBR as ns-3")
"""BBR with the rules of ns-3's TcpBbr, under which it starves with delayed ACKs."""
BBRS = (BBR_LINUX, BBR_NS3)
EACH_ACKED, NS3_EACH_ACKED = (
    replace(one, label=f"{one.label}, each segment acknowledged", tcp={**one.tcp, "delayed_ack": False}) for one in BBRS
)


class Access(enum.Enum):
    """How a station sends its data."""

    LEGACY = "24 Mbit/s"
    """The paper's 802.11n with a rate of OFDM, which does not aggregate."""
    RTS = "24 Mbit/s, RTS/CTS"
    AGGREGATES = "HT MCS 7, aggregates"


@dataclass(frozen=True)
class Setting:
    """A contender in a swarm.

    Attributes
    ----------
    contender
        The TCP of every flow.
    radio
        The transmitters.
    nodes, speed
        How many fly; the mean speed of a node is drawn from 0 to this, in m/s.
    flows
        Connections, between different pairs.
    rules
        Of AODV.
    access
        How stations send.
    routing
        The name of the protocol.
    """

    contender: Contender
    radio: Radio = CONNECTED
    nodes: int = MIDDLE
    speed: float = FULL_SPEED
    flows: int = FLOWS
    rules: Routing = Routing.RFC
    access: Access = Access.LEGACY
    routing: str = "aodv"
