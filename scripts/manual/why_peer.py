"""One endpoint of a kernel transfer: a plain socket program that prints what it did as JSON.

Usage: why_peer.py '{"role": "send" | "receive" | "request" | "respond", ...}'; the other keys are parameters of the
function with the name of the role.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time

PORT = 5001
CHUNK = 1 << 16


def opened(connection: socket.socket, options: dict[str, object]) -> None:
    """Sets the options of a socket: buffers, MSS, congestion control."""
    numbers = {
        "send_buffer": (socket.SOL_SOCKET, socket.SO_SNDBUF),
        "receive_buffer": (socket.SOL_SOCKET, socket.SO_RCVBUF),
        "mss": (socket.IPPROTO_TCP, socket.TCP_MAXSEG),
        "window_clamp": (socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP),
    }
    for name, (level, number) in numbers.items():
        if name in options:
            connection.setsockopt(level, number, int(str(options[name])))
    congestion = str(options.get("congestion", "cubic"))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())


def connected(address: str, options: dict[str, object]) -> socket.socket:
    """Opens a connection to the port."""
    connection = socket.socket()
    opened(connection, options)
    connection.connect((address, PORT))
    return connection


def listening(options: dict[str, object]) -> socket.socket:
    """Listens on the port, and prints that it does."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    opened(listener, options)
    listener.bind(("0.0.0.0", PORT))
    listener.listen(16)
    print(json.dumps({"listens": True}), flush=True)
    return listener


def send(address: str, size: int, options: dict[str, object], rate: float = 0.0, others: int = 0) -> float:
    """Sends bytes, with `others` more connections at the same time, and returns the duration in seconds.

    `rate` is the application's rate in bytes per second; 0 writes as fast as the socket takes the data.
    """
    stop = threading.Event()
    rivals = [threading.Thread(target=_fill, args=(address, options, stop), daemon=True) for _ in range(others)]
    for rival in rivals:
        rival.start()
    if rivals:
        time.sleep(1.5)
    begun = time.monotonic()
    with connected(address, options) as connection:
        left, data = size, bytes(CHUNK)
        while left:
            part = min(left, CHUNK if not rate else 20_000)
            if rate:
                due = begun + (size - left) / rate
                time.sleep(max(0.0, due - time.monotonic()))
            connection.sendall(data[:part])
            left -= part
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(CHUNK):
            pass
    taken = time.monotonic() - begun
    stop.set()
    return taken


def _fill(address: str, options: dict[str, object], stop: threading.Event) -> None:
    with connected(address, options) as connection:
        while not stop.is_set():
            connection.sendall(bytes(CHUNK))


def receive(options: dict[str, object], connections: int = 1, rate: float = 0.0) -> float:
    """Receives from a number of connections, at most at `rate` bytes per second."""
    with listening(options) as listener:
        threads = []
        for _ in range(connections):
            connection, _ = listener.accept()
            threads.append(threading.Thread(target=_drain, args=(connection, rate), daemon=True))
            threads[-1].start()
        threads[-1].join()
    return 0.0


def _drain(connection: socket.socket, rate: float) -> None:
    begun, size = time.monotonic(), 0
    with connection:
        while data := connection.recv(4_000 if rate else CHUNK):
            size += len(data)
            if rate:
                time.sleep(max(0.0, begun + size / rate - time.monotonic()))


def request(address: str, options: dict[str, object], count: int, size: int, think: float) -> float:
    """Requests `size` bytes several times, with pauses, and returns the mean response time in seconds."""
    times = []
    with connected(address, options) as connection:
        for _ in range(count):
            begun, left = time.monotonic(), size
            connection.sendall(bytes(200))
            while left:
                left -= len(connection.recv(CHUNK))
            times.append(time.monotonic() - begun)
            time.sleep(think)
    return sum(times) / len(times)


def respond(options: dict[str, object], size: int) -> float:
    """Replies to each request of 200 bytes."""
    with listening(options) as listener:
        connection, _ = listener.accept()
        with connection:
            while connection.recv(200, socket.MSG_WAITALL):
                connection.sendall(bytes(size))
    return 0.0


ROLES = {function.__name__: function for function in (send, receive, request, respond)}


def main() -> None:
    """Runs the role of the command line."""
    given = json.loads(sys.argv[1])
    taken = ROLES[given.pop("role")](**given)
    print(json.dumps({"seconds": taken}), flush=True)


if __name__ == "__main__":
    main()
