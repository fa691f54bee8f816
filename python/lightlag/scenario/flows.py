"""Flows, the proxies that split them, and the tunnels that carry them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lightlag.scenario.quic import Quic, QuicLike
from lightlag.scenario.tcp import TcpLike
from lightlag.scenario.values import Congestion, Dscp, Setup, Size, Start, Time, Traffic


@dataclass(frozen=True, kw_only=True)
class Flow:
    """A connection that carries data from one node to another."""

    from_: str
    """Sending node."""
    to: str
    """Receiving node."""
    name: str | None = None
    """Name in results; by default ``from->to``. The second and further flows between the same nodes are numbered."""
    transport: Literal["tcp", "quic", "udp"] | None = None
    """Transport protocol, ``"tcp"``, ``"quic"`` or ``"udp"``; by default ``defaults.transport``, and TCP without it."""
    traffic: Traffic | None = None
    """Traffic of the application, such as ``{"kind": "constant", "rate": "1 Mbit/s"}``; by default it sends all data
    immediately."""
    transfer: Size | None = None
    """Payload to send; by default the flow sends until the run ends."""
    start: Start | None = None
    """Time when the connection is opened; ``{"uniform": ["0 s", "1 s"]}`` selects it at random for each seed.
    Default: ``"0 s"``."""
    reader: Mapping[str, Any] | None = None
    """Reading rate of the receiving application, ``{"rate": "100 kB/s"}`` or ``{"burst": "64 kB", "every": "1 s"}``; by
    default it reads immediately."""
    dscp: Dscp | None = None
    """Differentiated services code point of the packets in both directions, ``"EF"`` or ``46``; by default none is set.
    Radio media with access classes derive the class from it."""
    setup: Setup | None = None
    """Set-up of the connections before the first request, such as ``{"tls": "1.3"}``: name resolution and TLS; by
    default ``defaults.setup``, and none without it."""
    congestion: Congestion | None = None
    """Short form of ``tcp.congestion``."""
    tcp: TcpLike | None = None
    """TCP options of this flow at both ends that differ from ``defaults.tcp``."""
    client: TcpLike | None = None
    """TCP options that differ from ``tcp`` at the end that opens the connection: at ``from_``, or at ``to`` if
    ``from_`` replies to requests."""
    server: TcpLike | None = None
    """TCP options that differ from ``tcp`` at the end that accepts the connection."""
    quic: QuicLike | None = None
    """QUIC options of this flow that differ from ``defaults.quic``, for ``transport = "quic"``."""


@dataclass(frozen=True, kw_only=True)
class FlowTemplate:
    """The flows that a topology generates for each pair of nodes."""

    count: int | None = None
    """Number of flows for each pair of nodes, at least 1. Default: 1."""
    transport: Literal["tcp", "quic", "udp"] | None = None
    """Transport protocol, ``"tcp"``, ``"quic"`` or ``"udp"``; by default ``defaults.transport``, and TCP without it."""
    traffic: Traffic | None = None
    """Traffic of the applications, such as ``{"kind": "constant", "rate": "1 Mbit/s"}``; by default they send all data
    immediately."""
    transfer: Size | None = None
    """Payload of each flow; by default the flows send until the run ends."""
    start: Start | None = None
    """Time when the first flow starts; ``{"uniform": ["0 s", "1 s"]}`` adds a random time to the start of each flow,
    selected for each seed. Default: ``"0 s"``."""
    stagger: Time | None = None
    """Time from the start of each flow to the start of the next. Default: ``"0 s"``."""
    reader: Mapping[str, Any] | None = None
    """Reading rate of the receiving application, ``{"rate": "100 kB/s"}`` or ``{"burst": "64 kB", "every": "1 s"}``; by
    default it reads immediately."""
    dscp: Dscp | None = None
    """Differentiated services code point of the packets in both directions, ``"EF"`` or ``46``; by default none is set.
    Radio media with access classes derive the class from it."""
    setup: Setup | None = None
    """Set-up of the connections before the first request, such as ``{"tls": "1.3"}``: name resolution and TLS; by
    default ``defaults.setup``, and none without it."""
    congestion: Congestion | None = None
    """Short form of ``tcp.congestion``."""
    tcp: TcpLike | None = None
    """TCP options of these flows at both ends that differ from ``defaults.tcp``."""
    client: TcpLike | None = None
    """TCP options that differ from ``tcp`` at the end that opens the connection: at ``from_``, or at ``to`` if
    ``from_`` replies to requests."""
    server: TcpLike | None = None
    """TCP options that differ from ``tcp`` at the end that accepts the connection."""
    quic: QuicLike | None = None
    """QUIC options of these flows that differ from ``defaults.quic``, for ``transport = "quic"``."""


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """Defaults of flow settings."""

    tcp: TcpLike | None = None
    """TCP options of both endpoints, for all flows."""
    congestion: Sequence[Congestion] | None = None
    """Congestion controls that are assigned in turn to flows that do not specify one, instead of ``tcp.congestion``."""
    setup: Setup | None = None
    """Set-up of the connections of flows with requests that do not specify one."""
    quic: QuicLike | None = None
    """QUIC options, for all flows with ``transport = "quic"``."""
    transport: Literal["tcp", "quic"] | None = None
    """Transport protocol of flows that do not specify one, ``"tcp"`` or ``"quic"``; by default TCP."""


@dataclass(frozen=True, kw_only=True)
class Crash:
    """Crash of a proxy, which loses its buffers and connections and restarts immediately."""

    at: Time
    """Time of the crash."""


@dataclass(frozen=True, kw_only=True)
class Reads:
    """Reads of a proxy's program, which runs some time after an event of a connection, and then reads and writes in
    turn.
    """

    size: Size
    """Maximum amount of data of a read, which is written to the next connection before the next read."""
    after: Time | None = None
    """Time from an event of a connection until the program runs."""


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """A node that splits the connections that cross it."""

    node: str
    """Node of the proxy. Flows that cross it in both directions pass through the proxy."""
    kind: Literal["split", "quic"] | None = None
    """Kind of the proxy. ``split`` terminates each TCP connection and opens another one, under the addresses of the
    endpoints. ``quic`` does the same with QUIC connections, whose endpoints must cooperate. Default: ``"split"``."""
    buffer: Size
    """Maximum amount of data per flow and direction that the proxy has read and the next hop has not acknowledged."""
    flows: tuple[str, ...] | None = None
    """Names of the flows that pass through the proxy; by default all flows."""
    client: TcpLike | None = None
    """TCP options towards the sender that differ from ``defaults.tcp``. The default of the receive buffer is
    ``buffer``."""
    server: TcpLike | None = None
    """TCP options towards the receiver that differ from ``defaults.tcp``."""
    opens: Literal["on-syn", "when-established"] | None = None
    """Time when the proxy opens the next connection of a flow."""
    pool: bool | None = None
    """Whether connections to the next proxy with ``pool`` on the path of a flow are opened in advance, so that no flow
    waits for a handshake between the two."""
    prefetch: bool | None = None
    """Whether the proxy reads web pages that pass without TLS, and requests the objects that they name before the
    client does. The next proxy towards the client stores and delivers them; its ``buffer`` limits their total size per
    load of a page."""
    crash: Crash | None = None
    """Crash of the proxy; by default it never crashes."""
    quic: Quic | Mapping[str, Any] | None = None
    """QUIC options of both endpoints of a proxy of kind ``quic`` that differ from ``defaults.quic``."""
    reads: Reads | Mapping[str, Any] | None = None
    """Reading by a program; by default all data is read as it arrives."""


@dataclass(frozen=True, kw_only=True)
class Tunnel:
    """A QUIC connection between two nodes that carries the packets of flows in DATAGRAM frames (RFC 9221, RFC 9297)."""

    between: tuple[str, str]
    """The two nodes of the tunnel: its client, which opens the connection, and its server. Packets whose path crosses
    both nodes, or starts or ends there, pass through the tunnel."""
    flows: tuple[str, ...] | None = None
    """Names of the flows whose packets pass through the tunnel; by default all flows."""
    payload: Literal["ip", "udp"] | None = None
    """Contents of the datagrams. ``ip`` carries IP packets (CONNECT-IP, RFC 9484). ``udp`` carries the payload of UDP
    datagrams (CONNECT-UDP, RFC 9298), so only packets of QUIC and UDP flows pass through the tunnel."""
    queue: str | None = None
    """Limit of each end's queue of datagrams, in packets or bytes. A full queue drops its oldest datagrams. Default: 1
    MiB."""
    quic: Quic | Mapping[str, Any] | None = None
    """QUIC options of the tunnel's connection that differ from ``defaults.quic``. The default of ``datagram`` fills
    1,500 B."""
    start: Time | None = None
    """Time when the client opens the connection. Packets wait in the queue until the handshake permits datagrams."""
