"""TCP segments in captured IP packets."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["ACK", "FIN", "RST", "SYN", "Segment", "segment_of"]

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
_TCP = 6
_LOW_PRIORITY = 0x02
"""A reserved flag, in the byte of the data offset."""
_HEADER = struct.Struct(">HHIIHH")
_BLOCK = struct.Struct(">II")
_END, _NOP, _MSS, _SCALE, _SACK_PERMITTED, _SACK, _TIMESTAMPS = 0, 1, 2, 3, 4, 5, 8


@dataclass(frozen=True, slots=True)
class Segment:
    """A TCP segment.

    Attributes
    ----------
    source, destination
        Address and port.
    flags
        The lower eight flags of the header, of which FIN is the lowest.
    window
        The window as sent, before scaling.
    length, size
        Bytes of payload, and of the IP packet.
    header
        The complete TCP header.
    """

    source: tuple[bytes, int]
    destination: tuple[bytes, int]
    seq: int
    ack: int
    flags: int
    window: int
    length: int
    size: int
    header: bytes

    def has(self, flag: int) -> bool:
        """Returns true if the segment has a flag."""
        return bool(self.flags & flag)

    @property
    def is_copy(self) -> bool:
        """Whether a flag marks a segment of low priority: a copy of data, as TCP Peach sends it, or the ACK of one."""
        return bool(self.header[12] & _LOW_PRIORITY)

    @property
    def sack_blocks(self) -> list[tuple[int, int]]:
        """Start and end of each SACK block, as sequence numbers."""
        blocks = [value for kind, value in self._options() if kind == _SACK]
        return [edges for value in blocks for edges in _BLOCK.iter_unpack(value[: len(value) // 8 * 8])]

    @property
    def parameters(self) -> dict[str, int | bool]:
        """The options that a SYN negotiates."""
        options = dict(self._options())
        found: dict[str, int | bool] = {}
        if len(mss := options.get(_MSS, b"")) == 2:
            found["max_segment_size"] = int.from_bytes(mss, "big")
        if scale := options.get(_SCALE):
            found["window_scale"] = scale[0]
        return found | {"sack": _SACK_PERMITTED in options, "timestamps": _TIMESTAMPS in options}

    def _options(self) -> Iterator[tuple[int, bytes]]:
        options, at = self.header[20:], 0
        while at + 1 < len(options) and options[at] != _END:
            if options[at] == _NOP:
                at += 1
                continue
            length = max(2, options[at + 1])
            yield options[at], options[at + 2 : at + length]
            at += length


def segment_of(packet: bytes) -> Segment | None:
    """Returns the TCP segment in an IP packet; None if it has none."""
    if packet[0] >> 4 == 4:
        start, protocol, source, destination = (packet[0] & 15) * 4, packet[9], packet[12:16], packet[16:20]
    else:
        start, protocol, source, destination = 40, packet[6], packet[8:24], packet[24:40]
    if protocol != _TCP:
        return None
    source_port, destination_port, seq, ack, bits, window = _HEADER.unpack_from(packet, start)
    end = start + (bits >> 12) * 4
    return Segment(
        (source, source_port),
        (destination, destination_port),
        seq,
        ack,
        bits & 0xFF,
        window,
        len(packet) - end,
        len(packet),
        packet[start:end],
    )
