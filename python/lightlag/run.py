"""From a scenario to results: one run, or the same runs with several algorithms side by side."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from lightlag import _engine
from lightlag.comparison import Comparison, Outcome
from lightlag.errors import InputError, Interrupted
from lightlag.results import Result, _Live
from lightlag.scenario import ScenarioLike, Sets, congestion_names, load_scenario, toml_value

__all__ = ["Progress", "compare", "run"]

Progress = Callable[[float, float, int], object]
"""Called with simulated seconds, the scenario's duration in seconds and events so far; False ends the run."""


def run(
    scenario: ScenarioLike,
    *,
    duration: str | None = None,
    seed: int | None = None,
    sets: Sets = (),
    progress: Progress | None = None,
    interval_s: float = 0.1,
    spool: str | os.PathLike[str] | None = None,
) -> Result:
    """Runs a scenario.

    Parameters
    ----------
    scenario
        A :class:`Network`, a :class:`Scenario`, a mapping of the same shape, or the path of a TOML or JSON file.
    duration, seed
        Replace the scenario's own.
    sets
        More changes, as ``{"links.0.loss": 1e-4}`` or ``[("links.0.loss", "1e-4")]``.
    progress
        Called about every `interval_s` wall-clock seconds; if it returns False the run ends there.
    spool
        Where captures (``record.pcap``) stand until the result is saved; by default among temporary files. A folder
        on the disk of the results saves copying them.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run; ``errors`` lists every place and reason.
    Interrupted
        On Ctrl-C; ``result`` holds what was recorded.

    Examples
    --------
    >>> import lightlag as ll
    >>> net = ll.Network("pair")
    >>> net.link("a", "b", rate="1 Mbit/s", delay="10 ms")
    >>> net.flow("a", "b", transfer="100 kB")
    >>> first, second = (ll.run(net, duration="30 s", seed=7) for _ in range(2))
    >>> first.result_hash == second.result_hash
    True
    """
    text = load_scenario(scenario, _with(sets, duration=duration, seed=seed))
    call = None if progress is None else lambda *now: progress(*now) is not False
    stopped = False

    def watched(*now: Any) -> bool:
        nonlocal stopped
        stopped = call is not None and not call(*now)
        return not stopped

    is_captured = "pcap" in json.loads(text)["record"]
    captures = Path(tempfile.mkdtemp(prefix=".lightlag-captures-", dir=spool)) if is_captured else None
    try:
        outcome = _engine.run(text, watched if call else None, interval_s, captures)
    except BaseException:
        if captures is not None:
            shutil.rmtree(captures, ignore_errors=True)
        raise
    result = Result(_Live(outcome, captures))
    if outcome.interrupted and not stopped:
        raise Interrupted(result)
    return result


def compare(
    scenario: ScenarioLike,
    congestion: Sequence[str] | None = None,
    *,
    replications: int = 10,
    duration: str | None = None,
    seed: int | None = None,
    sets: Sets = (),
    jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Runs a scenario with several congestion-control algorithms, each with the same seeds.

    The algorithm is set for every flow that does not name its own.

    Parameters
    ----------
    scenario, duration, sets
        As for :func:`run`.
    congestion
        Names of algorithms; by default every one there is.
    replications
        Runs of each algorithm, with seeds `seed`, `seed` + 1, ...
    seed
        The first seed; by default the scenario's own.
    jobs
        Runs at the same time; by default one for each processor. The results do not depend on it.
    progress
        Called with the number of finished runs and of all runs after each run.

    Raises
    ------
    Interrupted
        On Ctrl-C; ``result`` is a comparison of the runs that had finished.

    Examples
    --------
    >>> import lightlag as ll
    >>> net = ll.Network("pair")
    >>> net.link("a", "b", rate="2 Mbit/s", delay="50 ms", loss=1e-3)
    >>> net.flow("a", "b", transfer="500 kB")
    >>> comparison = ll.compare(net, ["newreno", "cubic"], replications=2, duration="60 s")
    >>> comparison.runs.select("congestion", "seed").rows()
    [('newreno', 1), ('newreno', 2), ('cubic', 1), ('cubic', 2)]
    """
    names = list(congestion_names() if congestion is None else congestion)
    jobs = processors() if jobs is None else jobs
    for value, what in ((replications, "replications"), (jobs, "jobs"), (len(names), "algorithms")):
        if value < 1:
            raise InputError(f"{value} {what} compare nothing; ask for at least 1")
    if repeated := [name for at, name in enumerate(names) if name in names[:at]]:
        raise InputError(f'"{repeated[0]}" is named twice; name each algorithm once')
    first, texts = _plan(scenario, names, replications, _with(sets, duration=duration, seed=seed))
    outcomes: dict[tuple[str, int], Outcome] = {}
    finished = _run_all(texts, jobs, outcomes, progress)
    comparison = Comparison(names, first, [outcomes[key] for key in _in_order(names, outcomes)])
    if not finished:
        raise Interrupted(comparison)
    return comparison


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _with(sets: Sets, **values: object) -> list[tuple[str, str]]:
    """Changes as text, with those that have an argument of their own at the end."""
    pairs = sets.items() if isinstance(sets, Mapping) else sets
    given = [(key, value) for key, value in values.items() if value is not None]
    return [(key, _text(value)) for key, value in [*pairs, *given]]


def _text(value: object) -> str:
    """A value as `--set` takes it: text as it is, everything else as TOML."""
    return value if isinstance(value, str) else toml_value(value)


def _in_order(names: list[str], keys: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(keys, key=lambda key: (names.index(key[0]), key[1]))


def _plan(
    scenario: ScenarioLike, names: list[str], replications: int, sets: list[tuple[str, str]]
) -> tuple[dict[str, Any], dict[tuple[str, int], str]]:
    """The scenario itself and the JSON of each run. Seeds come first, so that an early end leaves pairs."""
    base = json.loads(load_scenario(scenario, sets))
    text = json.dumps(base)
    seed = int(base["seed"])
    plan = {}
    for number in range(seed, seed + replications):
        for name in names:
            changes = [("defaults.tcp.congestion", name), ("seed", str(number))]
            plan[name, number] = _engine.parse(text, "json", changes)
    if _all_flows_choose(base):
        raise InputError("every flow names its own congestion control, so there is nothing to compare; leave it out")
    return base, plan


def _all_flows_choose(scenario: dict[str, Any]) -> bool:
    """Whether no flow takes its congestion control from the defaults."""
    flows = list(scenario.get("flows", []))
    topology = scenario.get("topology") or {}
    if "flow" in topology or not flows:
        flows.append(topology.get("flow", {}))
    return all("congestion" in flow.get("tcp", {}) for flow in flows)


def _run_all(
    texts: dict[tuple[str, int], str],
    jobs: int,
    outcomes: dict[tuple[str, int], Outcome],
    progress: Callable[[int, int], object] | None,
) -> bool:
    """Runs everything and files the outcomes; whether it came to its end. Threads suffice: the engine holds no lock."""
    stop = threading.Event()
    first = min(number for _, number in texts)

    def work(key: tuple[str, int], text: str) -> Outcome | None:
        name, seed = key
        outcome = None if stop.is_set() else _engine.run(text, lambda *_: not stop.is_set(), 0.05)
        if outcome is None or outcome.interrupted:
            return None
        return Outcome.of(name, seed, Result(_Live(outcome)), keep=seed == first)

    with ThreadPoolExecutor(jobs) as pool:
        pending: dict[Future[Outcome | None], tuple[str, int]] = {}
        try:
            for key, text in texts.items():
                pending[pool.submit(work, key, text)] = key
            while pending:
                done, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    _file(outcomes, pending.pop(future), future.result())
                    if progress is not None:
                        progress(len(outcomes), len(texts))
            return True
        except KeyboardInterrupt:
            stop.set()
            wait(pending)
            for future, key in pending.items():
                _file(outcomes, key, future.result())
            return False
        except BaseException:
            stop.set()
            raise


def _file(outcomes: dict[tuple[str, int], Outcome], key: tuple[str, int], outcome: Outcome | None) -> None:
    if outcome is not None:
        outcomes[key] = outcome
