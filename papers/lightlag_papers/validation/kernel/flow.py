"""One flow of the kernel's TCP, both endpoints in one process.

``flow.py LEFT RIGHT ADDRESS PORT CONGESTION bytes N SIZE EVERY`` sends N bytes and closes; ``... seconds S
...`` sends until the time is over. The application has SIZE bytes more every EVERY seconds, starting at the call of
connect(); with a SIZE of 0 it has all data immediately. The sender is in the network namespace LEFT, the receiver in
RIGHT. The program prints "ready", waits for a line on its standard input and starts the flow. At the end it prints
one JSON object: bytes that were read, seconds from the call of connect() to the last of them (or S), and what the
kernel has counted in LEFT by then: retransmitted segments, SYNs among them, and expirations of the retransmission
timer.
It needs nothing but Python.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import socket
import struct
import sys
import time

NEW_NETWORK = 0x4000_0000
"""The flag CLONE_NEWNET of setns(2)."""

NAMES = {("snmp", "Tcp"): ("RetransSegs",), ("netstat", "TcpExt"): ("TCPTimeouts", "TCPSynRetrans")}
"""Counters that are read, by file in /proc/net and group."""

CHUNK = 1 << 20


def enter(namespace: str) -> None:
    """Moves the calling thread to another network namespace; its existing sockets stay in the old one."""
    libc = ctypes.CDLL(None, use_errno=True)
    place = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(place, NEW_NETWORK) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{namespace}: {os.strerror(number)}")
    finally:
        os.close(place)


def counted() -> dict[str, int]:
    """Returns the counters of the calling thread's namespace."""
    found: dict[str, int] = {}
    for file in ("snmp", "netstat"):
        with open(f"/proc/thread-self/net/{file}") as opened:  # noqa: PTH123
            lines = opened.read().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            group, _, rest = names.partition(": ")
            row = dict(zip(rest.split(), values.partition(": ")[2].split(), strict=True))
            found.update((name, int(row[name])) for name in NAMES.get((file, group), ()))
    return found


def run(
    left: str,
    right: str,
    address: str,
    port: int,
    congestion: str,
    size: int | None,
    seconds: float | None,
    write: int,
    every: float,
) -> dict[str, float]:
    """Runs a flow and returns its results; exactly one of `size` and `seconds` must be given."""
    enter(right)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(1)
    enter(left)
    sender = socket.socket()
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    sender.setblocking(False)
    chunk, buffer = memoryview(bytes(CHUNK)), bytearray(CHUNK)
    receiver: socket.socket | None = None
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    poll.register(sender, select.POLLOUT)
    waits_for_room, sent, total = True, 0, 0
    start = time.monotonic()
    end = None if seconds is None else start + seconds
    with contextlib.suppress(BlockingIOError):
        sender.connect((address, port))
    while True:
        now = time.monotonic()
        writes = int((now - start) / every) + 1 if write else 0
        written = min(write * writes, sys.maxsize if size is None else size) if write else size
        if not waits_for_room and sent != size and (written is None or sent < written):
            poll.register(sender, select.POLLOUT)
            waits_for_room = True
        until = [] if end is None else [end]
        if write and written != size:
            until.append(start + writes * every)
        for file, _ in poll.poll(1e3 * max(0.0, min(until) - now) if until else None):
            if file == sender.fileno():
                if error := sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    raise OSError(error, os.strerror(error))
                with contextlib.suppress(BlockingIOError):
                    sent += sender.send(chunk if written is None else chunk[: written - sent])
                if sent == written:
                    poll.unregister(sender)
                    waits_for_room = False
                if sent == size:
                    # As in the simulation, the end of the stream follows its last byte immediately.
                    sender.shutdown(socket.SHUT_WR)
            elif receiver is None:
                receiver, _ = listener.accept()
                receiver.setblocking(False)
                poll.unregister(listener)
                poll.register(receiver, select.POLLIN)
            else:
                got = receiver.recv_into(buffer)
                total += got
                if got == 0 and total != size:
                    raise OSError(f"the connection ended after {total} bytes")
        now = time.monotonic()
        if total == size or (end is not None and now >= end):
            elapsed = now - start if seconds is None else seconds
            found = {"bytes": total, "elapsed_s": elapsed, **counted()}
            # Data that never left would outlive the process, and fill the memory that all connections share.
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sender.close()
            return found


def main() -> None:
    """Runs the flow that the arguments describe, with real-time priority if permitted."""
    left, right, address, port, congestion, kind, amount, write, every = sys.argv[1:]
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    size, seconds = (int(amount), None) if kind == "bytes" else (None, float(amount))
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(run(left, right, address, int(port), congestion, size, seconds, int(write), float(every))))


if __name__ == "__main__":
    main()
