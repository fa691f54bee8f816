"""The outcomes of ns-3: version 3.37, `benchmarks/peers/ns3/air-swarm.cc`.

    make target/peers/ns3-air-swarm
    python benchmarks/peers/air swarms

The second command keeps every run in `ns3.json`, beside this file. Both algorithms meet the same swarm with the same
seed. ns-3.30.1, the paper's simulator, had neither CUBIC nor BBR; where its radio had other defaults than 3.37's they
are set.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from lightlag.reproduce.fanet.claims import Sweep
from lightlag.reproduce.fanet.outcome import Air, Flow, Outcome
from lightlag.reproduce.fanet.setting import FULL_SPEED, MIDDLE, NODES, SECONDS, SPEEDS, Reading

CLASSES = {"CUBIC": "TcpCubic", "BBR": "TcpBbr"}
"""The classes of ns-3 by the paper's names."""


def outcomes(
    algorithm: str, power_dbm: float, nodes: int, speed: float, *, ack_every: int = 2, aggregate: bool = True
) -> list[Outcome]:
    """The runs of a point, by their seeds; none where ns-3 did not run it."""
    wanted = {
        "algorithm": CLASSES[algorithm],
        "power": f"{power_dbm:g}",
        "nodes": f"{nodes}",
        "speed": f"{speed:g}",
        "ack-every": f"{ack_every}",
        "seconds": f"{SECONDS}",
    }
    if not aggregate:
        wanted["aggregate"] = "0"
    by_seed = {}
    for options, outcome in _kept():
        if {name: value for name, value in options.items() if name != "seed"} == wanted:
            by_seed[int(options["seed"])] = outcome
    return [by_seed[seed] for seed in sorted(by_seed)]


@cache
def _kept() -> list[tuple[dict[str, str], Outcome]]:
    text = Path(__file__).with_name("ns3.json").read_text("utf-8")
    return [(_options(key), outcome_of(numbers)) for key, numbers in json.loads(text).items()]


def _options(key: str) -> dict[str, str]:
    """The options of a command line: `ns3-air-swarm --nodes=40 ...`."""
    return dict(word.removeprefix("--").split("=", 1) for word in key.split()[1:])


def outcome_of(numbers: dict[str, Any]) -> Outcome:
    """The outcome of a run from the object that the program prints."""
    flows = tuple(
        Flow(received, seconds, delay_ms / 1e3 if received else math.nan, timeouts, hops if received else math.nan)
        for _, _, received, seconds, delay_ms, timeouts, hops in numbers["flows"]
    )
    sent = numbers["acked_frames"] + numbers["failed_attempts"]
    air = Air(sent, numbers["failed_attempts"], numbers["frames_dropped"], numbers["routing_bytes"])
    return Outcome(flows, air, numbers["seconds"], numbers["cpu_s"])


def sweep(varies: str, reading: Reading) -> Sweep | None:
    """ns-3's runs of a figure: the points at which it ran both algorithms, with the seeds that both have."""
    found: dict[str, dict[int, list[Outcome]]] = {"CUBIC": {}, "BBR": {}}
    for point in NODES if varies == "nodes" else SPEEDS:
        nodes, speed = (point, FULL_SPEED) if varies == "nodes" else (MIDDLE, point)
        runs = {name: outcomes(name, reading.power_dbm, nodes, speed) for name in CLASSES}
        if all(runs.values()):
            count = min(map(len, runs.values()))
            for name, those in runs.items():
                found[name][point] = those[:count]
    points = tuple(found["CUBIC"])
    return Sweep(varies, points, found["CUBIC"], found["BBR"]) if points else None
