"""Values of a direction of a path at each step, joined while they are equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lightlag.exports.path import PathOverTime
from lightlag.exports.values import Direction

__all__ = ["Interval", "intervals", "rounded"]


@dataclass(frozen=True)
class Interval:
    """Interval of equal values.

    Attributes
    ----------
    since_us, until_us
        Start and end in microseconds.
    rate_bps
        Rate; 0 while packets wait. While packets are lost because there is no path, the rate before or after it.
    delay_ns
        Propagation delay in nanoseconds; while there is no path, the delay before or after it.
    loss
        Probability of loss; 1 while there is no path.
    queue_packets
        Limit of the queue before the slowest link.
    """

    since_us: int
    until_us: int
    rate_bps: int
    delay_ns: int
    loss: float
    queue_packets: int

    @property
    def in_flight_packets(self) -> int:
        """Number of packets of 1500 bytes that are in flight at the rate of the interval, rounded up."""
        return -(-self.rate_bps * self.delay_ns // (8 * 1500 * 10**9))


def intervals(path: PathOverTime, direction: Direction) -> Iterator[Interval]:
    """Yields the intervals of a direction in the order of time, without gaps."""
    times = path.times
    values = direction.at(times)
    rates = _held(np.where(np.isfinite(values.rate_bps), values.rate_bps, np.nan))
    delays = _held(values.delay_s)
    ends = [*(round(time * 1e6) for time in times[1:]), round(path.duration_s * 1e6)]
    last: Interval | None = None
    columns = zip(times.tolist(), ends, rates.tolist(), delays.tolist(), values.loss.tolist(), strict=True)
    for time, end, rate, delay, loss in columns:
        since = round(time * 1e6)
        now = Interval(since, end, round(rate), round(delay * 1e9), rounded(loss), direction.queue_packets)
        if last is not None and _content(last) == _content(now):
            last = Interval(last.since_us, end, *_content(last))
            continue
        if last is not None:
            yield last
        last = now
    if last is not None:
        yield last


def rounded(loss: float) -> float:
    """Returns a probability without the rounding errors of products."""
    return float(f"{loss:.12g}")


def _content(interval: Interval) -> tuple[int, int, float, int]:
    return interval.rate_bps, interval.delay_ns, interval.loss, interval.queue_packets


def _held(values: np.ndarray) -> np.ndarray:
    """Returns values in which each missing one is replaced by the one before, or by the first one."""
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return np.zeros_like(values)
    index = np.maximum.accumulate(np.where(np.isfinite(values), np.arange(len(values)), known[0]))
    return np.asarray(values[index])
