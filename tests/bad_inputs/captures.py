"""Captures that cannot be read."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

from bad_inputs.case import Case


def captures() -> Iterator[Case]:
    def case(command: str, name: str, content: bytes, *parts: str) -> Case:
        arguments = (command, "x.pcap") if command != "compare-capture" else (command, "x.pcap", "x.pcap")
        return Case(f"{command} {name}", arguments, files=(("x.pcap", content),), parts=("x.pcap", *parts))

    little = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    block = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    junk = {
        "empty": b"",
        "a byte": b"\xd4",
        "text": b"this is no capture at all",
        "zeros": bytes(64),
        "ones": b"\xff" * 64,
        "JSON": b'{"packets": []}',
        "another magic": b"\x0a\x0d\x0d\x0b" + bytes(60),
        "gzip": b"\x1f\x8b\x08" + bytes(40),
        "a version": struct.pack("<IHHiIII", 0xA1B2C3D4, 9, 9, 0, 0, 65535, 101),
    }
    junk |= {f"{size} bytes of a header": little[:size] for size in (3, 5, 8, 16, 23)}
    junk |= {f"{size} bytes of a block": block[:size] for size in (5, 8, 12, 20)}
    junk["a block too short"] = block[:4] + struct.pack("<I", 4) + block[8:]
    junk["an order of bytes"] = block[:8] + b"\1\2\3\4" + block[12:]
    for command, (name, content) in itertools.product(("inspect", "replay", "compare-capture"), junk.items()):
        yield case(command, name, content)
    for command in ("inspect", "replay"):
        yield Case(f"{command} nothing", (command, "nowhere.pcap"), parts=("nowhere.pcap",))
        yield Case(f"{command} a folder", (command, "."), parts=("directory",))
    yield case("replay", "without packets", little)
    yield case("compare-capture", "without packets", little)
    for flow in ("7", "x", "1.2.3.4", "1.2.3.4:5", "-", "1.2.3.4:5-6.7.8.9:1"):
        arguments = ("inspect", "x.pcap", "--flow", flow)
        yield Case(f"--flow {flow}", arguments, files=(("x.pcap", little),), parts=(flow,))
