"""Connections without the token. They are limited in number, time and size, so that they cannot keep out the owner.

A connection is a visitor's until a request on it, or the first message of its WebSocket, has shown the token. The page
itself needs no token, so a browser is a visitor at first. A new visitor replaces the one whose last progress is oldest;
a client with the token is never replaced, does not wait, and does not count towards the limit of visitors.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Address", "Visitors", "allow_files"]

MOST_VISITORS = 512
"""Maximum number of connections without the token: more than may be accepted while a browser sends its request."""
PATIENCE_S = 10.0
"""Time limit in seconds for a visitor's connection that completes no request head and reads no part of a reply."""
MOST_BYTES = 1 << 16
"""Maximum number of bytes that a visitor's WebSocket receives: its request and the message with the token."""
MOST_FILES = 4096
SPARE_FILES = 64
"""Minimum number of open files that are reserved for uses other than visitors' connections."""

Address = tuple[str, int]


@dataclass(slots=True)
class Visitor:
    """A connection without the token."""

    transport: asyncio.Transport
    since: float
    """Time of its last progress."""
    unread: int = 0
    """Bytes of replies that were unsent at the last check."""
    received: int = 0


class Visitors:
    """The connections without the token, ordered by the time of their last progress."""

    def __init__(self, most: int = MOST_VISITORS, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._found: OrderedDict[Address, Visitor] = OrderedDict()

    def __len__(self) -> int:
        return len(self._found)

    def opened(self, address: Address | None, transport: asyncio.Transport) -> None:
        """Registers a new connection; closes another if there are too many."""
        if address is None:
            # It is closed already.
            transport.abort()
            return
        self._found[address] = Visitor(transport, self._clock())
        while len(self._found) > self._most:
            self._found.popitem(last=False)[1].transport.abort()

    def closed(self, address: Address | None) -> None:
        """Unregisters a connection."""
        if address is not None:
            self._found.pop(address, None)

    def admit(self, address: object) -> None:
        """Records that a connection has shown the token: no limit applies to it any more."""
        if isinstance(address, tuple):
            self._found.pop((address[0], address[1]), None)

    def asked(self, address: object) -> None:
        """Records the complete head of a request."""
        if isinstance(address, tuple) and (visitor := self._found.get((address[0], address[1]))) is not None:
            self._note_progress((address[0], address[1]), visitor)

    def received(self, address: Address | None, count: int) -> bool:
        """Counts bytes for a WebSocket. Returns false, and ends the connection, if a visitor has sent too many."""
        if address is None or (visitor := self._found.get(address)) is None:
            return True
        visitor.received += count
        if visitor.received > MOST_BYTES:
            visitor.transport.abort()
        return visitor.received <= MOST_BYTES

    def look(self) -> None:
        """Closes connections that make no progress."""
        for address, visitor in list(self._found.items()):
            unread = visitor.transport.get_write_buffer_size()
            if unread < visitor.unread:
                self._note_progress(address, visitor)
            visitor.unread = unread
            if self._clock() - visitor.since > PATIENCE_S:
                visitor.transport.abort()

    def _note_progress(self, address: Address, visitor: Visitor) -> None:
        visitor.since = self._clock()
        self._found.move_to_end(address)


def allow_files() -> int:
    """Raises the limit of open files of this process. Returns the number of visitors that the limit allows."""
    if sys.platform == "win32":
        return MOST_VISITORS
    import resource

    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if most == resource.RLIM_INFINITY else min(MOST_FILES, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
        now = wanted
    return MOST_VISITORS if now == resource.RLIM_INFINITY else max(1, min(MOST_VISITORS, (now - SPARE_FILES) // 2))
