"""A real download between two network namespaces, over the path that lightlag emulates."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from interop_quic.cells import SIZES, Cell
from lightlag.emulation import Device, emulate
from lightlag.emulation.namespaces import command, namespaces

SERVER, CLIENT, PORT = "10.77.0.1", "10.77.0.2", 4433

PATIENCE = 90
"""Timeout of a download in seconds of real time: the slowest takes about 30."""

PRIORITY = ("nice", "-n", "-10")
"""Command that lets the stacks run before other programs of a busy machine."""

AIOQUIC_PEER = Path(__file__).with_name("aioquic_peer.py")


class DownloadError(Exception):
    """Raised if a download fails."""


@dataclass(frozen=True)
class Programs:
    """The built stacks, and the directory of the certificate with its size in bytes."""

    quinn: Path
    python: Path
    directory: Path
    certificate: int

    def peer(self, stack: str) -> list[str]:
        """Returns the command of a stack."""
        return [str(self.quinn)] if stack == "quinn" else [str(self.python), "-I", str(AIOQUIC_PEER)]


@dataclass(frozen=True)
class Moment:
    """An event of a download: its time since the start of the client, and the time that client and server computed or
    waited for a processor until then, in seconds.
    """

    seconds: float
    client: float
    server: float


@dataclass(frozen=True)
class Download:
    """Events of a download, and what disturbed it."""

    handshake: Moment
    first_byte: Moment
    done: Moment
    dropped: int
    """Packets that a full queue of the path dropped."""
    late: float
    """99th percentile of the lateness of the emulation in ms."""
    overflowed: int
    """Datagrams that did not fit in the receive buffer of a socket."""


class Processes:
    """The processes of all downloads, so that none remains when the program is interrupted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    @contextmanager
    def start(self, arguments: list[str]) -> Iterator[subprocess.Popen[str]]:
        """Runs a process during the block, and ends it with the block or after the timeout."""
        with self._lock:
            if self._stopped:
                raise DownloadError("interrupted")
            process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self._running.add(process)
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.start()
        try:
            yield process
        finally:
            watchdog.cancel()
            process.kill()
            process.communicate()
            with self._lock:
                self._running.discard(process)

    def stop(self) -> None:
        """Ends all processes, and starts no others."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.kill()


def end_on_signals() -> None:
    """Makes SIGTERM and SIGHUP end the program as Ctrl-C does, so that the namespaces are removed."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def download(cell: Cell, seed: int, programs: Programs, processes: Processes) -> Download:
    """Runs a download.

    Raises
    ------
    DownloadError
        If a program fails or hangs, or if bytes are missing.
    """
    scenario = cell.scenario(seed, programs.certificate)
    with namespaces("lq") as (left, right):
        between = (Device("lq0", left, (f"{SERVER}/24",)), Device("lq0", right, (f"{CLIENT}/24",)))
        with emulate(scenario, between) as emulation:
            events = _play(cell, programs, processes, (left, right))
            path = emulation.statistics()
        overflowed = _overflowed(left) + _overflowed(right)
    return Download(**events, dropped=_dropped(path), late=_lateness(path), overflowed=overflowed)


def _play(cell: Cell, programs: Programs, processes: Processes, inside: tuple[str, str]) -> dict[str, Moment]:
    peer, place = [*PRIORITY, *programs.peer(cell.stack)], [f"{SERVER}:{PORT}", str(programs.directory)]
    size = SIZES[cell.size]
    window = [] if cell.window is None else [str(cell.window)]
    with processes.start(command(inside[0], [*peer, "server", *place, *window])) as server:
        _line(server, "ready")
        with processes.start(command(inside[1], [*peer, "client", *place, str(size), *window])) as client:
            _line(client, "starts")
            before = [_processor(end) for end in (client, server)]
            events = {}
            for event in ("handshake", "first_byte", "done"):
                line = _line(client, event)
                work = [_processor(end) - start for end, start in zip((client, server), before, strict=True)]
                events[event] = Moment(line["seconds"], *work)
    if line["bytes"] != size:
        raise DownloadError(f"{line['bytes']} of {size} bytes")
    return events


def _processor(process: subprocess.Popen[str]) -> float:
    """Returns the seconds that the main thread of a process has computed or has waited for a processor (proc(5))."""
    computed, waited, _ = Path(f"/proc/{process.pid}/schedstat").read_text().split()
    return 1e-9 * (int(computed) + int(waited))


def _line(process: subprocess.Popen[str], event: str) -> dict[str, Any]:
    """Returns the next line of a peer, which must have this event."""
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        _, errors = process.communicate()
        raise DownloadError(f"no {event}: {errors.strip()[-300:] or f'exit status {process.returncode}'}")
    values: dict[str, Any] = json.loads(line)
    if values["event"] != event:
        raise DownloadError(f"{line.strip()} instead of {event}")
    return values


def _overflowed(namespace: str) -> int:
    """Returns the number of datagrams in a namespace that full receive buffers have dropped."""
    text = subprocess.run(
        command(namespace, ["cat", "/proc/net/snmp"]), capture_output=True, text=True, check=True
    ).stdout
    names, values = (line.split() for line in text.splitlines() if line.startswith("Udp:"))
    return int(dict(zip(names, values, strict=True))["RcvbufErrors"])


def _dropped(path: dict[str, Any]) -> int:
    """Returns the number of packets that full queues have dropped."""
    return sum(int(link["dropped_queue"]) for link in path["links"])


def _lateness(path: dict[str, Any]) -> float:
    """Returns the 99th percentile of the lateness of the slower direction in ms."""
    return max(1e-3 * float(direction["lateness"]["p99_us"]) for direction in path["directions"])
