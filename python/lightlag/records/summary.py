"""The summary and the tables of a run in the form that the engine reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.records.lists import texts

if TYPE_CHECKING:
    import polars as pl

    from lightlag.records.records import Records


def for_analysis(parts: Mapping[str, Any]) -> str:
    """Returns the parts of a summary that the engine analyses, as JSON."""
    return "".join(texts({key: parts[key] for key in ("flows", "legs", "links", "simulated_s") if key in parts}))


def asked(what: str, parts: Mapping[str, Any]) -> Any:
    """Returns the engine's analysis `what` of a summary."""
    return json.loads(_engine.analysis(f'{{"{what}": {for_analysis(parts)}}}'))


def limit_of(result: Records) -> str | None:
    """Returns what limited the slowest flow of a run, in a sentence without a full stop; None if no flow started."""
    return asked("limit", result.parts)  # type: ignore[no-any-return]


def rows(result: Records, table: str, columns: list[str], names: list[str]) -> pl.DataFrame:
    """Returns columns of a recorded table.

    With names, only the rows are returned whose second column has one of them.
    """
    import polars as pl

    frame = result.table(table)  # type: ignore[arg-type]  # the engine requests only existing tables
    own = frame.filter(pl.col(columns[1]).cast(pl.String).is_in(names)) if names else frame
    kinds = {name: pl.Float64 if kind.is_numeric() else pl.String for name, kind in frame.schema.items()}
    return own.select(pl.col(name).cast(kinds[name]) for name in columns if name in kinds)
