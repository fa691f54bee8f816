"""Tests by iperf3 as JSON: ``--json``, ``--json-stream``, logs of a server, tests that were stopped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lightlag.imports import texts, times
from lightlag.imports.found import FASTEST_BPS, LONGEST_S, Found, Options, Side
from lightlag.imports.iperf_report import Direction, Interval, Report, path_of
from lightlag.imports.sample import Sample

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "a test by iperf3 --json or --json-stream"

_LAST_EPOCH_S = 1e11
"""Maximum number of seconds since 1970; larger numbers have another unit."""
_USUAL_LENGTH_S = 10.0
"""Duration of a test without -t, in seconds."""
_REVERSE = "_bidir_reverse"
"""Suffix of the keys of the second direction with --bidir. iperf3 3.7 writes the same key twice instead."""
_SIGN = re.compile(r'"(?:intervals|test_start|sum_sent|bits_per_second|connecting_to|local_port)"|^\s*\{"event"\s*:')


def recognises(sample: Sample) -> bool:
    """Returns True for JSON with the keys of iperf3."""
    return "{" in sample.text and _SIGN.search(sample.text) is not None


def read(path: Path, options: Options) -> Found:
    """Returns the path of the last test in a file."""
    tests = list(_tests(path))
    test = next((one for one in reversed(tests) if _has_data(one)), tests[-1] if tests else None)
    if test is None:
        texts.fail(path, "has no JSON; write it with iperf3 --json, or import its text with --from iperf")
    if not isinstance(test, dict):
        texts.fail(path, "is JSON, but not a test by iperf3: it has no intervals; write it with iperf3 --json")
    error = texts.member(path, test, "error")
    if not _has_data(test):
        if error:
            texts.fail(path, f"the test failed: {error}; repeat it")
        texts.fail(path, "is JSON, but not a test by iperf3: it has no intervals; write it with iperf3 --json")
    test.setdefault("intervals", [])
    found = _setup(path, test)
    found.error = str(error)[:200] if error else None
    found.tests = len(tests)
    setup = texts.member(path, test, "start", "test_start")
    main: Side = "backward" if texts.member(path, setup, "reverse") else "forward"
    end = texts.member(path, test, "end")
    keys = {key for one in (*test["intervals"], end) if isinstance(one, dict) for key in one}
    is_both = any(key.startswith("sum") and key.endswith(_REVERSE) for key in keys)
    if is_both and _is_server_first(path, test):
        main = "backward"
    _direction(path, test, found, main, "")
    if is_both:
        _direction(path, test, found, "backward" if main == "forward" else "forward", _REVERSE)
    found.directions = {side: one for side, one in found.directions.items() if one.intervals}
    if not found.directions:
        texts.fail(path, "has no interval that counts: all are omitted; shorten --omit")
    result = path_of(path, found, options)
    stamp = texts.member(path, test, "start", "timestamp", "timesecs")
    if isinstance(stamp, (int, float)) and times.FIRST_EPOCH_S < stamp < _LAST_EPOCH_S:
        # The first intervals may be omitted.
        result.origin_s = float(stamp) + min(one.start_s for way in found.directions.values() for one in way.intervals)
    return result


def _has_data(test: Any) -> bool:
    """Returns true if a test has intervals, or at least totals."""
    if not isinstance(test, dict):
        return False
    end, intervals = test.get("end"), test.get("intervals", [])
    if not isinstance(intervals, list):
        return False
    return bool(intervals) or (
        isinstance(end, dict) and any(f"sum{kind}" in end for kind in ("", "_received", "_sent"))
    )


def _is_server_first(path: Path, test: Any) -> bool:
    """Returns true if a server wrote the report and its first sum is the data that it sent.

    In iperf3 3.7 each side lists its own sending direction first.
    """
    if texts.member(path, test, "start", "accepted_connection") is None:
        return False
    return texts.member(path, test, "intervals", 0, "sum", "sender") is True


def _setup(path: Path, test: dict[str, Any]) -> Report:
    """Returns the settings that a test reports."""
    setup, end = texts.member(path, test, "start", "test_start"), texts.member(path, test, "end")
    version = texts.member(path, test, "start", "version")
    found = Report(version if isinstance(version, str) else "iperf3", texts.member(path, setup, "protocol") == "UDP")
    found.payload = _payload(path, test, setup, found.is_udp)
    name = texts.member(path, end, "sender_tcp_congestion")
    found.congestion = name if isinstance(name, str) and name else None
    found.min_rtt_s = _min_rtt(path, test, end)
    streams = texts.member(path, setup, "num_streams")
    found.streams = int(streams) if isinstance(streams, int) and 1 <= streams <= 128 else 1
    target = texts.member(path, setup, "target_bitrate")
    found.target_bps = float(target) if isinstance(target, int) and 0 < target < FASTEST_BPS else None
    return found


def _tests(path: Path) -> Iterator[Any]:
    """Yields the tests of a file: JSON after other lines, concatenated tests (a server's log, a list), or events."""
    text = texts.without_nan(texts.text(path))
    decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=lambda _: None)
    test: dict[str, Any] | None = None
    at, has_any = text.find("{"), False
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            if not has_any:
                # The message of the error has the line.
                texts.tree(path, text[at:], line=text.count("\n", 0, at))
                texts.fail(path, "not JSON that iperf3 writes")
            # The last line of a test that was killed.
            break
        has_any = True
        event, data = texts.member(path, value, "event"), texts.member(path, value, "data")
        if event is None:
            yield value
        elif event == "interval" and test is not None:
            test["intervals"].append(data)
        else:
            if event == "start" or test is None:
                if test is not None:
                    yield test
                test = {"intervals": [data] if event == "interval" else []}
            if isinstance(event, str) and event not in ("interval", "intervals"):
                test[event] = data
        at = text.find("{", end)
    if test is not None:
        yield test


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[f"{key}{_REVERSE}" if key in found and key.startswith("sum") else key] = value
    return found


def _payload(path: Path, test: Any, setup: Any, is_udp: bool) -> float | None:
    value = texts.member(path, setup, "blksize") if is_udp else texts.member(path, test, "start", "tcp_mss_default")
    if not value and not is_udp:
        value = texts.member(path, test, "start", "tcp_mss")
    return texts.number(path, value, "the payload of a packet", minimum=1) if value else None


def _direction(path: Path, test: dict[str, Any], found: Report, side: Side, suffix: str) -> None:
    key, end = f"sum{suffix}", texts.member(path, test, "end")
    received = texts.member(path, test, "server_output_json", "intervals") if not suffix and side == "forward" else None
    has_server = found.is_udp and bool(received)
    given: list[Any] = received if has_server and isinstance(received, list) else test["intervals"]
    direction = Direction(is_sent=given is test["intervals"] and _is_sender(given, key, side, suffix))
    direction.intervals = [
        one for at, row in enumerate(given) if (one := _interval(path, row, at, key, suffix)) is not None
    ]
    totals = {name: texts.member(path, end, f"{name}{suffix}") for name in ("sum", "sum_sent", "sum_received")}
    direction.sent_bps = _rate(path, totals["sum_sent"], f"end.sum_sent{suffix}")
    direction.received_bps = _rate(path, totals["sum_received"], f"end.sum_received{suffix}")
    lost = [texts.member(path, totals[name], "lost_percent") for name in ("sum_received", "sum")]
    reported = next((one for one in lost if one is not None), None)
    direction.loss = None if reported is None else _share(path, reported, "end.sum.lost_percent")
    again = texts.member(path, totals["sum_sent"], "retransmits")
    direction.retransmits = (
        None if again is None or found.is_udp else texts.number(path, again, "end.sum_sent.retransmits")
    )
    lengths = [
        texts.member(path, one, "seconds") for one in (totals["sum_received"], totals["sum_sent"], totals["sum"])
    ]
    length = next((one for one in lengths if one), None)
    if length is not None:
        direction.length_s = min(texts.number(path, length, "end.sum.seconds", minimum=1e-3), LONGEST_S)
    if not given:
        _total_alone(path, direction, totals)
    found.directions[side] = direction


def _total_alone(path: Path, direction: Direction, totals: dict[str, Any]) -> None:
    """Stores the entire test as one interval: with -i 0 iperf3 reports no others."""
    rates = [direction.received_bps, direction.sent_bps, _rate(path, totals["sum"], "end.sum")]
    bps = next((rate for rate in rates if rate), None)
    if bps is None:
        return
    direction.intervals = [Interval(0.0, direction.length_s or _USUAL_LENGTH_S, bps)]
    if direction.received_bps is None and direction.loss is not None:
        direction.received_bps = bps * (1 - direction.loss)
        direction.sent_bps = direction.sent_bps or bps
    direction.is_sent = direction.received_bps is None or direction.loss is not None


def _is_sender(given: list[Any], key: str, side: Side, suffix: str) -> bool:
    """Returns true if the sender reported these intervals: as they state, or because the reporting client sends."""
    for row in given:
        said = row.get(key, {}).get("sender") if isinstance(row, dict) and isinstance(row.get(key), dict) else None
        if isinstance(said, bool):
            return said
        if isinstance(row, dict) and isinstance(row.get(key), dict) and "lost_percent" in row[key]:
            return False
    return side == "forward" and not suffix


def _interval(path: Path, row: Any, at: int, key: str, suffix: str) -> Interval | None:
    """Returns an interval; None if it is marked as omitted, or belongs to a server that measured nothing."""
    place = f"intervals[{at}].{key}"
    total = texts.member(path, row, key)
    if not isinstance(total, dict):
        if suffix:
            return None
        texts.fail(path, f"{place}: is missing; write the file with iperf3 --json")
    if total.get("omitted") is True:
        return None
    bps = _rate(path, total, place) or 0.0
    start, end = (texts.number(path, total.get(name), f"{place}.{name}") for name in ("start", "end"))
    if end > LONGEST_S:
        texts.fail(path, f"{place}.end: {end:g} s is above 480 h")
    if end < start:
        texts.fail(path, f"{place}: ends at {end:g} s, before its start at {start:g} s; remove the interval")
    lost = total.get("lost_percent")
    loss = None if lost is None else _share(path, lost, f"{place}.lost_percent")
    return Interval(start, end, bps, loss, None if suffix else _rtt(path, row, at))


def _rate(path: Path, total: Any, place: str) -> float | None:
    value = texts.member(path, total, "bits_per_second")
    if value is None:
        return None
    rate = texts.number(path, value, f"{place}.bits_per_second")
    if rate > FASTEST_BPS:
        texts.fail(path, f"{place}.bits_per_second: {rate:g} is above 1e15, the highest rate of a link")
    return rate


def _share(path: Path, percent: Any, place: str) -> float:
    # Datagrams that arrive late count as -1 lost.
    share = texts.number(path, percent, place, minimum=-100) / 100
    if share > 1:
        texts.fail(path, f"{place}: {percent:g} is above 100")
    return max(share, 0.0)


def _rtt(path: Path, row: Any, at: int) -> float | None:
    """Returns the RTT of the streams at the end of an interval in seconds; the file has microseconds."""
    streams = texts.member(path, row, "streams")
    times = [
        texts.number(path, rtt, f"intervals[{at}].streams.rtt") / 1e6
        for one in (streams if isinstance(streams, list) else [])
        if (rtt := texts.member(path, one, "rtt"))
    ]
    return sum(times) / len(times) if times else None


def _min_rtt(path: Path, test: dict[str, Any], end: Any) -> float | None:
    """Returns the minimum RTT of all streams; without a final value, the minimum of the intervals."""
    streams = texts.member(path, end, "streams")
    times = [
        texts.number(path, least, "end.streams.sender.min_rtt") / 1e6
        for stream in (streams if isinstance(streams, list) else [])
        if (least := texts.member(path, stream, "sender", "min_rtt"))
    ]
    if not times:
        times = [rtt for at, row in enumerate(test["intervals"]) if (rtt := _rtt(path, row, at))]
    return min(times) if times else None
