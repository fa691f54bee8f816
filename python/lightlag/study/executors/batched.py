"""Batches of runs for worker processes. If a worker dies, its batch is made again."""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Protocol

from lightlag import _engine
from lightlag.machine.watchdog import STOP_S
from lightlag.outcomes.plan import Run
from lightlag.study.schedule import Schedule, batches
from lightlag.study.store import Store
from lightlag.study.work import Batch, Done, Task

__all__ = ["Batched", "Pool", "WorkerDiedError"]

BATCH_S = 0.5
"""Minimum CPU seconds of a batch."""
HANDING_S = 0.0025
"""Seconds that client and scheduler need to hand out a batch (benchmarks/studies).

With many workers batches are longer, so that half of the client's time suffices."""
MOST = 200
"""Maximum number of runs of a batch."""
AHEAD = 2
"""Maximum number of batches per worker: one that runs and one that waits."""
LOOK_S = 0.2
DEATHS = 3
"""Number of workers that may die during a run before the run counts as failed."""
ANSWER_S = 2.0
"""Time limit in seconds for the reply of a worker after its runs have ended."""
OVERDUE = 20.0
OVERDUE_S = 60.0
"""A batch that exceeds its expected time by this factor and by at least this many seconds is also given to another
worker, because the first may hang. The results are equal, and the first one counts.
"""


class WorkerDiedError(Exception):
    """The worker of a batch has died."""


class Pool(Protocol):
    """Interface to a pool of workers."""

    workers: int
    place: str
    """Address of the store for the workers; empty if they cannot access it."""

    def submit(self, batch: Batch, *, apart_from: object = None) -> Any:
        """Hands out a batch; returns a token for it.

        `apart_from` is the token of the same runs at a worker that may hang: it must be another worker.
        """

    def wait(self, tokens: list[Any], seconds: float) -> list[Any]:
        """Waits for at most `seconds`; returns the tokens of batches that have ended."""

    def result(self, token: Any) -> list[Done]:
        """Returns the runs of a batch that has ended.

        Raises
        ------
        WorkerDiedError
            If its worker died.
        """

    def stop(self, batches: Collection[str]) -> None:
        """Stops the runs of batches with these names; their results have the runs finished before."""

    def forget(self, token: Any) -> None:
        """Discards a batch whose result is not needed."""


@dataclass(slots=True)
class _Flight:
    """A batch that was handed out."""

    runs: dict[str, Run]
    batch: Batch
    since: float
    expected_s: float
    deaths: int = 0
    twin: Any = None


class Batched:
    """Makes the runs of a schedule in batches, with a pool of workers."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.workers = pool.workers

    def carry_out(
        self, schedule: Schedule, store: Store, on_done: Callable[[Done], None], is_over: Callable[[], bool]
    ) -> None:
        """Makes the runs. Workers write the results to the store if they can access it, otherwise this process does."""
        measure = None if schedule.target is None else schedule.target.metric
        flights: dict[Any, _Flight] = {}
        names = (f"{secrets.token_hex(8)}-{at}" for at in itertools.count())
        claimed: list[str] = []

        def send(taken: dict[str, tuple[Run, Task]], deaths: int = 0) -> None:
            name = next(names)
            claimed.append(name)
            tasks = tuple(task for _, task in taken.values())
            batch = Batch(name, self.pool.place, tasks, _engine.__build__, measure, is_again=False)
            expected = sum(schedule.expected(key) for key in taken)
            runs = {key: run for key, (run, _) in taken.items()}
            flights[self.pool.submit(batch)] = _Flight(runs, batch, time.monotonic(), expected, deaths)

        def land(token: Any) -> None:
            flight = flights.pop(token, None)
            if flight is None:
                return
            twin = flights.pop(flight.twin, None) if flight.twin is not None else None
            try:
                found = self.pool.result(token)
            except WorkerDiedError:
                if twin is not None:
                    # The same runs are also at another worker.
                    twin.twin, flights[flight.twin] = None, twin
                    return
                again(flight)
                return
            if twin is not None:
                self.pool.forget(flight.twin)
            for done in found:
                if done.entry is not None:
                    writer.add(done.entry)
                schedule.done(flight.runs.pop(done.key), replace(done, entry=None))
                on_done(done)
            # The batch was stopped.
            for key in flight.runs:
                schedule.give_back(key)

        def again(flight: _Flight) -> None:
            """Handles a dead worker: its finished runs are stored, the others are handed out again, one by one."""
            store.refresh()
            deaths = flight.deaths + 1 if len(flight.runs) == 1 else flight.deaths
            for task in flight.batch.tasks:
                run = flight.runs[task.key]
                if task.key in store:
                    done = Done(task.key, None if measure is None else store.value(task.key, measure), 0.0)
                elif is_over():
                    schedule.give_back(task.key)
                    continue
                elif deaths >= DEATHS:
                    done = Done(
                        task.key,
                        None,
                        0.0,
                        f"{deaths} workers died during this run, most likely because memory ran out",
                    )
                else:
                    send({task.key: (run, task)}, deaths)
                    continue
                schedule.done(run, done)
                on_done(done)

        with store.writer() as writer:
            try:
                while not is_over():
                    room = AHEAD * self.workers - len(flights)
                    size = self._batch_seconds(schedule)
                    for taken in itertools.islice(batches(schedule, size, MOST), max(0, room)):
                        send({task.key: (run, task) for run, task in taken})
                    if not flights:
                        return
                    for token in self.pool.wait(list(flights), LOOK_S):
                        land(token)
                    self._double(flights)
                self._stop(flights, land)
            finally:
                for token, flight in flights.items():
                    self.pool.forget(token)
                    for key in flight.runs:
                        schedule.give_back(key)
                for name in claimed:
                    store.release(name)

    def _stop(self, flights: dict[Any, _Flight], land: Callable[[Any], None]) -> None:
        """Stops the runs of all workers and collects earlier results; abandons workers that do not reply."""
        self.pool.stop([flight.batch.name for flight in flights.values()])
        until = time.monotonic() + STOP_S + ANSWER_S
        while flights and time.monotonic() < until:
            for token in self.pool.wait(list(flights), LOOK_S):
                land(token)

    def _batch_seconds(self, schedule: Schedule) -> float:
        """Returns the CPU seconds of the next batch.

        Batches become smaller toward the end, so that all workers end together.
        """
        wanted = max(BATCH_S, 2 * HANDING_S * self.workers)
        return min(wanted, schedule.left_s() / (AHEAD * self.workers))

    def _double(self, flights: dict[Any, _Flight]) -> None:
        now = time.monotonic()
        for token, flight in list(flights.items()):
            if flight.twin is None and now - flight.since > max(OVERDUE_S, OVERDUE * flight.expected_s):
                twin = self.pool.submit(replace(flight.batch, is_again=True), apart_from=token)
                flights[twin] = replace(flight, twin=token, since=now)
                flight.twin = twin
