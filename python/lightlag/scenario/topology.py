"""Generated networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from lightlag.scenario.flows import FlowTemplate
from lightlag.scenario.links import LinkParameters
from lightlag.scenario.radio import Medium
from lightlag.scenario.values import Model, Time


@dataclass(frozen=True, kw_only=True)
class PointToPoint(LinkParameters):
    """``client`` and ``server``, connected by one link."""

    kind: Literal["point-to-point"] = "point-to-point"
    flow: FlowTemplate | None = None
    """Flows from ``client`` to ``server``; by default one, unless the scenario lists flows."""


@dataclass(frozen=True, kw_only=True)
class Chain(LinkParameters):
    """``client``, routers ``router1``, ``router2``, … and ``server`` in a row."""

    kind: Literal["chain"] = "chain"
    hops: int
    """Number of links in the row, at least 1."""
    flow: FlowTemplate | None = None
    """Flows from ``client`` to ``server``; by default one, unless the scenario lists flows."""


@dataclass(frozen=True, kw_only=True)
class Dumbbell(LinkParameters):
    """``client1``, ``client2``, … attached to ``router-left``; ``server1``, ``server2``, … attached to
    ``router-right``; the bottleneck is the link between the routers.
    """

    kind: Literal["dumbbell"] = "dumbbell"
    pairs: int
    """Number of clients, which is also the number of servers, at least 1."""
    access: LinkParameters | Mapping[str, Any] | None = None
    """Link of each client and server to its router; by default ten times the rate of the bottleneck and 1 ms. Data
    flows in the forward direction on all of them."""
    flow: FlowTemplate | None = None
    """Flows from each client to its server; by default one, unless the scenario lists flows."""


@dataclass(frozen=True, kw_only=True)
class Star(LinkParameters):
    """``leaf1``, ``leaf2``, … each connected to ``hub``."""

    kind: Literal["star"] = "star"
    leaves: int
    """Number of nodes around the hub, at least 1."""
    flow: FlowTemplate | None = None
    """Flows from each leaf to ``hub``; by default one, unless the scenario lists flows."""


@dataclass(frozen=True, kw_only=True)
class Terrestrial(LinkParameters):
    """Pairs on the ground that share the bottleneck with a satellite: ``terrestrial1``, ``terrestrial2``, … attached to
    ``gateway-right``, and ``terrestrial-server1``, … attached to ``router``. The keys of a link apply to the link of
    each client.
    """

    pairs: int
    """Number of clients, which is also the number of servers, at least 1."""
    last_delay: Time | None = None
    """Delay of the last client's link. Delays increase evenly from the first client to the last."""
    flow: FlowTemplate | None = None
    """Flows from each client to its server; by default the same as ``flow`` of the satellite."""


@dataclass(frozen=True, kw_only=True)
class Satellite:
    """``client1``, ``client2``, … attached to ``gateway-left``, a satellite, and ``gateway-right`` with ``server1``,
    ``server2``, ….
    """

    kind: Literal["satellite"] = "satellite"
    pairs: int
    """Number of clients, which is also the number of servers, at least 1."""
    orbit: str | None = None
    """Orbit, ``"geo"``, ``"meo"``, ``"leo-550"``, … or a height. It determines the delays of ``uplink`` and
    ``downlink`` that are not given."""
    height: str | None = None
    """Height of the orbit."""
    elevation: str | Sequence[str] | None = None
    """Elevation of the satellite above the horizon: one for both gateways, or one for the left and one for the right
    gateway, ``["40 deg", "25 deg"]``."""
    payload: Literal["transparent", "regenerative"] | None = None
    """Kind of satellite: a bent pipe without a queue (transparent, the default), or a node with queues
    (regenerative)."""
    processing: Time | None = None
    """Delay that each satellite adds to its outgoing link."""
    satellites: int | None = None
    """Number of satellites in a row, which are connected by ``isl``."""
    uplink: LinkParameters | Mapping[str, Any]
    """Link from ``gateway-left`` to the satellite. Its delay may follow from the orbit. Data flows in the forward
    direction."""
    downlink: LinkParameters | Mapping[str, Any]
    """Link from the satellite to ``gateway-right``. Its delay may follow from the orbit. Data flows in the forward
    direction."""
    isl: LinkParameters | Mapping[str, Any] | None = None
    """Links between satellites."""
    access: LinkParameters | Mapping[str, Any] | None = None
    """Link of each client and server to its gateway; by default ten times the rate of the uplink and 1 ms."""
    bottleneck: LinkParameters | Mapping[str, Any] | None = None
    """Link from ``gateway-right`` to ``router``; the servers are then attached to ``router``."""
    terrestrial: Terrestrial | Mapping[str, Any] | None = None
    """Pairs on the ground that share the bottleneck with the satellite."""
    flow: FlowTemplate | None = None
    """Flows from each client to its server; by default one, unless the scenario lists flows."""


@dataclass(frozen=True, kw_only=True)
class Iot(LinkParameters):
    """Sensors attached to sinks, whose connections share one satellite link from ``gateway`` to ``server``."""

    kind: Literal["iot"] = "iot"
    sinks: int
    """Number of sinks, at least 1."""
    sensors: int
    """Number of sensors per sink, at least 1."""
    access: LinkParameters | Mapping[str, Any] | None = None
    """Link from each sink to the gateway; by default ten times the rate of the satellite link and 1 ms. Data flows in
    the forward direction."""
    radio: LinkParameters | Mapping[str, Any] | None = None
    """Link from each sensor to its sink; by default 250 kbit/s and 5 ms (IEEE 802.15.4)."""
    sensor: FlowTemplate | Mapping[str, Any] | None = None
    """Flow of each sensor; by default messages of 100 B by UDP at random times, once per minute."""
    flow: FlowTemplate | None = None
    """Connection from each sink to the server; by default its traffic is ``{"kind": "collect"}``."""


@dataclass(frozen=True, kw_only=True)
class Swarm:
    """``uav1``, ``uav2``, … on the radio medium ``air``, each on its own path through a box."""

    kind: Literal["swarm"] = "swarm"
    nodes: int
    """Number of nodes, at least 1."""
    area: Sequence[str] | None = None
    """Box in which the nodes move, with a corner at the origin; by default 400 m by 400 m, 100 m high."""
    placement: Model | None = None
    """Initial positions: ``"uniform"``, ``"grid"``, ``"line"`` or ``"circle"``. Default: ``"uniform"``."""
    mobility: Model | None = None
    """Mobility model; by default the nodes do not move."""
    medium: Medium | Mapping[str, Any] | None = None
    """The medium and the radios of the nodes."""
    flows: int | None = None
    """Number of flows between pairs of nodes that are chosen at random, each pair at most once; by default half the
    number of nodes. In a satellite beam, the number of terminals with a flow to the gateway; by default all."""
    flow: FlowTemplate | None = None
    """Settings of these flows; by default each sends until the run ends."""


Topology: TypeAlias = PointToPoint | Chain | Dumbbell | Star | Satellite | Iot | Swarm | Mapping[str, Any]
