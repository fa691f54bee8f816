"""An idealised model of the paper's experiment, independent of the simulator's TCP.

One sender, one first-in-first-out link, and only the mechanisms that decide the window: the published code's
arithmetic, the delayed ACKs, and a recovery that repairs one segment per round trip. There are no sequence
numbers, no timers except the delayed-ACK timer, no timeouts, no receive window and no lost ACKs. Results common
to this model and the simulator follow from the algorithm; differences come from the rest of TCP.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lightlag_papers.epochs import time_mean


@dataclass(frozen=True)
class Path:
    """A path with one bottleneck and no other traffic.

    Attributes
    ----------
    rate_bps
        Rate of the bottleneck in bit/s.
    delay_s
        One-way propagation delay in seconds.
    segment_bytes, overhead_bytes
        Payload of a segment, and the headers that each packet carries (IP, TCP, link).
    """

    rate_bps: float
    delay_s: float
    segment_bytes: int = 1024
    overhead_bytes: int = 47

    @property
    def segment_s(self) -> float:
        """Time to transmit a full segment, in seconds."""
        return (self.segment_bytes + self.overhead_bytes) * 8 / self.rate_bps

    @property
    def ack_s(self) -> float:
        """Time to transmit an ACK, in seconds."""
        return self.overhead_bytes * 8 / self.rate_bps

    @property
    def rtt_s(self) -> float:
        """Round-trip time of a single segment on the idle path, in seconds."""
        return 2 * self.delay_s + self.segment_s + self.ack_s


@dataclass
class PublishedCubic:
    """CUBIC as the paper's published code computes it; windows in segments, times in seconds.

    Integers throughout: windows in whole segments, whole segments of growth `floor(C|t - K|³)`, a whole number of ACKs
    `floor(W / (target - W))` for a segment, and in effect one segment every `count + 2` ACKs.
    """

    beta: float = 0.2
    c: float = 0.4
    window: float = 1.0
    threshold: float = math.inf
    w_last: float = 0.0
    w_max: float = 0.0
    k: float = 0.0
    epoch_start: float | None = None
    acks: int = 0

    def on_ack(self, now: float, min_rtt: float) -> None:
        """Handles an ACK of new data outside recovery."""
        if self.window <= self.threshold:
            self.window += 1
            return
        if self.epoch_start is None:
            self.epoch_start = now
            self.w_max = max(self.window, self.w_last)
            self.k = math.cbrt((self.w_max - self.window) / self.c)
        offset = now + min_rtt - self.epoch_start - self.k
        steps = math.floor(self.c * abs(offset) ** 3)
        target = math.floor(self.w_max) + (steps if offset >= 0 else -steps)
        whole = math.floor(self.window)
        count = whole // (target - whole) if target > whole else 100 * whole
        if self.acks > count:
            self.window += 1
            self.acks = 0
        else:
            self.acks += 1

    def beyond_plateau(self) -> bool:
        """Returns true if the window exceeds Wmax by a whole segment."""
        return self.epoch_start is not None and math.floor(self.window) > math.floor(self.w_max)

    def on_loss(self) -> None:
        """Reduces the window once per recovery episode, with fast convergence."""
        self.w_last = self.window * (2 - self.beta) / 2 if self.window < self.w_last else self.window
        self.threshold = max(self.window * (1 - self.beta), 2.0)
        self.window = self.threshold
        self.epoch_start = None


@dataclass
class Reno:
    """NewReno's window in segments: each ACK adds 1 in slow start and 1/W after it; a loss halves the window.

    It has the attributes of `PublishedCubic` that are needed to record epochs.
    """

    window: float = 1.0
    threshold: float = math.inf
    w_last: float = 0.0
    k: float = 0.0
    epoch_start: float | None = None

    def on_ack(self, _now: float, _min_rtt: float) -> None:
        """Handles an ACK of new data outside recovery."""
        self.window += 1 if self.window <= self.threshold else 1 / self.window

    def beyond_plateau(self) -> bool:
        """Returns false, because NewReno has no plateau."""
        return False

    def on_loss(self) -> None:
        """Reduces the window once per recovery episode."""
        self.w_last = self.window
        self.threshold = max(self.window / 2, 2.0)
        self.window = self.threshold


@dataclass(frozen=True)
class ModelEpoch:
    """A reduction of the window, and the epoch that follows it."""

    reduction_s: float
    window: float
    w_max: float
    k: float | None
    switched: bool


@dataclass
class ModelRun:
    """The results of a run of the model."""

    epochs: list[ModelEpoch]
    losses: int
    finish_s: float
    windows: list[tuple[float, float]]
    """Pairs of time and window, one for each change of the window."""

    def mean_window(self, start_s: float, end_s: float) -> float:
        """Returns the mean window over an interval, in segments."""
        time, window = np.array(self.windows).T
        return time_mean(time, window, start_s, end_s)


def simulate(
    path: Path,
    *,
    segments: int,
    start_s: float = 1.2,
    end_s: float = math.inf,
    delayed_ack: tuple[int, float] = (2, 0.2),
    reductions: Sequence[float] = (),
    loss: float = 0.0,
    seed: int = 1,
    control: Callable[[], PublishedCubic | Reno] = PublishedCubic,
) -> ModelRun:
    """Runs the model.

    Parameters
    ----------
    path
        The bottleneck.
    segments
        Length of the transfer.
    start_s, end_s
        When the connection opens (the data leave one round trip later), and when the run ends at the latest.
    delayed_ack
        Segments per ACK, and the timer in seconds.
    reductions
        Times of window reductions, as if one segment had been lost one round trip before.
    loss
        Probability that a segment is lost.
    seed
        Seed of the losses.
    control
        Makes the window of the sender.

    Examples
    --------
    >>> run = simulate(Path(5e6, 0.04), segments=20480, reductions=[2.90, 8.72])
    >>> [round(epoch.window) for epoch in run.epochs]
    [212, 213]
    """
    flow = _Flow(path, segments, delayed_ack, loss, random.Random(seed), control())
    flow.now = start_s + 2 * (path.delay_s + path.ack_s)
    for time in reductions:
        flow.at(time, flow.loss_seen, _FORCED)
    flow.run(end_s)
    return ModelRun(flow.epochs, flow.losses, flow.now, flow.windows)


_Handler = Callable[[int], None]
"""Handler of an event; its argument is a segment index or a number of acknowledged segments."""

_FORCED = -1
"""Segment index that stands for a forced loss, in which no data of the transfer is missing."""


@dataclass
class _Flow:
    """The state of a run: a sender, a link, a receiver, and the queue of events."""

    path: Path
    segments: int
    delayed_ack: tuple[int, float]
    loss: float
    random: random.Random
    control: PublishedCubic | Reno
    epochs: list[ModelEpoch] = field(default_factory=list)
    losses: int = 0
    now: float = 0.0
    windows: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._events: list[tuple[float, int, _Handler, int]] = []
        self._order = 0
        self._link_free_at = 0.0
        self._next = 0
        self._flight = 0
        self._remaining = self.segments
        self._held = 0
        self._held_mark = -1
        self._recovery_point: int | None = None
        self._holes: list[int] = []
        self._reduction: tuple[float, float] | None = None
        self._switched = False

    def at(self, time: float, handler: _Handler, value: int) -> None:
        self._order += 1
        heapq.heappush(self._events, (time, self._order, handler, value))

    def run(self, end_s: float) -> None:
        self.windows.append((self.now, self.control.window))
        self._send()
        while self._events and self._remaining > 0 and self._events[0][0] < end_s:
            time, _, handler, value = heapq.heappop(self._events)
            self.now = time
            handler(value)
            if self.control.window != self.windows[-1][1]:
                self.windows.append((time, self.control.window))
            self._send()
        self._close_epoch()

    def _send(self) -> None:
        while self._next < self.segments and self._flight + 1 <= self.control.window:
            self._flight += 1
            departure = self._depart()
            if self.random.random() < self.loss:
                self.losses += 1
                third_duplicate = departure + 3 * self.path.segment_s + 2 * self.path.delay_s + self.path.ack_s
                self.at(third_duplicate, self.loss_seen, self._next)
            else:
                self.at(departure + self.path.delay_s, self._arrival, self._next)
            self._next += 1

    def _depart(self) -> float:
        self._link_free_at = max(self._link_free_at, self.now) + self.path.segment_s
        return self._link_free_at

    def _arrival(self, segment: int) -> None:
        """Handles the arrival of a segment.

        The receiver acknowledges every n-th segment, each segment above a hole, and a single segment by timer.
        """
        self._held += 1
        if self._held >= self.delayed_ack[0] or self._recovery_point is not None:
            self._acknowledge()
        else:
            self._held_mark = segment
            self.at(self.now + self.delayed_ack[1], self._ack_timer, segment)

    def _ack_timer(self, segment: int) -> None:
        """Sends an ACK when the delayed-ACK timer expires."""
        if self._held and self._held_mark == segment:
            self._acknowledge()

    def _acknowledge(self) -> None:
        self.at(self.now + self.path.ack_s + self.path.delay_s, self._ack, self._held)
        self._held = 0

    def _ack(self, segments: int) -> None:
        """Handles the arrival of an ACK of `segments` segments at the sender."""
        self._flight -= segments
        self._remaining -= segments
        if self._recovery_point is None:
            self.control.on_ack(self.now, self.path.rtt_s)
            self._switched |= self.control.beyond_plateau()

    def loss_seen(self, segment: int) -> None:
        """Handles the third duplicate ACK for a lost segment at the sender."""
        if segment != _FORCED:
            self._flight -= 1
            self._holes.append(segment)
        if self._recovery_point is None:
            self._close_epoch()
            self._reduction = (self.now, self.control.window)
            self._switched = False
            self.control.on_loss()
            self._recovery_point = self._next
            self._repair()

    def _repair(self) -> None:
        """Retransmits the first missing segment, which has to wait for the packets in the link's queue."""
        hole = self._holes.pop(0) if self._holes else _FORCED
        self.at(self._depart() + 2 * self.path.delay_s + self.path.ack_s, self._repaired, hole)

    def _repaired(self, segment: int) -> None:
        """Handles the ACK for a retransmitted segment at the sender."""
        self._remaining -= 0 if segment == _FORCED else 1
        if self._holes and self._recovery_point is not None and self._holes[0] < self._recovery_point:
            self._repair()
        else:
            self._recovery_point = None
            if self._holes:
                self._loss_seen_again()

    def _loss_seen_again(self) -> None:
        """Handles the loss of a segment sent during recovery: its duplicate ACKs start a new episode."""
        segment = self._holes.pop(0)
        self._flight += 1
        self.loss_seen(segment)

    def _close_epoch(self) -> None:
        if self._reduction is not None:
            control = self.control
            k = control.k if control.epoch_start is not None else None
            self.epochs.append(ModelEpoch(*self._reduction, control.w_last, k, self._switched))
            self._reduction = None
