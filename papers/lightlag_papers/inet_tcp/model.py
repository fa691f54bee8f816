"""An independent model of Reno over a link without delay, with and without SACK, for the theory column.

It shares no code with the simulator. The link transmits one segment at a time and loses each with the same
probability. An ACK arrives at the same time as its segment, and is never lost. All waiting packets are in one
queue at the link, so the queue holds a window of data, and a round trip is the time to empty it.

Growth, fast retransmit and fast recovery follow RFC 5681; with SACK, recovery follows RFC 3517. The
retransmission timeout is the lower bound of RFC 6298, because the round trips are too short for a larger one.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

DUPLICATES = 3
LEAST_RTO_S, MOST_RTO_S = 1.0, 240.0


@dataclass(frozen=True)
class Link:
    """The path of the model.

    Attributes
    ----------
    segment_s
        Transmission time of a full segment in seconds.
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
    """The receiver's data: all segments below `expected`, and the segments `above` it."""

    expected: int = 0
    above: set[int] = field(default_factory=set)

    def take(self, segment: int) -> None:
        """Handles the arrival of a segment."""
        if segment < self.expected:
            return
        self.above.add(segment)
        while self.expected in self.above:
            self.above.remove(self.expected)
            self.expected += 1


@dataclass
class Sender:
    """A Reno sender; all quantities are in segments.

    Attributes
    ----------
    receive_window
        Segments that fit the receiver's window.
    sack
        Whether the receiver reports data above a hole.
    up_to_threshold
        Whether a window equal to ssthresh is in slow start, as in INET; RFC 5681 §3.1 leaves it open.
    cwnd, ssthresh
        Congestion window and slow-start threshold.
    una, nxt, highest
        The oldest unacknowledged segment, the next segment to send, and the segment after the highest one sent so far.
    repaired_at
        The recovery episode, or the recovery after a timeout, ends when the data before this segment is acknowledged.
    guard
        No recovery episode starts before the data before this segment is acknowledged. Without SACK it is set only by a
        timeout, because Reno may otherwise start one episode directly after another.
    recovering
        Whether the sender is in fast recovery.
    retransmitted
        Segments that were retransmitted in the current episode.
    timer_s
        Time when the retransmission timer expires.
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
    retransmitted: set[int] = field(default_factory=set)
    back_off: float = 1.0
    timer_s: float = 0.0
    timeouts: int = 0

    def start_timer(self, now: float) -> None:
        """Restarts the retransmission timer."""
        self.timer_s = now + min(LEAST_RTO_S * self.back_off, MOST_RTO_S)

    def acknowledged(self, now: float, ack: int, received: set[int]) -> list[int]:
        """Handles an ACK and, with SACK, the `received` segments above it. Returns the segments to send."""
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
        if ack not in self.retransmitted and ack - 1 not in self.retransmitted and ack > self.repaired_at:
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
            self.retransmitted.clear()

    def _begin(self, now: float) -> list[int]:
        """Handles the third duplicate ACK: halves the window, and retransmits the first segment."""
        self.ssthresh = max((self.nxt - self.una) / 2, 2.0)
        self.cwnd = self.ssthresh + (0 if self.sack else DUPLICATES)
        self.recovering, self.repaired_at = True, self.highest
        self.guard = self.highest if self.sack else self.guard
        self.retransmitted = {self.una}
        self.start_timer(now)
        return [self.una]

    def _plain(self) -> list[int]:
        first = self.nxt
        self.nxt = max(first, self.una + min(int(self.cwnd), self.receive_window))
        self.highest = max(self.highest, self.nxt)
        return list(range(first, self.nxt))

    def _scored(self, received: set[int]) -> list[int]:
        """Returns the segments to send with a scoreboard (RFC 3517 §4): first lost segments, then new ones, then
        other holes.
        """
        if not received and not self.recovering and not self.after_timeout:
            return self._plain()
        newest = sorted(received)[-DUPLICATES:]
        lost_below = newest[0] if len(newest) == DUPLICATES else self.una
        if self.after_timeout:
            lost_below = self.repaired_at
        holes = [s for s in range(self.una, self.highest) if s not in received]
        lost = [s for s in holes if s < lost_below]
        if self.recovering or self.after_timeout:
            pipe = len(holes) - len(lost) + sum(s in self.retransmitted for s in lost)
            pipe += sum(s in self.retransmitted for s in holes if s >= lost_below)
        else:
            pipe = self.highest - self.una
        waiting = [s for s in lost if s not in self.retransmitted] if self.recovering or self.after_timeout else []
        rest = [s for s in holes if s >= lost_below and s not in self.retransmitted] if self.recovering else []
        leaving = []
        for _ in range(max(int(self.cwnd) - pipe, 0)):
            if waiting:
                leaving.append(waiting.pop(0))
                self.retransmitted.add(leaving[-1])
            elif self.highest < self.una + self.receive_window:
                leaving.append(self.highest)
                self.highest += 1
            elif rest and max(received, default=0) > rest[0]:
                leaving.append(rest.pop(0))
                self.retransmitted.add(leaving[-1])
        self.nxt = self.highest
        return leaving

    def timed_out(self, now: float, received: set[int]) -> list[int]:
        """Handles a timeout: the window is one segment, and everything not reported as received is retransmitted."""
        # RFC 5681 §3.1: not again for the same segment.
        if self.una != self.timed_out_at:
            self.ssthresh = max(min(self.highest - self.una, self.cwnd) / 2, 2.0)
        self.cwnd, self.duplicates = 1.0, 0
        self.recovering, self.after_timeout = False, True
        self.repaired_at = self.guard = self.highest
        self.retransmitted = set()
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
    """The results: the number of segments delivered in order, and the number of timeouts."""

    delivered: int
    timeouts: int


def simulate(link: Link, *, seconds: float, sack: bool, seed: int, up_to_threshold: bool = False) -> ModelRun:
    """Simulates the transfer for the given number of seconds."""
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
