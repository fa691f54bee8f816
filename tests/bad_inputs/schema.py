"""Every key of the schema with values that it does not take, each in a scenario that is right but for it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema

from bad_inputs.case import Case
from lightlag import _engine

Schema = dict[str, Any]
Place = list[str | int]
Found = tuple[Place, Schema, dict[str, Any]]
MOST_KINDS = 3
"""Values that are tried for a key at most."""
NOT_TRIED = ("kind", "code")
"""Keys that choose between tables, and the fingerprint of code that has to be there first."""
SCHEMA: Schema = json.loads(_engine.schema())
"""The JSON Schema of a scenario."""
VALUES: dict[str, Any] = {
    "Angle": "30 deg",
    "Bytes": "1 kB",
    "Choice": "cubic",
    "Decibels": "3 dB",
    "Distance": "500 km",
    "Duration": "1 s",
    "Dscp": "EF",
    "Orbit": "geo",
    "QueueLimit": "50 packets",
    "Rate": "1 Mbit/s",
    "SymbolRate": "1 Mbaud",
}
"""A right value of each kind of text."""
LINK = {"between": ["a", "b"], "rate": "1 Mbit/s", "delay": "1 ms"}
FLOW = {"from": "a", "to": "b"}
LINE = {"rate": "10 Mbit/s"}
SKY = {
    "duration": "1 s",
    "constellation": {
        "shells": [{"height": "780 km", "inclination": "86.4 deg", "planes": 6, "slots": 11}],
        "uplink": LINE,
        "downlink": LINE,
        "isl": LINE,
    },
    "stations": [{"name": "a", "city": "Paris"}, {"name": "b", "city": "Rome"}],
    "flows": [FLOW],
}
AIR = {
    "duration": "1 s",
    "media": [{"name": "air", "standard": "802.11n"}],
    "nodes": [
        {"name": "a", "at": ["0 m", "0 m", "10 m"], "media": ["air"]},
        {"name": "b", "at": ["10 m", "0 m", "10 m"], "media": ["air"]},
    ],
    "flows": [FLOW],
}
GROUND = {"duration": "1 s", "links": [LINK], "flows": [FLOW]}
BASES: dict[str, dict[str, Any]] = {
    "constellation": SKY,
    "stations": SKY,
    "media": AIR,
    "nodes": AIR,
    "topology": {"duration": "1 s"},
    "proxies": {
        "duration": "1 s",
        "links": [LINK, {**LINK, "between": ["b", "c"]}],
        "flows": [{"from": "a", "to": "c"}],
        "proxies": [{"node": "b", "buffer": "1 MB"}],
    },
}
"""Right scenarios for the tables at the top."""
WRONG: tuple[tuple[str, Any], ...] = (
    ("a word", "carrot"),
    ("an unknown key", {"carrot": 1}),
    ("a negative number", -7),
    ("a truth", True),
    ("a list", ["carrot"]),
    ("a fraction", 0.37),
)


def keys_of_the_schema() -> Iterator[Case]:
    """Cases for each key that a table of the schema has; tables that are in several places are tried in one."""
    seen: set[str] = set()
    names: set[str] = set()
    for place, table, document in _tables([], SCHEMA, {}):
        for key, schema in table["properties"].items():
            identity = json.dumps([key, _name(schema), sorted(table["properties"])])
            if identity in seen or key in NOT_TRIED:
                continue
            seen.add(identity)
            words = [value["const"] for value in table["properties"].values() if "const" in value]
            for case in _cases([*place, key], schema, document, f" ({words[0]})" if words else ""):
                if case.name not in names:
                    names.add(case.name)
                    yield case


def _cases(place: Place, schema: Schema, document: dict[str, Any], table: str) -> Iterator[Case]:
    validator = jsonschema.Draft202012Validator({"$defs": SCHEMA["$defs"], **schema})
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")
    above, _, key = path.rpartition(".")
    wrong = [(kind, value) for kind, value in WRONG if not validator.is_valid(value)]
    for kind, value in wrong[:MOST_KINDS]:
        scenario = copy.deepcopy(document)
        _put(scenario, place, value)
        files = (("wrong.json", json.dumps(scenario)),)
        yield Case(f"{path}{table}: {kind}", ("check", "wrong.json"), files=files, parts=("wrong.json: ", above, key))


def _tables(place: Place, schema: Schema, document: dict[str, Any], within: tuple[str, ...] = ()) -> Iterator[Found]:
    """The tables below a schema, each with its place and a right scenario in which it is."""
    name = _name(schema)
    if name in within:
        return
    within = (*within, name)
    for choice in _choices(schema):
        if choice.get("type") == "array" and "items" in choice:
            yield from _tables([*place, 0], choice["items"], document, within)
        if "properties" not in choice:
            continue
        scenario = copy.deepcopy(document)
        if place:
            present = _get(scenario, place)
            _put(scenario, place, _right(choice) | (present if isinstance(present, dict) and len(place) <= 2 else {}))
        yield place, choice, scenario
        for key, inner in sorted(choice["properties"].items(), key=lambda item: item[0] != "uplink"):
            yield from _tables([*place, key], inner, scenario if place else BASES.get(key, GROUND), within)


def _choices(schema: Schema) -> Iterator[Schema]:
    schema = _resolved(schema)
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives is None:
        yield schema
        return
    for one in alternatives:
        yield from _choices(one)


def _resolved(schema: Schema) -> Schema:
    return SCHEMA["$defs"][_name(schema)] if "$ref" in schema else schema


def _name(schema: Schema) -> str:
    """The name of what a schema refers to, or the schema itself."""
    return str(schema["$ref"]).rsplit("/", 1)[-1] if "$ref" in schema else json.dumps(schema, sort_keys=True)


def _right(schema: Schema) -> Any:
    """A right value."""
    name = _name(schema)
    if name in VALUES:
        return VALUES[name]
    one = next(_choices(schema))
    if "const" in one:
        return one["const"]
    if "enum" in one:
        return one["enum"][0]
    if "properties" in one:
        return {key: _right(one["properties"][key]) for key in one.get("required", ())}
    kind = one.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        return [_right(one.get("items", {"type": "number"}))]
    return {"string": "1 s", "integer": 2, "number": 0.5, "boolean": True}.get(str(kind))


def _get(document: Any, place: Place) -> Any:
    for step in place:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def _put(document: Any, place: Place, value: Any) -> None:
    *path, end = place
    for at, step in enumerate(path):
        after = place[at + 1]
        if isinstance(document, list):
            while len(document) <= int(step):
                document.append([] if isinstance(after, int) else {})
        elif not isinstance(document.get(step), (dict, list)):
            document[step] = [] if isinstance(after, int) else {}
        document = document[step]
    if isinstance(document, list):
        document[int(end) : int(end) + 1] = [value]
    else:
        document[end] = value
