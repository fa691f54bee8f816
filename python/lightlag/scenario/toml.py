"""Writes plain values as TOML in the common layout of scenario files: short tables and lists stay on one line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from lightlag.errors import InputError
from lightlag.text.terminal import printable

_FIRST = ("between", "kind")
"""Keys that are written first in their table."""


def document(entries: Mapping[str, Any]) -> str:
    """Returns the text of a TOML file: plain keys first, then a block for each table and each entry of a list of
    tables.
    """
    plain = {name: value for name, value in entries.items() if not _is_block(value)}
    blocks = [_lines(plain)] if plain else []
    for name, value in entries.items():
        if isinstance(value, Mapping):
            blocks.append([f"[{key(name)}]", *_lines(value)])
        elif _is_block(value):
            blocks += [[f"[[{key(name)}]]", *_lines(entry)] for entry in value]
    return "\n\n".join("\n".join(block) for block in blocks)


def one_line(value: object) -> str:
    """Returns a value as TOML writes it on one line.

    Examples
    --------
    >>> one_line({"at": ["2.9 s"], "on": True, "a.b": "é"})
    '{ at = ["2.9 s"], on = true, "a.b" = "é" }'
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_entries(value)) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(one_line, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    if value is None:
        raise InputError("TOML has no null value; remove None from the list")
    return json.dumps(value)


def key(name: str) -> str:
    """Returns the name of an entry, in quotes where TOML requires them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _is_block(value: object) -> bool:
    tables = isinstance(value, (list, tuple)) and bool(value) and all(isinstance(one, Mapping) for one in value)
    return tables or isinstance(value, Mapping)


def _lines(entries: Mapping[str, Any]) -> list[str]:
    return _entries(dict(sorted(entries.items(), key=lambda entry: entry[0] not in _FIRST)))


def _entries(entries: Mapping[str, Any]) -> list[str]:
    return [f"{key(name)} = {one_line(value)}" for name, value in entries.items()]


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            f'"{printable(value):.60}" holds an unpaired surrogate, which UTF-8 cannot encode; remove it'
        ) from None
    # TOML's escapes equal JSON's, but TOML also rejects the last control character, and halves of a surrogate pair.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
