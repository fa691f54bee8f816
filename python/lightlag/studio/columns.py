"""Tables in the format of the engine's replies: a head in JSON, then binary columns.

A reply consists of: the length of its head (u32, little endian), the head, zeros up to a multiple of 8, and the
columns, each starting at a multiple of 8 from the start of the first. Numbers are ``f64``, a missing one NaN; truth
values are ``u8``; strings are ``u32`` indices into the list ``names`` of their column, a missing one 0xffffffff.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MISSING", "packed"]

MISSING = 0xFFFF_FFFF
"""Index that stands for a missing string."""


def packed(head: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> bytes:
    """Returns a reply with these tables.

    Examples
    --------
    >>> import polars as pl
    >>> packed({}, {"trace": pl.DataFrame({"flow": ["a", None]})})[-8:].hex()
    '00000000ffffffff'
    """
    parts: list[bytes] = []
    about = {}
    at = 0
    for name, table in tables.items():
        columns = []
        for column in table.get_columns():
            content, entry = _column(column)
            columns.append({"name": column.name, "at": at} | entry)
            padded = content + bytes(-len(content) % 8)
            parts.append(padded)
            at += len(padded)
        about[name] = {"rows": table.height, "columns": columns}
    text = json.dumps({**head, "tables": about}, allow_nan=False).encode()
    start = struct.pack("<I", len(text)) + text
    return b"".join([start, bytes(-len(start) % 8), *parts])


def _column(column: pl.Series) -> tuple[bytes, dict[str, Any]]:
    import polars as pl

    kind = column.dtype
    if kind == pl.Boolean:
        return column.fill_null(value=False).cast(pl.UInt8).to_numpy().tobytes(), {"type": "u8"}
    if kind.is_numeric():
        values = column.cast(pl.Float64).fill_null(float("nan"))
        return values.to_numpy().astype("<f8").tobytes(), {"type": "f64"}
    if kind.is_nested():
        # Lists as JSON strings, because few tables have lists.
        texts = pl.Series(
            column.name, [None if one is None else json.dumps(one) for one in column.to_list()], pl.String
        )
    else:
        texts = column.cast(pl.String)
    names = texts.drop_nulls().unique(maintain_order=True)
    numbers = {name: number for number, name in enumerate(names.to_list())}
    codes = texts.replace_strict(numbers, default=None, return_dtype=pl.UInt32) if numbers else texts.cast(pl.UInt32)
    return codes.fill_null(MISSING).to_numpy().astype("<u4").tobytes(), {"type": "u32", "names": list(numbers)}
