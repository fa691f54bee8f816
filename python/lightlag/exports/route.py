"""Path between two nodes of a scenario: the links, constellations and media that packets cross."""

from __future__ import annotations

import base64
import copy
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.scenario import parsing

__all__ = ["Air", "Course", "Link", "Space", "bare", "courses"]

MAX_CHANGES = 100_000
"""Maximum number of changes of a route."""


@dataclass(frozen=True)
class Link:
    """Direction of a wired link.

    Attributes
    ----------
    name
        Name of the direction, ``from->to``.
    rate_bps, delay_s
        Rate and propagation delay at the start.
    table
        Table of the link in the scenario.
    side
        ``forward`` or ``backward``.
    is_relay
        Whether the direction starts at a satellite that forwards bits as they arrive.
    """

    name: str
    rate_bps: float
    delay_s: float
    table: Mapping[str, Any] = field(compare=False)
    side: str
    is_relay: bool = False


@dataclass(frozen=True)
class Space:
    """Crossing of the constellation from a station to another."""

    start: str
    end: str


@dataclass(frozen=True)
class Air:
    """Crossing of a medium, in any number of hops."""

    medium: str


@dataclass(frozen=True)
class Course:
    """Path that is used since a time; empty if there is none."""

    since_s: float
    hops: tuple[Link | Space | Air, ...]


def bare(scenario: Mapping[str, Any], flows: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns a complete scenario with other flows, and without proxies, tunnels and records, which name flows."""
    kept = {key: value for key, value in scenario.items() if key not in ("proxies", "tunnels", "record")}
    plain = copy.deepcopy(kept)
    if "topology" in plain:
        plain["topology"].pop("flow", None)
    return plain | {"flows": flows}


def probe(start: str, end: str) -> dict[str, Any]:
    """Returns a flow that only marks a path."""
    return {"from": start, "to": end, "transport": "udp", "traffic": {"kind": "constant", "rate": "1 Mbit/s"}}


def courses(scenario: Mapping[str, Any], start: str, end: str) -> tuple[list[Course], list[Course]]:
    """Returns the paths from one node to another and back, over time.

    Raises
    ------
    InputError
        If a node does not exist, both are the same, or there is no path between them.
    """
    if start == end:
        raise InputError(f'--from and --to: both are "{start}"; name two nodes')
    plain = bare(scenario, [probe(start, end), probe(end, start)])
    network = _network(plain)
    changes, more = parsing.parsed(json.dumps(plain), "json").ways(MAX_CHANGES)
    if more:
        raise InputError(f"the path changes more than {MAX_CHANGES} times; choose a shorter --duration")
    return _over_time(plain, network, changes, 0), _over_time(plain, network, changes, 1)


def _over_time(
    plain: Mapping[str, Any], network: Mapping[str, Any], changes: list[tuple[float, str, list[str] | None]], flow: int
) -> list[Course]:
    about = network["flows"][flow]
    nodes = [node["name"] for node in network["nodes"]]
    found = [(since, names) for since, name, names in changes if name == about["name"]]
    if not found:
        way = about["way"]
        if way is None:
            ends = (nodes[about[key]] for key in ("from", "to"))
            raise InputError('there is no path from "{}" to "{}"; add a link that connects them'.format(*ends))
        found = [(0.0, [nodes[node] for node in way])]
    links = list(_links(plain, network))
    return [Course(since, tuple(_hops(network, links, names or []))) for since, names in found]


def _hops(
    network: Mapping[str, Any], links: list[tuple[str, str, Link]], names: list[str]
) -> Iterator[Link | Space | Air]:
    nodes = [node["name"] for node in network["nodes"]]
    stations = [nodes[node] for node in network["sky"]["stations"]] if network["sky"] else []
    for start, end in itertools.pairwise(names):
        between = [link for *ends, link in links if ends == [start, end]]
        media = [
            medium["name"] for medium in network["media"] if {start, end} <= {nodes[node] for node in medium["nodes"]}
        ]
        if between:
            yield min(between, key=lambda link: link.delay_s)
        elif start in stations and end in stations:
            yield Space(start, end)
        elif media:
            yield Air(media[0])
        else:
            raise InputError(f'the path crosses "{start}" and "{end}", which no link joins; this cannot be exported')


def _links(plain: Mapping[str, Any], network: Mapping[str, Any]) -> Iterator[tuple[str, str, Link]]:
    """Yields the wired link directions with their ends and their tables in the scenario: listed links come first."""
    nodes = [node["name"] for node in network["nodes"]]
    listed = plain.get("links", [])
    for number, link in enumerate(network["links"]):
        start, end = nodes[link["from"]], nodes[link["to"]]
        if number < 2 * len(listed):
            table: Mapping[str, Any] | None = listed[number // 2]
        else:
            table = _generated(plain.get("topology", {}), {start, end})
        if table is not None:
            is_relay = start.startswith("satellite") and plain.get("topology", {}).get("payload") == "transparent"
            side = ("forward", "backward")[number % 2]
            yield start, end, Link(link["name"], link["rate_bps"], link["delay_s"], table, side, is_relay)


def _generated(topology: Mapping[str, Any], ends: set[str]) -> Mapping[str, Any] | None:
    """Returns the table of a link that a topology generates, by the names of its ends."""

    def has(*prefixes: str) -> bool:
        return all(any(end.startswith(prefix) for end in ends) for prefix in prefixes)

    kind, key = topology.get("kind"), None
    if kind == "dumbbell" and ends != {"router-left", "router-right"}:
        key = "access"
    elif kind == "iot" and ends != {"gateway", "server"}:
        key = "radio" if has("sensor") else "access"
    elif kind == "satellite" and has("satellite"):
        key = "uplink" if has("gateway-left") else "downlink" if has("gateway-right") else "isl"
    elif kind == "satellite":
        at_terrestrial = "terrestrial" if has("terrestrial", "gateway-right") else "access"
        key = "bottleneck" if ends == {"gateway-right", "router"} else at_terrestrial
    elif kind not in ("point-to-point", "chain", "star", "dumbbell", "iot"):
        return None
    table: Mapping[str, Any] = topology if key is None else topology[key]
    return table


def _network(plain: Mapping[str, Any]) -> Any:
    """Returns the network that a scenario describes, as the engine reports it to the studio."""
    drawn = _without({key: value for key, value in plain.items() if key != "defaults"})
    written = _asked({"op": "write", "scenario": drawn})
    network = _asked({"op": "network", "toml": written["toml"], "files": dict(_files(drawn))})
    for error in network.get("errors", []):
        option = {"flows[0].from": "--from: ", "flows[0].to": "--to: "}.get(error["path"])
        hint = "; name one of them" if "is not a node" in error["message"] else ""
        raise InputError(f"{option if option is not None else error['path'] + ': '}{error['message']}{hint}")
    return network


def _without(value: Any) -> Any:
    """Returns a part of a scenario without the tables that may name custom algorithms, which the studio rejects."""
    if isinstance(value, dict):
        return {key: _without(inner) for key, inner in value.items() if key not in ("queue", "routing")}
    return [_without(inner) for inner in value] if isinstance(value, list) else value


def _files(value: Any) -> Iterator[tuple[str, str]]:
    """Yields the files that a scenario names, with their contents in base 64."""
    if isinstance(value, dict):
        for key, inner in value.items():
            sides = inner.values() if key == "trace" and isinstance(inner, dict) else [inner]
            for name in sides if key in ("file", "trace") else []:
                if isinstance(name, str) and Path(name).is_file():
                    yield name, base64.b64encode(Path(name).read_bytes()).decode()
            yield from _files(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _files(inner)


def _asked(request: Mapping[str, Any]) -> Any:
    """Sends a request to the engine, and returns the head of its reply."""
    reply = _engine.Door().ask(json.dumps(request))
    length = int.from_bytes(reply[:4], "little")
    head = json.loads(reply[4 : 4 + length])
    if "error" in head:
        raise InputError(head["error"]["message"])
    return head
