"""The numbers of a trace in qlog, which are summed event by event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lightlag.text.quantities import milliseconds, number, share, size
from lightlag.text.table import Row

__all__ = ["Trace", "trace_rows"]

_METRICS = ("metrics_updated", "recovery_metrics_updated", "metric_update")
"""Names of the event in qlog 0.3, in the current schema and in older drafts."""
_MAX_STREAMS = 1 << 20
"""Maximum number of streams whose repeated data is counted."""
_KNOWN = {"packet_sent", "packet_received", "packet_lost", "packet_dropped", *_METRICS}


class Trace:
    """Counts and metrics of one endpoint of a connection.

    Parameters
    ----------
    about
        The object of the trace: names, and the format of times.
    header
        The object of the file.
    """

    def __init__(self, about: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        vantage, common = _object(about, "vantage_point"), _object(about, "common_fields")
        self.title = _text(about.get("title")) or _text(header.get("title"))
        self.name = _text(vantage.get("name"))
        self.side = _text(vantage.get("type")) or "unknown"
        kind = common.get("time_format")
        self._is_step = kind in ("delta", "relative_to_previous_event")
        units = _object(about, "configuration").get("time_units")
        # Drafts before 0.3 permitted microseconds.
        self._unit_s = 1e-6 if units == "us" else 1e-3
        self._now = 0.0
        self._first_s: float | None = None
        self._last_s = 0.0
        self._packets = dict.fromkeys(("sent", "received", "lost", "dropped"), 0)
        self._bytes = dict.fromkeys(("sent", "received"), 0)
        self._events = self._others = 0
        self._rtt: dict[str, float | None] = dict.fromkeys(("min", "smoothed", "latest"))
        self._max_window: int | None = None
        self._ends: dict[int, int] = {}
        self._data = self._repeated = 0
        self._has_data = False

    def add(self, time: float, name: str, data: Mapping[str, Any]) -> None:
        """Adds an event.

        Parameters
        ----------
        time
            Its time in the unit and the format of the trace.
        name
            Its name without category.
        """
        self._now = self._now + time if self._is_step else time
        at_s = self._now * self._unit_s
        self._first_s = at_s if self._first_s is None else min(self._first_s, at_s)
        self._last_s = at_s if self._events == 0 else max(self._last_s, at_s)
        self._events += 1
        self._others += name not in _KNOWN
        if name in _METRICS:
            self._measure(data)
        elif name in _KNOWN:
            kind = name.removeprefix("packet_")
            self._packets[kind] += 1
            if kind in self._bytes:
                self._bytes[kind] += _length(data)
            if kind == "sent":
                self._carry(data.get("frames"))

    def _measure(self, data: Mapping[str, Any]) -> None:
        scale = self._unit_s
        for kind, key in (("smoothed", "smoothed_rtt"), ("latest", "latest_rtt")):
            if (value := _number(data.get(key))) is not None:
                self._rtt[kind] = value * scale
        for key in ("min_rtt", "latest_rtt"):
            value = _number(data.get(key))
            if value is not None and value > 0 and (self._rtt["min"] is None or value * scale < self._rtt["min"]):
                self._rtt["min"] = value * scale
        window = _number(data.get("congestion_window", data.get("cwnd")))
        if window is not None:
            self._max_window = max(int(window), self._max_window or 0)

    def _carry(self, frames: Any) -> None:
        """Counts the data of streams in a packet that is sent. Data below the highest offset so far is repeated."""
        for frame in frames if isinstance(frames, list) else ():
            if not isinstance(frame, dict) or frame.get("frame_type") != "stream":
                continue
            length = _number(_object(frame, "raw").get("payload_length", frame.get("length")))
            stream, start = _number(frame.get("stream_id")), _number(frame.get("offset", 0))
            if length is None or stream is None or start is None:
                continue
            self._has_data = True
            top = self._ends.get(int(stream), 0)
            self._data += int(length)
            self._repeated += max(0, min(int(length), top - int(start)))
            if stream in self._ends or len(self._ends) < _MAX_STREAMS:
                self._ends[int(stream)] = max(top, int(start + length))

    @property
    def summary(self) -> dict[str, Any]:
        """All numbers; None where the trace has none."""
        return {
            "title": self.title,
            "name": self.name,
            "side": self.side,
            "duration_s": 0.0 if self._first_s is None else self._last_s - self._first_s,
            "events": self._events,
            "other_events": self._others,
            **{f"packets_{kind}": count for kind, count in self._packets.items()},
            **{f"bytes_{kind}": count for kind, count in self._bytes.items()},
            "stream_bytes": self._data if self._has_data else None,
            "repeated_bytes": self._repeated if self._has_data else None,
            "min_rtt_s": self._rtt["min"],
            "smoothed_rtt_s": self._rtt["smoothed"],
            "latest_rtt_s": self._rtt["latest"],
            "max_cwnd_bytes": self._max_window,
        }


def trace_rows(traces: Iterable[Trace]) -> list[Row]:
    """Returns a row of a table for each trace."""
    rows = []
    for index, trace in enumerate(traces):
        found = trace.summary
        data, sent = found["stream_bytes"], found["packets_sent"]
        rows.append(
            {
                "#": str(index),
                "endpoint": " ".join(filter(None, (trace.name, f"({trace.side})"))),
                "duration": f"{number(found['duration_s'])} s",
                "sent": f"{sent:,}",
                "received": f"{found['packets_received']:,}",
                "lost": f"{found['packets_lost']:,}",
                "bytes sent": size(found["bytes_sent"]),
                "bytes received": size(found["bytes_received"]),
                "retransmitted": share(found["repeated_bytes"], data) if data else "–",
                "RTT, minimum": _time(found["min_rtt_s"]),
                "smoothed RTT": _time(found["smoothed_rtt_s"]),
                "max cwnd": "–" if found["max_cwnd_bytes"] is None else size(found["max_cwnd_bytes"]),
            }
        )
    return rows


def _time(value: float | None) -> str:
    return "–" if value is None else milliseconds(value)


def _length(data: Mapping[str, Any]) -> int:
    """Returns the length of a packet in bytes; 0 if it is not logged."""
    header = _object(data, "header")
    found = _number(_object(data, "raw").get("length", header.get("packet_size", data.get("packet_size"))))
    return 0 if found is None else int(found)


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _number(value: Any) -> float | None:
    """Returns a number, which some programs write as a string; None for anything else."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 1 << 64 else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
