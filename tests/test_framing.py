"""The same connection in every framing of captures: the results equal the results for bare IP packets, and tshark's
counts.
"""

from __future__ import annotations

import gzip
import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from conftest import Lightlag
from test_inspect import judged_by_tshark, ours

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="tshark is missing: apt-get install tshark")

RAW, ETHERNET = 101, 1
MACS = bytes.fromhex("020000000002020000000001")
Wrap = Callable[[bytes], bytes]


def checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def ipv4(payload: bytes, protocol: int, source: bytes = b"\x0a\0\0\x01", destination: bytes = b"\x0a\0\0\x02") -> bytes:
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0, source, destination)
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload


def ipv6(payload: bytes, protocol: int, source: int = 1, destination: int = 2) -> bytes:
    ends = b"".join(b"\xfd" + bytes(14) + bytes([end]) for end in (source, destination))
    return struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64) + ends + payload


def segment(out: bool, seq: int, ack: int, flags: int, data: bytes = b"", options: bytes = b"") -> bytes:
    ports = (40_000, 80) if out else (80, 40_000)
    offset = (5 + len(options) // 4) << 4
    return struct.pack(">HHIIBBHHH", *ports, seq, ack, offset, flags, 0x4000, 0, 0) + options + data


SYN, FIN, PSH, ACK = 2, 1, 8, 16
MSS = b"\x02\x04\x05\xb4\x03\x03\x07\x00"


def dialogue(version: int = 4) -> list[tuple[float, bytes]]:
    """Times and IP packets: a handshake, three segments, a retransmission of one, a reply, both FINs."""
    data = bytes(range(250)) * 2
    steps: list[tuple[float, bool, bytes]] = [
        (0.0, True, segment(True, 99, 0, SYN, options=MSS)),
        (0.1, False, segment(False, 499, 100, SYN | ACK, options=MSS)),
        (0.1001, True, segment(True, 100, 500, ACK)),
        (0.101, True, segment(True, 100, 500, ACK, data)),
        (0.102, True, segment(True, 600, 500, ACK, data)),
        (0.201, False, segment(False, 500, 600, ACK)),
        (0.6, True, segment(True, 600, 500, ACK, data)),
        (0.7, False, segment(False, 500, 1100, ACK)),
        (0.71, False, segment(False, 500, 1100, PSH | ACK, data[:77])),
        (0.72, True, segment(True, 1100, 577, FIN | ACK)),
        (0.82, False, segment(False, 577, 1101, FIN | ACK)),
        (0.8201, True, segment(True, 1101, 578, ACK)),
    ]
    return [(at, carried(out, tcp, version)) for at, out, tcp in steps]


def carried(out: bool, tcp: bytes, version: int) -> bytes:
    """The IP packet of a segment, with a right checksum."""
    first, second = (1, 2) if out else (2, 1)
    if version == 4:
        ends = bytes([10, 0, 0, first]), bytes([10, 0, 0, second])
        pseudo = b"".join(ends) + struct.pack(">HH", 6, len(tcp))
        return ipv4(summed(pseudo, tcp), 6, *ends)
    pseudo = b"".join(b"\xfd" + bytes(14) + bytes([end]) for end in (first, second)) + struct.pack(">II", len(tcp), 6)
    return ipv6(summed(pseudo, tcp), 6, first, second)


def summed(pseudo: bytes, tcp: bytes) -> bytes:
    return tcp[:16] + struct.pack(">H", checksum(pseudo + tcp)) + tcp[18:]


def pcap(link: int, frames: list[tuple[float, bytes]], snap: int = 1 << 18, wire: list[int] | None = None) -> bytes:
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, link)
    for number, (at, frame) in enumerate(frames):
        micros = round(at * 1e6)
        held = frame[:snap]
        length = len(frame) if wire is None else wire[number]
        out += struct.pack("<IIII", micros // 10**6, micros % 10**6, len(held), length) + held
    return out


def ethernet(kind: int, payload: bytes) -> bytes:
    return (MACS + struct.pack(">H", kind) + payload).ljust(60, b"\0")


def snapped(kind: int, payload: bytes) -> bytes:
    body = bytes.fromhex("aaaa03000000") + struct.pack(">H", kind) + payload
    return (MACS + struct.pack(">H", len(body)) + body).ljust(60, b"\0")


def kind_of(ip: bytes) -> int:
    return 0x0800 if ip[0] >> 4 == 4 else 0x86DD


def ppp(ip: bytes) -> bytes:
    return (b"\x00\x21" if ip[0] >> 4 == 4 else b"\x00\x57") + ip


def labels(ip: bytes) -> bytes:
    return struct.pack(">II", 100 << 12 | 64, 200 << 12 | 1 << 8 | 64) + ip


def pppoe(ip: bytes) -> bytes:
    inside = ppp(ip)
    return struct.pack(">BBHH", 0x11, 0, 7, len(inside)) + inside


def udp(port: int, payload: bytes) -> bytes:
    return ipv4(struct.pack(">HHHH", 50_000, port, 8 + len(payload), 0) + payload, 17, b"\x01\0\0\x01", b"\x01\0\0\x02")


def gre(kind: int, payload: bytes, flags: int = 0, fields: bytes = b"") -> bytes:
    return ipv4(struct.pack(">HH", flags, kind) + fields + payload, 47, b"\x01\0\0\x01", b"\x01\0\0\x02")


def bare_ethernet(ip: bytes) -> bytes:
    return MACS + struct.pack(">H", kind_of(ip)) + ip


def nflog(ip: bytes, order: str = "<") -> bytes:
    family = 2 if ip[0] >> 4 == 4 else 10
    prefix = struct.pack(order + "HH", 5, 10) + b"\0" + bytes(3)
    hook = struct.pack(order + "HH", 8, 1) + struct.pack(">HBB", kind_of(ip), 3, 0)
    return struct.pack(">BBH", family, 0, 0) + hook + prefix + struct.pack(order + "HH", 4 + len(ip), 9) + ip


def pktap(ip: bytes) -> bytes:
    header = struct.pack("<III24sI", 108, 1, 1, b"en0", 2)
    return header.ljust(108, b"\0") + bare_ethernet(ip)


def ppi(ip: bytes) -> bytes:
    return struct.pack("<BBHI", 0, 0, 8, 1) + bare_ethernet(ip)


def gtp(ip: bytes) -> bytes:
    extension = b"\x01\x00\x09\x00"
    rest = struct.pack(">HBB", 5, 0, 0x85) + extension + ip
    return udp(2152, struct.pack(">BBHI", 0x34 | 2, 255, len(rest), 77) + rest)


FRAMINGS: dict[str, tuple[int, Wrap]] = {
    "raw": (RAW, lambda ip: ip),
    "raw of BSD": (12, lambda ip: ip),
    "Ethernet": (ETHERNET, lambda ip: ethernet(kind_of(ip), ip)),
    "two tags": (
        ETHERNET,
        lambda ip: ethernet(0x88A8, b"\0\x05\x81\0\0\x06" + struct.pack(">H", kind_of(ip)) + ip),
    ),
    "802.3 with SNAP": (ETHERNET, lambda ip: snapped(kind_of(ip), ip)),
    "802.3 with SNAP behind a tag": (
        ETHERNET,
        lambda ip: MACS + b"\x81\0\0\x05" + snapped(kind_of(ip), ip)[12:],
    ),
    "PPPoE": (ETHERNET, lambda ip: ethernet(0x8864, pppoe(ip))),
    "PPPoE over QinQ": (ETHERNET, lambda ip: ethernet(0x88A8, b"\0\x05\x81\0\0\x06\x88\x64" + pppoe(ip))),
    "MPLS": (ETHERNET, lambda ip: ethernet(0x8847, labels(ip))),
    "MPLS multicast after a tag": (ETHERNET, lambda ip: ethernet(0x8100, b"\0\x05\x88\x48" + labels(ip))),
    "MPLS over PPP": (9, lambda ip: b"\x02\x81" + labels(ip)),
    "provider backbone": (ETHERNET, lambda ip: ethernet(0x88E7, bytes(4) + bare_ethernet(ip))),
    "PPP": (9, ppp),
    "PPP with address and control": (9, lambda ip: b"\xff\x03" + ppp(ip)),
    "PPP with a short protocol": (9, lambda ip: ppp(ip)[1:]),
    "PPP like HDLC": (50, lambda ip: b"\xff\x03" + ppp(ip)),
    "PPPoE without Ethernet": (51, pppoe),
    "PPP of Linux with a direction": (166, lambda ip: b"\x00\x03" + ppp(ip)),
    "PPP with a direction": (204, lambda ip: b"\x01\xff\x03" + ppp(ip)),
    "Cisco HDLC": (104, lambda ip: b"\x0f\0" + struct.pack(">H", kind_of(ip)) + ip),
    "Cisco HDLC in PPP like HDLC": (50, lambda ip: b"\x0f\0" + struct.pack(">H", kind_of(ip)) + ip),
    "Cisco HDLC with a direction": (205, lambda ip: b"\x01\x0f\0" + struct.pack(">H", kind_of(ip)) + ip),
    "Frame Relay": (107, lambda ip: b"\x18\x41\x03" + (b"\xcc" if ip[0] >> 4 == 4 else b"\x8e") + ip),
    "SLIP": (8, lambda ip: b"\x01\x40" + bytes(14) + ip),
    "SLIP without a header": (8, lambda ip: ip),
    "loopback": (0, lambda ip: struct.pack("<I", 2 if ip[0] >> 4 == 4 else 30) + ip),
    "loopback of OpenBSD": (108, lambda ip: struct.pack(">I", 2 if ip[0] >> 4 == 4 else 24) + ip),
    "Linux cooked": (113, lambda ip: struct.pack(">HHH8sH", 0, 1, 6, MACS[:8], kind_of(ip)) + ip),
    "Linux cooked 2": (276, lambda ip: struct.pack(">HHIHBB8s", kind_of(ip), 0, 2, 1, 0, 6, MACS[:8]) + ip),
    "Linux cooked with SNAP": (
        113,
        lambda ip: struct.pack(">HHH8sH", 0, 1, 6, MACS[:8], 4) + snapped(kind_of(ip), ip)[14:],
    ),
    "NFLOG": (239, nflog),
    "NFLOG of a big-endian host": (239, lambda ip: nflog(ip, ">")),
    "PKTAP": (258, pktap),
    "PPI": (192, ppi),
    "FDDI": (10, lambda ip: b"\x50" + MACS + snapped(kind_of(ip), ip)[14:]),
    "ATM": (100, lambda ip: snapped(kind_of(ip), ip)[14:]),
    "IPsec device": (109, lambda ip: struct.pack("<III", 2 if ip[0] >> 4 == 4 else 24, 1, 0) + ip),
    "GRE": (RAW, lambda ip: gre(kind_of(ip), ip)),
    "GRE with checksum, key and number": (RAW, lambda ip: gre(kind_of(ip), ip, 0xB000, bytes(12))),
    "Ethernet in GRE": (RAW, lambda ip: gre(0x6558, bare_ethernet(ip))),
    "PPP in GRE": (RAW, lambda ip: gre(0x880B, ppp(ip), 0x3001, struct.pack(">HHI", 2 + len(ip), 1, 2))),
    "ERSPAN 1": (RAW, lambda ip: gre(0x88BE, bare_ethernet(ip))),
    "ERSPAN 2": (RAW, lambda ip: gre(0x88BE, b"\x10\x01" + bytes(6) + bare_ethernet(ip), 0x1000, bytes(4))),
    "MPLS in GRE": (RAW, lambda ip: gre(0x8847, labels(ip))),
    "IP in IP": (RAW, lambda ip: ipv4(ip, 4 if ip[0] >> 4 == 4 else 41, b"\x01\0\0\x01", b"\x01\0\0\x02")),
    "IP in IPv6": (RAW, lambda ip: ipv6(ip, 4 if ip[0] >> 4 == 4 else 41, 7, 8)),
    "Ethernet in IP": (RAW, lambda ip: ipv4(b"\x30\0" + bare_ethernet(ip), 97, b"\x01\0\0\x01", b"\x01\0\0\x02")),
    "MPLS in IP": (RAW, lambda ip: ipv4(labels(ip), 137, b"\x01\0\0\x01", b"\x01\0\0\x02")),
    "authentication header": (
        RAW,
        lambda ip: ipv4(struct.pack(">BBHII12s", 4 if ip[0] >> 4 == 4 else 41, 4, 0, 1, 1, bytes(12)) + ip, 51),
    ),
    "GTP-U": (RAW, lambda ip: udp(2152, struct.pack(">BBHI", 0x30, 255, len(ip), 77) + ip)),
    "GTP-U with an extension": (RAW, gtp),
    "VXLAN": (RAW, lambda ip: udp(4789, b"\x08" + bytes(7) + bare_ethernet(ip))),
    "VXLAN-GPE": (
        RAW,
        lambda ip: udp(4790, b"\x0c\0\0" + (b"\x01" if ip[0] >> 4 == 4 else b"\x02") + bytes(4) + ip),
    ),
    "Geneve": (
        RAW,
        lambda ip: udp(6081, b"\x02\0" + struct.pack(">H", 0x6558) + bytes(4) + bytes(8) + bare_ethernet(ip)),
    ),
    "MPLS in UDP": (RAW, lambda ip: udp(6635, labels(ip))),
    "LISP": (RAW, lambda ip: udp(4341, b"\x80" + bytes(7) + ip)),
    "L2TP": (RAW, lambda ip: udp(1701, struct.pack(">HHHH", 0x4002, 10 + len(ip), 1, 2) + b"\xff\x03" + ppp(ip))),
    "VXLAN in PPPoE": (
        ETHERNET,
        lambda ip: ethernet(0x8864, pppoe(udp(4789, b"\x08" + bytes(7) + bare_ethernet(ip)))),
    ),
}
"""The link type of a framing, and how it wraps an IP packet."""

UNKNOWN_TO_TSHARK = {
    "NFLOG of a big-endian host",
    "PPP of Linux with a direction",
    "Cisco HDLC with a direction",
    "SLIP",
    "SLIP without a header",
}
"""Link types that tshark cannot check: it reads NFLOG only in its host's byte order, and the others not at all."""


def framed(name: str, version: int) -> bytes:
    link, wrap = FRAMINGS[name]
    return pcap(link, [(at, wrap(ip)) for at, ip in dialogue(version)])


def found(data: bytes, folder: Path) -> Any:
    capture = folder / "capture"
    capture.write_bytes(data)
    return ll.inspect(capture)


def counts(capture: Any) -> list[dict[str, Any]]:
    """The connections without the values that depend on link-layer headers."""
    return [dict(connection.summary) for connection in capture.connections]


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("name", FRAMINGS)
def test_a_framing_gives_what_bare_packets_give(name: str, version: int, tmp_path: Path) -> None:
    bare = found(framed("raw", version), tmp_path)
    assert [one.summary["forward"]["retransmitted_segments"] for one in bare.connections] == [1]
    capture = found(framed(name, version), tmp_path)
    assert capture.summary["others"] == {}
    assert counts(capture) == counts(bare)


@needs_tshark
@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("name", sorted(set(FRAMINGS) - UNKNOWN_TO_TSHARK))
def test_a_framing_gives_the_connection_of_tshark(name: str, version: int, tmp_path: Path) -> None:
    capture = tmp_path / "capture.pcap"
    capture.write_bytes(framed(name, version))
    assert [counted["packets"] for counted in judged_inside(capture)] == [7, 5]


def judged_inside(capture: Path) -> list[Any]:
    """Counts of tshark by direction, whatever the addresses around the packets."""
    return [found for _, found in sorted(judged_by_tshark(capture).items(), key=lambda item: -item[1]["packets"])]


def segmented_later(zero: bool) -> list[tuple[float, bytes]]:
    """The connection with a segment of 70,000 bytes: its length does not fit into the IP header, or is zero there."""
    packets = []
    for at, packet in dialogue():
        if len(packet) > 500 and at > 0.1015:
            packet = packet[:2] + (b"\0\0" if zero else packet[2:4]) + packet[4:]
        packets.append((at, packet))
    return packets


@needs_tshark
def test_a_length_of_zero_means_the_length_of_the_frame(tmp_path: Path) -> None:
    capture = tmp_path / "tso.pcap"
    capture.write_bytes(pcap(RAW, segmented_later(True)))
    whole = tmp_path / "whole.pcap"
    whole.write_bytes(pcap(RAW, segmented_later(False)))
    (zero,), (plain,) = ll.inspect(capture).connections, ll.inspect(whole).connections
    assert ours(capture) == judged_by_tshark(capture)
    for key in ("packets", "data_segments", "payload_bytes", "unique_bytes", "retransmitted_segments"):
        assert zero.summary["forward"][key] == plain.summary["forward"][key], key


def test_data_beyond_64_kib_counts_completely(tmp_path: Path) -> None:
    frames, wire = [], []
    for at, packet in dialogue():
        is_first = len(packet) > 500 and at == 0.101
        frames.append((at, packet[:2] + b"\0\0" + packet[4:60] if is_first else packet))
        wire.append(40 + 200_000 if is_first else len(packet))
    capture = found(pcap(RAW, frames, wire=wire), tmp_path)
    forward = capture.connections[0].summary["forward"]
    # The later segments lie within the first one.
    assert (forward["unique_bytes"], forward["retransmitted_segments"]) == (200_000, 3)


@needs_tshark
@pytest.mark.parametrize("snap", [54, 58, 60])
def test_packets_cut_within_their_options_count_as_in_tshark(snap: int, tmp_path: Path) -> None:
    capture = tmp_path / "cut.pcap"
    frames = [(at, ethernet(0x0800, ip)) for at, ip in dialogue()]
    capture.write_bytes(pcap(ETHERNET, frames, snap))
    (connection,) = ll.inspect(capture).connections
    assert [connection.summary[way]["packets"] for way in ("forward", "backward")] == [7, 5]
    assert connection.summary["forward"]["unique_bytes"] == 1000
    assert connection.summary["forward"]["handshake"] is None
    assert connection.summary["forward"]["cut_headers"] == 1
    assert sum(counts["packets"] for counts in judged_by_tshark(capture).values()) == 12


def test_a_cut_handshake_explains_how_to_record_it(tmp_path: Path, lightlag: Lightlag) -> None:
    capture = tmp_path / "cut.pcap"
    capture.write_bytes(pcap(ETHERNET, [(at, ethernet(0x0800, ip)) for at, ip in dialogue()], 54))
    refused = lightlag("replay", str(capture))
    assert refused.returncode == 2
    assert "tcpdump -s 128" in refused.stderr


def simple(frames: list[tuple[float, bytes]]) -> bytes:
    """A file of simple packet blocks."""
    out = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    out += struct.pack("<IIHHII", 1, 20, RAW, 0, 0, 20)
    for _, frame in frames:
        padded = frame + bytes(-len(frame) % 4)
        out += struct.pack("<III", 3, 16 + len(padded), len(frame)) + padded + struct.pack("<I", 16 + len(padded))
    return out


def test_packets_without_a_time_are_counted_without_rates(tmp_path: Path, lightlag: Lightlag) -> None:
    capture = tmp_path / "simple.pcapng"
    capture.write_bytes(simple(dialogue()))
    shown = json.loads(lightlag("inspect", str(capture), "--json").stdout)
    (connection,) = shown["connections"]
    assert shown["without_time"] == 12
    assert (connection["forward"]["unique_bytes"], connection["forward"]["goodput_bps"]) == (1000, None)
    assert (connection["rtt_s"], connection["forward"]["rtt"]) == (None, None)
    assert "12 packets without a time" in lightlag("inspect", str(capture)).stdout
    assert "without a time" in lightlag("replay", str(capture)).stderr


def test_a_packed_capture_is_read_everywhere(tmp_path: Path, lightlag: Lightlag) -> None:
    capture = tmp_path / "packed.pcap.gz"
    capture.write_bytes(gzip.compress(framed("PPPoE", 4)))
    assert len(ll.inspect(capture).connections) == 1
    # Too little data to repeat, but the connection is found.
    assert lightlag("replay", str(capture), "-o", "out").returncode == 0


@pytest.mark.parametrize("name", ["snoop", "GMBU", "zip"])
def test_another_form_names_the_tool_that_converts_it(name: str, tmp_path: Path, lightlag: Lightlag) -> None:
    start, fix = {"snoop": (b"snoop\0\0\0", "editcap"), "GMBU": (b"GMBU", "editcap"), "zip": (b"PK\3\4", "unzip")}[name]
    capture = tmp_path / "other"
    capture.write_bytes(start + bytes(100))
    for command in ("inspect", "replay"):
        refused = lightlag(command, str(capture))
        assert refused.returncode == 2
        assert fix in refused.stderr


def test_a_link_type_without_ip_is_rejected_with_advice_that_can_be_followed(
    tmp_path: Path, lightlag: Lightlag
) -> None:
    capture = tmp_path / "usb.pcap"
    capture.write_bytes(pcap(189, [(0.0, bytes(64))]))
    refused = lightlag("inspect", str(capture))
    assert refused.returncode == 2
    assert "link type 189 (USB)" in refused.stderr
    assert "record a network interface" in refused.stderr


def test_contents_of_other_protocols_are_named(tmp_path: Path) -> None:
    frames = [
        ethernet(0x0806, bytes(28)),
        ethernet(0x88CC, bytes(20)),
        ethernet(0x8864, b"\x11\0\0\x07\0\x06\xc0\x21" + bytes(4)),
        ethernet(0x8847, struct.pack(">I", 1 << 8) + bytes(40)),
        ethernet(0x0800, udp(1701, b"\xc8\x02" + bytes(10))),
        ethernet(0x0800, udp(4500, b"\x01" * 40)),
        ethernet(0x0800, ipv4(bytes(40), 50)),
        ethernet(0x0800, udp(53, bytes(20))),
    ]
    capture = found(pcap(ETHERNET, [(0.0, frame) for frame in frames]), tmp_path)
    assert capture.summary["others"] == {
        "ARP": 1,
        "LLDP": 1,
        "PPP control": 1,
        "MPLS pseudowire": 1,
        "L2TP": 1,
        "ESP": 2,
        "UDP": 1,
    }
