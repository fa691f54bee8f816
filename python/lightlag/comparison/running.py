"""Runs several algorithms side by side."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lightlag import _engine, _signals
from lightlag.comparison.comparison import Comparison
from lightlag.errors import AlgorithmError, Interrupted
from lightlag.machine import memory
from lightlag.machine.processors import processors
from lightlag.machine.watchdog import LOOK_S, Watchdog, await_stopped, in_engine, is_interrupt, threads
from lightlag.outcomes.journal import Journal
from lightlag.outcomes.outcome import Outcome
from lightlag.outcomes.plan import Plan, Run, make
from lightlag.records.records import Records
from lightlag.records.source import Live
from lightlag.running.single import changes_of, count_of, reported
from lightlag.text.progress import of_count

if TYPE_CHECKING:
    from lightlag.outcomes.variables import Competitors, Vary
    from lightlag.scenario import ScenarioLike, Sets

__all__ = ["carry_out", "compare"]


def compare(
    scenario: ScenarioLike | Sequence[ScenarioLike],
    congestion: Competitors | None = None,
    *,
    vary: Vary = (),
    replications: int = 10,
    duration: str | None = None,
    seed: int | None = None,
    sets: Sets = (),
    jobs: int | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
    journal: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Runs a scenario with several congestion-control algorithms, each with the same seeds.

    The algorithm is set for every flow that does not name its own.

    Parameters
    ----------
    scenario
        As for :func:`run`; or a list of scenarios, which then vary like a key.
    congestion
        Names of algorithms or their tables; by default all of them. ``"cubic/bbr"`` lets the two compete: they are
        assigned to the flows of a run in turn. A mapping gives labels:
        ``{"no HyStart": {"algorithm": "cubic", "slow_start": "standard"}}``. If every flow names its own and there are
        variables, None leaves them unchanged.
    vary
        Keys of the scenario with values, ``{"links.1.loss": [0, 1e-3], "links.1.rate": ["5 Mbit/s", "20 Mbit/s"]}``:
        every combination is run. Keys with ``+`` between them take the same value; a label may precede them, ``"PER:
        links.1.loss+links.2.loss"``.
    replications
        Runs of each algorithm at each point, with seeds `seed`, `seed` + 1, ...
    duration, sets
        As for :func:`run`, for every run.
    seed
        The first seed; by default the scenario's own.
    jobs
        Number of simultaneous runs; by default one for each processor. The results do not depend on it.
    progress
        Called after each run with the number of finished runs and the total. True shows a bar, which is the default
        in a notebook; False shows none.
    journal
        A file that stores each run as it finishes. Runs that it already holds are not repeated.

    Raises
    ------
    ScenarioError
        If a scenario cannot be run; the message names its point, and no run was started.
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
    >>> vary = {"links.0.delay": ["10 ms", "100 ms"]}
    >>> comparison = ll.compare(net, ["cubic"], vary=vary, replications=2, duration="60 s")
    >>> comparison.summary.filter(measure="goodput_bps").select("delay", "runs").rows()
    [('10 ms', 2), ('100 ms', 2)]
    """
    jobs = processors() if jobs is None else count_of(jobs, "jobs")
    replications = count_of(replications, "replications")
    plan = make(scenario, congestion, vary, replications, changes_of(sets, duration=duration, seed=seed))
    with reported(progress, of_count, str(plan.design.scenario["name"])) as tell:
        return carry_out(plan, jobs, tell, journal)


def carry_out(
    plan: Plan,
    jobs: int,
    progress: Callable[[int, int], object] | None = None,
    journal: str | os.PathLike[str] | None = None,
    *,
    fresh: bool = False,
) -> Comparison:
    """Makes the runs of a plan and returns the comparison; :func:`compare` makes the plan itself.

    Parameters
    ----------
    fresh
        Also repeat the runs that the journal holds, and replace it.
    """
    outcomes: dict[str, Outcome] = {}
    memory.check_plan(plan, jobs)
    if journal is None:
        finished = _run_all(plan, jobs, outcomes, progress, None)
    else:
        with Journal(journal, fresh=fresh) as written:
            keys = (run.key for run in plan.runs())
            outcomes |= {key: written.finished[key] for key in keys if key in written.finished}
            finished = _run_all(plan, jobs, outcomes, progress, written)
    ordered = plan.ordered(outcomes)
    comparison = Comparison(plan.design, [outcome for _, outcome in ordered], [key for key, _ in ordered])
    if not finished:
        raise Interrupted(comparison)
    return comparison


def _run_all(
    plan: Plan,
    jobs: int,
    outcomes: dict[str, Outcome],
    progress: Callable[[int, int], object] | None,
    journal: Journal | None,
) -> bool:
    """Makes the remaining runs and stores the outcomes; returns whether all have finished.

    Threads suffice, because the engine does not hold Python's lock.
    """
    from concurrent.futures import FIRST_COMPLETED, Future, wait

    stop = threading.Event()

    look = memory.watch()

    def is_over() -> bool:
        return stop.is_set() or _signals.asked()

    def goes_on(*_: object) -> bool:
        look()
        return not is_over()

    def work(run: Run) -> Outcome | None:
        result = None if is_over() else in_engine(_engine.run, run.scenario(), goes_on, 0.05)
        if result is not None and result.failed is not None:
            if is_interrupt(result.failed):
                return None
            raise AlgorithmError.of(result.failed, run=f"{run.congestion}, seed {run.seed}, ")
        if result is None or result.interrupted:
            return None
        first = run.seed == plan.design.seed
        return Outcome.of(run.congestion, run.point, run.seed, Records(Live(result)), first=first)

    def file(key: str, outcome: Outcome | None) -> None:
        if outcome is not None:
            outcomes[key] = outcome
            if journal is not None:
                journal.add(key, outcome)

    with Watchdog(), threads(jobs) as pool:
        pending: dict[Future[Outcome | None], str] = {}
        keyed = ((run.key, run) for run in plan.runs())
        left = iter([(key, run) for key, run in keyed if key not in outcomes])
        try:
            while True:
                if _signals.asked():
                    raise KeyboardInterrupt
                # A few more than the threads: the waiting thread inspects all pending runs.
                for key, run in itertools.islice(left, 4 * jobs - len(pending)):
                    pending[pool.submit(work, run)] = key
                if not pending:
                    break
                # In a program polars restarts calls that a signal ends: without a time Ctrl-C would wait for a run.
                done, _ = wait(pending, LOOK_S, return_when=FIRST_COMPLETED)
                for future in done:
                    file(pending.pop(future), future.result())
                    if progress is not None:
                        progress(len(outcomes), plan.run_count)
            return True
        except KeyboardInterrupt:
            stop.set()
            for future in await_stopped(pool, pending):
                file(pending[future], future.result())
            return False
        except BaseException:
            stop.set()
            raise
