"""Threads beside the loop, for what takes long. They end with the process, whatever they do."""

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
    """Calls a function in a thread of its own."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()
    work = threading.Thread(target=lambda: _fulfil(loop, answer, lambda: function(*args, **options)), daemon=True)
    work.start()
    return await answer


class Desk(Generic[T]):
    """An object that lives in a thread: it is made there with the first call, and its calls follow each other."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._waiting: queue.SimpleQueue[Callable[[Callable[[], T]], None] | None] = queue.SimpleQueue()
        self._make = make
        threading.Thread(target=self._work, daemon=True).start()

    async def ask(self, call: Callable[[T], Any]) -> Any:
        """The result of `call` with the object."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        self._waiting.put(lambda one: _fulfil(loop, answer, lambda: call(one())))
        return await answer

    def close(self) -> None:
        """Ends the thread after the call that it is at."""
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
        # A panic of the engine is no Exception; whoever waits gets to know it.
        failure = error if isinstance(error, Exception) else RuntimeError(f"{error!r}")
    # The loop may have ended meanwhile.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(tell, value, failure)
