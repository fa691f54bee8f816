"""Real packets between two network namespaces. A skipped test that needs root gives this reason."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Lightlag
from lightlag import _engine
from lightlag.emulation.emulator import ADDRESSES, Device, Emulation, device, emulate
from lightlag.emulation.namespaces import allowed, command, namespaces
from lightlag.errors import InputError

REFUSED = allowed()
needs_root = pytest.mark.skipif(REFUSED is not None, reason=f"{REFUSED}: run the tests as root to try real packets")

PATH = """\
name = "path"
duration = "1 s"

[[links]]
between = ["client", "gateway"]
rate = "100 Mbit/s"
delay = "5 ms"

[[links]]
between = ["gateway", "server"]
rate = "50 Mbit/s"
delay = "20 ms"
queue = "100 packets"

[[flows]]
from = "client"
to = "server"
"""

QUIET = {"net.ipv6.conf.all.disable_ipv6": 1, "net.ipv6.conf.default.disable_ipv6": 1}
"""Settings without IPv6, because the kernel sends IPv6 packets by itself."""


@pytest.fixture
def path_file(tmp_path: Path) -> Path:
    path = tmp_path / "path.toml"
    path.write_text(PATH)
    return path


@pytest.fixture
def pair() -> Iterator[list[str]]:
    with namespaces("llt", settings=QUIET) as made:
        yield made


def ends(pair: list[str]) -> tuple[Device, Device]:
    return device(f"ns:{pair[0]}", ADDRESSES[0][:1]), device(f"ns:{pair[1]}", ADDRESSES[1][:1])


def inside(namespace: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(namespace, arguments), capture_output=True, text=True, check=False, timeout=60)


def devices_of(namespace: str) -> str:
    return subprocess.run(["ip", "-n", namespace, "link"], capture_output=True, text=True, check=True).stdout


def ping(namespace: str, address: str, count: int = 5) -> list[float]:
    """Round trips in milliseconds, measured by Python: ping may not be installed."""
    code = f"""
import os, socket, struct, time
family = socket.AF_INET6 if ":" in {address!r} else socket.AF_INET
kind, protocol = (128, socket.IPPROTO_ICMPV6) if family == socket.AF_INET6 else (8, socket.IPPROTO_ICMP)
s = socket.socket(family, socket.SOCK_RAW, protocol)
s.settimeout(5)
def checksum(data):
    total = sum(struct.unpack(f"!{{len(data) // 2}}H", data))
    total = (total >> 16) + (total & 0xffff)
    return ~(total + (total >> 16)) & 0xffff
for n in range({count}):
    head = struct.pack("!BBHHH", kind, 0, 0, 4711, n) + bytes(56)
    sent = time.monotonic()
    s.sendto(head[:2] + struct.pack("!H", checksum(head)) + head[4:], ({address!r}, 0))
    while True:
        answer = s.recv(2000)
        answer = answer if family == socket.AF_INET6 else answer[20:]
        if answer[0] in (0, 129) and answer[4:8] == head[4:8]:
            break
    print(1e3 * (time.monotonic() - sent))
"""
    done = inside(namespace, sys.executable, "-S", "-c", code)
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]


def on_their_way(statistics: dict[str, Any]) -> int:
    """Returns how many packets entered at a device and have neither left at the other one nor been dropped."""
    ended = ("delivered_packets", "dropped_refused", "dropped_not_ip", "dropped_truncated")
    count = sum(one["taken_packets"] - sum(one[name] for name in ended) for one in statistics["directions"])
    dropped = ("dropped_queue", "dropped_aqm", "dropped_error")
    return int(count - sum(link[name] for link in statistics["links"] for name in dropped))


def settled(emulation: Emulation, *, taken_packets: int) -> dict[str, Any]:
    """Waits until this many packets have entered at the first device and none is in transit, and returns the counts."""
    while True:
        assert emulation.is_running
        statistics = emulation.statistics()
        if statistics["directions"][0]["taken_packets"] >= taken_packets and on_their_way(statistics) == 0:
            return statistics
        time.sleep(0.01)


def inject(namespace: str, packets: list[bytes]) -> None:
    """Sends bytes into the device as they are."""
    code = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0800)
s.bind(("lightlag0", 0x0800))
for packet in sys.stdin.read().split():
    s.send(bytes.fromhex(packet))
"""
    text = "\n".join(packet.hex() for packet in packets)
    arguments = command(namespace, [sys.executable, "-S", "-c", code])
    subprocess.run(arguments, input=text, text=True, check=True, timeout=60)


@needs_root
def test_a_round_trip_takes_the_delay_of_the_path(path_file: Path, pair: list[str]) -> None:
    with emulate(path_file, ends(pair)) as emulation:
        times = ping(pair[0], "10.77.0.2", count=20)
        statistics = settled(emulation, taken_packets=20)
    # 2 · 25 ms of propagation, and 4 · 84 B at 50 or 100 Mbit/s; never less, and hardly more on an idle machine.
    assert min(times) >= 50.0
    assert min(times) < 60.0, times
    there, back = statistics["directions"]
    assert (there["taken_packets"], back["taken_packets"]) == (20, 20)
    assert (there["delivered_packets"], back["delivered_packets"]) == (20, 20)
    assert there["lateness"]["packets"] == sum(count for _, count in there["lateness"]["histogram"]) == 20
    names = [link["name"] for link in statistics["links"]]
    assert names == ["client->gateway", "gateway->server", "server->gateway", "gateway->client"]
    assert all("lightlag0" not in devices_of(name) for name in pair)


@needs_root
def test_ipv6_crosses_too(path_file: Path) -> None:
    with namespaces("llt") as pair:
        both = tuple(device(f"ns:{name}", addresses) for name, addresses in zip(pair, ADDRESSES, strict=True))
        with emulate(path_file, (both[0], both[1])):
            assert min(ping(pair[0], "fd77::2")) >= 50.0


@needs_root
def test_losses_match_the_scenario_and_nothing_else_is_lost(path_file: Path, pair: list[str]) -> None:
    # As many as the queue holds.
    sender = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(100):
    s.sendto(bytes(100), ("10.77.0.2", 9999))
"""
    with emulate(path_file, ends(pair), sets={"links.1.loss": "0.1", "seed": "3"}) as emulation:
        for burst in range(1, 21):
            inside(pair[0], sys.executable, "-S", "-c", sender)
            statistics = settled(emulation, taken_packets=100 * burst)
    there = statistics["directions"][0]
    lossy = statistics["links"][1]
    assert there["taken_packets"] == lossy["offered"] == 2000
    # 200 ± 2.6 standard deviations of 13.4.
    assert 165 <= lossy["dropped_error"] <= 235
    assert there["delivered_packets"] == 2000 - lossy["dropped_error"]


@needs_root
def test_a_packet_other_than_ip_is_counted_and_dropped(path_file: Path, pair: list[str]) -> None:
    whole = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28, 0, 0, 64, 17, 0, b"\n\x4d\x00\x01", b"\n\x4d\x00\x02") + bytes(8)
    junk = [b"\x15" * 40, b"\x45" * 19, whole[:24], b"\x60" + bytes(38), b"\x45"]
    with emulate(path_file, ends(pair)) as emulation:
        inject(pair[0], [*junk, whole])
        there = settled(emulation, taken_packets=6)["directions"][0]
    assert there["taken_packets"] == 6
    assert (there["dropped_not_ip"], there["dropped_truncated"]) == (1, 4)
    # The last one is an IP packet to our links, and the kernel's business at the far end.
    assert there["delivered_packets"] + there["dropped_refused"] == 1


@needs_root
def test_ecn_marks_reach_the_receiver(path_file: Path, pair: list[str]) -> None:
    receiver = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
s.bind(("10.77.0.2", 9999))
s.settimeout(2)
print("ready", flush=True)
marked = total = 0
try:
    while True:
        _, control, _, _ = s.recvmsg(2000, 64)
        total += 1
        marked += control[0][2][0] & 3 == 3
except TimeoutError:
    print(total, marked)
"""
    sender = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
for _ in range(50):
    s.sendto(bytes(1000), ("10.77.0.2", 9999))
"""
    queue = '{ discipline = "step", limit = "100 packets", threshold = "5 packets" }'
    with emulate(path_file, ends(pair), sets={"links.1.queue": queue, "links.1.rate": "5 Mbit/s"}) as emulation:
        arguments = command(pair[1], [sys.executable, "-S", "-c", receiver])
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as listening:
            assert listening.stdout is not None
            listening.stdout.readline()
            inside(pair[0], sys.executable, "-S", "-c", sender)
            total, marked = map(int, listening.stdout.read().split())
        marks = emulation.statistics()["links"][1]["marked"]
    assert total == 50
    assert marked == marks > 10


@needs_root
@pytest.mark.parametrize("gone", ["namespace", "device"])
def test_what_is_deleted_ends_the_emulation(path_file: Path, pair: list[str], gone: str) -> None:
    delete = ["netns", "del", pair[1]] if gone == "namespace" else ["-n", pair[0], "link", "del", "lightlag0"]
    with emulate(path_file, ends(pair)) as one:
        subprocess.run(["ip", *delete], check=True)
        assert one.wait(60)
        with pytest.raises(OSError, match=r"lightlag0 in namespace .*: the device no longer exists"):
            one.stop()


@needs_root
def test_a_device_that_was_there_is_left_there(path_file: Path, pair: list[str]) -> None:
    subprocess.run(["ip", "-n", pair[0], "tuntap", "add", "kept", "mode", "tun"], check=True)
    a, b = ends(pair)
    with emulate(path_file, (Device("kept", pair[0], a.addresses), b)) as one:
        assert [entry["made"] for entry in one.about["devices"]] == [False, True]
        assert min(ping(pair[0], "10.77.0.2")) >= 50.0
    assert "kept" in devices_of(pair[0])
    assert "lightlag0" not in devices_of(pair[1])


@needs_root
def test_a_name_in_use_is_rejected_and_nothing_is_left(path_file: Path, pair: list[str]) -> None:
    a, b = ends(pair)
    # No TUN device; and one that is taken.
    with pytest.raises(OSError, match="the name is in use"), emulate(path_file, (a, Device("lo", pair[1]))):
        pass
    with emulate(path_file, (a, b)):
        others = (Device("other", pair[0]), b)
        with pytest.raises(OSError, match="the name is in use"), emulate(path_file, others):
            pass
        assert "other" not in devices_of(pair[0])
    assert "lightlag0" not in devices_of(pair[0])


def wait_for(what: str, namespace: str) -> None:
    for _ in range(600):
        if what in devices_of(namespace):
            return
        time.sleep(0.05)
    raise AssertionError(f"no {what} in {namespace}")


@needs_root
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_command_removes_what_it_made(path_file: Path, pair: list[str], number: signal.Signals) -> None:
    between = [f"ns:{name}" for name in pair]
    arguments = [sys.executable, "-m", "lightlag", "emulate", str(path_file), "--between", *between, "--json"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        wait_for("lightlag0", pair[1])
        assert min(ping(pair[0], "10.77.0.2", count=2)) >= 50.0
        os.kill(running.pid, number)
        out, complaint = running.communicate(timeout=60)
    for name in pair:
        assert "lightlag0" not in devices_of(name)
    if number is signal.SIGKILL:
        return
    assert running.returncode == 0, complaint
    summary: dict[str, Any] = json.loads(out)
    assert summary["directions"][0]["delivered_packets"] >= 2
    assert summary["scenario"] == "path"
    assert "made here and removed at the end" in complaint
    # The default has an IPv6 address, and these namespaces have no IPv6.
    assert "fd77::1 is not given to it: IPv6 is switched off there" in complaint


@needs_root
def test_a_duration_ends_it_with_a_report(lightlag: Lightlag, path_file: Path, pair: list[str]) -> None:
    done = lightlag("emulate", path_file, "--between", f"ns:{pair[0]}", f"ns:{pair[1]}", "--duration", "0.3 s")
    assert done.returncode == 0, done.stderr
    assert "client → server" in done.stdout
    assert "flows of the scenario are not run" in done.stderr


WRONG = {
    "no such scenario": (["no.toml", "--between", "a", "b"], "no such file"),
    "a radio medium": (["adhoc-chain", "--between", "llt-a", "llt-b"], 'medium "air" cannot carry real packets'),
    "one device twice": (["geo", "--between", "tun7", "tun7"], 'both devices are "tun7"; name two'),
    "a namespace without a name": (["geo", "--between", "ns:", "b"], "names no namespace"),
    "no such namespace": (["geo", "--between", "ns:llt-nowhere", "ns:llt-nothing"], "there is no network namespace"),
    "a name too long": (["geo", "--between", "a-name-of-16-char", "b"], "is not a valid name for a network device"),
    "an unknown node": (["geo", "--between", "a", "b", "--at", "client", "moon"], 'there is no node "moon"'),
    "one node twice": (["geo", "--between", "a", "b", "--at", "client", "client"], "name two nodes"),
    "a wrong address": (
        ["geo", "--between", "a", "b", "--address", "10.0.0.1", "10.0.0.2/8"],
        '--address "10.0.0.1": is not',
    ),
    "no address": (["geo", "--between", "a", "b", "--address", "x/8", "10.0.0.2/8"], "is not ADDRESS/PREFIX"),
    "a prefix too long": (["geo", "--between", "a", "b", "--address", "10.0.0.1/33", "10.0.0.2/8"], "at most 32 bits"),
    "a wrong duration": (["geo", "--between", "a", "b", "--duration", "soon"], "--duration"),
    "a wrong priority": (
        ["geo", "--between", "a", "b", "--priority", "best"],
        "is not a valid priority; use fifo, nice or normal",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_gets_one_line(lightlag: Lightlag, arguments: list[str], message: str) -> None:
    done = lightlag("emulate", *arguments)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert message in done.stderr


@needs_root
def test_without_privileges_it_reports_what_is_missing() -> None:
    code = f"""
import os, tomllib
from lightlag.emulation import Device, emulate
scenario = tomllib.loads({PATH!r})
os.setuid(65534)
try:
    with emulate(scenario, (Device("llt-a"), Device("llt-b"))):
        pass
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "needs root or the capabilities CAP_NET_ADMIN" in done.stdout, done.stderr


def test_devices_are_named_by_text() -> None:
    assert device("tunA") == Device("tunA")
    assert device("ns:left/tun3", ("10.0.0.1/8",)) == Device("tun3", "left", ("10.0.0.1/8",))
    with pytest.raises(InputError, match="write ns:NAME"):
        device("ns:")


def test_the_engine_reports_that_its_input_is_not_a_scenario() -> None:
    with pytest.raises(_engine.ScenarioError):
        _engine.emulate('{"devices": [{"name": "a"}, {"name": "b"}], "scenario": "{}", "seed": 1}')
