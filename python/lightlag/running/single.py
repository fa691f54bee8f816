"""Runs one scenario and returns its result."""

from __future__ import annotations

import json
import operator
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lightlag import _engine
from lightlag import qlog as logs
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
"""Maximum number of threads of a run."""

Progress = Callable[[float, float, int], object]
"""Progress callback: called with simulated seconds, the scenario's duration in seconds and events so far; False ends
the run.
"""


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
    qlog: str | os.PathLike[str] | None = None,
    qlog_schema: Literal["0.3", "main-14"] | None = None,
) -> Result:
    """Runs a scenario.

    Parameters
    ----------
    scenario
        A :class:`Network`, a :class:`Scenario`, a mapping of the same shape, or the path of a TOML or JSON file.
    duration, seed
        Values that replace the scenario's own.
    sets
        Further changes, such as ``{"links.0.loss": 1e-4}`` or ``[("links.0.loss", "1e-4")]``.
    progress
        Called about every `interval_s` wall-clock seconds; if it returns False, the run ends at that time. True shows a
        bar, which is the default in a notebook; False shows none.
    spool
        Directory of captures (``record.pcap``) until the result is saved. Defaults to a temporary directory. A
        directory on the disk of the results avoids copying them.
    threads
        Number of threads of the run, or ``"auto"``: one for each processor. The network is partitioned along its long
        links, if that is expected to shorten the run; the result is the same for any number. Each thread holds the
        entire network in memory.
    congestion
        The congestion control of every flow that does not name its own: a name, a table, a custom class or an object of
        one. A mapping registers classes by name, ``{"mine": Mine}``. Several are assigned to the flows in turn.
    verify
        Whether to run twice and compare the results: they differ if a custom algorithm reads the clock, or state left
        by other connections.
    qlog
        Where to write logs of the connections in qlog 0.3, for qvis: a directory, or a file ``*.sqlog`` if there is one
        flow; see :meth:`Result.qlog`. The run also has the captures that they are made from, which change no other
        record.
    qlog_schema
        Form of the logs of QUIC: ``"0.3"``, or ``"main-14"`` for draft-ietf-quic-qlog-main-schema-14. Defaults to
        ``record.pcap.qlog_schema`` of the scenario, which is 0.3 by default.

    Raises
    ------
    ScenarioError
        If the scenario cannot be run; ``errors`` lists every place and reason.
    Interrupted
        On Ctrl-C; ``result`` holds the records so far.
    AlgorithmError
        If a custom algorithm fails, or with `verify` if the run cannot be repeated.

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
        raise InputError(f"interval_s: {printable(repr(interval_s)):.60} is not a number of seconds; give 0.1")
    if congestion is not None:
        # Known before the scenario is read, which may name them.
        known = _known(congestion)
    changes = changes_of(sets, duration=duration, seed=seed)
    if qlog is not None:
        logs.check(qlog)
        changes += logs.changes(qlog_schema)
    elif qlog_schema is not None:
        raise InputError("qlog_schema: needs a path for the logs; add qlog")
    read = read_scenario(scenario, changes) if congestion is None else read_with_congestion(scenario, changes, known)
    if qlog is not None:
        logs.check_scenario(read, qlog)
    memory.check_network(read)
    memory.check_tables(read)
    with reported(progress, _progress.of_run, read.name) as reporter:
        result = run_read(read, reporter, interval_s, spool, count)
    if verify:
        check_repeats(read, result)
    if qlog is not None:
        result.qlog(qlog)
    return result


def reported(progress: Any, bar: Callable[..., AbstractContextManager[Any]], name: str) -> AbstractContextManager[Any]:
    """Returns the function that a user gave as progress, or one that shows a bar."""
    if progress is None or isinstance(progress, bool):
        return bar(name, shown=is_notebook() if progress is None else progress)
    if not callable(progress):
        raise InputError(f"progress: {printable(repr(progress)):.60} is not a function; give one, True or False")
    return nullcontext(progress)


def check_repeats(scenario: _engine.Scenario, result: Result) -> None:
    """Runs a scenario again, and compares the results.

    Raises
    ------
    AlgorithmError
        If the results differ.
    """
    again = run_read(_engine.parse(scenario.json(), "json"))
    if again.result_hash != result.result_hash:
        raise AlgorithmError(
            f"the run cannot be repeated: its hash was {result.result_hash}, and then {again.result_hash}. An "
            "algorithm reads the clock, draws random numbers elsewhere than from lightlag.uniform, or stores state "
            "from one connection to the next",
            result,
        )


def read_with_congestion(
    scenario: ScenarioLike, changes: Sequence[tuple[str, str]], congestion: Any
) -> _engine.Scenario:
    """Returns the scenario with this congestion control in its defaults; several are assigned to the flows in turn.

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
    """Returns algorithms that are assigned to flows in turn.

    A mapping of names to classes also registers the classes.
    """
    from lightlag import custom
    from lightlag.outcomes.variables import competitors

    if isinstance(congestion, Mapping) and any(map(custom.is_custom, congestion.values())):
        congestion = [custom.named(str(name), value) for name, value in congestion.items()]
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
    """As :func:`run`, for a scenario that has been read and fits into memory."""
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
    """Returns the number of threads of a run.

    Raises
    ------
    InputError
        If it is neither a positive number nor "auto".
    """
    if threads == "auto":
        return processors()
    try:
        count = operator.index(threads) if not isinstance(threads, str) else int(threads)
    except (TypeError, ValueError):
        count = 0
    if not 1 <= count <= MOST_THREADS:
        shown = printable(repr(threads))
        raise InputError(f'threads: {shown:.60} is not an integer from 1 to {MOST_THREADS}; write 4 or "auto"')
    return count


def changes_of(sets: Sets, **values: object) -> list[tuple[str, str]]:
    """Returns changes as text; the ones that have their own argument are at the end."""
    from lightlag.outcomes.variables import text_of

    given = [(key, value) for key, value in values.items() if value is not None]
    return [(key, text_of(value)) for key, value in [*_pairs(sets), *given]]


def _pairs(sets: Any) -> list[tuple[str, Any]]:
    """Returns changes as pairs.

    Raises
    ------
    InputError
        If a change is not a pair of a key and a value.
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
    """Returns a count of at least 1.

    Raises
    ------
    InputError
        If it is not a positive integer.
    """
    try:
        count = operator.index(value)
    except TypeError:
        count = 0
    if count < 1 or isinstance(value, bool):
        raise InputError(f"{what}: {printable(repr(value)):.60} is not an integer; give at least 1")
    return count
