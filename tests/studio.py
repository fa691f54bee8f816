"""The studio's server for tests, with replacements for the page and for the engine."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient, WebSocketTestSession
from websockets.sync.client import ClientConnection, connect
from websockets.sync.connection import Connection

from conftest import PAIR
from lightlag.studio.guard import Access
from lightlag.studio.places import Places
from lightlag.studio.server import application

TOKEN = "a-token-of-this-test"
HOST = "127.0.0.1:8765"
ORIGIN = f"http://{HOST}"
MINE = {"authorization": f"Bearer {TOKEN}", "host": HOST}
POST = MINE | {"origin": ORIGIN}
ENDLESS = (
    PAIR.replace('"30 s"', '"480 h"').replace("5 Mbit/s", "1 Gbit/s").replace('transfer = "2 MB"\n', "")
    + """
[record]
trace = "off"
queue = "off"
drops = false
"""
)
WRITES = "from pathlib import Path\nPath(__file__).with_name('was-run').touch()\n"
"""Python code that creates a file when it is run."""


class Echo:
    """Replaces the engine: it replies with the request."""

    def ask(self, request: str) -> bytes:
        head = json.dumps({"asked": json.loads(request)}).encode()
        if b'"panic"' in head:
            raise RuntimeError("the engine has fallen over")
        return struct.pack("<I", len(head)) + head + bytes(-(4 + len(head)) % 8)


Socket = Callable[..., AbstractContextManager[WebSocketTestSession]]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>lightlag</title>")
    (folder / "assets" / "engine.wasm").write_bytes(b"\0asm" + bytes(5000))
    (folder / "assets" / "app.js").write_text("export {};\n" * 300)
    (folder / "assets" / "app.js.br").write_bytes(b"brotli, as the build wrote it")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


@pytest.fixture
def client(folder: Path, page: Path) -> Iterator[TestClient]:
    with TestClient(application(Access(8765, TOKEN), Places.of([folder]), door=Echo, page=page), f"http://{HOST}") as c:
        yield c


@pytest.fixture
def sockets(client: TestClient) -> Socket:
    def opened(path: str, token: str | None = TOKEN, **headers: str) -> AbstractContextManager[WebSocketTestSession]:
        @contextmanager
        def session() -> Iterator[WebSocketTestSession]:
            with client.websocket_connect(path, headers={"host": HOST, "origin": ORIGIN} | headers) as one:
                if token is not None:
                    one.send_json({"token": token})
                    assert one.receive_json() == {"event": "welcome"}
                yield one

        made: AbstractContextManager[WebSocketTestSession] = session()
        return made

    return opened


def events(task: WebSocketTestSession, number: int = 1) -> list[dict[str, Any]]:
    """The events of a task up to its end."""
    found: list[dict[str, Any]] = []
    while not found or found[-1]["event"] != "end":
        found.append(task.receive_json())
        assert found[-1].pop("id") == number
    return found


def carried_out(sockets: Socket, **request: Any) -> list[dict[str, Any]]:
    with sockets("/tasks") as task:
        task.send_json({"id": 1} | request)
        return events(task)


def failure(found: list[dict[str, Any]]) -> str:
    assert [event["event"] for event in found] == ["failed", "end"]
    return str(found[0]["message"])


def unpacked(answer: bytes) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    """Returns the head of a reply, and its tables."""
    (length,) = struct.unpack_from("<I", answer)
    head = json.loads(answer[4 : 4 + length])
    start = (4 + length + 7) // 8 * 8
    forms = {"f64": ("d", 8), "u32": ("I", 4), "u8": ("B", 1)}
    tables = {}
    for name, table in head["tables"].items():
        columns: dict[str, list[Any]] = {}
        for column in table["columns"]:
            letter, size = forms[column["type"]]
            assert column["at"] % size == 0
            values = struct.unpack_from(f"<{table['rows']}{letter}", answer, start + column["at"])
            names = column.get("names")
            columns[column["name"]] = (
                [names[one] if one < len(names) else None for one in values] if names is not None else [*values]
            )
        tables[name] = pl.DataFrame(columns)
    return head, tables


class Server:
    """The server in a separate process."""

    def __init__(
        self,
        folder: Path,
        page: Path,
        port: int | None = 0,
        file: str | None = None,
        *,
        before: str = "",
        opens: bool = False,
    ) -> None:
        program = (
            f"import sys; from pathlib import Path; from studio import Echo\n{before}\n"
            "from lightlag.studio.server import serve\n"
            f"serve({file!r}, [Path(sys.argv[1])], {port}, opens={opens}, door=Echo, page=Path(sys.argv[2]))"
        )
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(folder), str(page)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )
        assert self.process.stdout is not None
        found = re.match(r"lightlag studio: http://127\.0\.0\.1:(\d+)/#token=([\w-]+)$", self.process.stdout.readline())
        assert found is not None
        self.port, self.token = int(found[1]), found[2]
        assert len(self.token) >= 32

    @property
    def workers(self) -> list[int]:
        """Returns the processes of unfinished tasks. The server needs a moment to notice that a process has ended."""
        number = self.process.pid
        all_of_them = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        return [int(one) for one in all_of_them if runs(int(one))]

    def socket(self, path: str, token: str | None = None, origin: str | None = None) -> ClientConnection:
        found = connect(
            f"ws://127.0.0.1:{self.port}{path}",
            origin=f"http://127.0.0.1:{self.port}" if origin is None else origin,  # type: ignore[arg-type]
            max_size=None,
            compression=None,
        )
        found.send(json.dumps({"token": self.token if token is None else token}))
        assert json.loads(found.recv()) == {"event": "welcome"}
        return found

    def close(self) -> str:
        """Kills the server; returns its error output."""
        self.process.kill()
        return self.process.communicate()[1]

    def end(self) -> int:
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)
        return self.process.wait()


@pytest.fixture
def server(folder: Path, page: Path) -> Iterator[Server]:
    one = Server(folder, page)
    yield one
    one.close()


def until(socket: Connection, kind: str) -> dict[str, Any]:
    """The next event of a kind."""
    while True:
        event: dict[str, Any] = json.loads(socket.recv())
        if event["event"] == kind:
            return event
        assert event["event"] not in ("failed", "end"), event


def runs(process: int) -> bool:
    """Whether a process has not ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def gone(process: int) -> None:
    """Waits until a process has ended."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(process)
        select.select([handle], [], [])
        os.close(handle)
