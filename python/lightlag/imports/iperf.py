"""Tests by iperf3 as JSON (``iperf3 --json``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lightlag.imports import texts
from lightlag.imports.found import FASTEST_BPS, Found, Measured, Options, Row

__all__ = ["read"]

TCP_HEADERS, UDP_HEADERS = 52, 28
"""Bytes around a payload: IPv4, TCP with timestamps; IPv4, UDP."""
MSS = 1448


def read(path: Path, options: Options) -> Found:
    """The rate of each interval, the least round trip, and losses of UDP."""
    test = texts.parsed(path)
    if not isinstance(test, dict):
        texts.fail(path, "is JSON, but no test by iperf3: it has no intervals", 1)
    if message := texts.member(path, test, "error"):
        texts.fail(path, f"the test failed: {message}; repeat it")
    intervals = test.get("intervals")
    if not isinstance(intervals, list) or not intervals:
        texts.fail(path, "is JSON, but no test by iperf3: it has no intervals; write it with iperf3 --json")
    setup = texts.member(path, test, "start", "test_start")
    is_udp = texts.member(path, setup, "protocol") == "UDP"
    payload = _payload(path, test, setup, is_udp)
    headers = UDP_HEADERS if is_udp else TCP_HEADERS
    rows = [_row(path, interval, at, 1 + headers / payload) for at, interval in enumerate(intervals)]
    kept = [row for row in rows if row is not None]
    if not kept:
        texts.fail(path, "has no interval that counts: all are omitted; shorten --omit")
    start = kept[0][0].time_s
    shifted = [Row(max(row.time_s - start, 0.0), row.rate_bps, None, row.loss) for row, _ in kept]
    version = texts.member(path, test, "start", "version")
    found = Found(f"A test by {version if isinstance(version, str) else 'iperf3'}: {len(kept)} intervals.")
    found.rows, found.is_udp = shifted, is_udp
    found.is_backward = bool(texts.member(path, setup, "reverse"))
    found.side = "backward" if found.is_backward else "forward"
    found.duration_s = kept[-1][1] - start
    most = max(row.rate_bps or 0.0 for row in shifted)
    if most < 1:
        texts.fail(path, "nothing arrived in any interval, so there is no rate; repeat the test")
    found.rate = Measured(most, f"the fastest interval, with {headers} B of headers for each {payload:g} B of payload")
    if not is_udp:
        found.notes.append("Goodput of TCP is a lower bound of the rate: a small window or losses may have limited it.")
    found.mss = None if is_udp else Measured(payload, "start.tcp_mss_default, or the usual one")
    _round_trip(path, test, found)
    _ends(path, test, found)
    return found


def _payload(path: Path, test: Any, setup: Any, is_udp: bool) -> float:
    value = texts.member(path, setup, "blksize") if is_udp else texts.member(path, test, "start", "tcp_mss_default")
    if value is None and not is_udp:
        value = texts.member(path, test, "start", "tcp_mss")
    return texts.number(path, value, "the payload of a packet", least=1) if value else float(MSS)


def _row(path: Path, interval: Any, at: int, overhead: float) -> tuple[Row, float] | None:
    """The start of an interval with its rate, and its end; None if it was omitted."""
    place = f"intervals[{at}].sum"
    total = texts.member(path, interval, "sum")
    if not isinstance(total, dict):
        texts.fail(path, f"{place}: is missing; write the file with iperf3 --json")
    if total.get("omitted") is True:
        return None
    rate = texts.number(path, total.get("bits_per_second"), f"{place}.bits_per_second") * overhead
    if rate > FASTEST_BPS:
        texts.fail(path, f"{place}.bits_per_second: {rate:g} is above 1e15, the highest rate of a link")
    start, end = (texts.number(path, total.get(key), f"{place}.{key}") for key in ("start", "end"))
    if end < start:
        texts.fail(path, f"{place}: ends at {end:g} s, before its start at {start:g} s")
    lost = total.get("lost_percent")
    loss = None if lost is None else texts.number(path, lost, f"{place}.lost_percent") / 100
    if loss is not None and loss > 1:
        texts.fail(path, f"{place}.lost_percent: {lost:g} is above 100")
    return Row(start, rate, None, loss), end


def _round_trip(path: Path, test: Any, found: Found) -> None:
    """The least round trip of all streams, in microseconds."""
    streams = texts.member(path, test, "end", "streams")
    times = [
        texts.number(path, least, "end.streams.sender.min_rtt")
        for stream in (streams if isinstance(streams, list) else [])
        if (least := texts.member(path, stream, "sender", "min_rtt"))
    ]
    if times:
        found.delay = Measured(min(times) / 2e6, f"half of the least RTT, {min(times) / 1000:g} ms (sender.min_rtt)")


def _ends(path: Path, test: Any, found: Found) -> None:
    name = texts.member(path, test, "end", "sender_tcp_congestion")
    if isinstance(name, str) and name and not found.is_udp:
        found.congestion = (name, "end.sender_tcp_congestion")
    sent = texts.member(path, test, "end", "sum_sent", "retransmits")
    if sent is not None and not found.is_udp:
        count = texts.number(path, sent, "end.sum_sent.retransmits")
        found.notes.append(
            f"{count:g} segments were sent again; losses of a full queue are among them, so loss is left out."
        )
