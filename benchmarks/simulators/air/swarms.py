"""Swarms in both simulators, with the same paths, pairs and start times, and the same definitions of every metric.

ns-3 draws a swarm and writes its paths and flows; lightlag follows them. Stations negotiate no block acknowledgements
(`--aggregate=0`, `block_ack_agreement = "aggregates"`); our AODV has ns-3's rules.
"""

from __future__ import annotations

import csv
import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kept import Run, read, write

import lightlag as ll
from lightlag_papers.fanet import runs as fanet
from lightlag_papers.fanet.exchanged import FILE as KEPT
from lightlag_papers.fanet.exchanged import OURS, THEIRS
from lightlag_papers.fanet.outcome import Air, Flow, Outcome
from lightlag_papers.fanet.setting import BBR_NS3, CONNECTED, CUBIC, DEFAULT, Candidate, Radio, Routing, Setting

CLASSES: tuple[tuple[str, Candidate], ...] = (("TcpCubic", CUBIC), ("TcpBbr", BBR_NS3))
"""Congestion control classes of ns-3, and the corresponding candidates of lightlag."""
SIZES: tuple[tuple[Radio, int, int, int], ...] = ((DEFAULT, 60, 30, 100), (CONNECTED, 60, 30, 20))
"""Radio, number of UAVs, number of flows and simulated seconds. If all UAVs are connected, ns-3 computes up to 4 s per
simulated second.
"""
SEEDS = range(1, 11)
SPEED = 25
MUTE_DBM = -60


@dataclass(frozen=True)
class Exchange:
    """One swarm in both simulators."""

    radio: Radio
    nodes: int
    flows: int
    seconds: int
    program: str
    candidate: Candidate
    seed: int

    @property
    def key(self) -> str:
        """The key of the swarm in its file."""
        return self._run({}).key

    def numbers(self) -> dict[str, Any]:
        """Returns the outcomes of both simulators, by name.

        Raises
        ------
        SystemExit
            If ns-3 prints none.
        """
        with tempfile.TemporaryDirectory() as folder:
            files = _files(folder)
            printed = self._run(files).numbers()
            ours = self._ours(files)
        about = {"radio": self.radio.name, "algorithm": self.candidate.label, "cpu_s": printed["cpu_s"]}
        return about | {THEIRS: outcome_of(printed).record(), OURS: ours.record()}

    def again(self, kept: dict[str, Any]) -> dict[str, Any]:
        """Returns stored numbers with a new outcome of lightlag. ns-3 only computes the paths, with radios too weak to
        reach a node.
        """
        with tempfile.TemporaryDirectory() as folder:
            files = _files(folder)
            self._run({"power": MUTE_DBM, **files}).numbers()
            return kept | {OURS: self._ours(files).record()}

    def _ours(self, files: dict[str, str]) -> Outcome:
        scenario = self._scenario(*(_rows(Path(file)) for file in files.values()))
        return fanet.outcome_of(ll.run(scenario, seed=self.seed), self.seconds)

    def _run(self, changed: Mapping[str, str | float]) -> Run:
        options: dict[str, str | float] = {
            "power": self.radio.power_dbm,
            "nodes": self.nodes,
            "flows": self.flows,
            "speed": SPEED,
            "algorithm": self.program,
            "seconds": self.seconds,
            "seed": self.seed,
            "ack-every": 2,
            "aggregate": 0,
        }
        return Run("ns3-air-swarm", options | dict(changed))

    def _scenario(self, places: list[dict[str, str]], pairs: list[dict[str, str]]) -> dict[str, Any]:
        setting = Setting(self.candidate, self.radio, self.nodes, SPEED, self.flows, Routing.NS3)
        times: dict[str, list[list[float]]] = {}
        for row in places:
            times.setdefault(row["node"], []).append([float(row[name]) for name in ("time", "x", "y", "z")])
        return {
            "name": "exchanged",
            "duration": f"{self.seconds} s",
            "media": [fanet.medium(setting) | {"name": "air", "block_ack_agreement": "aggregates"}],
            "nodes": [
                {"name": f"n{node}", "media": ["air"], "mobility": {"model": "waypoints", "times": rising(rows)}}
                for node, rows in times.items()
            ],
            "flows": [
                {"from": f"n{row['source']}", "to": f"n{row['destination']}", "start": f"{float(row['start']):.9f} s"}
                for row in pairs
            ],
            "defaults": {"tcp": dict(self.candidate.tcp)},
            "record": fanet.RECORD,
        }


def rising(rows: list[list[float]]) -> list[list[float]]:
    """Returns the rows of a path with strictly increasing times; of several rows with the same time, the last one."""
    found = {row[0]: row for row in rows}
    return [found[time] for time in sorted(found)]


def outcome_of(numbers: dict[str, Any]) -> Outcome:
    """The outcome of a run from the object that ns-3's program prints."""
    flows = tuple(
        Flow(received, seconds, delay_ms / 1e3 if received else math.nan, timeouts, hops if received else math.nan)
        for _, _, received, seconds, delay_ms, timeouts, hops in numbers["flows"]
    )
    air = Air(
        numbers["frames"], numbers["repeated_frames"], numbers["frames_dropped"], math.nan, numbers["routing_bytes"]
    )
    return Outcome(flows, air, numbers["seconds"])


def runs() -> Iterator[Exchange]:
    """Yields every swarm of the plan."""
    for seed in SEEDS:
        for size in SIZES:
            for program, candidate in CLASSES:
                yield Exchange(*size, program, candidate, seed)


def ours_again() -> None:
    """Runs lightlag again on the stored swarms of the plan."""
    kept = read(KEPT)
    write({run.key: run.again(kept[run.key]) for run in runs() if run.key in kept}, KEPT)


def _files(folder: str) -> dict[str, str]:
    return {name: f"{folder}/{name}.csv" for name in ("places", "pairs")}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
