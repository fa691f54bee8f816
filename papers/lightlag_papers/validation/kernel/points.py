"""The points of the comparison between the kernel's TCP and the simulated TCP."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

ALGORITHMS = {"reno": "newreno", "cubic": '{ algorithm = "cubic", variant = "linux" }', "bbr": "bbr"}
"""Names of the congestion controls: the kernel's, and our setting."""

PAYLOAD = 1448
"""Payload of a full segment in bytes: Ethernet's 1500 less the headers of IPv4 and TCP with timestamps."""

TRANSFER = 100
"""Length of a transfer with a loss pattern, in segments."""

RATE = "20 Mbit/s"
RTTS_MS = (20, 200, 600)
DEEP = "2000 packets"
"""A queue that never overflows in a transfer of 100 segments."""

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""Lengths of the transfers whose completion is timed, in segments."""

HEAVY = 1000
"""Minimum length, in segments, of a transfer that keeps a processor busy."""

BULK_RATE = "10 Mbit/s"
BULK_RTTS_MS = (20, 80, 200, 600)
BULK_LOSSES = (0.0, 0.001, 0.01)
BULK_S = 30
FEW_LOSSES_MS = 600
"""Minimum round-trip time in ms of the flows with only few reactions to random losses within `BULK_S`."""
FEW_LOSSES_SEEDS = 16
"""Number of seeds of a flow with few losses, because the positions of these losses determine the outcome."""
CHAOTIC_SEEDS = 80
"""Number of seeds of a chaotic flow, which amplifies small differences."""
MORE_CHAOTIC_SEEDS = {
    ("loss 0.001", 80): 320,
    ("loss 0.001", 200): 320,
    ("queue 0.25 bdp", 20): 160,
    ("queue 0.25 bdp", 80): 320,
    ("queue 0.25 bdp", 200): 160,
}
"""Number of seeds by name and round-trip time, for flows whose standard error is too large with 80 seeds."""

EVEN_JITTER = "400 us"
"""Jitter of the link, for the kernel and for us, where BBR without SACK meets a short queue.

Microseconds decide whether a packet finds room there. A flow without noise locks into a phase in which it loses little:
at 20 ms our mean goodput is 3.6, 3.9, 3.8, 3.5, 2.5 and 2.4 Mbit/s with 5, 20, 50, 100, 400 and 1000 us of jitter, and
the kernel's is 3.7 or 3.1 as the machine is idle or busy. With a jitter above what a machine adds, both run alike."""

SMALL_QUEUES = ("15 packets", "0.25 bdp")
"""Sizes of small queues.

A queue of 10 packets is not among them: in slow start from 10 segments the tenth pair of packets arrives just as the
tenth packet is sent, and microseconds decide whether the pair fits.
"""


@dataclass(frozen=True)
class Point:
    """One run: the kernel's name of the algorithm, the path, and the traffic.

    Attributes
    ----------
    group
        "pattern", "completion", "bulk" or "family".
    name
        Name of the pattern, or another name that is unique in the group.
    queue
        Size of the queue, as in a scenario.
    drops
        Numbers of the lost packets with payload, counted from 1, including retransmissions.
    loss
        Fraction of packets that are lost at random, instead of `drops`.
    segments
        The length of the transfer in full segments; None for a flow that lasts `BULK_S` seconds.
    seed
        Seed of the random losses; if there are none, only of the simulator's random numbers.
    path
        Further keys of the scenario with their values, for both sides.
    settings
        Settings of the kernel that are not controlled by keys of the scenario, such as the size of a buffer.
    writes
        Bytes that the application writes at a time, and the seconds from one write to the next; None if it writes all
        data immediately.
    """

    group: str
    name: str
    algorithm: str
    rtt_ms: int
    rate: str
    queue: str
    sack: bool = True
    drops: tuple[int, ...] = ()
    loss: float = 0.0
    segments: int | None = None
    seed: int = 1
    path: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    writes: tuple[int, float] | None = None

    @property
    def place(self) -> str:
        """A description of the point, without its seed."""
        sack = "" if self.sack else ", no SACK"
        return f"{self.group} {self.name}, {self.algorithm}, {self.rtt_ms} ms{sack}"

    @property
    def key(self) -> str:
        """A text that distinguishes the point from all others."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @property
    def is_heavy(self) -> bool:
        """Whether it forwards many packets per second for several seconds, so that few such runs fit in parallel."""
        return self.segments is None or self.segments >= HEAVY

    @property
    def is_chaotic(self) -> bool:
        """Whether the flow is chaotic, so that it amplifies small differences.

        After a timeout, BBR without SACK counts data as delivered that it had marked as lost. The kernel's own
        goodput differs by 30 % from one run to the next.
        """
        return self.group == "bulk" and self.algorithm == "bbr" and not self.sack

    @property
    def has_few_losses(self) -> bool:
        """Whether it is a bulk flow with only a few random losses."""
        return self.group == "bulk" and self.loss > 0 and self.rtt_ms >= FEW_LOSSES_MS and not self.is_chaotic

    @property
    def least_seeds(self) -> int:
        """Returns the number of seeds, which has a minimum for some flows, whatever number was requested."""
        if self.is_chaotic:
            return MORE_CHAOTIC_SEEDS.get((self.name, self.rtt_ms), CHAOTIC_SEEDS)
        return FEW_LOSSES_SEEDS if self.has_few_losses else 1

    def sets(self) -> dict[str, str]:
        """Returns the changes to the scenario file."""
        loss = f"{{ packets = {list(self.drops)}, direction = 'forward' }}" if self.drops else None
        if self.loss:
            loss = f"{{ forward = {self.loss:g}, backward = 0 }}"
        sets = {
            "defaults.tcp.congestion": ALGORITHMS[self.algorithm],
            "defaults.tcp.sack": "true" if self.sack else "false",
            "links.0.rate": self.rate,
            "links.0.delay": f"{self.rtt_ms / 2:g} ms",
            "links.0.queue": self.queue,
            "duration": f"{BULK_S} s" if self.segments is None else "300 s",
            "seed": str(self.seed),
        }
        if loss is not None:
            sets["links.0.loss"] = loss
        if self.is_chaotic and not self.loss:
            sets["links.0.jitter"] = EVEN_JITTER
        if self.segments is not None:
            sets["flows.0.transfer"] = f"{self.segments * PAYLOAD} B"
        if self.writes is not None:
            size, every = self.writes
            sets["flows.0.traffic"] = f"{{ kind = 'periodic', size = '{size} B', every = '{1e3 * every:g} ms' }}"
        return sets | dict(self.path)


def scattered(number: int) -> tuple[int, ...]:
    """Returns a fixed random loss pattern: 2 to 16 of the first 120 packets, so retransmissions may also be lost."""
    draw = random.Random(number)
    return tuple(sorted(draw.sample(range(1, 121), 2 * number)))


PATTERNS: dict[str, tuple[int, ...]] = {
    "first": (1,),
    "single": (50,),
    "single early": (5,),
    "single late": (95,),
    "pair": (50, 51),
    "burst": tuple(range(41, 51)),
    "half": tuple(range(31, 71, 2)),
    "sparse": tuple(range(10, 100, 10)),
    **{f"tail {count}": tuple(range(TRANSFER + 1 - count, TRANSFER + 1)) for count in range(1, 6)},
    "window": tuple(range(1, 11)),
    "repair lost": (50, 101),
    **{f"scattered {number}": scattered(number) for number in range(1, 9)},
}
"""Loss patterns: the numbers of the packets lost in a transfer of `TRANSFER` segments."""


def patterns(algorithms: tuple[str, ...], rtts_ms: tuple[int, ...], names: tuple[str, ...]) -> Iterator[Point]:
    """Yields transfers with exact loss patterns, with and without SACK."""
    for sack, algorithm, rtt_ms, name in itertools.product((True, False), algorithms, rtts_ms, names):
        yield Point("pattern", name, algorithm, rtt_ms, RATE, DEEP, sack=sack, drops=PATTERNS[name], segments=TRANSFER)


def completions(algorithms: tuple[str, ...], rtts_ms: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[Point]:
    """Yields transfers over a path with a queue of one bandwidth-delay product, which overflows."""
    for algorithm, rtt_ms, size in itertools.product(algorithms, rtts_ms, sizes):
        yield Point("completion", f"{size}", algorithm, rtt_ms, RATE, "1 bdp", segments=size)


def bulk(algorithms: tuple[str, ...], rtts_ms: tuple[int, ...], seeds: int) -> Iterator[Point]:
    """Yields flows of `BULK_S`: random losses, small queues, no SACK. Flows whose results scatter have many seeds."""
    paths = [(f"loss {loss:g}", "1 bdp", loss, True) for loss in BULK_LOSSES]
    paths += [(f"queue {queue}", queue, 0.0, True) for queue in SMALL_QUEUES]
    paths += [("loss 0.001", "1 bdp", 0.001, False), ("queue 0.25 bdp", "0.25 bdp", 0.0, False)]
    for algorithm, rtt_ms, (name, queue, loss, sack) in itertools.product(algorithms, rtts_ms, paths):
        first = Point("bulk", name, algorithm, rtt_ms, BULK_RATE, queue, sack=sack, loss=loss)
        count = seeds if loss else 1
        count = max(count, first.least_seeds)
        for seed in range(1, count + 1):
            yield replace(first, seed=seed)


def all_points(seeds: int) -> list[Point]:
    """Returns the points of the full comparison, transfers first, because they are the shortest."""
    algorithms = tuple(ALGORITHMS)
    return [
        *patterns(algorithms, RTTS_MS, tuple(PATTERNS)),
        *completions(algorithms, RTTS_MS, SIZES),
        *bulk(algorithms, BULK_RTTS_MS, seeds),
    ]


def short_points() -> list[Point]:
    """Returns a few points of each group, which take seconds."""
    return [
        *patterns(("cubic",), (20,), ("single", "half", "tail 1")),
        *completions(("reno", "bbr"), (20,), (10, 100)),
    ]
