"""A model of Reno over a link without delay, with and without SACK: a program of its own, for the theory column.

It shares no code with the simulator. The link carries one segment at a time and loses each with the same probability;
an ACK arrives the moment its segment does and is never lost. All that waits is in one queue in front of the link, so a
window of data is the queue, and a round trip is the time to empty it.

Growth, fast retransmit and fast recovery are those of RFC 5681, with SACK the recovery of RFC 3517, both with the
retransmission timeout of RFC 6298 at its lower bound: round trips are too short to raise it.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

DUPLICATES = 3
LEAST_RTO_S, MOST_RTO_S = 1.0, 240.0


@dataclass(frozen=True)
class Link:
    """The path.

    Attributes
    ----------
    segment_s
        Seconds to transmit a full segment.
    loss
        Probability that a segment is lost.
    receive_window
        Segments that fit the receiver's window.
    """

    segment_s: float
    loss: float
    receive_window: int


@dataclass
class Receiver:
    """Data that arrived: everything below `expected`, and the segments `above` it."""

    expected: int = 0
    above: set[int] = field(default_factory=set)

    def take(self, segment: int) -> None:
        """A segment arrives."""
        if segment < self.expected:
            return
        self.above.add(segment)
        while self.expected in self.above:
            self.above.remove(self.expected)
            self.expected += 1


@dataclass
class Sender:
    """A Reno sender; all in segments.

    Attributes
    ----------
    receive_window
        Segments that fit the receiver's window.
    sack
        Whether the receiver reports what is above a hole.
    up_to_threshold
        Whether a window that equals ssthresh is in slow start (INET) or not (RFC 5681 §3.1 leaves it open).
    cwnd, ssthresh
        Congestion window and slow-start threshold.
    una, nxt, highest
        The oldest segment that is not acknowledged, the next to be sent, and the one after the highest ever sent.
    repaired_at
        The episode, or the repair after a timeout, ends when this is acknowledged.
    guard
        No episode begins before this is acknowledged: Reno may begin one after the other, except after a timeout.
    recovering
        Whether fast recovery is under way.
    resent
        Segments that were sent again in this episode.
    timer_s
        When the retransmission timer fires.
    """

    receive_window: int
    sack: bool
    up_to_threshold: bool = False
    cwnd: float = 1.0
    ssthresh: float = 1e9
    una: int = 0
    nxt: int = 0
    highest: int = 0
    duplicates: int = 0
    repaired_at: int = 0
    guard: int = 0
    timed_out_at: int = -1
    recovering: bool = False
    after_timeout: bool = False
    resent: set[int] = field(default_factory=set)
    back_off: float = 1.0
    timer_s: float = 0.0
    timeouts: int = 0

    def start_timer(self, now: float) -> None:
        """The timer begins again."""
        self.timer_s = now + min(LEAST_RTO_S * self.back_off, MOST_RTO_S)

    def acknowledged(self, now: float, ack: int, received: set[int]) -> list[int]:
        """An ACK arrives, and with SACK a report of what is `received` above it; gives the segments that leave."""
        leaving: list[int] = []
        if ack > self.una:
            self._progress(ack)
            self.start_timer(now)
        elif self.highest > self.una:
            self.duplicates += 1
            if self.recovering and not self.sack:
                self.cwnd += 1
            elif self.duplicates == DUPLICATES and not self.recovering and self.una >= self.guard:
                leaving = self._begin(now)
        return leaving + (self._scored(received) if self.sack else self._plain())

    def _progress(self, ack: int) -> None:
        if ack not in self.resent and ack - 1 not in self.resent and ack > self.repaired_at:
            self.back_off = 1.0
        partial = self.sack and self.recovering and ack < self.repaired_at
        if self.recovering and not partial:
            self.recovering = False
            self.cwnd = self.ssthresh
        elif not self.recovering:
            starting = self.cwnd < self.ssthresh or (self.up_to_threshold and self.cwnd == self.ssthresh)
            self.cwnd += 1.0 if starting else 1.0 / self.cwnd
        self.after_timeout = self.after_timeout and ack < self.repaired_at
        self.una, self.nxt, self.duplicates = ack, max(self.nxt, ack), 0
        if not self.recovering and not self.after_timeout:
            self.resent.clear()

    def _begin(self, now: float) -> list[int]:
        """Third duplicate ACK: half of what is outstanding, and the first segment again."""
        self.ssthresh = max((self.nxt - self.una) / 2, 2.0)
        self.cwnd = self.ssthresh + (0 if self.sack else DUPLICATES)
        self.recovering, self.repaired_at = True, self.highest
        self.guard = self.highest if self.sack else self.guard
        self.resent = {self.una}
        self.start_timer(now)
        return [self.una]

    def _plain(self) -> list[int]:
        first = self.nxt
        self.nxt = max(first, self.una + min(int(self.cwnd), self.receive_window))
        self.highest = max(self.highest, self.nxt)
        return list(range(first, self.nxt))

    def _scored(self, received: set[int]) -> list[int]:
        """Segments that leave with a scoreboard: lost segments first, then new ones, then holes (RFC 3517 §4)."""
        if not received and not self.recovering and not self.after_timeout:
            return self._plain()
        newest = sorted(received)[-DUPLICATES:]
        lost_below = newest[0] if len(newest) == DUPLICATES else self.una
        if self.after_timeout:
            lost_below = self.repaired_at
        holes = [s for s in range(self.una, self.highest) if s not in received]
        lost = [s for s in holes if s < lost_below]
        if self.recovering or self.after_timeout:
            pipe = len(holes) - len(lost) + sum(s in self.resent for s in lost)
            pipe += sum(s in self.resent for s in holes if s >= lost_below)
        else:
            pipe = self.highest - self.una
        waiting = [s for s in lost if s not in self.resent] if self.recovering or self.after_timeout else []
        rest = [s for s in holes if s >= lost_below and s not in self.resent] if self.recovering else []
        leaving = []
        for _ in range(max(int(self.cwnd) - pipe, 0)):
            if waiting:
                leaving.append(waiting.pop(0))
                self.resent.add(leaving[-1])
            elif self.highest < self.una + self.receive_window:
                leaving.append(self.highest)
                self.highest += 1
            elif rest and max(received, default=0) > rest[0]:
                leaving.append(rest.pop(0))
                self.resent.add(leaving[-1])
        self.nxt = self.highest
        return leaving

    def timed_out(self, now: float, received: set[int]) -> list[int]:
        """The timer fires: back to one segment, and everything that was not reported again."""
        # RFC 5681 §3.1: not again for the same segment.
        if self.una != self.timed_out_at:
            self.ssthresh = max(min(self.highest - self.una, self.cwnd) / 2, 2.0)
        self.cwnd, self.duplicates = 1.0, 0
        self.recovering, self.after_timeout = False, True
        self.repaired_at = self.guard = self.highest
        self.resent = set()
        self.back_off *= 2
        self.timeouts += 1
        self.timed_out_at = self.una
        self.start_timer(now)
        if self.sack:
            return self._scored(received)
        self.nxt = self.una
        return self._plain()


@dataclass(frozen=True)
class ModelRun:
    """Data that arrived in order, and the number of timeouts."""

    delivered: int
    timeouts: int


def simulate(link: Link, *, seconds: float, sack: bool, seed: int, up_to_threshold: bool = False) -> ModelRun:
    """Send for so many seconds."""
    draw = random.Random(seed)
    receiver, sender = Receiver(), Sender(link.receive_window, sack, up_to_threshold)
    queue = deque(sender.acknowledged(0.0, 0, set()))
    now = 0.0
    while now < seconds:
        if queue:
            now += link.segment_s
            segment = queue.popleft()
            if draw.random() >= link.loss:
                receiver.take(segment)
                queue.extend(sender.acknowledged(now, receiver.expected, receiver.above))
        else:
            now = sender.timer_s
            queue.extend(sender.timed_out(now, receiver.above))
    return ModelRun(receiver.expected, sender.timeouts)
