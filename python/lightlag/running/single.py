"""From a scenario to the results of one run."""

from __future__ import annotations

import json
import operator
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.errors import AlgorithmError, InputError, Interrupted
from lightlag.files.writing import check_room
from lightlag.machine import memory
from lightlag.machine.processors import processors
from lightlag.machine.watchdog import Watchdog, in_engine, is_interrupt
from lightlag.records.source import Live
from lightlag.results.result import Result
from lightlag.scenario.reading import read_scenario
from lightlag.text import progress as _progress
from lightlag.text.notebook import is_notebook
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag.outcomes.variables import Competitor, Competitors
    from lightlag.scenario import Congestion, ScenarioLike, Sets

__all__ = [
    "Progress",
    "changes_of",
    "check_repeats",
    "count_of",
    "read_with_congestion",
    "reported",
    "run",
    "run_read",
    "threads_of",
]

MOST_THREADS = 1024
"""Threads of a run at most."""

Progress = Callable[[float, float, int], object]
"""Called with simulated seconds, the scenario's duration in seconds and events so far; False ends the run."""


def run(
    scenario: ScenarioLike,
    *,
    duration: str | None = None,
    seed: int | None = None,
    sets: Sets = (),
    progress: Progress | bool | None = None,
    interval_s: float = 0.1,
    spool: str | os.PathLike[str] | None = None,
    threads: int | str = 1,
    congestion: Congestion | Competitors | None = None,
    verify: bool = False,
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
        Called about every `interval_s` wall-clock seconds; if it returns False the run ends there. True shows a bar,
        which is the default in a notebook; False shows none.
    spool
        Where captures (``record.pcap``) stand until the result is saved; by default among temporary files. A folder
        on the disk of the results saves copying them.
    threads
        Threads of the run, or ``"auto"``: one for each processor. The network is cut along its long links, if that
        promises a shorter run; the result is the same for any number. Each thread holds the whole network in memory.
    congestion
        The congestion control of every flow that does not name its own: a name, a table, a class of one's own or an
        object of one. A mapping makes classes known by names, ``{"mine": Mine}``. Flows take several in turn.
    verify
        Whether to run twice, and to compare: an algorithm of one's own that reads the clock, or what other connections
        left, gives another result.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run; ``errors`` lists every place and reason.
    Interrupted
        On Ctrl-C; ``result`` holds the records up to then.
    AlgorithmError
        If an algorithm of one's own fails, or with `verify` if the run cannot be repeated.

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
    count = threads_of(threads)
    if isinstance(interval_s, bool) or not isinstance(interval_s, (int, float)):
        raise InputError(f"interval_s: {printable(repr(interval_s)):.60} is no number of seconds; give 0.1")
    if congestion is not None:
        # Known before the scenario is read, which may name them.
        known = _known(congestion)
    changes = changes_of(sets, duration=duration, seed=seed)
    read = read_scenario(scenario, changes) if congestion is None else read_with_congestion(scenario, changes, known)
    memory.check_network(read)
    memory.check_tables(read)
    with reported(progress, _progress.of_run, read.name) as told:
        result = run_read(read, told, interval_s, spool, count)
    if verify:
        check_repeats(read, result)
    return result


def reported(progress: Any, bar: Callable[..., AbstractContextManager[Any]], name: str) -> AbstractContextManager[Any]:
    """The function that a user gave as progress, or a bar."""
    if progress is None or isinstance(progress, bool):
        return bar(name, shown=is_notebook() if progress is None else progress)
    if not callable(progress):
        raise InputError(f"progress: {printable(repr(progress)):.60} is no function; give one, True or False")
    return nullcontext(progress)


def check_repeats(scenario: _engine.Scenario, result: Result) -> None:
    """Runs a scenario again.

    Raises
    ------
    AlgorithmError
        If the result is another one.
    """
    again = run_read(_engine.parse(scenario.json(), "json"))
    if again.result_hash != result.result_hash:
        raise AlgorithmError(
            f"the run cannot be repeated: its hash was {result.result_hash}, and then {again.result_hash}. An "
            "algorithm reads the clock, draws random numbers elsewhere than from lightlag.uniform, or keeps something "
            "from one connection to the next",
            result,
        )


def read_with_congestion(
    scenario: ScenarioLike, changes: Sequence[tuple[str, str]], congestion: Any
) -> _engine.Scenario:
    """The scenario with this congestion control in its defaults; of several the flows take one in turn.

    Changes below ``defaults.tcp.congestion`` are parameters of these algorithms.
    """
    from lightlag.outcomes.variables import Competitor, split_parameters

    others, parameters = split_parameters(changes)
    one = congestion if isinstance(congestion, Competitor) else _known(congestion)
    one = one.with_parameters(parameters)
    text = read_scenario(scenario, others).json()
    in_turn = bool((json.loads(text).get("defaults") or {}).get("congestion"))
    return _engine.parse(text, "json", one.changes(in_turn=in_turn))


def _known(congestion: Any) -> Competitor:
    """Algorithms that flows take in turn. A mapping from names to classes makes these known by the names."""
    from lightlag import own
    from lightlag.outcomes.variables import competitors

    if isinstance(congestion, Mapping) and any(map(own.is_own, congestion.values())):
        congestion = [own.named(str(name), value) for name, value in congestion.items()]
    several = isinstance(congestion, (list, tuple))
    (found,) = competitors({"": congestion} if several else [congestion])
    return found


def run_read(
    scenario: _engine.Scenario,
    progress: Progress | None = None,
    interval_s: float = 0.1,
    spool: str | os.PathLike[str] | None = None,
    threads: int = 1,
) -> Result:
    """As :func:`run`, of a scenario that was read and fits into the memory."""
    look, stopped = memory.watch(), False

    def watched(*now: Any) -> bool:
        nonlocal stopped
        look()
        stopped = progress is not None and progress(*now) is False
        return not stopped

    if scenario.is_captured:
        check_room(spool or tempfile.gettempdir(), scenario.results_size())
    captures = Path(tempfile.mkdtemp(prefix=".lightlag-captures-", dir=spool)) if scenario.is_captured else None
    try:
        with Watchdog():
            outcome = in_engine(_engine.run, scenario, watched, interval_s, captures, threads)
    except BaseException:
        if captures is not None:
            shutil.rmtree(captures, ignore_errors=True)
        raise
    result = Result(Live(outcome, captures))
    if outcome.failed is not None and not is_interrupt(outcome.failed):
        raise AlgorithmError.of(outcome.failed, result)
    if outcome.failed is not None or (outcome.interrupted and not stopped):
        raise Interrupted(result)
    return result


def threads_of(threads: int | str) -> int:
    """Threads of a run.

    Raises
    ------
    InputError
        If it is neither a number from 1 on nor "auto".
    """
    if threads == "auto":
        return processors()
    try:
        count = operator.index(threads) if not isinstance(threads, str) else int(threads)
    except (TypeError, ValueError):
        count = 0
    if not 1 <= count <= MOST_THREADS:
        shown = printable(repr(threads))
        raise InputError(f'threads: {shown:.60} is no number from 1 to {MOST_THREADS}; write 4 or "auto"')
    return count


def changes_of(sets: Sets, **values: object) -> list[tuple[str, str]]:
    """Changes as text, with those that have an argument of their own at the end."""
    from lightlag.outcomes.variables import text_of

    given = [(key, value) for key, value in values.items() if value is not None]
    return [(key, text_of(value)) for key, value in [*_pairs(sets), *given]]


def _pairs(sets: Any) -> list[tuple[str, Any]]:
    """Changes as pairs.

    Raises
    ------
    InputError
        If one is no pair of a key and a value.
    """
    remedy = 'write {"links.0.loss": 1e-4} or [("links.0.loss", 1e-4)]'
    if isinstance(sets, (str, bytes)) or not isinstance(sets, Iterable):
        raise InputError(f"sets: {printable(repr(sets)):.60} is neither a mapping nor a list of pairs; {remedy}")
    pairs = list(sets.items() if isinstance(sets, Mapping) else sets)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], str):
            raise InputError(f"sets: {printable(repr(pair)):.60} is not a pair of a key and a value; {remedy}")
        if pair[1] is None:
            raise InputError(f"sets: {printable(pair[0])}: None is not a value; {remedy}")
    return pairs


def count_of(value: Any, what: str) -> int:
    """A number of something, at least 1.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        count = operator.index(value)
    except TypeError:
        count = 0
    if count < 1 or isinstance(value, bool):
        raise InputError(f"{what}: {printable(repr(value)):.60} is not a whole number; give at least 1")
    return count
