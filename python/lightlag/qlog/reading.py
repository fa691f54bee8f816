"""Reads logs of any program in qlog: JSON text sequences, lines of JSON, and single JSON files.

The schemas are qlog 0.3 (draft-ietf-quic-qlog-main-schema-02 and -03), the current one (main-schema-14), and the lists
of events of older drafts. docs/real-packets.md describes the numbers.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from lightlag.errors import InputError
from lightlag.files.input import check_regular
from lightlag.qlog.sequence import SEPARATOR
from lightlag.qlog.trace import Trace
from lightlag.text.terminal import printable

__all__ = ["Log", "inspect", "is_log"]

_SUFFIXES = (".qlog", ".sqlog", ".json")
_MAX_RECORD = 16 << 20
"""Maximum length of a record in characters."""
_MAX_WHOLE = 128 << 20
"""Maximum size of a file that is one JSON text, in bytes. Such a file is held in memory."""
_VERSION, _SCHEMA = "qlog_version", "file_schema"


@dataclass
class Log:
    """A file: its schema, its traces, and a note if its end is missing."""

    path: Path
    schema: str
    traces: list[Trace] = field(default_factory=list)
    note: str | None = None

    @property
    def summary(self) -> dict[str, Any]:
        """All numbers, as in ``lightlag inspect --json``."""
        return {"schema": self.schema, "traces": [trace.summary for trace in self.traces]}


def is_log(path: Path) -> bool:
    """Returns true if a file starts like a log, or is named like one. Pipes are none."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            start = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return False
    return start[:1] in (SEPARATOR.encode(), b"{") or path.suffix in _SUFFIXES


def inspect(path: Path) -> Log:
    """Reads a log. The memory does not grow with the number of events, except for files that are one JSON text.

    Raises
    ------
    InputError
        If the file is not a log, or a record before the last one is damaged.
    """
    shown = printable(path)
    try:
        check_regular(path)
        with path.open(encoding="utf-8-sig", errors="strict", newline="\n") as file:
            first = _line(file, shown, 1)
            if first.startswith(SEPARATOR) or _is_header(first):
                return _sequence(path, shown, first, file)
            if path.stat().st_size > _MAX_WHOLE:
                raise InputError(
                    f"{shown}: is one JSON text of more than {_MAX_WHOLE >> 20} MiB; convert it to a sequence of "
                    "records (qlog's JSON-SEQ)"
                )
            return _whole(path, shown, first + file.read())
    except UnicodeDecodeError as error:
        raise InputError(f"{shown}: is not a log: it is not text in UTF-8 ({error.reason})") from None
    except OSError as error:
        raise InputError(f"{shown}: cannot be read: {error.strerror or error}") from None


def _line(file: IO[str], shown: str, number: int) -> str:
    """Returns the next line of a file; the empty string at its end."""
    line = file.readline(_MAX_RECORD)
    if len(line) == _MAX_RECORD:
        raise InputError(f"{shown}: line {number}: is longer than {_MAX_RECORD >> 20} Mi characters; split the record")
    return line


def _is_header(line: str) -> bool:
    """Returns true if a line is the header of a sequence of lines."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "traces" not in value and (_VERSION in value or _SCHEMA in value)


def _sequence(path: Path, shown: str, first: str, file: IO[str]) -> Log:
    """Reads a log of one record per line."""
    header = _record(first, f"{shown}: line 1")
    log = Log(path, _schema(header, f"{shown}: line 1"))
    trace = Trace(_object(header, "trace", f"{shown}: line 1"), header)
    log.traces.append(trace)
    for number in itertools.count(2):
        line = _line(file, shown, number)
        if not line:
            break
        if not line.strip(SEPARATOR + " \t\r\n"):
            continue
        place = f"{shown}: line {number}"
        try:
            event = _record(line, place)
        except InputError:
            if line.endswith("\n"):
                raise
            log.note = f"the last record, in line {number}, is incomplete"
            break
        _add(trace, event, place)
    return log


def _whole(path: Path, shown: str, text: str) -> Log:
    """Reads a log that is one JSON text."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{shown}: line {error.lineno}: is not JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{shown}: line 1: is not a log: it is nested too deeply") from None
    if not isinstance(value, dict):
        raise InputError(f"{shown}: line 1: is not a log: it is not a JSON object")
    log = Log(path, _schema(value, f"{shown}: line 1"))
    traces = value.get("traces")
    if not isinstance(traces, list):
        raise InputError(f"{shown}: line 1: traces: is missing or no list; name a file that is a log in qlog")
    for index, each in enumerate(traces):
        place = f"{shown}: traces[{index}]"
        if not isinstance(each, dict) or not isinstance(events := each.get("events"), list):
            raise InputError(f"{place}: has no list of events; name a file that is a log in qlog")
        trace = Trace(each, value)
        for at, event in enumerate(_events(each, events)):
            _add(trace, event, f"{place}.events[{at}]")
        log.traces.append(trace)
    return log


def _events(trace: Mapping[str, Any], events: Iterable[Any]) -> Iterator[Any]:
    """Yields events as objects. Older drafts list the values of an event, and name them once for the trace."""
    fields = trace.get("event_fields")
    if not isinstance(fields, list):
        yield from events
        return
    names = [str(name).lower() for name in fields]
    for values in events:
        if not isinstance(values, list):
            yield values
            continue
        event = dict(zip(names, values, strict=False))
        time = next((event[name] for name in ("relative_time", "delta_time", "time") if name in event), None)
        kind = event.get("event", event.get("event_type", event.get("name")))
        yield {"time": time, "name": f"{event.get('category', '')}:{kind}", "data": event.get("data", {})}


def _record(line: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(line.lstrip(SEPARATOR))
    except RecursionError:
        raise InputError(f"{place}: is nested too deeply") from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InputError(f"{place}: is not JSON: {reason}; name a file that is a log in qlog") from None
    if not isinstance(value, dict):
        raise InputError(f"{place}: is not a JSON object; name a file that is a log in qlog")
    return value


def _add(trace: Trace, event: Any, place: str) -> None:
    """Adds an event, whose values have to have the types of qlog."""
    if not isinstance(event, dict):
        raise InputError(f"{place}: is not a JSON object; name a file that is a log in qlog")
    time, name, data = event.get("time"), event.get("name"), event.get("data", {})
    if isinstance(time, str):
        # Some programs write times of the day as strings, to keep their digits.
        try:
            time = float(time)
        except ValueError:
            time = None
    if not isinstance(time, (int, float)) or isinstance(time, bool) or not math.isfinite(time):
        raise InputError(f"{place}: time: {event.get('time')!r:.40} is not a number of milliseconds")
    if not isinstance(name, str):
        raise InputError(f"{place}: name: {name!r:.40} is not the name of an event")
    trace.add(time, name.rpartition(":")[2], data if isinstance(data, dict) else {})


def _schema(header: Mapping[str, Any], place: str) -> str:
    version, schema = header.get(_VERSION), header.get(_SCHEMA)
    if isinstance(schema, str):
        return "current"
    if isinstance(version, str):
        return version
    raise InputError(f"{place}: has neither {_VERSION} nor {_SCHEMA}; name a file that is a log in qlog")


def _object(header: Mapping[str, Any], key: str, place: str) -> Mapping[str, Any]:
    value = header.get(key)
    if not isinstance(value, dict):
        raise InputError(f"{place}: {key}: is missing or no object; name a file that is a log in qlog")
    return value
