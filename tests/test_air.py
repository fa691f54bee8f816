"""Frames of 802.11 and messages of routing protocols, written by an example and by runs, as tshark reads them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from conftest import Lightlag

ROOT = Path(__file__).parents[1]
TSHARK = shutil.which("tshark")
CARGO = shutil.which("cargo")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(TSHARK is None, reason="tshark is missing: apt-get install tshark"),
]

WARNING = 6_291_456
"""Minimum severity of an expert message that reports a fault."""

CHECKS = [
    option
    for name in ("wlan.check_checksum", "ip.check_checksum", "udp.check_checksum", "tcp.check_checksum")
    for option in ("-o", f"{name}:TRUE")
]

ACK, CTS, RTS, BLOCK_ACK, REQUEST, ACTION = ("0x001d", "0x001c", "0x001b", "0x0019", "0x0018", "0x000d")
DATA, QOS = ("0x0020", "0x0028")

FRAMES = [
    *[(DATA, "arp"), (DATA, "arp"), (ACK, "wlan")],
    *[(DATA, "aodv"), (DATA, "aodv"), (ACK, "wlan"), (DATA, "aodv"), (ACK, "wlan"), (DATA, "aodv"), (DATA, "aodv")],
    *[(DATA, "olsr"), (DATA, "data"), (DATA, "data"), (DATA, "data"), (ACK, "wlan")],
    *[(RTS, "wlan"), (CTS, "wlan"), (DATA, "tcp"), (DATA, "tcp"), (ACK, "wlan")],
    *[(DATA, "tcp"), (ACK, "wlan"), (DATA, "tcp"), (ACK, "wlan")],
    *[(ACTION, "wlan"), (ACK, "wlan"), (ACTION, "wlan"), (ACK, "wlan")],
    *[(QOS, "data"), (QOS, "data"), (QOS, "data"), (BLOCK_ACK, "wlan"), (QOS, "data")],
    *[(REQUEST, "wlan"), (BLOCK_ACK, "wlan")],
]
"""Subtype and last protocol of each frame that the example writes."""


@pytest.fixture(scope="module")
def air(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture that ``crates/lightlag-wire/examples/on_the_air.rs`` writes."""
    if CARGO is None:
        pytest.skip("cargo is missing, which builds the example: https://rustup.rs")
    capture = tmp_path_factory.mktemp("air") / "air.pcapng"
    # With the features of all packages, as `make test-rust` built it.
    build = [CARGO, "build", "--quiet", "--workspace", "--exclude", "lightlag-python", "--example", "on_the_air"]
    example = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/examples/on_the_air"
    for command in (build, [str(example), str(capture)]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return capture


def fields(capture: Path, *columns: str, only: str = "frame", options: Sequence[str] = ()) -> Iterator[list[str]]:
    """Returns fields of the frames that pass a filter. Port 269 is for MANET packets (RFC 5498), but DSDV's have
    another format.
    """
    assert TSHARK
    command = [TSHARK, "-r", str(capture), *CHECKS, *options, "-d", "udp.port==269,data", "-Y", only, "-T", "fields"]
    command += [part for column in columns for part in ("-e", column)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        yield line.split("\t")


def test_every_frame_is_dissected_without_a_complaint(air: Path) -> None:
    columns = ("wlan.fc.type_subtype", "frame.protocols", "wlan.fcs.status", "_ws.malformed")
    sums = ("ip.checksum.status", "udp.checksum.status", "tcp.checksum.status")
    found = []
    for row in fields(air, *columns, "_ws.expert.severity", "_ws.expert.message", *sums):
        subtype, protocols, fcs, malformed, severities, messages, *states = row
        assert fcs == "1", "good"
        assert not malformed, messages
        assert all(int(severity) < WARNING for severity in severities.split(",") if severity), messages
        assert all(state in ("1", "") for state in states), row
        found.append((subtype, protocols.split(":")[-1]))
    assert found == FRAMES


def test_the_radio_is_described(air: Path) -> None:
    radio = ("radiotap.channel.freq", "radiotap.dbm_antsignal", "radiotap.dbm_antnoise", "radiotap.datarate")
    heard = [row[:3] for row in fields(air, *radio)]
    assert heard == [["5180", "-62", "-94"]] * len(FRAMES)
    assert [rate for *_, rate in fields(air, *radio, only="arp")] == ["6", "24"]
    ht = ("radiotap.mcs.index", "radiotap.mcs.bw", "radiotap.ampdu.reference", "radiotap.ampdu.flags.lastknown")
    aggregate = fields(air, *ht, "radiotap.ampdu.flags.last", only="radiotap.present.mcs == 1")
    assert list(aggregate) == [["7", "0", "1", "1", str(int(last))] for last in (False, False, True)]
    vht = ("radiotap.vht.mcs.0", "radiotap.vht.nss.0", "radiotap.vht.gi", "radiotap.vht.coding.0", "wlan_radio.phy")
    assert list(fields(air, *vht, only="radiotap.present.vht == 1")) == [["8", "1", "1", "1", "8"]]


def test_addresses_numbers_and_reservations_match_the_frames(air: Path) -> None:
    columns = ("wlan.ra", "wlan.ta", "wlan.bssid", "wlan.duration", "wlan.seq", "wlan.fc.retry")
    here, there, network = ("02:00:00:00:00:01", "02:00:00:00:00:02", "06:00:00:00:00:00")
    syn = list(fields(air, *columns, only="tcp.flags == 0x02"))
    assert syn == [[there, here, network, "44", "8", retry] for retry in "01"]
    assert list(fields(air, "wlan.ra", "wlan.ta", "wlan.duration", only="wlan.fc.type_subtype == 27")) == [
        [there, here, "172"]
    ]
    agreement = ("wlan.fixed.action_code", "wlan.fixed.baparams.tid", "wlan.fixed.baparams.buffersize")
    policy = ("wlan.fixed.baparams.policy", "wlan.fixed.ssc.sequence", "wlan.fixed.status_code")
    found = list(fields(air, *agreement, *policy, only="wlan.fc.type_subtype == 13"))
    assert found == [["0x00", "0x0000", "64", "1", "0", ""], ["0x01", "0x0000", "64", "1", "", "0x0000"]]
    answers = ("wlan.ba.control.ba_type", "wlan.ba.basic.tidinfo", "wlan.fixed.ssc.sequence", "wlan.ba.bm")
    assert list(fields(air, *answers, only="wlan.fc.type_subtype == 25")) == [
        ["0x0002", "0x0000", "0", "0700000000000000"],
        ["0x0002", "0x0000", "3", "0100000000000000"],
    ]


def test_messages_of_aodv_are_read(air: Path) -> None:
    columns = ("aodv.type", "aodv.hopcount", "aodv.dest_ip", "aodv.orig_ip", "aodv.lifetime", "aodv.unreach_dest_ip")
    assert list(fields(air, *columns, only="aodv")) == [
        ["1", "0", "10.0.0.9", "10.0.0.1", "", ""],
        ["2", "1", "10.0.0.9", "10.0.0.1", "6000", ""],
        ["4", "", "", "", "", ""],
        ["2", "0", "10.0.0.1", "10.0.0.1", "6000", ""],
        ["3", "", "", "", "", "10.0.0.9,10.0.0.10"],
    ]
    flags = ("aodv.flags.rreq_gratuitous", "aodv.flags.rreq_destinationonly", "aodv.flags.rreq_unknown")
    assert list(fields(air, *flags, "ip.ttl", only="aodv.type == 1")) == [["1", "0", "1", "3"]]


def test_messages_of_olsr_are_read(air: Path) -> None:
    columns = ("olsr.message_type", "olsr.vtime", "olsr.htime", "olsr.willingness", "olsr.ttl", "olsr.origin_addr")
    [found] = fields(air, *columns, "olsr.link_type", "olsr.neighbor_addr", "olsr.ansn", only="olsr")
    kinds, validity, interval, willingness, ttl, origins, links, neighbours, ansn = (cell.split(",") for cell in found)
    assert (kinds, ttl, origins) == (["1", "2"], ["1", "254"], ["10.0.0.1", "10.0.0.4"])
    assert [float(seconds) for seconds in validity + interval] == [6.0, 15.0, 2.0]
    assert (willingness, ansn) == (["3"], ["1"])
    assert [int(link) for link in links] == [0x06, 0x0A, 0x01]
    assert neighbours == [f"10.0.0.{node + 1}" for node in (1, 2, 3, 4, 0, 5)]


def test_inspect_takes_a_retransmission_of_the_mac_for_no_retransmission_of_tcp(lightlag: Lightlag, air: Path) -> None:
    done = lightlag("inspect", air, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # Frames of the MAC, ARP, and the second copy of the SYN.
    assert (found["tcp_packets"], found["others"].pop("UDP")) == (6, 10)
    assert sum(found["others"].values()) == 19
    assert found["others"]["retransmission of 802.11"] == 1
    assert found["others"]["ARP"] == 2
    [connection] = found["connections"]
    forward = connection["forward"]
    counts = ("packets", "unique_bytes", "retransmitted_segments", "retransmitted_controls", "checksum_errors")
    assert [forward[name] for name in counts] == [5, 3 * 1448, 0, 0, 0]


def flight(**medium: Any) -> ll.Network:
    """A row of four nodes with a connection between the two ends, which are out of each other's range."""
    net = ll.Network(
        "flight", media=[ll.Medium(rate="24 Mbit/s", broadcast_rate="24 Mbit/s", detection="-101 dBm", **medium)]
    )
    net.nodes += [ll.Node(name=f"n{at}", at=(f"{40 * at} m", "0 m", "10 m")) for at in range(4)]
    net.flow("n0", "n3", transfer="200 kB")
    return net


NAMES = {"aodv": "aodv", "olsr": "olsr", "dsdv": "data", "gpsr": "data"}
"""Protocols whose messages tshark dissects, and protocols whose messages it treats as datagrams with arbitrary
contents.
"""


@pytest.mark.parametrize("protocol", [*NAMES, "static"])
@pytest.mark.parametrize("standard", ["802.11a", "802.11n"])
def test_the_frames_of_a_run_are_dissected_without_a_complaint(protocol: str, standard: str, tmp_path: Path) -> None:
    net = flight(standard=standard, routing=protocol, arp="ns3", rts_threshold=1000)
    result = ll.run(net, duration="40 s", seed=2, sets={"record.pcap": {"at": ["n1@air"]}})
    assert list(result.captures) == ["n1@air"]
    columns = ("wlan.fc.type_subtype", "frame.protocols", "wlan.fcs.status", "_ws.malformed", "_ws.expert.severity")
    sums = ("ip.checksum.status", "udp.checksum.status", "tcp.checksum.status")
    # A frame that was received twice is not a second segment, but it is one in tshark's analysis of sequence numbers.
    plain = ("-o", "tcp.analyze_sequence_numbers:FALSE")
    kinds = set()
    for row in fields(result.captures["n1@air"], *columns, *sums, "_ws.expert.message", options=plain):
        subtype, protocols, fcs, malformed, severities, *states, messages = row
        assert (fcs, malformed) == ("1", ""), messages
        # A receiver that got a segment twice reports it by D-SACK, which tshark marks as a warning.
        complaints = any(int(severity) >= WARNING for severity in severities.split(",") if severity)
        assert not complaints or messages == "D-SACK Sequence", messages
        assert all(state in ("1", "") for state in states), row
        known = (name for name in (NAMES.get(protocol), "arp", "tcp") if name in protocols.split(":"))
        kinds.add((subtype, next(known, "")))
    data = DATA if standard == "802.11a" else QOS
    expected = {(data, "arp"), (RTS, ""), (CTS, ""), (ACK, "")}
    expected |= {(data, NAMES[protocol])} if protocol in NAMES else set()
    # tshark does not read past the GPSR header that precedes packets with data.
    expected |= set() if protocol == "gpsr" else {(data, "tcp")}
    assert expected <= kinds


def test_a_node_has_its_packets_in_one_file_and_its_frames_in_another(lightlag: Lightlag, tmp_path: Path) -> None:
    run = ll.run(flight(routing="aodv"), duration="40 s", sets={"record.pcap": {"at": ["n0"]}})
    folder = run.save(tmp_path / "kept")
    packets, frames = (folder / "captures" / f"{name}.pcapng" for name in ("n0", "n0@air"))
    [flow] = run.summary["flows"]
    found = {}
    for file in (packets, frames):
        done = lightlag("inspect", file, "--json")
        assert done.returncode == 0, done.stderr
        [connection] = json.loads(done.stdout)["connections"]
        found[file] = connection["forward"]
    # A packet that its relay forwards is not a retransmission. Captures continue after the last byte, at times with a
    # tail probe; results do not.
    counts = ("packets", "unique_bytes", "retransmitted_segments", "out_of_order", "duplicate_acks")
    assert [found[packets][name] for name in counts] == [found[frames][name] for name in counts]
    assert found[packets]["unique_bytes"] == flow["delivered_bytes"] == 200_000
    data = "wlan.ta == 02:00:00:00:00:01 && wlan.fc.type == 2"
    own = fields(frames, "wlan.fc.retry", "frame.time_epoch", only=data)
    sent = [retry for retry, at in own if float(at) <= run.simulated_s]
    [radio] = [radio for radio in run.summary["interfaces"] if radio["name"] == "n0@air"]
    assert (len(sent), sent.count("1")) == (radio["sent_frames"], radio["retries"])
