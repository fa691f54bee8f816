"""Makes one run, or a batch of runs in a separate process. The functions take and return plain values."""

from __future__ import annotations

import functools
import hashlib
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lightlag import _engine
from lightlag.errors import AlgorithmError, InputError, ScenarioError
from lightlag.machine import memory
from lightlag.machine.watchdog import GRACE_S, in_engine, interrupt_callbacks, is_interrupt
from lightlag.outcomes.outcome import Outcome
from lightlag.records.source import Live
from lightlag.results.result import Result
from lightlag.study.entry import Entry
from lightlag.study.store import CLAIMS, Writer, open_store

__all__ = ["Batch", "Done", "Task", "build", "perform", "sees", "stop", "work"]

LOOK_S = 0.1
"""Seconds between two checks of whether a run may continue."""


@dataclass(frozen=True, slots=True)
class Task:
    """A run in the form that a worker needs.

    Attributes
    ----------
    key
        Key that identifies the run.
    text
        The scenario as JSON; `seed` replaces the seed in it.
    most_s
        Time limit in elapsed seconds; a longer run has failed.
    files
        Digests of the files that the scenario reads, in hexadecimal.
    """

    key: str
    text: str
    seed: int
    most_s: float | None = None
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Done:
    """A run that has ended, as reported by its worker.

    The entry is included if the worker cannot write to the store.
    """

    key: str
    value: float | None
    cost_s: float
    failure: str | None = None
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs that are sent to a worker together.

    Attributes
    ----------
    name
        Unique name; if it is claimed already, an earlier worker with this batch has died.
    place
        The store; empty if the worker cannot access it.
    build
        The engine that must run them.
    measure
        The metric whose value is reported.
    """

    name: str
    place: str
    tasks: tuple[Task, ...]
    build: str
    measure: str | None = None
    is_again: bool = False


def build() -> str:
    """Returns the build of this process's engine."""
    return _engine.__build__


def perform(task: Task, goes_on: Callable[[], bool] | None = None) -> Entry | None:
    """Makes a run; returns None if it was stopped. If the run fails, the entry holds the error."""
    look, start, cpu = _watch(), time.monotonic(), time.thread_time()
    overdue = False

    def watched(*_: object) -> bool:
        nonlocal overdue
        look()
        overdue = task.most_s is not None and time.monotonic() - start > task.most_s
        return not overdue and (goes_on is None or goes_on())

    def failed(reason: object) -> Entry:
        return Entry(task.key, _engine.__build__, round(time.thread_time() - cpu, 6), failure=str(reason)[:1000])

    try:
        for name, digest in task.files.items():
            if hashlib.blake2b(Path(name).read_bytes(), digest_size=16).hexdigest() != digest:
                return failed(f"{name}: is not the file that the study was planned with")
        run = in_engine(_engine.run, _engine.parse(task.text, "json", [("seed", str(task.seed))]), watched, LOOK_S)
        if run.failed is not None and is_interrupt(run.failed):
            return None
        if run.failed is not None:
            return failed(AlgorithmError.of(run.failed))
        if overdue:
            return failed(f"took longer than {task.most_s:g} s, the budget of a run")
        if run.interrupted:
            return None
        outcome = Outcome.of("", (), task.seed, Result(Live(run)), first=True)
        return Entry.of(task.key, outcome, time.thread_time() - cpu)
    except (ScenarioError, InputError, OSError, MemoryError) as error:
        return failed(error or "no memory was left")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # A panic of the engine is not an Exception.
        return failed(f"internal error (please report): {error!r}")


@functools.cache
def _watch() -> Callable[[], None]:
    return memory.watch()


def work(batch: Batch) -> list[Done]:
    """Runs a batch; each run is written to the store as it ends. Runs that a dead worker has finished are not repeated.

    Returns
    -------
    list of Done
        The runs up to the one during which :func:`stop` was called.

    Raises
    ------
    InputError
        If this process has another engine.
    """
    if batch.build != _engine.__build__:
        raise InputError(f"has lightlag {_engine.__build__}, and the study is of {batch.build}; install the same one")
    writer = None if not batch.place else _writer(batch.place)
    if writer is not None and (batch.is_again or not writer.store.claim(batch.name)):
        with _lock:
            writer.store.refresh()
    done = []
    for task in batch.tasks:
        if writer is not None:
            with _lock:
                writer.store.glance()
            if task.key in writer.store:
                value = None if batch.measure is None else writer.store.value(task.key, batch.measure)
                done.append(Done(task.key, value, 0.0))
                continue
        entry = _perform(task, batch.name)
        if entry is None:
            break
        if writer is not None:
            with _lock:
                writer.add(entry)
        value = None if batch.measure is None else entry.value(batch.measure)
        done.append(Done(task.key, value, entry.cost_s, entry.failure, entry if writer is None else None))
    if writer is not None:
        with _lock:
            writer.flush()
    return done


_at_work: dict[str, int] = {}
"""Batches that this process is working on, each with the thread that makes its runs."""
_stopped: set[str] = set()
_is_ending = threading.Event()


def _is_stopped(batch: str) -> bool:
    return _is_ending.is_set() or batch in _stopped


def _perform(task: Task, batch: str) -> Entry | None:
    """Makes a run of a batch; returns None if the batch was stopped."""
    _at_work[batch] = threading.get_ident()
    try:
        return None if _is_stopped(batch) else perform(task, lambda: not _is_stopped(batch))
    finally:
        del _at_work[batch]


def stop(batches: Collection[str] | None = None) -> None:
    """Stops the runs of batches in this process; by default of all batches, now and later.

    An algorithm that does not return is interrupted until it does.
    """
    if batches is None:
        _is_ending.set()
    else:
        _stopped.update(batches)

    def interrupt() -> None:
        while idents := [ident for name, ident in [*_at_work.items()] if _is_stopped(name)]:
            time.sleep(GRACE_S)
            interrupt_callbacks(idents)

    threading.Thread(target=interrupt, name="lightlag-stop", daemon=True).start()


def sees(place: str, name: str) -> bool:
    """Returns true if this process can read a file of a store."""
    try:
        open_store(place, make=False, look=False).files.read(f"{CLAIMS}/{name}")
    except (InputError, OSError):
        return False
    return True


_lock = threading.Lock()
_writers: dict[tuple[str, int], Writer] = {}


def _writer(place: str) -> Writer:
    """Returns this process's writer for a store.

    The writer stays open. Its journal is converted to a part after the process has ended.
    """
    with _lock:
        own = (place, os.getpid())
        if own not in _writers:
            _writers[own] = open_store(place, make=False, look=False).writer()
        return _writers[own]
