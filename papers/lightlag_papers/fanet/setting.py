"""The setting of a swarm: number of nodes and flows, speed, radio, routing and TCP."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

FULL_SPEED, MIDDLE = 25, 60
"""Speed in m/s if the number of nodes varies, and number of nodes if the speed varies."""
SPEEDS = (5, 10, 15, 20, 25)
"""The speeds in m/s."""
FLOWS = 30
"""Number of connections according to the text of the paper."""
SECONDS = 100
SEEDS = 6
"""Number of swarms per point."""


@dataclass(frozen=True)
class Source:
    """A part of the paper that gives the size of its swarms; there are two, and they differ.

    Attributes
    ----------
    name
        Name in tables.
    swarms
        Numbers of UAVs and connections for each point of the figures with varying density.
    flows
        Number of connections if the speed varies.
    """

    name: str
    swarms: tuple[tuple[int, int], ...]
    flows: int


TABLE = Source("Table 1", ((20, 5), (30, 10), (40, 15), (50, 20), (60, 25)), 25)
TEXT = Source("text", tuple((nodes, FLOWS) for nodes in (40, 50, 60, 70, 80)), FLOWS)
SOURCES = (TABLE, TEXT)


@dataclass(frozen=True)
class Radio:
    """The radio of the UAVs. The paper states neither its power nor its range.

    Attributes
    ----------
    name
        Name in tables and figures.
    power_dbm
        Transmit power.
    range_m
        Distance where 2 % of full frames at 24 Mbit/s are lost (SNR 14 dB).
    """

    name: str
    power_dbm: float
    range_m: float


DEFAULT = Radio("44 m", 16.0206, 44.0)
"""Radio with the defaults of ns-3.30.1: 3 to 4 % of the pairs are connected."""
MEDIUM = Radio("81 m", 24.0206, 81.0)
"""Radio with 8 dB more: most pairs are connected, over several hops."""
CONNECTED = Radio("150 m", 32.0206, 150.0)
"""Radio with 16 dB more: all pairs are connected, over two or three hops."""
ONE_DOMAIN = Radio("one collision domain", 49.6206, 580.0)
"""Radio with a range longer than the diagonal of the box, 574 m: all nodes receive each other directly."""
RADIOS = (DEFAULT, MEDIUM, CONNECTED, ONE_DOMAIN)


class Routing(enum.Enum):
    """The rules of AODV, and of address resolution on the link."""

    RFC = "RFC 3561"
    NS3 = "as ns-3"


@dataclass(frozen=True)
class Candidate:
    """A congestion control within a TCP. Candidates with equal settings are equal, whatever their names.

    Attributes
    ----------
    label
        Label in tables and figures.
    algorithm
        Name of the congestion control in the paper.
    tcp
        Settings of the TCP.
    """

    label: str = field(compare=False)
    algorithm: str = field(compare=False)
    tcp: Mapping[str, object] = field(default_factory=dict, hash=False)


def _as_ns3(algorithm: str, **congestion: object) -> Candidate:
    tcp = {"profile": "ns3", "congestion": {"algorithm": algorithm.lower(), **congestion}, "initial_window": 1}
    return Candidate(algorithm, algorithm, {**tcp, "mss": "1448 B"})


def as_linux(algorithm: str) -> Candidate:
    """Returns a congestion control in Linux's TCP, with the buffers of ns-3."""
    tcp = {"profile": "linux", "congestion": algorithm.lower(), "mss": "1460 B", "receive_buffer": "128 KiB"}
    return Candidate(f"{algorithm}, Linux", algorithm, tcp)


CUBIC = _as_ns3("CUBIC", reno_friendly=False)
"""CUBIC in ns-3's TCP, where it has no Reno-friendly region."""
BBR_LINUX = replace(_as_ns3("BBR"), label="BBR as Linux")
"""BBR with Linux's rules, in ns-3's TCP."""
BBR_NS3 = replace(_as_ns3("BBR", variant="ns3"), label="BBR as ns-3")
"""BBR with the rules of ns-3's TcpBbr, with which it starves if ACKs are delayed."""
BBRS = (BBR_LINUX, BBR_NS3)
EACH_ACKED, NS3_EACH_ACKED = (
    replace(one, label=f"{one.label}, each segment acknowledged", tcp={**one.tcp, "delayed_ack": False}) for one in BBRS
)


class Access(enum.Enum):
    """The channel access of a node."""

    LEGACY = "24 Mbit/s"
    """802.11n as in the paper, at a legacy OFDM rate, without aggregation."""
    RTS = "24 Mbit/s, RTS/CTS"
    AGGREGATES = "HT MCS 7, aggregates"


@dataclass(frozen=True)
class Setting:
    """The setting of a run: a candidate in a swarm.

    Attributes
    ----------
    candidate
        The TCP and congestion control of every flow.
    radio
        The radio of the nodes.
    nodes, speed
        Number of nodes; the mean speed of a node is drawn from 0 to `speed`, in m/s.
    flows
        Number of connections; each is between a different pair of nodes.
    rules
        The rules of AODV.
    access
        The channel access of the nodes.
    routing
        The name of the routing protocol.
    """

    candidate: Candidate
    radio: Radio = CONNECTED
    nodes: int = MIDDLE
    speed: float = FULL_SPEED
    flows: int = FLOWS
    rules: Routing = Routing.RFC
    access: Access = Access.LEGACY
    routing: str = "aodv"
