"""The places at which the kernel's TCP and ours are compared."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

ALGORITHMS = {"reno": "newreno", "cubic": '{ algorithm = "cubic", variant = "linux" }', "bbr": "bbr"}
"""The kernel's names, and ours."""

PAYLOAD = 1448
"""Bytes of payload in a full segment: Ethernet's 1500 less the headers of IPv4 and TCP with timestamps."""

TRANSFER = 100
"""Segments of a transfer with a pattern of losses."""

RATE = "20 Mbit/s"
RTTS_MS = (20, 200, 600)
DEEP = "2000 packets"
"""A queue in which no transfer of 100 segments is ever lost."""

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""Segments of the transfers whose completion is timed."""

HEAVY = 1000
"""Segments of a transfer that keeps a processor busy."""

BULK_RATE = "10 Mbit/s"
BULK_RTTS_MS = (20, 80, 200, 600)
BULK_LOSSES = (0.0, 0.001, 0.01)
BULK_S = 30
FEW_LOSSES_MS = 600
"""From this round-trip time on, `BULK_S` has room for few reactions to random losses."""
FEW_LOSSES_SEEDS = 16
"""Seeds of such a flow: the places of its few losses decide everything."""
CHAOTIC_SEEDS = 80
"""Seeds of a flow that multiplies small differences."""
MORE_CHAOTIC_SEEDS = {
    ("loss 0.001", 80): 320,
    ("loss 0.001", 200): 320,
    ("queue 0.25 bdp", 20): 160,
    ("queue 0.25 bdp", 80): 320,
    ("queue 0.25 bdp", 200): 160,
}
"""By name and round-trip time, where 80 seeds leave a standard error too large to judge."""

EVEN_JITTER = "400 us"
"""Jitter of the link, for the kernel and for us, where BBR without SACK meets a short queue.

Microseconds decide whether a packet finds room there. A flow without noise locks into a phase in which it loses little:
at 20 ms our mean goodput is 3.6, 3.9, 3.8, 3.5, 2.5 and 2.4 Mbit/s with 5, 20, 50, 100, 400 and 1000 us of jitter, and
the kernel's is 3.7 or 3.1 as the machine is idle or busy. With a jitter above what a machine adds, both run alike."""

SMALL_QUEUES = ("15 packets", "0.25 bdp")
"""Not 10 packets: in slow start from 10 segments the tenth pair arrives just as the tenth packet leaves, and
microseconds decide whether it finds room."""


@dataclass(frozen=True)
class Point:
    """One run: the kernel's name of the algorithm, the path, and what is sent over it.

    Attributes
    ----------
    group
        "pattern", "completion", "bulk" or "family".
    name
        The name of the pattern, or what else tells it from the others of its group.
    queue
        As in a scenario.
    drops
        Which packets with payload are lost, counted from 1, those sent again too.
    loss
        The share of packets that is lost at random, in place of `drops`.
    segments
        The length of the transfer in full segments; None for a flow that goes on for `BULK_S` seconds.
    seed
        Of the random losses; where there are none, of nothing but our own draws.
    path
        Further keys of the scenario with their values, for the kernel and for us.
    settings
        Settings of the kernel that the keys of the scenario do not reach, such as the size of a buffer.
    writes
        Bytes that the application writes at a time, and the seconds from one write to the next; None if it writes
        everything at once.
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
        """The point in words, without its seed."""
        sack = "" if self.sack else ", no SACK"
        return f"{self.group} {self.name}, {self.algorithm}, {self.rtt_ms} ms{sack}"

    @property
    def key(self) -> str:
        """The values that distinguish it from all others."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @property
    def is_heavy(self) -> bool:
        """Whether it forwards many packets a second for seconds, so that few of them can run side by side."""
        return self.segments is None or self.segments >= HEAVY

    @property
    def is_chaotic(self) -> bool:
        """Whether it multiplies small differences.

        BBR without SACK counts as delivered what a timeout has made it forget; its own goodput differs by 30 % from
        one run of the kernel to the next.
        """
        return self.group == "bulk" and self.algorithm == "bbr" and not self.sack

    @property
    def has_few_losses(self) -> bool:
        """Whether it is a bulk flow that random losses hit a few times only."""
        return self.group == "bulk" and self.loss > 0 and self.rtt_ms >= FEW_LOSSES_MS and not self.is_chaotic

    @property
    def least_seeds(self) -> int:
        """How many seeds it needs, whatever was asked for."""
        if self.is_chaotic:
            return MORE_CHAOTIC_SEEDS.get((self.name, self.rtt_ms), CHAOTIC_SEEDS)
        return FEW_LOSSES_SEEDS if self.has_few_losses else 1

    def sets(self) -> dict[str, str]:
        """The changes to the scenario file."""
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
    """A pattern drawn once and for all: 2 to 16 of the first 120 packets, so that repairs are lost, too."""
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
"""The packets lost of a transfer of `TRANSFER` segments."""


def patterns(algorithms: tuple[str, ...], rtts_ms: tuple[int, ...], names: tuple[str, ...]) -> Iterator[Point]:
    """Transfers with exact losses, with and without SACK."""
    for sack, algorithm, rtt_ms, name in itertools.product((True, False), algorithms, rtts_ms, names):
        yield Point("pattern", name, algorithm, rtt_ms, RATE, DEEP, sack=sack, drops=PATTERNS[name], segments=TRANSFER)


def completions(algorithms: tuple[str, ...], rtts_ms: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[Point]:
    """Transfers over a path that loses what its queue of one bandwidth-delay product cannot hold."""
    for algorithm, rtt_ms, size in itertools.product(algorithms, rtts_ms, sizes):
        yield Point("completion", f"{size}", algorithm, rtt_ms, RATE, "1 bdp", segments=size)


def bulk(algorithms: tuple[str, ...], rtts_ms: tuple[int, ...], seeds: int) -> Iterator[Point]:
    """Flows of `BULK_S`: random losses, small queues, no SACK; those that scatter have many seeds."""
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
    """Every run of the full comparison; transfers first, because they take the least time."""
    algorithms = tuple(ALGORITHMS)
    return [
        *patterns(algorithms, RTTS_MS, tuple(PATTERNS)),
        *completions(algorithms, RTTS_MS, SIZES),
        *bulk(algorithms, BULK_RTTS_MS, seeds),
    ]


def short_points() -> list[Point]:
    """A few runs of each group that take seconds."""
    return [
        *patterns(("cubic",), (20,), ("single", "half", "tail 1")),
        *completions(("reno", "bbr"), (20,), (10, 100)),
    ]
