"""Tests by nuttcp, as the program prints them: ``-i`` with or without ``-v``, ``-fparse``, each also after times.

The rows of ``-i`` and the brief summary have the form ``MB / sec = Mbps``, the summary of ``-v`` has ``MB in real
seconds = KB/sec = Mbps``, and ``-fparse`` prints the same numbers as ``key=value``. Megabytes are 2²⁰ bytes, megabits
10⁶ bits. The receiver counts the bytes of an interval. A row has no time, only its length: its start is the sum of the
lengths before.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from lightlag.imports import texts, times
from lightlag.imports.found import FASTEST_BPS, LONGEST_S, Found, Options, Side
from lightlag.imports.iperf_report import Direction, Interval, Report, path_of
from lightlag.imports.sample import Sample

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "a test by nuttcp as text"
_VALUE = r"[^\s=/]+"
_BRIEF = re.compile(
    rf"(?P<amount>{_VALUE})\s+MB\s*/\s*(?P<length>{_VALUE})\s+sec\s*=\s*(?P<rate>{_VALUE})\s+(?P<unit>[KMG]?)bps(?P<rest>.*)$"
)
_LONG = re.compile(
    rf"(?P<amount>{_VALUE})\s+MB\s+in\s+(?P<length>{_VALUE})\s+real\s+seconds\s*=\s*{_VALUE}\s+KB/sec\s*=\s*"
    rf"(?P<rate>{_VALUE})\s+(?P<unit>[KMG]?)bps(?P<rest>.*)$"
)
_PARSED = re.compile(
    rf"\bmegabytes=(?P<amount>{_VALUE})\s+real_sec(?:ond)?s?=(?P<length>{_VALUE})\s+(?:rate_KBps={_VALUE}\s+)?"
    rf"rate_(?P<unit>[KMG])bps=(?P<rate>{_VALUE})(?P<rest>.*)$"
)
_EXAMPLE = "1.25 MB / 1.00 sec = 10.4858 Mbps"
_LOOSE = re.compile(r"\bMB\s*/.*\bsec\b|\bMB in\b|\bmegabytes=.*real_sec")
"""Matches a row, even if it is damaged."""
_BITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_SUMMARY = re.compile(r"%TX|%RX|msRTT|[^~]%loss|[^~]drop/pkt|tx_cpu=|rx_cpu=|rtt_ms=")
"""Matches the numbers after the rate that only a summary has; in an interval they are estimates, with a tilde."""
_SENDS = re.compile(r"\bnuttcp-(?P<role>[tr])\S*:")
_DROPPED = re.compile(
    r"(?P<lost>-?\d+)\s*/\s*(?P<sent>-?\d+)\s+~?drop/pkt|drop=(?P<lost2>-?\d+)\s+pkt=(?P<sent2>-?\d+)"
)
_LOSS = re.compile(r"(?P<percent>[-\d.]+)\s*~?%\s*(?:data )?loss|data_loss=(?P<percent2>[-\d.]+)")
_RETRANSMITS = re.compile(r"(\d{1,15})\s+(?:host-)?retrans|(?:host-)?retrans\s*=\s*(\d{1,15})")
_RTT = re.compile(r"\bRTT=([\d.]+) ms|\brtt_ms=([\d.]+)|([\d.]+) msRTT")
_MSS = re.compile(r"\bmss=(\d{2,5})\b")
_LENGTH = re.compile(r"\bbuflen=(\d{1,7})\b")
"""Matches the length of a write, which is the payload of a datagram."""
_STREAMS = re.compile(r"\bnstream=(\d{1,3})\b")
_STAMP = re.compile(r"^\[?(?P<stamp>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\]?\s")
_UDP = re.compile(r"~?drop/pkt|\bdrop=\d|%\s*(?:data )?loss|data_loss=|\bmode=udp|\bport=\d+ udp\b", re.IGNORECASE)


def recognises(sample: Sample) -> bool:
    """Returns True for rows of nuttcp."""
    return any(_row(line) is not None for line in sample.lines)


def _row(line: str) -> re.Match[str] | None:
    return _BRIEF.search(line) or _LONG.search(line) or _PARSED.search(line)


def read(path: Path, options: Options) -> Found:
    """Returns the path of the only test in a file."""
    lines = texts.short_lines(path)
    rows = [(at, line, match) for at, line in lines if (match := _row(line)) is not None]
    for at, line in lines[:-1]:
        if _LOOSE.search(line) and _row(line) is None:
            texts.fail(path, f"{line.strip()!r:.80} is not a row of nuttcp, such as {_EXAMPLE}; remove it", at)
    if not rows:
        texts.fail(path, f"has no row of nuttcp, such as {_EXAMPLE}; run it with nuttcp -i1")
    whole = "\n".join(line for _, line in lines)
    side, is_stated = _side(whole)
    direction = Direction(is_sent=False)
    test = Report("nuttcp", _UDP.search(whole) is not None, directions={side: direction})
    _settings(path, test, direction, lines)
    start = 0.0
    for at, line, match in rows:
        is_summary = match.re is _LONG or "real_seconds=" in line or _SUMMARY.search(match["rest"]) is not None
        if is_summary:
            _take_summary(path, test, direction, line, match, at)
            continue
        if direction.length_s is not None:
            texts.fail(path, "has an interval after a summary: a second test; keep the lines of one", at)
        interval = _interval(path, match, start, at)
        start = interval.end_s
        direction.intervals.append(interval)
    if direction.length_s is not None and start > 1.1 * direction.length_s:
        texts.fail(
            path,
            f"has intervals of {start:g} s, and the test took {direction.length_s:g} s; keep the lines of one test",
            rows[-1][0],
        )
    if not direction.intervals:
        _whole(path, direction)
    found = path_of(path, test, options)
    if not is_stated:
        found.notes.append(
            "The output does not say which side sent (nuttcp -v does): the direction to the server is assumed."
        )
    stamp = next((one for _, line, _ in rows if (one := _stamp(line)) is not None), None)
    if stamp is not None and direction.intervals:
        # A row is printed at the end of its interval.
        found.origin_s = stamp - (direction.intervals[0].end_s - direction.intervals[0].start_s)
    return found


def _side(whole: str) -> tuple[Side, bool]:
    """Returns the direction of the data, and whether the output states it: a client prints its own role first."""
    role = _SENDS.search(whole)
    if role is None:
        return "forward", False
    return ("forward" if role["role"] == "t" else "backward"), True


def _settings(path: Path, test: Report, direction: Direction, lines: list[tuple[int, str]]) -> None:
    """Stores round trip, payload of a packet, connections and retransmissions, as far as the output has them."""
    for at, line in lines:
        if (rtt := _RTT.search(line)) and test.min_rtt_s is None:
            found = texts.round_trip(path, rtt[1] or rtt[2] or rtt[3], 1e-3, "the RTT", line=at)
            test.min_rtt_s = found or None
        if (mss := _MSS.search(line)) and not test.is_udp:
            # The option of timestamps takes 12 bytes of the MSS.
            test.payload = max(float(mss[1]) - 12, 1.0)
        if (length := _LENGTH.search(line)) and test.is_udp:
            test.payload = float(min(max(int(length[1]), 1), 65_507))
        if streams := _STREAMS.search(line):
            test.streams = max(int(streams[1]), 1)
        if _SENDS.search(line) and (again := _RETRANSMITS.search(line)) and not test.is_udp:
            direction.retransmits = float(again[1] or again[2])


def _interval(path: Path, match: re.Match[str], start: float, at: int) -> Interval:
    length = _length(path, match, at)
    if start + length > LONGEST_S:
        texts.fail(path, f"the intervals up to here last {start + length:g} s, which is above 480 h; cut the file", at)
    return Interval(start, start + length, _rate(path, match, at), _loss(path, match["rest"], at))


def _length(path: Path, match: re.Match[str], at: int) -> float:
    length = texts.number(path, match["length"], "the length of the interval", line=at)
    if not 1e-3 <= length <= LONGEST_S:
        texts.fail(path, f"an interval of {length:g} s is not between 1 ms and 480 h; remove the line", at)
    return length


def _rate(path: Path, match: re.Match[str], at: int) -> float:
    bps = texts.number(path, match["rate"], "the rate", line=at) * _BITS[match["unit"]]
    if bps > FASTEST_BPS:
        texts.fail(path, f"a rate of {bps:g} bit/s is above 1e15, the highest of a link; remove the line", at)
    bytes_ = texts.number(path, match["amount"], "the megabytes", line=at) * 2**20
    length = _length(path, match, at)
    # The amount has four decimals, and the length two.
    rounding = 8 * 2**20 * 1e-4 / length + bps * 0.01 / length
    if abs(bytes_ * 8 / length - bps) > 0.02 * bps + rounding:
        texts.fail(
            path,
            f"{match['amount']} MB in {match['length']} s are {bytes_ * 8 / length / 1e6:.4g} Mbit/s, and the line "
            f"has {bps / 1e6:.4g}; remove the line",
            at,
        )
    return bps


def _loss(path: Path, rest: str, at: int) -> float | None:
    """Returns the fraction of the datagrams that were lost; datagrams that arrive late count as -1 lost."""
    if dropped := _DROPPED.search(rest):
        lost = float(dropped["lost"] or dropped["lost2"])
        sent = float(dropped["sent"] or dropped["sent2"])
        if sent < 0 or lost > sent:
            texts.fail(path, f"{lost:g} of {sent:g} datagrams were dropped, which is not between none and all", at)
        return min(max(lost / sent, 0.0), 1.0) if sent else None
    if share := _LOSS.search(rest):
        percent = texts.number(path, share["percent"] or share["percent2"], "the loss", line=at, minimum=-100)
        if percent > 100:
            texts.fail(path, f"a loss of {percent:g} % is above 100 %; remove the line", at)
        return max(percent / 100, 0.0)
    return None


def _take_summary(path: Path, test: Report, direction: Direction, line: str, match: re.Match[str], at: int) -> None:
    """Stores the totals: with -v each side prints them, and the receiver's count."""
    role = _SENDS.search(line)
    bps, is_sender = _rate(path, match, at), role is not None and role["role"] == "t"
    # The receiver ends later than the sender, when the last queue is empty.
    direction.length_s = max(_length(path, match, at), direction.length_s or 0.0)
    loss = _loss(path, match["rest"], at)
    direction.loss = direction.loss if loss is None else loss
    again = _RETRANSMITS.search(match["rest"])
    if again and not test.is_udp:
        direction.retransmits = float(again[1] or again[2])
    if is_sender:
        direction.sent_bps = bps
    else:
        direction.received_bps = bps


def _whole(path: Path, direction: Direction) -> None:
    """Stores the entire test as one interval: without -i nuttcp reports no others."""
    bps = direction.received_bps if direction.received_bps is not None else direction.sent_bps
    if bps is None or direction.length_s is None or not math.isfinite(bps):
        texts.fail(path, "has no interval and no summary; run it with nuttcp -i1")
    direction.received_bps = bps
    direction.intervals = [Interval(0.0, direction.length_s, bps, direction.loss)]


def _stamp(line: str) -> float | None:
    """Returns the time of day at the start of a line, in seconds since 1970."""
    found = _STAMP.match(line)
    return None if found is None else times.instant(found["stamp"].replace(",", "."), is_day_first=None, ask=_never)


def _never() -> None:
    """Does nothing: a date that starts with the year has one reading, so its order is known."""
