"""Handles custom algorithms that do not return, and signals that cannot be handled meanwhile.

A run checks for signals between events. An algorithm that never returns prevents this: a loop in Python, a sleep,
machine code. While a command calls the engine, a thread reads the numbers of signals as they arrive, which needs no
bytecode of the main thread (:func:`signal.set_wakeup_fd`):

- Some time after the first signal it raises KeyboardInterrupt in every callback of the engine, until the run has ended.
  Runs in other threads than the main one are left alone if that does not end them.
- The second one ends the process. Finished work remains where it was written as it finished.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from lightlag import _signals

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = [
    "STOP_S",
    "Watchdog",
    "await_stopped",
    "handle_nudges",
    "has_left_threads",
    "in_engine",
    "interrupt_callbacks",
    "is_in_callback",
    "is_interrupt",
    "threads",
]

P = ParamSpec("P")
R = TypeVar("R")

GRACE_S = 0.5
"""Seconds from a signal until callbacks are interrupted, and between two attempts."""
STOP_S = 5.0
"""Seconds that runs of other threads and processes have to end after a signal. Then they are abandoned."""
LOOK_S = 0.2
"""Seconds between two checks for a signal while runs are made."""
_NUDGE = getattr(signal, "SIGURG", None)
"""A signal that is ignored unless handled, sent to the main thread to interrupt a system call."""
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_CUSTOM = str(Path(__file__).parents[1] / "custom") + os.sep


def in_engine(call: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
    """Calls the engine. Stack frames above this one belong to callbacks of the engine."""
    return call(*args, **options)


def is_in_callback(frame: FrameType | None) -> bool:
    """Returns True if a thread with this innermost frame runs a callback of the engine that is not lightlag's own."""
    above = None
    while frame is not None:
        if frame.f_code is in_engine.__code__:
            name = above.f_code.co_filename if above is not None else _PACKAGE
            return not name.startswith(_PACKAGE) or name.startswith(_CUSTOM)
        above, frame = frame, frame.f_back
    return False


def interrupt_callbacks(threads: Collection[int] | None = None) -> int:
    """Raises KeyboardInterrupt in every thread but this one that runs a callback; returns their number.

    In the main thread it also ends a system call such as a sleep.

    Parameters
    ----------
    threads
        Identifiers of the only threads to interrupt.
    """
    main = threading.main_thread().ident
    found = [ident for ident, frame in sys._current_frames().items() if is_in_callback(frame)]
    for ident in found if threads is None else set(found).intersection(threads):
        if ident == main and _NUDGE is not None and signal.getsignal(_NUDGE) is _raise_in_callback:
            signal.pthread_kill(ident, _NUDGE)
        elif ident != threading.get_ident():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(KeyboardInterrupt))
    return len(found)


def handle_nudges() -> None:
    """Lets :func:`interrupt_callbacks` end system calls of the main thread, which must call this function."""
    if _NUDGE is not None:
        signal.signal(_NUDGE, _raise_in_callback)


_left: list[ThreadPoolExecutor] = []
"""Pools with threads that have not ended."""


@contextmanager
def threads(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Yields a pool of threads.

    The end of the block waits for them, except for those that :func:`await_stopped` has left.
    """
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(workers)
    try:
        yield pool
    finally:
        pool.shutdown(wait=pool not in _left, cancel_futures=True)


def await_stopped(pool: ThreadPoolExecutor, pending: Collection[Future[R]]) -> list[Future[R]]:
    """Waits for runs that were requested to stop, and interrupts their callbacks; returns the runs that ended within
    `STOP_S`.

    A run whose algorithm swallows every exception, or loops in native code, never ends. Its thread is left alone: a
    command ends without it, see :func:`has_left_threads`.
    """
    from concurrent.futures import wait

    until = time.monotonic() + STOP_S
    while (left := wait(pending, GRACE_S).not_done) and time.monotonic() < until:
        interrupt_callbacks()
    if left:
        _left.append(pool)
    return [one for one in pending if one not in left]


def has_left_threads() -> bool:
    """Returns True if threads that never end would keep this process from ending."""
    return bool(_left)


def is_interrupt(failed: tuple[str, float, str]) -> bool:
    """Returns True if the failure of an algorithm, as the engine reports it, is a KeyboardInterrupt."""
    return any(line.rstrip(": ").endswith("KeyboardInterrupt") for line in failed[2].splitlines())


def _raise_in_callback(_: int, frame: FrameType | None) -> None:
    if is_in_callback(frame):
        raise KeyboardInterrupt


class Watchdog:
    """Handles signals within the block, in the main thread of the command."""

    def __init__(self) -> None:
        self._read, self._write = -1, -1
        self._before = -1
        self._handler: Any = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        is_main = threading.current_thread() is threading.main_thread()
        if not (is_main and _signals.IS_COMMAND) or sys.platform == "win32":
            return
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._handler = None if _NUDGE is None else signal.signal(_NUDGE, _raise_in_callback)
        self._thread = threading.Thread(target=self._watch, name="lightlag-signals", daemon=True)
        self._thread.start()

    def __exit__(self, *_: Any) -> None:
        if self._thread is None:
            return
        signal.set_wakeup_fd(self._before)
        if _NUDGE is not None:
            signal.signal(_NUDGE, signal.SIG_DFL if self._handler is None else self._handler)
        os.close(self._write)
        self._thread.join()
        os.close(self._read)
        self._thread = None

    def _watch(self) -> None:
        seen, since, last = 0, 0.0, int(signal.SIGINT)
        while True:
            ready, _, _ = select.select([self._read], [], [], GRACE_S if seen else None)
            if ready:
                numbers = os.read(self._read, 64)
                if not numbers:
                    return
                ours = sum(number in _signals.NUMBERS for number in numbers)
                since = since if seen else time.monotonic()
                seen += ours
                last = next((number for number in numbers if number in _signals.NUMBERS), last)
            if seen >= _signals.ENOUGH:
                # The handler of the main thread does the same, if it gets there.
                _signals.end_at_once(last)
            elif seen and time.monotonic() - since >= GRACE_S:
                interrupt_callbacks()
