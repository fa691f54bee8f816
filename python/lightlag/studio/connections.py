"""Connections as uvicorn serves them, known to :mod:`lightlag.studio.visitors` until they show the token."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from lightlag.studio.visitors import Visitors

__all__ = ["BACKLOG", "HttpConnection", "SocketConnection"]

BACKLOG = 128
"""Connections that are accepted at once."""


class HttpConnection(H11Protocol):
    """A connection over HTTP."""

    def __init__(self, visitors: Visitors, **options: Any) -> None:
        super().__init__(**options)
        self._visitors = visitors

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes in the connection."""
        super().connection_made(transport)
        self._visitors.opened(self.client, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self._visitors.closed(self.client)
        super().connection_lost(exc)


class SocketConnection(WebSocketsSansIOProtocol):
    """A connection that became a WebSocket."""

    def __init__(self, visitors: Visitors, **options: Any) -> None:
        super().__init__(**options)
        self._visitors = visitors

    def data_received(self, data: bytes) -> None:
        """Takes bytes, up to a limit without the token."""
        if self._visitors.received(self.client, len(data)):
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self._visitors.closed(self.client)
        super().connection_lost(exc)
