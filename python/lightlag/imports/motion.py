"""Movements of nodes: ns-2 scripts, BonnMotion files, course changes logged by ns-3, vehicles of SUMO.

The engine reads ns-2 scripts and BonnMotion files, here as in a run, so the imported paths are the paths of the run.
The other two formats become rows of time, node and position.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.parsers import expat

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.imports import texts
from lightlag.imports.found import LONGEST_S, Found, Motion, Options
from lightlag.imports.sample import Sample

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "movements of nodes: of ns-2, ns-3, BonnMotion or SUMO"

_SCRIPT = re.compile(r"\$\{?\w+\(\d+\)\}?\s+(?:set\s+[XYZ]_|setdest)\s")
_COURSE = re.compile(r"^now=\+?([^\s]+?)(ns|us|ms|s)?\s+node=(\d+)\s+pos=([^:\s]+):([^:\s]+):([^:\s]+)(?:\s+vel=\S+)?$")
_NUMBER = re.compile(r"^-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$")
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, None: 1.0}
FARTHEST_M = 1e9
MOST_NODES = 1_000
TWO, THREE = 2, 3
"""Numbers of dimensions that a BonnMotion file may have."""

Rows = Iterator[tuple[int | None, float, str, tuple[float, float, float]]]
"""A row: the line number if there is one, seconds, the node, and its position in metres."""


def is_script(lines: list[str]) -> bool:
    """Returns true if lines belong to a movement script of ns-2."""
    return any(_SCRIPT.search(line) for line in lines)


def is_courses(lines: list[str]) -> bool:
    """Returns true if lines are course changes logged by ns-3."""
    return any(_COURSE.match(line.strip()) for line in lines)


def is_vehicles(lines: list[str]) -> bool:
    """Returns true if lines are an ``fcd-export`` of SUMO."""
    return any("<fcd-export" in line for line in lines)


def is_bonnmotion(lines: list[str]) -> bool:
    """Returns true if each line is the path of a node in BonnMotion's format.

    Such a line has several times, each with two or three coordinates.
    """
    rows = [line.split() for line in lines if not line.startswith("#")]
    return (
        bool(rows)
        and all(
            len(row) >= 2 * (TWO + 1) and (len(row) % (TWO + 1) == 0 or len(row) % (THREE + 1) == 0) for row in rows
        )
        and all(_NUMBER.match(field) for row in rows for field in row)
    )


def recognises(sample: Sample) -> bool:
    """Returns True for the lines of one of these formats."""
    lines = sample.lines[:50]
    return any(fits(lines) for fits in (is_script, is_courses, is_vehicles, is_bonnmotion))


def read(path: Path, options: Options) -> Found:
    """Returns the nodes with their paths.

    Raises
    ------
    InputError
        If a line is wrong; the message names the file and the line.
    """
    text = texts.text(path).replace("\r\n", "\n")
    text += "" if text.endswith("\n") else "\n"
    lines = [line for line in text.splitlines() if line.strip()][:50]
    if lines and lines[0].lstrip().startswith("<") and not is_vehicles(lines):
        texts.fail(path, "has no <fcd-export>; name the file that SUMO wrote with --fcd-output")
    kinds: tuple[tuple[Callable[[list[str]], bool], str, Callable[[Path, str], tuple[Motion, int]]], ...] = (
        (is_courses, "changes of course by ns-3", lambda path, text: _rows(path, _courses(path, text))),
        (is_vehicles, "vehicles of SUMO", lambda path, text: _rows(path, _vehicles(path, text))),
        (is_bonnmotion, "a file by BonnMotion", _bonnmotion),
        (lambda lines: True, "a script of movements for ns-2 and ns-3", _script),
    )
    origin, reader = next((origin, reader) for fits, origin, reader in kinds if fits(lines))
    motion, left_out = reader(path, text)
    if len(motion.nodes) < 2:
        texts.fail(path, "has one node; a flow needs two")
    if len(motion.nodes) > MOST_NODES:
        texts.fail(path, f"has {len(motion.nodes)} nodes, more than {MOST_NODES}; cut the file")
    found = Found(f"{len(motion.nodes)} nodes of {origin}.")
    found.motion, found.duration_s = motion, max(motion.end_s, 1.0)
    if left_out:
        lines_are = "1 line moves no node and is" if left_out == 1 else f"{left_out} lines move no node and are"
        found.notes.append(f"{lines_are} left out.")
    return found


def _of_engine(path: Path, format: str, text: str, dimension: int = TWO) -> tuple[Motion, int]:
    """Returns the nodes as the engine reads them, and the number of lines that are left out."""
    try:
        nodes, left_out = _engine.movements(format, text, dimension)
    except ValueError as error:
        texts.fail(path, str(error))
    end = max(end for _, end, _ in nodes)
    span = _span([place for _, _, place in nodes])
    return Motion(tuple(name for name, _, _ in nodes), text, format, min(end, LONGEST_S), span), left_out


def _script(path: Path, text: str) -> tuple[Motion, int]:
    return _of_engine(path, "ns2", text)


def _bonnmotion(path: Path, text: str) -> tuple[Motion, int]:
    """Reads a BonnMotion file as rows.

    The file does not state its dimension: the one that gives ascending times is used.
    """
    refused: InputError | None = None
    for dimension in (TWO, THREE):
        try:
            _of_engine(path, "bonnmotion", text, dimension)
        except InputError as error:
            refused = refused or error
            continue
        return _rows(path, _places(path, text, dimension))
    assert refused is not None
    raise refused


def _places(path: Path, text: str, dimension: int) -> Rows:
    """Yields the positions in a BonnMotion file that the engine has read."""
    lines = [(at, line.split()) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    paths = [(at, fields) for at, fields in lines if not fields[0].startswith("#")]
    for node, (at, fields) in enumerate(paths):
        for start in range(0, len(fields), dimension + 1):
            when, x, y, *z = (float(field) for field in fields[start : start + dimension + 1])
            yield at, when, str(node), (x, y, z[0] if z else 0.0)


def _courses(path: Path, text: str) -> Rows:
    """Yields the course changes logged by ns-3."""
    for at, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        course = _COURSE.match(line.strip())
        if course is None:
            texts.fail(path, f"{line.strip()!r:.60} is not a change of course: now=… node=… pos=x:y:z", at)
        when = texts.number(path, course[1], "now", line=at) * _UNITS[course[2]]
        x, y, z = (_coordinate(path, course[field], at) for field in (4, 5, 6))
        yield at, when, course[3], (x, y, z)


def _vehicles(path: Path, text: str) -> Rows:
    """Yields positions of vehicles and persons in metres. SUMO must write them without ``--fcd-output.geo``."""
    parser = expat.ParserCreate()
    started: list[tuple[str, dict[str, str]]] = []
    parser.StartElementHandler = lambda tag, attributes: started.append((tag, attributes))
    when = 0.0
    names: dict[str, str] = {}
    at = 0
    try:
        for at, line in enumerate(text.splitlines(keepends=True), 1):
            parser.Parse(line)
            for tag, attributes in started:
                if tag == "timestep":
                    when = texts.number(path, attributes.get("time"), "the time of a timestep", line=at)
                elif tag in ("vehicle", "person") and "x" in attributes:
                    name = _name(path, attributes.get("id"), names, at)
                    x, y, z = (_coordinate(path, attributes.get(key, "0"), at) for key in ("x", "y", "z"))
                    yield at, when, name, (x, y, z)
            started.clear()
        parser.Parse("", True)
    except expat.ExpatError as error:
        texts.fail(path, f"is not XML: {expat.ErrorString(error.code)}; is the file complete?", max(error.lineno, at))


def _name(path: Path, id_: str | None, names: dict[str, str], at: int) -> str:
    """Returns the name of the node for a vehicle: its id without characters that a table cannot hold."""
    if not id_:
        texts.fail(path, "has a vehicle without an id; write the file with --fcd-output again", at)
    if id_ not in names:
        if len(names) == MOST_NODES:
            texts.fail(path, f"has more than {MOST_NODES} vehicles; cut the file", at)
        plain = re.sub(r"[^\w.-]", "_", id_)
        count, name = 1, plain
        while name in names.values():
            count += 1
            name = f"{plain}_{count}"
        names[id_] = name
    return names[id_]


def _rows(path: Path, rows: Rows) -> tuple[Motion, int]:
    """Returns the nodes with their rows in the format of path files, and 0: no lines are left out."""
    starts: dict[str, tuple[float, float, float]] = {}
    last: dict[str, float] = {}
    written = ["time_s,node,x_m,y_m,z_m\n"]
    for at, when, node, place in rows:
        if when > LONGEST_S:
            texts.fail(path, f"{when:g} s is above 480 h", at)
        if when < last.get(node, 0.0):
            texts.fail(
                path, f"the time of node {node} goes back from {last[node]:g} s to {when:g} s; sort them by time", at
            )
        if node in last and when == last[node]:
            continue
        starts.setdefault(node, place)
        last[node] = when
        written.append(f"{when!r},{node},{place[0]!r},{place[1]!r},{place[2]!r}\n")
    if not starts:
        texts.fail(path, "has no position of a node; name a file with movements")
    return Motion(tuple(starts), "".join(written), "csv", max(last.values()), _span(list(starts.values()))), 0


def _coordinate(path: Path, text: str, at: int) -> float:
    value = texts.number(path, text, "a coordinate", line=at, minimum=-FARTHEST_M)
    if value > FARTHEST_M:
        texts.fail(path, f"{text} m is farther than {FARTHEST_M:g} m; are positions in metres?", at)
    return value


def _span(places: list[tuple[float, float, float]]) -> float:
    first = places[0]
    return max(math.dist(first, place) for place in places)
