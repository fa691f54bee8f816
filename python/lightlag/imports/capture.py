"""Captures: the path of the connection with the most data, as far as it can be inferred from its packets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lightlag.errors import InputError
from lightlag.imports import texts
from lightlag.imports.found import Found, Measured, Options
from lightlag.imports.sample import Sample

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "a pcap or pcapng file"
_MAGIC = tuple(bytes.fromhex(word) for word in ("0a0d0d0a", "a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1"))

_HEADERS = 52


def recognises(sample: Sample) -> bool:
    """Returns True for the first bytes of pcap and pcapng."""
    return sample.magic.startswith(_MAGIC)


def read(path: Path, options: Options) -> Found:
    """Returns the round trip, rate and losses of the largest connection."""
    from lightlag.captures.connections import inspect

    capture = inspect(path)
    if not capture.connections:
        texts.fail(path, "has no TCP connection; use a capture that has one")
    connection = max(
        (each.summary for each in capture.connections),
        key=lambda one: one["forward"]["unique_bytes"] + one["backward"]["unique_bytes"],
    )
    is_backward = connection["backward"]["unique_bytes"] > connection["forward"]["unique_bytes"]
    side: dict[str, Any] = connection["backward" if is_backward else "forward"]
    found = Found(f"Connection {connection['number']} of a capture: {connection['client']} to {connection['server']}.")
    found.is_backward = is_backward
    if (least := connection["min_rtt_s"]) is not None:
        found.delay = Measured(least / 2, f"half of the minimum RTT, {least * 1000:.6g} ms")
    found.rate = _rate(path, connection["number"], side)
    if found.rate is None and options.rate is None:
        texts.fail(path, 'has no connection with enough data for a rate; give one, as --rate "20 Mbit/s"')
    _losses(found, side)
    found.duration_s = max(2 * connection["duration_s"], 10.0)
    if side["unique_bytes"]:
        found.transfer = Measured(side["unique_bytes"], "its bytes, each counted once")
    mss = (connection["backward" if not is_backward else "forward"].get("handshake") or {}).get("mss")
    found.mss = None if not mss else Measured(mss, "the MSS that its receiver announced")
    return found


def _rate(path: Path, number: int, side: dict[str, Any]) -> Measured | None:
    """Returns the arrival rate of segments; the average rate of the connection only if no better estimate exists."""
    from lightlag.captures.repetition import Sending

    try:
        known = Sending(path, number).summary["path"]["rate_bps"]
    except InputError:
        known = None
    if known:
        return Measured(known, "sustained over ten consecutive segments")
    if not side["goodput_bps"]:
        return None
    payload = side["payload_bytes"] / max(side["data_segments"], 1)
    origin = f"its goodput, with {_HEADERS} B of headers for each {payload:.0f} B: a lower bound"
    return Measured(side["goodput_bps"] * (1 + _HEADERS / payload), origin)


def _losses(found: Found, side: dict[str, Any]) -> None:
    """Adds a note about retransmitted segments. They include losses caused by a full queue, so no loss is set."""
    segments, again = side["data_segments"], side["retransmitted_segments"] - side["spurious_retransmissions"]
    if segments and again > 0:
        found.notes.append(
            f"{again} of {segments} segments were retransmitted ({again / segments:.3g}). They include losses from a "
            "full queue, so loss is left out; set it if the link is known to lose packets."
        )
