"""Movements of nodes: scripts of ns-2, which ns-3 reads, and the changes of course that ns-3 writes."""

from __future__ import annotations

import math
import re
from pathlib import Path

from lightlag.imports import texts
from lightlag.imports.found import LONGEST_S, Found, Motion, Options

__all__ = ["read"]

_PLACE = re.compile(r'^\$node_\((\w+)\)\s+set\s+([XYZ])_\s+"?([^\s"]+)"?\s*;?$')
_MOVE = re.compile(
    r'^\$ns_\s+at\s+(\S+)\s+"\$node_\((\w+)\)\s+(setdest\s+(\S+)\s+(\S+)\s+(\S+)|set\s+[XYZ]_\s+\S+)\s*"'
)
_COURSE = re.compile(r"^now=\+?([^\s]+?)(ns|us|ms|s)?\s+node=(\d+)\s+pos=([^:\s]+):([^:\s]+):([^:\s]+)(?:\s+vel=\S+)?$")
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, None: 1.0}
FARTHEST_M = 1e9
MOST_NODES = 1_000


def read(path: Path, options: Options) -> Found:
    """The nodes with their paths."""
    rows = [(at, line.strip()) for at, line in texts.lines(path)]
    is_ns3 = any(line.startswith("now=") for _, line in rows)
    motion = _courses(path, rows) if is_ns3 else _script(path, rows)
    if len(motion.nodes) < 2:
        texts.fail(path, "has one node; a flow needs two")
    if len(motion.nodes) > MOST_NODES:
        texts.fail(path, f"has {len(motion.nodes)} nodes, more than {MOST_NODES}; cut the file")
    origin = "changes of course by ns-3" if is_ns3 else "a script of movements for ns-2 and ns-3"
    found = Found(f"{len(motion.nodes)} nodes of {origin}.")
    found.motion, found.duration_s = motion, max(motion.end_s, 1.0)
    return found


def _script(path: Path, rows: list[tuple[int, str]]) -> Motion:
    """The engine reads such scripts itself; here they are checked, and the nodes are named."""
    places: dict[str, dict[str, float]] = {}
    end = 0.0
    for at, line in rows:
        if place := _PLACE.match(line):
            value = _coordinate(path, place[3], at)
            places.setdefault(place[1], {})[place[2]] = value
        elif move := _MOVE.match(line):
            when = texts.number(path, move[1], "the time", line=at)
            if when > LONGEST_S:
                texts.fail(path, f"{when:g} s is above 480 h", at)
            places.setdefault(move[2], {})
            if move[4]:
                x, y = _coordinate(path, move[4], at), _coordinate(path, move[5], at)
                speed = texts.number(path, move[6], "the speed", line=at)
                when += math.hypot(x, y) / speed if speed > 0 and math.hypot(x, y) / speed < LONGEST_S else 0.0
            end = max(end, when)
        elif line.startswith(("$node_", "$ns_")):
            usual = 'write lines such as $ns_ at 2.0 "$node_(0) setdest 90 44 5.0"'
            texts.fail(path, f"{line!r:.60} is neither a place nor a movement; {usual}", at)
    if not places:
        texts.fail(path, "places no node; it has lines such as $node_(0) set X_ 12.5")
    if any("X" not in place or "Y" not in place for place in places.values()):
        lost = next(name for name, place in places.items() if "X" not in place or "Y" not in place)
        texts.fail(path, f"node {lost} has no place at the start; add $node_({lost}) set X_ and Y_")
    starts = [(place["X"], place["Y"], place.get("Z", 0.0)) for place in places.values()]
    text = "".join(f"{line}\n" for _, line in rows)
    return Motion(tuple(places), text, "ns2", min(end, LONGEST_S), _span(starts))


def _courses(path: Path, rows: list[tuple[int, str]]) -> Motion:
    """Rows of time, node and place, as the engine reads paths."""
    starts: dict[str, tuple[float, float, float]] = {}
    last: dict[str, float] = {}
    written = ["time_s,node,x_m,y_m,z_m\n"]
    for at, line in rows:
        course = _COURSE.match(line)
        if course is None:
            texts.fail(path, f"{line!r:.60} is not a change of course: now=… node=… pos=x:y:z", at)
        when = texts.number(path, course[1], "now", line=at) * _UNITS[course[2]]
        if when > LONGEST_S:
            texts.fail(path, f"{when:g} s is above 480 h", at)
        node = course[3]
        place = tuple(_coordinate(path, course[field], at) for field in (4, 5, 6))
        if when < last.get(node, 0.0):
            texts.fail(path, f"the time of node {node} goes back from {last[node]:g} s to {when:g} s", at)
        if node in last and when == last[node]:
            continue
        starts.setdefault(node, (place[0], place[1], place[2]))
        last[node] = when
        written.append(f"{when!r},{node},{place[0]!r},{place[1]!r},{place[2]!r}\n")
    return Motion(tuple(starts), "".join(written), "csv", max(last.values()), _span(list(starts.values())))


def _coordinate(path: Path, text: str, at: int) -> float:
    value = texts.number(path, text, "a coordinate", line=at, least=-FARTHEST_M)
    if value > FARTHEST_M:
        texts.fail(path, f"{text} m is farther than {FARTHEST_M:g} m", at)
    return value


def _span(places: list[tuple[float, float, float]]) -> float:
    first = places[0]
    return max(math.dist(first, place) for place in places)
