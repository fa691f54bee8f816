"""A finished run in a store: a line of a journal, and a row of a Parquet file.

The line starts with its checksum, so that a line that was truncated by a full disk or a killed process is detected.
"""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.outcomes.design import MEASURES
from lightlag.outcomes.outcome import Outcome
from lightlag.outcomes.plan import Cell

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Entry", "entries", "frame", "line", "parsed"]

_CELL = ("congestion", "point", "seed")
"""Fields of an outcome that the study sets, not the run: another study may use other names for the same run."""
_CURVES = ("arrived_bytes", "windows")
_NUMBERS = tuple(measure.column for measure in MEASURES)


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished run, or one that failed.

    Attributes
    ----------
    key
        Key that identifies the run.
    build
        The engine that made it.
    cost_s
        CPU time that the run took; not part of the results.
    found
        The fields of its outcome as plain values, without the fields of its cell; None if it failed.
    failure
        Reason of the failure.
    """

    key: str
    build: str
    cost_s: float
    found: Mapping[str, Any] | None = None
    failure: str | None = None

    @classmethod
    def of(cls, key: str, outcome: Outcome, cost_s: float) -> Entry:
        """Creates the entry of an outcome."""
        found = {name: value for name, value in outcome.to_json().items() if name not in _CELL}
        return cls(key, _engine.__build__, round(cost_s, 6), found)

    def value(self, measure: str) -> float | None:
        """Returns a metric of the run; None if the run failed."""
        return None if self.found is None else self.found[measure]

    def outcome(self, cell: Cell, seed: int) -> Outcome:
        """Returns the outcome, as a run of the given cell."""
        assert self.found is not None, "a failed run has none"
        named = {"congestion": cell.congestion, "point": list(cell.point), "seed": seed}
        return Outcome.from_json({**self.found, **named})


def line(entry: Entry) -> str:
    """Returns an entry as a line of a journal."""
    # Not dataclasses.asdict, which copies every list.
    every = {field.name: getattr(entry, field.name) for field in dataclasses.fields(entry)}
    plain = {name: value for name, value in every.items() if value is not None}
    text = json.dumps(plain, separators=(",", ":"), allow_nan=False)
    return f"{zlib.crc32(text.encode()):08x} {text}\n"


def parsed(text: bytes) -> Entry | None:
    """Returns the entry of a line; None if the line was truncated."""
    try:
        checksum, _, body = text.rstrip(b"\n").partition(b" ")
        if int(checksum, 16) != zlib.crc32(body):
            return None
        return Entry(**json.loads(body))
    except (ValueError, TypeError):
        return None


def _schema() -> dict[str, Any]:
    import polars as pl

    flow = {
        "name": pl.String,
        "congestion": pl.String,
        "goodput_bps": pl.Float64,
        "completion_s": pl.Float64,
        "min_rtt_s": pl.Float64,
        "leg": pl.String,
    }
    plain = {"timeouts": pl.UInt64, "simulated_s": pl.Float64, "bottleneck": pl.String, "result_hash": pl.String}
    numbers = dict.fromkeys((*_NUMBERS, "capacity_bps"), pl.Float64)
    kept = {"flows": pl.List(pl.Struct(flow)), "curves": pl.String}
    return {"key": pl.String, "build": pl.String, "cost_s": pl.Float64} | numbers | plain | kept


def frame(found: Iterable[Entry]) -> pl.DataFrame:
    """Finished runs as a table: one row each, with the flows as a list and the curves as JSON."""
    import polars as pl

    schema = _schema()
    rows = []
    for entry in found:
        if entry.found is None:
            continue
        flows = entry.found["flows"]
        each = [dict(zip(flows, values, strict=True)) for values in zip(*flows.values(), strict=True)]
        curves = {name: entry.found[name] for name in _CURVES}
        is_empty = all(value is None for value in curves.values())
        values = {**entry.found, "flows": each, "curves": None if is_empty else json.dumps(curves)}
        values |= {"key": entry.key, "build": entry.build, "cost_s": entry.cost_s}
        rows.append([values[name] for name in schema])
    return pl.DataFrame(rows, schema=schema, orient="row")


def entries(table: pl.DataFrame) -> Iterable[Entry]:
    """Yields the entries of a table made by :func:`frame`."""
    for row in table.iter_rows(named=True):
        curves = json.loads(row["curves"]) if row["curves"] else dict.fromkeys(_CURVES)
        each = row["flows"]
        names = ("name", "congestion", "goodput_bps", "completion_s", "min_rtt_s", "leg")
        flows = {name: [flow[name] for flow in each] for name in names}
        apart = {"key", "build", "cost_s", "curves", "flows"}
        found = {name: value for name, value in row.items() if name not in apart}
        yield Entry(row["key"], row["build"], row["cost_s"], found | {"flows": flows} | curves)
