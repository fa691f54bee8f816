"""The numbers of the packets that one end of a connection sends, and with which they arrive at the other end."""

from __future__ import annotations

from collections import deque

from lightlag.qlog.segment import Segment

__all__ = ["Passage"]

_HORIZON_NS = 60_000_000_000
"""Minimum time after which a packet that others have overtaken is forgotten."""


class Passage:
    """Numbers packets from 0 in the order in which they are sent.

    A packet is recognised at the other end by its TCP header. Where several equal packets were sent, the first one that
    may arrive in order counts.

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
        self._numbers: dict[tuple[bytes, int], list[tuple[int, int]]] = {}
        self._order: deque[tuple[int, tuple[bytes, int]]] = deque()

    def sent(self, time_ns: int, segment: Segment) -> int:
        """Returns the number of a packet that is sent."""
        number = self._count
        self._count += 1
        if self._is_observed:
            key = (segment.header, segment.length)
            self._numbers.setdefault(key, []).append((number, time_ns))
            self._order.append((time_ns, key))
        return number

    def arrived(self, time_ns: int, segment: Segment) -> int | None:
        """Returns the number of a packet that arrives; None if the packet is unknown."""
        if not self._is_observed:
            return self.sent(time_ns, segment)
        equal = self._numbers.get((segment.header, segment.length))
        if not equal:
            return None
        in_order = [at for at, (number, _) in enumerate(equal) if number > self._last]
        at = in_order[0] if in_order else len(equal) - 1
        number, sent_ns = equal[at]
        # The last one is kept, because the network may duplicate it.
        del equal[: min(at + 1, len(equal) - 1)]
        self._last = max(self._last, number)
        self._longest_ns = max(self._longest_ns, time_ns - sent_ns)
        self._forget(sent_ns - max(_HORIZON_NS, 4 * self._longest_ns))
        return number

    def _forget(self, before_ns: int) -> None:
        while self._order and self._order[0][0] < before_ns:
            _, key = self._order.popleft()
            kept = [pair for pair in self._numbers.pop(key, []) if pair[1] >= before_ns]
            if kept:
                self._numbers[key] = kept
