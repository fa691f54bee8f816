"""A download over aioquic, with the commands and lines of tools/quic-peer.

Usage: aioquic_peer.py {server ADDRESS:PORT DIRECTORY [WINDOW] | client ADDRESS:PORT DIRECTORY SIZE [WINDOW]}
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration

NAME = "localhost"
REQUEST = 300
CHUNK = 1 << 16

RECEIVE_BUFFER = 4 << 20
"""Receive buffer of the socket in bytes. The default of Linux holds less than a burst at 100 Mbit/s while Python
computes.
"""


def say(event: str, **values: float) -> None:
    """Prints a line of JSON."""
    print(json.dumps({"event": event, **values}), flush=True)


def configuration(window: int | None, *, is_client: bool) -> QuicConfiguration:
    """Returns aioquic's parameters, with other credit if ``window`` is given."""
    given: dict[str, Any] = {} if window is None else {"max_data": window, "max_stream_data": window}
    return QuicConfiguration(is_client=is_client, **given)


class Protocol(QuicConnectionProtocol):  # type: ignore[misc]  # aioquic is not in this environment
    """A connection with a larger receive buffer."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Enlarges the buffer of the socket."""
        super().connection_made(transport)
        enlarge(transport)


def enlarge(transport: asyncio.BaseTransport) -> None:
    """Enlarges the receive buffer of a socket beyond the limit for users."""
    so_rcvbufforce = 33
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, so_rcvbufforce, RECEIVE_BUFFER)


async def server(host: str, port: int, directory: Path, window: int | None) -> None:
    """Responds to requests until the process is ended."""
    config = configuration(window, is_client=False)
    config.load_cert_chain(directory / "certificate.pem", directory / "key.pem")
    tasks = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(respond(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    await serve(host, port, configuration=config, create_protocol=Protocol, stream_handler=accept)
    say("ready")
    await asyncio.Event().wait()


async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Writes the response to a request."""
    writer.write(bytes(int(await reader.read())))
    writer.write_eof()


async def client(host: str, port: int, directory: Path, size: int, window: int | None) -> None:
    """Downloads ``size`` bytes."""
    config = configuration(window, is_client=True)
    config.load_verify_locations(str(directory / "certificate.pem"))
    config.server_name = NAME
    say("starts")
    start = time.monotonic()
    async with connect(host, port, configuration=config, create_protocol=Protocol) as connection:
        say("handshake", seconds=time.monotonic() - start)
        reader, writer = await connection.create_stream()
        writer.write(f"{size:<{REQUEST}}".encode())
        writer.write_eof()
        received = 0
        while data := await reader.read(CHUNK):
            if received == 0:
                say("first_byte", seconds=time.monotonic() - start)
            received += len(data)
        say("done", seconds=time.monotonic() - start, bytes=received)


def main() -> None:
    """Runs the command line."""
    role, address, directory, *rest = sys.argv[1:]
    host, _, port = address.rpartition(":")
    numbers = [int(number) for number in rest]
    if role == "server":
        asyncio.run(server(host, int(port), Path(directory), numbers[0] if numbers else None))
    else:
        window = numbers[1] if len(numbers) == 2 else None
        asyncio.run(client(host, int(port), Path(directory), numbers[0], window))


if __name__ == "__main__":
    main()
