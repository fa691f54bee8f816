"""Scenarios: plain values that mirror the engine's schema, and a builder for scripts.

Quantities are texts with a unit, as in a scenario file: ``"10 Mbit/s"``, ``"300 ms"``, ``"1 bdp"``, ``"15 MiB"``.
None leaves a field to the engine's default. The engine checks everything: see :func:`Scenario.check`.

- ``values``: values that may have several forms.
- ``tcp``, ``flows``, ``links``, ``topology``, ``radio``, ``sky``, ``record``: the tables of a scenario.
- ``document``: the whole scenario; ``plain``: its values as JSON and TOML hold them.
- ``builder``: a network in the making.
- ``reading``: reads any form of a scenario through the engine.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightlag.scenario.builder import Network
    from lightlag.scenario.document import Scenario
    from lightlag.scenario.flows import Crash, Defaults, Flow, FlowTemplate, Proxy
    from lightlag.scenario.links import Line, Link
    from lightlag.scenario.plain import toml_value
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
    from lightlag.scenario.sky import Constellation, Handover, Shell, SkyLine, SkyWaypoint, Station
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
        Changes,
        Congestion,
        Delay,
        Directions,
        Fade,
        Fec,
        Jitter,
        Loss,
        OnDemand,
        Queue,
        Rate,
        Reorder,
        Routing,
        RoutingProtocol,
        Signals,
        Size,
        Start,
        Time,
        Trace,
        Traffic,
    )

__all__ = [
    "Bets",
    "Chain",
    "ChallengeAcks",
    "Changes",
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
    "Line",
    "Link",
    "Loss",
    "Medium",
    "Network",
    "Node",
    "OnDemand",
    "Pcap",
    "PointToPoint",
    "Proxy",
    "Queue",
    "Radio",
    "Rate",
    "RateControl",
    "Record",
    "Reorder",
    "Route",
    "Routing",
    "RoutingProtocol",
    "Rto",
    "Satellite",
    "Scenario",
    "ScenarioLike",
    "Scps",
    "Sets",
    "Shell",
    "Signals",
    "Size",
    "SkyLine",
    "SkyWaypoint",
    "Star",
    "Start",
    "Station",
    "Swarm",
    "Tcp",
    "TcpLike",
    "Terrestrial",
    "Time",
    "Topology",
    "Trace",
    "Traffic",
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
    "flows": "Crash Defaults Flow FlowTemplate Proxy",
    "links": "Line Link",
    "plain": "toml_value",
    "radio": "Medium Node Radio",
    "reading": "ScenarioLike Sets check checked congestion_names load_scenario read_scenario",
    "record": "Pcap Record",
    "sky": "Constellation Handover Shell SkyLine SkyWaypoint Station",
    "tcp": "Bets ChallengeAcks DelayedAck KeepAlive RateControl Route Rto Scps Tcp TcpLike",
    "topology": "Chain Dumbbell Iot PointToPoint Satellite Star Swarm Terrestrial Topology",
    "values": "Changes Congestion Delay Directions Fade Fec Jitter Loss OnDemand Queue Rate Reorder "
    "Routing RoutingProtocol Signals Size Start Time Trace Traffic",
}
"""The names of each module, which is imported when one of them is first used: a scenario that is a file needs few."""

_MODULES = {name: module for module, names in _FROM.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'lightlag.scenario' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"lightlag.scenario.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
