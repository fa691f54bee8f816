"""Threads of this process: the engine holds no lock of Python while it runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait

from lightlag.machine.watchdog import Watchdog, await_stopped, threads
from lightlag.outcomes.plan import Run
from lightlag.study.entry import Entry
from lightlag.study.schedule import Schedule
from lightlag.study.store import Store
from lightlag.study.work import Done, Task, perform

__all__ = ["Threads"]

AHEAD = 4
"""Maximum number of waiting runs per thread; it is limited because each wait inspects all pending runs."""
LOOK_S = 0.2
OTHERS_S = 1.0
"""Seconds between two reads of what others have added to the store."""


class Threads:
    """A pool of the given number of threads."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def carry_out(
        self, schedule: Schedule, store: Store, on_done: Callable[[Done], None], is_over: Callable[[], bool]
    ) -> None:
        """Makes the runs; each is stored as it ends."""
        stopped = False

        def goes_on() -> bool:
            return not (stopped or is_over())

        pending: dict[Future[Entry | None], tuple[Run, Task]] = {}
        measure = None if schedule.target is None else schedule.target.metric
        with store.writer() as writer, Watchdog(), threads(self.workers) as pool:

            def file(future: Future[Entry | None]) -> None:
                run, task = pending.pop(future)
                entry = future.result()
                if entry is None:
                    schedule.give_back(task.key)
                    return
                writer.add(entry)
                value = None if measure is None else entry.value(measure)
                done = Done(task.key, value, entry.cost_s, entry.failure)
                schedule.done(run, done)
                on_done(done)

            try:
                while not is_over():
                    room = AHEAD * self.workers - len(pending)
                    for run, task in itertools.islice(iter(schedule.take, None), room):
                        pending[pool.submit(perform, task, goes_on)] = (run, task)
                    if not pending:
                        return
                    for future in wait(pending, LOOK_S, return_when=FIRST_COMPLETED).done:
                        file(future)
            except BaseException:
                stopped = True
                raise
            stopped = True
            for future in await_stopped(pool, pending):
                file(future)
