"""The keys of a scenario, as the engine's schema declares them."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lightlag import _engine

__all__ = [
    "DIRECTIVE",
    "SCHEMA",
    "Key",
    "all_keys",
    "by_name",
    "children",
    "children_of",
    "choices",
    "found",
    "is_list",
    "normal",
    "schemas",
    "type_of",
    "word_places",
]

SCHEMA = "lightlag.schema.json"
"""Name of the schema file next to a scenario, which editors use for completion and checks."""
DIRECTIVE = f"#:schema ./{SCHEMA}"
"""The line with which a scenario refers to the schema file (taplo, Even Better TOML)."""


@dataclass(frozen=True)
class Key:
    """A key of a table."""

    path: tuple[str, ...]
    """The path to the key, with the key itself at the end; ``[]`` is an entry of a list."""
    schema: dict[str, Any]
    table: str
    """The meaning of the table that has the key, in a sentence."""
    is_required: bool

    @property
    def name(self) -> str:
        """The name of the key, without its path."""
        return self.path[-1]

    @property
    def place(self) -> str:
        """The complete path, such as ``links[].loss``."""
        return ".".join(self.path).replace(".[]", "[]")

    @property
    def about(self) -> str:
        """The meaning of the key."""
        return _sentence(self.schema.get("description") or _resolved(self.schema).get("description") or "")


@cache
def root() -> dict[str, Any]:
    """Returns the complete schema."""
    schema: dict[str, Any] = json.loads(_engine.schema())
    return schema


@cache
def all_keys() -> tuple[Key, ...]:
    """Returns every key of every table, those near the top of a file first.

    If a table can be at several places, its keys are listed at the first.
    """
    return tuple(_walk())


@cache
def by_name() -> dict[str, tuple[tuple[tuple[str, ...], Key], ...]]:
    """Returns all keys by name, each with its path as :func:`normal` returns it."""
    keys: dict[str, list[tuple[tuple[str, ...], Key]]] = {}
    for one in all_keys():
        steps = normal(one.place)
        keys.setdefault(steps[-1], []).append((steps, one))
    return {name: tuple(same) for name, same in keys.items()}


def _walk() -> Iterator[Key]:
    waiting: deque[tuple[tuple[str, ...], dict[str, Any]]] = deque([((), root())])
    seen: set[str] = set()
    while waiting:
        path, schema = waiting.popleft()
        if (target := schema.get("$ref")) is not None:
            if target in seen:
                continue
            seen.add(target)
            schema = _target(target)
        for variant in _variants(schema):
            waiting.append((path, variant))
        if isinstance(items := schema.get("items"), dict):
            waiting.append(((*path, "[]"), items))
        needed = schema.get("required", ())
        for name, below in schema.get("properties", {}).items():
            key = Key((*path, name), below, _sentence(schema.get("description") or ""), name in needed)
            yield key
            waiting.append((key.path, below))


def schemas(steps: list[str]) -> list[dict[str, Any]]:
    """Returns the schemas of the value at a path such as ``["links", "0", "loss"]``.

    Entries of lists are named by index or by name.
    """
    here = [root()]
    for step in steps:
        here = [below for schema in here for below in _below(schema, step)]
    return here


def found(steps: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the schemas at a path without the indices of list entries, such as ``("flows", "tcp", "mss")``."""
    here = [root()]
    for step in steps:
        tables = [form for schema in here for form in _forms(schema)]
        tables += [inner for form in tables if isinstance(form.get("items"), dict) for inner in _forms(form["items"])]
        here = [table["properties"][step] for table in tables if step in table.get("properties", {})]
    return here


def children(steps: list[str]) -> dict[str, dict[str, Any]]:
    """Returns the keys that may follow a path, with their schemas."""
    return {name: below for schema in schemas(steps) for name, below in children_of(schema).items()}


def children_of(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the keys that a value may have, with their schemas; for a list, the keys of its entries."""
    forms = list(_forms(schema))
    forms += [inner for form in forms if isinstance(form.get("items"), dict) for inner in _forms(form["items"])]
    return {name: below for form in reversed(forms) for name, below in form.get("properties", {}).items()}


def is_list(steps: list[str]) -> bool:
    """Returns true if a path leads to a list of tables."""
    items = (form.get("items") for schema in schemas(steps) for form in _forms(schema))
    return any("properties" in form for one in items if isinstance(one, dict) for form in _forms(one))


def choices(schema: dict[str, Any]) -> list[str]:
    """Returns the keywords that are valid for a value."""
    found: list[str] = []
    for form in _forms(schema):
        words = form.get("enum", [form["const"]] if "const" in form else [])
        found += [word for word in words if isinstance(word, str)]
        if form.get("type") == "boolean":
            found += ["true", "false"]
    return list(dict.fromkeys(found))


def type_of(schema: dict[str, Any]) -> str:
    """Describes the kind of a value in a few words."""
    forms = []
    for form in _forms(schema):
        if "enum" in form:
            forms.append(" | ".join(f'"{word}"' if isinstance(word, str) else str(word) for word in form["enum"]))
        elif "const" in form:
            forms.append(f'"{form["const"]}"')
        elif form.get("type") == "array":
            forms.append("list")
        elif "properties" in form:
            forms.append("table")
        elif form.get("type") == "string":
            forms.append(str((form.get("examples") or ["text"])[0]) if "examples" in form else "text")
        elif isinstance(form.get("type"), str) and form["type"] != "null":
            forms.append({"boolean": "true | false", "integer": "whole number"}.get(form["type"], form["type"]))
    return " | ".join(dict.fromkeys(forms)) or "any"


@cache
def word_places() -> dict[str, tuple[tuple[str, str], ...]]:
    """Returns the keywords that are valid values of keys.

    Each has these keys, with the meaning of the keyword if stated.
    """
    found: dict[str, dict[str, str]] = {}
    for key in all_keys():
        for form in _forms(key.schema):
            words = form.get("enum", [form["const"]] if "const" in form else [])
            for word in words:
                if isinstance(word, str):
                    about = form.get("description") if "const" in form else None
                    found.setdefault(word, {}).setdefault(key.place, _sentence(about or ""))
    return {word: tuple(places.items()) for word, places in found.items()}


def normal(path: str) -> tuple[str, ...]:
    """Returns a path without the indices of list entries, for comparisons.

    Examples
    --------
    >>> normal("links[0].loss"), normal("flows.1.tcp.mss")
    (('links', 'loss'), ('flows', 'tcp', 'mss'))
    """
    steps = re.split(r"[.\[\]]+", path.strip())
    return tuple(step for step in steps if step and not step.isdigit())


def _below(schema: dict[str, Any], step: str) -> Iterator[dict[str, Any]]:
    for form in _forms(schema):
        items = form.get("items")
        if step in form.get("properties", {}):
            yield form["properties"][step]
        elif isinstance(items, dict) and step not in form.get("properties", {}):
            # An entry of a list, by its number or its name.
            yield items


def _forms(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the schema and all its alternatives, with references resolved."""
    if "$ref" in schema:
        yield from _forms(_target(schema["$ref"]))
    yield schema
    for variant in _variants(schema):
        yield from _forms(variant)


def _variants(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for word in ("anyOf", "oneOf", "allOf"):
        yield from schema.get(word, ())


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    return _target(schema["$ref"]) if "$ref" in schema else schema


def _target(reference: str) -> dict[str, Any]:
    found: Any = root()
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    target: dict[str, Any] = found
    return target


def _sentence(text: str) -> str:
    """Returns a description as a sentence."""
    text = " ".join(text.replace("`", "").split())
    return text if not text else text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")
