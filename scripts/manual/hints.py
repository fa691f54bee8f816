"""Python types for the values of a scenario: derived from its JSON Schema, and compared with it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from lightlag import _engine, scenario
from lightlag.scenario import Directions, values

__all__ = ["Definitions", "Table", "annotated", "quoted"]

Table = dict[str, Any]
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "Mapping[str, Any]"}
_REGISTRIES = (
    "Choice",
    "Fading",
    "Mobility",
    "Placement",
    "Propagation",
    "RadioRateControl",
    "RoutingProtocol",
    "Selection",
)
"""Definitions of algorithms and models by name."""


class Definitions:
    """The definitions of a schema, by the names that they have in Python.

    Parameters
    ----------
    root
        The JSON Schema of a scenario; by default the engine's.
    """

    def __init__(self, root: Table | None = None) -> None:
        self.root: Table = json.loads(_engine.schema()) if root is None else root

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The tables with keys: each by its title, or by the name of its definition; a generator by its kind."""
        found = {name: one for name, one in self.root["$defs"].items() if "properties" in one}
        for variant in self.root["$defs"]["Topology"]["oneOf"]:
            rest = self.target(variant["$ref"]) if "$ref" in variant else {}
            kind = variant["properties"]["kind"]["const"].title().replace("-", "")
            found[kind] = variant | {
                "properties": variant["properties"] | rest.get("properties", {}),
                "required": [*variant.get("required", ()), *rest.get("required", ())],
            }
        return found | {table["title"]: table for table in _titled(self.root)}

    def target(self, reference: str) -> Table:
        """Returns the definition that a reference names."""
        found: Table = self.root["$defs"][reference.rpartition("/")[2]]
        return found

    def hint(self, schema: Table) -> str:
        """Returns the type of a value.

        Definitions with the name or the title of a class or an alias are called by it, and a mapping may replace an
        object of a class. All other definitions are spelt out.
        """
        kinds = dict.fromkeys(self._kinds(schema))
        plain = [kind for kind in kinds if isinstance(kind, str)]
        words = [kind.value for kind in kinds if isinstance(kind, _Word)]
        if "str" in plain:
            words = [word for word in words if not isinstance(word, str)]
        parts = [f"Literal[{', '.join(map(quoted, words))}]"] if words else []
        parts += [kind for kind in plain if kind != "None"]
        return " | ".join(parts + ["None"] * ("None" in plain))

    def _kinds(self, schema: Table) -> Iterator[str | _Word]:
        """Yields the types that a value may have, and its possible keywords."""
        if "$ref" in schema:
            target = self.target(schema["$ref"])
            name = target.get("title", schema["$ref"].rpartition("/")[2])
            if dataclasses.is_dataclass(getattr(scenario, name, None)):
                yield from (name, _PLAIN["object"])
            elif hasattr(values, name):
                yield name
                yield from ["None"] * any(form.get("type") == "null" for form in target.get("anyOf", ()))
            else:
                yield from self._kinds(target)
        elif variants := schema.get("anyOf", schema.get("oneOf")):
            for variant in variants:
                yield from self._kinds(variant)
        elif words := schema.get("enum", [schema["const"]] if "const" in schema else []):
            yield from map(_Word, words)
        else:
            kinds = schema["type"]
            yield from (self._of_type(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds))

    def _of_type(self, kind: str, schema: Table) -> str:
        if kind == "array":
            return self._array(schema)
        keys = schema.get("properties", {})
        if kind == "object" and set(keys) == {field.name for field in dataclasses.fields(Directions)}:
            return f"Directions[{self.hint(keys['forward'])}]"
        return "None" if kind == "null" else _PLAIN[kind]

    def _array(self, schema: Table) -> str:
        if each := schema.get("prefixItems"):
            return f"tuple[{', '.join(map(self.hint, each))}]"
        of, count = self.hint(schema["items"]), schema.get("minItems")
        return f"tuple[{', '.join([of] * count)}]" if count and count == schema.get("maxItems") else f"tuple[{of}, ...]"

    def accepted(self, schema: Table) -> set[object]:
        """Returns the kinds of values that a schema accepts: keywords as they are, other kinds by their JSON type."""
        if schema.get("$ref") in {f"#/$defs/{name}" for name in _REGISTRIES}:
            # The registry of algorithms or of models is the one place that lists them.
            return {"string", "object"}
        if "$ref" in schema:
            return self.accepted(self.target(schema["$ref"]))
        if "const" in schema:
            return {schema["const"]}
        if "enum" in schema:
            return set(schema["enum"])
        if variants := schema.get("anyOf", schema.get("oneOf")):
            return set[object]().union(*map(self.accepted, variants))
        kinds = schema["type"]
        return {kinds} if isinstance(kinds, str) else set(kinds)

    def is_same(self, hint: Any, schema: Table) -> bool:
        """Returns true if a type accepts the same kinds of values as a schema."""
        return _settled(annotated(hint)) == _settled(self.accepted(schema))


@dataclasses.dataclass(frozen=True)
class _Word:
    """A value that a schema spells out."""

    value: object


def annotated(hint: Any) -> set[object]:
    """Returns the kinds of values that a type allows, named as :meth:`Definitions.accepted` names them."""
    origin = get_origin(hint)
    if origin is Literal:
        return set(get_args(hint))
    if origin in (Union, UnionType):
        return set[object]().union(*map(annotated, get_args(hint)))
    kind = origin or hint
    if kind is type:
        return annotated(get_args(hint)[0])
    if issubclass(kind, (_engine.CongestionControl, _engine.LossResponse, _engine.QueueDiscipline, _engine.Router)):
        # A custom class, or an object of one, becomes a name or a table.
        return {"string", "object"}
    if issubclass(kind, (_engine.SatelliteRouter, _engine.Traffic)):
        return {"object"}
    plain = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}
    if kind in plain:
        return {plain[kind]}
    if kind is Mapping or dataclasses.is_dataclass(kind):
        inner = annotated(get_args(hint)[0]) if kind is Directions else set()
        return {"object"} | inner
    assert kind in (tuple, Sequence), hint
    return {"array"}


def quoted(value: object) -> str:
    """Returns a plain value as Python writes it, with double quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {quoted(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(quoted, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _settled(kinds: set[object]) -> set[object]:
    """Returns kinds without null, which means that a key is left out, and without keywords if any text is allowed."""
    types = {"boolean", "integer", "number", "string", "object", "array"}
    return kinds & types if "string" in kinds else kinds - {"null"}


def _titled(schema: Any) -> Iterator[Table]:
    """Yields every table with keys and a title of its own."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("title", "")[:1].isupper():
            yield schema
        for below in schema.values():
            yield from _titled(below)
    elif isinstance(schema, list):
        for below in schema:
            yield from _titled(below)
