"""Measurements by irtt as JSON (``irtt client -o``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lightlag.imports import texts
from lightlag.imports.found import Found, Measured, Options, Side
from lightlag.imports.ping import delays, losses
from lightlag.imports.sample import Sample

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "a measurement by irtt as JSON"

_LOST: tuple[tuple[Side, str], ...] = (
    ("forward", "upstream_loss_percent"),
    ("backward", "downstream_loss_percent"),
)


def recognises(sample: Sample) -> bool:
    """Returns True for JSON with the keys of irtt."""
    text = sample.text
    return text.lstrip().startswith("{") and any(key in text for key in ('"irtt', '"round_trips"', '"send_call"'))


def read(path: Path, options: Options) -> Found:
    """Returns the delay over time, and the losses of each direction if the server counted packets."""
    test = texts.parsed(path)
    trips = texts.member(path, test, "round_trips")
    if not isinstance(trips, list):
        texts.fail(path, "is JSON, but not a measurement by irtt: it has no round_trips; write it with irtt client -o")
    probes, first = [], None
    for at, trip in enumerate(trips):
        rtt = texts.member(path, trip, "delay", "rtt")
        if rtt is None:
            continue
        sent = _sent(path, trip, at)
        first = sent if first is None else min(first, sent)
        probes.append((sent, texts.round_trip(path, rtt, 1e-9, f"round_trips[{at}].delay.rtt")))
    if first is None:
        texts.fail(
            path, f"none of {len(trips)} probes received a reply: there is no round trip; repeat the measurement"
        )
    found = Found(f"{len(probes)} replies to {len(trips)} probes of irtt.")
    delays(path, found, [(when - first, rtt) for when, rtt in probes])
    _losses(path, test, found, 1 - len(probes) / len(trips))
    return found


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
