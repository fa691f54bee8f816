"""A test by iperf or iperf3, whatever the form of its output, and the path that follows from it.

A sender's goodput is not the rate of the link. Slow start, recovery and windows keep it below this rate. A trace of the
goodput would turn each of these effects into a slow link, which would slow down the simulated sender a second time.
Hence:

- The intervals at the start in which the goodput still grows carry no information about the link.
- Where the RTT is a quarter above its minimum, a queue has built up: the path was full, and what arrived is its rate.
- Where the goodput is steady, the link has this rate at least.
- A goodput that varies becomes a trace only if the intervals are long against the RTT, so that a sender can follow.

Without signs of a queue, the scenario notes that the link may be faster. Datagrams that a full link dropped are not
also simulated as random losses: if many were lost, the link gets their arrival rate.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lightlag.imports import texts
from lightlag.imports.found import Arrived, Found, Measured, Options, Row, Side
from lightlag.outcomes.variables import quantity
from lightlag.text.quantities import rate as shown

__all__ = ["Direction", "Interval", "Report", "path_of"]

TCP_HEADERS, UDP_HEADERS = 52, 28
"""Size of the headers in bytes: IPv4 and TCP with timestamps; IPv4 and UDP."""
MSS = 1448.0
_QUEUEING = 1.25
"""Minimum RTT, as a multiple of the minimum of the test, that indicates a queue."""
_STEADY = 0.1
"""Maximum deviation of a steady goodput from the median."""
_GROWN = 0.8
"""The initial growth ends with the first interval that reaches this fraction of the plateau, the median of the upper
half.
"""
_STALLED = 0.2
"""Minimum goodput as a fraction of the median.

A slower sender has stalled, and its goodput does not measure the link.
"""
_FULL_LOSS = 0.05
"""Minimum loss of datagrams that indicates a full link."""
_COVERED = 0.9
"""Minimum fraction of a test that the intervals must cover."""
_MIN_ROWS = 5
"""Minimum number of intervals of a trace."""
_RTTS = 10
"""Minimum length of an interval in RTTs, so that a sender can follow a trace."""
_USUAL_RTT_S = 0.1
"""RTT in seconds that is assumed if a test reports none."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The report of a test on one interval."""

    start_s: float
    end_s: float
    bps: float
    """Payload per second, sent or received."""
    loss: float | None = None
    """Fraction of the datagrams that were lost."""
    rtt_s: float | None = None
    """Smoothed RTT of the sender at the end of the interval."""


@dataclass
class Direction:
    """The data of one direction."""

    intervals: list[Interval] = field(default_factory=list)
    is_sent: bool = True
    """Whether the intervals report sent data; otherwise received data."""
    sent_bps: float | None = None
    """Mean payload per second that was sent; only for datagrams."""
    received_bps: float | None = None
    """Mean payload per second that was received."""
    loss: float | None = None
    """Fraction of all datagrams that were lost."""
    retransmits: float | None = None
    length_s: float | None = None
    """Duration of the test according to its totals, in seconds."""


@dataclass
class Report:
    """A test with its directions and settings."""

    program: str
    is_udp: bool = False
    payload: float | None = None
    """Payload of a packet in bytes."""
    directions: dict[Side, Direction] = field(default_factory=dict)
    min_rtt_s: float | None = None
    congestion: str | None = None
    error: str | None = None
    """Reason why the test stopped early."""
    streams: int = 1
    """Number of connections in each direction."""
    target_bps: float | None = None
    """Rate limit that was set for the sender."""
    tests: int = 1
    """Number of tests in the file; this is the last one with data."""


def path_of(path: Path, test: Report, options: Options) -> Found:
    """Returns the path of a test.

    Raises
    ------
    InputError
        If nothing arrived.
    """
    given: list[Side] = [side for side in ("forward", "backward") if test.directions.get(side)]
    sides = [side for side in given if any(one.bps >= 1 for one in test.directions[side].intervals)]
    if not sides:
        why = f": {test.error}" if test.error else ""
        texts.fail(path, f"nothing arrived in any interval, so there is no rate{why}; repeat the test")
    found, *others = [_direction(test, side, options) for side in sides]
    if others:
        found.other = others[0]
        found.notes += others[0].notes
    count = sum(len(test.directions[side].intervals) for side in sides)
    both = ", both directions" if others else ""
    found.title = f"A test by {test.program}: {count} interval{'s' * (count != 1)}{both}."
    if len(sides) < len(given):
        found.notes.append("Nothing arrived in the other direction, so that it has no flow.")
    found.notes += _notes(test)
    if test.min_rtt_s:
        found.delay = Measured(test.min_rtt_s / 2, f"half of the minimum RTT, {test.min_rtt_s * 1000:g} ms")
    for one in (found, *others):
        one.mss = Measured(test.payload or MSS, "the payload of its packets" if test.payload else "the default payload")
        if test.congestion and not test.is_udp:
            one.congestion = (test.congestion, "the sender's in the test")
    return found


def _notes(test: Report) -> list[str]:
    notes = []
    if test.tests > 1:
        notes.append(f"The file has {test.tests} tests; this is the last one with data.")
    if test.error:
        notes.append(f"The test ended early ({test.error}); the intervals before that count.")
    if test.streams > 1:
        notes.append(f"{test.streams} connections were measured together; the flow of the scenario is one.")
    if test.target_bps and not test.is_udp:
        notes.append(f"The sender was limited to {shown(test.target_bps)} (iperf3 -b).")
    return notes


def _direction(test: Report, side: Side, options: Options) -> Found:
    direction = test.directions[side]
    start = min(one.start_s for one in direction.intervals)
    found = Found("", side=side, is_backward=side == "backward", is_udp=test.is_udp)
    found.duration_s = max(one.end_s for one in direction.intervals) - start
    found.arrived = [Arrived(one.start_s - start, one.bps, one.rtt_s, one.loss) for one in direction.intervals]
    headers = UDP_HEADERS if test.is_udp else TCP_HEADERS
    payload = test.payload or MSS
    overhead = 1 + headers / payload
    said = f"with {headers} B of headers for each {payload:g} B of payload"
    if test.is_udp:
        _datagrams(found, direction, start, overhead, said)
    else:
        _connection(found, _rtt(test, options), direction, overhead, said)
    _compare_totals(found, direction)
    if options.rate is not None:
        # The given rate is the rate of the link at all times.
        found.rows = []
    if direction.retransmits:
        found.notes.append(
            f"{direction.retransmits:g} segments were retransmitted; losses from a full queue are among them, so loss "
            "is left out."
        )
    return found


def _rtt(test: Report, options: Options) -> float:
    """Returns the RTT of a test in seconds: as measured, from the delay that the user gave, or the default."""
    given = None if options.delay is None else quantity(options.delay, "s")[0]
    return test.min_rtt_s or 2 * (given or 0.0) or _USUAL_RTT_S


def _compare_totals(found: Found, direction: Direction) -> None:
    """Notes differences between the totals of a test and its intervals.

    Some intervals may be missing, and senders count buffered data.
    """
    lengths = [one.end_s - one.start_s for one in direction.intervals]
    covered, total = sum(lengths), direction.length_s
    if total is not None and covered < _COVERED * total:
        found.duration_s = total
        found.notes.append(f"The file has intervals of {covered:.4g} s of a test of {total:.4g} s.")
        return
    received = direction.received_bps
    mean = sum(one.bps * length for one, length in zip(direction.intervals, lengths, strict=True)) / max(covered, 1e-9)
    if not found.is_udp and received and abs(received - mean) > _STEADY * mean:
        found.notes.append(f"On average {shown(received)} arrived by the totals, and {shown(mean)} by the intervals.")


def _connection(found: Found, rtt_s: float, direction: Direction, overhead: float, said: str) -> None:
    """Sets the rate of the link, inferred from the goodput of a TCP connection."""
    intervals = _counting(direction.intervals)
    full = _with_queue(intervals)
    used = full or _grown(intervals)
    rates = [one.bps for one in used]
    middle = statistics.median(rates)
    close = sum(abs(rate - middle) <= _STEADY * middle for rate in rates)
    length = statistics.median(one.end_s - one.start_s for one in used)
    if full:
        found.notes.append(f"The path was full: the RTT shows a queue in {len(full)} of {len(intervals)} intervals.")
    else:
        known = any(one.rtt_s for one in intervals)
        why = "no RTT shows a queue" if known else "the file has no RTTs that would show a queue"
        found.notes.append(
            f"No sign that the path was full ({why}): the rate is what arrived, and the link may be faster. Give "
            "its rate with --rate."
        )
    if close >= 0.8 * len(rates):
        found.rate = Measured(middle * overhead, f"the median of the goodput {_when(full)}, {said}")
    elif len(used) >= _MIN_ROWS and length >= _RTTS * rtt_s:
        found.rate = Measured(
            max(rates) * overhead, f"the largest goodput {_when(full)}, {said}; the trace replaces it"
        )
        start = direction.intervals[0].start_s
        found.rows = [Row(max(one.start_s - start, 0.0), one.bps * overhead) for one in used]
        found.rows[0] = Row(0.0, found.rows[0].rate_bps)
        found.notes.append("The trace has no intervals in which the goodput still grew or the sender had stalled.")
    else:
        found.rate = Measured(statistics.fmean(rates) * overhead, f"the mean of the goodput {_when(full)}, {said}")


def _when(full: Sequence[Interval]) -> str:
    return "while a queue was there" if full else "after it had grown"


def _counting(intervals: Sequence[Interval]) -> list[Interval]:
    """Returns the intervals with data, without short ones such as the last, whose rate is not meaningful."""
    usual = statistics.median(one.end_s - one.start_s for one in intervals)
    kept = [one for one in intervals if one.bps >= 1 and one.end_s - one.start_s >= usual / 2]
    return kept or [one for one in intervals if one.bps >= 1]


def _with_queue(intervals: Sequence[Interval]) -> list[Interval]:
    """Returns the intervals whose RTTs show a queue; none if the RTTs of the test do not rise."""
    rtts = [one.rtt_s for one in intervals if one.rtt_s]
    if not rtts:
        return []
    least = min(rtts)
    full = [one for one in intervals if one.rtt_s and one.rtt_s >= _QUEUEING * least]
    if len(full) < 2:
        return []
    # With a queue, a sender that has stalled after a loss still gets the rate of the link, but not for an entire
    # interval.
    middle = statistics.median(one.bps for one in full)
    return [one for one in full if one.bps >= _GROWN * middle]


def _grown(intervals: Sequence[Interval]) -> list[Interval]:
    """Returns the intervals after the initial growth of the goodput, without stalls of the sender."""
    upper = sorted(one.bps for one in intervals)[len(intervals) // 2 :]
    plateau = statistics.median(upper)
    first = next(at for at, one in enumerate(intervals) if one.bps >= _GROWN * plateau)
    middle = statistics.median(one.bps for one in intervals[first:])
    return [one for one in intervals[first:] if one.bps >= _STALLED * middle]


def _datagrams(found: Found, direction: Direction, start: float, overhead: float, said: str) -> None:
    """Sets the rate of the link and the loss, inferred from the datagrams sent and received."""
    intervals = direction.intervals
    mean = statistics.fmean(one.bps for one in intervals)
    loss = direction.loss
    if loss is None:
        losses = [one.loss for one in intervals if one.loss is not None]
        loss = statistics.fmean(losses) if losses else None
    if direction.is_sent:
        sent = direction.sent_bps or mean
        received = direction.received_bps if direction.received_bps is not None else sent
        # Old versions repeat the rate of the sender in the totals.
        received = min(received, sent * (1 - (loss or 0.0)))
    else:
        # Old versions put the rate of the sender into the totals.
        total = direction.received_bps
        received = total if total and total < 1.25 * mean else mean
        known = direction.sent_bps if direction.sent_bps and direction.sent_bps > received else None
        sent = received / (1 - loss) if loss is not None and loss < 1 else known or received
    if received < 1:
        found.notes.append("No datagram arrived.")
    share = max(1 - received / sent, 0.0) if sent else 0.0
    found.traffic = Measured(sent, "what was sent")
    if share < _FULL_LOSS or received < 1:
        found.rate = Measured(sent * overhead, f"what was sent, {said}: a lower bound")
        found.notes.append("The link carried all that was sent, so that it may be faster. Give its rate with --rate.")
        if share > 0:
            found.loss = {found.side or "forward": Measured(share, f"{share:.3g} of the datagrams were lost")}
        return
    found.notes.append(
        f"{100 * share:.3g} % of the datagrams were lost. It is assumed that a full link dropped them: the rate of the "
        "link is the rate of the datagrams that arrived, and loss is left out."
    )
    found.rate = Measured(received * overhead, f"what arrived, {said}")
    arrived = [one.bps for one in intervals] if not direction.is_sent else []
    if len(arrived) >= _MIN_ROWS and max(arrived) - min(arrived) > 2 * _STEADY * received:
        found.rate = Measured(max(arrived) * overhead, f"the fastest interval, {said}; the trace replaces it")
        found.rows = [Row(max(one.start_s - start, 0.0), one.bps * overhead) for one in intervals]
