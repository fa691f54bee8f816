"""Reads the captures that runs write: little-endian pcapng with one section and one interface."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lightlag.errors import InputError
from lightlag.text.terminal import printable

__all__ = ["CaptureFile", "CapturedPacket"]

_SECTION, _INTERFACE, _NAMES, _PACKET = 0x0A0D0D0A, 1, 4, 6
_COMMENT, _NAME, _FLAGS = 1, 2, 2
_RAW = 101
_HEAD = struct.Struct("<II")
_ENHANCED = struct.Struct("<IIIII")
_OPTION = struct.Struct("<HH")
_OUTBOUND = 2
_LENGTHS = range(12, 1 << 20)
"""Plausible lengths of a block in bytes."""


@dataclass(frozen=True, slots=True)
class CapturedPacket:
    """A packet at the node of a capture.

    Attributes
    ----------
    time_ns
        Nanoseconds since the start of the run.
    is_sent
        Whether the node sent the packet; otherwise it received the packet.
    data
        The IP packet.
    comment
        State of the sender, and the fate of the packet.
    """

    time_ns: int
    is_sent: bool
    data: bytes
    comment: str


class CaptureFile:
    """A capture of a run. Its packets are read one by one.

    Attributes
    ----------
    node
        Name of the node.
    addresses
        Addresses of nodes, by name.
    is_ip
        Whether the packets are IP packets, not frames of a radio.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.node = ""
        self.addresses: dict[str, bytes] = {}
        self.is_ip = False
        with path.open("rb") as file:
            for kind, body in self._blocks(file):
                if kind == _PACKET:
                    break
                self._describe(kind, body)

    def packets(self) -> Iterator[CapturedPacket]:
        """Yields the packets in the order of their times."""
        with self.path.open("rb") as file:
            for kind, body in self._blocks(file):
                if kind == _PACKET:
                    yield _packet(body)

    def _describe(self, kind: int, body: bytes) -> None:
        if kind == _INTERFACE:
            self.is_ip = int.from_bytes(body[:2], "little") == _RAW
            names = [value for code, value in _options(body, 8) if code == _NAME]
            self.node = names[0].decode("utf-8", "replace") if names else ""
        elif kind == _NAMES:
            for code, value in _options(body, 0):
                length = 4 if code == 1 else 16
                name = value[length:].split(b"\0", 1)[0].decode("utf-8", "replace")
                self.addresses[name] = value[:length]

    def _blocks(self, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        while head := file.read(8):
            kind, length = _HEAD.unpack(head) if len(head) == 8 else (0, 0)
            body = file.read(length - 8) if length in _LENGTHS else b""
            if not body or len(body) != length - 8:
                raise InputError(f"{printable(self.path)}: the capture is incomplete; repeat the run")
            if kind != _SECTION:
                yield kind, body[:-4]


def _packet(body: bytes) -> CapturedPacket:
    _, high, low, length, _ = _ENHANCED.unpack_from(body)
    flags, comment = 0, ""
    for code, value in _options(body, 20 + length + -length % 4):
        if code == _FLAGS:
            flags = value[0]
        elif code == _COMMENT:
            comment = value.decode("utf-8", "replace")
    return CapturedPacket(high << 32 | low, flags & 3 == _OUTBOUND, body[20 : 20 + length], comment)


def _options(body: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Yields code and value of the options, or records, that start at an offset."""
    while at + 4 <= len(body):
        code, length = _OPTION.unpack_from(body, at)
        if code == 0:
            return
        yield code, body[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4
