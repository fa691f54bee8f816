"""One direction of a connection: its sequence numbers, its data, and the window that its receiver grants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lightlag.qlog.flight import Flight
from lightlag.qlog.segment import FIN, SYN, Segment

__all__ = ["Direction", "ranges", "stream_frame"]

_MODULUS = 1 << 32


@dataclass(slots=True)
class Direction:
    """Data that one end sends, counted from the byte after its SYN.

    Attributes
    ----------
    initial
        The initial sequence number; None before the SYN.
    syn
        Number of the last packet with the SYN, until it is acknowledged.
    scale
        Shift of the windows that this end advertises.
    has_sack
        Whether its SYN permits SACK.
    granted
        Right edge of the window that the other endpoint advertised.
    end
        Offset after the FIN, once it was sent.
    """

    initial: int | None = None
    syn: int | None = None
    scale: int = 0
    has_sack: bool = False
    granted: int = 0
    end: int | None = None
    flight: Flight = field(default_factory=Flight)

    @property
    def is_acknowledged(self) -> bool:
        """Whether the FIN was acknowledged."""
        return self.end is not None and self.flight.una >= self.end

    def open(self, segment: Segment) -> None:
        """Starts with a SYN."""
        parameters = segment.parameters
        self.initial = segment.seq
        self.scale = int(parameters.get("window_scale", 0))
        self.has_sack = bool(parameters["sack"])

    def offset(self, sequence: int) -> int:
        """Returns the offset of a sequence number, which wraps."""
        assert self.initial is not None, "data follows a SYN"
        near = self.flight.top
        apart = (sequence - self.initial - 1 - near) % _MODULUS
        return near + apart - (_MODULUS if apart >= _MODULUS // 2 else 0)

    def carry(self, number: int, segment: Segment) -> tuple[int, int] | None:
        """Adds a packet. Returns the start and the end of its data; None if it has none."""
        start = self.offset(segment.seq + segment.has(SYN))
        end = start + segment.length + segment.has(FIN)
        if segment.has(SYN):
            self.syn = number
        if segment.has(FIN):
            self.end = end
        if end == start:
            return None
        self.flight.add(number, start, end)
        return start, end

    def acknowledge(self, segment: Segment) -> list[int]:
        """Returns the numbers of the packets that a segment of the other end acknowledges.

        They are the packets that it acknowledges for the first time. If there are none, a segment without data
        acknowledges the last packet again.
        """
        blocks = [(self.offset(start), self.offset(end)) for start, end in segment.sack_blocks]
        found = self.flight.acknowledge(self.offset(segment.ack), blocks)
        if self.syn is not None:
            found, self.syn = sorted({self.syn, *found}), None
            self.flight.latest = found[-1]
        if found or segment.length or self.flight.latest is None:
            return found
        return [self.flight.latest]

    def grant(self, segment: Segment, scale: int) -> int | None:
        """Returns the right edge of the window, if a segment of the other endpoint moves it."""
        shift = 0 if segment.has(SYN) else scale
        granted = self.offset(segment.ack) + (segment.window << shift)
        if granted <= self.granted:
            return None
        self.granted = granted
        return granted


def ranges(numbers: list[int]) -> list[list[int]]:
    """Returns ascending packet numbers as the ranges of an ACK frame.

    Examples
    --------
    >>> ranges([1, 2, 3, 5])
    [[1, 3], [5]]
    """
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][-1] == number - 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    return found


def stream_frame(start: int, end: int, fin: bool) -> dict[str, Any]:
    """Returns the frame for data from `start` to `end`, where a FIN counts as one byte."""
    frame: dict[str, Any] = {"frame_type": "stream", "stream_id": 0, "offset": start, "length": end - start - fin}
    return frame | ({"fin": True} if fin else {})
