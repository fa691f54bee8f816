"""Batches of runs for workers that are processes of their own; those of workers that die are made again."""

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
"""CPU seconds of a batch at least."""
HANDING_S = 0.0025
"""Time of client and scheduler to hand one out: benchmarks/studies. With many workers batches are longer, so that half
of the client's time suffices."""
MOST = 200
"""Runs of a batch at most."""
AHEAD = 2
"""Batches for each worker: one that runs and one that waits."""
LOOK_S = 0.2
DEATHS = 3
"""Workers that a run may kill before it counts as failed."""
ANSWER_S = 2.0
"""For a worker to answer after its runs have ended."""
OVERDUE = 20.0
OVERDUE_S = 60.0
"""A batch that takes so many times what it should, and at least so many seconds, goes to another worker as well: its
own one may hang. The results are the same, and the first to come counts."""


class WorkerDiedError(Exception):
    """The worker of a batch has died."""


class Pool(Protocol):
    """Workers."""

    workers: int
    place: str
    """The store as they see it; empty if they do not."""

    def submit(self, batch: Batch, *, apart_from: object = None) -> Any:
        """Hands out a batch; gives a token for it. `apart_from` is that of the same runs at a worker that hangs."""

    def wait(self, tokens: list[Any], seconds: float) -> list[Any]:
        """The tokens of batches that have ended by then."""

    def result(self, token: Any) -> list[Done]:
        """The runs of a batch that has ended.

        Raises
        ------
        WorkerDiedError
            If its worker died.
        """

    def stop(self, batches: Collection[str]) -> None:
        """Ends the runs of batches with these names, whose results hold those before."""

    def forget(self, token: Any) -> None:
        """A batch whose result nobody needs."""


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
    """Makes the runs of a schedule in batches by a pool."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.workers = pool.workers

    def carry_out(
        self, schedule: Schedule, store: Store, told: Callable[[Done], None], is_over: Callable[[], bool]
    ) -> None:
        """Makes the runs; workers write them where they can, otherwise this process does."""
        measure = None if schedule.target is None else schedule.target.measure
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
                    # The same runs are elsewhere, too.
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
                told(done)
            # The batch was stopped.
            for key in flight.runs:
                schedule.give_back(key)

        def again(flight: _Flight) -> None:
            """A worker died: what it had finished is in the store, the rest goes out again, one by one."""
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
                    done = Done(task.key, None, 0.0, f"{deaths} workers died of it, most likely for want of memory")
                else:
                    send({task.key: (run, task)}, deaths)
                    continue
                schedule.done(run, done)
                told(done)

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
        """Ends the runs of all workers and takes the results before them; leaves workers that do not answer."""
        self.pool.stop([flight.batch.name for flight in flights.values()])
        until = time.monotonic() + STOP_S + ANSWER_S
        while flights and time.monotonic() < until:
            for token in self.pool.wait(list(flights), LOOK_S):
                land(token)

    def _batch_seconds(self, schedule: Schedule) -> float:
        """Batches become smaller toward the end, so that all workers end together."""
        wanted = max(BATCH_S, 2 * HANDING_S * self.workers)
        return min(wanted, schedule.left_s() / (AHEAD * self.workers))

    def _double(self, flights: dict[Any, _Flight]) -> None:
        now = time.monotonic()
        for token, flight in list(flights.items()):
            if flight.twin is None and now - flight.since > max(OVERDUE_S, OVERDUE * flight.expected_s):
                twin = self.pool.submit(replace(flight.batch, is_again=True), apart_from=token)
                flights[twin] = replace(flight, twin=token, since=now)
                flight.twin = twin
