"""Calls from Python."""

# The calls are wrong on purpose.
# mypy: ignore-errors

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import lightlag as ll
from bad_inputs.case import Case, tree
from conftest import pair


def python(kept: Path) -> Iterator[Case]:
    net = pair()

    def case(name: str, call: Callable[[], object], *parts: str) -> Case:
        return Case(name, call=call, parts=parts)

    things: tuple[object, ...] = (None, 5, 1.5, True, b"pair.toml", object(), [], lambda: None, {1, 2})
    for thing in things:
        yield case(f"run({thing!r:.10})", lambda t=thing: ll.run(t))
        yield case(f"compare({thing!r:.10})", lambda t=thing: ll.compare([t, t], ["cubic"]))
    changes: tuple[object, ...] = (
        5,
        "a=b",
        b"x",
        ["a.b=c"],
        [("a",)],
        [("a", 1, 2)],
        [3],
        [(1, 2)],
        {1: 2},
        [("seed", None)],
    )
    for sets in changes:
        yield case(f"sets={sets!r}", lambda s=sets: ll.run(net, sets=s), "sets")
        yield case(f"compare sets={sets!r}", lambda s=sets: ll.compare(net, ["cubic"], sets=s), "sets")
    for value in (object(), {1, 2}, 1j, b"x", float("nan"), float("inf"), np.array([1j]), len):
        yield case(f"sets value {value!r:.12}", lambda v=value: ll.run(net, sets={"links.0.loss": v}))
        yield case(f"loss={value!r:.12}", lambda v=value: ll.run({**tree(), "seed": v}), "seed")
    varied: tuple[object, ...] = (
        5,
        1e-3,
        {"links.0.loss": 1e-3},
        {"links.0.loss": "5 ms"},
        {"links.0.loss": None},
        {1: [2]},
    )
    varied += (
        {"links.0.loss": [None]},
        [5],
        [("links.0.loss", [1])],
        {"links.0.loss": []},
        {"links.0.loss": {"a": 1}},
        [b"x"],
    )
    varied += ({"links.0.loss": 5}, {"links.0.loss": b"x"}, {"links.0.loss": True}, {"k": 1e-3}, {"k": [1e-3]})
    for vary in varied:
        yield case(f"vary={vary!r:.30}", lambda v=vary: ll.compare(net, ["cubic"], vary=v))
    for which in (
        5,
        [5],
        [None],
        {"x": 5},
        {"x": [5]},
        [b"cubic"],
        [[]],
        b"cubic",
        ["carrot"],
        [{}],
        [{"algorithm": 5}],
        [],
    ):
        yield case(f"congestion={which!r}", lambda w=which: ll.compare(net, w))
    for count in (0, -1, 1.5, "3", True, [], np.float64(2.0)):
        yield case(
            f"replications={count!r}", lambda c=count: ll.compare(net, ["cubic"], replications=c), "replications"
        )
        yield case(f"jobs={count!r}", lambda c=count: ll.compare(net, ["cubic"], jobs=c), "jobs")
    for seed in (-1, 1.5, "x", [], 2**63, True, np.int64(-3), np.float64(0.5)):
        yield case(f"seed={seed!r}", lambda s=seed: ll.run(net, seed=s), "seed")
    for duration in (30, 1.5, "30", "-1 s", "", [], "soon", np.int32(3)):
        yield case(f"duration={duration!r}", lambda d=duration: ll.run(net, duration=d), "duration")
    for metric in ("colour", "", "CWND", "bars"):
        yield case(f"trace {metric}", lambda m=metric: ll.load(kept).trace(m), metric)
        yield case(f"plot {metric}", lambda m=metric: ll.load(kept).plot(m), metric)
        yield case(f"table {metric}", lambda m=metric: ll.load(kept).table(m), metric)
    for path in ("nowhere", ".", "pair.toml", "x" * 300):
        yield case(f"load {path:.9}", lambda p=path: ll.load(p), path[:9])
        yield case(f"load_comparison {path:.9}", lambda p=path: ll.load_comparison(p), path[:9])
    for table in ("acks", "responses", "proxies"):
        yield case(table, lambda t=table: getattr(ll.load(kept), t))
    for key, wrong in itertools.product(
        ("rate", "delay", "queue", "loss", "header"), (object(), {1}, 1j, float("nan"), b"x")
    ):

        def build(key: str = key, wrong: Any = wrong) -> object:
            built = ll.Network("built")
            built.link("a", "b", **{"rate": "1 Mbit/s", "delay": "1 ms", key: wrong})
            built.flow("a", "b")
            return ll.run(built)

        yield case(f"link {key}={wrong!r:.9}", build, f"links[0].{key}")
