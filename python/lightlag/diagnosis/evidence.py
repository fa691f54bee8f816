"""The signs that the packets of a connection give: windows, bursts, silences, the rate of the bottleneck."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lightlag.captures.connections import Capture
from lightlag.captures.repetition import Sending
from lightlag.diagnosis.losses import Outage, TokenBucket, at_receiver, at_sender, bucket_of

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]

__all__ = ["OVERHEAD", "Evidence", "Response", "Sends"]

OVERHEAD = 52
"""Bytes of a packet in addition to its payload: IPv4, TCP and timestamps."""

PROMPT = 1e-3
"""Maximum time from an ACK to the data that it releases, in seconds."""

RATE_QUANTILE = 0.75
"""Quantile of the rates of bursts, weighted with their packets, that counts as the rate of the bottleneck."""

BURST = 2e-4
"""Maximum time between packets of a burst, in seconds."""

FLAT = 1.35
"""Maximum ratio of the 90th percentile and the median of the flights of a sender whose buffer is full."""

ROUNDS = 8
"""Minimum number of round trips in the second half of a transfer whose flight is examined."""

RARE = 2e-3
"""Maximum fraction of lost packets of a sender that is not limited by losses."""

OFTEN = 0.3
"""Minimum fraction of ACKs that wait for a thin return link."""

TICKS = 10
"""Minimum ticks of the receiver's clock between two ACKs that give a rate."""


class Evidence:
    """The signs that the packets of a connection give, at the time when they pass the sender.

    In a capture at the receiver, data arrives a constant time after the sender sent it, plus the time in queues, and
    ACKs arrive at the sender a round trip before the data that they release arrives at the receiver.
    """

    def __init__(self, sending: Sending, capture: Capture | None = None) -> None:
        self.sending = sending
        self.capture = capture
        self.about = sending.summary
        self.vantage = str(self.about["vantage"])
        self.rtt = float(self.about["path"]["base_rtt_s"])
        self.mss = int(self.about["full_segment"])

    @cached_property
    def responses(self) -> list[Response]:
        """The responses to requests of the receiver; empty if it sends at most one."""
        found = list(_responses(self.sending.seen, self.rtt, self.vantage == "receiver"))
        return found if len(found) > 1 else []

    @property
    def duration_s(self) -> float:
        """Duration from the first data to the last ACK, or the mean response time."""
        if self.responses:
            return sum(one.end - one.start for one in self.responses) / len(self.responses)
        return float(self.about["duration_s"])

    @cached_property
    def _rivals(self) -> list[dict[str, Any]]:
        """Other connections of the same hosts that carry data in the same direction for half of the transfer."""
        if self.capture is None:
            return []
        own = self.capture.summary["connections"][int(self.about["connection"])]
        found = []
        for other in self.capture.summary["connections"]:
            over = min(own["start_s"] + own["duration_s"], other["start_s"] + other["duration_s"])
            shared = over - max(own["start_s"], other["start_s"])
            same = all(_host(other[end]) == _host(own[end]) for end in ("client", "server"))
            enough = other[self._side]["unique_bytes"] >= 100 * self.mss
            if other is not own and same and enough and shared >= 0.5 * own["duration_s"]:
                found.append(other)
        return found

    @property
    def _side(self) -> str:
        return "forward" if self.about["sender"] == "client" else "backward"

    @cached_property
    def others(self) -> list[float]:
        """Time from the start of each connection that shares the path to the start of this one, in seconds."""
        if not self._rivals or self.capture is None:
            return []
        own = self.capture.summary["connections"][int(self.about["connection"])]
        return [max(0.0, own["start_s"] - other["start_s"]) for other in self._rivals]

    @property
    def extremes(self) -> tuple[float, float]:
        """Minimum of the round-trip times of the connections that share the path, and the maximum of their 95th
        percentiles, in seconds. ACKs that wait for the repair of a hole give larger values.
        """
        path = self.about["path"]
        own = self.capture.summary["connections"][int(self.about["connection"])] if self.capture else None
        seen = [one[self._side]["rtt"] for one in [own, *self._rivals] if one and one[self._side]["rtt"]]
        fastest = min([path["base_rtt_s"], *(one["min_s"] for one in seen)])
        return fastest, max(one["p95_s"] for one in seen)

    @cached_property
    def data(self) -> pl.DataFrame:
        """Data packets of the sender as captured."""
        import polars as pl

        return self.sending.seen.filter(pl.col("by_sender") & (pl.col("bytes") > 0) & (pl.col("time_s") >= 0))

    @cached_property
    def replies(self) -> pl.DataFrame:
        """Packets of the receiver with an ACK, and the times when they pass the sender."""
        import polars as pl

        shift = self.rtt if self.vantage == "receiver" else 0.0
        found = self.sending.seen.filter(~pl.col("by_sender") & pl.col("acked").is_not_null())
        return found.with_columns(time_s=pl.col("time_s") + shift)

    @cached_property
    def rate_bps(self) -> float | None:
        """Rate of the bottleneck: the inference of ``replay`` or the spacing of ACKs of bursts, whichever is larger.

        Without SACK, an ACK after a repair acknowledges what arrived long before, so that only bursts count.
        """
        burst, train = self._burst_rate(), self.about["path"]["rate_bps"]
        if self.acks_wait:
            return self._arrival_rate()
        found = [burst] if burst and not self.has_sack else [burst, train]
        return max((value for value in found if value), default=None)

    @property
    def acks_wait(self) -> bool:
        """Whether ACKs wait for a thin return link, so that their spacing shows nothing of the forward path."""
        late = None if self.vantage == "receiver" else self._one_way(self.replies)
        if late is None or not math.isfinite(self.reply_delay[1]):
            return False
        return float((late > max(5e-3, 0.1 * self.rtt)).mean()) > OFTEN

    def _arrival_rate(self) -> float | None:
        """Returns the maximum rate of arrivals at the receiver, by the clock of its timestamps."""
        import numpy as np

        ticks = self.replies["timestamp"].to_numpy().astype(np.int64)
        acked = np.maximum.accumulate(self.replies["acked"].to_numpy())
        after = np.searchsorted(ticks, ticks + TICKS)
        first = np.flatnonzero(after < len(ticks))
        if not len(first):
            return None
        last = after[first]
        spans = (ticks[last] - ticks[first]) * self._tick(self.replies)
        return float(np.max(8 * (acked[last] - acked[first]) / spans)) * (1 + OVERHEAD / self.mss)

    @cached_property
    def queue_packets(self) -> int | None:
        """Maximum queue length in packets, without the packets that waited for the end of an outage."""
        import numpy as np

        if not self.outages or not (rate := self.rate_bps):
            held = self.about["path"]["queue_packets"]
            return None if held is None or self.acks_wait else int(held)
        times, acked = self.advances
        sent, ends = self.new_data
        newest = np.searchsorted(ends, acked)
        # An ACK that repairs a hole covers data that waited for it.
        known = (newest < len(ends)) & (np.diff(acked, prepend=0) < 2.5 * self.mss)
        trips = np.where(known, times - sent[np.minimum(newest, len(ends) - 1)], 0.0)
        for outage in self.outages:
            trips[(times > outage.start) & (times - trips < outage.end + self.rtt)] = 0.0
        return max(0, round((float(trips.max(initial=0.0)) - self.rtt) * rate / 8 / (self.mss + OVERHEAD)))

    @cached_property
    def overflowed(self) -> frozenset[int]:
        """Numbers of the packets that a full queue dropped, according to ``replay``, outside outages."""
        out = {number for outage in self.outages for number in outage.lost}
        dropped = frozenset(self.about["overflowed"])
        return dropped if len(dropped - out) > 0.5 * len(dropped) else frozenset()

    @property
    def has_sack(self) -> bool:
        """Whether both endpoints permit SACK."""
        return all(side["sack_permitted"] for side in self.about["handshakes"])

    def _burst_rate(self) -> float | None:
        """Returns the upper quartile of the rates of bursts of three or more packets.

        They are sent faster than the path carries them, so that their ACKs have the rate of the bottleneck.
        Delayed ACKs, other packets and slow readers only delay them. Bursts that meet a recovery are left out.
        """
        import numpy as np

        if self.vantage == "receiver":
            return None
        sent, ends = self.new_data
        times, acked = self.advances
        packets = self.sending.packets
        repeats = packets["time_s"].to_numpy()[packets["again"].to_numpy()]
        rates, weights = [], []
        for burst in np.split(np.arange(len(sent)), np.flatnonzero(np.diff(sent) > BURST) + 1):
            if len(burst) < 3:
                continue
            first, last = np.searchsorted(acked, (ends[burst[0]], ends[burst[-1]]))
            if last >= len(acked) or last <= first or np.diff(acked[first : last + 1]).max() > 2 * self.mss:
                continue
            begun, over = np.searchsorted(repeats, (sent[burst[0]] - self.rtt, times[last]))
            if over > begun:
                continue
            spread, amount = times[last] - times[first], acked[last] - acked[first]
            if spread > 2 * (sent[burst[-1]] - sent[burst[0]]):
                rates.append(8 * amount * (1 + OVERHEAD / self.mss) / spread)
                weights.append(len(burst))
        if sum(weights) < 8:
            return None
        order = np.argsort(rates)
        passed = np.cumsum(np.array(weights)[order])
        return float(np.array(rates)[order][np.searchsorted(passed, RATE_QUANTILE * passed[-1])])

    @cached_property
    def new_data(self) -> tuple[Array, Array]:
        """Times and ends of the packets with new data."""
        import numpy as np

        ends = (self.data["start"] + self.data["bytes"]).to_numpy()
        new = ends > np.concatenate([[-1], np.maximum.accumulate(ends)[:-1]])
        return self.data["time_s"].to_numpy()[new], ends[new]

    @cached_property
    def advances(self) -> tuple[Array, Array]:
        """Times and offsets of the ACKs that advance."""
        import numpy as np

        acked = self.replies["acked"].to_numpy()
        new = acked > np.concatenate([[0], np.maximum.accumulate(acked)[:-1]]) if len(acked) else np.zeros(0, bool)
        return self.replies["time_s"].to_numpy()[new], acked[new]

    @cached_property
    def sends(self) -> Sends:
        """The state of the sender after each packet with new data."""
        import numpy as np

        times, ends = self.new_data
        heard = self.replies["time_s"].to_numpy()
        acked = np.maximum.accumulate(self.replies["acked"].to_numpy())
        edges = np.maximum.accumulate(acked + self.replies["window"].fill_null(0).to_numpy().astype(np.int64))
        before = np.searchsorted(heard, times + 1e-6, side="right") - 1
        flight = ends - np.where(before >= 0, acked[before], 0)
        edge = np.where(before >= 0, edges[before], np.iinfo(np.int64).max)
        waited = np.where(before >= 0, times - heard[np.maximum(before, 0)], 0.0)
        return Sends(times, ends, flight, edge - ends, waited)

    @property
    def is_window_limited(self) -> bool:
        """Whether the receive window is used up for a fifth of the time or more."""
        return self.sends.fraction_after(self.sends.room < self.mss) >= 0.2

    @cached_property
    def is_flat(self) -> bool:
        """Whether the flight stays below a limit for half of the time, almost without losses."""
        import numpy as np

        sends = self.sends
        rounds = np.floor(sends.times / max(self.rtt, 1e-3)).astype(int)
        starts = np.flatnonzero(np.diff(rounds, prepend=-1))
        tops = np.maximum.reduceat(sends.flight, starts)[len(starts) // 2 :]
        packets = self.sending.packets
        late = packets["lost"].to_numpy()[packets["time_s"].to_numpy() > sends.times[-1] / 2]
        median, top = np.quantile(tops, (0.5, 0.9))
        return len(tops) >= ROUNDS and float(late.mean()) < RARE and float(top) < FLAT * float(median)

    @cached_property
    def own(self) -> Array:
        """Whether no ACK released the data: for each packet with new data.

        At the receiver this shows only for packets that did not wait in the queue of the bottleneck.
        """
        import numpy as np

        sends = self.sends
        if self.vantage != "receiver":
            return sends.waited > PROMPT
        service = 8 * (self.mss + OVERHEAD) / (self.rate_bps or math.inf)
        gaps = np.diff(sends.times, prepend=-math.inf)
        return (gaps > 1.5 * service) & (sends.waited > PROMPT + service)

    @cached_property
    def outages(self) -> list[Outage]:
        """Intervals in which nothing passes."""
        import numpy as np

        if self.vantage == "receiver":
            return at_receiver(self.sending.packets, self.data["time_s"].to_numpy(), self._one_way(self.data), self.rtt)
        heard = self.replies["time_s"].to_numpy()
        return at_sender(self.sending.packets, np.unique(heard[heard > 0]), self.sending.acks, has_sack=self.has_sack)

    @cached_property
    def bucket(self) -> TokenBucket | None:
        """The token bucket that loses the same packets as the path; None if there is no such bucket."""
        out = {index for outage in self.outages for index in outage.lost}
        rate = self.rate_bps
        return None if not rate else bucket_of(self.sending.packets, out, rate, OVERHEAD)

    @staticmethod
    def _tick(rows: pl.DataFrame) -> float:
        """Returns the unit of the timestamps of packets in seconds: 1, 4 or 10 ms."""
        real = float(rows["time_s"][-1] - rows["time_s"][0])
        ticks = float(rows["timestamp"][-1]) - float(rows["timestamp"][0])
        return min((1e-3, 4e-3, 1e-2), key=lambda one: abs(math.log(one * max(ticks, 1.0) / max(real, 1e-9))))

    def _one_way(self, rows: pl.DataFrame) -> Array | None:
        """Returns the delay of packets in seconds, up to a constant, from their times and timestamps.

        None if it does not show.
        """
        import numpy as np

        if rows.height < 20 or rows["timestamp"].null_count():
            return None
        times, ticks = rows["time_s"].to_numpy(), rows["timestamp"].to_numpy().astype(np.int64)
        ticks = ticks - ticks[0]
        if ticks[-1] <= 0:
            return None
        late = times - ticks * self._tick(rows)
        return np.asarray(late - late.min())

    @cached_property
    def reply_delay(self) -> tuple[float, float]:
        """Maximum queueing delay of ACKs in seconds, and the rate of the return link in bit/s, from the timestamps of
        the receiver.
        """
        import numpy as np

        late = None if self.vantage == "receiver" else self._one_way(self.replies)
        if late is None:
            return 0.0, math.inf
        gaps = np.diff(self.replies["time_s"].to_numpy())[late[1:] > 0.5 * late.max()]
        if len(gaps) < 10 or not np.median(gaps) > 0:
            return float(late.max()), math.inf
        return float(late.max()), 8 * OVERHEAD / float(np.median(gaps))


@dataclass(frozen=True, slots=True)
class Response:
    """A response to a request: times in seconds, sizes in bytes."""

    start: float
    end: float
    request: int
    size: int
    first_flight: int
    """Bytes that are sent within half a round trip of the first ones."""


@dataclass(frozen=True, slots=True)
class Sends:
    """The state of a sender after each packet with new data: arrays of equal length, in seconds and bytes."""

    times: Array
    ends: Array
    flight: Array
    room: Array
    """Bytes that the receive window still allows."""
    waited: Array
    """Time since the last packet of the receiver, which may release data."""

    def fraction_after(self, chosen: Array) -> float:
        """Returns the fraction of the time that follows the chosen packets."""
        return self._fraction(chosen[:-1])

    def fraction_before(self, chosen: Array) -> float:
        """Returns the fraction of the time that precedes the chosen packets."""
        return self._fraction(chosen[1:])

    def _fraction(self, gaps_chosen: Array) -> float:
        import numpy as np

        gaps = np.diff(self.times)
        total = float(gaps.sum())
        return float(gaps[gaps_chosen].sum()) / total if total > 0 else 0.0


def _responses(seen: pl.DataFrame, rtt: float, at_receiver: bool) -> Iterator[Response]:
    """Yields the responses of the sender to the data of the receiver.

    A response ends with its last data at the receiver, or at the sender with the ACK of that, half a round trip later;
    its request was also seen half a round trip later.
    """
    rows = seen.select("time_s", "by_sender", "start", "bytes", "acked").iter_rows()
    begun, request, first, end, size, flight = None, 0, 0.0, 0.0, 0, 0
    highest = 0
    for time, by_sender, start, length, acked in rows:
        if not length:
            if not by_sender and not at_receiver and acked is not None and acked >= highest and size and end < first:
                end = time
            continue
        if not by_sender:
            if size and begun is not None:
                yield Response(begun, end, request, size, flight)
                begun, request, size, flight = None, 0, 0, 0
            begun = time if begun is None else begun
            request += length
        elif begun is not None:
            if not size:
                first = time
            new = max(0, start + length - max(highest, start))
            size += new
            end = time if at_receiver else -1.0
            if time - first < rtt / 2:
                flight += new
        highest = max(highest, start + length) if by_sender else highest
    if size and begun is not None:
        yield Response(begun, end, request, size, flight)


def _host(end: str) -> str:
    """Returns the address of ``ADDRESS:PORT``."""
    return end.rpartition(":")[0]
