"""The output of ping, of Linux, BSD, macOS and Windows."""

from __future__ import annotations

import re
from pathlib import Path

from lightlag.imports import texts
from lightlag.imports.found import Found, Measured, Options, Row

__all__ = ["delays", "read"]

_ANSWER = re.compile(
    r"(?:(?:icmp_seq|icmp_req|seq)[= ](\d+)\b.*?)?\btime[=<]\s*([\d.,]+)\s*(ms|s|us|µs)?", re.IGNORECASE
)
_STAMP = re.compile(r"^\[(\d+(?:\.\d+)?)\]")
_LOST = re.compile(r"timed? ?out|no answer yet|unreachable", re.IGNORECASE)
_SEQUENCE = re.compile(r"(?:icmp_seq|icmp_req|seq)[= ](\d+)", re.IGNORECASE)
_SUMMARY = re.compile(r"(\d+) packets transmitted|packets: sent|paket|statistics", re.IGNORECASE)
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "": 1e-3}


def read(path: Path, options: Options) -> Found:
    """The delay over time, and the share of probes without an answer."""
    probes: dict[int, tuple[float, float]] = {}
    sent, first_stamp = 0, None
    for at, line in texts.lines(path):
        if _SUMMARY.search(line) and not _ANSWER.search(line):
            continue
        answer, stamp = _ANSWER.search(line), _STAMP.match(line)
        if answer is None or not ("=" in line and ("bytes" in line.lower() or "seq" in line.lower())):
            if _LOST.search(line) and "---" not in line:
                told = _SEQUENCE.search(line)
                sent = max(sent + 1, int(told[1]) + 1) if told and len(told[1]) < 10 else sent + 1
            continue
        number = int(answer[1]) if answer[1] else sent
        if number > 10_000_000:
            texts.fail(path, f"sequence number {answer[1]} is none of a ping", at)
        rtt = texts.number(path, answer[2].replace(",", "."), "time", line=at) * _UNITS[(answer[3] or "").lower()]
        when = number * options.interval_s
        if stamp:
            exact = texts.number(path, stamp[1], "the time in front", line=at)
            first_stamp = exact - rtt if first_stamp is None else first_stamp
            when = max(exact - rtt - first_stamp, 0.0)
        sent = max(sent, number + 1)
        # A second answer to one probe is a duplicate.
        probes.setdefault(number, (when, rtt))
    if not probes:
        texts.fail(path, "no answer in it: no line with time=… ms; is it the output of ping?")
    # The first probe of Linux has the number 1, that of others 0.
    first = int(0 not in probes)
    sent -= first
    shift = 0.0 if first_stamp is not None else first * options.interval_s
    found = Found(f"{len(probes)} answers to {max(sent, len(probes))} probes of ping.")
    delays(found, [(max(when - shift, 0.0), rtt) for when, rtt in probes.values()])
    share = 1 - len(probes) / max(sent, len(probes))
    if share > 0:
        # Both the request and the answer may have been lost.
        each = 1 - (1 - share) ** 0.5
        origin = f"{share:.3g} of the probes had no answer; the same share of each direction"
        found.loss = {"forward": Measured(each, origin), "backward": Measured(each, origin)}
    if first_stamp is None:
        found.notes.append(f"The file has no times of day (ping -D): a probe was sent each {options.interval_s:g} s.")
    return found


def delays(found: Found, probes: list[tuple[float, float]]) -> None:
    """Sets the delay of a path from times and round trips, in seconds."""
    probes.sort()
    least = min(rtt for _, rtt in probes)
    found.delay = Measured(least / 2, f"half of the least RTT, {least * 1000:g} ms")
    found.rows = [Row(when, delay_s=rtt / 2) for when, rtt in probes]
    found.duration_s = probes[-1][0] + 1
    found.notes.append("Each delay is half of a round trip: a probe cannot tell the directions apart.")
