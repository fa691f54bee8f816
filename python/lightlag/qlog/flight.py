"""The packets of one direction that carry data: which are outstanding, acknowledged or lost."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Flight", "Transmission"]

_SPARE = 4096
"""Number of acknowledged entries that are kept at the front of the index before it is shortened."""


@dataclass(frozen=True, slots=True)
class Transmission:
    """A packet that carries the bytes from `start` to `end`; a FIN counts as one byte."""

    number: int
    start: int
    end: int

    @property
    def length(self) -> int:
        """Number of bytes."""
        return self.end - self.start


class Flight:
    """Transmissions of one direction, by packet number. Memory grows only with the data in flight.

    An ACK acknowledges every outstanding transmission of the bytes that it reports, as in the pipe of RFC 6675.

    Attributes
    ----------
    una, top
        The first unacknowledged offset, and the end of the data sent so far.
    size
        Bytes of the outstanding transmissions.
    latest
        Packet number of the latest acknowledged packet.
    """

    def __init__(self) -> None:
        self.una = self.top = self.size = 0
        self.latest: int | None = None
        self._outstanding: dict[int, Transmission] = {}
        self._is_ordered = True
        self._lost: dict[int, Transmission] = {}
        self._at: dict[int, list[Transmission]] = {}
        self._starts: list[int] = []
        self._first = 0
        self._longest = 0
        self._needless: list[Transmission] = []
        self._reported: list[tuple[int, int]] = []

    def add(self, number: int, start: int, end: int) -> None:
        """Adds a packet with new or retransmitted bytes."""
        self.top = max(self.top, end)
        if end <= self.una:
            return
        sent = Transmission(number, start, end)
        self._outstanding[number] = sent
        self._longest = max(self._longest, sent.length)
        self.size += sent.length
        if self._is_reported(sent):
            self._needless.append(sent)
        if start in self._at:
            self._at[start].append(sent)
            return
        self._at[start] = [sent]
        if not self._starts or start > self._starts[-1]:
            self._starts.append(start)
        else:
            bisect.insort(self._starts, start, lo=self._first)

    def withdraw(self, number: int, top: int) -> None:
        """Removes a packet that was just added; `top` is the end of the data sent before."""
        self.top = top
        if (sent := self._outstanding.pop(number, None)) is not None:
            self._forget(sent.start, [sent])
            self.size -= sent.length

    def acknowledge(self, ack: int, blocks: Iterable[tuple[int, int]]) -> list[int]:
        """Returns the numbers of the packets that an ACK acknowledges for the first time, in ascending order.

        A lost packet is among them only if no other transmission of its bytes was outstanding: it arrived late. If SACK
        had reported all bytes of a packet before it was sent, the next ACK acknowledges it.

        Parameters
        ----------
        ack
            Offset of the cumulative acknowledgement.
        blocks
            Start and end of the SACK blocks.
        """
        found: list[int] = []
        if ack > self.una:
            self.una = ack
            found += self._cover_to(ack)
            self._reported = [(max(start, ack), end) for start, end in self._reported if end > ack]
        for start, end in blocks:
            for new_start, new_end in self._report(max(start, self.una), end):
                found += self._cover(new_start, new_end)
        for sent in self._needless:
            found += self._remove([sent])
            if sent.start in self._at:
                self._forget(sent.start, [sent])
        self._needless.clear()
        found.sort()
        if found:
            self.latest = found[-1]
        return found

    def lose(self, number: int) -> Transmission:
        """Marks an outstanding packet as lost."""
        sent = self._outstanding.pop(number)
        self._lost[number] = sent
        self.size -= sent.length
        return sent

    def restore(self, number: int) -> Transmission:
        """Makes a lost packet outstanding again."""
        sent = self._lost.pop(number)
        self._outstanding[number] = sent
        self._is_ordered = False
        self.size += sent.length
        return sent

    def outstanding(self) -> Iterable[Transmission]:
        """Returns the outstanding packets in the order of transmission, by packet number."""
        if not self._is_ordered:
            self._outstanding = dict(sorted(self._outstanding.items()))
            self._is_ordered = True
        return self._outstanding.values()

    def earlier(self, number: int, start: int, end: int) -> list[Transmission]:
        """Returns the outstanding packets before a packet that carry some of its bytes."""
        starts = self._starts[self._before(start) : bisect.bisect_left(self._starts, end, lo=self._first)]
        found = [sent for each in starts for sent in self._at[each] if sent.end > start and sent.number < number]
        return [sent for sent in found if sent.number in self._outstanding]

    def lost(self) -> list[Transmission]:
        """Returns the lost packets with unacknowledged bytes, the one that was lost last first."""
        return list(reversed(self._lost.values()))

    def _report(self, start: int, end: int) -> list[tuple[int, int]]:
        """Adds a reported range; returns the parts that were not reported before."""
        if end <= start:
            return []
        at = bisect.bisect_left(self._reported, (start, start))
        if at and self._reported[at - 1][1] >= start:
            at -= 1
        until = at
        new, covered = [], start
        left, right = start, end
        while until < len(self._reported) and self._reported[until][0] <= end:
            known = self._reported[until]
            if known[0] > covered:
                new.append((covered, known[0]))
            covered = max(covered, known[1])
            left, right = min(left, known[0]), max(right, known[1])
            until += 1
        if covered < end:
            new.append((covered, end))
        self._reported[at:until] = [(left, right)]
        return new

    def _is_reported(self, sent: Transmission) -> bool:
        """Returns true if all bytes of a packet were acknowledged or reported by SACK."""
        start, end = max(sent.start, self.una), sent.end
        at = bisect.bisect_right(self._reported, (start, 1 << 62)) - 1
        return at >= 0 and self._reported[at][1] >= end

    def _cover(self, start: int, end: int) -> list[int]:
        """Removes the packets whose bytes were all reported by SACK, now that this range was."""
        at, found = self._before(start), []
        while at < len(self._starts) and self._starts[at] < end:
            complete = [sent for sent in self._at[self._starts[at]] if self._is_reported(sent)]
            found += self._remove(complete)
            if complete:
                self._forget(self._starts[at], complete)
            at += 1
        return found

    def _cover_to(self, ack: int) -> list[int]:
        """Removes the packets below a cumulative acknowledgement."""
        found = []
        at, partial = self._first, []
        while at < len(self._starts) and self._starts[at] < ack:
            start = self._starts[at]
            complete = [sent for sent in self._at[start] if sent.end <= ack or self._is_reported(sent)]
            found += self._remove(complete)
            self._forget(start, complete)
            if self._at[start]:
                partial.append(start)
            else:
                del self._at[start]
            at += 1
        self._first = at - len(partial)
        self._starts[self._first : at] = partial
        if self._first > _SPARE and 2 * self._first > len(self._starts):
            del self._starts[: self._first]
            self._first = 0
        return found

    def _before(self, offset: int) -> int:
        """Returns the index of the first packet that may extend beyond an offset."""
        return bisect.bisect_right(self._starts, offset - self._longest, lo=self._first)

    def _forget(self, start: int, complete: list[Transmission]) -> None:
        self._at[start] = [sent for sent in self._at[start] if sent not in complete]

    def _remove(self, complete: list[Transmission]) -> list[int]:
        arrived = [sent for sent in complete if sent.number in self._outstanding]
        for sent in arrived:
            del self._outstanding[sent.number]
            self.size -= sent.length
        lost = [sent for sent in complete if self._lost.pop(sent.number, None) is not None]
        # Without another transmission, the last of the lost ones has arrived.
        return [sent.number for sent in arrived or lost[-1:]]
