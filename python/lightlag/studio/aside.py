"""Threads for long operations outside the event loop. They end with the process, whatever they do."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Generic, ParamSpec, TypeVar

__all__ = ["Desk", "aside"]

P = ParamSpec("P")
T = TypeVar("T")


async def aside(function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Calls a function in a new thread."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()
    work = threading.Thread(target=lambda: _fulfil(loop, answer, lambda: function(*args, **options)), daemon=True)
    work.start()
    return await answer


class Desk(Generic[T]):
    """An object that belongs to a thread: the first call creates it there, and calls are made one at a time."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._waiting: queue.SimpleQueue[Callable[[Callable[[], T]], None] | None] = queue.SimpleQueue()
        self._make = make
        threading.Thread(target=self._work, daemon=True).start()

    async def ask(self, call: Callable[[T], Any]) -> Any:
        """Returns the result of `call`, which is called with the object in its thread."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        self._waiting.put(lambda one: _fulfil(loop, answer, lambda: call(one())))
        return await answer

    def close(self) -> None:
        """Ends the thread after its current call."""
        self._waiting.put(None)

    def _work(self) -> None:
        one = cache(self._make)
        while (call := self._waiting.get()) is not None:
            call(one)


def _fulfil(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Any], call: Callable[[], Any]) -> None:
    def tell(value: Any, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(value)
        else:
            answer.set_exception(error)

    value, failure = None, None
    try:
        value = call()
    except BaseException as error:
        # A panic of the engine is not an Exception; the waiting caller receives it.
        failure = error if isinstance(error, Exception) else RuntimeError(f"{error!r}")
    # The loop may have ended meanwhile.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(tell, value, failure)
