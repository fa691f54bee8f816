"""Explains lost packets by a mechanism: an outage, or a token bucket, which is a policer or a short queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]

__all__ = ["Outage", "TokenBucket", "at_receiver", "at_sender", "bucket_of"]

RUN = 10
"""Minimum number of consecutive losses of an outage that is over before the retransmission timer."""

SHORTEST = 0.02
"""Minimum duration of an outage in seconds."""

FEWEST, SEVERAL = 3, 6
"""Minimum numbers of losses that a bucket explains, with a close fit and with any."""

FIT, FIT_OF_FEW = 0.6, 0.8
"""Minimum harmonic mean of the fractions of predicted losses that occurred, and of losses that were predicted."""

REFINED = 3
"""Number of the best buckets that are refined."""

FINE = tuple(1 + 0.01 * step for step in range(-4, 5))
"""Rates and sizes of a refined bucket, as multiples of the coarse ones."""

NEAR = 0.15
"""Maximum disadvantage in fit of a queue that is preferred to a policer."""

HELD = 4
"""Minimum number of packets that are sent during an outage if a queue holds them."""

SILENT = 0.5
"""Minimum silence of an outage, in round-trip times."""

TIMEOUT = 0.4
"""Minimum silence of an outage that only a retransmission timer ends, in seconds: twice the minimum of Linux."""

EXAMINED = 6_000
"""Maximum number of packets that a bucket is fitted to."""


@dataclass(frozen=True, slots=True)
class Outage:
    """An interval in which nothing passes the link, in seconds since the first data, and the lost packets."""

    start: float
    end: float
    lost: frozenset[int]
    """Numbers, from 1."""


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """A token bucket that drops the packets which find too few tokens.

    A drop-tail queue is a bucket too: its tokens are the free bytes, which return at the rate of the link.
    """

    rate_bps: float
    burst: float
    """Size in bytes."""
    is_queue: bool
    explained: frozenset[int]
    """Numbers of the lost packets, from 1."""


def at_sender(packets: pl.DataFrame, replies: Array, acks: pl.DataFrame, *, has_sack: bool) -> list[Outage]:
    """Returns the intervals in which nothing passes, from a capture at the sender.

    They show as a silence of the receiver about a round trip later. The first packets that pass the sender meanwhile
    wait in a queue for the end of the outage, or the last ones are lost, or two retransmissions are.

    Parameters
    ----------
    packets
        The table ``packets`` of a :class:`lightlag.captures.repetition.Sending`.
    replies
        Times of the packets of the receiver.
    acks
        The table ``acks`` of the same object.
    has_sack
        Whether the connection has SACK; without it, losses of retransmissions do not show.
    """
    import numpy as np

    times, lost, again = (packets[name].to_numpy() for name in ("time_s", "lost", "again"))
    ends = np.maximum.accumulate((packets["start"] + packets["bytes"]).to_numpy())
    heard, acked = acks["time_s"].to_numpy(), acks["acked"].to_numpy()
    # Round-trip time of the newest data that each ACK covers.
    newest = np.minimum(np.searchsorted(ends, acked), len(times) - 1)
    trips = heard - times[newest]
    repeated = again[newest] | lost[newest]
    found: list[Outage] = []
    for index in np.flatnonzero(np.diff(replies) > SHORTEST):
        silence = float(replies[index + 1] - replies[index])
        latest = int(np.searchsorted(heard, replies[index], side="right")) - 1
        if latest < 0 or silence < SILENT * trips.min():
            continue
        rtt = float(trips[latest]) if not repeated[latest] else float(trips.min())
        start, over = float(replies[index]) - rtt, float(replies[index + 1]) - rtt
        first, after = np.searchsorted(times, (start + 1e-6, over - 1e-6))
        gone = np.flatnonzero(lost[first:after]) + first
        # The packets that a queue held during the outage have waited for its end.
        following = latest + 1
        answered = following < len(heard) and heard[following] == replies[index + 1] and not repeated[following]
        is_long = silence > 1.2 * trips.min()
        is_held = is_long and answered and after - first >= HELD and trips[following] > rtt + 0.7 * silence
        is_run = has_sack and after - first >= RUN and bool(lost[after - RUN : after].all())
        is_repeated = has_sack and int(again[gone].sum()) >= 2 and silence > TIMEOUT
        # At the link, after its queue, the outage is the silence, a minimum round trip earlier.
        down, up = (float(replies[at]) - float(trips.min()) for at in (index, index + 1))
        if is_held or is_run or is_repeated:
            # A queue that filled up meanwhile drops packets until it has drained.
            gone = np.flatnonzero(lost & (times > start) & (times < up + 2 * trips.min()))
            found.append(Outage(down, up, frozenset(int(one) + 1 for one in gone)))
    return _apart(found)


def at_receiver(packets: pl.DataFrame, arrivals: Array, late: Array | None, rtt: float) -> list[Outage]:
    """Returns the intervals in which nothing passes, from a capture at the receiver.

    After the silence come packets that were sent before it, or packets beyond a hole, or a single packet: a
    retransmission timer has reduced the window to one segment.

    Parameters
    ----------
    packets
        The table ``packets`` of a :class:`lightlag.captures.repetition.Sending`.
    arrivals, late
        Times of the captured packets, and their delays up to a constant; None if they do not show.
    rtt
        Minimum round-trip time in seconds.
    """
    import numpy as np

    times, lost = packets["time_s"].to_numpy(), packets["lost"].to_numpy()
    gaps = np.diff(arrivals)
    usual = float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 0.0
    found = []
    for index in np.flatnonzero(gaps > max(SHORTEST, 5 * usual)):
        begin, end, gap = float(arrivals[index]), float(arrivals[index + 1]), float(gaps[index])
        gone = np.flatnonzero(lost & (times == end))
        waited = late is not None and late[index + 1] - late[index] > 0.5 * gap
        is_hole = len(gone) >= RUN and gap >= 0.5 * len(gone) * usual
        follows = gaps[index + 1 : index + 3]
        is_single = gap > max(TIMEOUT, 3 * rtt) and len(follows) > 0 and follows.max() > 0.8 * rtt
        if waited or is_hole or is_single:
            # Times at the sender's end of the path: packets arrive half a round trip later.
            shift = rtt / 2
            found.append(
                Outage(begin - shift + usual, end - shift - usual / 2, frozenset(int(one) + 1 for one in gone))
            )
    return _apart(found)


def _apart(outages: list[Outage]) -> list[Outage]:
    """Returns the outages in order, without overlaps, which the capture has if its clock was set meanwhile."""
    apart: list[Outage] = []
    for outage in sorted(outages, key=lambda one: one.start):
        if outage.start < outage.end and (not apart or outage.start >= apart[-1].end):
            apart.append(outage)
    return apart


def bucket_of(packets: pl.DataFrame, excluded: set[int], rate_bps: float, overhead: int) -> TokenBucket | None:
    """Returns the token bucket that loses the same packets; None if there is none.

    Parameters
    ----------
    packets
        The table ``packets`` of a :class:`lightlag.captures.repetition.Sending`.
    excluded
        Numbers of lost packets that have another cause.
    rate_bps
        Rate of the bottleneck.
    overhead
        Bytes of headers.
    """
    import numpy as np

    part = packets.head(EXAMINED)
    numbers = np.arange(1, part.height + 1)
    usable = ~np.isin(numbers, list(excluded))
    times, sizes = part["time_s"].to_numpy()[usable], (part["bytes"].to_numpy() + overhead)[usable].astype(float)
    lost = part["lost"].to_numpy()[usable]
    if lost.sum() < FEWEST:
        return None
    link = rate_bps / 8
    coarse = link * np.linspace(0.1, 0.95, 35)
    bursts = np.geomspace(3 * sizes.max(), 400 * sizes.max(), 40)
    queue = _best(times, sizes, lost, np.array([link]), bursts)
    tops = sorted((_best(times, sizes, lost, np.array([rate]), bursts) for rate in coarse), reverse=True)[:REFINED]
    fine = [_best(times, sizes, lost, top[1] * np.array(FINE), top[2] * np.array(FINE)) for top in tops]
    score, rate, burst = max([queue, *fine], key=lambda one: one[0])
    is_queue = queue[0] >= score - NEAR
    if is_queue:
        score, rate, burst = queue
    if score < (FIT if lost.sum() >= SEVERAL else FIT_OF_FEW):
        return None
    predicted = _drops(times, sizes, rate, np.array([burst]))[:, 0]
    explained = numbers[usable][lost & predicted]
    rest = numbers[usable][lost & ~predicted]
    if len(rest) < 0.3 * lost.sum():
        explained = np.concatenate([explained, rest])
    return TokenBucket(8 * rate, burst, is_queue, frozenset(int(one) for one in explained))


def _best(times: Array, sizes: Array, lost: Array, rates: Array, bursts: Array) -> tuple[float, float, float]:
    """Returns the best fit, and its rate in bytes per second and its size in bytes."""
    found = []
    for rate in rates:
        scores = _scores(times, sizes, lost, float(rate), bursts)
        top = int(scores.argmax())
        found.append((float(scores[top]), float(rate), float(bursts[top])))
    return max(found)


def _scores(times: Array, sizes: Array, lost: Array, rate: float, bursts: Array) -> Array:
    drops = _drops(times, sizes, rate, bursts)
    both = (drops & lost[:, None]).sum(axis=0)
    fit: Array = 2 * both / (drops.sum(axis=0) + lost.sum())
    return fit


def _drops(times: Array, sizes: Array, rate: float, bursts: Array) -> Array:
    """Returns which packets each bucket drops: a row for each packet, a column for each size."""
    import numpy as np

    tokens = bursts.copy()
    dropped = np.zeros((len(times), len(bursts)), bool)
    before = times[0] if len(times) else 0.0
    for index, (time, size) in enumerate(zip(times, sizes, strict=True)):
        tokens = np.minimum(bursts, tokens + (time - before) * rate)
        before = time
        dropped[index] = tokens < size
        tokens = np.where(dropped[index], tokens, tokens - size)
    return dropped
