"""Captures read by ``lightlag inspect`` and compared by ``lightlag compare-capture``."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lightlag as ll
from conftest import Lightlag, pair
from lightlag.captures.connections import connection_rows
from test_capture import CASES, Case, scenario

REAL = Path(__file__).parent / "data/captures"
FILES = sorted(path.stem for path in REAL.glob("*.pcap"))

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="tshark is missing: apt-get install tshark")

AGAIN = ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")
SAME = {
    "duplicate_ack": "duplicate_acks",
    "zero_window": "zero_windows",
    "window_update": "window_updates",
    "window_full": "window_full",
    "keep_alive": "keep_alives",
    "zero_window_probe": "window_probes",
}
"""Labels of tshark, and the names of our counts of the same events."""


def judged_by_tshark(capture: Path) -> dict[tuple[int, str], Counter[str]]:
    """Labels of each direction, by connection index and source."""
    assert TSHARK
    columns = ["tcp.stream", "ip.src", "ipv6.src", "tcp.srcport", *(f"tcp.analysis.{name}" for name in (*AGAIN, *SAME))]
    command = [TSHARK, "-r", str(capture), "-Y", "tcp", "-T", "fields"]
    command += [part for column in columns for part in ("-e", column)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for line in done.stdout.splitlines():
        stream, v4, v6, port, *labels = line.split("\t")
        counts = found[int(stream), f"{v4}:{port}" if v4 else f"[{v6}]:{port}"]
        said = {name for name, label in zip((*AGAIN, *SAME), labels, strict=True) if label}
        counts.update({"packets": 1, "again": int(bool(said & set(AGAIN))), **dict.fromkeys(said & set(SAME), 1)})
    return found


def ours(capture: Path) -> dict[tuple[int, str], Counter[str]]:
    """Returns the same labels from our analysis."""
    found: dict[tuple[int, str], Counter[str]] = {}
    for connection in ll.inspect(capture).connections:
        for end, direction in ((connection.client, "forward"), (connection.server, "backward")):
            counts = connection.summary[direction]
            if counts["packets"]:
                again = counts["retransmitted_segments"] + counts["out_of_order"]
                same = {name: counts[key] for name, key in SAME.items()}
                found[connection.number, end] = Counter({"packets": counts["packets"], "again": again, **same})
    return found


@needs_tshark
@pytest.mark.parametrize("name", FILES)
def test_counts_of_real_captures_match_tshark(name: str) -> None:
    assert ours(REAL / f"{name}.pcap") == judged_by_tshark(REAL / f"{name}.pcap")


@pytest.fixture(scope="module", params=["v4", "v6"])
def cases(request: pytest.FixtureRequest) -> ll.Result:
    return ll.run(scenario(request.param))


def reports_holes(case: Case) -> bool:
    return case.tcp.get("profile") == "scps" and case.tcp.get("scps", {}).get("snack") != "long"


@needs_tshark
def test_counts_of_runs_match_tshark_and_the_run(cases: ll.Result, tmp_path: Path) -> None:
    merged = tmp_path / "all.pcapng"
    # After a SNACK of six bytes tshark 4.0 shows nothing more of the packet, not even that it is a duplicate ACK.
    whole = [number for number, case in enumerate(CASES.values()) if not reports_holes(case)]
    files = [str(cases.captures[f"s{number}"]) for number in whole]
    subprocess.run(["mergecap", "-w", str(merged), *files], check=True)
    assert ours(merged) == judged_by_tshark(merged)


def test_runs_and_their_captures_agree(cases: ll.Result) -> None:
    flows = {flow["name"]: flow for flow in cases.summary["flows"]}
    for number, name in enumerate(CASES):
        capture = ll.inspect(cases.captures[f"s{number}"])
        (connection,) = capture.connections
        flow, found = flows[name], connection.summary["forward"]
        if name.startswith("TCP Peach"):
            # Copies of low priority look like retransmissions to everybody but their own ends.
            assert found["data_segments"] > flow["sent_segments"], name
            continue
        assert found["data_segments"] - found["window_probes"] == flow["sent_segments"], name
        again = found["retransmitted_segments"] - found["retransmitted_controls"]
        assert again == flow["retransmitted_segments"], name
        assert found["unique_bytes"] == flow["delivered_bytes"], name
        assert (found["out_of_order"], found["gaps"], found["checksum_errors"]) == (0, 0, 0), name
        assert found["timeout_retransmissions"] == 0 or flow["timeouts"], name
        if flow["retransmitted_segments"] == 0:
            # The run also measures its SYN, and the capture continues until the connection ends.
            assert found["rtt"]["mean_s"] == pytest.approx(flow["mean_rtt_s"], rel=0.05), name


def random_capture(path: Path, seed: int) -> None:
    """Segments with random sequence numbers close together: overlaps, holes, repeats, closed windows, probes."""
    draw = random.Random(seed)
    ends = {0: ("10.0.0.1", 4000), 1: ("10.0.0.2", 80)}
    numbers, at = [1000, 5000], 0
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101))

        def write(way: int, seq: int, ack: int, length: int, window: int, flags: int) -> None:
            source, target = ends[way], ends[1 - way]
            address = [bytes(map(int, host.split("."))) for host, _ in (source, target)]
            tcp = struct.pack(">HHIIBBHHH", source[1], target[1], seq, ack, 0x50, flags, window, 0, 0)
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + length, 0, 0x4000, 64, 6, 0) + b"".join(address)
            packet = ip + tcp + bytes(length)
            file.write(struct.pack("<IIII", at // 10**9, at % 10**9, len(packet), len(packet)) + packet)

        write(0, numbers[0] - 1, 0, 0, 3000, 0x02)
        write(1, numbers[1] - 1, numbers[0], 0, 3000, 0x12)
        for _ in range(600):
            at += draw.choice((10_000, 1_000_000, 30_000_000))
            way = draw.randrange(2)
            acked = numbers[1 - way] - draw.choice((0, 0, 0, 1, 100, 500))
            seq = numbers[way] + draw.choice((0, 0, 0, 0, 0, -1, -100, -500, 300))
            length = draw.choice((0, 0, 0, 1, 100, 100, 500))
            write(
                way,
                seq,
                acked,
                length,
                draw.choice((0, 1000, 1000, 1000, 2000)),
                0x11 if draw.random() < 0.01 else 0x10,
            )
            numbers[way] = max(numbers[way], seq + length)


@needs_tshark
@pytest.mark.parametrize("seed", range(12))
def test_counts_of_random_segments_match_tshark(tmp_path: Path, seed: int) -> None:
    random_capture(tmp_path / "random.pcap", seed)
    assert ours(tmp_path / "random.pcap") == judged_by_tshark(tmp_path / "random.pcap")


def test_both_ends_of_a_real_connection_agree() -> None:
    sender, receiver = (ll.inspect(REAL / f"loss-{end}.pcap").connections[0] for end in ("sender", "receiver"))
    sent, received = sender.data, receiver.data
    assert sent["unique_bytes"] == received["unique_bytes"] == 150_000
    # Segments lost before the receiver's capture were retransmitted; one of those was lost again.
    assert received["lost_before"] == received["retransmitted_segments"] <= sent["retransmitted_segments"]
    assert (sent["lost_before"], received["repeated_bytes"]) == (0, 0)
    lost = sent["data_segments"] - received["data_segments"]
    assert lost == sent["retransmitted_segments"] - received["spurious_retransmissions"]
    # 20 ms each way: the complete delay at the sender, none of it at the receiver.
    assert 0.04 <= sent["rtt"]["min_s"] < 0.05
    assert received["rtt"]["min_s"] < 0.001
    assert 0.04 <= sender.summary["initial_rtt_s"] < 0.07


@pytest.mark.parametrize("name", ["loss", "linux-cubic"])
def test_the_round_trip_matches_the_path_wherever_a_capture_was_taken(name: str) -> None:
    found = {}
    for end in ("sender", "receiver"):
        (connection,) = ll.inspect(REAL / f"{name}-{end}.pcap").connections
        assert connection.summary["vantage"] == end
        (row,) = connection_rows([connection])
        assert row["seen at"] == end
        found[end] = float(row["RTT"].removesuffix(" ms"))
    assert found["receiver"] == pytest.approx(found["sender"], rel=0.15)
    assert found["receiver"] > 40


@pytest.mark.parametrize("command", ["report", "plot"])
def test_a_capture_is_not_a_results_directory(command: str, lightlag: Lightlag) -> None:
    refused = lightlag(command, REAL / "loss-sender.pcap")
    assert refused.returncode == 2
    assert "loss-sender.pcap: is a capture, not a results directory; lightlag inspect" in refused.stderr


def test_the_kinds_of_retransmissions_of_a_real_sender() -> None:
    found = ll.inspect(REAL / "nosack-sender.pcap").connections[0].data
    assert found["timeout_retransmissions"] > 0
    assert found["handshake"]["sack_permitted"] is False
    reordered = ll.inspect(REAL / "reorder-receiver.pcap").connections[0].data
    assert reordered["out_of_order"] > 0
    assert reordered["spurious_retransmissions"] == 1


def test_marks_and_closed_windows_of_real_hosts() -> None:
    marked = ll.inspect(REAL / "ecn-receiver.pcap").connections[0]
    assert (marked.data["handshake"]["ecn"], marked.answers["handshake"]["ecn"]) == ("classic", "classic")
    assert marked.data["ce_packets"] > 0
    assert marked.answers["ece_segments"] > 0
    assert marked.data["cwr_segments"] > 0
    closed = ll.inspect(REAL / "zero-sender.pcap").connections[0]
    assert closed.answers["zero_windows"] > 0
    assert closed.data["window_full"] == 1
    assert closed.summary["state"] == "complete"


def test_a_table_has_a_row_for_each_direction() -> None:
    table = ll.inspect(REAL / "loss-sender.pcap").table
    assert table["direction"].to_list() == ["forward", "backward"]
    assert table.filter(pl.col("payload_bytes") != pl.col("unique_bytes") + pl.col("repeated_bytes")).is_empty()
    assert {"handshake_mss", "rtt_p95_s", "goodput_bps", "ce_packets"} <= set(table.columns)


def test_packets_of_a_connection_match_its_summary() -> None:
    connection = ll.inspect(REAL / "loss-sender.pcap").connections[0]
    packets = connection.packets()
    own = packets.filter(pl.col("side").cast(str) == "client")
    assert len(own) == connection.data["packets"]
    assert own["bytes"].sum() == connection.data["payload_bytes"]
    assert own["in_flight_bytes"].max() == connection.data["max_in_flight_bytes"]
    again = own.filter(pl.col("kind").cast(str).str.contains("retransmission"))
    assert len(again) == connection.data["retransmitted_segments"]
    assert len(connection.packets(rows=40)) <= 60


def test_connections_are_selected_by_number_and_by_their_ends(cases: ll.Result) -> None:
    capture = ll.inspect(cases.captures["s1"])
    (connection,) = capture.connections
    host = connection.client.rpartition(":")[0].strip("[]")
    for flow in ("0", connection.client, host, f"{connection.server}-{host}"):
        assert capture.select(flow) == [connection], flow
    with pytest.raises(ll.InputError, match=r'no connection "10.9.9.9"; there are 0 \('):
        capture.select("10.9.9.9")


def test_inspect_prints_a_table(lightlag: Lightlag) -> None:
    done = lightlag("inspect", REAL / "loss-sender.pcap")
    hint = f"see why a transfer is slow with: lightlag why {REAL / 'loss-sender.pcap'}\n"
    assert (done.returncode, done.stderr) == (0, hint)
    assert "10.77.0.2:5001" in done.stdout
    assert "goodput" in done.stdout
    assert "of TCP in 1 connection" in done.stdout
    one = lightlag("inspect", REAL / "loss-sender.pcap", "--flow", "0")
    assert "retransmitted segments" in one.stdout
    assert "round-trip time of the handshake" in one.stdout


def test_inspect_prints_one_object(lightlag: Lightlag) -> None:
    done = lightlag("inspect", REAL / "loss-sender.pcap", "--json")
    found = json.loads(done.stdout)
    assert found == ll.inspect(REAL / "loss-sender.pcap").summary
    assert found["connections"][0]["forward"]["rtt"]["by"] == "ack"


def test_inspect_draws_a_figure(lightlag: Lightlag, tmp_path: Path) -> None:
    done = lightlag("inspect", REAL / "loss-sender.pcap", "-o", "one.svg")
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "one.svg").read_text()


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def unknown_link(content: bytes) -> bytes:
    return content[:20] + struct.pack("<I", 147) + content[24:]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: b"", "not a capture: the file is empty"),
        (lambda content: b"GIF89a" + content, "not a capture"),
        (lambda content: content[:10], "not a capture: the file ends within its header"),
        (unknown_link, "link type 147"),
    ],
)
def test_a_file_that_is_not_a_capture_is_one_error(
    lightlag: Lightlag, tmp_path: Path, change: Any, message: str
) -> None:
    (tmp_path / "bad.pcap").write_bytes(change((REAL / "loss-sender.pcap").read_bytes()))
    done = lightlag("inspect", "bad.pcap")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: bad.pcap: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_files_that_cannot_be_read_are_one_error(lightlag: Lightlag, tmp_path: Path) -> None:
    for path, message in ((tmp_path, "is a directory; name a capture"), (tmp_path / "none", "there is no such file")):
        done = lightlag("inspect", path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: {path}: {message}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_one_error(lightlag: Lightlag, tmp_path: Path) -> None:
    path = tmp_path / "secret.pcap"
    path.write_bytes((REAL / "loss-sender.pcap").read_bytes())
    path.chmod(0)
    assert "cannot be read: permission denied" in lightlag("inspect", path).stderr


def test_a_cut_capture_is_read_up_to_there(lightlag: Lightlag, tmp_path: Path) -> None:
    (tmp_path / "cut.pcap").write_bytes(cut((REAL / "loss-sender.pcap").read_bytes()))
    done = lightlag("inspect", "cut.pcap")
    assert done.returncode == 0
    assert "10.77.0.2:5001" in done.stdout
    assert "note: cut.pcap: the file is cut: the packet or block at byte" in done.stderr
    whole, part = ll.inspect(REAL / "loss-sender.pcap"), ll.inspect(tmp_path / "cut.pcap")
    assert 0 < part.summary["packets"] < whole.summary["packets"]
    assert part.note is not None
    assert whole.note is None


def test_a_capture_without_tcp_is_reported(lightlag: Lightlag, tmp_path: Path) -> None:
    path = tmp_path / "udp.pcap"
    udp = bytes([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17]) + bytes(18)
    record = struct.pack("<IIII", 1, 0, len(udp), len(udp)) + udp
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + 3 * record)
    done = lightlag("inspect", path)
    assert done.stdout.strip() == "3 packets in 0 s, 0 of TCP in 0 connections, 3 UDP"
    refused = lightlag("inspect", path, "-o", "figure.pdf")
    assert (refused.returncode, refused.stderr.strip()) == (2, f"error: {path}: it holds no TCP connection")


def test_progress_goes_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "long.pcap"
    content = (REAL / "loss-sender.pcap").read_bytes()
    path.write_bytes(content + 100 * content[24:])
    calls: list[tuple[int, int, int]] = []
    ll._engine.inspect(path, lambda *call: calls.append(call), 0.0)
    assert calls == sorted(calls)
    assert all(0 < read <= size == path.stat().st_size for read, size, _ in calls)
    assert len(calls) >= 3

    def refuse(*_: int) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        ll._engine.inspect(path, refuse, 0.0)


def test_ctrl_c_gives_what_was_read(tmp_path: Path) -> None:
    # A pipe that stays open: the reading cannot end by itself.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(
        [sys.executable, "-m", "lightlag", "inspect", str(pipe), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    content = (REAL / "loss-sender.pcap").read_bytes()
    # Without a buffer, which would be written once more when the file is closed.
    with pipe.open("wb", buffering=0) as file:
        file.write(content)
        for _ in range(200):
            file.write(content[24:])
        # The pipe holds less than this, so the reader is at work once all of it is written.
        reader.send_signal(signal.SIGINT)
        try:
            while reader.poll() is None:
                file.write(content[24:])
        except BrokenPipeError:
            pass
    out, errors = reader.communicate()
    assert reader.returncode == 130, errors
    assert json.loads(out)["interrupted"] is True
    assert b"error: interrupted after" in errors


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated") / "pair"
    asked = pair().scenario(duration="20 s", seed=3).to_dict()
    asked["record"] = {"pcap": {}}
    ll.run(asked).save(folder)
    return folder


def test_a_real_capture_is_compared_with_a_directory_and_with_a_capture(
    lightlag: Lightlag, simulated: Path, tmp_path: Path
) -> None:
    for other, figure in ((simulated, "folder.pdf"), (simulated / "captures/client.pcapng", "capture.svg")):
        done = lightlag("compare-capture", REAL / "loss-sender.pcap", other, "-o", figure)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / figure).stat().st_size > 1000
        for title in ("goodput", "retransmitted segments", "min RTT", "maximum in flight", "ratio"):
            assert title in done.stdout, title


def test_a_run_is_the_same_by_its_capture_and_by_its_directory(lightlag: Lightlag, simulated: Path) -> None:
    capture = simulated / "captures/client.pcapng"
    done = lightlag("compare-capture", capture, simulated, "--json")
    found = json.loads(done.stdout)
    for key in ("unique_bytes", "data_segments", "retransmitted_segments"):
        assert found[key]["ratio"] == 1.0, key
    # The folder's goodput counts the handshake and the closing.
    assert found["goodput_bps"]["ratio"] == pytest.approx(1.0, abs=0.05)
    assert found["min_rtt_s"]["ratio"] == pytest.approx(1.0, abs=0.001)
    # The capture continues until the connection ends.
    assert found["mean_rtt_s"]["ratio"] == pytest.approx(1.0, abs=0.005)
    assert found["max_in_flight_bytes"]["ratio"] == pytest.approx(1.0, abs=0.1)


def test_incomparable_inputs_are_rejected(lightlag: Lightlag, simulated: Path, tmp_path: Path) -> None:
    real = REAL / "loss-sender.pcap"
    for arguments, message in (
        ((real, tmp_path), "is not a results directory"),
        ((real, simulated, "--simulated-flow", "x"), 'no flow "x"; there are client->server'),
        ((real, simulated, "--flow", "9"), 'no connection "9"'),
        ((real, simulated, "-o", "figure.gif"), "is not a format of figures"),
    ):
        done = lightlag("compare-capture", *arguments)
        assert done.returncode == 2
        assert message in done.stderr
