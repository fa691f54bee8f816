"""Captures of QUIC clients that move, of version 2 and of key updates: tshark decrypts every packet."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.scenario import read_scenario

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="tshark is missing: apt-get install tshark")

FIELDS = (
    "frame.time_relative",
    "ip.src",
    "udp.srcport",
    "ip.dst",
    "quic.version",
    "quic.key_phase",
    "quic.frame_type",
    "quic.decryption_failed",
    "quic.header_form",
)


@dataclass(frozen=True)
class Datagram:
    """A datagram as tshark decodes it. Packets of a datagram have several values in a field."""

    time_s: float
    source: tuple[str, int]
    destination: str
    versions: set[str]
    phases: list[str]
    frames: list[str]
    is_decrypted: bool


def captured(folder: Path, **quic: Any) -> list[Datagram]:
    """The datagrams at the client's node of an upload of 2 MB over 40 ms."""
    net = ll.Network("move", record=ll.Record(pcap=ll.Pcap(at=("client",))))
    net.link("client", "server", rate="5 Mbit/s", delay="20 ms", queue="100 packets")
    net.flow("client", "server", transfer="2 MB", transport="quic", quic=quic)
    result = ll.run(net, duration="20 s", seed=1)
    assert result.summary["flows"][0]["delivered_bytes"] == 2_000_000
    result.save(folder / "results")
    assert TSHARK is not None
    file = next((folder / "results").rglob("client.pcapng"))
    command = [TSHARK, "-r", str(file), "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]
    command += [part for field in FIELDS for part in ("-e", field)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    datagrams = [
        Datagram(
            float(time),
            (source, int(port)),
            destination,
            set(filter(None, version.split(","))),
            list(filter(None, phase.split(","))),
            list(filter(None, frames.split(","))),
            not failed,
        )
        for time, source, port, destination, version, phase, frames, failed, _ in rows
    ]
    assert len(datagrams) > 2_000
    return datagrams


@needs_tshark
def test_every_packet_of_version_2_is_decrypted(tmp_path: Path) -> None:
    for retry in (False, True):
        datagrams = captured(tmp_path / str(retry), version=2, server={"retry": retry})
        assert set().union(*(each.versions for each in datagrams)) == {"0x6b3343cf"}
        # A Retry packet has no frames.
        assert sum(not each.frames for each in datagrams) == retry
        assert all(each.is_decrypted for each in datagrams)
    plain = captured(tmp_path / "one")
    assert set().union(*(each.versions for each in plain)) == {"0x00000001"}


@needs_tshark
@pytest.mark.parametrize("version", [1, 2])
def test_the_key_phase_flips_in_both_directions(version: int, tmp_path: Path) -> None:
    datagrams = captured(tmp_path, version=version, key_update=200)
    assert all(each.is_decrypted and each.frames for each in datagrams)
    for sender in ("10.0.0.1", "10.0.0.2"):
        phases = [each.phases[0] for each in datagrams if each.source[0] == sender and each.phases]
        flips = sum(first != second for first, second in itertools.pairwise(phases))
        # 1,713 packets of data; an update waits for the peer's.
        assert 5 <= flips <= 9
    plain = captured(tmp_path / "plain")
    assert {phase for each in plain for phase in each.phases} <= {"0", "False"}


@needs_tshark
def test_a_client_that_moves_has_another_address(tmp_path: Path) -> None:
    datagrams = captured(tmp_path, rebind=["1 s"], migrate=["2 s"])
    assert all(each.is_decrypted and each.frames for each in datagrams)
    sent = [each for each in datagrams if each.destination == "10.0.0.2"]
    sources = list(dict.fromkeys(each.source for each in sent))
    assert [address for address, _ in sources] == ["10.0.0.1", "10.0.0.1", "10.32.0.1"]
    first, second, third = (port for _, port in sources)
    assert first >= 49_152 > second
    assert third == second
    for source, start, end in zip(sources, (0.0, 1.0, 2.0), (1.0, 2.0, 20.0), strict=True):
        times = [each.time_s for each in sent if each.source == source]
        assert start <= min(times) < max(times) <= end + 0.01
    # PATH_CHALLENGE and PATH_RESPONSE in both directions.
    for sender in ("10.32.0.1", "10.0.0.2"):
        frames = {frame for each in datagrams if each.source[0] == sender for frame in each.frames}
        assert {"26", "27"} <= {str(int(frame, 0)) for frame in frames}


def test_the_written_scenario_has_the_keys_as_given() -> None:
    quic = ll.Quic(
        mtu="1.452 kB",
        keep_alive="5 s",
        ack_frequency=ll.QuicAckFrequency(packets=10, delay="100 ms", reordering=3),
        careful_resume={"saved_cwnd": "2 MB", "saved_rtt": "600 ms"},
        version=2,
        rebind=("20 s", "40 s"),
        migrate=("30 s",),
        key_update=1_000,
        server={"mtu": False},
    )
    net = ll.Network("keys", record=ll.Record(pcap=ll.Pcap(comments=True, qlog_schema="main-14")))
    net.link("client", "server", rate="5 Mbit/s", delay="20 ms", mtu="1.4 kB")
    net.flow("client", "server", transfer="2 MB", transport="quic", quic=quic)
    written = json.loads(read_scenario(net).json())
    assert written["flows"][0]["quic"] == {
        "mtu": "1.452 kB",
        "keep_alive": "5 s",
        "ack_frequency": {"packets": 10, "delay": "100 ms", "reordering": 3},
        "careful_resume": {"saved_cwnd": "2 MB", "saved_rtt": "600 ms"},
        "version": 2,
        "rebind": ["20 s", "40 s"],
        "migrate": ["30 s"],
        "key_update": 1_000,
        "server": {"mtu": False},
    }
    assert written["links"][0]["mtu"] == "1.4 kB"
    assert written["record"]["pcap"]["qlog_schema"] == "main-14"
    assert json.loads(read_scenario(written).json()) == written
