"""Whether a scenario is random: what is not gives the same result with every seed, and what is gives another one."""

from __future__ import annotations

import json

import pytest

import lightlag as ll
from lightlag import _engine, presets
from lightlag.scenario import read_scenario

LONGEST_S = 20.0
SEEDS = (1, 2)


def hashes(scenario: str) -> set[str]:
    """The hashes of a scenario, given as JSON, with several seeds."""
    runs = (ll.run(json.loads(scenario), seed=seed) for seed in SEEDS)
    return {run.result_hash for run in runs}


def shortened(name: str) -> str:
    """A preset over a short time, as JSON."""
    seconds = min(LONGEST_S, _engine.seconds(read_scenario(name).duration))
    return read_scenario(name, [("duration", f"{seconds} s")]).json()


@pytest.mark.parametrize("name", sorted(presets.PRESETS))
def test_a_preset_is_random_if_its_seeds_differ(name: str) -> None:
    text = shortened(name)
    is_random = read_scenario(json.loads(text)).is_random()
    found = hashes(text)
    if not is_random:
        assert len(found) == 1
    elif len(found) == 1:
        # Chance may have nothing to decide in a short time; the whole run must differ.
        assert len(hashes(read_scenario(name).json())) > 1


@pytest.mark.parametrize("name", sorted(entry["name"] for entry in json.loads(_engine.catalog())["congestion"]))
def test_an_algorithm_is_random_if_its_seeds_differ(name: str) -> None:
    def scenario(loss: float) -> dict[str, object]:
        link = {"between": ["a", "b"], "rate": "10 Mbit/s", "delay": "20 ms", "queue": "40 packets", "loss": loss}
        flow = {"from": "a", "to": "b", "congestion": name}
        return {"name": name, "duration": "30 s", "links": [link], "flows": [flow]}

    assert read_scenario(scenario(1e-4)).is_random()
    quiet = scenario(0.0)
    found = {ll.run(quiet, seed=seed).result_hash for seed in SEEDS}
    assert (len(found) > 1) == read_scenario(quiet).is_random()


@pytest.mark.parametrize("mobility", ["static", "waypoints", "random-waypoint", "gauss-markov"])
def test_a_medium_is_random(mobility: str) -> None:
    model = {"model": mobility} | ({"times": [[0, 0, 0, 20]]} if mobility == "waypoints" else {})
    nodes = [{"name": name, "mobility": model, "area": [100, 100, 50]} for name in ("a", "b")]
    if mobility == "static":
        nodes = [node | {"at": [at, 0, 20]} for at, node in zip((0, 50), nodes, strict=True)]
    scenario = {
        "name": "pair",
        "duration": "2 s",
        "media": [{"rate": "24 Mbit/s", "routing": "aodv"}],
        "nodes": nodes,
        "flows": [{"from": "a", "to": "b"}],
    }
    assert read_scenario(scenario).is_random()
    assert len({ll.run(scenario, seed=seed).result_hash for seed in SEEDS}) > 1
