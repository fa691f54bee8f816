"""Captures of runs, read by tshark: nothing malformed, right checksums, and its counts are ours."""

from __future__ import annotations

import gc
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from conftest import PAIR, Lightlag, pair
from lightlag import _engine

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(
    TSHARK is None or shutil.which("mergecap") is None, reason="tshark is missing: apt-get install tshark"
)

LINE: dict[str, Any] = {"rate": "5 Mbit/s", "delay": "20 ms", "queue": "30 packets"}
LOSSY = {**LINE, "loss": 0.02}
BURSTS = {**LINE, "queue": "200 packets", "loss": {"at": ["300 ms", "301 ms", "302 ms", "305 ms", "700 ms"]}}
SLOW = {"receive_buffer": "16 kB"}
CLOSING = {"receive_buffer": "14480 B"}
"""A receive buffer of ten segments, which the data fills exactly, so that the window closes completely."""


@dataclass(frozen=True)
class Case:
    """A path of its own with one flow."""

    line: dict[str, Any] = field(default_factory=lambda: LINE)
    tcp: dict[str, Any] = field(default_factory=dict)
    transfer: str = "200 kB"
    reader: dict[str, Any] | None = None


ALGORITHMS = ("newreno", "cubic", "bbr", "bbr3", "hybla", "vegas", "westwood", "illinois", "ledbat", "tahoe")

CASES: dict[str, Case] = {
    **{name: Case(LOSSY, {"congestion": name}) for name in ALGORITHMS},
    **{f"profile {name}": Case(LOSSY, {"profile": name}) for name in ("linux", "rfc", "inet", "ns3", "ns2-linux")},
    **{f"recovery {name}": Case(LOSSY, {"recovery": name}) for name in ("reno", "newreno", "sack", "rack")},
    "no loss": Case({**LINE, "queue": "1000 packets"}),
    "one byte": Case(transfer="1 B"),
    "full queue": Case({**LINE, "queue": "5 packets"}),
    "no timestamps": Case(LOSSY, {"timestamps": False}),
    "no SACK": Case(LOSSY, {"sack": False, "recovery": "newreno"}),
    "no window scaling": Case(LOSSY, {"window_scaling": False}),
    "no options": Case(LOSSY, {"sack": False, "timestamps": False, "window_scaling": False, "recovery": "newreno"}),
    "four SACK blocks": Case({**LOSSY, "loss": 0.08}, {"timestamps": False, "recovery": "sack"}),
    "no D-SACK": Case({**LINE, "duplicate": 0.05}, {"dsack": False}),
    "classic ECN": Case({**LINE, "queue": {"discipline": "red"}}, {"ecn": "classic"}),
    "accurate ECN": Case({**LINE, "queue": {"discipline": "codel"}, "loss": 0.01}, {"ecn": "accecn"}),
    "DCTCP": Case(
        {**LINE, "queue": {"discipline": "step", "threshold": "5 packets"}}, {"ecn": "accecn", "congestion": "dctcp"}
    ),
    "L4S": Case({**LINE, "queue": {"discipline": "dualpi2"}}, {"ecn": "accecn", "ect": "ect1"}),
    "FQ-CoDel": Case({**LINE, "queue": {"discipline": "fq_codel"}}),
    "PIE": Case({**LINE, "queue": {"discipline": "pie"}}),
    "CoDel": Case({**LINE, "queue": {"discipline": "codel"}}, transfer="1 MB"),
    "reordering": Case({**LINE, "reorder": {"probability": 0.05, "delay": "8 ms"}}),
    "duplication": Case({**LINE, "duplicate": 0.05}),
    "reordering, duplication and loss": Case(
        {**LOSSY, "reorder": {"probability": 0.05, "delay": "8 ms"}, "duplicate": 0.05}
    ),
    "lost ACKs": Case({**LINE, "loss": ll.Directions(0.0, 0.2)}),
    "a burst of losses": Case(BURSTS),
    "a lost SYN": Case({**LINE, "loss": {"at": ["0 ms"]}}),
    "many timeouts": Case({**LINE, "loss": 0.25}, transfer="60 kB"),
    "small segments": Case(LOSSY, {"mss": "536 B"}),
    "tiny segments": Case(LOSSY, {"mss": "100 B"}, transfer="20 kB"),
    "an ACK each": Case(LOSSY, {"delayed_ack": False}),
    "paced": Case(LOSSY, {"pacing": True}),
    "small window": Case(LOSSY, {"receive_buffer": "8 kB"}),
    "slow reader": Case(LINE, SLOW, reader={"rate": "50 kB/s"}),
    "bursty reader": Case(LINE, SLOW, reader={"burst": "16 kB", "every": "400 ms"}),
    "bursty reader and loss": Case(LOSSY, SLOW, reader={"burst": "16 kB", "every": "400 ms"}),
    "probes without data": Case(LINE, CLOSING, "40 kB", {"burst": "14480 B", "every": "3 s"}),
    "probes with a byte": Case(LINE, {**CLOSING, "probe": "byte"}, "40 kB", {"burst": "14480 B", "every": "7 s"}),
    "long path": Case({**LOSSY, "delay": "300 ms"}),
    "TCP Peach": Case({**LOSSY, "queue": {"discipline": "priority", "limit": "30 packets"}}, {"congestion": "peach"}),
    "TCP Peach+": Case({**LOSSY, "queue": {"discipline": "priority", "mode": "strict"}}, {"congestion": "peach+"}),
    "profile scps": Case(LOSSY, {"profile": "scps"}),
    "SCPS": Case(
        {**LOSSY, "loss": 0.04},
        {
            "profile": "scps",
            "scps": {"record_size": "5 kB", "report_corruption": True},
            "rate_control": {"rate": "4 Mbit/s"},
        },
    ),
    "SCPS with bit vectors": Case(
        {**LOSSY, "loss": 0.04}, {"profile": "scps", "scps": {"snack": "long"}, "timestamps": True}
    ),
}

LABELS = (
    "retransmission",
    "fast_retransmission",
    "spurious_retransmission",
    "out_of_order",
    "duplicate_ack",
    "zero_window",
    "window_full",
    "zero_window_probe",
    "zero_window_probe_ack",
    "window_update",
    "keep_alive",
    "lost_segment",
    "ack_lost_segment",
    "reused_ports",
)
SENT_AGAIN = {"retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order"}
MEANT = {
    # Data goes as far as the receiver's window.
    "TCP window specified by the receiver is now completely full",
    # Names of tshark for a retransmission within 3 ms, or a round trip, of the segment before it.
    "This frame is a (suspected) out-of-order segment",
    # Data arrived twice, and the receiver reports it (RFC 2883).
    "D-SACK Sequence",
}
"""Warnings of tshark about intended behaviour of TCP."""
SNACK = 21
"""The kind of option whose offset and size tshark 4.0 shows correctly before it calls the option malformed: it expects
two bytes more than the six that it requires itself, and does not show the bytes after such an option."""
WARNING = 6_291_456
"""Minimum severity of an expert message that reports a fault."""


@dataclass
class Packet:
    """A packet as decoded by tshark."""

    source: str
    length: int
    low: bool
    """Whether a packet is of low priority: a copy, or the ACK of one."""
    labels: set[str]
    checks: tuple[str, str]
    severity: int
    messages: str
    options: bytes
    """Length of the header in bytes."""

    @property
    def has_snack(self) -> bool:
        return any(kind == SNACK for kind, _ in parsed(self.options))


def parsed(options: bytes) -> Iterator[tuple[int, bytes]]:
    """Kinds and values of TCP options."""
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        length = options[at + 1]
        yield options[at], options[at + 2 : at + length]
        at += length


def fields(capture: Path) -> Iterator[list[str]]:
    """The analysis by tshark of each packet of a capture."""
    assert TSHARK
    columns = [
        "ip.src",
        "ipv6.src",
        "tcp.len",
        "tcp.flags",
        "ip.checksum.status",
        "tcp.checksum.status",
        "_ws.malformed",
        "_ws.expert.severity",
        "_ws.expert.message",
        "tcp.options",
        *(f"tcp.analysis.{label}" for label in LABELS),
    ]
    command = [TSHARK, "-r", str(capture), "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    command += ["-T", "fields", "-E", "separator=/t", *(part for column in columns for part in ("-e", column))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        yield line.split("\t")


def packets(capture: Path) -> Iterator[Packet]:
    for v4, v6, length, flags, ip, tcp, malformed, severities, messages, options, *labels in fields(capture):
        severity = max((int(severity) for severity in severities.split(",") if severity), default=0)
        seen = {label for label, value in zip(LABELS, labels, strict=True) if value}
        low = bool(int(flags, 16) & 0x200)
        packet = Packet(v4 or v6, int(length), low, seen, (ip, tcp), severity, messages, bytes.fromhex(options))
        if malformed:
            # tshark 4.0 reads an acknowledgement number from the bytes 8 to 11 of a SNACK option, which has 6: the
            # position of the number in the full header, where its offset once started.
            assert packet.has_snack, messages
            assert messages == "Malformed Packet (Exception occurred)"
            packet.severity = 0
        yield packet


def scenario(version: str) -> dict[str, Any]:
    """Every case on a path of its own, in one run."""
    network = ll.Network("cases", record=ll.Record(trace="off", queue="off"))
    for number, case in enumerate(CASES.values()):
        network.link(f"s{number}", f"r{number}", **case.line)
    flows = [
        {
            "from": f"s{number}",
            "to": f"r{number}",
            "name": name,
            "transfer": case.transfer,
            "reader": case.reader,
            "tcp": case.tcp,
        }
        for number, (name, case) in enumerate(CASES.items())
    ]
    asked = network.scenario(duration="120 s", seed=3).to_dict() | {"flows": flows, "ip": version}
    asked["record"]["pcap"] = {"at": [f"s{number}" for number in range(len(CASES))]}
    return asked


@dataclass
class Judged:
    """One run, and the messages of tshark about its captures."""

    flows: dict[str, dict[str, Any]]
    packets: dict[str, list[Packet]]
    sender: dict[str, str]
    ours: dict[str, dict[str, Any]]
    """The findings of ``lightlag inspect`` about the connection of each case."""


@pytest.fixture(scope="module", params=["v4", "v6"])
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    folder = tmp_path_factory.mktemp(request.param)
    result = ll.run(scenario(request.param))
    merged = folder / "all.pcapng"
    files = [str(result.captures[f"s{number}"]) for number in range(len(CASES))]
    subprocess.run(["mergecap", "-w", str(merged), *files], check=True)
    # The nodes are numbered as they are named: each sender before its receiver.
    address = "10.0.0.{}" if request.param == "v4" else "fd00::{:x}"
    ends = {address.format(2 * number + end + 1): name for number, name in enumerate(CASES) for end in (0, 1)}
    found: dict[str, list[Packet]] = {name: [] for name in CASES}
    for packet in packets(merged):
        found[ends[packet.source]].append(packet)
    flows = {flow["name"]: flow for flow in result.summary["flows"]}
    sender = {name: address.format(2 * number + 1) for number, name in enumerate(CASES)}
    ours = {}
    for name, file in zip(CASES, files, strict=True):
        [ours[name]] = json.loads(_engine.inspect(file).summary())["connections"]
    return Judged(flows, found, sender, ours)


def test_there_are_at_least_40_cases() -> None:
    assert len(CASES) >= 40


@needs_tshark
@pytest.mark.parametrize("name", CASES)
def test_tshark_finds_nothing_wrong(judged: Judged, name: str) -> None:
    expected = set(MEANT)
    if CASES[name].reader is not None:
        expected.add("TCP Zero Window segment")
    if name == "SCPS with bit vectors":
        # tshark 4.0 takes every SNACK option for one of 6 bytes, and zero bytes and padding after it for more NOPs.
        expected.add("4 NOP in a row - a router may have removed some options")
    assert judged.flows[name]["finish_s"] is not None
    for packet in judged.packets[name]:
        ip, tcp = packet.checks
        # 1 is right; IPv6 has no checksum of its own.
        assert (ip, tcp) in {("1", "1"), ("", "1")}
        assert not packet.labels & {"lost_segment", "ack_lost_segment", "reused_ports"}, packet
        if packet.severity >= WARNING:
            assert expected.intersection(packet.messages.split(",")), packet


@needs_tshark
@pytest.mark.parametrize("name", CASES)
def test_tshark_counts_our_retransmissions(judged: Judged, name: str) -> None:
    sent = [p for p in judged.packets[name] if p.source == judged.sender[name] and p.length > 0]
    # The byte of a probe is sent to be rejected; neither side calls it data.
    sent = [packet for packet in sent if "zero_window_probe" not in packet.labels and not packet.low]
    assert len(sent) == judged.flows[name]["sent_segments"]
    again = [packet for packet in sent if packet.labels & SENT_AGAIN]
    assert len(again) == judged.flows[name]["retransmitted_segments"], Counter(str(p.labels) for p in sent)


@needs_tshark
@pytest.mark.parametrize("name", CASES)
def test_tshark_counts_our_duplicate_acks_and_closed_windows(judged: Judged, name: str) -> None:
    theirs: Counter[tuple[str, str]] = Counter()
    for packet in judged.packets[name]:
        side = "forward" if packet.source == judged.sender[name] else "backward"
        theirs.update((side, label) for label in packet.labels)
    unseen = any(packet.messages.startswith("Malformed") for packet in judged.packets[name])
    for side in ("forward", "backward"):
        ours = judged.ours[name][side]
        if not unseen:
            assert (side, ours["duplicate_acks"]) == (side, theirs[side, "duplicate_ack"])
        assert (side, ours["zero_windows"]) == (side, theirs[side, "zero_window"])
    assert judged.ours[name]["forward"]["retransmitted_segments"] >= judged.flows[name]["retransmitted_segments"]


@needs_tshark
@pytest.mark.parametrize("name", ["profile scps", "SCPS", "SCPS with bit vectors"])
def test_options_of_scps_are_counted_as_captured(judged: Judged, name: str) -> None:
    counts: Counter[int] = Counter()
    for packet in judged.packets[name]:
        if packet.source != judged.sender[name]:
            counts.update(kind for kind, _ in parsed(packet.options))
    ours = judged.ours[name]["backward"]
    assert counts[20] == 1
    assert counts[SNACK] == ours["snack_options"] > 5
    assert counts[23] == ours["corruption_options"]
    assert (counts[23] > 0) == (name == "SCPS")
    vectors = "bit vectors" in name
    offer = {"bets": False, "snack_short": True, "snack_long": vectors, "compression": False}
    assert judged.ours[name]["forward"]["handshake"]["scps"].items() >= offer.items()
    assert (judged.ours[name]["forward"]["record_boundaries"] >= 40) == (name == "SCPS")
    assert all(judged.ours[name][side]["malformed_options"] == 0 for side in ("forward", "backward"))


@needs_tshark
def test_tshark_names_the_options_of_scps() -> None:
    assert TSHARK
    asked = scenario("v4")
    asked["flows"] = [flow for flow in asked["flows"] if flow["name"] == "SCPS"]
    asked["record"]["pcap"] = {"at": [asked["flows"][0]["to"]]}
    result = ll.run(asked)
    [capture] = result.captures.values()
    shown = subprocess.run([TSHARK, "-V", "-r", str(capture)], capture_output=True, text=True, check=True).stdout
    for text in (
        "TCP Option - SCPS capabilities",
        "TCP SCPS Capabilities Vector: 0x40 (SNACK1)",
        "Connection ID: 0",
        "TCP Option - Selective Negative Acknowledgment",
        "TCP SNACK Offset: 0",
        "TCP SNACK Size: 1",
        "TCP Option - SCPS record boundary",
        "TCP Option - SCPS corruption experienced",
    ):
        assert text in shown, text
    # Offset and size as our own reader has them: every first SNACK starts at the ACK.
    columns = ["-T", "fields", "-e", "tcp.options.snack.offset", "-e", "tcp.options.snack.size", "-e", "tcp.options"]
    rows = subprocess.run([TSHARK, "-r", str(capture), *columns], capture_output=True, text=True, check=True).stdout
    for row in rows.splitlines():
        offset, size, options = row.split("\t")
        values = [value for kind, value in parsed(bytes.fromhex(options)) if kind == SNACK]
        if values:
            assert (int(offset), int(size)) == (0, int.from_bytes(values[0][2:4]))


COMPRESSED = 105
"""The IP protocol of compressed headers."""


@needs_tshark
@pytest.mark.parametrize("version", ["v4", "v6"])
def test_compressed_headers_are_complete_packets_of_their_protocol(version: str) -> None:
    # tshark decodes only their IP header; our own reader decodes the rest.
    assert TSHARK
    network = ll.Network("compressed", record=ll.Record(trace="off", queue="off"))
    network.link("a", "b", **{**LINE, "loss": 0.04})
    tcp = {"profile": "scps", "scps": {"compression": True, "record_size": "5 kB"}}
    network.flow("a", "b", transfer="200 kB", tcp=tcp)
    asked = network.scenario(duration="60 s", seed=3).to_dict() | {"ip": version}
    asked["record"]["pcap"] = {"at": ["a"]}
    result = ll.run(asked)
    [capture] = result.captures.values()
    columns = [
        "ip.proto",
        "ipv6.nxt",
        "ip.len",
        "ipv6.plen",
        "ip.checksum.status",
        "_ws.malformed",
        "_ws.expert.severity",
    ]
    command = [TSHARK, "-r", str(capture), "-o", "ip.check_checksum:TRUE", "-T", "fields"]
    command += [part for column in columns for part in ("-e", column)]
    rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    sizes: Counter[tuple[int, int]] = Counter()
    for row in rows:
        v4, v6, whole, behind, checksum, malformed, severity = row.split("\t")
        assert (checksum, malformed) in {("1", ""), ("", "")}
        protocol = int(v4 or v6)
        assert protocol == COMPRESSED or (protocol == 6 and int(severity or 0) < WARNING)
        sizes[protocol, int(whole) - 20 if whole else int(behind)] += 1
    # Full segments, ends of records, ACKs without and with a hole; the SYNs are as they are without.
    assert {size for protocol, size in sizes if protocol == COMPRESSED} >= {532, 10, 18}
    assert {size for protocol, size in sizes if protocol == 6} == {32}
    [connection] = ll.inspect(capture).connections
    found = [connection.summary[side] for side in ("forward", "backward")]
    assert sum(side["compressed_headers"] for side in found) == sum(sizes.values()) - sizes[6, 32]
    [flow] = result.summary["flows"]
    forward = connection.summary["forward"]
    assert (forward["data_segments"], forward["unique_bytes"]) == (flow["sent_segments"], 200_000)
    again = forward["retransmitted_segments"] - forward["retransmitted_controls"]
    assert again == flow["retransmitted_segments"] > 5
    assert forward["record_boundaries"] >= 40
    assert forward["handshake"]["scps"]["connection_id"] == 1
    assert all(side["malformed_options"] == side["checksum_errors"] == 0 for side in found)


@needs_tshark
def test_the_captures_have_every_label(judged: Judged) -> None:
    labels = Counter(label for packets in judged.packets.values() for packet in packets for label in packet.labels)
    seen = {"retransmission", "fast_retransmission", "out_of_order", "duplicate_ack", "window_full", "window_update"}
    # A probe without data looks like a keep-alive: it has the number before the next, as Linux sends it.
    seen |= {"zero_window", "zero_window_probe", "zero_window_probe_ack", "keep_alive"}
    assert seen <= set(labels), labels


def number_of_packets(capture: Path) -> int:
    assert TSHARK
    done = subprocess.run([TSHARK, "-r", str(capture)], capture_output=True, text=True, check=True)
    return len(done.stdout.splitlines())


SMALL = ("--set", "flows.0.transfer=50 kB", "--quiet")


def test_pcap_alone_captures_both_ends_of_every_flow(lightlag: Lightlag, pair_file: Path) -> None:
    done = lightlag("run", pair_file, "--pcap", *SMALL)
    assert (done.returncode, done.stderr) == (0, "")
    folder = pair_file.parent / "results/pair"
    assert sorted(path.name for path in (folder / "captures").iterdir()) == ["client.pcapng", "server.pcapng"]
    assert list(ll.load(folder).captures) == ["client", "server"]
    assert not list(folder.parent.glob(".*")), "nothing is left next to the results"


def test_capture_points_are_nodes_and_link_directions(lightlag: Lightlag, pair_file: Path) -> None:
    done = lightlag("run", pair_file, "--pcap", "client,client->server", "--pcap", "server->client", *SMALL)
    assert done.returncode == 0, done.stderr
    folder = pair_file.parent / "results/pair/captures"
    names = ["client-to-server.pcapng", "client.pcapng", "server-to-client.pcapng"]
    assert sorted(path.name for path in folder.iterdir()) == names
    # The client has nothing but the one link.
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    assert sizes["client-to-server.pcapng"] < sizes["client.pcapng"]


@needs_tshark
def test_links_of_a_constellation_are_capture_points(tmp_path: Path) -> None:
    scenario = {"duration": "3 s", "flows": [{"from": "London", "to": "New York", "transfer": "300 kB"}]}
    asked = ll.presets.starlink_550(pairs=[("London", "New York")]).to_dict() | scenario
    nodes = ll.sky(asked).path_changes("London", "New York", 0.0)[0][1]
    way = [ll.sky(asked).name(node) for node in nodes]
    beam, laser, down = "London->sky", f"{way[1]}->{way[2]}", f"{way[-2]}->ground"
    result = ll.run(asked | {"record": {"pcap": {"at": [beam, laser, down, way[1]]}}})
    result.save(tmp_path / "run")
    assert result.flows["delivered_bytes"][0] == 300_000
    found = {place: list(packets(path)) for place, path in ll.load(tmp_path / "run").captures.items()}
    sent = result.flows["sent_segments"][0]
    for place in (beam, laser, down):
        seen = found[place.replace("->", "-to-")]
        assert sum(packet.length > 0 for packet in seen) == sent
        # Good checksums of IP and TCP.
        assert {packet.checks for packet in seen} == {("1", "1")}
    assert len(found[way[1]]) > len(found["London-to-sky"])
    with pytest.raises(ll.ScenarioError, match=re.escape('no link joins these nodes; there is "London->sky"')):
        ll.run(asked | {"record": {"pcap": {"at": ["London->New York"]}}})


@needs_tshark
def test_only_the_flows_that_are_named(lightlag: Lightlag, pair_file: Path) -> None:
    second = '[[flows]]\nname = "second"\nfrom = "client"\nto = "server"\ntransfer = "1 B"\n'
    pair_file.write_text(pair_file.read_text() + second)
    done = lightlag("run", pair_file, "--pcap", "--pcap-flow", "second", *SMALL)
    assert done.returncode == 0, done.stderr
    # SYN, the data and FIN, and their ACKs: not the 50 kB of the first flow.
    assert 5 <= number_of_packets(pair_file.parent / "results/pair/captures/client.pcapng") <= 8


@needs_tshark
def test_comments_have_state_and_drops(lightlag: Lightlag, pair_file: Path) -> None:
    done = lightlag("run", pair_file, "--pcap", "--pcap-comments", *SMALL, "--set", "links.0.queue=5 packets")
    assert done.returncode == 0, done.stderr
    assert TSHARK
    capture = pair_file.parent / "results/pair/captures/client.pcapng"
    command = [TSHARK, "-r", str(capture), "-T", "fields", "-e", "frame.comment", "-e", "frame.interface_name"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "dropped on client->server: the queue was full\tclient\n" in shown
    assert "cwnd " in shown


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    asked = PAIR + "[record]\npcap = { comments = true }\n"
    path = tmp_path / "pair.toml"
    path.write_text(asked)
    first, second = (ll.run(path, sets={"flows.0.transfer": "100 kB"}) for _ in range(2))
    for name, capture in first.captures.items():
        assert capture.read_bytes() == second.captures[name].read_bytes()
    plain = ll.run(path, sets={"flows.0.transfer": "100 kB", "record": {}})
    assert plain.captures == {}
    assert plain.result_hash == first.result_hash


def test_captures_go_with_their_result_unless_they_are_saved(tmp_path: Path) -> None:
    network = ll.Network("pair", record=ll.Record(pcap=ll.Pcap(at=("a",))))
    network.link("a", "b", rate="1 Mbit/s", delay="1 ms")
    network.flow("a", "b", transfer="10 kB")
    result = ll.run(network)
    [temporary] = result.captures.values()
    saved = [ll.load(result.save(tmp_path / name)).captures["a"] for name in ("one", "two")]
    content = temporary.read_bytes()
    del result
    gc.collect()
    assert not temporary.exists()
    assert [capture.read_bytes() for capture in saved] == [content] * 2
    copied = ll.load(ll.load(tmp_path / "one").save(tmp_path / "three")).captures["a"]
    assert copied.read_bytes() == content


def test_a_comparison_writes_no_captures() -> None:
    network = pair()
    asked = network.scenario(duration="5 s").to_dict() | {"record": {"pcap": {}}}
    comparison = ll.compare(asked, ["cubic"], replications=1)
    assert len(comparison.runs) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pcap", "clint"], 'record.pcap.at[0]: "clint" is not a node of the network; did you mean "client"?'),
        (["--pcap", "client->moon"], 'record.pcap.at[0]: "moon" is not a node of the network'),
        (["--pcap", "--pcap-flow", "third"], 'record.pcap.flows[0]: "third" is not a flow'),
        (["--pcap-comments"], "--pcap-flow and --pcap-comments need --pcap; add it"),
        (["--pcap", "--json"], "captures are written to a results directory; name one with --out"),
    ],
)
def test_invalid_capture_options_are_rejected(
    lightlag: Lightlag, pair_file: Path, options: list[str], message: str
) -> None:
    done = lightlag("run", pair_file, *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("error:") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_leaves_results_and_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    (folder / "client.pcapng").symlink_to("/dev/full")
    monkeypatch.setattr("tempfile.mkdtemp", lambda **_: str(folder))
    asked = pair().scenario(duration="5 s").to_dict() | {"record": {"pcap": {"at": ["server", "client"]}}}
    result = ll.run(asked)
    with pytest.raises(OSError, match=r"client\.pcapng: No space left on device"):
        result.save(tmp_path / "saved")
    assert ll.load(tmp_path / "saved").result_hash == result.result_hash
