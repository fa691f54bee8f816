"""Flows, and the proxies that split them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lightlag.scenario.tcp import TcpLike
from lightlag.scenario.values import Congestion, Dscp, Size, Start, Time, Traffic


@dataclass(frozen=True, kw_only=True)
class Flow:
    """A connection that carries data from one node to another."""

    from_: str
    """The sending node."""
    to: str
    """The receiving node."""
    name: str | None = None
    """By default ``from->to``, numbered from the second on."""
    transport: Literal["tcp", "udp"] | None = None
    """The transport; TCP by default."""
    traffic: Traffic | None = None
    """The model of the application; by default it sends everything at once."""
    transfer: Size | None = None
    """Payload to send; by default the flow sends until the run ends."""
    start: Start | None = None
    """Time at which the connection opens; a mapping draws it for each seed."""
    reader: Mapping[str, Any] | None = None
    """Pace of the receiving application, {"rate": "100 kB/s"} or {"burst": "64 kB", "every": "1 s"}."""
    dscp: Dscp | None = None
    """Code point of differentiated services of its packets, in both directions: ``"EF"`` or ``46``."""
    congestion: Congestion | None = None
    """Short form of the same key in `tcp`."""
    tcp: TcpLike | None = None
    """Deviations of this flow from the scenario's defaults, at both ends."""
    client: TcpLike | None = None
    """Deviations from `tcp` of the end that opens the connection: `from_`, or `to` where `from_` answers requests."""
    server: TcpLike | None = None
    """Deviations from `tcp` of the end that accepts the connection."""


@dataclass(frozen=True, kw_only=True)
class FlowTemplate:
    """The flows that a generator makes for each pair of nodes."""

    count: int | None = None
    """Flows for each pair of nodes, at least 1."""
    transport: Literal["tcp", "udp"] | None = None
    """The transport; TCP by default."""
    traffic: Traffic | None = None
    """The model of the applications; by default they send everything at once."""
    transfer: Size | None = None
    """Payload of each flow; by default they send until the run ends."""
    start: Start | None = None
    """Time at which the first flow starts; a mapping draws an addition to the turn of each flow, for each seed."""
    stagger: Time | None = None
    """Time from the start of each flow to the start of the next."""
    reader: Mapping[str, Any] | None = None
    """Pace of the receiving application, {"rate": "100 kB/s"} or {"burst": "64 kB", "every": "1 s"}."""
    dscp: Dscp | None = None
    """Code point of differentiated services of their packets, in both directions: ``"EF"`` or ``46``."""
    congestion: Congestion | None = None
    """Short form of the same key in `tcp`."""
    tcp: TcpLike | None = None
    """Deviations of these flows from the scenario's defaults, at both ends."""
    client: TcpLike | None = None
    """Deviations from `tcp` of the end that opens the connection: `from_`, or `to` where `from_` answers requests."""
    server: TcpLike | None = None
    """Deviations from `tcp` of the end that accepts the connection."""


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """Settings of flows that have none of their own."""

    tcp: TcpLike | None = None
    congestion: Sequence[Congestion] | None = None
    """Congestion controls of the flows that name none, in turn, instead of ``tcp.congestion``."""


@dataclass(frozen=True, kw_only=True)
class Crash:
    """A proxy loses its buffers and its connections, and is up again at once."""

    at: Time
    """Time of the crash."""


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """A node that splits the connections which cross it."""

    node: str
    """The node. Flows that cross it in both directions pass through the proxy."""
    kind: Literal["split"] | None = None
    """Its kind: it ends each connection and opens another one, under the addresses of the ends."""
    buffer: Size
    """Bound for each flow on the data that it has read and the next hop has not acknowledged."""
    flows: tuple[str, ...] | None = None
    """Names of the flows; by default all."""
    client: TcpLike | None = None
    """TCP of its end toward the sender; the receive buffer is by default as large as ``buffer``."""
    server: TcpLike | None = None
    """TCP of its end toward the receiver."""
    crash: Crash | None = None
    """By default it never crashes."""
