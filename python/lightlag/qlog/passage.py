"""The numbers of the packets that one end of a connection sends, and with which they arrive at the other end."""

from __future__ import annotations

from collections import deque

from lightlag.qlog.segment import Segment

__all__ = ["Passage"]

_ARRIVED_NS, _MISSING_NS = 1_000_000_000, 60_000_000_000
"""Minimum age of a packet that has arrived, and of one that others have overtaken, before it is forgotten."""


class Passage:
    """Numbers packets from 0 in the order in which they are sent.

    A packet is recognised at the other end by its TCP header. Among several equal packets, the first one that keeps the
    order counts, or else the first one that has not arrived.

    Parameters
    ----------
    is_observed
        Whether the packets are captured where they are sent. Otherwise, a proxy sends them, and they are numbered in
        the order of their arrival.
    """

    def __init__(self, is_observed: bool) -> None:
        self._is_observed = is_observed
        self._count = 0
        self._last = -1
        self._longest_ns = 0
        self._waiting: dict[tuple[bytes, int], list[tuple[int, int]]] = {}
        self._arrived: dict[tuple[bytes, int], int] = {}
        self._order: deque[tuple[int, tuple[bytes, int]]] = deque()
        self._missing: deque[tuple[int, tuple[bytes, int]]] = deque()

    def sent(self, time_ns: int, segment: Segment) -> int:
        """Returns the packet number of a sent packet."""
        number = self._count
        self._count += 1
        if self._is_observed:
            key = (segment.header, segment.length)
            self._waiting.setdefault(key, []).append((number, time_ns))
            self._order.append((time_ns, key))
        return number

    def arrived(self, time_ns: int, segment: Segment) -> int | None:
        """Returns the packet number under which an arriving packet was sent; None if it is unknown."""
        if not self._is_observed:
            return self.sent(time_ns, segment)
        key = (segment.header, segment.length)
        waiting = self._waiting.get(key)
        if not waiting:
            # The network may duplicate a packet.
            return self._arrived.get(key)
        at = next((at for at, (number, _) in enumerate(waiting) if number > self._last), 0)
        number, sent_ns = waiting.pop(at)
        self._arrived[key] = number
        self._last = max(self._last, number)
        self._longest_ns = max(self._longest_ns, time_ns - sent_ns)
        self._forget(sent_ns)
        return number

    def _forget(self, now_ns: int) -> None:
        """Forgets packets that were sent long before `now_ns`: most have arrived, some are probably lost."""
        before_ns = now_ns - max(_ARRIVED_NS, 4 * self._longest_ns)
        while self._order and self._order[0][0] < before_ns:
            entry = self._order.popleft()
            if self._waiting.get(entry[1]):
                self._missing.append(entry)
            else:
                self._waiting.pop(entry[1], None)
                self._arrived.pop(entry[1], None)
        before_ns = now_ns - max(_MISSING_NS, 4 * self._longest_ns)
        while self._missing and self._missing[0][0] < before_ns:
            _, key = self._missing.popleft()
            if waiting := [pair for pair in self._waiting.pop(key, []) if pair[1] >= before_ns]:
                self._waiting[key] = waiting
