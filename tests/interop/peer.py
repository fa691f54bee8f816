"""The kernel's side of a transfer: a plain socket program. It prints what it sent or received as JSON.

Usage: peer.py {send|receive} {connect ADDRESS PORT | listen PORT} [--size BYTES] [--pause-after BYTES] [--buffer BYTES]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import socket
import struct
import time

CHUNK = 1 << 16


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=["send", "receive"])
    parser.add_argument("way", choices=["connect", "listen"])
    parser.add_argument("place", nargs="+")
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--pause-after", type=int, default=None)
    parser.add_argument("--pause", type=float, default=2.0)
    parser.add_argument("--buffer", type=int, default=None, help="SO_RCVBUF")
    parser.add_argument("--congestion", default=None)
    options = parser.parse_args()
    with _open(options) as connection:
        connection.settimeout(120)
        result = _send(connection, options.size) if options.action == "send" else _receive(connection, options)
    print(json.dumps(result), flush=True)


def _open(options: argparse.Namespace) -> socket.socket:
    if options.way == "connect":
        plain = _prepared(options)
        plain.connect((options.place[0], int(options.place[1])))
        return plain
    with _prepared(options) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("0.0.0.0", int(options.place[0])))
        listener.listen(1)
        listener.settimeout(60)
        print(json.dumps({"listens": True}), flush=True)
        connection, _ = listener.accept()
    return connection


def _prepared(options: argparse.Namespace) -> socket.socket:
    plain = socket.socket()
    if options.buffer is not None:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, options.buffer)
    if options.congestion is not None:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, options.congestion.encode())
    return plain


def _send(connection: socket.socket, size: int) -> dict[str, object]:
    draw = random.Random(size)
    digest = hashlib.sha256()
    left = size
    timeout = 0.0
    while left:
        data = draw.randbytes(min(CHUNK, left))
        digest.update(data)
        connection.sendall(data)
        left -= len(data)
        timeout = max(timeout, _timeout(connection))
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(CHUNK):
        pass
    return {"bytes": size, "sha256": digest.hexdigest(), "rto": timeout}


def _timeout(connection: socket.socket) -> float:
    """The kernel's retransmission timeout in seconds, unless it is backed off: struct tcp_info of linux/tcp.h."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 16)
    backoff, microseconds = struct.unpack_from("=4xB3xI", info)
    return 0.0 if backoff else 1e-6 * float(microseconds)


def _receive(connection: socket.socket, options: argparse.Namespace) -> dict[str, object]:
    digest = hashlib.sha256()
    size = 0
    pause_after = options.pause_after
    while data := connection.recv(CHUNK):
        digest.update(data)
        size += len(data)
        if pause_after is not None and size >= pause_after:
            time.sleep(options.pause)
            pause_after = None
    return {"bytes": size, "sha256": digest.hexdigest()}


if __name__ == "__main__":
    main()
