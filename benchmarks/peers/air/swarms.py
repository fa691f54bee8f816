"""The swarms that ns-3 runs: the points of the paper's figures, in both readings of its radio."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kept import Run

PROGRAM = "ns3-air-swarm"
KEPT = Path("python/lightlag/reproduce/fanet/ns3.json")
READINGS = {"default": 16.0206, "connected": 32.0206}
"""Power of the transmitters in dBm: 24 Mbit/s reach 44 m, or 150 m."""
ALGORITHMS = ("TcpCubic", "TcpBbr")
MIDDLE = ((60, 25), (60, 5))
OTHERS = ((40, 25), (80, 25), (60, 15), (50, 25), (70, 25), (60, 10), (60, 20))
"""Nodes, and m/s. With everybody in range a run of 80 nodes takes ten minutes."""
SECONDS = 100
SEEDS = 3


def runs() -> Iterator[Run]:
    """Every run of the plan."""
    yield from _points("default", MIDDLE + OTHERS, 1)
    yield from _points("connected", MIDDLE + OTHERS[:1], 1)
    for nodes, speed in OTHERS[:1] + MIDDLE:
        for algorithm in ALGORITHMS:
            yield swarm("connected", nodes, speed, algorithm, 1, aggregate=False)
        yield swarm("connected", nodes, speed, "TcpBbr", 1, ack_every=1)
    yield from _points("connected", OTHERS[1:], 1)
    for seed in range(2, 1 + SEEDS):
        yield from _points("default", MIDDLE + OTHERS, seed)
    for seed in range(2, 1 + SEEDS):
        yield from _points("connected", MIDDLE + OTHERS, seed)


def _points(reading: str, points: Iterable[tuple[int, int]], seed: int) -> Iterator[Run]:
    for nodes, speed in points:
        for algorithm in ALGORITHMS:
            yield swarm(reading, nodes, speed, algorithm, seed)


def swarm(
    reading: str, nodes: int, speed: int, algorithm: str, seed: int, *, ack_every: int = 2, aggregate: bool = True
) -> Run:
    """One run; without aggregates stations agree on no block acknowledgements, which legacy rates cannot use anyway."""
    options: dict[str, str | float] = {
        "power": READINGS[reading],
        "nodes": nodes,
        "speed": speed,
        "algorithm": algorithm,
        "seconds": SECONDS,
        "seed": seed,
        "ack-every": ack_every,
    }
    if not aggregate:
        options["aggregate"] = 0
    return Run(PROGRAM, options)
