"""The server application, and how it is started on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.studio.api import Api
from lightlag.studio.connections import BACKLOG, HttpConnection, SocketConnection
from lightlag.studio.guard import Access, Guard, RefusedError
from lightlag.studio.opening import opener
from lightlag.studio.pages import BUILT, Pages
from lightlag.studio.places import Places
from lightlag.studio.scenarios import opened
from lightlag.studio.sockets import MOST_MESSAGE, Asked, Sockets
from lightlag.studio.tasks import Tasks
from lightlag.studio.visitors import Visitors, allow_files
from lightlag.text.terminal import say

__all__ = ["application", "serve"]

PORT = 8765
"""The default port, and the first one to try."""
TRIED = 100
HOST = "127.0.0.1"


def application(
    access: Access,
    places: Places,
    file: str | None = None,
    *,
    door: Callable[[], Asked] = _engine.Door,
    page: Path = BUILT,
    tasks: Tasks | None = None,
    visitors: Visitors | None = None,
) -> Guard:
    """Returns the application.

    Parameters
    ----------
    access
        Its port, and the token.
    places
        The directories that the server may read; results go to the first.
    file
        The scenario to open.
    door
        Function that creates the engine of a connection.
    page
        The directory of the built page.
    tasks
        The processes that carry out tasks of clients; they end with the server.
    visitors
        The connections without the token.

    Raises
    ------
    InputError
        If the page has not been built.
    """
    pages = Pages(page, access.port)
    tasks = Tasks() if tasks is None else tasks
    base = Path(file).resolve().parent if file is not None and Path(file).is_file() else None
    visitors = Visitors() if visitors is None else visitors
    sockets = Sockets(access, visitors, places, tasks, door, base)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await tasks.close()

    async def refused(_: Request, error: Exception) -> Response:
        if isinstance(error, RefusedError):
            return error.answer
        return RefusedError(500, f"internal error (please report): {error!r}").answer

    async def static(request: Request) -> Response:
        return pages.answer(request)

    routes = [
        *Api(places, file).routes(),
        WebSocketRoute("/door", sockets.door),
        WebSocketRoute("/tasks", sockets.tasks),
        Route("/{path:path}", static),
    ]
    handlers = {RefusedError: refused, Exception: refused}
    return Guard(Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers), access, visitors)


def serve(
    file: str | None,
    folders: list[Path],
    port: int | None,
    *,
    opens: bool,
    listen: str = HOST,
    door: Callable[[], Asked] = _engine.Door,
    page: Path = BUILT,
) -> None:
    """Serves until Ctrl-C.

    Parameters
    ----------
    port
        The port; None for the first free one.
    opens
        Whether the page is opened in a browser.
    listen
        The IPv4 address to listen on. Another one than the default is for containers, whose ports the host forwards;
        requests must still name this machine and have the token.
    file, door, page
        As for :func:`application`.

    Raises
    ------
    InputError
        If the address or the port cannot be used, a path is not a directory, or the page has not been built.
    """
    # Readers of tables import it, and it must not replace the signal handlers of the server later.
    import polars  # noqa: F401

    places = Places.of(folders)
    tasks, visitors = Tasks(), Visitors(allow_files())
    with _listening(port, listen) as listener, contextlib.ExitStack() as stack:
        access = Access(listener.getsockname()[1], secrets.token_urlsafe(32))
        app = application(access, places, file, door=door, page=page, tasks=tasks, visitors=visitors)
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,
            http=partial(HttpConnection, visitors),  # type: ignore[arg-type]
            ws=partial(SocketConnection, visitors),  # type: ignore[arg-type]
            ws_max_size=MOST_MESSAGE,
            ws_per_message_deflate=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=2,
            proxy_headers=False,
        )

        def ready() -> None:
            say(f"lightlag studio: {access.address}\nresults: {places.results}; Ctrl-C ends it")
            sys.stdout.flush()
            if file is not None and (error := opened(file, places)["error"]):
                say(f"error: {error}", file=sys.stderr)
            if opens:
                stack.enter_context(opener(access.address, places.results))

        asyncio.run(Server(config, tasks, visitors, ready).serve([listener]))
    say("stopped")


class Server(uvicorn.Server):
    """A server that ends at the first signal once the records of its tasks are stored, and at a second signal
    immediately.
    """

    def __init__(self, config: uvicorn.Config, tasks: Tasks, visitors: Visitors, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._tasks, self._visitors, self._ready = tasks, visitors, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts the server, then reports its address; by that time the signal handlers are installed."""
        await super().startup(sockets)
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        """Checks visitors ten times per second."""
        self._visitors.look()
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Makes signals end the server within the block."""
        names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        before = {number: signal.signal(number, self.handle_exit) for number in (getattr(signal, one) for one in names)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ends the server."""
        if self.should_exit:
            self.force_exit = True
            self._tasks.kill()
        self.should_exit = True


def _listening(port: int | None, address: str) -> socket.socket:
    """Returns a socket bound to a port of an address of this machine; by default to the first free port, starting at
    the default port.

    Raises
    ------
    InputError
        If the address is invalid, or the port cannot be bound.
    """
    try:
        ipaddress.IPv4Address(address)
    except ValueError:
        raise InputError(f'--listen: "{address}" is not an IPv4 address; write {HOST}, or 0.0.0.0 for all') from None
    reason: Any = ""
    for number in range(PORT, PORT + TRIED) if port is None else [port]:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if sys.platform != "win32":
            # A server that has just ended does not block its port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, number))
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            reason = error.strerror or error
        else:
            listener.setblocking(False)
            return listener
    if port is None:
        raise InputError(f"--port: none of {PORT} to {PORT + TRIED - 1} is free ({reason}); name another one")
    raise InputError(f"--port {port}: cannot be bound ({reason}); leave --port out for the next free one")
