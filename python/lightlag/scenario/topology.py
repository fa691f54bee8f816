"""Generated networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from lightlag.scenario.flows import FlowTemplate
from lightlag.scenario.links import Line
from lightlag.scenario.radio import Medium, Model
from lightlag.scenario.values import Time


@dataclass(frozen=True, kw_only=True)
class PointToPoint(Line):
    """``client`` and ``server``, joined by one link."""

    kind: Literal["point-to-point"] = "point-to-point"
    flow: FlowTemplate | None = None


@dataclass(frozen=True, kw_only=True)
class Chain(Line):
    """``client``, routers and ``server`` in a row."""

    kind: Literal["chain"] = "chain"
    hops: int
    """Number of links in the row."""
    flow: FlowTemplate | None = None


@dataclass(frozen=True, kw_only=True)
class Dumbbell(Line):
    """Clients on the left, servers on the right, and this line between their routers."""

    kind: Literal["dumbbell"] = "dumbbell"
    pairs: int
    """Number of clients, and of servers."""
    access: Line | Mapping[str, Any] | None = None
    """The links at the edge; by default they have ten times the rate of the bottleneck and 1 ms."""
    flow: FlowTemplate | None = None


@dataclass(frozen=True, kw_only=True)
class Star(Line):
    """Leaves around a hub."""

    kind: Literal["star"] = "star"
    leaves: int
    """Number of nodes around the hub."""
    flow: FlowTemplate | None = None


@dataclass(frozen=True, kw_only=True)
class Terrestrial(Line):
    """Pairs on the ground that share the bottleneck with a satellite; this line joins each client to its gateway."""

    pairs: int
    """Number of clients, and of servers."""
    last_delay: Time | None = None
    """The delay of the last client; delays rise evenly from the first client to the last."""
    flow: FlowTemplate | None = None
    """Flows from each client to its server; by default those of the satellite's `flow`."""


@dataclass(frozen=True, kw_only=True)
class Satellite:
    """Clients, a gateway, one or more satellites, a gateway, servers."""

    kind: Literal["satellite"] = "satellite"
    pairs: int
    """Number of clients, and of servers."""
    orbit: str | None = None
    """``"geo"``, ``"meo"``, ``"leo-550"`` or a height; the delays of both hops follow from it where they give none."""
    height: str | None = None
    """The height of the orbit instead, ``"550 km"``."""
    elevation: str | Sequence[str] | None = None
    """Elevation of the satellite above the horizon, at both gateways or at each: ``["40 deg", "25 deg"]``."""
    payload: Literal["transparent", "regenerative"] | None = None
    """A bent pipe without a queue (transparent, the default), or a node with queues (regenerative)."""
    processing: Time | None = None
    """Delay that each satellite adds to the link on which it sends."""
    satellites: int | None = None
    """Number of satellites in a row, joined by `isl`."""
    uplink: Line | Mapping[str, Any]
    """The link from the left gateway to the satellite; its delay may follow from the orbit."""
    downlink: Line | Mapping[str, Any]
    """The link from the satellite to the right gateway."""
    isl: Line | Mapping[str, Any] | None = None
    """The links between satellites."""
    access: Line | Mapping[str, Any] | None = None
    """The links at the edge; by default ten times the rate of the uplink and 1 ms."""
    bottleneck: Line | Mapping[str, Any] | None = None
    """A link from the right gateway to a router, behind which the servers then are."""
    terrestrial: Terrestrial | Mapping[str, Any] | None = None
    """Pairs that share the bottleneck with the satellite."""
    flow: FlowTemplate | None = None


@dataclass(frozen=True, kw_only=True)
class Iot(Line):
    """Sensors behind sinks, whose connections share this line, a satellite, from ``gateway`` to ``server``."""

    kind: Literal["iot"] = "iot"
    sinks: int
    """Number of sinks."""
    sensors: int
    """Number of sensors of each sink."""
    access: Line | Mapping[str, Any] | None = None
    """The link of every sink to the gateway; by default ten times the rate of the satellite and 1 ms."""
    radio: Line | Mapping[str, Any] | None = None
    """The link of every sensor to its sink; by default 250 kbit/s and 5 ms."""
    sensor: FlowTemplate | Mapping[str, Any] | None = None
    """Flow of each sensor; by default 100 B by UDP at random times, once a minute."""
    flow: FlowTemplate | None = None
    """The connection of each sink; by default its traffic is ``{"kind": "collect"}``."""


@dataclass(frozen=True, kw_only=True)
class Swarm:
    """``uav1``, ``uav2``, … on one radio medium, each on its own way through a box."""

    kind: Literal["swarm"] = "swarm"
    nodes: int
    """Number of nodes."""
    area: Sequence[str] | None = None
    """The box in which they fly, from the origin on; by default 400 m by 400 m, 100 m high."""
    placement: Model | None = None
    """Their places at the start: ``"uniform"`` (the default), ``"grid"``, ``"line"`` or ``"circle"``."""
    mobility: Model | None = None
    """Their flight; by default they stay."""
    medium: Medium | Mapping[str, Any] | None = None
    """The medium and the radios of the nodes."""
    flows: int | None = None
    """Number of flows between nodes drawn at random; by default half as many as there are nodes."""
    flow: FlowTemplate | None = None
    """Each of these flows; by default it sends until the run ends."""


Topology: TypeAlias = PointToPoint | Chain | Dumbbell | Star | Satellite | Iot | Swarm | Mapping[str, Any]
