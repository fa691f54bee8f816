"""What ns-3 gives: version 3.37, `benchmarks/peers/ns3/air-swarm.cc`.

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

from lightlag.reproduce.fanet.outcome import Air, Flow, Outcome

CLASSES = {"CUBIC": "TcpCubic", "BBR": "TcpBbr"}
"""The classes of ns-3 by the paper's names."""


def outcomes(algorithm: str, power_dbm: float, nodes: int, speed: float, *, ack_every: int = 2) -> list[Outcome]:
    """The runs of a point, by their seeds; none where ns-3 did not run it."""
    wanted = {
        "algorithm": CLASSES[algorithm],
        "power": f"{power_dbm:g}",
        "nodes": f"{nodes}",
        "speed": f"{speed:g}",
        "ack-every": f"{ack_every}",
    }
    found = [(int(options["seed"]), outcome) for options, outcome in _kept() if wanted.items() <= options.items()]
    return [outcome for _, outcome in sorted(found, key=lambda one: one[0])]


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
    lost = numbers["frames_given_up"] + numbers["frames_dropped"]
    air = Air(
        numbers["acked_frames"], numbers["failed_attempts"], lost, numbers["rerr"], numbers["routing_bytes"]
    )
    return Outcome(flows, air, numbers["seconds"], numbers["cpu_s"])
