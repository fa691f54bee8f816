"""Simulated hosts between two devices: kernel and hosts in one network. Skipped where that needs root."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import Lightlag
from lightlag.emulation.emulator import Device, Emulation, emulate
from lightlag.emulation.hosts import parse_hosts
from lightlag.emulation.namespaces import allowed, command, namespaces
from lightlag.errors import InputError

REFUSED = allowed() or (None if shutil.which("iperf3") else "iperf3 is not installed")
real = pytest.mark.skipif(REFUSED is not None, reason=REFUSED or "")

STAR = """
name = "star"
duration = "60 s"
[[links]]
between = ["left", "router"]
rate = "100 Mbit/s"
delay = "1 ms"
[[links]]
between = ["client", "router"]
rate = "100 Mbit/s"
delay = "1 ms"
[[links]]
between = ["server", "router"]
rate = "100 Mbit/s"
delay = "1 ms"
[[links]]
between = ["router", "right"]
rate = "4 Mbit/s"
delay = "5 ms"
queue = "20 packets"
[[flows]]
from = "left"
to = "right"
"""

CLIENT = {"node": "client", "address": "10.77.0.3", "connect": "10.77.0.2:5202", "role": "iperf", "time": "4 s"}
SERVER = {"node": "server", "address": "10.77.0.4", "port": 5201, "role": "iperf"}


@pytest.fixture
def star(tmp_path: Path) -> Path:
    path = tmp_path / "star.toml"
    path.write_text(STAR)
    return path


@pytest.fixture
def pair() -> Iterator[list[str]]:
    quiet = {"net.ipv6.conf.all.disable_ipv6": 1, "net.ipv6.conf.default.disable_ipv6": 1}
    with namespaces("llh", settings=quiet) as made:
        yield made


def ends(pair: list[str]) -> tuple[Device, Device]:
    return Device("lightlag0", pair[0], ("10.77.0.1/24",)), Device("lightlag0", pair[1], ("10.77.0.2/24",))


@contextmanager
def iperf3_server(namespace: str, port: int) -> Iterator[subprocess.Popen[str]]:
    """An iperf3 server that accepts one test; killed at the end if it still runs."""
    line = command(namespace, ["iperf3", "--server", "--one-off", "--forceflush", "--port", str(port)])
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            while "listening" not in (text := process.stdout.readline()):
                assert text, "iperf3 has ended"
            yield process
        finally:
            process.kill()


def iperf3(namespace: str, *arguments: str) -> subprocess.Popen[str]:
    line = command(namespace, ["iperf3", "--json", *arguments])
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def received(process: subprocess.Popen[str]) -> int:
    """Returns the number of bytes that the receiver of a test got, when the test has ended."""
    report = json.loads(process.communicate()[0])
    assert "error" not in report, report["error"]
    return int(report["end"]["sum_received"]["bytes"])


def closed(emulation: Emulation, count: int) -> list[dict[str, Any]]:
    """Returns the reports of the next connections of simulated hosts that end."""
    reports: list[dict[str, Any]] = []
    while len(reports) < count:
        assert not emulation.wait(0.05)
        reports += [event for event in emulation.events() if event["event"] == "closed"]
    return reports


def link(statistics: dict[str, Any], name: str) -> dict[str, Any]:
    return next(link for link in statistics["links"] if link["name"] == name)


@real
def test_hosts_and_kernels_share_the_queues_of_one_link_in_both_directions(star: Path, pair: list[str]) -> None:
    left, right = pair
    with ExitStack() as stack:
        for port in (5201, 5202):
            stack.enter_context(iperf3_server(right, port))
        emulation = stack.enter_context(emulate(star, ends(pair), hosts=[CLIENT, SERVER]))
        # Forward: the simulated client and the left kernel. Backward: the right kernel, to the simulated server.
        forward = iperf3(left, "--client", "10.77.0.2", "--time", "4")
        backward = iperf3(right, "--client", "10.77.0.4", "--time", "4")
        of_kernel, to_server = received(forward), received(backward)
        reports = closed(emulation, 2)
        statistics = emulation.statistics()
    client = next(report for report in reports if report["local"].startswith("10.77.0.3"))
    of_client = client["bytes_acknowledged"]
    # How much each gets depends on the load of the machine; together they cannot get more than the link carries.
    assert min(of_client, of_kernel, to_server) > 100_000
    capacity = 4e6 / 8 * statistics["elapsed_s"]
    assert of_client + of_kernel < capacity
    assert to_server < capacity
    assert all(link(statistics, name)["dropped_queue"] > 0 for name in ("router->right", "right->router"))
    assert len(statistics["directions"]) == 4
    # All packets of the left device and of both hosts are for the right one.
    into_router = [link(statistics, f"{node}->router")["delivered"] for node in ("left", "client", "server")]
    assert link(statistics, "router->right")["offered"] == sum(into_router)
    assert min(into_router) > 100
    assert statistics["host_counters"]["not_for_us"] == 0


@real
def test_a_host_serves_both_kernels_and_another_host(star: Path, pair: list[str]) -> None:
    server = {"node": "server", "address": "10.77.0.4", "port": 80, "role": "echo"}
    client = {"node": "client", "address": "10.77.0.3", "connect": "10.77.0.4:80", "role": "send", "send": "100 kB"}
    code = """
import socket, sys
with socket.create_connection(("10.77.0.4", 80)) as one:
    one.sendall(sys.argv[1].encode())
    one.shutdown(socket.SHUT_WR)
    print(one.makefile().read())
"""
    with emulate(star, ends(pair), hosts=[client, server]) as emulation:
        for name in pair:
            line = command(name, ["python3", "-S", "-c", code, name])
            assert subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip() == name
        reports = closed(emulation, 4)
    remotes = sorted(report["remote"].rpartition(":")[0] for report in reports)
    assert remotes == ["10.77.0.1", "10.77.0.2", "10.77.0.3", "10.77.0.4"]
    assert [report["bytes_in"] for report in reports if report["remote"].startswith("10.77.0.3")] == [100_000]


@real
def test_a_client_starts_at_its_time(star: Path, pair: list[str]) -> None:
    client = {**CLIENT, "connect": "10.77.0.2:81", "start": "300 ms"}
    with emulate(star, ends(pair), hosts=[client]) as emulation:
        # No server listens there, which ends the emulation.
        assert emulation.wait(60)
        statistics = emulation.statistics()
        with pytest.raises(OSError, match=r"10\.77\.0\.2:81: the peer refused the connection"):
            emulation.stop()
    assert statistics["elapsed_s"] > 0.3


@real
def test_devices_of_this_namespace_that_have_addresses_need_no_option(star: Path, pair: list[str]) -> None:
    def ip(*arguments: str) -> None:
        subprocess.run(["ip", "-n", pair[0], *arguments], check=True)

    # Both devices in one namespace: only hosts join its two networks.
    for name, address in (("tunA", "10.1.0.1/24"), ("tunB", "10.2.0.1/24")):
        ip("tuntap", "add", name, "mode", "tun")
        ip("addr", "add", address, "dev", name)
    server = {"node": "server", "address": "10.2.0.4", "port": 80, "role": "send", "send": "10 kB"}
    devices = Device("tunA", pair[0]), Device("tunB", pair[0])
    read = "import socket; print(len(socket.create_connection(('10.2.0.4', 80)).makefile('rb').read()))"
    with emulate(star, devices, hosts=[server]) as emulation:
        done = subprocess.run(
            command(pair[0], ["python3", "-S", "-c", read]), capture_output=True, text=True, check=True
        )
        sources = emulation.statistics()["directions"]
        closed(emulation, 1)
    assert done.stdout == "10000\n"
    # The kernel calls from 10.2.0.1, which is on the second device; the answers come back there.
    assert sources[0]["taken_packets"] == 0


@real
def test_hosts_need_an_address_on_each_device(lightlag: Lightlag, star: Path, pair: list[str]) -> None:
    (star.parent / "hosts.toml").write_text(text_of(CLIENT))
    between = [f"ns:{pair[0]}", f"ns:{pair[1]}"]
    done = lightlag("emulate", star, "--between", *between, "--address", "10.77.0.1/24", "", "--hosts", "hosts.toml")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"error: lightlag0 in namespace {pair[1]}: has no address")
    assert "--address" in done.stderr


@real
def test_the_command_prints_the_events_of_hosts_and_their_counters(
    lightlag: Lightlag, star: Path, pair: list[str]
) -> None:
    server = {"node": "server", "address": "10.77.0.4", "port": 80}
    client = {"node": "client", "address": "10.77.0.3", "connect": "10.77.0.4:80", "send": "100 kB"}
    (star.parent / "hosts.toml").write_text(text_of(server) + text_of(client))
    between = [f"ns:{pair[0]}", f"ns:{pair[1]}", "--address", "10.77.0.1/24", "10.77.0.2/24"]
    options = ["--between", *between, "--hosts", "hosts.toml", "--duration", "1 s"]
    done = lightlag("emulate", star, *options, "--json")
    assert done.returncode == 0, done.stderr
    *events, last = (json.loads(line) for line in done.stdout.splitlines())
    assert sorted(event["event"] for event in events) == ["closed"] * 2 + ["opened"] * 2 + ["ready"] * 2
    assert (last["event"], last["host_counters"]["connections"]) == ("ended", 2)
    assert [host["node"] for host in last["hosts"]] == ["server", "client"]
    assert "10.77.0.4: simulated host at node server" in done.stderr
    table = lightlag("emulate", star, *options)
    assert table.returncode == 0, table.stderr
    assert "10.77.0.4:80 to 10.77.0.3:" in table.stdout
    assert "received 100,000 bytes" in table.stdout
    assert "router->right" in table.stdout


def text_of(host: dict[str, Any]) -> str:
    """Returns a host as text for a scenario file."""
    return "[[hosts]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in host.items())


WRONG = {
    "a node that is not there": ({"node": "x"}, 'hosts[1].node: there is no node "x" in the scenario; there are left'),
    "the node of the first device": ({"node": "left"}, 'hosts[1].node: "left" is the node of a device'),
    "the node of the second device": ({"node": "right"}, 'hosts[1].node: "right" is the node of a device'),
    "the node of another host": ({"node": "client"}, 'hosts[1].node: "client" already has a host'),
    "the address of another host": (
        {"address": "10.77.0.3"},
        "hosts[1].address 10.77.0.3: another host has it",
    ),
    "the address of a device": ({"address": "10.77.0.2"}, "hosts[1].address is the same address"),
    "an address in no network": ({"address": "10.8.0.2"}, "hosts[1].address 10.8.0.2 is outside those networks"),
    "no address": ({"address": "here"}, 'hosts[1].address "here": is not an IP address'),
    "port 0": ({"port": 0}, "hosts[1].port: 0 is not a port; give 1 to 65535"),
    "a port too large": ({"port": 65536}, "hosts[1].port: 65536 is not a port; give 1 to 65535"),
    "a port that is text": ({"port": "80"}, "hosts[1].port: "),
    "a start of a server": ({"start": "1 s"}, "hosts[1].start: a host that listens does so from the start"),
    "an unknown key": ({"prot": 80}, "hosts[1].prot: unknown field"),
    "an unknown role": ({"role": "ftp"}, "hosts[1].role: unknown variant `ftp`"),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_host_is_named_in_one_line(
    lightlag: Lightlag, star: Path, changes: dict[str, Any], message: str
) -> None:
    (star.parent / "hosts.toml").write_text(text_of(CLIENT) + text_of(SERVER | changes))
    done = lightlag("emulate", star, "--between", "ns:llh-a", "ns:llh-b", "--hosts", "hosts.toml")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("text", ["", "hosts = 1", "hosts = []", "[[host]]", "[hosts", "a" * 10, "x = " + "[" * 5000])
def test_a_text_without_hosts_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match=r"^f\.toml: "):
        parse_hosts(text, "f.toml")
