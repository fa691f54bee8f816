"""One flow of the kernel's TCP, both ends in one process.

``flow.py LEFT RIGHT ADDRESS PORT CONGESTION bytes N`` sends so many bytes and closes; ``... seconds S`` sends until the
time is over. The sender is in the network namespace LEFT, the receiver in RIGHT. It prints one JSON object: bytes that
were read, seconds from the call of connect() to the last of them (or S), and what the kernel has counted in LEFT by
then: segments sent again and expirations of the retransmission timer. It needs nothing but Python.
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
"""CLONE_NEWNET of setns(2)."""

NAMES = {("snmp", "Tcp"): ("RetransSegs",), ("netstat", "TcpExt"): ("TCPTimeouts",)}
"""Files of /proc/net with their groups, and the counters that are read."""

CHUNK = 1 << 20


def enter(namespace: str) -> None:
    """The calling thread goes on in another network namespace; its sockets stay where they were made."""
    libc = ctypes.CDLL(None, use_errno=True)
    place = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(place, NEW_NETWORK) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{namespace}: {os.strerror(number)}")
    finally:
        os.close(place)


def counted() -> dict[str, int]:
    """The counters of the namespace that the calling thread is in."""
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
    left: str, right: str, address: str, port: int, congestion: str, size: int | None, seconds: float | None
) -> dict[str, float]:
    """The flow; exactly one of `size` and `seconds` is given."""
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
    left_to_send, total = size, 0
    start = time.monotonic()
    end = None if seconds is None else start + seconds
    with contextlib.suppress(BlockingIOError):
        sender.connect((address, port))
    while True:
        wait = None if end is None else max(0.0, end - time.monotonic())
        for file, _ in poll.poll(None if wait is None else 1e3 * wait):
            if file == sender.fileno():
                if error := sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    raise OSError(error, os.strerror(error))
                with contextlib.suppress(BlockingIOError):
                    sent = sender.send(chunk if left_to_send is None else chunk[:left_to_send])
                    if left_to_send is not None:
                        left_to_send -= sent
                if left_to_send == 0:
                    # As in the simulation, the end of the stream follows its last byte at once.
                    sender.shutdown(socket.SHUT_WR)
                    poll.unregister(sender)
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
    """Do what the arguments say, before everybody else if that is allowed."""
    left, right, address, port, congestion, kind, amount = sys.argv[1:]
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    size, seconds = (int(amount), None) if kind == "bytes" else (None, float(amount))
    print(json.dumps(run(left, right, address, int(port), congestion, size, seconds)))


if __name__ == "__main__":
    main()
