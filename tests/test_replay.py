"""Repeating a run from its capture: exactly for our own captures, for real ones as far as the inference allows."""

from __future__ import annotations

import json
import os
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import lightlag as ll
from lightlag.captures.repetition import Sending, _receive_buffer, repeat, scenario_of
from lightlag.captures.sides import Side
from lightlag.cli import app as cli
from lightlag.errors import InputError
from lightlag.scenario import checked
from test_framing import carried

CAPTURES = Path(__file__).parent / "data/captures"
CUBIC = CAPTURES / "linux-cubic-sender.pcap"


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments))


def own(folder: Path, **changes: Any) -> ll.Result:
    """A run of ours that loses the given packets, captured at both ends."""
    network = ll.Network("own")
    loss = {"packets": [30, 31, 100, 140, 400], "direction": "forward"}
    queue = {"discipline": "drop_tail", "limit": "300 packets", "count_in_service": True}
    network.link("a", "b", rate="10 Mbit/s", delay="25 ms", queue=queue, loss=loss)
    network.flow("a", "b", transfer="800 kB", tcp={"profile": "linux", "congestion": "cubic"} | changes)
    result = ll.run(network, duration="60 s", sets={"record.pcap": {"at": ["a", "b"]}})
    result.save(folder)
    return result


@pytest.mark.parametrize("end", ["a", "b"])
def test_our_own_run_gives_its_losses_and_its_path(tmp_path: Path, end: str) -> None:
    result = own(tmp_path / "own")
    seen = Sending(tmp_path / "own" / "captures" / f"{end}.pcapng")
    assert seen.summary["lost"] == [30, 31, 100, 140, 400]
    assert seen.summary["vantage"] == ("sender" if end == "a" else "receiver")
    assert seen.packets.height == result.flows["sent_segments"].item()
    path = seen.summary["path"]
    assert path["rate_bps"] == pytest.approx(10e6, rel=0.02)
    assert path["propagation_s"] == pytest.approx(0.05, rel=0.03)


def test_our_own_run_is_repeated_packet_by_packet(tmp_path: Path) -> None:
    own(tmp_path / "own")
    found = repeat(tmp_path / "own" / "captures" / "a.pcapng", rate="10 Mbit/s")
    assert found.ours.packets.height == found.real.packets.height
    assert found.same_packets() == found.real.packets.height
    assert found.ours.summary["lost"] == found.real.summary["lost"]
    assert found.summary["goodput_ratio"] == pytest.approx(1, abs=0.005)
    assert len(found.ours.episodes) == len(found.real.episodes)
    for real, ours in zip(found.real.episodes, found.ours.episodes, strict=True):
        assert (ours["cause"], ours["retransmissions"]) == (real["cause"], real["retransmissions"])
        assert ours["flight_bytes"] == real["flight_bytes"]


def test_another_sender_is_another_run(tmp_path: Path) -> None:
    own(tmp_path / "own")
    found = repeat(tmp_path / "own" / "captures" / "a.pcapng", congestion="newreno", rate="10 Mbit/s")
    assert found.same_packets() < found.real.packets.height
    assert found.result.flows["congestion"].to_list() == ["newreno"]
    assert found.ours.summary["transfer_bytes"] == 800_000


def test_a_real_run_is_repeated_with_its_losses(tmp_path: Path) -> None:
    found = repeat(CUBIC)
    assert found.real.summary["lost"] == [100, 101, 250, 300]
    # The first loss meets both senders at the same packet: until then nothing but the window decides.
    assert found.same_packets() >= 99
    assert found.ours.summary["lost"] == [100, 101, 250, 300]
    assert found.summary["goodput_ratio"] == pytest.approx(1, abs=0.35)
    folder = found.save(tmp_path / "replay")
    assert (folder / "sequence.pdf").read_bytes().startswith(b"%PDF")
    again = ll.run(folder / "scenario.toml")
    assert again.result_hash == ll.run(found.scenario).result_hash
    assert found.result.acks["snd_una"].is_sorted()


def test_the_command_prints_both_and_writes_a_directory(tmp_path: Path) -> None:
    out = tmp_path / "out"
    shown = invoke("replay", str(CUBIC), "-c", "reno", "-o", str(out))
    assert shown.exit_code == 0, shown.output
    assert "seen at the sender" in shown.output
    assert "retransmissions" in shown.output
    summary = json.loads((out / "comparison.json").read_text())
    assert summary["real"]["lost"] == [100, 101, 250, 300]
    assert {file.name for file in out.iterdir()} >= {"run.json", "scenario.toml", "sequence.pdf", "acks.parquet"}
    refused = invoke("replay", str(CUBIC), "-o", str(out))
    assert refused.exit_code == 2
    assert "exists already" in refused.output


def records(capture: Path) -> tuple[bytes, list[bytes]]:
    """The header of a pcap file and its packets."""
    data = capture.read_bytes()
    at, packets = 24, []
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at + 8)
        packets.append(data[at : at + 16 + length])
        at += 16 + length
    return data[:24], packets


def moved(packet: bytes, port: int) -> bytes:
    """The packet with another port of the sender."""
    raw = bytearray(packet)
    source, destination = struct.unpack_from(">HH", raw, 36)
    offset = 38 if source == 5001 else 36
    assert 5001 in (source, destination)
    struct.pack_into(">H", raw, offset, port)
    return bytes(raw)


def from_client(packet: bytes) -> bool:
    return bool(struct.unpack_from(">H", packet, 36)[0] != 5001)


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (lambda packets: packets[1:], "its SYN is not in the capture"),
        (lambda packets: packets[:3], "no connection in it carries data"),
        (lambda packets: [one for one in packets if from_client(one)], "only one direction"),
        (lambda packets: [], "holds no TCP connection"),
    ],
)
def test_runs_that_cannot_be_repeated_are_rejected(
    tmp_path: Path, keep: Callable[[list[bytes]], list[bytes]], message: str
) -> None:
    head, packets = records(CUBIC)
    capture = tmp_path / "bad.pcap"
    capture.write_bytes(head + b"".join(keep(packets)))
    with pytest.raises(InputError, match=message):
        Sending(capture)
    failed = invoke("replay", str(capture), "-o", str(tmp_path / "out"))
    assert failed.exit_code == 2
    assert message in failed.output
    assert "bad.pcap" in failed.output
    assert not (tmp_path / "out").exists()


def test_one_of_several_connections_is_chosen_by_number(tmp_path: Path) -> None:
    head, packets = records(CUBIC)
    capture = tmp_path / "two.pcap"
    capture.write_bytes(head + b"".join(packets + [moved(one, 1234) for one in packets]))
    assert Sending(capture, 1).summary["client"] == "10.77.1.1:1234"
    with pytest.raises(InputError, match="there is no connection 7"):
        Sending(capture, 7)


def test_the_part_before_a_cut_is_repeated(tmp_path: Path) -> None:
    capture = tmp_path / "cut.pcap"
    capture.write_bytes(CUBIC.read_bytes()[:30_010])
    shown = invoke("replay", str(capture), "-o", str(tmp_path / "out"))
    assert shown.exit_code == 0, shown.output
    assert "the file is cut" in shown.output
    assert "did not finish" in shown.output


@pytest.mark.parametrize("content", [b"", b"not a capture at all"])
def test_a_file_that_is_not_a_capture_is_rejected(tmp_path: Path, content: bytes) -> None:
    capture = tmp_path / "none.pcap"
    capture.write_bytes(content)
    with pytest.raises(InputError, match="not a capture"):
        Sending(capture)


def test_the_window_next_to_a_capture_is_in_bytes(tmp_path: Path) -> None:
    found = repeat(CUBIC)
    side = Side.of_folder(found.save(tmp_path / "replay"))
    assert side.cwnd is not None
    # A segment of this capture has 1460 bytes, which the scenario writes as "1.46 kB".
    assert side.cwnd.values.max() == pytest.approx(1460 * float(found.result.trace()["cwnd_segments"].max()))  # type: ignore[arg-type]


def test_acks_are_recorded_on_request(tmp_path: Path) -> None:
    table = tmp_path / "acks.csv"
    out = tmp_path / "out"
    shown = invoke("run", "geo", "-s", "duration=5 s", "--acks", str(table), "-o", str(out), "-q")
    assert shown.exit_code == 0, shown.output
    lines = table.read_text().splitlines()
    assert lines[0] == "time_s,flow,snd_una,snd_nxt,cwnd_bytes,ssthresh_bytes,srtt_s,inflight_bytes,state"
    assert len(lines) - 1 == ll.load(out).acks.height > 10
    bare = invoke("run", "geo", "-s", "duration=5 s", "-o", str(tmp_path / "bare"), "-q", "--acks")
    assert bare.exit_code == 0, bare.output
    assert ll.load(tmp_path / "bare").acks.height == len(lines) - 1


def test_a_run_without_acks_explains_how_to_record_them() -> None:
    network = ll.Network("short")
    network.link("a", "b", rate="1 Mbit/s", delay="1 ms")
    network.flow("a", "b", transfer="10 kB")
    result = ll.run(network, duration="5 s")
    with pytest.raises(InputError, match="run with --acks"):
        _ = result.acks


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (80_000, "150000 B"),
        (64_240, {"auto": {"max": "150000 B"}}),
        (10_000, {"auto": {"initial": "11476 B", "max": "150000 B"}}),
        (0, {"auto": {"initial": "64 B", "max": "150000 B"}}),
    ],
)
def test_a_window_that_grew_implies_a_buffer_that_tunes_itself(first: int, expected: object) -> None:
    assert _receive_buffer({"receive_window": 150_000, "first_receive_window": first}) == expected


def paths(folder: Path, timestamps: bool = True, **link: Any) -> dict[str, Path]:
    """A run of ours from a server to a client, captured at both."""
    network = ll.Network("path")
    network.link("server", "client", **link)
    network.flow("server", "client", transfer="6 MB", tcp={"timestamps": timestamps})
    result = ll.run(network, duration="300 s", sets={"record.pcap": {"at": ["server", "client"]}})
    result.save(folder)
    return {"sender": folder / "captures/server.pcapng", "receiver": folder / "captures/client.pcapng"}


@pytest.mark.parametrize("timestamps", [True, False], ids=["timestamps", "no timestamps"])
@pytest.mark.parametrize("vantage", ["sender", "receiver"])
@pytest.mark.parametrize(
    "link",
    [
        {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "500 packets"},
        {"rate": "50 Mbit/s", "delay": "15 ms", "queue": "60 packets"},
        {"rate": "20 Mbit/s", "delay": "300 ms", "queue": "1000 packets", "loss": ll.Directions(0.0005, 0.0)},
        {"rate": "20 Mbit/s", "delay": "300 ms", "queue": "100 packets"},
    ],
    ids=["bufferbloat", "short queue", "GEO with losses", "GEO with a short queue"],
)
def test_a_repetition_takes_as_long_as_the_run_wherever_it_was_captured(
    tmp_path: Path, link: dict[str, Any], vantage: str, timestamps: bool
) -> None:
    found = repeat(paths(tmp_path / "run", timestamps, **link)[vantage])
    assert found.real.summary["vantage"] == vantage
    assert found.ours.summary["duration_s"] == pytest.approx(found.real.summary["duration_s"], rel=0.1)
    assert found.summary["goodput_ratio"] == pytest.approx(1, abs=0.1)
    assert abs(found.ours.recoveries() - found.real.recoveries()) <= 2
    assert found.real.timeouts() == found.ours.timeouts() == 0


@pytest.mark.parametrize("vantage", ["sender", "receiver"])
def test_losses_of_a_full_queue_become_its_limit(tmp_path: Path, vantage: str) -> None:
    capture = paths(tmp_path / "run", rate="20 Mbit/s", delay="100 ms", queue="80 packets")[vantage]
    sending = Sending(capture)
    lost, overflowed = sending.summary["lost"], sending.summary["overflowed"]
    assert len(overflowed) > 30
    assert set(overflowed) <= set(lost)
    (link,) = scenario_of(sending)["links"]
    assert int(link["queue"]["limit"].split()[0]) == pytest.approx(80, abs=8)
    assert link.get("loss", {"packets": []})["packets"] == sorted(set(lost) - set(overflowed))
    (given,) = scenario_of(sending, queue=1000)["links"]
    assert given["loss"]["packets"] == lost


def test_an_outage_is_not_a_full_queue() -> None:
    sending = Sending(CAPTURES / "linux-timeout-sender.pcap")
    assert len(sending.summary["lost"]) == 52
    assert sending.summary["overflowed"] == []


def test_the_connection_with_the_most_data_is_repeated(tmp_path: Path) -> None:
    head, packets = records(CUBIC)
    capture = tmp_path / "two.pcap"
    capture.write_bytes(head + b"".join([moved(one, 1234) for one in packets[:40]] + packets))
    assert Sending(capture).summary["connection"] == 1
    shown = invoke("replay", str(capture), "-o", str(tmp_path / "out"))
    assert shown.exit_code == 0, shown.output
    assert "connection 1 has the most data; 1 more with --flow" in shown.output


def test_a_pipe_is_rejected_instead_of_read_twice(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Without a reader or writer at the other end an open would wait, so both are here.
    held = os.open(pipe, os.O_RDWR)
    with pytest.raises(InputError, match="not a regular file"):
        Sending(pipe)
    os.close(held)


def odd_connection(path: Path, seed: int) -> None:
    """A handshake with odd options, windows and times, then data, ACKs and repetitions in any order."""
    draw = random.Random(seed)
    numbers, at = [draw.randrange(2**32), draw.randrange(2**32)], draw.choice((0, 1_700_000_000)) * 10**9
    version = draw.choice((4, 4, 6))
    stamped, stamp = draw.random() < 0.5, draw.randrange(2**32)
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 101)

    def packet(way: int, seq: int, flags: int, length: int, options: bytes = b"") -> bytes:
        if stamped:
            options += b"\x01\x01\x08\x0a" + struct.pack(">II", (stamp + at // 10**6) % 2**32, stamp)
        ports = (4000, 80) if way == 0 else (80, 4000)
        window = draw.choice((0, 1, 60, 1000, 29_200, 65_535))
        acked = 0 if flags == 2 else numbers[1 - way]
        offset = (5 + len(options) // 4) << 4
        tcp = struct.pack(">HHIIBBHHH", *ports, seq % 2**32, acked % 2**32, offset, flags, window, 0, 0) + options
        return carried(way == 0, tcp + bytes(length), version)

    def write(data: bytes) -> None:
        nonlocal out
        out += struct.pack("<IIII", at // 10**9, at % 10**9, len(data), len(data)) + data

    for way, flags in ((0, 2), (1, 18)):
        mss = draw.choice((None, 0, 1, 35, 536, 1460, 65_495, 65_535))
        scale = draw.choice((None, 0, 7, 14, 200))
        options = b"" if mss is None else struct.pack(">BBH", 2, 4, mss)
        options += b"" if scale is None else struct.pack(">BBBB", 1, 3, 3, scale)
        options += draw.choice((b"", b"\x01\x01\x04\x02"))
        write(packet(way, numbers[way] - 1, flags, 0, options))
        at += draw.choice((0, 1, 10**5, 3 * 10**8, 10**12))
    for _ in range(draw.choice((1, 5, 60, 300))):
        way = int(draw.random() < draw.choice((0.1, 0.5)))
        length = draw.choice((0, 0, 1, 37, 1448, 1448, 9000))
        seq = numbers[way] + draw.choice((0, 0, 0, 0, -1, -1448, 1448, 100_000))
        write(packet(way, seq, draw.choice((16, 16, 16, 24, 17)), length))
        numbers[way] = max(numbers[way], seq + length)
        at += draw.choice((0, 0, 1000, 10**6, 10**8, 10**11))
    path.write_bytes(out)


@pytest.mark.long
def test_any_capture_gives_a_scenario_that_is_valid_or_one_reason_why_not(tmp_path: Path) -> None:
    capture = tmp_path / "odd.pcap"
    valid, refused = 0, []
    for seed in range(400):
        odd_connection(capture, seed)
        assert ll.inspect(capture).connections
        try:
            scenario = scenario_of(Sending(capture))
        except InputError as error:
            refused.append(str(error))
        else:
            checked(scenario)
            valid += 1
    assert all(reason.startswith(f"{capture}: ") and "\n" not in reason for reason in refused), refused
    assert valid > 200
