"""The output of fping: ``-l`` or ``-c`` with ``-D`` or without, and the round trips of ``-C``.

Lines are ``[time] host : [number], 64 bytes, 40.1 ms (...)`` or ``..., timed out``; the summary of ``-C`` is ``host :
40.1 - 41.0``, a dash for a probe without a reply.
"""

from __future__ import annotations

import re
from pathlib import Path

from lightlag.imports import ping, texts
from lightlag.imports.found import Found, Measured, Options
from lightlag.imports.sample import Sample

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "the output of fping"
_PROBE = re.compile(
    r"^(?:\[(?P<stamp>\d+(?:\.\d+)?)\]\s*)?(?P<host>\S+)\s*: \[(?P<number>\d{1,9})\], "
    r"(?:\d+ bytes, (?P<rtt>[\d.]+(?:e[+-]?\d+)?) ms|timed out|.*unreachable)",
    re.IGNORECASE | re.ASCII,
)
_LOOSE = re.compile(r"\S\s*: \[[^\]]*\], ")
"""Matches a line of a probe, even if it is damaged."""
_LIST = re.compile(r"^(?P<host>\S+)\s*:(?P<rtts>(?: (?:[0-9]+(?:\.[0-9]+)?|-))+)\s*$")
_TOTALS = re.compile(
    r"^(?P<host>\S+)\s*: xmt/rcv/%(?:loss|return) = (?P<sent>\d{1,9})/(?P<received>\d{1,9})/"
    r"(?:.*min/avg/max = (?P<least>[\d.]+)/)?"
)


def recognises(sample: Sample) -> bool:
    """Returns True for lines of fping."""
    return any(_PROBE.match(line) or _TOTALS.match(line) for line in sample.lines) or (
        bool(sample.lines) and all(_LIST.match(line) for line in sample.lines)
    )


def read(path: Path, options: Options) -> Found:
    """Returns the delay over time, and the fraction of probes without a reply."""
    probes: dict[int, tuple[float | None, float] | None] = {}
    hosts: dict[str, None] = {}
    totals: list[re.Match[str]] = []
    lines = texts.short_lines(path)
    for at, raw in lines:
        line = raw.strip()
        row = _PROBE.match(line) or _LIST.match(line) or _TOTALS.match(line)
        if row is None:
            if _LOOSE.search(line) and at != lines[-1][0]:
                texts.fail(
                    path, f"{line!r:.80} is not a line of fping such as HOST : [0], 64 bytes, 40.1 ms; remove it", at
                )
            continue
        hosts[row["host"]] = None
        if row.re is _TOTALS:
            totals.append(row)
        elif row.re is _LIST:
            probes |= {number: _answer(path, None, text, at) for number, text in enumerate(row["rtts"].split())}
        elif probes.get(number := int(row["number"])) is None:
            probes[number] = _answer(path, row["stamp"], row["rtt"], at)
    if len(hosts) > 1:
        first, second, *_ = hosts
        texts.fail(path, f"has probes of {len(hosts)} hosts, {first} and {second}; keep the lines of one")
    answers = {number: answer for number, answer in probes.items() if answer is not None}
    # Without its first lines a file starts with a later number.
    start = min(probes, default=0)
    sent = max(max(probes, default=-1) + 1 - start, 0 if probes and start else sum(int(row["sent"]) for row in totals))
    least = [texts.round_trip(path, row["least"], 1e-3, "min") for row in totals if row["least"]]
    if not answers and not least:
        texts.fail(path, f"none of {sent} probes received a reply: there is no round trip; probe a host that answers")
    received = len(answers) if answers else min(sum(int(row["received"]) for row in totals), sent)
    found = Found(f"{received} replies to {sent} probes of fping.")
    interval_s = options.interval_s or 1.0
    if answers:
        _times(path, found, answers, start, interval_s)
    else:
        found.delay = Measured(min(least) / 2, f"half of the minimum RTT in the summary, {min(least) * 1000:g} ms")
        found.duration_s = max(sent * interval_s, 1.0)
        found.notes.append("The file has a summary and no replies, so the delay does not change.")
    if sent > received:
        ping.losses(found, 1 - received / sent)
    return found


def _answer(path: Path, stamp: str | None, text: str | None, at: int) -> tuple[float | None, float] | None:
    """Returns the time of day and the round trip of a reply, in seconds; None for a probe without a reply."""
    if text is None or text == "-":
        return None
    return float(stamp) if stamp else None, texts.round_trip(path, text, 1e-3, "the round trip", line=at)


def _times(
    path: Path, found: Found, answers: dict[int, tuple[float | None, float]], start: int, interval_s: float
) -> None:
    """Sets the delay over time: by the times at the start of the lines, or by the numbers of the probes."""
    if all(stamp is not None for stamp, _ in answers.values()):
        sent = [(stamp - rtt, rtt) for stamp, rtt in answers.values() if stamp is not None]
        origin = min(when for when, _ in sent)
        found.origin_s = origin
        ping.delays(path, found, [(when - origin, rtt) for when, rtt in sent])
        return
    ping.delays(path, found, [((number - start) * interval_s, rtt) for number, (_, rtt) in answers.items()])
    found.notes.append(f"The file has no times of day (fping -D): the probes were sent every {interval_s:g} s.")
