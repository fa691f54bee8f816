"""The runs of the scorecard: several at the same time, each stored as soon as it is finished."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import lightlag as ll
from lightlag.records import origin
from lightlag_papers.kept import KeptRuns

__all__ = ["HERE", "Task", "Work", "goodput"]

Values = dict[str, Any]
HERE = "@here"
"""Placeholder in a scenario for the directory of trace files, whose name differs from call to call."""


@dataclass(frozen=True)
class Task:
    """A run and what is taken from its result.

    Attributes
    ----------
    scenario
        The scenario as a mapping, in which `HERE` is replaced by `directory`; or the path of a scenario file.
    seed
        Seed of the run.
    measure
        Function that returns plain values of the result.
    sets
        Changes to a scenario file, by dotted path.
    directory
        Directory of the trace files.
    """

    scenario: Mapping[str, Any] | Path
    seed: int
    measure: Callable[[ll.Result], Values]
    sets: Mapping[str, str] = field(default_factory=dict)
    directory: Path = Path()

    @property
    def key(self) -> str:
        """A key of all inputs: engine, scenario with its files, seed and measure."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(json.dumps(_engine(), sort_keys=True).encode())
        if isinstance(self.scenario, Path):
            for path in sorted(self.scenario.parent.glob(f"{self.scenario.stem}*")):
                digest.update(path.name.encode() + path.read_bytes())
        else:
            text = json.dumps(self.scenario, sort_keys=True)
            digest.update(text.encode())
            for name in sorted(set(re.findall(rf"{HERE}/([\w.-]+)", text))):
                digest.update(_content(self.directory / name))
        digest.update(json.dumps([self.seed, self.measure.__qualname__, sorted(self.sets.items())]).encode())
        return digest.hexdigest()

    def run(self) -> Values:
        """Runs the scenario and returns the values."""
        scenario: Path | dict[str, Any]
        if isinstance(self.scenario, Path):
            scenario = self.scenario
        else:
            scenario = json.loads(json.dumps(self.scenario).replace(HERE, str(self.directory)))
        return self.measure(ll.run(scenario, seed=self.seed, sets=dict(self.sets), progress=False))


@cache
def _content(path: Path) -> bytes:
    """Returns a digest of a trace file, which does not change during a call."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).digest()


@cache
def _engine() -> str:
    return str(origin.installation()["engine"])


def goodput(result: ll.Result) -> Values:
    """Returns the goodput of the first flow in Mbit/s, and its fraction of retransmitted segments."""
    flow = result.summary["flows"][0]
    sent = flow["sent_segments"]
    return {
        "goodput_mbps": flow["goodput_bps"] / 1e6,
        "retransmitted": flow["retransmitted_segments"] / sent if sent else 0.0,
    }


@dataclass
class Work:
    """Runs tasks.

    Attributes
    ----------
    jobs
        Number of simultaneous runs.
    kept
        Stored values of finished runs; None to store nothing.
    progress
        Called with a description of the current step.
    directory
        Directory for scenario files with traces.
    """

    directory: Path
    jobs: int = 1
    kept: KeptRuns | None = None
    progress: Callable[[str], object] = lambda _: None

    def run(self, said: str, tasks: Iterable[Task]) -> list[Values]:
        """Returns the values of tasks, in order. Stored ones are not repeated.

        Threads are enough, because a run does not hold the GIL.
        """
        wanted = list(tasks)
        keys = [task.key for task in wanted]
        found: dict[str, Values] = {}
        missing: dict[str, Task] = {}
        for key, task in zip(keys, wanted, strict=True):
            stored = None if self.kept is None else self.kept.find(key)
            if stored is None:
                missing[key] = task
            else:
                found[key] = stored
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                futures = {pool.submit(task.run): key for key, task in missing.items()}
                for done, future in enumerate(as_completed(futures), start=1):
                    key = futures[future]
                    found[key] = future.result()
                    if self.kept is not None:
                        self.kept.add(key, found[key])
                    self.progress(f"{said}: {done} of {len(missing)} runs")
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return [found[key] for key in keys]
