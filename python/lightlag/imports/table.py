"""Tables of measurements: columns of any name, unit and order, with any common separator.

A cell without a value has the value of the row before it. In a column of round trips, an empty cell or a value below
zero is a probe without a reply; the fraction of such probes becomes the loss of both directions. In a table that also
has round trips, a loss column is the loss of round trips. Rows are sorted by their times. Rates, delays, losses and
times may have a column for each direction.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from lightlag.errors import InputError
from lightlag.imports import ping, texts, times
from lightlag.imports.found import FASTEST_BPS, LONGEST_S, Found, Measured, Options, Row, Side
from lightlag.imports.sample import Sample
from lightlag.text.terminal import printable

__all__ = ["ABOUT", "known_columns", "read", "recognises"]

ABOUT = "a table with times and any of rate, delay, RTT and loss"

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
"""Units whose meaning depends on the case of a letter."""
_SHARES = {"%": 0.01, "percent": 0.01, "pct": 0.01, "share": 1.0, "1": 1.0}
_RATE_KEYS = ("rate", "down", "up")
_TIME_KEYS = ("time", "down_time", "up_time")
_DELAY_KEYS = ("delay", "down_delay", "up_delay")
_LOSS_KEYS = ("loss", "down_loss", "up_loss")
_UNITS = {
    "time": _TIMES | dict.fromkeys(times.FORMS, 1.0),
    **dict.fromkeys(_RATE_KEYS, _RATES),
    "delay": _TIMES,
    "rtt": _TIMES,
    "loss": _SHARES,
    **dict.fromkeys(("down_time", "up_time"), _TIMES | dict.fromkeys(times.FORMS, 1.0)),
    **dict.fromkeys(("down_delay", "up_delay"), _TIMES),
    **dict.fromkeys(("down_loss", "up_loss"), _SHARES),
}
"""Units of each key of ``--column``."""
_USUAL = dict.fromkeys(_TIME_KEYS, "s") | dict.fromkeys(_LOSS_KEYS, "share")
_EXAMPLES = {
    **dict.fromkeys((*_TIME_KEYS, *_DELAY_KEYS, "rtt"), "ms"),
    **dict.fromkeys(_RATE_KEYS, "Mbit/s"),
    **dict.fromkeys(_LOSS_KEYS, "%"),
}
_OF_TIMES = frozenset({"utc", "gmt", "unix", "epoch", "start", "begin", "time", "timestamp", "ts", "date", "datetime"})
"""Words that the name of a time column consists of, perhaps next to the name of a direction."""
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
        "datarate",
    },
    "down": {"down", "dl", "download", "downlink", "downstream", "downloadrate", "dlrate", "rx", "downlinkthroughput"},
    "up": {"up", "ul", "upload", "uplink", "upstream", "uploadrate", "ulrate", "tx", "uplinkthroughput"},
    "delay": {"delay", "latency", "owd", "onewaydelay"},
    "rtt": {
        "rtt",
        "ping",
        "roundtrip",
        "roundtriptime",
        "srtt",
        "pinglatency",
        "poppinglatency",
        "pingavg",
        "avgrtt",
        "rttavg",
    },
    "loss": {"loss", "lossrate", "plr", "per", "packetloss", "packetlossrate", "lost", "poppingdroprate", "droprate"},
}
_OUT_OF_ORDER = 0.2
"""Minimum fraction of rows that go back in time which indicates an unsorted file rather than several runs."""
_NUMBER = re.compile(r"[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_NONE = {"", "-", "nan", "na", "n/a", "null", "none", "inf", "timeout", "lost", "*"}
_SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class _Column:
    """A column with its meaning."""

    key: str
    index: int
    name: str
    factor: float
    unit: str | None = None
    """The unit as given; None if it was assumed."""


@dataclass(frozen=True)
class _Table:
    path: Path
    header: list[str]
    rows: list[tuple[int, list[str]]]
    has_comma: bool
    """Whether numbers have a decimal comma."""
    missing: frozenset[str]
    """Texts that mark a cell without a value."""

    missing_numbers: frozenset[float]

    def cell(self, fields: list[str], column: _Column) -> str | None:
        """Returns the text of a cell; None if it holds no value."""
        text = fields[column.index].strip()
        if text.lower() in self.missing:
            return None
        if self.missing_numbers and column.key != "time" and _is_number(text):
            return None if float(text.replace(",", ".")) in self.missing_numbers else text
        return text


def recognises(sample: Sample) -> bool:
    """Returns true for rows of equal length with numbers in them, or with a header that names a time and a value."""
    lines = [line for line in sample.lines if not line.startswith("#")][:20]
    if not lines:
        return False
    separator = _separator(lines)
    try:
        rows = [line.split() if separator == " " else next(csv.reader([line], delimiter=separator)) for line in lines]
    except (csv.Error, StopIteration):
        return False
    named = {guess[0] for name in rows[0] if (guess := _guessed(name)) is not None}
    if "time" in named and (len(named) > 1 or separator != " ") and len(rows[0]) > 1:
        return True
    width = len(rows[0])
    if len(rows) < 2 or width < 2 or sum(len(row) == width for row in rows) < 0.9 * len(rows):
        return False
    # Without a name for the time: numbers, under a header or without one.
    cells = [cell for row in rows[1:] for cell in row]
    numbers = sum(_is_number(cell) for cell in cells)
    return numbers == len(cells) or (separator != " " and numbers >= 0.5 * len(cells))


def known_columns(path: Path, given: tuple[str, ...]) -> tuple[str, ...]:
    """Returns those ``KEY=COLUMN:UNIT`` whose column is in a table."""
    header = _table(path, ()).header
    names = ((text, text.partition("=")[2].strip()) for text in given)
    return tuple(text for text, name in names if name in header or name.rpartition(":")[0].strip() in header)


def read(path: Path, options: Options) -> Found:
    """Returns the rows of a table, starting at its first time."""
    table = _table(path, options.missing)
    columns = {column.key: column for column in _columns(table, options.columns)}
    # A column that holds both times of a table without a common one is named once.
    named = {column.index: f"{key}: column {column.name}" for key, column in reversed(columns.items())}
    found = Found(f"A table with {len(table.rows)} rows; {', '.join(reversed(named.values()))}.")
    probed = [columns[key] for key in ("rtt", *_DELAY_KEYS) if key in columns]
    for column in probed:
        _check_zeros(table, column)
    stamps = {key: _times(table, columns[key], found) for key in _TIME_KEYS if key in columns}
    values = [_values(table, fields, columns, at) for at, fields in table.rows]
    for column in probed:
        if len(columns) == 2 and all(row[column.key] is None for row in values):
            texts.fail(
                path, f"column {column.name} has no value, as no probe received a reply; name another with --column"
            )
    origin = _origin(table, columns, stamps, found)
    series = _Series(table, columns, stamps, values, origin)
    ways = [way for way in ("down", "up") if any(key in columns for key in (way, f"{way}_delay", f"{way}_loss"))]
    if ways:
        _directions(found, series, ways)
    else:
        found.rows = series.rows("")
    if series.is_unsorted:
        found.notes.append("The rows of the file are not in the order of time; they are sorted.")
    _sum_up(path, found, columns)
    _lose(found, columns, values)
    return found


def _origin(table: _Table, columns: dict[str, _Column], stamps: dict[str, list[float | None]], found: Found) -> float:
    """Returns the first time of a table, after a check of the others."""
    known = [stamp for times_ in stamps.values() for stamp in times_ if stamp is not None]
    if not known:
        texts.fail(table.path, f"column {columns['time'].name} has no time; name another with --column time=NAME:s")
    origin = min(known)
    if origin > times.FIRST_EPOCH_S:
        found.origin_s = origin
    for key, times_ in stamps.items():
        for (at, _), stamp in zip(table.rows, times_, strict=True):
            if stamp is not None and stamp - origin > LONGEST_S:
                texts.fail(
                    table.path,
                    f"{columns[key].name}: {stamp - origin:g} s after the first row is above 480 h; is its unit right?",
                    at,
                )
    return origin


@dataclass
class _Series:
    """The rows of a table with their times."""

    table: _Table
    columns: dict[str, _Column]
    stamps: dict[str, list[float | None]]
    values: list[dict[str, float | None]]
    origin: float
    is_unsorted: bool = False
    """Whether rows that were returned were not in the order of time."""

    def rows(self, way: str) -> list[Row]:
        """Returns the rows of a direction, or of both for an empty name, in the order of time."""
        key = f"{way}_time" if f"{way}_time" in self.columns else "time"
        own = [name for name in (way, f"{way}_delay", f"{way}_loss") if name in self.columns]
        rows = []
        for (at, _), stamp, values in zip(self.table.rows, self.stamps[key], self.values, strict=True):
            if stamp is None:
                if key == "time" or any(values[name] is not None for name in own):
                    name = self.columns[key].name
                    texts.fail(self.table.path, f"{name}: has no time; remove the row or fill it in", at)
                continue
            time_s = stamp - self.origin
            # A number of seconds since 1970 has a resolution of 0.2 µs.
            rows.append(self._row(way, round(time_s, 6) if self.origin > times.FIRST_EPOCH_S else time_s, values))
        if any(row.time_s < before.time_s for before, row in pairwise(rows)):
            self.is_unsorted = True
            rows.sort(key=lambda row: row.time_s)
        if len(rows) > 1 and rows[0].time_s == rows[-1].time_s:
            name = self.columns[key].name
            texts.fail(
                self.table.path, f"{name}: all rows have the same time; name another column with --column {key}="
            )
        return rows

    def _row(self, way: str, time_s: float, values: dict[str, float | None]) -> Row:
        rtt, loss = values.get("rtt"), values.get("loss")
        delay = values.get("delay") if rtt is None else rtt / 2
        if loss is not None and "rtt" in values:
            # Both directions of a round trip may lose a packet.
            loss = 1 - (1 - loss) ** 0.5
        if f"{way}_delay" in values:
            delay = values[f"{way}_delay"]
        if f"{way}_loss" in values:
            loss = values[f"{way}_loss"]
        return Row(time_s, values.get(way if way in values else "rate"), delay, loss)


def _lose(found: Found, columns: dict[str, _Column], values: list[dict[str, float | None]]) -> None:
    """Sets the loss of each direction from the fraction of probes without a reply."""
    sides: dict[str, Side] = {"down_delay": "backward", "up_delay": "forward"}
    for key in ("rtt", *_DELAY_KEYS):
        lost = sum(row[key] is None for row in values) if key in columns else 0
        if not lost or "loss" in columns or key.replace("_delay", "_loss") in columns.keys() - {key}:
            continue
        share = lost / len(values)
        each = Measured(share, f"{share:.3g} of the probes did not arrive")
        if key == "rtt":
            ping.losses(found, share)
        elif key == "delay":
            found.loss = {"forward": each, "backward": each}
        else:
            found.loss[sides[key]] = each


def _directions(found: Found, series: _Series, ways: list[str]) -> None:
    """Assigns the values of its columns to each direction: up is from the client to the server.

    The flow is a download, unless only the upload has a rate.
    """
    rated = [way for way in ("down", "up") if way in series.columns]
    key = rated[0] if rated else "down"
    missing = "up" if key == "down" else "down"
    found.is_backward = key == "down"
    found.side = "backward" if found.is_backward else "forward"
    found.rows = series.rows(key)
    other = Found("", side="forward" if found.is_backward else "backward", has_flow=False)
    other.rows = series.rows(missing)
    if len(rated) == 1 and "rate" not in series.columns:
        found.notes.append(
            f"The file has the rate of one direction; the other has the maximum at all times. Name its column with "
            f"--column {missing}=NAME:UNIT."
        )
    if len(rated) == 2 and (rates := [row.rate_bps for row in other.rows if row.rate_bps]):
        other.rate = Measured(max(rates), f"the maximum of column {series.columns['up'].name}")
    if len(rated) == 2 or any(row != Row(row.time_s) for row in other.rows):
        found.other = other


def _sum_up(path: Path, found: Found, columns: dict[str, _Column]) -> None:
    others = [] if found.other is None else found.other.rows
    rates = [row.rate_bps for row in found.rows if row.rate_bps]
    delays = [row.delay_s for row in [*found.rows, *others] if row.delay_s is not None]
    losses = [row.loss for row in [*found.rows, *others] if row.loss is not None]
    if not rates and not delays and not losses and found.other is None:
        texts.fail(path, "no row has a rate, a delay or a loss: the link would never change; name another column")
    if rates:
        column = next(columns[key] for key in _RATE_KEYS if key in columns)
        found.rate = Measured(max(rates), f"the maximum of column {column.name}; the trace replaces it")
        if found.side is None:
            found.notes.append(
                "Both directions have this rate; if they differ, name them with --column down=NAME:UNIT and "
                "up=NAME:UNIT."
            )
    if delays:
        column = next(columns[key] for key in ("rtt", "delay", "down_delay", "up_delay") if key in columns)
        halved = "half of " if column.key == "rtt" else ""
        found.delay = Measured(delays[0], f"{halved}the first of column {column.name}; the trace replaces it")
    if losses and "rtt" in columns and "loss" in columns:
        found.notes.append(
            "The loss is measured over round trips: each direction gets the loss that results in it for both."
        )
    found.duration_s = max(row.time_s for row in [*found.rows, *others]) + 1


def _table(path: Path, missing: tuple[str, ...]) -> _Table:
    kept = [(at, line) for at, line in texts.lines(path) if not line.lstrip().startswith("#")]
    if not kept:
        texts.fail(path, "has no rows; name a file with measurements in it")
    separator = _separator([line for _, line in kept[:20]])
    rows = list(_split(path, kept, separator))
    header = rows[0][1]
    if all(_is_number(field) for field in header):
        header, body = [str(at) for at in range(1, len(header) + 1)], rows
    else:
        body = rows[1:]
    if not body:
        texts.fail(path, "has a header and no rows; name a file with measurements in it", rows[0][0])
    for at, fields in body:
        if len(fields) != len(header):
            texts.fail(path, f"{len(fields)} fields where the header has {len(header)}", at)
    none = frozenset(_NONE | {one.strip().lower() for one in missing if not _is_number(one)})
    numbers = frozenset(float(one.replace(",", ".")) for one in missing if _is_number(one))
    return _Table(path, [name.strip() for name in header], body, separator != ",", none, numbers)


def _separator(lines: list[str]) -> str:
    """Returns the separator that occurs equally often in each of the first lines; otherwise blanks."""
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
            texts.fail(path, f"is not a row of a table: {error}", at)


def _columns(table: _Table, given: tuple[str, ...]) -> list[_Column]:
    columns = {column.key: column for column in (_given(table, text) for text in given)}
    if len(columns) < len(given):
        raise InputError(f"--column: names a key twice; give each of {', '.join(_UNITS)} once")
    given_indices = {column.index for column in columns.values()}
    has_clock = "time" in {name.lower() for name in table.header}
    for index, name in enumerate(table.header):
        if (guess := _guessed(name)) is None or guess[0] in columns or index in given_indices:
            continue
        if name.lower() == "date" and has_clock:
            # The time of day is next to it.
            continue
        key, unit = guess
        if unit is None and key not in _USUAL:
            texts.fail(table.path, f'column "{name}" has no unit; write --column {key}={name}:{_EXAMPLES[key]}', 1)
        if key in _RATE_KEYS and "rate" in columns and columns["rate"].index in given_indices:
            # The user named the only rate.
            continue
        if key in _TIME_KEYS and "time" in columns and columns["time"].index in given_indices:
            # The user named the only time.
            continue
        columns[key] = _Column(key, index, name, _factor(key, unit or _USUAL[key]) or 1.0, unit)
    shown = ", ".join(f"{printable(name):.60}" for name in table.header[:12])
    of_way = next((columns[key] for key in ("down_time", "up_time") if key in columns), None)
    if "time" not in columns and of_way is not None:
        columns["time"] = replace(of_way, key="time")
    if "time" not in columns:
        texts.fail(table.path, f"no column is a time; there are {shown}; write --column time=NAME:s", 1)
    if "delay" in columns and "rtt" in columns:
        # The delay is what a link has.
        del columns["rtt"]
    if all(key in _TIME_KEYS for key in columns):
        texts.fail(
            table.path,
            f"no column is a rate, a delay, an RTT or a loss; there are {shown}; write --column rate=NAME:Mbit/s",
            1,
        )
    for name in (column.name for column in columns.values()):
        if table.header.count(name) > 1:
            texts.fail(table.path, f'the column "{printable(name)}" is duplicated; rename one', 1)
    return list(columns.values())


def _given(table: _Table, text: str) -> _Column:
    key, separator, rest = (part.strip() for part in text.partition("="))
    shown = f"{printable(text):.60}"
    if not separator or not rest:
        raise InputError(f"--column {shown}: is not KEY=COLUMN:UNIT; write for example rate=rate_mbps:Mbit/s")
    if key not in _UNITS:
        raise InputError(f'--column {shown}: "{printable(key):.60}" is not one of {", ".join(_UNITS)}')
    name, unit = rest, None
    if rest not in table.header:
        name, _, unit = (part.strip() for part in rest.rpartition(":"))
    if unit is None or not name:
        name, unit = rest, (_guessed(rest) or (key, None))[1] or _USUAL.get(key)
    factor = None if unit is None else _factor(key, unit)
    if factor is None:
        known = ", ".join(dict.fromkeys([_EXAMPLES[key], *list(_UNITS[key])[:6]]))
        raise InputError(
            f"--column {shown}: {printable(unit or 'nothing')!r:.60} is not a unit of {key}; write one of {known}"
        )
    if name not in table.header:
        shown_names = ", ".join(f"{printable(one):.60}" for one in table.header[:12])
        raise InputError(
            f'--column {shown}: {printable(table.path)} has no column "{printable(name):.60}"; there are {shown_names}'
        )
    return _Column(key, table.header.index(name), name, factor, unit)


def _factor(key: str, unit: str) -> float | None:
    if key in _RATE_KEYS and unit in _RATES_OF_BYTES:
        return _RATES_OF_BYTES[unit]
    return _UNITS[key].get(unit) or _UNITS[key].get(unit.lower())


def _guessed(name: str) -> tuple[str, str | None] | None:
    """Returns the key that matches the name of a column, and its unit."""
    words = [word for word in re.split(r"[\s_\-()\[\]]+", name) if word]
    if not words:
        return None
    for count in (len(words), len(words) - 1):
        stem, unit = "".join(words[:count]).lower(), words[count] if count < len(words) else None
        for key, names in _NAMES.items():
            if stem in names and (unit is None or _factor(key, unit) is not None):
                return key, unit
        key_ = _of_words([word.lower() for word in words[:count]])
        if key_ is not None and (unit is None or _factor(key_, unit) is not None):
            return key_, unit
    alone = words[-1]
    if len(words) == 1 and alone.lower() in ("mbps", "kbps", "gbps", "bps"):
        return "rate", alone
    return None


def _of_words(words: list[str]) -> str | None:
    """Returns the key of a name with a direction, such as upload_delay or utc_start_download, or of several words.

    Examples
    --------
    >>> _of_words(["utc", "start", "download"]), _of_words(["uplink", "delay"]), _of_words(["unix", "time"])
    ('down_time', 'up_delay', 'time')
    """
    if words and _OF_TIMES.issuperset(words):
        return "time"
    for at, word in enumerate(words):
        way = next((way for way in ("down", "up") if word in _NAMES[way]), None)
        rest = words[:at] + words[at + 1 :]
        if way is None or not rest:
            continue
        if _OF_TIMES.issuperset(rest):
            return f"{way}_time"
        stem = "".join(rest)
        if stem in _NAMES["rate"]:
            return way
        for key in ("delay", "loss"):
            if stem in _NAMES[key]:
                return f"{way}_{key}"
    return None


def _check_zeros(table: _Table, rtt: _Column) -> None:
    """Fails if some round trips are exactly 0, but not all: some programs write 0 for probes without a reply."""
    cells = [(at, table.cell(fields, rtt)) for at, fields in table.rows]
    values = [(at, float(text.replace(",", "."))) for at, text in cells if text is not None and _is_number(text)]
    zeros = [at for at, value in values if value == 0]
    if zeros and any(value * rtt.factor >= 1e-3 for _, value in values):
        texts.fail(
            table.path,
            f"{rtt.name}: 0 is not a valid round trip; for a probe without a reply write --missing 0",
            zeros[0],
        )


def _times(table: _Table, column: _Column, found: Found) -> list[float | None]:
    """Returns the time of every row in seconds; None for a cell without one."""
    cells = [(at, table.cell(fields, column)) for at, fields in table.rows]
    factor = _time_factor(table, column, [text for _, text in cells if text is not None], found)
    order = {"d/m/y": True, "m/d/y": False}.get(column.unit or "")
    order = times.day_first([text for _, text in cells if text]) if order is None else order
    stamps: list[float | None] = []
    added, last, zoned = 0.0, None, None
    for at, text in cells:
        if text is None:
            stamps.append(None)
            continue
        if factor is not None and _is_number(text) and not (column.unit is None and times.DIGITS.fullmatch(text)):
            stamps.append(_number(table, text, column, at, least=-1e20) * factor)
            continue
        now = _instant(table, column, text, order, at)
        if zoned is None:
            zoned = times.has_zone(text)
        elif times.has_zone(text) != zoned:
            others = "the rows before have one" if zoned else "the rows before have none"
            state = "has no time zone" if zoned else "has a time zone"
            texts.fail(table.path, f"{column.name}: {text!r:.40} {state}, and {others}; write it in all rows", at)
        if ":" in text and now < 2 * 86_400 and last is not None:
            added += times.after_midnight(last, now)
        last = now
        stamps.append(now + added)
    _check_restart(table, column, stamps)
    return stamps


def _check_restart(table: _Table, column: _Column, stamps: list[float | None]) -> None:
    """Fails if times that count from the start of a measurement start again: the file has several runs.

    Rows of one run that are out of order go back by less than half of the time, or often.
    """
    known = [(at, stamp) for (at, _), stamp in zip(table.rows, stamps, strict=True) if stamp is not None]
    if not known or known[0][1] > times.FIRST_EPOCH_S:
        return
    backward = [(at, before, now) for (_, before), (at, now) in pairwise(known) if now < before]
    if not backward or len(backward) > _OUT_OF_ORDER * (len(known) - 1):
        return
    first = known[0][1]
    for at, before, now in backward:
        if before - now > 0.5 * (before - first):
            texts.fail(
                table.path,
                f"{column.name}: {now / column.factor:g} goes back in time from {before / column.factor:g}; if the "
                "file has several runs, keep one, otherwise sort the rows",
                at,
            )


def _time_factor(table: _Table, column: _Column, texts_: list[str], found: Found) -> float | None:
    """Returns the unit of a time column in seconds; None if its values are not numbers."""
    numbers = [float(text.replace(",", ".")) for text in texts_[:1] if _is_number(text)]
    if not numbers:
        return None
    epoch = times.epoch_factor(numbers[0] * column.factor)
    if epoch is None:
        return column.factor
    factor, name = epoch
    if column.unit is not None and column.unit in _TIMES and column.factor >= 1.0:
        unit = {"nanoseconds": "ns", "microseconds": "us", "milliseconds": "ms"}[name]
        texts.fail(
            table.path,
            f"{column.name}: {numbers[0]:g} s since 1970 is far in the future; for {name} write "
            f"--column time={column.name}:{unit}",
        )
    if column.unit is None:
        found.notes.append(f"Column {column.name} holds {name} since 1970.")
        return factor
    return column.factor


def _instant(table: _Table, column: _Column, text: str, is_day_first: bool | None, at: int) -> float:
    def ask() -> None:
        texts.fail(
            table.path,
            f"{column.name}: {text!r:.40} may start with the day or the month; write "
            f"--column time={column.name}:d/m/y or :m/d/y",
            at,
        )

    found = times.instant(text, is_day_first=is_day_first, ask=ask)
    if found is None:
        texts.fail(
            table.path, f"{column.name}: {text!r:.40} is neither a number nor a date such as 2026-01-31T12:00:00", at
        )
    return found


def _values(table: _Table, fields: list[str], columns: dict[str, _Column], at: int) -> dict[str, float | None]:
    """Returns the values of a row in bit/s, seconds and fractions; None where it has none."""
    values: dict[str, float | None] = {}
    for key, column in columns.items():
        if key in _TIME_KEYS:
            continue
        text = table.cell(fields, column)
        # A round trip or delay below zero is a probe without a reply.
        is_probe = key == "rtt" or key in _DELAY_KEYS
        value = None if text is None else _number(table, text, column, at, least=-1e18) * column.factor
        if value is not None and value < 0 and not is_probe:
            remedy = f"if it stands for no value, write --missing {text}"
            texts.fail(table.path, f"{column.name}: {value / column.factor:g} is below 0; {remedy}", at)
        values[key] = None if value is not None and value < 0 else value
    for key in _RATE_KEYS:
        rate = values.get(key)
        if rate is not None and rate > FASTEST_BPS:
            texts.fail(
                table.path, f"a rate of {rate:g} bit/s is above 1e15, the highest of a link; is its unit right?", at
            )
    for key in (*_DELAY_KEYS, "rtt"):
        delay = values.get(key)
        if delay is not None and delay > LONGEST_S:
            texts.fail(table.path, f"a delay of {delay:g} s is above 480 h; is its unit right?", at)
    for key in _LOSS_KEYS:
        loss = values.get(key)
        if loss is not None and loss > 1:
            texts.fail(table.path, f"a loss of {loss:g} is above 1; of percent write --column {key}=NAME:%", at)
    return values


def _number(table: _Table, text: str, column: _Column, at: int, least: float = 0.0) -> float:
    plain = text.replace(",", ".") if table.has_comma else text
    return texts.number(table.path, plain, column.name, line=at, minimum=least)


def _is_number(text: str) -> bool:
    # `strip` alone removes separators of files (U+001C to U+001F) that `float` rejects.
    return len(text) <= 100 and _NUMBER.fullmatch(text.strip(" \t\r\n")) is not None
