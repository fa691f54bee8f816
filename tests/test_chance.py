"""Whether a scenario is random: another seed changes the result of a random scenario, and no other."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

import lightlag as ll
from lightlag import _engine, presets
from lightlag.scenario import read_scenario

LONGEST_S = 20.0
SEEDS = (1, 2)


def outcomes(scenario: dict[str, Any], seeds: Iterable[int] = SEEDS) -> set[str]:
    """Returns the results of a scenario with several seeds, without the hash of the run, which depends on the seed."""
    summaries = (ll.run(scenario, seed=seed).summary for seed in seeds)
    return {json.dumps([summary["flows"], summary["links"], summary["packet_hops"]]) for summary in summaries}


def shortened(name: str) -> dict[str, Any]:
    """Returns a preset with a short duration."""
    seconds = min(LONGEST_S, _engine.seconds(read_scenario(name).duration))
    shortened: dict[str, Any] = json.loads(read_scenario(name, [("duration", f"{seconds} s")]).json())
    return shortened


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name == "leo-iot")) for name in sorted(presets.PRESETS)]
)
def test_a_preset_is_random_if_its_seeds_differ(name: str) -> None:
    scenario = shortened(name)
    is_random = read_scenario(scenario).is_random()
    found = outcomes(scenario)
    if not is_random:
        assert len(found) == 1
    elif len(found) == 1:
        # A rare loss may hit neither run, for example in mars with 1e-5.
        assert len(outcomes(json.loads(read_scenario(name).json()), range(1, 30))) > 1


@pytest.mark.parametrize("name", sorted(entry["name"] for entry in json.loads(_engine.catalog())["congestion"]))
def test_an_algorithm_is_random_if_its_seeds_differ(name: str) -> None:
    def scenario(loss: float) -> dict[str, Any]:
        link = {"between": ["a", "b"], "rate": "10 Mbit/s", "delay": "20 ms", "queue": "40 packets", "loss": loss}
        flow = {"from": "a", "to": "b", "congestion": name}
        return {"name": name, "duration": "30 s", "links": [link], "flows": [flow]}

    assert read_scenario(scenario(1e-4)).is_random()
    quiet = scenario(0.0)
    assert (len(outcomes(quiet)) > 1) == read_scenario(quiet).is_random()


@pytest.mark.parametrize("mobility", ["static", "waypoints", "random-waypoint", "gauss-markov"])
def test_a_medium_is_random(mobility: str) -> None:
    model = {"model": mobility} | ({"times": [[0, 0, 0, 20]]} if mobility == "waypoints" else {})
    nodes = [{"name": name, "mobility": model, "area": ["100 m", "100 m", "50 m"]} for name in ("a", "b")]
    if mobility == "static":
        nodes = [node | {"at": [at, "0 m", "20 m"]} for at, node in zip(("0 m", "50 m"), nodes, strict=True)]
    scenario = {
        "name": "pair",
        "duration": "2 s",
        "media": [{"rate": "24 Mbit/s", "routing": "aodv"}],
        "nodes": nodes,
        "flows": [{"from": "a", "to": "b"}],
    }
    assert read_scenario(scenario).is_random()
    assert len(outcomes(scenario)) > 1
