"""Processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection

from lightlag.errors import InputError
from lightlag.machine.children import end_with_parent
from lightlag.machine.watchdog import STOP_S, handle_nudges
from lightlag.study.executors.batched import Batched, WorkerDiedError
from lightlag.study.store import Store
from lightlag.study.work import Batch, Done, stop, work

__all__ = ["processes"]


@contextmanager
def processes(workers: int, store: Store) -> Iterator[Batched]:
    """Starts the given number of processes.

    Raises
    ------
    InputError
        If the processes cannot share the store.
    """
    if not store.files.can_append:
        raise InputError(f"{store.place}: processes of this machine share a directory; name one with --store")
    pool = Processes(workers, store.address)
    try:
        yield Batched(pool)
    finally:
        pool.end()


class Processes:
    """A pool of processes. If one dies, all are restarted, because the pool cannot continue without it."""

    def __init__(self, workers: int, place: str) -> None:
        self.workers = workers
        self.place = place
        self._context = multiprocessing.get_context("spawn")
        _start_tracker()
        # Workers wait for the end of this pipe, which also comes if this process dies.
        self._stops, self._open = self._context.Pipe(duplex=False)
        self._pool = self._started()

    def end(self) -> None:
        """Stops the runs and ends the processes."""
        self.stop()
        self._pool.shutdown(cancel_futures=True)
        self._stops.close()

    def _started(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, mp_context=self._context, initializer=_begin, initargs=(self._stops,))

    def submit(self, batch: Batch, *, apart_from: object = None) -> Future[list[Done]]:
        """Hands out a batch."""
        try:
            return self._pool.submit(work, batch)
        except BrokenProcessPool:
            self._pool.shutdown(wait=False)
            self._pool = self._started()
            return self._pool.submit(work, batch)

    def wait(self, tokens: list[Future[list[Done]]], seconds: float) -> list[Future[list[Done]]]:
        """Waits for at most `seconds`; returns the batches that have ended."""
        return list(wait(tokens, seconds, return_when=FIRST_COMPLETED).done)

    def result(self, token: Future[list[Done]]) -> list[Done]:
        """Returns the runs of a batch that has ended."""
        try:
            return token.result()
        except BrokenProcessPool:
            raise WorkerDiedError from None

    def stop(self, batches: Collection[str] = ()) -> None:
        """Stops the runs of all batches. A worker whose run does not stop within `STOP_S` is ended without it."""
        self._open.close()

    def forget(self, token: Future[list[Done]]) -> None:
        """Discards a batch whose result is not needed."""
        token.cancel()


def _start_tracker() -> None:
    """Starts the process that removes the semaphores of a pool.

    If this process is ended immediately, that process prints no warning.
    """
    option = "ignore:resource_tracker"
    sys.warnoptions.append(option)
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove(option)


def _begin(stops: Connection) -> None:
    """Prepares a worker process, which ends when its parent does, and stops its run when the pipe `stops` is closed.

    Ctrl-C reaches all processes of a terminal, so workers ignore it; the parent ends them, so that no output is
    truncated.
    """
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    handle_nudges()

    def wait_for_end() -> None:
        stops.poll(None)
        stop()
        # An idle worker has gone by then.
        time.sleep(STOP_S)
        os._exit(1)

    threading.Thread(target=wait_for_end, name="lightlag-end", daemon=True).start()
