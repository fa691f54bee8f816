"""Writes the TypeScript types of results, and the names of their tables in Python, from the engine's data dictionary.

``make mirrors`` runs it; a test compares the files with what it would write, and Biome and ruff check their format.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lightlag import _engine
from lightlag.records import source

__all__ = ["FILE", "SOURCE", "results", "with_names"]

FILE = Path(__file__).resolve().parents[2] / "studio" / "src" / "engine" / "results.gen.ts"
SOURCE = Path(source.__file__)
_TYPES = {"text": "string", "count": "number", "number": "number", "flag": "boolean"}
_WIDTH = 120
_HEAD = """\
/**
 * Results of a run, as the engine's data dictionary declares them.
 *
 * `make mirrors` writes this file. The declarations of the columns are in `crates/lightlag-sim/src/results.rs`.
 */
"""


def results() -> str:
    """Returns the TypeScript file: a type for the objects of each table of a summary, and the columns of recorded
    tables.
    """
    tables = json.loads(_engine.dictionary())
    summed = [table for table in tables if any(column["keys"] for column in table["columns"])]
    recorded = [table for table in tables if table not in summed]
    lines = [_HEAD]
    for table in summed:
        lines += _about(table["meaning"], "")
        lines += [f"export interface {_name(table['name'])} {{", *_members(table["columns"], 1), "}", ""]
    lines += ["/** The tables of a run's summary. Those without rows may be left out. */", "export interface Summed {"]
    lines += [f"  {table['name']}: {_name(table['name'])}[];" for table in summed]
    lines += ["}", "", "/** The columns of the tables that a run records. */", "export interface Recorded {"]
    for table in recorded:
        lines += _about(table["meaning"], "  ")
        lines += _union(table["name"], [column["name"] for column in table["columns"]])
    return "\n".join([*lines, "}", ""])


def with_names(text: str) -> str:
    """Returns a module in which the type ``TableName`` lists the tables."""
    names = "".join(f'    "{table["name"]}",\n' for table in json.loads(_engine.dictionary()))
    return re.sub(r"(?<=TableName = Literal\[\n)[^\]]*", names, text)


def _name(table: str) -> str:
    """Returns the name of the objects in a table."""
    return re.sub("ies$", "y", table).removesuffix("s").capitalize() + "Summary"


def _members(columns: list[dict[str, Any]], depth: int) -> Iterator[str]:
    """Yields the members of an object. Columns of a group form an object of their own."""
    indent = "  " * depth
    groups: dict[str, list[dict[str, Any]]] = {}
    for column in columns:
        key, *inner = column["keys"]
        groups.setdefault(key, []).append(column | {"keys": inner})
    for key, members in groups.items():
        column = members[0]
        optional = "?" if column["optional"] or column["omitted"] else ""
        if column["keys"]:
            yield f"{indent}{key}{optional}: {{"
            yield from _members([member | {"optional": False} for member in members], depth + 1)
            yield f"{indent}}};"
        else:
            yield from _about(_with_unit(column["meaning"], column["unit"]), indent)
            yield f"{indent}{key}{optional}: {_TYPES[column['kind']]}{' | null' * column['nullable']};"


def _with_unit(meaning: str, unit: str) -> str:
    """Returns the meaning of a column, followed by its unit unless the meaning names it."""
    is_named = not unit or re.search(rf"\b{re.escape(unit)}\b", meaning, re.IGNORECASE)
    return meaning if is_named else f"{meaning.removesuffix('.')} ({unit})."


def _about(meaning: str, indent: str) -> Iterator[str]:
    """Yields the lines of a comment."""
    one = f"{indent}/** {meaning} */"
    if len(one) <= _WIDTH:
        yield one
    else:
        yield f"{indent}/**"
        yield from (f"{indent} * {line}" for line in textwrap.wrap(meaning, _WIDTH - len(indent) - 3))
        yield f"{indent} */"


def _union(table: str, columns: list[str]) -> Iterator[str]:
    """Yields the member with the names of columns, on one line if that is short enough."""
    words = [f'"{column}"' for column in columns]
    one = f"  {table}: {' | '.join(words)};"
    if len(one) <= _WIDTH:
        yield one
    else:
        yield f"  {table}:"
        yield from (f"    | {word}" for word in words[:-1])
        yield f"    | {words[-1]};"
