"""A network namespace with a TUN device: on one side the kernel, on the other our TCP over a simulated path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from interop.cells import Cell

OURS, KERNEL, PORT = "10.9.0.2", "10.9.0.1", 5001

PEER = Path(__file__).with_name("peer.py")

# Timeout of a transfer in seconds of real time: the slowest takes about 30.
PATIENCE = 300

# A stall is longer than three retransmission timeouts (RFC 6298) in a row, with their back-off; this is the allowance.
STALL_TIMEOUTS = 3
LEAST_TIMEOUT = 0.2


def why_not() -> str | None:
    """Returns the reason why the kernel's TCP cannot be tested on this machine; None if it can."""
    if os.geteuid() != 0:
        return "network namespaces and TUN devices need root"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun: load the module with `modprobe tun`, or give the device to the container"
    try:
        with namespace(f"ho-probe-{os.getpid()}"):
            return None
    except (OSError, subprocess.CalledProcessError) as error:
        stderr = getattr(error, "stderr", None)
        return f"network namespaces are not allowed here: {(stderr or str(error)).strip()}"


@contextmanager
def namespace(name: str) -> Iterator[str]:
    """A network namespace, which is removed at the end, also after an error."""
    _call("ip", "netns", "add", name)
    try:
        _call("ip", "-n", name, "link", "set", "lo", "up")
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def _call(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


def configure(name: str, settings: dict[str, str]) -> None:
    """Sets net.ipv4.* of the kernel inside the namespace."""
    for key, value in settings.items():
        _call("ip", "netns", "exec", name, "sh", "-c", f"echo {value} > /proc/sys/net/ipv4/{key}")


class TransferError(Exception):
    """Raised if a transfer fails."""


def transfer(cell: Cell, number: int) -> dict[str, Any]:
    """Runs one cell. Returns its report, or raises :class:`TransferError`."""
    with namespace(f"ho-{os.getpid()}-{number}") as name:
        configure(name, cell.kernel_settings())
        return _checked(cell, _run(cell, name))


def _run(cell: Cell, name: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    inside = ["ip", "netns", "exec", name, sys.executable, str(PEER)]
    action = "send" if cell.to_us else "receive"
    peer_options = [*cell.peer_options(), "--congestion", cell.kernel_congestion]
    common = ["--json", "--tun", "ho-tun", "--namespace", name, "--address", OURS, "--peer", f"{KERNEL}/24"]
    common += ["--seed", str(1 + number_of(cell)), *cell.our_options()]
    lightlag = [sys.executable, "-m", "lightlag"]
    started: list[subprocess.Popen[str]] = []

    def start(command: list[str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process

    try:
        if cell.we_listen:
            ours = start([*lightlag, "serve-tcp", "--port", str(PORT), "--connections", "1", *common])
            _expect(ours, "ready")
            peer = start([*inside, action, "connect", OURS, str(PORT), *peer_options])
        else:
            peer = start([*inside, action, "listen", str(PORT), *peer_options])
            _expect(peer, "listens")
            ours = start([*lightlag, "connect", f"{KERNEL}:{PORT}", *common])
        their_lines = _finished(peer, "the kernel's side")
        our_lines = _finished(ours, "our side")
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
            process.communicate()
    closed = [line for line in our_lines if line["event"] == "closed"]
    if len(closed) != 1:
        raise TransferError(f"{len(closed)} connections instead of one")
    return closed[0], our_lines[-1], their_lines[-1]


def number_of(cell: Cell) -> int:
    """Returns the seed of a cell's random losses. It depends only on the cell's name."""
    return sum(ord(letter) * (at + 1) for at, letter in enumerate(cell.name())) % 10_000


def _expect(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    if word not in line:
        process.kill()
        _, errors = process.communicate()
        raise TransferError(f"{line.strip() or 'nothing'} instead of {word!r}: {errors.strip()[-300:]}")


def _finished(process: subprocess.Popen[str], whose: str) -> list[dict[str, Any]]:
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        raise TransferError(f"{whose} hangs: {output[-300:]}") from None
    if process.returncode != 0:
        raise TransferError(f"{whose}: {errors.strip()[-300:] or 'exit status'} ({process.returncode})")
    return [json.loads(line) for line in output.splitlines()]


def _checked(cell: Cell, outcome: tuple[dict[str, Any], dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    report, counters, peer = outcome
    way = "in" if cell.to_us else "out"
    if report["error"]:
        raise TransferError(report["error"])
    if (report[f"bytes_{way}"], peer["bytes"]) != (cell.size, cell.size):
        raise TransferError(f"{report[f'bytes_{way}']} and {peer['bytes']} of {cell.size} bytes")
    if report[f"sha256_{way}"] != peer["sha256"]:
        raise TransferError("the bytes differ")
    if counters["resets"] or counters["bad_packets"] or counters["refused_by_device"]:
        raise TransferError(f"resets or bad packets: {counters}")
    for key, expected in cell.agreed().items():
        if report[key] != expected:
            raise TransferError(f"{key} is {report[key]}, not {expected}")
    if cell.mss is not None and max(report["snd_mss"], report["rcv_mss"]) > cell.mss:
        raise TransferError(f"segments of {report['snd_mss']} and {report['rcv_mss']} bytes")
    # The sender's value.
    timeout = peer["rto"] if cell.to_us else report["rto_at_stall"]
    limit = STALL_TIMEOUTS * max(timeout, LEAST_TIMEOUT)
    if report["longest_stall"] > limit:
        raise TransferError(f"a stall of {report['longest_stall']:.2f} s, more than three timeouts ({limit:.2f} s)")
    rate = 8e-6 * cell.size / report["seconds"]
    return report | {"rate": rate, "lost": counters["lost_on_path"], "dropped": counters["dropped_by_queue"]}
