"""Executors of runs: threads of this process, processes of this machine, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lightlag.study.schedule import Schedule
from lightlag.study.store import Store
from lightlag.study.work import Done

__all__ = ["Executor"]


class Executor(Protocol):
    """Makes the runs of a schedule. The results do not depend on the executor."""

    workers: int
    """Number of simultaneous runs."""

    def carry_out(
        self, schedule: Schedule, store: Store, on_done: Callable[[Done], None], is_over: Callable[[], bool]
    ) -> None:
        """Makes runs until nothing is left, the budget is spent, or `is_over` returns true.

        Parameters
        ----------
        on_done
            Called after each run, in this thread.

        Raises
        ------
        OSError
            If runs cannot be stored. Earlier runs remain stored.
        """
