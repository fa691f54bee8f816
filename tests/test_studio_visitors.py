"""Connections without the token end by themselves, and do not keep out the owner."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, cast

import pytest

from lightlag.studio.visitors import MOST_BYTES, PATIENCE_S, Visitors
from studio import Server
from studio import folder as folder
from studio import page as page

pytestmark = pytest.mark.long

UPGRADE = (
    "GET /door HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nConnection: Upgrade\r\n"
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
HEAD = "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
FEW = "from lightlag.studio import visitors; visitors.MOST_VISITORS = 20"
FILES = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))"
HASTY = "from lightlag.studio import visitors; visitors.PATIENCE_S = 0.5"


@pytest.fixture
def served(folder: Path, page: Path) -> Iterator[Callable[[str], Server]]:
    """Starts servers."""
    with ExitStack() as stack:

        def start(before: str = "") -> Server:
            one = Server(folder, page, before=before)
            stack.callback(one.close)
            return one

        yield start


def connected(server: Server, text: str = "") -> socket.socket:
    """Returns a connection over which ``text`` has been sent."""
    one = socket.create_connection(("127.0.0.1", server.port))
    one.sendall(text.format(port=server.port).encode())
    return one


def ends(connection: socket.socket) -> bytes:
    """Returns the bytes that the server sends until it closes the connection."""
    found = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            found += part
    return found


def gets_in(server: Server) -> None:
    """The owner gets replies: the page, a request and a WebSocket."""
    one = http.client.HTTPConnection("127.0.0.1", server.port)
    one.request("GET", "/")
    assert one.getresponse().read().startswith(b"<!doctype html>")
    one.request("GET", "/api/results", headers={"Authorization": f"Bearer {server.token}"})
    answer = one.getresponse()
    assert (answer.status, json.loads(answer.read())["entries"]) == (200, [])
    one.close()
    with server.socket("/tasks") as tasks:
        tasks.send(json.dumps({"id": 1, "op": "cancel"}))


@pytest.mark.parametrize(
    ("text", "before"),
    [
        pytest.param("", "", id="silent"),
        pytest.param(HEAD, "", id="head"),
        pytest.param(HEAD + "\r\n", "", id="idle"),
        pytest.param(HEAD + "Content-Length: 1000\r\n\r\n", "", id="body"),
        pytest.param(UPGRADE, "", id="socket"),
        pytest.param(UPGRADE + "\x01\x00", "", id="fragment"),
        pytest.param(3 * (HEAD + "\r\n"), "", id="pipelined"),
        pytest.param(HEAD, FEW, id="few"),
        pytest.param(UPGRADE, FEW, id="few sockets"),
        pytest.param(HEAD, FILES, id="few files"),
    ],
)
def test_connections_without_the_token_do_not_keep_out_the_owner(
    served: Callable[[str], Server], text: str, before: str
) -> None:
    server = served(before)
    with ExitStack() as stack:
        for _ in range(150):
            stack.enter_context(connected(server, text))
        gets_in(server)


@pytest.mark.parametrize(
    "text",
    ["", HEAD, HEAD + "Content-Length: 1000\r\n\r\n", UPGRADE, HEAD.replace("/ ", "/assets/engine.wasm ") + "\r\n"],
    ids=["silent", "head", "body", "socket", "unread"],
)
def test_a_connection_without_progress_ends(served: Callable[[str], Server], text: str) -> None:
    server = served(HASTY)
    with connected(server, text) as one:
        ends(one)
        gets_in(server)


def sends(connection: socket.socket, part: bytes) -> None:
    """Sends a part again and again, until the server closes the connection."""
    connection.settimeout(0.01)
    with suppress(ConnectionError):
        while True:
            connection.sendall(part)
            with suppress(TimeoutError):
                if connection.recv(1 << 16) == b"":
                    return


def test_bytes_that_drip_are_not_progress(served: Callable[[str], Server]) -> None:
    server = served(HASTY)
    with connected(server, HEAD) as one:
        sends(one, b"X: y\r\n")
        gets_in(server)


def test_the_owner_may_be_idle(served: Callable[[str], Server]) -> None:
    server = served(HASTY)
    with server.socket("/tasks") as tasks, connected(server) as stranger:
        ends(stranger)
        tasks.send(json.dumps({"id": 7, "op": "nothing"}))
        assert json.loads(tasks.recv())["id"] == 7


def test_a_socket_without_the_token_sends_little(served: Callable[[str], Server]) -> None:
    server = served("")
    with connected(server, UPGRADE) as one:
        assert one.recv(1 << 16).startswith(b"HTTP/1.1 101")
        # A text of 2^24 bytes, masked with zeros.
        one.sendall(b"\x81\xff" + (1 << 24).to_bytes(8, "big") + bytes(4))
        sends(one, bytes(1 << 16))
    gets_in(server)


class Transport:
    """Replaces the transport of a connection."""

    def __init__(self) -> None:
        self.is_aborted, self.unread = False, 0

    def abort(self) -> None:
        self.is_aborted = True

    def get_write_buffer_size(self) -> int:
        return self.unread


class Room:
    """Visitors with a clock that the test controls."""

    def __init__(self, most: int) -> None:
        self.now = 0.0
        self.visitors = Visitors(most, lambda: self.now)

    def enter(self, port: int) -> Transport:
        one = Transport()
        self.visitors.opened(("127.0.0.1", port), cast(Any, one))
        return one


def test_the_visitor_without_progress_for_the_longest_time_is_disconnected() -> None:
    room = Room(2)
    first, second = room.enter(1), room.enter(2)
    room.visitors.asked(("127.0.0.1", 1))
    third = room.enter(3)
    assert [one.is_aborted for one in (first, second, third)] == [False, True, False]
    assert len(room.visitors) == 2


def test_a_client_with_the_token_is_not_a_visitor() -> None:
    room = Room(1)
    owner = room.enter(1)
    room.visitors.admit(("127.0.0.1", 1))
    for port in range(2, 10):
        room.enter(port)
    room.now = 10 * PATIENCE_S
    room.visitors.look()
    assert not owner.is_aborted
    assert room.visitors.received(("127.0.0.1", 1), 10 * MOST_BYTES)


def test_an_answer_that_is_read_slowly_is_progress() -> None:
    room = Room(2)
    reads, rests = room.enter(1), room.enter(2)
    for unread in range(100, 0, -1):
        reads.unread, rests.unread = unread, 100
        room.visitors.look()
        room.now += PATIENCE_S / 4
    assert (reads.is_aborted, rests.is_aborted) == (False, True)
