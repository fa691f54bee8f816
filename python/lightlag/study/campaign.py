"""A study is carried out: the schedule hands out runs, an executor makes them, a watch says how far it is."""

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
    """Where runs are made: threads of this process, unless something else is named.

    Attributes
    ----------
    jobs
        Threads; by default one for each processor.
    processes
        Processes of this machine instead.
    cluster
        A dask cluster instead: the address of a scheduler, ``local``, ``local:4``, ``slurm``, ``pbs`` or ``sge``.
    profile
        A TOML file with what the queue of a cluster asks for.
    """

    jobs: int | None = None
    processes: int | None = None
    cluster: str | None = None
    profile: str | os.PathLike[str] | None = None

    @property
    def is_here(self) -> bool:
        """Whether runs take memory of this machine."""
        return self.cluster is None or self.cluster.partition(":")[0] == "local"

    def executor(self, store: Store) -> AbstractContextManager[Executor]:
        """The executor.

        Raises
        ------
        InputError
            If several are named, or if a cluster cannot be reached.
        """
        for name, count in (("jobs", self.jobs), ("processes", self.processes)):
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
                raise InputError(f"{name}: {printable(repr(count)):.40} is not a whole number from 1 on")
        if not isinstance(self.cluster, str | None):
            raise InputError(f"cluster: {printable(repr(self.cluster)):.40} is not a name or an address in quotes")
        named = [
            name
            for name, value in (("jobs", self.jobs), ("processes", self.processes), ("cluster", self.cluster))
            if value is not None
        ]
        if len(named) > 1:
            raise InputError(f"{' and '.join(named)} contradict each other: runs are made in one place; write one")
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
    """What came of it.

    Attributes
    ----------
    schedule
        Its runs, as far as they have come.
    is_interrupted
        Whether a signal ended it.
    is_spent
        Whether the budget did.
    wall_s
        Time that it took.
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
        The command that repeats a run.
    progress
        Called at the start and after each run.

    Raises
    ------
    InputError
        If the target takes more runs than the budget has, or if a cluster cannot be used. Finished runs are kept.
    OSError
        If runs cannot be kept. Those before are.
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

            def told(done: Done) -> None:
                if done.failure is not None:
                    run, reason = schedule.failures[done.key]
                    watch.failed(named(study, run), reason, repeat(run))
                watch.tick()
                progress(schedule)

            progress(schedule)
            try:
                executor.carry_out(schedule, store, told, _signals.asked)
            finally:
                schedule.release()
    store.compact()
    return Campaign(schedule, _signals.asked(), schedule.is_spent and not schedule.is_over, time.monotonic() - start)


def named(study: StudyDesign, run: Run) -> str:
    """A run in words."""
    pairs = zip(study.plan().design.variables, run.point, strict=True)
    return ", ".join([run.congestion, *(f"{variable.label} {value}" for variable, value in pairs), f"seed {run.seed}"])


def find(study: StudyDesign, key: str) -> Run:
    """The run whose key starts so.

    Raises
    ------
    InputError
        If there is none, or more than one.
    """
    plan = study.plan()
    found = [run for run in plan.runs() if run.key.startswith(key)]
    if len(found) != 1 or not key:
        count = "no run" if not found else f"{len(found):,} runs"
        raise InputError(
            f'"{key}": {count} of this study with such a key; "lightlag study status" lists those that failed'
        )
    return found[0]


def default_store(folder: Path) -> Path:
    """The store of the studies whose results stand beside each other."""
    return folder.parent / "store"
