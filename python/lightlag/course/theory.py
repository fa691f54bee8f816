"""Formulas that the labs compare with, each with its source."""

from __future__ import annotations

import math

__all__ = [
    "LIGHT",
    "PACKET",
    "PAYLOAD",
    "aimd_ratio",
    "airtime_exchange",
    "busy_with_queue",
    "cubic_k",
    "jain",
    "mathis",
    "padhye",
    "rounds",
    "transfer_time",
]

LIGHT = 299_792_458.0
"""Speed of light in m/s."""
PAYLOAD = 1448
"""Payload of a full segment with timestamps, in bytes."""
PACKET = 1500
"""Full packet with headers of IPv4 and TCP, in bytes."""


def rounds(size: float, window: int = 10) -> int:
    """Rounds of slow start that a transfer of `size` bytes takes: the smallest k with window (2^k − 1) segments."""
    segments = math.ceil(size / PAYLOAD)
    return math.ceil(math.log2(segments / window + 1))


def transfer_time(size: float, rate: float, rtt: float, window: int = 10, setup: float | None = None) -> float:
    """Time of a transfer in slow start (Kurose and Ross, *Computer Networking*, section on the latency of TCP).

    It is the handshake, the transmission of all packets, the pauses between windows that are shorter than a round trip,
    and the delay of the last packet.

    Parameters
    ----------
    size, rate, rtt, window
        Bytes, bit/s, s, and segments of the first window.
    setup
        Duration of the handshake; one round trip by default.
    """
    segments = math.ceil(size / PAYLOAD)
    packet = 8 * PACKET / rate
    pauses, sent, flight = 0.0, 0, window
    while sent + flight < segments:
        pauses += max(rtt + packet - flight * packet, 0.0)
        sent += flight
        flight *= 2
    return (rtt if setup is None else setup) + pauses + segments * packet + rtt / 2


def mathis(loss: float, rtt: float) -> float:
    """Goodput in bit/s of Reno at random loss: Mathis et al., CCR 1997, with an ACK for each segment: C = √(3/2)."""
    return 8 * PAYLOAD / rtt * math.sqrt(1.5 / loss)


def padhye(loss: float, rtt: float, timeout: float, acked: int = 1) -> float:
    """Goodput in bit/s of Reno with timeouts: Padhye et al., SIGCOMM 1998, equation 30 without a limit of the window.

    Parameters
    ----------
    acked
        Segments per ACK, b.
    """
    repair = min(1.0, 3 * math.sqrt(3 * acked * loss / 8)) * loss * (1 + 32 * loss**2)
    return 8 * PAYLOAD / (rtt * math.sqrt(2 * acked * loss / 3) + timeout * repair)


def aimd_ratio(beta: float) -> float:
    """Mean window of AIMD that keeps `beta` of its window after a loss, relative to one that keeps a half.

    The mean window with increase 1 is √((1 + β) / (2 (1 − β) p)) (Yang and Lam, ICNP 2000).
    """
    return math.sqrt((1 + beta) / (1 - beta) / 3)


def cubic_k(w_max: float, beta: float = 0.7, c: float = 0.4) -> float:
    """K of CUBIC in s: RFC 9438 §4.2, with the window after the loss at β Wmax."""
    return math.cbrt(w_max * (1 - beta) / c)


def jain(shares: list[float]) -> float:
    """Jain's index of fairness (Jain, Chiu and Hawe 1984)."""
    return sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares))


def busy_with_queue(queue: float, pipe: float) -> float:
    """Fraction of time in which one NewReno flow keeps a link busy, with a queue of less than the pipe.

    The window rises by one segment per round from half of its maximum, which is the pipe plus the queue. Rounds below
    the pipe last one round trip and carry the window; later rounds keep the link busy.
    """
    top = pipe + queue + 1
    low = top / 2
    # Time in round trips without queueing, and packets carried in it.
    idle_time = pipe - low
    carried = (pipe**2 - low**2) / 2
    full = (top**2 - pipe**2) / 2
    return (carried + full) / (idle_time * pipe + full)


def airtime_exchange(rate: float, size: int) -> float:
    """Seconds for a frame of 802.11a without contention: DIFS, mean backoff, frame, SIFS and ACK.

    OFDM of 20 MHz (IEEE 802.11-2020 §17): preamble of 20 µs, symbols of 4 µs, 22 bits of service and tail, slots of
    9 µs, SIFS of 16 µs, DIFS of 34 µs, a mean backoff of 7.5 slots, and ACKs of 14 bytes at 24 Mbit/s or less.

    Parameters
    ----------
    rate, size
        bit/s; bytes of the frame with its MAC header.
    """

    def on_air(count: int, speed: float) -> float:
        return 20e-6 + 4e-6 * math.ceil((22 + 8 * count) / (speed * 4e-6))

    return 34e-6 + 7.5 * 9e-6 + on_air(size, rate) + 16e-6 + on_air(14, min(rate, 24e6))
