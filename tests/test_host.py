"""Our TCP as a host on a TUN device: real clients, clear errors, nothing left behind. Skipped where that needs root."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from interop import lab
from interop.cells import SHORT, Cell
from lightlag.commands import serve

WHY_NOT = lab.why_not()
real = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")

LIGHTLAG = [sys.executable, "-m", "lightlag"]
ADDRESSES = ["--address", lab.OURS, "--peer", f"{lab.KERNEL}/24"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*LIGHTLAG, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def inside() -> Iterator[str]:
    """A network namespace."""
    with lab.namespace(f"ho-test-{os.getpid()}") as name:
        yield name


@contextmanager
def server(namespace: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A server on port 80 that is ready; killed at the end if it still runs."""
    command = [
        *LIGHTLAG,
        "serve-tcp",
        "--namespace",
        namespace,
        "--tun",
        "ho-tun",
        *ADDRESSES,
        "--port",
        "80",
        "--json",
    ]
    process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        ready = process.stdout.readline()
        assert ready, process.communicate()[1]
        assert json.loads(ready)["event"] == "ready"
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def ended(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return [json.loads(line) for line in output.splitlines()]


def client(namespace: str, *command: str, data: bytes = b"") -> bytes:
    enter = ["ip", "netns", "exec", namespace]
    return subprocess.run([*enter, *command], input=data, capture_output=True, check=True).stdout


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


@real
@pytest.mark.parametrize("to_us", [True, False])
def test_the_kernel_and_our_tcp_exchange_the_same_bytes_over_a_lossy_path(to_us: bool) -> None:
    cell = Cell(to_us, "bbr", 0.001, we_listen=to_us, size=SHORT)
    report = lab.transfer(cell, 0)
    assert report["lost"] > 0


CALLS = """
import socket, sys
for _ in range(2):
    with socket.socket() as plain:
        plain.sendto(b"early" * 200, socket.MSG_FASTOPEN, (sys.argv[1], 80))
        plain.shutdown(socket.SHUT_WR)
        assert plain.recv(1) == b""
"""

ANSWERS = """
import socket
with socket.socket() as listener:
    listener.bind(("0.0.0.0", 81))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
    listener.listen(1)
    print("listens", flush=True)
    for _ in range(2):
        connection, _ = listener.accept()
        with connection:
            print(len(b"".join(iter(lambda: connection.recv(1 << 16), b""))), flush=True)
"""


def kernel_counter(namespace: str, name: str) -> int:
    """A counter of TCP in the namespace."""
    names, values = client(namespace, "grep", "^TcpExt", "/proc/net/netstat").decode().splitlines()
    return int(dict(zip(names.split(), values.split(), strict=True))[name])


@real
def test_the_kernel_sends_data_with_its_second_syn(inside: str) -> None:
    lab.configure(inside, {"tcp_fastopen": "1"})
    with server(inside, "--fast-open", "cookie", "--connections", "2") as process:
        client(inside, sys.executable, "-c", CALLS, lab.OURS)
        reports = [line for line in ended(process) if line["event"] == "closed"]
    assert [(report["bytes_in"], report["syn_data"]) for report in reports] == [(1000, False), (1000, True)]
    assert kernel_counter(inside, "TCPFastOpenActive") == 1


@real
def test_the_kernel_takes_data_with_our_second_syn(inside: str) -> None:
    lab.configure(inside, {"tcp_fastopen": "2"})
    enter = ["ip", "netns", "exec", inside, sys.executable, "-c", ANSWERS]
    with subprocess.Popen(enter, stdout=subprocess.PIPE, text=True) as listener:
        assert listener.stdout is not None
        assert listener.stdout.readline() == "listens\n"
        place = ["--namespace", inside, "--tun", "ho-tun", *ADDRESSES]
        done = run("connect", f"{lab.KERNEL}:81", *place, "--send", "1 kB", "--connections", "2", "--json",
                   "--fast-open", "cookie")  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert listener.stdout.read() == "1000\n1000\n"
    reports = [json.loads(line) for line in done.stdout.splitlines() if '"closed"' in line]
    assert [report["syn_data"] for report in reports] == [False, True]
    assert kernel_counter(inside, "TCPFastOpenPassive") == 1


@real
def test_curl_gets_a_file_and_nothing_else(inside: str) -> None:
    needs("curl")
    page = Path(__file__).parent.parent / "README.md"
    with server(inside, "--http", str(page.parent), "--connections", "2") as process:
        assert client(inside, "curl", "-s", f"http://{lab.OURS}/README.md") == page.read_bytes()
        assert client(inside, "curl", "-s", "--path-as-is", f"http://{lab.OURS}/../etc/passwd") == b"404 Not Found\n"
        assert ended(process)[-1]["connections"] == 2


@real
def test_an_echo_is_complete(inside: str) -> None:
    needs("nc")
    data = os.urandom(300_000)
    with server(inside, "--echo", "--connections", "1") as process:
        assert client(inside, "nc", "-N", lab.OURS, "80", data=data) == data
        report = next(line for line in ended(process) if line["event"] == "closed")
    expected = hashlib.sha256(data).hexdigest()
    assert (report["sha256_in"], report["sha256_out"], report["error"]) == (expected, expected, None)


@real
@pytest.mark.parametrize("way", [[], ["--reverse"], ["--bidir"], ["--parallel", "3"]])
def test_iperf3_measures_our_host(inside: str, way: list[str]) -> None:
    needs("iperf3")
    with server(inside, "--iperf", "--rate", "20 Mbit/s", "--delay", "5 ms") as process:
        command = ["iperf3", "--json", "--client", lab.OURS, "--port", "80", "--bytes", "1M", *way]
        result = json.loads(client(inside, *command))
        process.terminate()
        lines = ended(process)
    assert result["end"]["sum_received"]["bytes"] > 0
    assert lines[-1]["interrupted"]


@real
def test_a_reverse_test_ends_although_the_path_holds_a_deep_queue(inside: str) -> None:
    needs("iperf3")
    with server(inside, "--iperf", "--rate", "2 Mbit/s", "--delay", "50 ms", "--queue", "1000") as process:
        result = json.loads(client(inside, "iperf3", "--json", "--client", lab.OURS, "--port", "80", "-R", "-t", "2"))
        process.terminate()
        lines = ended(process)
    assert result["end"]["sum_sent"]["bytes"] >= result["end"]["sum_received"]["bytes"] > 0
    assert [line["error"] for line in lines if line["event"] == "closed"] in ([], [None])


@real
@pytest.mark.parametrize("way", [[], ["--reverse"]])
def test_our_host_measures_with_a_real_iperf3_server(inside: str, way: list[str]) -> None:
    needs("iperf3")
    with iperf3_server(inside, 5201) as real_server:
        place = ["--namespace", inside, "--tun", "ho-tun", *ADDRESSES, "--json"]
        options = ["--iperf", "--time", "1 s", "--rate", "20 Mbit/s", "--delay", "5 ms", *way]
        done = run("connect", f"{lab.KERNEL}:5201", *place, *options)
        assert done.returncode == 0, done.stderr
        assert real_server.wait() == 0
    report = next(json.loads(line) for line in done.stdout.splitlines() if '"closed"' in line)
    sent, other = ("bytes_in", "bytes_out") if way else ("bytes_out", "bytes_in")
    # 20 Mbit/s for 1 s, and the slow start.
    assert 500_000 < report[sent] < 6_000_000
    assert report["error"] is None
    assert report[other] <= 37


@contextmanager
def iperf3_server(namespace: str, port: int) -> Iterator[subprocess.Popen[str]]:
    """An iperf3 server in the namespace that accepts one test; killed at the end if it still runs."""
    command = ["iperf3", "--server", "--one-off", "--forceflush", "--port", str(port)]
    enter = ["ip", "netns", "exec", namespace]
    with subprocess.Popen([*enter, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            while "listening" not in (line := process.stdout.readline()):
                assert line, "iperf3 has ended"
            yield process
        finally:
            if process.poll() is None:
                process.kill()


STAR = """
duration = "60 s"
[[links]]
between = ["client", "router"]
rate = "100 Mbit/s"
delay = "1 ms"
[[links]]
between = ["server", "router"]
rate = "100 Mbit/s"
delay = "1 ms"
[[links]]
between = ["router", "external"]
rate = "4 Mbit/s"
delay = "5 ms"
queue = "20 packets"
[[flows]]
from = "external"
to = "server"
"""

CLIENT = """
[[hosts]]
node = "client"
address = "10.9.0.3"
connect = "10.9.0.1:5202"
role = "iperf"
time = "4 s"
"""

SERVER = """
[[hosts]]
node = "server"
address = "10.9.0.2"
port = 5201
role = "iperf"
"""


@contextmanager
def hosts(namespace: str, folder: Path, text: str) -> Iterator[subprocess.Popen[str]]:
    """Hosts around a router, ready; killed at the end if they still run."""
    (folder / "star.toml").write_text(STAR)
    (folder / "hosts.toml").write_text(text)
    files = ["--path", str(folder / "star.toml"), "--hosts", str(folder / "hosts.toml")]
    device = ["--namespace", namespace, "--tun", "ho-tun", "--peer", f"{lab.KERNEL}/24", "--seed", "1", "--json"]
    command = [*LIGHTLAG, "serve-tcp", *files, *device]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for _ in range(text.count("[[hosts]]")):
            ready = process.stdout.readline()
            assert ready, process.communicate()[1]
            assert json.loads(ready)["event"] == "ready"
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


@real
def test_a_client_and_a_server_share_a_router_and_its_queue_with_the_kernel(inside: str, tmp_path: Path) -> None:
    needs("iperf3")
    outward = ["iperf3", "--json", "--client", lab.OURS, "--reverse", "--time", "4"]
    with iperf3_server(inside, 5202), hosts(inside, tmp_path, CLIENT + SERVER) as process:
        # The client sends to the kernel, and so does the server, for the same 4 s.
        result = json.loads(client(inside, *outward))
        process.terminate()
        lines = ended(process)
    reports = [line for line in lines if line["event"] == "closed"]
    sent = next(report["bytes_acknowledged"] for report in reports if report["local"].startswith("10.9.0.3"))
    received = result["end"]["sum_received"]["bytes"]
    # Both cross 4 Mbit/s: alone, each would have nearly all of it.
    assert min(sent, received) > 100_000
    assert sent + received < 1.2 * 4e6 * 4.5 / 8
    assert lines[-1]["dropped_by_queue"] > 0


@real
def test_hosts_of_one_network_reach_each_other_and_the_kernel_in_both_directions(inside: str, tmp_path: Path) -> None:
    needs("iperf3")
    other = CLIENT.replace("10.9.0.1:5202", "10.9.0.2:5201").replace("4 s", "1 s")
    with hosts(inside, tmp_path, other + SERVER) as process:
        assert process.stdout is not None
        while json.loads(line := process.stdout.readline())["event"] != "closed":
            assert line
        # A path of 100 Mbit/s and 4 ms, without the slow link.
        assert json.loads(line)["bytes_out"] > 2_000_000
        both = json.loads(client(inside, "iperf3", "--json", "--client", lab.OURS, "--bidir", "--bytes", "200K"))
        process.terminate()
        ended(process)
    assert both["end"]["sum_received"]["bytes"] > 0
    assert both["end"]["sum_received_bidir_reverse"]["bytes"] > 0


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'node = "server"',
            'node = "x"',
            'hosts[1].node: there is no node "x" in the scenario; there are client, router',
        ),
        ('node = "server"', 'node = "client"', 'hosts[1].node: "client" already has a host'),
        ('node = "server"', 'node = "external"', 'hosts[1].node: "external" is the node of a device'),
        ('address = "10.9.0.2"', 'address = "10.9.0.3"', "hosts[1].address 10.9.0.3: another host has it already"),
        ('address = "10.9.0.2"', 'address = "10.8.0.2"', "hosts[1].address 10.8.0.2 is outside that network"),
        ('address = "10.9.0.2"', "", "hosts[1].address: is missing"),
        ("port = 5201", 'prot = "80"', "hosts[1].prot: unknown field `prot`"),
        ("port = 5201", "port = 0", "hosts[1].port: 0 is not a port; give 1 to 65535"),
        ("port = 5201", "", "hosts[1].port: is missing; give a port from 1 to 65535"),
        ("port = 5201", "port = 70000", "hosts[1].port: 70000 is not a port; give 1 to 65535"),
        ("10.9.0.1:5202", "10.9.0.1:0", "hosts[0].connect 10.9.0.1:0: 0 is not a port; give 1 to 65535"),
        ("port = 5201", 'port = 5201\nstart = "1 s"', "hosts[1].start: a host that listens does so from the start"),
        ("port = 5201", 'connect = "10.9.0.2:80"', "hosts[1].connect 10.9.0.2:80: is the address of this host itself"),
        ('role = "iperf"', 'role = "ftp"', "hosts[0].role: unknown variant `ftp`"),
        ("[[hosts]]", "[[host]]", '"host" is not a key; write [[hosts]]'),
        ("[[hosts]]", "[hosts", "hosts.toml: "),
    ],
)
def test_a_wrong_host_is_named_in_one_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    (tmp_path / "star.toml").write_text(STAR)
    (tmp_path / "hosts.toml").write_text((CLIENT + SERVER).replace(old, new))
    files = ["--path", str(tmp_path / "star.toml"), "--hosts", str(tmp_path / "hosts.toml")]
    done = run("serve-tcp", *files, "--peer", f"{lab.KERNEL}/24")
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("error: ")
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--hosts", "hosts.toml"], "--path"),
        (["--hosts", "hosts.toml", "--path", "star.toml", "--port", "80"], "remove --address, --port"),
        (["--path", "star.toml", "--port", "80"], "--address: is missing"),
        (["--address", "10.9.0.2"], "--port: is missing"),
        (["--address", "10.9.0.2", "--port", "80", "--path", "star.toml", "--at", "x"], '--at: there is no node "x"'),
        (["--hosts", "nothing.toml", "--path", "star.toml"], "nothing.toml"),
    ],
)
def test_options_of_several_hosts_that_do_not_fit_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("star.toml").write_text(STAR)
    Path("hosts.toml").write_text(CLIENT + SERVER)
    done = run("serve-tcp", *arguments)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("error: ")
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1


@real
def test_a_scenario_lies_between_client_and_host(inside: str, pair_file: Path) -> None:
    needs("nc")
    with server(inside, "--sink", "--connections", "1", "--path", str(pair_file), "--seed", "5") as process:
        client(inside, "nc", "-N", lab.OURS, "80", data=bytes(500_000))
        report = next(line for line in ended(process) if line["event"] == "closed")
    # 5 Mbit/s and twice 20 ms.
    assert report["bytes_in"] == 500_000
    assert report["seconds"] > 0.8
    assert report["min_rtt"] >= 0.04


FULL = """
import socket, sys, threading
address = (sys.argv[1], 80)
first, *others = [socket.create_connection(address) for _ in range(3)]
print("full", flush=True)
late = threading.Thread(target=lambda: others.append(socket.create_connection(address)))
late.start()
sys.stdin.readline()
first.close()
late.join()
print(len(others), flush=True)
"""


@real
def test_a_full_server_takes_the_next_client_when_one_leaves(inside: str) -> None:
    enter = ["ip", "netns", "exec", inside, sys.executable, "-c", FULL, lab.OURS]
    with server(inside, "--sink", "--max-connections", "3") as process:
        assert process.stdout is not None
        with subprocess.Popen(enter, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as clients:
            assert clients.stdin is not None
            assert clients.stdout is not None
            assert clients.stdout.readline() == "full\n"
            # The kernel sends the SYN of the fourth again after a second: one was dropped.
            while kernel_counter(inside, "TCPSynRetrans") == 0:
                assert clients.poll() is None
            clients.stdin.write("\n")
            clients.stdin.flush()
            assert clients.stdout.readline() == "3\n"
        process.terminate()
        lines = ended(process)
    assert [line["event"] for line in lines].count("opened") == 4
    assert lines[-1]["refused_syns"] >= 1
    assert lines[-1]["evicted"] == 0


STALLS = """
import socket, sys
with socket.create_connection((sys.argv[1], 80)) as one:
    print("reads nothing", flush=True)
    sys.stdin.readline()
    try:
        while one.recv(1 << 16):
            pass
    except ConnectionResetError:
        print("reset", flush=True)
"""


@real
def test_a_client_that_keeps_its_window_closed_is_reset(inside: str) -> None:
    enter = ["ip", "netns", "exec", inside, sys.executable, "-c", STALLS, lab.OURS]
    with (
        server(inside, "--send", "1 GB", "--connections", "1", "--stall-timeout", "1 s") as process,
        subprocess.Popen(enter, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stalled,
    ):
        assert stalled.stdout is not None
        assert stalled.stdout.readline() == "reads nothing\n"
        lines = ended(process)
        assert stalled.communicate("\n")[0] == "reset\n"
    assert lines[-2]["error"] == "the peer kept its window closed for too long"
    assert lines[-1]["evicted"] == 1


@real
def test_sigterm_resets_who_is_connected_and_removes_the_device(inside: str) -> None:
    needs("nc")
    enter = ["ip", "netns", "exec", inside]
    with server(inside, "--echo") as process:
        peer = subprocess.Popen([*enter, "nc", lab.OURS, "80"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "opened"
        process.send_signal(signal.SIGTERM)
        assert ended(process)[-1]["interrupted"]
        peer.communicate()
    assert b"ho-tun" not in client(inside, "ip", "link")


@real
def test_a_device_that_vanishes_ends_the_host_with_one_line(inside: str) -> None:
    with server(inside, "--sink") as process:
        client(inside, "ip", "link", "del", "ho-tun")
        _, errors = process.communicate()
    assert process.returncode == 1
    assert errors.startswith("error: ho-tun in namespace")
    assert "the device no longer exists" in errors


@real
def test_a_device_in_use_and_a_port_without_listener_are_named(inside: str) -> None:
    place = ["--namespace", inside, "--tun", "ho-tun", *ADDRESSES]
    with server(inside, "--sink"):
        second = run("serve-tcp", *place, "--port", "81")
    assert second.returncode == 1
    assert "in use" in second.stderr
    refused = run("connect", f"{lab.KERNEL}:81", *place)
    assert refused.returncode == 1
    assert refused.stderr == f"error: {lab.KERNEL}:81: the peer refused the connection\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--address", "10.9.0"], '--address "10.9.0": is not an IP address'),
        (["--address", "10.9.0.2", "--peer", "10.8.0.1/24"], "is outside that network"),
        (["--address", "10.9.0.2", "--sink", "--echo"], "use one of them"),
        (["--address", "10.9.0.2", "--set", "sack"], "is not KEY=VALUE"),
        (["--address", "10.9.0.2", "--set", "mss=1 B"], "--set mss"),
        (["--address", "10.9.0.2", "-c", "nonsense"], "nonsense"),
        (["--address", "10.9.0.2", "--file", "/nowhere"], "--file /nowhere"),
        (["--address", "10.9.0.2", "--send", "many"], "many"),
        (["--address", "10.9.0.2", "--loss", "2"], "loss"),
        (["--address", "10.9.0.2", "--max-memory", "1 MB"], "--max-memory 1 MB: is below 16 MB"),
        (["--address", "10.9.0.2", "--stall-timeout", "0 s"], "--stall-timeout 0 s: is not above 0 s"),
        (["--address", "10.9.0.2", "--priority", "high"], "is not a valid priority; use fifo, nice or normal"),
        (["--address", "10.9.0.2", "--path", "geo", "--loss", "0.1"], "remove those options"),
        (["--address", "10.9.0.2", "--tun", "a/b"], "is not a valid name for a network device"),
    ],
)
def test_bad_input_gets_one_line(arguments: list[str], expected: str) -> None:
    done = run("serve-tcp", "--port", "80", *arguments)
    assert done.returncode in (1, 2), done.stdout
    assert done.stderr.startswith("error: ")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("given", "used"), [(None, 1), (0, 0), (7, 7)])
def test_the_seed_of_a_path_is_the_one_given(given: int | None, used: int) -> None:
    path = serve._path(None, given, "1 Mbit/s", None, None, None)
    assert path is not None
    assert json.loads(path)["seed"] == used
