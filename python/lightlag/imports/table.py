"""Tables of measurements: columns of any name, unit and order, separated by anything that tables are separated by."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lightlag._text import printable
from lightlag.errors import InputError
from lightlag.imports import texts
from lightlag.imports.found import FASTEST_BPS, LONGEST_S, Found, Measured, Options, Row

__all__ = ["read"]

_TIMES = {
    "s": 1.0,
    "sec": 1.0,
    "seconds": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "ns": 1e-9,
    "min": 60.0,
    "h": 3600.0,
}
_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_RATES = {
    f"{prefix}{unit}": factor * bits
    for prefix, factor in _PREFIXES.items()
    for unit, bits in (("bit/s", 1.0), ("bps", 1.0), ("bits/s", 1.0), ("b/s", 1.0), ("byte/s", 8.0), ("bytes/s", 8.0))
}
_RATES_OF_BYTES = {"B/s": 8.0, "kB/s": 8e3, "KB/s": 8e3, "MB/s": 8e6, "GB/s": 8e9}
"""Units in which the case of a letter decides."""
_SHARES = {"%": 0.01, "percent": 0.01, "pct": 0.01, "share": 1.0, "1": 1.0}
_UNITS = {"time": _TIMES, "rate": _RATES, "delay": _TIMES, "rtt": _TIMES, "loss": _SHARES}
_USUAL = {"time": "s", "loss": "share"}
_EXAMPLES = {"time": "ms", "rate": "Mbit/s", "delay": "ms", "rtt": "ms", "loss": "%"}
_NAMES = {
    "time": {"time", "t", "timestamp", "ts", "date", "datetime", "elapsed", "seconds", "when", "start"},
    "rate": {
        "rate",
        "bandwidth",
        "bw",
        "throughput",
        "capacity",
        "bitrate",
        "goodput",
        "speed",
        "download",
        "datarate",
    },
    "delay": {"delay", "latency", "owd", "onewaydelay"},
    "rtt": {"rtt", "ping", "roundtrip", "roundtriptime", "srtt"},
    "loss": {"loss", "lossrate", "plr", "per", "packetloss", "lost"},
}
_NONE = {"", "-", "nan", "na", "n/a", "null", "none"}
_SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class _Column:
    """A column with its meaning."""

    key: str
    index: int
    name: str
    factor: float


@dataclass(frozen=True)
class _Table:
    path: Path
    header: list[str]
    rows: list[tuple[int, list[str]]]
    has_comma: bool
    """Whether decimals have a comma."""


def read(path: Path, options: Options) -> Found:
    """The rows of a table, from its first time on."""
    table = _table(path)
    columns = _columns(table, options.columns)
    time = next(column for column in columns if column.key == "time")
    found = Found(
        f"A table with {len(table.rows)} rows; " + ", ".join(f"{one.key}: column {one.name}" for one in columns) + "."
    )
    start = None
    for at, fields in table.rows:
        when = _time(table, fields, time, at)
        start = when if start is None else start
        row = _row(table, fields, columns, when - start, at)
        if row.time_s < 0 or (found.rows and row.time_s < found.rows[-1].time_s):
            texts.fail(path, f"{time.name}: {_cell(fields, time)!r:.40} goes back in time; sort the rows by it", at)
        if row.time_s > LONGEST_S:
            texts.fail(
                path, f"{time.name}: {row.time_s:g} s after the first row is above 480 h; is its unit right?", at
            )
        found.rows.append(row)
    _sum_up(path, found, {column.key: column.name for column in columns})
    return found


def _sum_up(path: Path, found: Found, names: dict[str, str]) -> None:
    rates = [row.rate_bps for row in found.rows if row.rate_bps]
    delays = [row.delay_s for row in found.rows if row.delay_s is not None]
    losses = [row.loss for row in found.rows if row.loss is not None]
    if not rates and not delays and not losses:
        texts.fail(path, "no row has a rate, a delay or a loss: the link would never change")
    if rates:
        found.rate = Measured(max(rates), f"the largest of column {names['rate']}; the trace replaces it")
    if delays:
        halved = "half of " if "rtt" in names else ""
        column = names.get("rtt", names.get("delay"))
        found.delay = Measured(delays[0], f"{halved}the first of column {column}; the trace replaces it")
    found.duration_s = found.rows[-1].time_s + 1


def _table(path: Path) -> _Table:
    kept = [(at, line) for at, line in texts.lines(path) if not line.lstrip().startswith("#")]
    if not kept:
        texts.fail(path, "has no rows")
    separator = _separator([line for _, line in kept[:20]])
    rows = list(_split(path, kept, separator))
    header = rows[0][1]
    if all(_is_number(field) for field in header):
        header, body = [str(at) for at in range(1, len(header) + 1)], rows
    else:
        body = rows[1:]
    if not body:
        texts.fail(path, "has a header and no rows", rows[0][0])
    for at, fields in body:
        if len(fields) != len(header):
            texts.fail(path, f"{len(fields)} fields where the header has {len(header)}", at)
    return _Table(path, [name.strip() for name in header], body, separator != ",")


def _separator(lines: list[str]) -> str:
    """The separator that occurs equally often in the first lines, or blanks."""
    for separator in _SEPARATORS:
        counts = {_outside_quotes(line).count(separator) for line in lines}
        if len(counts) == 1 and 0 not in counts:
            return separator
    found = max(_SEPARATORS, key=lambda one: _outside_quotes(lines[0]).count(one))
    return found if found in lines[0] else " "


def _outside_quotes(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line)


def _split(path: Path, lines: list[tuple[int, str]], separator: str) -> Iterator[tuple[int, list[str]]]:
    for at, line in lines:
        if separator == " ":
            yield at, line.split()
            continue
        try:
            yield at, [field.strip() for field in next(csv.reader(io.StringIO(line), delimiter=separator))]
        except (csv.Error, StopIteration) as error:
            texts.fail(path, f"is no row of a table: {error}", at)


def _columns(table: _Table, given: tuple[str, ...]) -> list[_Column]:
    columns = {column.key: column for column in (_given(table, text) for text in given)}
    if len(columns) < len(given):
        raise InputError("--column: names a key twice; give each of time, rate, delay, rtt and loss once")
    for index, name in enumerate(table.header):
        if (guess := _guessed(name)) is None or guess[0] in columns:
            continue
        key, unit = guess
        if unit is None and key not in _USUAL:
            texts.fail(table.path, f'column "{name}" has no unit; write --column {key}={name}:{_EXAMPLES[key]}', 1)
        columns[key] = _Column(key, index, name, _factor(key, unit or _USUAL[key]) or 1.0)
    shown = ", ".join(printable(name) for name in table.header[:12])
    if "time" not in columns:
        texts.fail(table.path, f"no column is a time; there are {shown}; write --column time=NAME:s", 1)
    if "delay" in columns and "rtt" in columns:
        # The delay is what a link has.
        del columns["rtt"]
    if len(columns) == 1:
        texts.fail(
            table.path,
            f"no column is a rate, a delay, an RTT or a loss; there are {shown}; write --column rate=NAME:Mbit/s",
            1,
        )
    return list(columns.values())


def _given(table: _Table, text: str) -> _Column:
    key, separator, rest = (part.strip() for part in text.partition("="))
    shown = printable(text)
    if not separator or not rest:
        raise InputError(f"--column {shown}: is not KEY=COLUMN:UNIT; write for example rate=rate_mbps:Mbit/s")
    if key not in _UNITS:
        raise InputError(f'--column {shown}: "{key}" is not one of {", ".join(_UNITS)}')
    name, unit = rest, None
    if rest not in table.header:
        name, _, unit = (part.strip() for part in rest.rpartition(":"))
    if unit is None or not name:
        name, unit = rest, (_guessed(rest) or (key, None))[1] or _USUAL.get(key)
    factor = None if unit is None else _factor(key, unit)
    if factor is None:
        known = ", ".join(dict.fromkeys([_EXAMPLES[key], *list(_UNITS[key])[:6]]))
        raise InputError(
            f"--column {shown}: {printable(unit or 'nothing')!r} is not a unit of {key}; write one of {known}"
        )
    if name not in table.header:
        shown_names = ", ".join(printable(one) for one in table.header[:12])
        raise InputError(
            f'--column {shown}: {printable(table.path)} has no column "{printable(name)}"; there are {shown_names}'
        )
    return _Column(key, table.header.index(name), name, factor)


def _factor(key: str, unit: str) -> float | None:
    if key == "rate" and unit in _RATES_OF_BYTES:
        return _RATES_OF_BYTES[unit]
    return _UNITS[key].get(unit) or _UNITS[key].get(unit.lower())


def _guessed(name: str) -> tuple[str, str | None] | None:
    """The key that a name of a column says, and its unit."""
    words = [word for word in re.split(r"[\s_\-()\[\]]+", name) if word]
    if not words:
        return None
    for count in (len(words), len(words) - 1):
        stem, unit = "".join(words[:count]).lower(), words[count] if count < len(words) else None
        for key, names in _NAMES.items():
            if stem in names and (unit is None or _factor(key, unit) is not None):
                return key, unit
    alone = words[-1]
    if len(words) == 1 and alone.lower() in ("mbps", "kbps", "gbps", "bps"):
        return "rate", alone
    return None


def _cell(fields: list[str], column: _Column) -> str:
    return fields[column.index].strip()


def _time(table: _Table, fields: list[str], column: _Column, at: int) -> float:
    text = _cell(fields, column)
    if _is_number(text):
        return _number(table, text, column, at, least=-1e19) * column.factor
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        texts.fail(
            table.path, f"{column.name}: {text!r:.40} is neither a number nor a date such as 2026-01-31T12:00:00", at
        )
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _row(table: _Table, fields: list[str], columns: list[_Column], when: float, at: int) -> Row:
    values: dict[str, float] = {}
    for column in columns:
        text = _cell(fields, column)
        if column.key == "time" or text.lower() in _NONE:
            continue
        values[column.key] = _number(table, text, column, at) * column.factor
    rate, loss = values.get("rate"), values.get("loss")
    delay = values["rtt"] / 2 if "rtt" in values else values.get("delay")
    if rate is not None and rate > FASTEST_BPS:
        texts.fail(table.path, f"a rate of {rate:g} bit/s is above 1e15, the highest of a link; is its unit right?", at)
    if delay is not None and delay > LONGEST_S:
        texts.fail(table.path, f"a delay of {delay:g} s is above 480 h; is its unit right?", at)
    if loss is not None and loss > 1:
        texts.fail(table.path, f"a loss of {loss:g} is above 1; of percent write --column loss=NAME:%", at)
    return Row(when, rate, delay, loss)


def _number(table: _Table, text: str, column: _Column, at: int, least: float = 0.0) -> float:
    plain = text.replace(",", ".") if table.has_comma else text
    return texts.number(table.path, plain, column.name, line=at, least=least)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?", text.strip()) is not None
