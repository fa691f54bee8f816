"""Runs patterns with two ends of aioquic in virtual time, and writes their datagrams.

    quic-judge --write patterns.json
    python aioquic_run.py patterns.json logs.json
    quic-judge --aioquic patterns.json logs.json

aioquic 1.2.0 takes the time as an argument. Its packet protection is replaced by one that does nothing, so that packets
are readable; TLS stays. New connection IDs are not issued.
"""

from __future__ import annotations

import datetime
import heapq
import json
import sys
from pathlib import Path
from typing import Any

from aioquic.quic import crypto
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import END_STATES, QuicConnection
from aioquic.quic.events import StreamDataReceived
from aioquic.quic.packet import decode_packet_number
from aioquic.quic.recovery import QuicPacketRecovery
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HEADERS = 28
"""Bytes of UDP and IPv4 headers."""
CLIENT, SERVER = 0, 1
ADDRESSES = [("10.0.0.1", 4433), ("10.0.0.2", 4433)]
CERTIFICATE = 350
"""Bytes of a certificate without padding, roughly."""


def nanoseconds(time: float) -> int:
    """Returns the first instant of the clock after ``time`` in seconds."""
    return int(time * 1e9) + 1


def remove_protection() -> None:
    """Replaces the packet protection of aioquic."""

    def encrypt(self: Any, header: bytes, payload: bytes, number: int) -> bytes:
        return header + payload + bytes(16)

    def decrypt(self: Any, packet: bytes, offset: int, expected: int) -> tuple[bytes, bytes, int, bool]:
        if self.aead is None:
            raise crypto.KeyUnavailableError("Decryption key is not available")
        length = (packet[0] & 3) + 1
        header = packet[: offset + length]
        number = int.from_bytes(packet[offset : offset + length], "big")
        return header, packet[offset + length : -16], decode_packet_number(number, 8 * length, expected), False

    crypto.CryptoContext.encrypt_packet = encrypt
    crypto.CryptoContext.decrypt_packet = decrypt
    QuicConnection._replenish_connection_ids = lambda self: None


def certificate(size: int) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """Returns a self-signed certificate of about ``size`` bytes and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    start = datetime.datetime(2026, 1, 1)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(start).not_valid_after(start + datetime.timedelta(days=36500))
    padding = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.11129.99"), bytes(size - CERTIFICATE))
    return builder.add_extension(padding, critical=False).sign(key, hashes.SHA256()), key


def count_losses() -> None:
    """Makes the loss recovery of aioquic count the bytes that it declares lost, of packets in flight."""
    original = QuicPacketRecovery._on_packets_lost

    def on_packets_lost(self: Any, *, now: float, packets: Any, space: Any) -> None:
        lost = list(packets)
        self.lost_bytes = lost_bytes(self) + sum(packet.sent_bytes for packet in lost if packet.in_flight)
        original(self, now=now, packets=lost, space=space)

    QuicPacketRecovery._on_packets_lost = on_packets_lost


def lost_bytes(recovery: Any) -> int:
    """Returns the bytes that a loss recovery has declared lost."""
    return getattr(recovery, "lost_bytes", 0)


class Run:
    """Two ends and the path between them."""

    def __init__(self, pattern: dict[str, Any], chain: tuple[x509.Certificate, ec.EllipticCurvePrivateKey]) -> None:
        self.pattern = pattern
        self.now = 0
        self.free, self.sent, self.flushed, self.handled = [0, 0], [0, 0], [-1, -1], [-1, -1]
        self.queue: list[tuple[int, int, int, bytes]] = []
        self.serial = 0
        self.log: list[list[Any]] = []
        self.received = [0, 0]
        self.answered = False
        algorithm = {"newreno": "reno", "cubic": "cubic"}[pattern["congestion"]]
        options: dict[str, Any] = {"congestion_control_algorithm": algorithm, "verify_mode": 0}
        if pattern["stream_window"]:
            options["max_stream_data"] = pattern["stream_window"]
        if pattern["connection_window"]:
            options["max_data"] = pattern["connection_window"]
        client = QuicConfiguration(is_client=True, server_name="server", **options)
        self.server = QuicConfiguration(is_client=False, certificate=chain[0], private_key=chain[1], **options)
        self.ends: list[QuicConnection | None] = [QuicConnection(configuration=client), None]

    def clock(self) -> float:
        return self.now / 1e9

    def deliver(self, to: int, data: bytes) -> None:
        if self.ends[to] is None:
            id_len = data[5]
            self.ends[to] = QuicConnection(
                configuration=self.server, original_destination_connection_id=data[6 : 6 + id_len]
            )
        end = self.ends[to]
        assert end is not None
        end.receive_datagram(data, ADDRESSES[1 - to], now=self.clock())

    def handle_events(self, index: int) -> None:
        end = self.ends[index]
        assert end is not None
        while (event := end.next_event()) is not None:
            if isinstance(event, StreamDataReceived):
                self.received[index] += len(event.data)
                if index == SERVER and event.end_stream and not self.answered:
                    self.answered = True
                    end.send_stream_data(0, bytes(self.pattern["response"]), end_stream=True)

    def flush(self, index: int) -> None:
        self.handle_events(index)
        end = self.ends[index]
        assert end is not None
        self.flushed[index] = self.now
        for data, _ in end.datagrams_to_send(now=self.clock()):
            self.send(index, data)

    def send(self, index: int, data: bytes) -> None:
        side = self.pattern["sides"][index]
        number = self.sent[index]
        self.sent[index] += 1
        start = max(self.free[index], self.now)
        dropped = number in side["lost"] or start - self.now > side["queue_ms"] * 1_000_000
        end = self.ends[index]
        assert end is not None
        state = [end._loss.congestion_window, lost_bytes(end._loss)]
        self.log.append([self.now, index, data.hex(), *state, dropped])
        if dropped:
            return
        finish = start + (len(data) + HEADERS) * 8_000_000_000 // side["rate"]
        self.free[index] = finish
        arrival = finish + side["delay_us"] * 1_000 + side["late"].get(str(number), 0) * 1_000
        if str(number) in side["repeated"]:
            self.enqueue(arrival + side["repeated"][str(number)] * 1_000, 1 - index, data)
        self.enqueue(arrival, 1 - index, data)

    def enqueue(self, arrival: int, to: int, data: bytes) -> None:
        self.serial += 1
        heapq.heappush(self.queue, (arrival, self.serial, to, data))

    def timer(self, index: int) -> int | None:
        """Returns the next timer of an end.

        ``get_timer`` also returns timers of acknowledgements and of the pacer that have passed, and that cannot send
        because of the window or the amplification limit. They change nothing, and are left out.
        """
        end = self.ends[index]
        if end is None or end.get_timer() is None:
            return None
        times = [end._close_at]
        if end._state not in END_STATES:
            waiting = [space.ack_at for space in end._loss.spaces] + [end._pacing_at]
            times += [time for time in waiting if time is not None and nanoseconds(time) > self.flushed[index]]
        instants = [nanoseconds(time) for time in times if time is not None]
        if end._state not in END_STATES and end._loss_at is not None:
            # A rounding error can keep the timer from changing anything; it then expires again a nanosecond later.
            instants.append(max(nanoseconds(end._loss_at), self.now + (self.handled[index] == self.now)))
        return max(min(instants), self.now)

    def run(self) -> None:
        client = self.ends[CLIENT]
        assert client is not None
        for side in self.pattern["sides"]:
            side["lost"] = set(side["lost"])
        client.connect(ADDRESSES[SERVER], now=0.0)
        client.send_stream_data(0, bytes(self.pattern["request"]), end_stream=True)
        self.flush(CLIENT)
        end, is_done = self.pattern["end_ms"] * 1_000_000, False
        while True:
            timers = [self.timer(CLIENT), self.timer(SERVER)]
            arrival = self.queue[0][0] if self.queue else None
            times = [time for time in (*timers, arrival) if time is not None]
            if not times or min(times) > end:
                return
            self.now = max(self.now, min(times))
            if arrival is not None and arrival <= self.now:
                _, _, to, data = heapq.heappop(self.queue)
                self.deliver(to, data)
                self.flush(to)
            else:
                for index, timer in enumerate(timers):
                    expiring = self.ends[index]
                    if timer is not None and timer <= self.now and expiring is not None:
                        self.handled[index] = self.now
                        expiring.handle_timer(now=self.clock())
                        self.flush(index)
            if not is_done and self.received[CLIENT] == self.pattern["response"]:
                is_done = True
                end = min(end, self.now + 1_000_000_000)


def main() -> None:
    patterns = json.loads(Path(sys.argv[1]).read_text())
    remove_protection()
    count_losses()
    chains = {size: certificate(size) for size in sorted({pattern["certificate"] for pattern in patterns})}
    with Path(sys.argv[2]).open("w") as out:
        for pattern in patterns:
            run = Run(pattern, chains[pattern["certificate"]])
            try:
                run.run()
            except (IndexError, AssertionError, BufferError) as error:
                print(pattern["class"], pattern["seed"], repr(error), file=sys.stderr)
                raise
            out.write(json.dumps(run.log) + "\n")


main()
