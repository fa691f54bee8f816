"""Connections that uvicorn serves. :mod:`lightlag.studio.visitors` tracks them until they show the token."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from lightlag.studio.visitors import Visitors

__all__ = ["BACKLOG", "HttpConnection", "SocketConnection"]

BACKLOG = 128
"""Maximum number of connections that wait to be accepted."""


class HttpConnection(H11Protocol):
    """An HTTP connection."""

    def __init__(self, visitors: Visitors, **options: Any) -> None:
        super().__init__(**options)
        self._visitors = visitors

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Registers the connection."""
        super().connection_made(transport)
        self._visitors.opened(self.client, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregisters the connection."""
        self._visitors.closed(self.client)
        super().connection_lost(exc)


class SocketConnection(WebSocketsSansIOProtocol):
    """An HTTP connection that became a WebSocket."""

    def __init__(self, visitors: Visitors, **options: Any) -> None:
        super().__init__(**options)
        self._visitors = visitors

    def data_received(self, data: bytes) -> None:
        """Receives bytes; without the token only up to a limit."""
        if self._visitors.received(self.client, len(data)):
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregisters the connection."""
        self._visitors.closed(self.client)
        super().connection_lost(exc)
