"""Processed tables of LENS: round trips by ping or irtt, with codes for lost probes.

LENS (MMSys 2024; clarkzjw/LENS, ``scripts/util.py``) writes ``timestamp,rtt`` for ping, with seconds since 1970, and
``timestamp,rtt,uplink,downlink`` for irtt, with nanoseconds since 1970; delays are in milliseconds. A row of irtt is a
lost probe if it has −1: in the column of the direction that lost it, or as round trip if that is not known. The other
two numbers are then 0.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from lightlag.imports import texts, times
from lightlag.imports.found import Found, Measured, Options
from lightlag.imports.ping import delays
from lightlag.imports.sample import Sample

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "a table of LENS"
_PING = ["timestamp", "rtt"]
_IRTT = [*_PING, "uplink", "downlink"]


def recognises(sample: Sample) -> bool:
    """Returns True for the two headers of LENS."""
    return bool(sample.lines) and _header(sample.lines[0]) in (_PING, _IRTT)


def _header(line: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in line.split(",")]


def read(path: Path, options: Options) -> Found:
    """Returns the delay over time, and the losses of each direction."""
    lines = texts.lines(path)
    header = _header(lines[0][1])
    if header not in (_PING, _IRTT):
        texts.fail(path, f"has not the header {','.join(_PING)} or {','.join(_IRTT)} of LENS; leave --from out", 1)
    if len(lines) == 1:
        texts.fail(path, "has a header and no rows; name a file with measurements in it", lines[0][0])
    probes: list[tuple[float, float]] = []
    lost = {"uplink": 0, "downlink": 0, "rtt": 0}
    for at, row in _rows(path, lines[1:], len(header)):
        when = texts.number(path, row[0], "timestamp", line=at)
        epoch = times.epoch_factor(when)
        when *= 1.0 if epoch is None else epoch[0]
        values = {
            name: texts.number(path, text, name, line=at, minimum=-1e9)
            for name, text in zip(header[1:], row[1:], strict=True)
        }
        # One-way delays have the difference of two clocks in them, so that only −1 is a code there.
        way = next((name for name in ("uplink", "downlink") if values.get(name) == -1 and values["rtt"] == 0), None)
        if way is not None or values["rtt"] == -1:
            lost[way or "rtt"] += 1
            continue
        if values["rtt"] <= 0:
            texts.fail(path, f"rtt: {values['rtt']:g} ms is neither a round trip nor -1, a lost probe; remove it", at)
        probes.append((when, texts.round_trip(path, values["rtt"], 1e-3, "rtt", line=at)))
    if not probes:
        texts.fail(path, f"none of {len(lines) - 1} probes received a reply: there is no round trip; use another file")
    origin = min(when for when, _ in probes)
    found = Found(f"{len(probes)} replies to {len(lines) - 1} probes, of LENS.")
    delays(path, found, [(round(when - origin, 6), rtt) for when, rtt in probes])
    found.origin_s = origin if origin > times.FIRST_EPOCH_S else None
    if header == _IRTT:
        found.notes.append(
            "The one-way delays depend on two clocks and are not used. To use them: --from csv --column "
            "time=timestamp:ns --column up_delay=uplink:ms --column down_delay=downlink:ms --missing -1 --missing 0."
        )
    _losses(found, lost, len(lines) - 1)
    return found


def _rows(path: Path, lines: list[tuple[int, str]], width: int) -> Iterator[tuple[int, list[str]]]:
    for at, line in lines:
        try:
            row = [field.strip() for field in next(csv.reader(io.StringIO(line)))]
        except (csv.Error, StopIteration) as error:
            texts.fail(path, f"is not a row of a table: {error}", at)
        if len(row) != width:
            texts.fail(path, f"{len(row)} fields where the header has {width}", at)
        yield at, row


def _losses(found: Found, lost: dict[str, int], sent: int) -> None:
    """Sets the loss of each direction. Half of the probes that were lost somewhere count for each."""
    up = lost["uplink"] + lost["rtt"] / 2
    arrived = sent - up
    if up:
        found.loss["forward"] = Measured(up / sent, f"{up:g} of {sent} probes did not reach the server")
    if down := lost["downlink"] + lost["rtt"] / 2:
        found.loss["backward"] = Measured(down / arrived, f"{down:g} of {arrived:g} replies did not reach the client")
