"""Measurements by irtt: as JSON (``irtt client -o``), or as the program prints them.

The text has a line ``seq=1 rtt=20.1ms rd=10.2ms sd=9.9ms ipdv=211µs`` for each reply, and counts of packets at its end.
It has no times: a probe is sent at each interval.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lightlag.imports import texts, times
from lightlag.imports.found import Found, Measured, Options, Side
from lightlag.imports.ping import delays, losses
from lightlag.imports.sample import Sample

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "a measurement by irtt as JSON or text"
_REPLY = re.compile(r"\bseq=(?P<seq>\d{1,10})\s+rtt=(?P<rtt>\S+)\s.*\b(?:rd|sd|ipdv)=", re.ASCII)
_LOOSE = re.compile(r"\bseq=\S*\s+rtt=|\bseq=.*\b(?:rd|sd|ipdv)=")
"""Matches a reply, even if it is damaged."""
_COUNTS = re.compile(r"packets sent/received:\s*(\d{1,10})/(\d{1,10})")
_SERVER = re.compile(r"server packets received:.*\(([\d.]+)%/([\d.]+)% loss up/down\)")
_DURATION = re.compile(r"\bduration:\s*(\S+)\s+\(wait (\S+)\)")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|µs|μs|ms|s|m|h)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}

_LOST: tuple[tuple[Side, str], ...] = (
    ("forward", "upstream_loss_percent"),
    ("backward", "downstream_loss_percent"),
)


def recognises(sample: Sample) -> bool:
    """Returns True for JSON with the keys of irtt, and for its replies as text."""
    text = sample.text
    if any(_REPLY.search(line) for line in sample.lines):
        return True
    return text.lstrip().startswith("{") and any(key in text for key in ('"irtt', '"round_trips"', '"send_call"'))


def read(path: Path, options: Options) -> Found:
    """Returns the delay over time, and the losses of each direction if the server counted packets."""
    if not texts.text(path).lstrip().startswith("{"):
        return _read_text(path, options)
    test = texts.parsed(path)
    trips = texts.member(path, test, "round_trips")
    if not isinstance(trips, list):
        texts.fail(path, "is JSON, but not a measurement by irtt: it has no round_trips; write it with irtt client -o")
    probes, first, origin = [], None, None
    for at, trip in enumerate(trips):
        rtt = texts.member(path, trip, "delay", "rtt")
        if rtt is None:
            continue
        sent = _sent(path, trip, at)
        if first is None or sent < first:
            first, origin = sent, texts.member(path, trip, "timestamps", "client", "send", "wall")
        probes.append((sent, texts.round_trip(path, rtt, 1e-9, f"round_trips[{at}].delay.rtt")))
    if first is None:
        texts.fail(
            path, f"none of {len(trips)} probes received a reply: there is no round trip; repeat the measurement"
        )
    found = Found(f"{len(probes)} replies to {len(trips)} probes of irtt.")
    delays(path, found, [(when - first, rtt) for when, rtt in probes])
    if isinstance(origin, (int, float)) and origin > times.FIRST_EPOCH_S * 1e9:
        found.origin_s = origin / 1e9
    _losses(path, test, found, 1 - len(probes) / len(trips))
    return found


def _read_text(path: Path, options: Options) -> Found:
    """Returns the delay over time of the replies, and the losses according to the summary."""
    lines = texts.short_lines(path)
    replies: dict[int, float] = {}
    sent, received, ways, length_s = None, None, None, None
    for at, line in lines:
        if _LOOSE.search(line) and not _REPLY.search(line) and at != lines[-1][0]:
            texts.fail(
                path, f"{line.strip()!r:.80} is not a reply such as seq=0 rtt=20.1ms rd=...; remove the line", at
            )
        if reply := _REPLY.search(line):
            # A second reply is a duplicate.
            replies.setdefault(int(reply["seq"]), _round_trip(path, reply["rtt"], at))
        elif server := _SERVER.search(line):
            ways = tuple(_share(path, text, at) for text in (server[1], server[2]))
        elif counts := _COUNTS.search(line):
            sent, received = int(counts[1]), int(counts[2])
            if received > sent:
                texts.fail(path, f"{received} replies to {sent} packets: the summary is inconsistent; remove it", at)
        elif duration := _DURATION.search(line):
            length_s = _duration(path, duration[1], at) - _duration(path, duration[2], at)
    if not replies:
        texts.fail(
            path, "has no reply of irtt, such as seq=0 rtt=20.1ms rd=...; run irtt client without -q, or with -o"
        )
    # Without its summary and its first lines, a file starts with a later number.
    probes = max(sent or 0, max(replies) + 1 - (0 if sent else min(replies)))
    interval_s = options.interval_s
    if interval_s is None and length_s is not None and length_s > 0 and sent is not None and sent > 1:
        interval_s = float(f"{length_s / (sent - 1):.2g}")
    found = Found(f"{len(replies)} replies to {probes} probes of irtt.")
    start = min(replies)
    interval_s = interval_s or 1.0
    delays(path, found, [((number - start) * interval_s, rtt) for number, rtt in replies.items()])
    found.notes.append(f"The text has no times: the probes were sent every {interval_s:g} s.")
    if ways is not None:
        for (side, _), share in zip(_LOST, ways, strict=True):
            if share > 0:
                found.loss[side] = Measured(share, "the summary of irtt")
    elif len(replies) < probes:
        losses(found, 1 - len(replies) / probes)
    return found


def _share(path: Path, percent: str, at: int) -> float:
    share = texts.number(path, percent, "the loss", line=at) / 100
    if share > 1:
        texts.fail(path, f"a loss of {percent} % is above 100 %; remove the line", at)
    return share


def _round_trip(path: Path, text: str, at: int) -> float:
    return texts.round_trip(path, _duration(path, text, at), 1.0, "the round trip", line=at)


def _duration(path: Path, text: str, at: int) -> float:
    """Returns a duration as Go prints it, such as 1m0.5s, in seconds."""
    parts = _PART.findall(text)
    if "".join(number + unit for number, unit in parts) != text or not parts:
        texts.fail(path, f"{text!r:.40} is not a duration such as 20.1ms; remove the line", at)
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _sent(path: Path, trip: Any, at: int) -> float:
    """Returns when a probe was sent, in seconds since an arbitrary time."""
    stamp = texts.member(path, trip, "timestamps", "client", "send")
    value = texts.member(path, stamp, "monotonic")
    value = texts.member(path, stamp, "wall") if value is None else value
    if value is None:
        texts.fail(path, f"round_trips[{at}].timestamps.client.send: is missing; keep the timestamps of the client")
    return texts.number(path, value, f"round_trips[{at}].timestamps.client.send", minimum=-1e19) / 1e9


def _losses(path: Path, test: Any, found: Found, share: float) -> None:
    stats = texts.member(path, test, "stats")
    reported = {side: texts.member(path, stats, key) for side, key in _LOST}
    if all(value is not None for value in reported.values()):
        for side, key in _LOST:
            loss = texts.number(path, reported[side], f"stats.{key}") / 100
            if loss > 1:
                texts.fail(path, f"stats.{key}: {reported[side]} is above 100")
            if loss > 0:
                found.loss[side] = Measured(loss, f"stats.{key}")
    elif share > 0:
        losses(found, share)
