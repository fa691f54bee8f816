"""Decides which requests are accepted, and sets the headers of replies.

A page of another site can make the browser of this machine send requests to 127.0.0.1. That page does not have the
token, its requests name another origin, and if it points a host name at 127.0.0.1 (DNS rebinding), this name appears in
the header ``Host``. Each of these three is sufficient for a rejection.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lightlag.studio.visitors import Visitors

__all__ = ["MOST_BODY", "Access", "Guard", "RefusedError"]

MOST_BODY = 1 << 20
"""Maximum size of the body of a request in bytes."""
MOST_TARGET = 8192
"""Maximum size of a path and its query in bytes."""
READS = frozenset({"GET", "HEAD"})
METHODS = READS | {"POST"}
ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every reply."""
DEFAULT = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
}
"""Headers of a reply that does not set its own."""


class RefusedError(Exception):
    """A rejected request: its status and the reason."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @property
    def answer(self) -> JSONResponse:
        """The response: the reason in the form that all errors have."""
        return JSONResponse({"error": {"message": str(self)}}, self.status)


@dataclass(frozen=True)
class Access:
    """The address and the token that a request must have."""

    port: int
    token: str

    @property
    def hosts(self) -> tuple[str, ...]:
        """The values of ``Host`` that name this server."""
        names = ("127.0.0.1", "localhost")
        return tuple(f"{name}:{self.port}" for name in names) + (names if self.port == 80 else ())

    @property
    def address(self) -> str:
        """The address to open. Browsers never send the part after the #."""
        return f"http://127.0.0.1:{self.port}/#token={self.token}"

    def knows(self, token: object) -> bool:
        """Returns true if this is the token; the comparison takes constant time."""
        return isinstance(token, str) and hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def check(self, headers: Headers, *, changes: bool) -> None:
        """Rejects requests to another host and from another origin.

        Parameters
        ----------
        changes
            Whether the request changes state or opens a WebSocket: it must then name its origin.
        """
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            raise RefusedError(403, f"Host: this server replies only at {' and '.join(self.hosts)}")
        if (origins or changes) and origins != [f"http://{hosts[0].lower()}"]:
            raise RefusedError(403, f"Origin: only the page at http://{hosts[0].lower()} may send this request")

    def check_token(self, headers: Headers) -> None:
        """Rejects requests without the token."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not self.knows(token.strip()):
            raise RefusedError(401, "token: is missing or wrong; open the address that lightlag studio printed")


class Guard:
    """Wraps an application and checks its requests."""

    def __init__(self, app: ASGIApp, access: Access, visitors: Visitors) -> None:
        self._app, self._access, self._visitors = app, access, visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        self._visitors.asked(scope.get("client"))
        try:
            self._check(scope)
        except RefusedError as refused:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": str(refused)[:120]})
            else:
                await refused.answer(scope, receive, _with_headers(send))
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        await self._app(scope, _limited(receive), _with_headers(send))

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        is_socket = scope["type"] == "websocket"
        if not is_socket and scope["method"] not in METHODS:
            raise RefusedError(405, f"{scope['method']}: is not supported; use one of {', '.join(sorted(METHODS))}")
        target = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
        if target > MOST_TARGET:
            raise RefusedError(414, f"the address has {target:,} bytes; the maximum is {MOST_TARGET:,}")
        self._access.check(headers, changes=is_socket or scope["method"] not in READS)
        path = str(scope["path"])
        is_private = path.startswith(("/api/", "/report/"))
        if is_private and headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise RefusedError(403, "Sec-Fetch-Site: only pages of this server may send this request")
        if not is_socket and path.startswith("/api/"):
            self._access.check_token(headers)
            self._visitors.admit(scope.get("client"))


def _limited(receive: Receive) -> Receive:
    size = 0

    async def limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > MOST_BODY:
            raise RefusedError(413, f"the request has more than {MOST_BODY:,} bytes")
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(ALWAYS)
            for name, value in DEFAULT.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers
