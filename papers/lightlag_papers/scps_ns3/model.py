"""An independent program that behaves like the paper's simulator: it has only the rules of ns-3's TCP of 2016/17.

There is one sender, a forward link and a return link, each with a drop-tail queue. There are no options, and the
handshake only takes time. The rules come from ns-3's `TcpSocketBase`, `TcpNewReno` and `TcpVegas` of these
years:

- the first data segment is acknowledged immediately;
- an ACK of new data counts one segment in slow start and 1/W in avoidance, however much it covers;
- without timestamps the oldest segment of an ACK gives the round-trip sample, and congestion control receives the
  smoothed one; RTO = SRTT + 4 RTTVAR, at least 1 s;
- the third duplicate starts fast recovery; its first partial ACK restarts the timer, later ones do not;
- the first two duplicates let a new segment out each (RFC 3042);
- an ACK in fast recovery that is not the last subtracts the acknowledged data from the window
  and gives a segment back (RFC 6582 §3.2 step 5), and nothing else grows it; the last sets it to the data in flight;
- data in flight is sent minus acknowledged data, minus duplicates, plus retransmissions;
- Vegas doubles like NewReno, needs three samples in a round, and reduces by a loss to its threshold.

It shares no code with the simulator.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

DUPLICATES = 3
HEADER_BYTES, SNACK_BYTES = 42, 8
BUFFER_BYTES = 300_000
MOST_HOLES = 6


@dataclass(frozen=True)
class Path:
    """The path of the model.

    Attributes
    ----------
    return_bps
        Rate of the return path.
    delay_s
        One-way delay.
    payload, packet
        Payload of a full segment, and its size on the link, in bytes.
    queue
        Maximum number of queued packets on the forward path.
    ber
        Bit error rate in both directions.
    """

    return_bps: float = 1.5e6
    delay_s: float = 0.05
    payload: int = 472
    packet: int = 514
    queue: int = 36
    ber: float = 0.0
    forward_bps: float = 1.5e6
    file_bytes: int = 5_000_000

    def survives(self, size: int, chance: random.Random) -> bool:
        """Returns true if a packet of `size` bytes arrives undamaged."""
        return not self.ber or chance.random() < (1 - self.ber) ** (8 * size)


@dataclass(frozen=True)
class Ends:
    """The behaviour of the endpoints.

    Attributes
    ----------
    vegas
        Whether the window follows Vegas instead of NewReno.
    ack_interval_s
        SCPS-TP: interval between ACKs, which report the holes. With 0, ACKs are delayed by two segments or 200 ms.
    rate_bps
        Rate of the token bucket, in bytes of IP; 0 means no rate control.
    smoothed
        Whether Vegas uses the smoothed round-trip time, as in ns-3, instead of the newest segment's.
    """

    vegas: bool = False
    ack_interval_s: float = 0.0
    rate_bps: float = 0.0
    smoothed: bool = True


@dataclass
class Receiver:
    """The data that has arrived at the receiver."""

    expected: int = 0
    above: set[int] = field(default_factory=set)

    def take(self, segment: int) -> None:
        """Handles the arrival of a segment."""
        if segment >= self.expected:
            self.above.add(segment)
        while self.expected in self.above:
            self.above.remove(self.expected)
            self.expected += 1

    def holes(self) -> list[range]:
        """Returns the first holes in the received data, at most six."""
        found: list[range] = []
        at = self.expected
        for segment in sorted(self.above):
            if segment > at:
                found.append(range(at, segment))
                if len(found) == MOST_HOLES:
                    break
            at = segment + 1
        return found


@dataclass
class Window:
    """The window and ssthresh in segments, by the rules of NewReno or Vegas."""

    vegas: bool
    cwnd: float = 1.0
    ssthresh: float = float("inf")
    base: float = float("inf")
    least: float = float("inf")
    samples: int = 0
    round_end: int = 0

    def sample(self, rtt: float) -> None:
        """Handles a round-trip sample."""
        self.base, self.least = min(self.base, rtt), min(self.least, rtt)
        self.samples += 1

    def grow(self, una: int, following: int, *, is_open: bool) -> None:
        """Handles an ACK of new data."""
        if not self.vegas or not is_open:
            self._as_newreno()
        elif una >= self.round_end:
            self.round_end = following
            if self.samples <= 2:
                self._as_newreno()
            else:
                self._decide()
            self.samples, self.least = 0, float("inf")
        elif self.cwnd < self.ssthresh:
            self.cwnd += 1

    def _as_newreno(self) -> None:
        self.cwnd += 1 if self.cwnd < self.ssthresh else 1 / self.cwnd

    def _decide(self) -> None:
        """Updates Vegas' window once per round trip, with the thresholds 2, 4 and 1."""
        whole = int(self.cwnd)
        target = int(whole * self.base / self.least)
        waiting = whole - target
        if waiting > 1 and self.cwnd < self.ssthresh:
            self.cwnd = min(whole, target + 1)
            self.ssthresh = self.threshold(0)
        elif self.cwnd < self.ssthresh:
            self.cwnd += 1
        elif waiting > 4:
            self.cwnd = whole - 1
            self.ssthresh = self.threshold(0)
        elif waiting < 2:
            self.cwnd = whole + 1
        self.ssthresh = max(self.ssthresh, 0.75 * self.cwnd)

    def threshold(self, flight: int) -> float:
        """Returns the window after a loss."""
        return max(min(self.ssthresh, self.cwnd - 1), 2.0) if self.vegas else max(flight / 2, 2.0)


class Link:
    """A drop-tail queue before a link; `carry` adds a packet."""

    def __init__(self, rate_bps: float, delay_s: float, queue: int) -> None:
        self.rate_bps, self.delay_s, self.queue = rate_bps, delay_s, queue
        self.leaving: deque[float] = deque()

    def carry(self, now: float, size: int) -> float | None:
        """Adds a packet and returns its arrival time; None if the queue is full."""
        while self.leaving and self.leaving[0] <= now:
            self.leaving.popleft()
        if len(self.leaving) > self.queue:
            return None
        begin = self.leaving[-1] if self.leaving else now
        self.leaving.append(begin + 8 * size / self.rate_bps)
        return self.leaving[-1] + self.delay_s


@dataclass(frozen=True)
class Outcome:
    """The results of a transfer.

    Attributes
    ----------
    throughput_bps
        File size divided by the time until the last segment arrived.
    timeouts, largest
        Number of timeouts, and maximum window in segments.
    """

    throughput_bps: float
    timeouts: int
    largest: float


class _Run:
    """The state of a transfer."""

    def __init__(self, path: Path, ends: Ends, seed: int) -> None:
        self.path, self.ends, self.chance = path, ends, random.Random(seed)
        self.forward = Link(path.forward_bps, path.delay_s, path.queue)
        self.back = Link(path.return_bps, path.delay_s, 1000)
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.count = 0
        self.receiver, self.window = Receiver(), Window(ends.vegas)
        self.total = -(-path.file_bytes // path.payload)
        self.una = self.following = self.highest = self.recover = self.duplicates = self.repairs = self.timeouts = 0
        self.in_recovery = self.after_timeout = False
        self.is_first_partial = True
        self.sent_at: dict[int, float] = {}
        self.again: set[int] = set()
        # The handshake gives the first sample.
        self.srtt = 2 * path.delay_s + 8 * HEADER_BYTES * (2 / path.forward_bps + 1 / path.return_bps)
        self.variance, self.backoff = self.srtt / 2, 1
        self.deadline = float("inf")
        self.tokens_at, self.pending, self.ack_due = 0.0, 0, float("inf")
        self.finished: float | None = None
        self.largest = 1.0
        self.now = 2 * path.delay_s + 8 * HEADER_BYTES / path.return_bps

    def at(self, time: float, what: Callable[[], None]) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, what))

    def run(self) -> Outcome:
        self.send_window()
        while self.events and self.finished is None:
            self.now, _, what = heapq.heappop(self.events)
            what()
        seconds = self.finished or float("inf")
        return Outcome(8 * self.path.file_bytes / seconds, self.timeouts, self.largest)

    # The sender.

    def send_window(self) -> None:
        room = int(self.window.cwnd) + self.una
        while self.following < min(room, self.total, self.una + BUFFER_BYTES // self.path.payload):
            self.send_new()
        if self.following > self.una and self.deadline == float("inf"):
            self.arm()

    def send_new(self) -> None:
        self.send(self.following)
        self.following += 1
        self.highest = max(self.highest, self.following)

    def send(self, segment: int) -> None:
        if segment in self.sent_at:
            self.again.add(segment)
        leaves = self.now
        if self.ends.rate_bps:
            leaves = max(self.now, self.tokens_at)
            self.tokens_at = leaves + 8 * (self.path.packet - 2) / self.ends.rate_bps
        self.sent_at[segment] = leaves
        self.at(leaves, lambda: self.enter(segment))

    def enter(self, segment: int) -> None:
        """Sends a segment: it enters the queue of the forward link."""
        arrival = self.forward.carry(self.now, self.path.packet)
        if arrival is not None and self.path.survives(self.path.packet, self.chance):
            self.at(arrival, lambda: self.arrives(segment))

    def flight(self) -> int:
        """Number of outstanding segments, less those reported by duplicate ACKs, plus retransmissions."""
        return max(self.following - self.una + self.repairs - self.duplicates, 0)

    def repair(self, segment: int) -> None:
        self.repairs += 1
        self.send(segment)

    def arm(self) -> None:
        rto = max(1.0, self.srtt + max(0.001, 4 * self.variance)) if self.srtt else 1.0
        self.deadline = deadline = self.now + rto * self.backoff
        self.at(deadline, lambda: self.expires(deadline))

    def expires(self, deadline: float) -> None:
        if deadline != self.deadline:
            return
        self.timeouts += 1
        self.window.ssthresh = self.window.threshold(self.flight())
        self.window.cwnd = 1.0
        self.following = self.una + 1
        self.backoff = min(2 * self.backoff, 64)
        self.in_recovery, self.after_timeout, self.is_first_partial = False, True, True
        self.duplicates, self.repairs, self.recover = 0, 0, self.highest
        self.repair(self.una)
        self.arm()

    def on_ack(self, number: int, holes: list[range]) -> None:
        if number > self.una:
            self.on_new_ack(number)
        elif number == self.una < self.following:
            self.on_duplicate()
        for hole in holes:
            for segment in hole:
                if segment >= self.una and self.now - self.sent_at.get(segment, self.now) >= max(self.srtt, 0.001):
                    self.repair(segment)
        self.largest = max(self.largest, self.window.cwnd)
        self.send_window()

    def sample(self) -> None:
        """Takes a round-trip sample from the oldest segment that an ACK covers, unless it was retransmitted."""
        if self.una in self.again:
            return
        rtt = self.now - self.sent_at[self.una]
        if self.srtt:
            self.variance += (abs(rtt - self.srtt) - self.variance) / 4
            self.srtt += (rtt - self.srtt) / 8
        else:
            self.srtt, self.variance = rtt, rtt / 2

    def on_new_ack(self, number: int) -> None:
        acked, restarts = number - self.una, True
        newest = self.now - self.sent_at[number - 1]
        self.sample()
        self.una, self.following = number, max(self.following, number)
        self.backoff = 1
        if self.in_recovery and number < self.recover:
            self.window.cwnd = max(self.window.cwnd - acked, 0.0) + 1
            self.duplicates = max(self.duplicates - acked, 0)
            restarts, self.is_first_partial = self.is_first_partial, False
            self.repairs = max(self.repairs - 1, 0)
            if not self.ends.ack_interval_s:
                self.repair(self.una)
        else:
            if self.in_recovery:
                self.window.cwnd = min(self.window.ssthresh, self.flight() + 1)
                self.in_recovery = False
            self.is_first_partial, self.duplicates, self.repairs = True, 0, 0
            if self.srtt:
                self.window.sample(self.srtt if self.ends.smoothed else newest)
            self.after_timeout = self.after_timeout and number < self.recover
            self.window.grow(self.una, self.following, is_open=not self.after_timeout)
        if restarts:
            self.deadline = float("inf")
            if self.following > self.una:
                self.arm()

    def on_duplicate(self) -> None:
        self.duplicates += 1
        if self.in_recovery:
            self.window.cwnd += 1
        elif self.duplicates == DUPLICATES and self.una >= self.recover:
            self.in_recovery, self.recover = True, self.highest
            self.window.ssthresh = self.window.threshold(self.flight())
            self.window.cwnd = self.window.ssthresh + DUPLICATES
            if not self.ends.ack_interval_s:
                self.repair(self.una)
        elif self.duplicates < DUPLICATES and self.following < self.total:
            self.send_new()

    # The receiver.

    def arrives(self, segment: int) -> None:
        in_order = segment == self.receiver.expected and not self.receiver.above
        self.receiver.take(segment)
        if self.receiver.expected >= self.total:
            self.finished = self.now
            return
        self.pending += 1
        interval = self.ends.ack_interval_s
        if not interval and (self.pending >= 2 or not in_order or segment == 0):
            self.acknowledge()
        elif self.pending == 1:
            self.ack_due = due = self.now + (interval or 0.2)
            self.at(due, lambda: self.delayed(due))

    def delayed(self, due: float) -> None:
        if due == self.ack_due and self.pending:
            self.acknowledge()

    def acknowledge(self) -> None:
        self.pending, self.ack_due = 0, float("inf")
        holes = self.receiver.holes() if self.ends.ack_interval_s else []
        size = HEADER_BYTES + SNACK_BYTES * len(holes)
        number = self.receiver.expected
        arrival = self.back.carry(self.now, size)
        if arrival is not None and self.path.survives(size, self.chance):
            self.at(arrival, lambda: self.on_ack(number, holes))


def transfer(path: Path, ends: Ends, seed: int = 1) -> Outcome:
    """Transfers the file.

    Examples
    --------
    >>> transfer(Path(queue=1000, file_bytes=472_000), Ends()).timeouts
    0
    """
    return _Run(path, ends, seed).run()
