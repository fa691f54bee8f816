"""Processes of this machine."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from lightlag._children import end_with_parent
from lightlag.errors import InputError
from lightlag.study.executors.batched import Batched, WorkerDiedError
from lightlag.study.store import Store
from lightlag.study.work import Batch, Done, work

__all__ = ["processes"]


@contextmanager
def processes(workers: int, store: Store) -> Iterator[Batched]:
    """So many processes.

    Raises
    ------
    InputError
        If they cannot share the store.
    """
    if not store.files.can_append:
        raise InputError(f"{store.place}: processes of this machine share a folder; name one with --store")
    pool = Processes(workers, store.address)
    try:
        yield Batched(pool)
    finally:
        pool.end()


class Processes:
    """A pool of processes. If one dies, all are started anew, since the pool cannot go on without it."""

    def __init__(self, workers: int, place: str) -> None:
        self.workers = workers
        self.place = place
        self._pool = self._started()

    def end(self) -> None:
        """Ends the processes after the batches that run."""
        self._pool.shutdown(cancel_futures=True)

    def _started(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, mp_context=context, initializer=_begin)

    def submit(self, batch: Batch, *, apart_from: object = None) -> Future[list[Done]]:
        """Hands out a batch."""
        try:
            return self._pool.submit(work, batch)
        except BrokenProcessPool:
            self._pool.shutdown(wait=False)
            self._pool = self._started()
            return self._pool.submit(work, batch)

    def wait(self, tokens: list[Future[list[Done]]], seconds: float) -> list[Future[list[Done]]]:
        """The batches that have ended by then."""
        return list(wait(tokens, seconds, return_when=FIRST_COMPLETED).done)

    def result(self, token: Future[list[Done]]) -> list[Done]:
        """The runs of a batch that has ended."""
        try:
            return token.result()
        except BrokenProcessPool:
            raise WorkerDiedError from None

    def forget(self, token: Future[list[Done]]) -> None:
        """A batch whose result nobody needs."""
        token.cancel()


def _begin() -> None:
    """Prepares a worker.

    Ctrl-C goes to all processes of a terminal; the parent ends the others, so that nothing of theirs is cut off.
    """
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
