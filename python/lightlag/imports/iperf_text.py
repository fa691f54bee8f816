"""Tests by iperf3 or iperf 2 as the programs print them, and iperf 2's CSV (``-y C``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lightlag.imports import texts, times
from lightlag.imports.found import FASTEST_BPS, LONGEST_S, Found, Options, Side
from lightlag.imports.iperf_report import Direction, Interval, Report, path_of
from lightlag.imports.sample import Sample

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "a test by iperf3 or iperf 2 as text"
_BITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BYTES = {prefix: 8.0 * 1024**power for power, prefix in enumerate(_BITS)}
"""Factors of iperf's units: bits by 1000, bytes by 1024."""
_ROW = re.compile(
    r"\[\s*(?P<id>\d+|SUM)\](?:\[(?P<role>[TR]X-[CS])\])?\s+(?P<start>\d+(?:\.\d+)?)\s*-\s*(?P<end>\d+(?:\.\d+)?)\s+sec\s+"
    r"(?P<amount>[\d.]+)\s+[KMGT]?Bytes\s+(?P<rate>[\d.]+|-?nan|inf)\s+(?P<prefix>[KMGT]?)(?P<unit>bits|Bytes)/sec(?P<rest>.*)$",
    re.IGNORECASE | re.ASCII,
)
_LOOSE = re.compile(r"^[^\[]*\[\s*(?:\d+|SUM)\].*\ssec\s.*(?:Bytes|/sec)", re.IGNORECASE)
"""Matches a row, even if it is damaged."""
_LOSS = re.compile(r"ms\s+-?\d+/\s*-?\d+\s+\((?P<percent>[-\d.eE+]+|-?nan)%\)", re.IGNORECASE)
_RETRANSMITS = re.compile(r"^\s+(\d+)\s+[\d.]+ [KMGT]?Bytes")
_CSV = re.compile(r"^\d{14}(?:\.\d+)?,[^,]*,\d+,[^,]*,\d+,\d+,(\d+\.\d+)-(\d+\.\d+),(\d+),(\d+)(?:,|$)")
_START = re.compile(r"(?:^|\s)(?:Connecting to host|Accepted connection from|Client connecting to) ")
_TIME = re.compile(r"^Time: (\S.*)$")
"""Matches the start time of a test, printed by iperf3 -V."""
_UDP = re.compile(r"\bUDP\b|\bJitter\b|Lost/Total", re.IGNORECASE)
_REVERSE = re.compile(r"Reverse mode|is sending", re.IGNORECASE)


def recognises(sample: Sample) -> bool:
    """Returns True for rows of iperf."""
    return any(_ROW.search(line) or _CSV.match(line) for line in sample.lines)


def read(path: Path, options: Options) -> Found:
    """Returns the path of the last test in a file."""
    tests = [
        test
        for test in _split(texts.short_lines(path))
        if any(_ROW.search(line) or _CSV.match(line) for _, line in test)
    ]
    if not tests:
        texts.fail(path, "has no interval of iperf; run it with iperf3 --json and import that file")
    lines = tests[-1]
    rows = list(_rows(path, lines))
    whole = "\n".join(line for _, line in lines)
    test = Report("iperf", _UDP.search(whole) is not None, tests=len(tests))
    reverse = _REVERSE.search(whole) is not None
    has_sum = any(row.id == "SUM" for _, row in rows)
    streams = {row.id for _, row in rows if row.id != "SUM"}
    has_roles = any(row.role for _, row in rows)
    if len(streams) > 1 and not has_sum and not has_roles:
        texts.fail(path, f"has {len(streams)} streams and no [SUM] rows; run it with iperf3 --json")
    test.streams = max(len(streams) // (2 if has_roles else 1), 1)
    for at, row in rows:
        if has_sum and row.id != "SUM":
            continue
        side: Side = "backward" if (row.role.startswith("RX") if row.role else reverse) else "forward"
        _take(path, test.directions.setdefault(side, Direction(is_sent=side == "forward")), row, at)
    if error := re.search(r"iperf3?: (?:error - )?(.*(?:interrupt|unable|error).*)", whole):
        test.error = error[1].strip()
    for direction in test.directions.values():
        if not direction.intervals and direction.received_bps is not None:
            # iperf3 -i 0 prints the totals alone.
            direction.intervals = [Interval(0.0, direction.length_s or 10.0, direction.received_bps)]
    test.directions = {side: one for side, one in test.directions.items() if one.intervals}
    if not test.directions:
        texts.fail(path, "has no interval that counts; run it with iperf3 --json")
    found = path_of(path, test, options)
    stamps = (
        times.instant(stamp[1], is_day_first=False, ask=lambda: None)
        for _, line in lines
        if (stamp := _TIME.match(line))
    )
    start = next((stamp for stamp in stamps if stamp is not None and stamp > times.FIRST_EPOCH_S), None)
    if start is not None:
        found.origin_s = start + min(one.start_s for way in test.directions.values() for one in way.intervals)
    return found


def _split(lines: list[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Yields the lines of each test."""
    test: list[tuple[int, str]] = []
    for at, raw in lines:
        line = raw.rstrip("\r")
        if _START.search(line) and test:
            yield test
            test = []
        test.append((at, line))
    yield test


class _Row:
    """Reads a row of a test."""

    def __init__(self, match: re.Match[str], bps: float) -> None:
        self.id: str = match["id"].upper()
        self.role: str = (match["role"] or "").upper()
        self.start_s, self.end_s, self.bps = float(match["start"]), float(match["end"]), bps
        rest = match["rest"]
        self.is_total = "sender" in rest or "receiver" in rest
        self.is_received = "receiver" in rest
        again = _RETRANSMITS.match(rest) or re.match(r"^\s+(\d+)\s+sender", rest)
        self.retransmits = int(again[1]) if again else None
        lost = _LOSS.search(rest)
        self.loss = None
        if lost and "nan" not in lost["percent"].lower():
            self.loss = min(max(float(lost["percent"]) / 100, 0.0), 1.0)


def _rows(path: Path, lines: list[tuple[int, str]]) -> Iterator[tuple[int, _Row]]:
    """Yields the rows of a test with the numbers of their lines."""
    for at, line in lines:
        if csv := _CSV.match(line.strip()):
            line = f"[ 1] {csv[1]}-{csv[2]} sec {csv[3]} Bytes {csv[4]} bits/sec"
        match = _ROW.search(line)
        if match is None and _LOOSE.search(line) and at != lines[-1][0]:
            texts.fail(path, f"{line.strip()!r:.80} is not a row of iperf; remove the line", at)
        if match is None or "(omitted)" in line:
            continue
        if "nan" in match["rate"].lower() or "inf" in match["rate"].lower():
            continue
        factor = (_BITS if match["unit"].lower() == "bits" else _BYTES)[match["prefix"].upper()]
        bps = texts.number(path, match["rate"], "the bitrate", line=at) * factor
        if bps > FASTEST_BPS:
            texts.fail(path, f"a bitrate of {bps:g} bit/s is above 1e15, the highest of a link", at)
        row = _Row(match, bps)
        if row.end_s > LONGEST_S or row.end_s < row.start_s:
            texts.fail(path, f"{match['start']}-{match['end']} is not an interval in seconds, up to 480 h", at)
        yield at, row


def _take(path: Path, direction: Direction, row: _Row, at: int) -> None:
    """Adds a row to the intervals of a direction, or to its totals."""
    seen = max((one.end_s for one in direction.intervals), default=0.0)
    # iperf 2 does not mark its totals: they start again at 0 and cover all.
    is_total = row.is_total or (row.start_s == 0 and bool(direction.intervals) and row.end_s >= 0.95 * seen)
    if not is_total:
        if row.start_s >= seen - 1e-9:
            direction.intervals.append(Interval(row.start_s, row.end_s, row.bps, row.loss))
            direction.is_sent = direction.is_sent and row.loss is None
        elif direction.length_s is None and 0 < row.start_s < direction.intervals[-1].start_s:
            # A server prints its last interval twice.
            last = direction.intervals[-1].start_s
            texts.fail(
                path, f"the interval from {row.start_s:g} s comes after the one from {last:g} s; keep one test", at
            )
        return
    direction.length_s = row.end_s - row.start_s
    if row.is_received or not row.is_total:
        direction.received_bps = row.bps
        direction.loss = row.loss if row.loss is not None else direction.loss
    else:
        direction.sent_bps = row.bps
        direction.retransmits = row.retransmits
        # Without a line of the receiver this is all there is.
        direction.received_bps = row.bps if direction.received_bps is None else direction.received_bps
