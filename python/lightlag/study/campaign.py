"""Carries out a study: the schedule hands out runs, an executor makes them, and a watch reports progress."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lightlag import _signals
from lightlag.errors import InputError
from lightlag.machine import memory
from lightlag.machine.processors import processors
from lightlag.outcomes.plan import Run
from lightlag.study.design import StudyDesign
from lightlag.study.schedule import Schedule, Shard
from lightlag.study.store import Store
from lightlag.study.watch import Watch
from lightlag.study.work import Done
from lightlag.text.terminal import printable, say

if TYPE_CHECKING:
    from lightlag.study.executors import Executor

__all__ = ["Campaign", "Where", "carry_out", "find", "named"]


@dataclass(frozen=True, slots=True)
class Where:
    """Settings of the executor that makes the runs of a study; by default threads of this process.

    Attributes
    ----------
    jobs
        Number of threads. Defaults to one per processor.
    processes
        Number of processes of this machine, used instead of threads.
    cluster
        A dask cluster, used instead of threads: the address of a scheduler, ``local``, ``local:4``, ``slurm``, ``pbs``
        or ``sge``.
    profile
        A TOML file with the settings that the queue of a cluster requires.
    """

    jobs: int | None = None
    processes: int | None = None
    cluster: str | None = None
    profile: str | os.PathLike[str] | None = None

    @property
    def is_here(self) -> bool:
        """Whether runs use the memory of this machine."""
        return self.cluster is None or self.cluster.partition(":")[0] == "local"

    def executor(self, store: Store) -> AbstractContextManager[Executor]:
        """Returns the executor.

        Raises
        ------
        InputError
            If several executors are named, or if a cluster cannot be reached.
        """
        for name, count in (("jobs", self.jobs), ("processes", self.processes)):
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
                raise InputError(f"{name}: {printable(repr(count)):.40} is not an integer of 1 or more")
        if not isinstance(self.cluster, str | None):
            raise InputError(f"cluster: {printable(repr(self.cluster)):.40} is not a name or an address in quotes")
        named = [
            name
            for name, value in (("jobs", self.jobs), ("processes", self.processes), ("cluster", self.cluster))
            if value is not None
        ]
        if len(named) > 1:
            raise InputError(f"{' and '.join(named)} cannot be combined; write one of them")
        if self.profile is not None and self.cluster is None:
            raise InputError("profile: is for a cluster; name it with --cluster slurm")
        if self.cluster is not None:
            from lightlag.study.executors.cluster import cluster

            return cluster(self.cluster, self.profile, store)
        if self.processes is not None:
            from lightlag.study.executors.processes import processes

            return processes(self.processes, store)
        from lightlag.study.executors.threads import Threads

        return nullcontext(Threads(processors() if self.jobs is None else self.jobs))


@dataclass(frozen=True, slots=True)
class Campaign:
    """Outcome of executing a study.

    Attributes
    ----------
    schedule
        The schedule, with the runs that have finished.
    is_interrupted
        Whether a signal ended the study.
    is_spent
        Whether the study ended because the budget was spent.
    wall_s
        Elapsed time in seconds.
    """

    schedule: Schedule
    is_interrupted: bool
    is_spent: bool
    wall_s: float

    @property
    def is_complete(self) -> bool:
        """Whether every run has finished."""
        # Runs that a signal stopped are left, although nothing waits for them.
        return self.schedule.is_over and self.schedule.finished == self.schedule.total


def carry_out(
    study: StudyDesign,
    store: Store,
    where: Where | None = None,
    *,
    shard: Shard | None = None,
    style: str = "quiet",
    repeat: Callable[[Run], str] = lambda run: "",
    progress: Callable[[Schedule], object] = lambda schedule: None,
) -> Campaign:
    """Makes the runs of a study that the store does not hold.

    Parameters
    ----------
    style
        "text" for people, "json" for programs, "quiet".
    repeat
        Function that returns the command that repeats a run.
    progress
        Called at the start and after each run.

    Raises
    ------
    InputError
        If the target takes more runs than the budget allows, or if a cluster cannot be used. Finished runs are stored.
    OSError
        If runs cannot be stored. Earlier runs remain stored.
    """
    start = time.monotonic()
    plan = study.plan()
    where = Where() if where is None else where
    with where.executor(store) as executor:
        if where.is_here:
            for place, message in memory.check_plan(plan, executor.workers):
                if style == "text":
                    say(f"warning: {place}: {message}", file=sys.stderr)
        schedule = Schedule(study, store, shard)
        with Watch(study.name, schedule, executor.workers, style) as watch:

            def on_done(done: Done) -> None:
                if done.failure is not None:
                    run, reason = schedule.failures[done.key]
                    watch.failed(named(study, run), reason, repeat(run))
                watch.tick()
                progress(schedule)

            progress(schedule)
            try:
                executor.carry_out(schedule, store, on_done, _signals.asked)
            finally:
                schedule.release()
    store.compact()
    return Campaign(schedule, _signals.asked(), schedule.is_spent and not schedule.is_over, time.monotonic() - start)


def named(study: StudyDesign, run: Run) -> str:
    """Describes a run in words."""
    pairs = zip(study.plan().design.variables, run.point, strict=True)
    return ", ".join([run.congestion, *(f"{variable.label} {value}" for variable, value in pairs), f"seed {run.seed}"])


def find(study: StudyDesign, key: str) -> Run:
    """Returns the run whose key starts with this prefix.

    Raises
    ------
    InputError
        If there is no such run, or more than one.
    """
    plan = study.plan()
    found = [run for run in plan.runs() if run.key.startswith(key)]
    if len(found) != 1 or not key:
        count = "no run" if not found else f"{len(found):,} runs"
        raise InputError(
            f'"{key}": {count} of this study with such a key; "lightlag study status" lists those that failed'
        )
    return found[0]


def default_store(directory: Path) -> Path:
    """Returns the default store, which is shared by all studies with results directories next to this one."""
    return directory.parent / "store"
