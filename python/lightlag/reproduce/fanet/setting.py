"""A swarm of the paper: how many nodes, how fast, which radio, which TCP; its scenario."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

NODES = (40, 50, 60, 70, 80)
SPEEDS = (5, 10, 15, 20, 25)
FULL_SPEED, MIDDLE = 25, 60
"""m/s where the nodes vary, and nodes where the speed varies."""
SECONDS = 100
SEEDS = 10


@dataclass(frozen=True)
class Reading:
    """A reading of the paper's radio, of which it says neither power nor range.

    Attributes
    ----------
    name
        In tables and figures.
    power_dbm
        Power of the transmitters.
    range_m
        Where 2 % of full frames at 24 Mbit/s are lost: SNR 14 dB.
    """

    name: str
    power_dbm: float
    range_m: float


DEFAULT = Reading("default", 16.0206, 44.0)
"""The defaults of ns-3.30.1: 3 to 4 % of the pairs are connected."""
CONNECTED = Reading("connected", 32.0206, 150.0)
"""16 dB more: everybody is connected, over two or three hops. The paper reasons about routes and contention."""
READINGS = (CONNECTED, DEFAULT)


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


CUBIC, BBR = _as_ns3("CUBIC", reno_friendly=False), _as_ns3("BBR")
"""In the TCP of ns-3; they are judged. ns-3's CUBIC has no Reno-friendly region."""
BBR_NS3 = replace(_as_ns3("BBR", variant="ns3"), label="BBR of ns-3")
"""With the rules of ns-3's TcpBbr, under which it starves with delayed ACKs; judged as well."""
CUBIC_LINUX, BBR_LINUX = as_linux("CUBIC"), as_linux("BBR")
EACH_ACKED, NS3_EACH_ACKED = (
    replace(one, label=f"{one.label}, each segment acknowledged", tcp={**one.tcp, "delayed_ack": False})
    for one in (BBR, BBR_NS3)
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
    reading
        The radio.
    nodes, speed
        How many fly; the mean speed of a node is drawn from 0 to this, in m/s.
    access
        How stations send.
    routing
        The name of the protocol.
    """

    contender: Contender
    reading: Reading = CONNECTED
    nodes: int = MIDDLE
    speed: float = FULL_SPEED
    access: Access = Access.LEGACY
    routing: str = "aodv"
