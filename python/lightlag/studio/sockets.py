"""The WebSockets of the studio: one for the engine's API, one for tasks."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect

from lightlag.errors import InputError, ScenarioError
from lightlag.studio.aside import Desk, aside
from lightlag.studio.guard import Access
from lightlag.studio.messages import check_types, parsed_message
from lightlag.studio.places import Places
from lightlag.studio.scenarios import check_door
from lightlag.studio.studies import read, status, store_of
from lightlag.studio.tasks import Task, Tasks, prepared
from lightlag.studio.visitors import Visitors

__all__ = ["MOST_MESSAGE", "Asked", "Sockets"]

MOST_MESSAGE = 96 << 20
"""Maximum size of a message in bytes: a scenario with its files."""
MOST_SOCKETS = 16
"""Maximum number of WebSockets with the token."""
MOST_OPEN = 32
"""Maximum number of active tasks per connection."""
TOKEN_S = 10.0
"""Time limit in seconds for the first message, which has the token."""
WATCH_S = 1.0
"""Minimum time in seconds between two checks of a study."""
FORBIDDEN, FULL, BAD = 4401, 4429, 4400
"""Close codes of a connection."""


class Asked(Protocol):
    """Interface to the engine's API."""

    def ask(self, request: str) -> bytes:
        """Returns the reply to a JSON request: a head in JSON and binary columns."""


class Sockets:
    """Serves the WebSockets of clients.

    Parameters
    ----------
    door
        Function that creates the engine of a connection. The runs of this engine end with the connection.
    base
        The directory of the scenario with which the server was started.
    """

    def __init__(
        self,
        access: Access,
        visitors: Visitors,
        places: Places,
        tasks: Tasks,
        door: Callable[[], Asked],
        base: Path | None,
    ) -> None:
        self._access, self._visitors, self._places, self._tasks, self._base = access, visitors, places, tasks, base
        self._make_door = door
        self._open = 0

    async def door(self, socket: WebSocket) -> None:
        """Serves requests to the engine: the reply to ``{"id": 7, "op": ...}`` is 7 as u32, then the engine's reply."""
        await self._serve(socket, self._answer_requests)

    async def tasks(self, socket: WebSocket) -> None:
        """Serves tasks: the reply to a request such as ``{"id": 7, "op": "run", ...}`` is events with this id, see
        ``api.py``.
        """
        await self._serve(socket, self._carry_out)

    async def _serve(self, socket: WebSocket, serve: Callable[[WebSocket], Awaitable[None]]) -> None:
        await socket.accept()
        with suppress(WebSocketDisconnect):
            if not await self._has_token(socket):
                return
            self._visitors.admit(socket.client)
            if self._open >= MOST_SOCKETS:
                await socket.close(FULL, f"{MOST_SOCKETS} connections are open already")
                return
            self._open += 1
            try:
                await socket.send_json({"event": "welcome"})
                await serve(socket)
            finally:
                self._open -= 1

    async def _has_token(self, socket: WebSocket) -> bool:
        try:
            first = json.loads(await asyncio.wait_for(socket.receive_text(), TOKEN_S))
            token = first.get("token")
        except (TimeoutError, ValueError, KeyError, AttributeError, RecursionError):
            token = None
        if not self._access.knows(token):
            await socket.close(FORBIDDEN, "the first message must have the token that lightlag studio printed")
            return False
        return True

    async def _answer_requests(self, socket: WebSocket) -> None:
        desk = Desk(self._make_door)
        try:
            while True:
                request = await _request(socket)
                if request is None:
                    return
                number = request.pop("id")
                try:
                    answer = await desk.ask(partial(_asked, request))
                except Exception as error:  # The engine's defects are also reported.
                    answer = _head({"error": {"message": f"internal error (please report): {error}"}})
                await socket.send_bytes(struct.pack("<I", number) + answer)
        finally:
            desk.close()

    async def _carry_out(self, socket: WebSocket) -> None:
        client = Client(socket, self._places, self._tasks, self._base)
        try:
            while (request := await _request(socket)) is not None:
                client.take(request)
        finally:
            client.close()


class Client:
    """The tasks of a connection, by the ids of their requests. They are cancelled when the connection ends."""

    def __init__(self, socket: WebSocket, places: Places, tasks: Tasks, base: Path | None) -> None:
        self._socket, self._places, self._tasks, self._base = socket, places, tasks, base
        self._work: set[asyncio.Task[None]] = set()
        self._open: set[int] = set()
        """The ids of tasks that have not ended."""
        self._started: dict[int, Task] = {}
        """Tasks for which a process was started."""
        self._cancelled: set[int] = set()
        """Ids of tasks that were cancelled before their process was started."""
        self._sending = asyncio.Lock()

    def take(self, request: dict[str, Any]) -> None:
        """Starts the requested task, which runs in parallel with others."""
        number, op = request["id"], request.get("op")
        carry_out = {"run": self._start, "compare": self._start, "study": self._start, "watch": self._watch}.get(
            str(op)
        )
        if op == "cancel":
            self._cancel(number)
        elif number in self._open:
            message = f"id: {number} is the ID of an active task; use another one"
            self._go_on(self._send({"id": number, "event": "refused", "message": message}))
        elif carry_out is None:
            self._go_on(self._fail(number, f"op: {op!r:.40} is none of run, compare, study, watch and cancel"))
        elif len(self._open) >= MOST_OPEN:
            self._go_on(self._fail(number, f"{MOST_OPEN} tasks are active already; wait for one, or cancel one"))
        else:
            self._open.add(number)
            self._go_on(self._until_end(number, carry_out(number, request)))

    def close(self) -> None:
        """Cancels all tasks of the connection."""
        for number in list(self._open):
            self._cancel(number)

    def _cancel(self, number: int) -> None:
        if number in self._started:
            self._started[number].cancel()
        elif number in self._open:
            self._cancelled.add(number)

    def _go_on(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _until_end(self, number: int, work: Awaitable[None]) -> None:
        try:
            await work
        except (InputError, ScenarioError, OSError) as error:
            await self._fail(number, str(error), getattr(error, "errors", None))
        except Exception as error:  # The task ends after any error.
            await self._fail(number, f"internal error (please report): {error!r}")

    async def _start(self, number: int, request: Mapping[str, Any]) -> None:
        task = await aside(prepared, request, self._places, self._base)
        if number in self._cancelled:
            await self._tell(number, {"event": "end", "cancelled": True})
            return
        started = self._started[number] = await self._tasks.start(task)
        if number in self._cancelled:
            started.cancel()
        async for event in started:
            if event["event"] == "result":
                event["place"] = self._places.name(Path(event.pop("folder")))
            await self._tell(number, event)

    async def _watch(self, number: int, request: Mapping[str, Any]) -> None:
        path = self._places.find(request.get("study"))
        study = await aside(read, path, self._places)
        loop = asyncio.get_running_loop()
        last: dict[str, Any] | None = None
        while number not in self._cancelled:
            since = loop.time()
            store = await aside(store_of, path, self._places, request.get("store"))
            now = await aside(status, study, store)
            if now != last:
                await self._tell(number, {"event": "status"} | now)
            if now["finished"] >= now["total"]:
                break
            last = now
            await asyncio.sleep(max(WATCH_S, 10 * (loop.time() - since)))
        await self._tell(number, {"event": "end", "cancelled": number in self._cancelled})

    async def _fail(self, number: int, message: str, errors: list[tuple[str, str]] | None = None) -> None:
        found = {} if errors is None else {"errors": [{"path": path, "message": text} for path, text in errors]}
        await self._tell(number, {"event": "failed", "message": message} | found)
        await self._tell(number, {"event": "end", "cancelled": False})

    async def _tell(self, number: int, event: Mapping[str, Any]) -> None:
        if event["event"] == "end":
            # The ID is free by the time that the client is notified.
            self._open.discard(number)
            self._cancelled.discard(number)
            self._started.pop(number, None)
        await self._send({"id": number} | dict(event))

    async def _send(self, event: Mapping[str, Any]) -> None:
        # A disconnected client gets no reply; its tasks are cancelled, and their records are stored.
        with suppress(WebSocketDisconnect, RuntimeError):
            async with self._sending:
                await self._socket.send_json(event)


async def _request(socket: WebSocket) -> dict[str, Any] | None:
    """Returns the next request. If a message is not a valid request, ends the connection and returns None."""
    with suppress(ValueError, KeyError):
        # A message of bytes has no text.
        return parsed_message(await socket.receive_text())
    await socket.close(BAD, 'a message is not a JSON object with a number "id"')
    return None


def _asked(request: dict[str, Any], door: Asked) -> bytes:
    try:
        check_types(request)
        check_door(request)
        text = json.dumps(request)
    except (InputError, ScenarioError) as error:
        return _head({"error": {"message": str(error)}})
    except RecursionError:
        return _head({"error": {"message": "not a request: it nests too deeply"}})
    return door.ask(text)


def _head(head: Mapping[str, Any]) -> bytes:
    text = json.dumps(head).encode()
    return struct.pack("<I", len(text)) + text + bytes(-(4 + len(text)) % 8)
