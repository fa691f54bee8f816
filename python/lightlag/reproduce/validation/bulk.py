"""A bulk flow of the kernel's TCP.

``bulk.py receive ADDRESS PORT SECONDS`` and ``bulk.py send ADDRESS PORT CONGESTION``, each in a network namespace; it
needs nothing but Python. The first eight bytes of the stream are the time at which the sender began to connect, on the
clock that both share; the receiver counts what has arrived so many seconds after it, and prints that.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import sys
import time


def receive(address: str, port: int, seconds: float) -> None:
    """Take one connection and print the bytes that arrived in time."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(1)
        print("ready", flush=True)
        connection, _ = listener.accept()
    chunk = bytearray(1 << 20)
    with connection:
        head = b""
        while len(head) < 8:
            part = connection.recv(8 - len(head))
            if not part:
                sys.exit("the sender closed before it began")
            head += part
        (start,) = struct.unpack("!d", head)
        total = len(head)
        while (left := start + seconds - time.monotonic()) > 0:
            if select.select([connection], [], [], left)[0]:
                size = connection.recv_into(chunk)
                if size == 0:
                    sys.exit(f"the connection ended after {total} bytes")
                total += size
        print(total, flush=True)
        # What is still under way is of no interest: a reset ends it.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def send(address: str, port: int, congestion: str) -> None:
    """Connect and write until the receiver has enough."""
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        start = time.monotonic()
        connection.connect((address, port))
        with contextlib.suppress(ConnectionError):
            connection.sendall(struct.pack("!d", start))
            chunk = bytes(64 << 10)
            while True:
                connection.sendall(chunk)


def main() -> None:
    """Do what the arguments say, before everybody else if that is allowed."""
    role, address, port, last = sys.argv[1:]
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    if role == "receive":
        receive(address, int(port), float(last))
    else:
        send(address, int(port), last)


if __name__ == "__main__":
    main()
