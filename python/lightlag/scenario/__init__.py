"""Scenarios: plain values that mirror the engine's schema, and a builder for scripts.

Quantities are strings with a unit, as in a scenario file: ``"10 Mbit/s"``, ``"300 ms"``, ``"1 bdp"``, ``"15 MiB"``.
None leaves a field to the engine's default. The engine checks everything: see :func:`Scenario.check`.

- ``values``: values that may have several forms.
- ``tcp``, ``quic``, ``flows``, ``links``, ``topology``, ``radio``, ``sky``, ``record``: the tables of a scenario, whose
  fields ``make mirrors`` writes from the schema.
- ``document``: the complete scenario; ``plain``: its values in the form of JSON and TOML.
- ``builder``: a scenario that a script builds step by step.
- ``reading``: reads any form of a scenario through the engine.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightlag.scenario.builder import Network
    from lightlag.scenario.document import Scenario
    from lightlag.scenario.flows import Crash, Defaults, Flow, FlowTemplate, Proxy, Reads, Tunnel
    from lightlag.scenario.links import Link, LinkParameters
    from lightlag.scenario.plain import toml_value
    from lightlag.scenario.quic import Quic, QuicAck, QuicAckFrequency, QuicLike
    from lightlag.scenario.radio import Medium, Node, Radio
    from lightlag.scenario.reading import (
        ScenarioLike,
        Sets,
        check,
        checked,
        congestion_names,
        load_scenario,
        read_scenario,
    )
    from lightlag.scenario.record import Pcap, Record
    from lightlag.scenario.sky import Constellation, Handover, SatelliteLink, Shell, Station, StationWaypoint
    from lightlag.scenario.tcp import (
        Bets,
        ChallengeAcks,
        DelayedAck,
        KeepAlive,
        RateControl,
        Route,
        Rto,
        Scps,
        Tcp,
        TcpLike,
    )
    from lightlag.scenario.topology import (
        Chain,
        Dumbbell,
        Iot,
        PointToPoint,
        Satellite,
        Star,
        Swarm,
        Terrestrial,
        Topology,
    )
    from lightlag.scenario.values import (
        Aggregate,
        Changes,
        Channel,
        Congestion,
        Delay,
        Directions,
        Fade,
        Fec,
        Jitter,
        Loss,
        OnDemand,
        Queue,
        Ramp,
        Rate,
        Reorder,
        Routing,
        RoutingProtocol,
        Signals,
        Size,
        Slots,
        Start,
        Time,
        Trace,
        Traffic,
    )

__all__ = [
    "Aggregate",
    "Bets",
    "Chain",
    "ChallengeAcks",
    "Changes",
    "Channel",
    "Congestion",
    "Constellation",
    "Crash",
    "Defaults",
    "Delay",
    "DelayedAck",
    "Directions",
    "Dumbbell",
    "Fade",
    "Fec",
    "Flow",
    "FlowTemplate",
    "Handover",
    "Iot",
    "Jitter",
    "KeepAlive",
    "Link",
    "LinkParameters",
    "Loss",
    "Medium",
    "Network",
    "Node",
    "OnDemand",
    "Pcap",
    "PointToPoint",
    "Proxy",
    "Queue",
    "Quic",
    "QuicAck",
    "QuicAckFrequency",
    "QuicLike",
    "Radio",
    "Ramp",
    "Rate",
    "RateControl",
    "Reads",
    "Record",
    "Reorder",
    "Route",
    "Routing",
    "RoutingProtocol",
    "Rto",
    "Satellite",
    "SatelliteLink",
    "Scenario",
    "ScenarioLike",
    "Scps",
    "Sets",
    "Shell",
    "Signals",
    "Size",
    "Slots",
    "Star",
    "Start",
    "Station",
    "StationWaypoint",
    "Swarm",
    "Tcp",
    "TcpLike",
    "Terrestrial",
    "Time",
    "Topology",
    "Trace",
    "Traffic",
    "Tunnel",
    "check",
    "checked",
    "congestion_names",
    "load_scenario",
    "read_scenario",
    "toml_value",
]

_FROM = {
    "builder": "Network",
    "document": "Scenario",
    "flows": "Crash Defaults Flow FlowTemplate Proxy Reads Tunnel",
    "links": "LinkParameters Link",
    "plain": "toml_value",
    "quic": "Quic QuicAck QuicAckFrequency QuicLike",
    "radio": "Medium Node Radio",
    "reading": "ScenarioLike Sets check checked congestion_names load_scenario read_scenario",
    "record": "Pcap Record",
    "sky": "Constellation Handover Shell SatelliteLink StationWaypoint Station",
    "tcp": "Bets ChallengeAcks DelayedAck KeepAlive RateControl Route Rto Scps Tcp TcpLike",
    "topology": "Chain Dumbbell Iot PointToPoint Satellite Star Swarm Terrestrial Topology",
    "values": "Aggregate Changes Channel Congestion Delay Directions Fade Fec Jitter Loss OnDemand Queue Ramp Rate "
    "Reorder Routing RoutingProtocol Signals Size Slots Start Time Trace Traffic",
}
"""The names in each module. A module is imported when one of its names is first used: scenarios from files need few."""

_MODULES = {name: module for module, names in _FROM.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'lightlag.scenario' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"lightlag.scenario.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
