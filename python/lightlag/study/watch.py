"""Reports the progress of a study: a bar on a terminal, a line per minute elsewhere, or JSON objects for programs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lightlag.study.schedule import Schedule
from lightlag.text.notebook import Bar, is_notebook
from lightlag.text.terminal import plain, say

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["Watch", "duration"]

LINE_S = 60.0
EVENT_S = 1.0


def duration(seconds: float) -> str:
    """Formats a duration for display.

    Examples
    --------
    >>> duration(0.4), duration(75), duration(7300), duration(200_000)
    ('0 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    whole = int(seconds)
    parts = [(whole // 86400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "min"), (whole % 60, "s")]
    first = next((at for at, (count, _) in enumerate(parts) if count), 3)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count or first == 3)


class Watch:
    """Reports the progress of a study.

    Parameters
    ----------
    name
        Name of the study.
    workers
        Number of simultaneous runs.
    style
        "text", "json" or "quiet".
    clock
        Monotonic clock in seconds.
    """

    def __init__(
        self, name: str, schedule: Schedule, workers: int, style: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = name
        self._schedule = schedule
        self._workers = workers
        self._style = style
        self._clock = clock
        self._start = self._last = clock()
        self._bar: Progress | None = None
        self._cell: Bar | None = None
        self._left = ""

    def __enter__(self) -> Self:
        self._event("start", name=self._name, workers=self._workers)
        if self._style == "text" and is_notebook():
            self._cell = Bar(self._name)
        elif self._style == "text" and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            left = TextColumn("{task.fields[left]}")
            self._bar = Progress(*columns, left, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._bar.add_task(self._name, total=self._schedule.total, left="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._cell is not None:
            self._cell.__exit__()
        self._event("end")

    def failed(self, run: str, reason: str, command: str) -> None:
        """Reports a failed run: the reason, and the command that repeats it."""
        if self._style == "json":
            self._event("failed", run=run, reason=reason, command=command)
        elif self._style == "text":
            say(f"failed: {run}: {reason}\n  {command}", file=sys.stderr)

    def tick(self) -> None:
        """Called after each run.

        Updates a progress bar each time, but prints lines and JSON events only at intervals.
        """
        now = self._clock()
        is_line = self._style == "text" and self._bar is None and self._cell is None
        often = LINE_S if is_line else EVENT_S
        is_due = now - self._last >= often
        if is_due:
            self._last = now
            self._left = self._estimate()
        if self._bar is not None:
            schedule = self._schedule
            self._bar.update(self._bar.tasks[0].id, completed=schedule.finished, total=schedule.total, left=self._left)
        elif self._cell is not None:
            counts = f"{self._schedule.finished:,} of {self._schedule.total:,} {self._left}"
            self._cell.show(self._schedule.finished, self._schedule.total, counts)
        elif is_due and self._style == "json":
            self._event("progress")
        elif is_due and self._style == "text":
            say(self.line(), file=sys.stderr)

    def line(self) -> str:
        """Returns the progress as a line of text."""
        schedule = self._schedule
        elapsed = max(self._clock() - self._start, 1e-9)
        rate = (schedule.finished - schedule.found) / elapsed
        failed = f", {len(schedule.failures):,} failed" if schedule.failures else ""
        speed = f"{rate:.3g} a second" if rate >= 1 else f"{60 * rate:.3g} a minute"
        return (
            f"{self._name}: {schedule.finished:,} of {schedule.total:,} runs{failed}, {speed}, "
            f"{self._estimate() or 'time left unknown'}"
        )

    def _left_s(self) -> float | None:
        schedule = self._schedule
        return schedule.left_s() / self._workers if schedule.has_costs else None

    def _estimate(self) -> str:
        left = self._left_s()
        return "" if left is None else f"about {duration(left)} left"

    def _event(self, kind: str, **values: Any) -> None:
        if self._style != "json":
            return
        schedule = self._schedule
        left = self._left_s()
        counts = {
            "finished": schedule.finished,
            "found": schedule.found,
            "total": schedule.total,
            "failed": len(schedule.failures),
            "cpu_s": round(schedule.cpu_s, 3),
            "left_s": None if left is None else round(left, 1),
        }
        print(plain(json.dumps({"event": kind} | values | counts)), flush=True)
