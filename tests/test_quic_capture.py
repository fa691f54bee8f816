"""Captures of QUIC that an example writes: tshark shows every packet with its frames, as the connections made them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
TSHARK = shutil.which("tshark")
CARGO = shutil.which("cargo")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(TSHARK is None, reason="tshark is missing: apt-get install tshark"),
]

WARNING = 6_291_456
"""Minimum severity of an expert message that reports a fault."""
REPEATED = ("This QUIC frame has a reused stream offset", "This QUIC frame overlaps a previous frame")
"""Messages about CRYPTO data that is retransmitted after a loss."""
ACK, ACK_ECN, STREAM, CRYPTO, MAX_DATA = {2}, {3}, set(range(8, 16)), {6}, {16}
LONG_TYPES = {
    "0x00000001": ("Initial", "ZeroRtt", "Handshake", "Retry"),
    "0x6b3343cf": ("Retry", "Initial", "ZeroRtt", "Handshake"),
}

PATHS = [
    *(
        "version1",
        "version2",
        "retry",
        "retry2",
        "retry-short-ids",
        "early",
        "short-ids",
        "long-ids",
        "large-hello",
        "datagrams",
        "ecn",
    ),
    *("lost-hello", "lost-flight", "http3", "quinn", "picoquic", "quiche", "msquic", "aioquic"),
]
CASES = [f"{name}@{place}" for name in PATHS for place in ("client", "server")]
CASES += ["version1+early+retry+version2@client", "lost-answer@server", "all-frames@client", "all-frames2@client"]


@dataclass
class Packet:
    """A QUIC packet as tshark decodes it, or as the connection made it.

    Attributes
    ----------
    types
        The types of its frames.
    ranges
        The acknowledged ranges in descending order.
    streams, crypto
        Offset and length of the data of each frame.
    """

    kind: str
    number: int | None
    types: list[int] = field(default_factory=list)
    ranges: list[list[int]] = field(default_factory=list)
    delay: int | None = None
    streams: list[list[int]] = field(default_factory=list)
    crypto: list[list[int]] = field(default_factory=list)
    max_data: list[int] = field(default_factory=list)
    spin: bool = False


@dataclass
class Frame:
    """A frame of a capture: its packets, the length of its UDP payload, and expert messages of tshark."""

    packets: list[Packet]
    size: int
    faults: list[str] = field(default_factory=list)


@cache
def example() -> Path:
    """Builds ``crates/lightlag-wire/examples/quic_exchange.rs``."""
    if CARGO is None:
        pytest.skip("cargo is missing, which builds the example: https://rustup.rs")
    # With the features of all packages, as `make test-rust` built it.
    build = [CARGO, "build", "--quiet", "--workspace", "--exclude", "lightlag-python", "--example", "quic_exchange"]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/examples/quic_exchange"


def exchange(case: str, capture: Path, *logs: Path) -> list[Frame]:
    """Writes the capture of a case, and its logs in qlog 0.3 and in the current schema. Returns the frames in it."""
    command = [str(example()), case, *map(str, (capture, *logs))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frames = []
    for line in done.stdout.splitlines():
        record = json.loads(line)
        frames.append(Frame([_made(part) for part in record["parts"]], record["size"]))
    return frames


def _made(part: dict[str, Any]) -> Packet:
    numbered = part["kind"] not in ("Retry", "StatelessReset")
    fields = {key: part[key] for key in ("kind", "types", "ranges", "delay", "streams", "crypto", "max_data")}
    # Bytes of PADDING that follow each other are one run for a reader.
    types = part["types"]
    fields["types"] = [
        kind for kind, previous in zip(types, [None, *types][: len(types)], strict=True) if kind or previous != 0
    ]
    # Only short headers have a spin bit.
    spin = part["spin"] and part["kind"] == "OneRtt"
    return Packet(number=part["number"] if numbered else None, spin=spin, **fields)


def dissect(capture: Path) -> list[Frame]:
    """Reads a capture with tshark, without any option."""
    assert TSHARK
    done = subprocess.run([TSHARK, "-r", str(capture), "-T", "pdml"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frames = []
    for packet in ElementTree.fromstring(done.stdout).iter("packet"):
        quic = [proto for proto in packet.iter("proto") if proto.get("name") == "quic"]
        length = next(_numbers(packet, "udp.length"))
        frames.append(Frame([_decoded(proto) for proto in quic], length - 8, _faults(packet)))
    return frames


def _faults(packet: ElementTree.Element) -> list[str]:
    faults = ["malformed" for proto in packet.iter("proto") if proto.get("name") == "_ws.malformed"]
    for expert in packet.iter("field"):
        if expert.get("name") == "_ws.expert":
            text = _texts(expert, "_ws.expert.message")[0]
            if next(_numbers(expert, "_ws.expert.severity")) >= WARNING or "decrypt" in text:
                faults.append(text)
    return faults


def _texts(parent: ElementTree.Element, name: str) -> list[str]:
    return [each.get("show", "") for each in parent.iter("field") if each.get("name") == name]


def _numbers(parent: ElementTree.Element, name: str) -> Any:
    return (int(text, 0) for text in _texts(parent, name))


def _decoded(quic: ElementTree.Element) -> Packet:
    if _texts(quic, "quic.unpredictable_bits"):
        return Packet("StatelessReset", None)
    versions = _texts(quic, "quic.version")
    types = [next(iter(_numbers(quic, name)), None) for name in ("quic.long.packet_type", "quic.long.packet_type_v2")]
    code = next((code for code in types if code is not None), None)
    kind = LONG_TYPES[versions[0]][code] if versions and code is not None else "OneRtt"
    packet = Packet(kind, next(_numbers(quic, "quic.packet_number"), None))
    packet.spin = any(text in ("1", "True") for text in _texts(quic, "quic.spin_bit"))
    for frame in quic.iter("field"):
        if frame.get("name") != "quic.frame":
            continue
        kind_code = next(_numbers(frame, "quic.frame_type"))
        packet.types.append(kind_code)
        if kind_code in ACK | ACK_ECN:
            packet.ranges = _ranges(frame)
            packet.delay = next(_numbers(frame, "quic.ack.ack_delay"))
        elif kind_code in STREAM:
            packet.streams.append([next(_numbers(frame, "quic.stream.offset"), 0), _stream_length(frame)])
        elif kind_code in CRYPTO:
            packet.crypto.append([next(_numbers(frame, f"quic.crypto.{name}")) for name in ("offset", "length")])
        elif kind_code in MAX_DATA:
            packet.max_data += _numbers(frame, "quic.md.maximum_data")
    return packet


def _ranges(frame: ElementTree.Element) -> list[list[int]]:
    largest = next(_numbers(frame, "quic.ack.largest_acknowledged"))
    lengths = [*_numbers(frame, "quic.ack.first_ack_range"), *_numbers(frame, "quic.ack.ack_range")]
    gaps = [-2, *_numbers(frame, "quic.ack.gap")]
    ranges, smallest = [], largest
    for gap, length in zip(gaps, lengths, strict=True):
        last = smallest - gap - 2
        smallest = last - length
        ranges.append([smallest, last])
    return ranges


def _stream_length(frame: ElementTree.Element) -> int:
    lengths = list(_numbers(frame, "quic.stream.length"))
    if lengths:
        return int(lengths[0])
    data = [each for each in frame.iter("field") if each.get("name") == "quic.stream_data"]
    return sum(int(each.get("size", "0")) for each in data)


@pytest.mark.parametrize("case", CASES)
def test_tshark_shows_every_packet_and_frame(case: str, tmp_path: Path) -> None:
    capture = tmp_path / "quic.pcapng"
    made = exchange(case, capture)
    decoded = dissect(capture)
    assert [frame.size for frame in decoded] == [frame.size for frame in made]
    assert len(made) > 250, "a handshake and a download of 200 kB"
    for index, (ours, theirs) in enumerate(zip(made, decoded, strict=True), 1):
        assert theirs.packets == ours.packets, f"frame {index}"
        assert all(fault.startswith(REPEATED) for fault in theirs.faults), f"frame {index}: {theirs.faults}"
    kinds = {packet.kind for frame in decoded for packet in frame.packets}
    assert {"Initial", "Handshake", "OneRtt"} <= kinds
    assert ("Retry" in kinds) == ("retry" in case)
    assert ("ZeroRtt" in kinds) == ("early" in case)
    assert ("StatelessReset" in kinds) == case.startswith("all-frames")
    assert any(len(packet.ranges) > 1 for frame in decoded for packet in frame.packets), "losses leave gaps"
    assert any(len(frame.packets) > 1 for frame in decoded), "the handshake coalesces packets"


def test_the_handshake_has_the_parameters_of_the_endpoints(tmp_path: Path) -> None:
    capture = tmp_path / "quic.pcapng"
    exchange("version1", capture)
    assert TSHARK
    columns = ("tls.handshake.type", "tls.quic.parameter.initial_max_data", "tls.handshake.certificate_length")
    command = [TSHARK, "-r", str(capture), "-Y", "tls", "-T", "fields"]
    command += [part for column in columns for part in ("-e", column)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [row.split("\t") for row in done.stdout.splitlines()]
    types = [int(kind) for row in rows for kind in row[0].split(",") if kind]
    # ClientHello, ServerHello, EncryptedExtensions, Certificate, CertificateVerify, Finished twice, NewSessionTicket.
    assert sorted(types) == [1, 2, 4, 8, 11, 15, 20, 20]
    # The profile rfc9002 grants 24 MiB to both directions.
    assert [value for row in rows for value in row[1].split(",") if value] == [str(24 << 20)] * 2


def test_the_first_packets_of_a_capture_that_lacks_the_server_hello_stay_encrypted(tmp_path: Path) -> None:
    # The datagram with the ServerHello is lost, so the client cannot decrypt the next ones either.
    capture = tmp_path / "quic.pcapng"
    made, decoded = exchange("lost-answer@client", capture), dissect(capture)
    hidden = [
        index for index, (ours, theirs) in enumerate(zip(made, decoded, strict=True)) if theirs.packets != ours.packets
    ]
    hello = next(index for index, frame in enumerate(made) if index and frame.packets[0].crypto and index > 3)
    assert 0 < len(hidden) <= 3
    assert max(hidden) < hello


def test_logs_have_the_packets_of_the_capture(tmp_path: Path) -> None:
    logs = [tmp_path / name for name in ("old.sqlog", "current.sqlog")]
    frames = exchange("version1", tmp_path / "quic.pcapng", *logs)
    made = [packet for frame in frames for packet in frame.packets]
    kinds = {"Initial": "initial", "Handshake": "handshake", "OneRtt": "1RTT"}
    for path, prefix in zip(logs, ("transport:", "quic:"), strict=True):
        separator, *records = path.read_text(encoding="utf-8").split("\x1e")
        assert separator == ""
        header, *events = map(json.loads, records)
        assert ("qlog_version" in header) == (prefix == "transport:")
        times = [event["time"] for event in events]
        assert times == sorted(times)
        packets = [event["data"] for event in events if event["name"].startswith(f"{prefix}packet_")]
        assert len(packets) == len(made)
        for ours, data in zip(made, packets, strict=True):
            assert data["header"]["packet_type"] == kinds[ours.kind]
            assert data["header"]["packet_number"] == ours.number
            acks = [frame for frame in data["frames"] if frame["frame_type"] == "ack"]
            ranges = [[pair[0], pair[-1]] for ack in acks for pair in ack["acked_ranges"]]
            assert ranges == ours.ranges[::-1]
            offsets = [frame["offset"] for frame in data["frames"] if frame["frame_type"] == "stream"]
            assert offsets == [offset for offset, _ in ours.streams]
            # Congestion graphs of qvis leave out packets without a length.
            assert data["raw"]["length"] > 0
        assert any(event["name"].endswith("metrics_updated") for event in events)
