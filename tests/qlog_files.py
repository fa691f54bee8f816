"""An independent reader of qlog files, and the fields of the events that the drafts of qlog 0.3 define.

The reader follows RFC 7464 and draft-ietf-quic-qlog-main-schema-03. The fields follow
draft-ietf-quic-qlog-quic-events-02.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Check = Callable[[Any], bool]


@dataclass(frozen=True)
class Log:
    """A file: its header, and its events."""

    header: dict[str, Any]
    events: list[Event]

    def named(self, *names: str) -> list[Event]:
        """The events with these names."""
        return [event for event in self.events if event["name"] in names]


@cache
def read(path: Path) -> Log:
    """Reads a JSON text sequence: each record is a record separator, a JSON text and a line feed."""
    content = path.read_bytes()
    first, *records = content.split(b"\x1e")
    assert first == b"", "text before the first record separator"
    assert all(record.endswith(b"\n") and record.count(b"\n") == 1 for record in records)
    header, *events = [json.loads(record.decode("utf-8")) for record in records]
    return Log(header, events)


def whole(most: int) -> Check:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def one_of(*values: str) -> Check:
    return lambda value: value in values


def flag(value: Any) -> bool:
    return isinstance(value, bool)


U8, U16, U32, U64 = (whole(2**bits - 1) for bits in (8, 16, 32, 64))
OWNER = one_of("local", "remote")

HEADER: dict[str, Check] = {"packet_type!": one_of("1RTT"), "packet_number!": U64, "flags": U8}
RAW: dict[str, Check] = {"length!": U64, "payload_length!": U64}


def acked(value: Any) -> bool:
    return bool(value) and all(len(pair) in (1, 2) and all(map(U64, pair)) and pair[0] <= pair[-1] for pair in value)


FRAMES: dict[str, dict[str, Check]] = {
    "ack": {"acked_ranges!": acked},
    "stream": {"stream_id!": U64, "offset!": U64, "length!": U64, "fin": lambda value: value is True},
    "max_data": {"maximum!": U64},
    "ping": {},
    "connection_close": {"reason": text},
}


def frames(value: Any) -> bool:
    return isinstance(value, list) and all(
        has(FRAMES[frame["frame_type"]] | {"frame_type!": text}, frame) for frame in value
    )


def has(fields: dict[str, Check], value: Any) -> bool:
    """Whether an object has fields that are marked with ``!``, no unknown ones, and values of the right types."""
    known = {name.rstrip("!"): check for name, check in fields.items()}
    needed = {name[:-1] for name in fields if name.endswith("!")}
    return needed <= value.keys() <= known.keys() and all(known[name](value[name]) for name in value)


def of(fields: dict[str, Check]) -> Check:
    return lambda value: has(fields, value)


PACKET: dict[str, Check] = {"header!": of(HEADER), "frames": frames, "raw": of(RAW)}
SENT = one_of("retransmit_reordered", "retransmit_timeout", "pto_probe", "retransmit_crypto", "cc_bandwidth_probe")

EVENTS: dict[str, dict[str, Check]] = {
    "connectivity:connection_started": {
        "ip_version": one_of("v4", "v6"),
        "src_ip!": text,
        "dst_ip!": text,
        "protocol": text,
        "src_port": U16,
        "dst_port": U16,
    },
    "connectivity:connection_state_updated": {
        "old": one_of("attempted", "handshake_started", "handshake_confirmed", "closed"),
        "new!": one_of("attempted", "handshake_started", "handshake_confirmed", "closed"),
    },
    "connectivity:connection_closed": {"owner": OWNER, "trigger": one_of("clean", "error")},
    "transport:parameters_set": {
        "owner": OWNER,
        "initial_max_data": U64,
        # Options of TCP, which QUIC does not have.
        "max_segment_size": U16,
        "window_scale": U8,
        "sack": flag,
        "timestamps": flag,
    },
    "transport:packet_sent": PACKET | {"trigger": SENT},
    "transport:packet_received": PACKET,
    "recovery:metrics_updated": {
        **dict.fromkeys(("min_rtt", "smoothed_rtt", "latest_rtt"), number),
        **dict.fromkeys(("congestion_window", "bytes_in_flight", "ssthresh", "pacing_rate"), U64),
    },
    "recovery:congestion_state_updated": {"old": text, "new!": text},
    "recovery:packet_lost": {
        "header": of(HEADER),
        "frames": frames,
        "trigger": one_of("reordering_threshold", "time_threshold", "pto_expired"),
    },
    # An event of our own: the sender has undone a loss.
    "recovery:loss_undone": {"header!": of(HEADER)},
}

FILE: dict[str, Check] = {
    "qlog_version!": one_of("0.3"),
    "qlog_format!": one_of("JSON-SEQ"),
    "title": text,
    "description": text,
    "trace!": of(
        {
            "title": text,
            "description": text,
            "vantage_point": of({"name": text, "type!": one_of("client", "server")}),
            "common_fields": of(
                {
                    "time_format": one_of("relative"),
                    "reference_time": number,
                    "protocol_type": lambda value: value == ["TCP"],
                }
            ),
        }
    ),
}


def data_of(frames: list[dict[str, Any]]) -> tuple[int, int] | None:
    """Start and end of the data in the frames of a packet, where a FIN counts as one byte."""
    found = [frame for frame in frames if frame["frame_type"] == "stream"]
    if not found:
        return None
    [frame] = found
    return frame["offset"], frame["offset"] + frame["length"] + frame.get("fin", False)


def acked_by(event: Event) -> list[int]:
    """The numbers of the packets that a packet acknowledges."""
    return [
        number
        for frame in event["data"]["frames"]
        if frame["frame_type"] == "ack"
        for pair in frame["acked_ranges"]
        for number in range(pair[0], pair[-1] + 1)
    ]
