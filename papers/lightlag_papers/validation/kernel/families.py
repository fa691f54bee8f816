"""Families of paths and applications beyond plain losses and queues, with a few points each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lightlag_papers.validation.kernel.points import ALGORITHMS, BULK_RATE, DEEP, PAYLOAD, Point

NOISE = ("links.0.jitter", "20 us")
"""Jitter of the link, on both sides, for points where a run without jitter would lock into a phase."""

THIN = (
    ("links.0.rate", "{ forward = '10 Mbit/s', backward = '200 kbit/s' }"),
    ("links.0.queue", "{ forward = '1 bdp', backward = '300 packets' }"),
)
"""A return link with a fiftieth of the forward rate, whose queue fills with ACKs."""

BUFFERS = (65_536, 131_072)
"""Sizes in bytes of the kernel's receive buffer (`tcp_rmem`), without auto-tuning."""

PAYLOAD_SHARE = 5 / 8
"""Fraction of such a buffer that holds payload, for packets of 1500 bytes from a TUN device, as seen in the windows."""

UNREAD = 1440
"""Bytes of that fraction that the last segment occupies until it is read. Our buffers are the window that is
offered.
"""

LOST_ACKS = 0.4
HELD_BACK = "{ forward = { probability = 0.01, delay = '10 ms' } }"
HANDSHAKE_MS = 0.3
"""Delay of the first write of a short transfer, beyond a round trip, in milliseconds."""
DELAYS_MS = (12, 24, 18, 30)
"""One-way delays in ms of a path that changes every 1.5 s, like a path over satellites in low orbits."""


def _point(name: str, algorithm: str, rtt_ms: int, **others: Any) -> Point:
    """Returns a point of a family, by default with a queue of one bandwidth-delay product."""
    return replace(Point("family", name, algorithm, rtt_ms, BULK_RATE, "1 bdp"), **others)


def handshakes() -> Iterator[Point]:
    """Yields points with lost SYNs or SYN-ACKs, which are the first packets in their direction.

    The loss of two SYN-ACKs is left out, because it has two outcomes, of 1 and 2 s, and the kernel has both:
    after a second the server's timer and the second SYN race. If the timer expires first, two SYN-ACKs are sent,
    otherwise one.
    """
    losses = [
        *itertools.product((1, 2, 3), (("SYN", "forward"),)),
        *itertools.product((1, 3), (("SYN-ACK", "backward"),)),
    ]
    for rtt_ms, (count, (name, direction)) in itertools.product((130, 600), losses):
        times = ", ".join(["'0 s'"] * count)
        path = (("links.0.loss", f"{{ at = [{times}], direction = '{direction}' }}"),)
        yield _point(f"{name} lost {count} times", "cubic", rtt_ms, queue=DEEP, segments=100, path=path)


def small_buffers() -> Iterator[Point]:
    """Yields points whose receive buffers limit the flow, without and with losses."""
    for size, loss, algorithm, rtt_ms in itertools.product(BUFFERS, (0.0, 0.01), ALGORITHMS, (35, 130)):
        window = round(size * PAYLOAD_SHARE) - UNREAD
        name = f"receive buffer of {size // 1024} KiB" + (f", loss {loss:g}" if loss else "")
        yield _point(
            name,
            algorithm,
            rtt_ms,
            loss=loss,
            segments=300,
            path=(("defaults.tcp.receive_buffer", f"{{ auto = {{ initial = '{window} B', max = '{window} B' }} }}"),),
            settings=(("net.ipv4.tcp_rmem", f"4096 {size} {size}"),),
        )


def thin_returns() -> Iterator[Point]:
    """Yields points whose return link is filled with ACKs."""
    for algorithm, rtt_ms in itertools.product(ALGORITHMS, (130, 600)):
        yield _point("thin return link", algorithm, rtt_ms, path=THIN)


def lost_acks(seeds: int) -> Iterator[Point]:
    """Yields points with losses of two fifths of the packets in the return direction, the same ones on both sides."""
    path = (("links.0.loss", f"{{ forward = 0, backward = {LOST_ACKS:g} }}"),)
    for algorithm, rtt_ms, seed in itertools.product(ALGORITHMS, (35, 130, 600), range(1, seeds + 1)):
        yield _point(f"ACKs lost {seed}", algorithm, rtt_ms, queue=DEEP, seed=seed, segments=900, path=path)


def reordered(seeds: int) -> Iterator[Point]:
    """Yields points where packets overtake others, and points with a path whose delay changes."""
    places = [*itertools.product(ALGORITHMS, (130,)), ("cubic", 35)]
    for (algorithm, rtt_ms), seed in itertools.product(places, range(1, seeds + 1)):
        yield _point("delayed packets", algorithm, rtt_ms, seed=seed, path=(("links.0.reorder", HELD_BACK),))
    changes = ", ".join(
        f"{{ at = '{1.5 * number:g} s', delay = '{delay} ms' }}"
        for number, delay in zip(range(1, 20), itertools.cycle(DELAYS_MS), strict=False)
    )
    for algorithm in ALGORITHMS:
        path = (("links.0.changes", f"[{changes}]"), ("links.0.reorder", "true"), NOISE)
        yield _point("changing delay", algorithm, 35, path=path)


def small_windows() -> Iterator[Point]:
    """Yields a slow link with a queue of few packets, and queues that mark packets early."""
    for algorithm in ALGORITHMS:
        yield _point("6 packets of queue", algorithm, 35, rate="3 Mbit/s", queue="6 packets", path=(NOISE,))
    for algorithm, share in itertools.product(("reno", "cubic"), (0.1, 0.5)):
        queue = f"{{ limit = '1 bdp', discipline = 'step', threshold = '{share:g} bdp' }}"
        path = (("defaults.tcp.ecn", "classic"), ("links.0.queue", queue), NOISE)
        yield _point(f"marks from {share:g} bdp", algorithm, 130, path=path, settings=(("net.ipv4.tcp_ecn", "1"),))


def pauses() -> Iterator[Point]:
    """Yields applications that write only occasionally, and links that are down for some time."""
    writes = ((35, 20_000, 0.05), (130, 60_000, 0.25), (600, 200_000, 2.0))
    for algorithm, (rtt_ms, size, every) in itertools.product(ALGORITHMS, writes):
        yield _point("writes", algorithm, rtt_ms, queue=DEEP, segments=600, writes=(size, every))
    for algorithm, rtt_ms, length in itertools.product(ALGORITHMS, (130, 600), (0.5, 4)):
        changes = f"[{{ at = '3 s', down = true }}, {{ at = '{3 + length:g} s', down = false }}]"
        path = (("links.0.changes", changes),)
        yield _point(f"outage of {length:g} s", algorithm, rtt_ms, queue=DEEP, segments=4000, path=path)


def short_transfers() -> Iterator[Point]:
    """Yields transfers that overflow a short queue once or twice.

    The kernel's application is notified of the open connection, and writes only after the ACK of the handshake
    was sent. If all data were written in advance in the simulation, that ACK would still be in transmission when
    the first data packets arrive, and a queue of three packets would have space for one fewer.
    """
    for algorithm, rtt_ms, segments in itertools.product(ALGORITHMS, (35, 130, 600), (40, 150)):
        size, first = segments * PAYLOAD, rtt_ms + HANDSHAKE_MS
        write = f"{{ kind = 'burst', messages = 1, size = '{size} B', first = '{first:g} ms' }}"
        path = (NOISE, ("flows.0.traffic", write))
        yield _point(
            f"{segments} segments over 0.1 bdp", algorithm, rtt_ms, queue="0.1 bdp", segments=segments, path=path
        )


def every_family(seeds: int) -> list[Point]:
    """Returns the points of all families; those with random losses or delays are repeated with `seeds` seeds."""
    return [
        *handshakes(),
        *small_buffers(),
        *thin_returns(),
        *lost_acks(seeds),
        *reordered(seeds),
        *small_windows(),
        *pauses(),
        *short_transfers(),
    ]


def few_families() -> list[Point]:
    """Returns a few runs that take seconds."""
    return [point for point in (*small_buffers(), *pauses()) if (point.algorithm, point.rtt_ms) == ("cubic", 35)]
