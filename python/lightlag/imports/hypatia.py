"""Files of Hypatia: the round trip of a pair of stations over time, and its path through the satellites.

Rows are ``time_ns,rtt_ns`` (``networkx_rtt_A_to_B.txt``) and ``time_ns,A-…-B`` (``networkx_path_A_to_B.txt``). A path
has no lengths, so its round trips are read from the round-trip file next to it.
"""

from __future__ import annotations

import re
from pathlib import Path

from lightlag.imports import texts
from lightlag.imports.found import LONGEST_S, Found, Measured, Options, Row
from lightlag.imports.sample import Sample, all_match

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "round trips or paths over time, of Hypatia"

_WAY = re.compile(r"^\d+,(?:\d+(?:-\d+)+|Unreachable)$")
_ROWS = all_match(r"^\d{1,19},\d+(?:\.\d+)?$")


def recognises(sample: Sample) -> bool:
    """Returns True for rows of integer nanoseconds with a path, or with a round trip in nanoseconds."""
    if all_match(_WAY.pattern)(sample):
        return True
    first = [int(line.split(",")[0]) for line in sample.lines[:2]] if _ROWS(sample) else []
    return len(first) == 2 and first[1] - first[0] >= 1_000_000 and first[0] <= LONGEST_S * 1e9


def read(path: Path, options: Options) -> Found:
    """Returns the delay over time; a time without a path is an outage."""
    rows = texts.lines(path)
    is_path = any(_WAY.match(line.strip()) for _, line in rows)
    times, partner = path, path.with_name(path.name.replace("path", "rtt"))
    if is_path:
        if partner == path or not partner.exists():
            texts.fail(
                path, f"has no lengths; put the file of its round trips into the same directory, as {partner.name}"
            )
        times = partner
    found = Found("Round trips of a pair of stations by Hypatia.")
    for at, line in texts.lines(times):
        when, rtt = _fields(times, line, at)
        seconds = texts.number(times, when, "time_ns", line=at) / 1e9
        if seconds > LONGEST_S:
            texts.fail(times, f"{seconds:g} s is above 480 h; times are in nanoseconds", at)
        if found.rows and seconds < found.rows[-1].time_s:
            texts.fail(
                times,
                f"the time goes back from {found.rows[-1].time_s:g} s to {seconds:g} s; sort the rows by time",
                at,
            )
        delay = texts.number(times, rtt, "rtt_ns", line=at) / 2e9
        if delay > LONGEST_S:
            texts.fail(times, f"{2 * delay:g} s is not a valid round trip; round trips are in nanoseconds", at)
        # A round trip of zero means that there is no path.
        is_up = delay > 0
        found.rows.append(Row(seconds, None if is_up else 0.0, delay if is_up else None))
    up = [row.delay_s for row in found.rows if row.delay_s]
    if not up:
        texts.fail(times, "the stations never have a path: every round trip is 0; choose another pair")
    found.delay = Measured(up[0], f"half of the first round trip, {up[0] * 2000:.6g} ms")
    found.duration_s = found.rows[-1].time_s + 1
    if any(row.rate_bps == 0 for row in found.rows):
        found.notes.append("Rows with a rate of 0 are times without a path.")
    if is_path:
        found.notes += _path_notes(path, rows)
    return found


def _fields(path: Path, line: str, at: int) -> tuple[str, str]:
    fields = line.strip().split(",")
    if len(fields) != 2:
        texts.fail(path, f"{line.strip()!r:.60} is not a row time_ns,rtt_ns", at)
    return fields[0], fields[1]


def _path_notes(path: Path, rows: list[tuple[int, str]]) -> list[str]:
    """Returns a note on the first few changes of the path."""
    changes = []
    for at, line in rows:
        when, way = _fields(path, line, at)
        changes.append(f"{texts.number(path, when, 'time_ns', line=at) / 1e9:g} s: {way.replace('-', ' ')}")
    shown = changes[:8]
    more = [f"and {len(changes) - 8} more changes"] if len(changes) > 8 else []
    return ["Paths: " + "; ".join([*shown, *more]) + "."]
