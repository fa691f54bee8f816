"""The output of ping in any language: from Linux, BusyBox, BSD, macOS and Windows, of one run or of several in a row.

A reply is a line with a round trip after "=" or "<" and a sequence number, a TTL or a hop limit next to it; the words
between them are ignored. Probes are counted by their sequence numbers, which have 16 bits and wrap, and without numbers
(Windows) by their lines. The summary at the end of a run counts probes that have no line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lightlag.imports import texts
from lightlag.imports.found import LONGEST_S, Found, Measured, Options, Row
from lightlag.imports.sample import Sample

__all__ = ["ABOUT", "delays", "losses", "read", "recognises"]

ABOUT = "the output of ping"
ROUND = 1 << 16
"""Number of ICMP sequence numbers, which have 16 bits (RFC 792)."""
MAX_SEQUENCE = 1 << 32

_PAIR = re.compile(
    r"(?P<key>[^\s=<>:,()\[\]]*)\s*[=<]\s*(?P<value>[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![.,]?[0-9])"
    r"(?:\s?(?:(?P<unit>msec|ms|usec|us|µs|μs|мс|sec|s)|(?P<foreign>[^\s\d,;:.()=<>\[\]/%]{1,6}))"
    r"(?=[\s,;:.()\]]|$)(?!\s*[=<]))?",
    re.IGNORECASE,
)
_SEQUENCE = re.compile(r"(?:icmp_seq|icmp_req|icmp_seqno|\bseq)\s*[=\s]\s*(\d{1,20})\b", re.IGNORECASE)
_NO_TIME = re.compile(r"icmp_seq|icmp_req|seq|ttl|hlim|hops?|bytes|size|mtu|id", re.IGNORECASE)
_CUT = re.compile(r"\btime\s*[=<]\s*[0-9.,]+\s*$", re.IGNORECASE)
"""Matches a reply that ends before the unit of its round trip."""
_OF_REPLY = re.compile(r"\b(?:ttl|hlim|time)\s*[=<]", re.IGNORECASE)
_EPOCH = re.compile(r"^\[?(\d{9,11}(?:\.\d+)?)\]?\s")
_DATE = re.compile(r"^\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\]?:?\s")
_HEADER = re.compile(r"^H?PING6?[\s(].*[\d.]|^PING \S+$|^Ping \S+ \(.*\d")
_COUNTS_FROM_ZERO = re.compile(r"^HPING|^PING6?\(|:\s+\d+\s", re.IGNORECASE)
_HOST = re.compile(r"-->\s*(\S+)|^H?PING6?\s+([^\s()]+)", re.IGNORECASE)
_WINDOWS_HEADER = re.compile(r"^[^=<]*(?<![\d.:\w])\d{1,5}(?![\d.:])[^=<]*[:：]\s*$")
_STATISTICS = re.compile(r"^--.*--\s*$")
_COUNTS = re.compile(r"^\s*(\d{1,10})\s[^,=]*,\s*(\d{1,10})\s[^,=%]*,.*?%(?:\D*?\b(\d{1,12})\s?ms\b)?")
_COUNTS_IN_SUMMARY = re.compile(
    r"^[^\d%=]*(\d{1,10})[^\d%]+(\d{1,10})(?!\d*+[.,]?\d*+\s?%)[^%]*%(?:\D*?(\d{1,12})\s?[^\s\d])?"
)
_WINDOWS_COUNTS = re.compile(r"^[^=]*=\s*(\d{1,10})\D+=\s*(\d{1,10})\D+=\s*(\d{1,10})\b(?!\s*%)")
_SPREAD = re.compile(r"=\s*([\d.,]+(?:e[+-]?\d+)?)/([\d.,]+)(?:/[\d.,/]+)?\s*(ms|us|s)?\b", re.IGNORECASE)
_LOST = re.compile(r"timed? ?out|no answer yet|unreachable", re.IGNORECASE)
_UNITS = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "msec": 1e-3, "мс": 1e-3, "us": 1e-6, "usec": 1e-6, "µs": 1e-6, "μs": 1e-6}


@dataclass
class _Run:
    """One invocation of ping."""

    host: str | None = None
    first: int | None = None
    """Sequence number of the first probe; None if the file starts in the middle of the run."""
    has_header: bool = False
    """Whether the run starts with the header of a Unix ping."""
    answers: dict[int, tuple[float | None, float]] = field(default_factory=dict)
    """Time of day, if reported, and round trip of each reply in seconds, by number."""
    lost: set[int] = field(default_factory=set)
    """Numbers of probes that have a line but no reply."""
    unnumbered: int = 0
    """Number of error lines of a Unix ping that have no sequence number."""
    has_numbers: bool = False
    summary_sent: int | None = None
    summary_received: int | None = None
    summary_s: float | None = None
    """Duration of the run according to its summary."""
    summary_rtt_s: float | None = None
    """Minimum round trip according to its summary."""
    lowest: int | None = None
    highest: int = -1
    _last: int = 0
    _round: int = 0

    def number(self, number: int) -> int:
        """Converts a 16-bit sequence number to one that does not wrap."""
        if number + ROUND // 2 < self._last:
            self._round += ROUND
        elif number > self._last + ROUND // 2 and self._round:
            # A late reply from the previous round of sequence numbers.
            return self._round - ROUND + number
        self._last = number
        return self._round + number

    def take(self, number: int, answer: tuple[float | None, float] | None) -> None:
        """Counts a probe with its reply, or without one so far. A second reply is a duplicate."""
        self.lowest = number if self.lowest is None else min(self.lowest, number)
        self.highest = max(self.highest, number)
        if answer is not None:
            self.lost.discard(number)
            self.answers.setdefault(number, answer)
        elif number not in self.answers:
            self.lost.add(number)

    @property
    def start(self) -> int:
        """Sequence number of the first probe that counts."""
        seen = 0 if self.lowest is None else self.lowest
        return seen if self.first is None else min(self.first, seen if self.lowest is not None else self.first)

    @property
    def sent(self) -> int:
        """Number of probes from the first that counts to the last one that was sent."""
        sent = max(self.highest - self.start + 1, 0) if self.lowest is not None else self.unnumbered
        if self.summary_sent is not None:
            # Without its header a run of Linux is taken to have started with 1.
            before = 0 if self.first is not None or not self.has_numbers else max(self.start - 1, 0)
            sent = max(sent, self.summary_sent - before)
        return sent

    @property
    def received(self) -> int:
        """Number of probes with a reply; if there are fewer lines than the summary states (ping -q), the summary's
        number.
        """
        if self.summary_received is not None and (self.first is not None or not self.answers):
            # Windows counts a router's reply, such as "unreachable", as received.
            return max(len(self.answers), min(self.summary_received, self.sent - len(self.lost)))
        return len(self.answers)


def recognises(sample: Sample) -> bool:
    """Returns true for the header, a reply or the summary of ping."""
    lines = sample.lines
    return any(_HEADER.match(line) is not None or _round_trip(line) is not None for line in lines[:80]) or any(
        (_STATISTICS.match(line) and "ping" in line.lower()) or _windows_counts(line) for line in lines
    )


def read(path: Path, options: Options) -> Found:
    """Returns the delay over time, and the fraction of probes without a reply."""
    runs = [run for run in _runs(path) if run.sent]
    hosts = list(dict.fromkeys(run.host for run in runs if run.host))
    if len(hosts) > 1:
        texts.fail(path, f"has pings of {len(hosts)} hosts, {hosts[0]} and {hosts[1]}; keep the lines of one")
    sent, received = sum(run.sent for run in runs), sum(run.received for run in runs)
    spreads = [run.summary_rtt_s for run in runs if run.summary_rtt_s is not None]
    if not any(run.answers for run in runs) and not (received and spreads):
        if sent:
            texts.fail(
                path, f"none of {sent} probes received a reply: there is no round trip; ping a host that answers"
            )
        texts.fail(path, "has no reply: no line with a round trip such as time=40 ms; is it the output of ping?")
    found = Found(f"{received} replies to {sent} probes of ping.")
    probes, origin, interval_s = _times(runs, options)
    found.origin_s = origin
    if probes:
        delays(path, found, probes)
    else:
        least = min(spreads)
        found.delay = Measured(least / 2, f"half of the minimum RTT in the summary, {least * 1000:g} ms")
        found.duration_s = max(sent * interval_s, 1.0)
        found.notes.append("The file has a summary and no replies, so the delay does not change.")
    if sent > received:
        losses(found, 1 - received / sent)
    if origin is None and probes:
        found.notes.append(f"The file has no times of day (ping -D): the probes were sent every {interval_s:g} s.")
    return found


def _runs(path: Path) -> list[_Run]:
    """Returns the runs in a file; the first holds the lines before a header."""
    runs: list[_Run] = [_Run()]
    is_over = False
    lines = texts.short_lines(path)
    for at, raw in lines:
        line, run = raw.strip("\ufeff\r"), runs[-1]
        if _HEADER.match(line):
            host = _HOST.search(line)
            # iputils counts from 1 and has no colon before the number of bytes, but for its interface; others from 0.
            first = 0 if _COUNTS_FROM_ZERO.search(line) and not re.search(r"\d\(\d+\)", line) else 1
            runs.append(_Run((host[1] or host[2]) if host else None, first, has_header=True))
            is_over = False
            continue
        rtt = _round_trip(line)
        if rtt is None:
            if _WINDOWS_HEADER.match(line) and not run.has_numbers and not (run.has_header and not is_over):
                runs.append(_Run(first=0))
                is_over = False
            elif _STATISTICS.match(line) or _read_summary(path, run, line, at, is_over):
                is_over = True
            elif not is_over and not (_is_reply(line) and at == lines[-1][0]):
                # The last line of a ping that was killed may be incomplete.
                _check_reply(path, line, at)
                _read_lost(path, run, line, at)
            continue
        _check_unit(path, line, at)
        if _CUT.search(line) and any(_round_trip(other) is not None and not _CUT.search(other) for _, other in lines):
            if at != lines[-1][0]:
                texts.fail(path, f"{line.strip()!r:.100} is cut after its time; remove the line", at)
            continue
        if is_over:
            run = _Run(run.host)
            runs.append(run)
            is_over = False
        if "DUP!" not in line:
            number = _sequence(path, run, line, at)
            run.take(run.highest + 1 if number is None else number, (_stamp(line), rtt))
    return runs


def _is_reply(line: str) -> bool:
    """Returns true if a line has what only a reply has: a TTL or a time next to the number of the probe."""
    return _SEQUENCE.search(line) is not None and _OF_REPLY.search(line) is not None


def _check_reply(path: Path, line: str, at: int) -> None:
    """Rejects a reply without a round trip, which would count as a lost probe."""
    if _is_reply(line):
        texts.fail(
            path,
            f"{line.strip()!r:.100} has no round trip in ms; remove the line (ping measures it with 16 bytes or more)",
            at,
        )


def _check_unit(path: Path, line: str, at: int) -> None:
    """Rejects a round trip in a unit of time that no ping prints, which would be taken for milliseconds."""
    for pair in _PAIR.finditer(line):
        if pair["foreign"] is not None and pair["key"].lower() == "time" and pair["foreign"].isascii():
            texts.fail(path, f"{pair[0]}: round trips are in ms, us or s; convert this one", at)


def _round_trip(line: str) -> float | None:
    """Returns the round trip of a reply in seconds; None for every other line."""
    if "=" not in line and "<" not in line:
        return None
    pairs = list(_PAIR.finditer(line))
    has_mark = _SEQUENCE.search(line) is not None or any(
        re.fullmatch(r"ttl|hlim", one["key"], re.IGNORECASE) for one in pairs
    )
    times = [
        (one, factor)
        for one in pairs
        if not _NO_TIME.fullmatch(one["key"]) and (factor := _factor(one, has_mark)) is not None
    ]
    if len(times) != 1:
        return None
    pair, factor = times[0]
    # Windows shows no TTL of IPv6.
    if not (has_mark or pair["key"].lower() == "time" or line.count(":") > 3):
        return None
    rtt = float(pair["value"].replace(",", ".")) * factor
    return rtt if rtt < ROUND else None


def _factor(pair: re.Match[str], has_mark: bool) -> float | None:
    """Returns the size of a value's unit in seconds; None if it is not a unit of time."""
    if pair["unit"] is not None:
        return _UNITS[pair["unit"].lower()]
    if pair["foreign"] is not None and not pair["foreign"].isascii():
        # Milliseconds in another alphabet, perhaps in a code page that is not known.
        return 1e-3 if has_mark else None
    return 1e-3 if pair["key"].lower() == "time" else None


def _sequence(path: Path, run: _Run, line: str, at: int) -> int | None:
    """Returns the sequence number of the probe of a line, unwrapped; None for a line without one."""
    reported = _SEQUENCE.search(line)
    if reported is None:
        return None
    if int(reported[1]) >= MAX_SEQUENCE:
        texts.fail(path, f"sequence number {reported[1]} is not below 2^32; remove the line", at)
    run.has_numbers = True
    return run.number(int(reported[1]))


def _read_lost(path: Path, run: _Run, line: str, at: int) -> None:
    """Counts a line that reports a probe without a reply."""
    number = _sequence(path, run, line, at)
    if number is not None:
        run.take(number, None)
        return
    is_error = _LOST.search(line) is not None
    if run.has_header or run.has_numbers:
        # A probe that has no line shows as a gap between numbers.
        run.unnumbered += is_error
        return
    # Windows, perhaps in a language that is not known: a line among answers that is none.
    among = run.first == 0 or bool(run.answers)
    if is_error or (among and "=" not in line and len(line.strip()) > 3 and not line.rstrip().endswith((":", "："))):
        run.take(run.highest + 1, None)


def _stamp(line: str) -> float | None:
    """Returns the time of day at the start of a line, in seconds since 1970."""
    if epoch := _EPOCH.match(line):
        return float(epoch[1])
    date = _DATE.match(line)
    if date is None:
        return None
    try:
        when = datetime.fromisoformat(date[1].replace(",", "."))
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _read_summary(path: Path, run: _Run, line: str, at: int, is_over: bool) -> bool:
    """Stores the values of a summary line in a run; returns whether the line belongs to a summary."""
    if windows := _windows_counts(line):
        run.summary_sent, run.summary_received = windows
    elif counts := _COUNTS.match(line) or (_COUNTS_IN_SUMMARY.match(line) if is_over else None):
        run.summary_sent, run.summary_received = int(counts[1]), int(counts[2])
        run.summary_s = int(counts[3]) / 1000 if counts[3] else None
        if run.summary_received > run.summary_sent:
            texts.fail(
                path,
                f"{run.summary_received} replies to {run.summary_sent} probes: the summary is inconsistent; remove it",
                at,
            )
    elif spread := _SPREAD.search(line):
        unit_s = _UNITS[(spread[3] or "ms").lower()]
        least = spread[1].replace(",", ".")
        run.summary_rtt_s = texts.round_trip(path, least, unit_s, "the minimum round trip", line=at)
    else:
        return False
    if (run.summary_sent or 0) >= MAX_SEQUENCE:
        texts.fail(path, f"{run.summary_sent} probes are not below 2^32; remove the summary", at)
    return True


def _windows_counts(line: str) -> tuple[int, int] | None:
    """Returns the probes and replies of a Windows summary; its third number must be their difference."""
    counts = _WINDOWS_COUNTS.match(line)
    if counts is None or int(counts[1]) == 0 or int(counts[1]) != int(counts[2]) + int(counts[3]):
        return None
    return int(counts[1]), int(counts[2])


def _times(runs: Sequence[_Run], options: Options) -> tuple[list[tuple[float, float]], float | None, float]:
    """Returns the replies by time of sending and round trip in seconds, the time of the first one since 1970 if the
    file has it, and the interval.
    """
    interval_s = options.interval_s or _reported_interval(runs) or 1.0
    answers = [answer for run in runs for answer in run.answers.values()]
    if answers and all(stamp is not None for stamp, _ in answers):
        sent = [(stamp - rtt, rtt) for stamp, rtt in answers if stamp is not None]
        start = min(when for when, _ in sent)
        return [(when - start, rtt) for when, rtt in sent], start, interval_s
    probes, offset = [], 0
    for run in runs:
        start = run.start
        probes += [((offset + number - start) * interval_s, rtt) for number, (_, rtt) in run.answers.items()]
        offset += run.sent
    return probes, None, interval_s


def _reported_interval(runs: Sequence[_Run]) -> float | None:
    """Returns the time between two probes, calculated from the summaries: Linux prints the duration of a run."""
    reported = [
        (run.summary_s, run.summary_sent - 1)
        for run in runs
        if run.summary_s and run.summary_sent and run.summary_sent > 1
    ]
    count = sum(gaps for _, gaps in reported)
    return None if not count else float(f"{sum(duration for duration, _ in reported) / count:.2g}")


def delays(path: Path, findings: Found, probes: list[tuple[float, float]]) -> None:
    """Sets the delay of a path from times and round trips, in seconds.

    Raises
    ------
    InputError
        If a time exceeds the maximum duration of a scenario.
    """
    probes.sort()
    if (last := probes[-1][0]) > LONGEST_S:
        texts.fail(path, f"the last probe was sent {last:g} s after the first, which is above 480 h; cut the file")
    least = min(rtt for _, rtt in probes)
    findings.delay = Measured(least / 2, f"half of the minimum RTT, {least * 1000:g} ms")
    findings.rows = [Row(when, delay_s=rtt / 2) for when, rtt in probes]
    findings.duration_s = probes[-1][0] + 1
    findings.notes.append("Each delay is half of a round trip: a probe cannot distinguish the directions.")


def losses(findings: Found, share: float) -> None:
    """Sets the loss of each direction from the fraction of round trips without a reply."""
    # Both the request and the answer may have been lost.
    each = 1 - (1 - share) ** 0.5
    origin = f"{share:.3g} of the probes had no reply; both directions have the same loss"
    findings.loss = {"forward": Measured(each, origin), "backward": Measured(each, origin)}
