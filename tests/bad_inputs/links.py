"""Captures of each container and of link types, in which there is nothing to read."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors
# ruff: noqa: E501

from __future__ import annotations

import gzip
import itertools
import struct
from collections.abc import Iterator

from bad_inputs.case import Case

COMMANDS = {
    "inspect": ("inspect", "x.pcap"),
    "replay": ("replay", "x.pcap"),
    "import": ("import", "x.pcap", "--from", "capture"),
    "compare-capture": ("compare-capture", "x.pcap", "x.pcap"),
}
UNREAD = {189: "USB", 187: "Bluetooth", 195: "802.15.4", 227: "CAN", 999: "none", 65000: "none either"}  # fmt: skip
"""Types of links over which this program reads no packets."""
READ = {0: "loopback", 1: "Ethernet", 8: "SLIP", 9: "PPP", 50: "PPP in HDLC", 101: "raw", 105: "802.11", 127: "802.11 with radiotap", 104: "HDLC", 108: "loop", 113: "cooked", 204: "PPP with a direction", 228: "IPv4", 229: "IPv6", 239: "NFLOG", 276: "cooked 2"}  # fmt: skip
"""Types of links over which it does."""
CONTENTS = {
    "nothing": b"",
    "a byte": b"\x45",
    "zeros": bytes(60),
    "ones": b"\xff" * 60,
    "ARP": bytes(12) + b"\x08\x06" + bytes(28),
    "UDP": bytes(12) + b"\x08\x00" + b"\x45\x00\x00\x1c" + bytes(5) + b"\x11" + bytes(10) + bytes(8),
    "a header that is too short": bytes(12) + b"\x08\x00" + b"\x41" + bytes(19),
}
"""Packets that hold no connection of TCP."""


def pcap(link: int, *packets: bytes, magic: int = 0xA1B2C3D4, order: str = "<") -> bytes:
    head = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    rows = (struct.pack(f"{order}IIII", 1, 0, len(data), len(data)) + data for data in packets)
    return head + b"".join(rows)


def block(kind: int, body: bytes, length: int | None = None) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", len(body) + 12 if length is None else length)
    return struct.pack("<I", kind) + size + body + size


def pcapng(*blocks: bytes) -> bytes:
    return block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + b"".join(blocks)


def interface(link: int) -> bytes:
    return block(1, struct.pack("<HHI", link, 0, 0))


def packet(data: bytes, number: int = 0, caught: int | None = None) -> bytes:
    return block(6, struct.pack("<IIIII", number, 0, 0, len(data) if caught is None else caught, len(data)) + data)


def containers() -> Iterator[Case]:
    yield from _unread()
    for (link, about), (what, data) in itertools.product(READ.items(), CONTENTS.items()):
        yield _case("replay", f"{about}: {what}", pcap(link, data))
        yield _case("import", f"{about}: {what}", pcapng(interface(link), packet(data)))
    yield from _damaged()


def _case(command: str, name: str, content: bytes, *parts: str) -> Case:
    return Case(f"{command} {name}", COMMANDS[command], files=(("x.pcap", content),), parts=("x.pcap", *parts))


def _unread() -> Iterator[Case]:
    for (link, about), command in itertools.product(UNREAD.items(), COMMANDS):
        yield _case(command, f"{link} ({about})", pcap(link, bytes(40)), str(link))
        yield _case(command, f"{link} ({about}) in pcapng", pcapng(interface(link), packet(bytes(40))), str(link))


def _damaged() -> Iterator[Case]:
    good = packet(bytes(40))
    whole = pcap(1, bytes(60))
    files = {
        "no interface": pcapng(good),
        "another interface": pcapng(interface(1), packet(bytes(40), number=7)),
        "a packet longer than its block": pcapng(interface(1), packet(bytes(40), caught=10**6)),
        "a block of no length": pcapng(interface(1), block(6, b"", length=0)),
        "a block of 13 bytes": pcapng(interface(1), block(6, b"", length=13)),
        "a block of 4 GiB": pcapng(interface(1), block(6, b"", length=2**32 - 4)),
        "an interface that is cut": pcapng(block(1, b"\1")),
        "only the head": pcapng(),
        "a head of version 9": block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 9, 0, -1)),
        "a record of 4 GiB": whole[:24] + struct.pack("<IIII", 1, 0, 2**32 - 1, 2**32 - 1),
        "a record that is cut": whole[:40],
        "a record of half a head": whole[:30],
        "gzip of a capture that is cut": gzip.compress(whole)[:20],
        "snoop": b"snoop\0\0\0" + struct.pack(">II", 2, 4) + bytes(40),
        "Network Monitor": b"GMBU" + bytes(60),
        "btsnoop": b"btsnoop\0" + bytes(60),
        "an executable": b"\x7fELF" + bytes(60),
        "an image": b"\x89PNG\r\n\x1a\n" + bytes(60),
        "Parquet": b"PAR1" + bytes(60) + b"PAR1",
        "a page": b"<!DOCTYPE html><html></html>",
    }
    for (name, content), command in itertools.product(files.items(), ("replay", "import")):
        yield _case(command, name, content)
    for magic, order in itertools.product((0xA1B23C4D, 0xA1B2CD34), "<>"):
        yield _case("replay", f"without packets, {magic:x}{order}", pcap(1, magic=magic, order=order))
    for option, values in {
        "--rate": ("fast", "5", "-1 Mbit/s", "0 bit/s", ""),
        "--lost": ("sometimes", "", "after"),
        "--profile": ("carrot", ""),
        "-c": ("cubik", "", "{"),
        "--format": ("gif", ""),
        "--style": ("carrot",),
        "--width": ("5", "wide", "-1in", "0mm", "1e9in"),
        "--height": ("5", "high", "nan in"),
    }.items():
        for value in values:
            arguments = (
                ("replay", "x.pcap", f"{option}={value}") if option != "-c" else ("replay", "x.pcap", "-c", value)
            )
            yield Case(f"replay {option}={value}", arguments, files=(("x.pcap", whole),))
