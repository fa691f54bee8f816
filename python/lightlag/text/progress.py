"""Progress bars on stderr or below a notebook cell: simulated time, speed and estimated time left.

Nothing is shown if stderr is not a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lightlag.text.notebook import Bar, is_notebook

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

__all__ = ["of_capture", "of_count", "of_run"]


@contextmanager
def of_run(name: str, *, shown: bool) -> Iterator[Callable[[float, float, int], None] | None]:
    """Shows a bar for one run; yields the progress callback for :func:`lightlag.run`."""
    if shown and is_notebook():
        with Bar(name) as cell:
            yield lambda now_s, end_s, events: cell.show(now_s, end_s, f"{now_s:.4g} of {end_s:g} s")
        return
    if not shown or not sys.stderr.isatty():
        yield None
        return
    with _bar("{task.completed:.4g} of {task.total:g} s", "{task.fields[speed]}") as bar:

        def progress(simulated_s: float, duration_s: float, events: int) -> None:
            if not bar.tasks:
                bar.add_task(name, total=duration_s, speed="")
            task = bar.tasks[0]
            ratio = simulated_s / task.elapsed if task.elapsed else 0.0
            speed = f"{ratio:,.{1 if ratio < 10 else 0}f} × real time" if ratio else ""
            bar.update(task.id, completed=simulated_s, speed=speed)

        yield progress


@contextmanager
def of_count(name: str, *, shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Shows a bar for runs of a comparison or frames of a film; yields the function to call with the number done and
    the total.
    """
    if shown and is_notebook():
        with Bar(name) as cell:
            yield lambda done, total: cell.show(done, total, f"{done:,} of {total:,}")
        return
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import MofNCompleteColumn

    with _bar(MofNCompleteColumn()) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def of_capture(name: str, *, shown: bool) -> Iterator[Callable[[int, int, int], None] | None]:
    """Shows a bar while a capture is read; yields the progress callback for :func:`lightlag.inspect`."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import DownloadColumn

    with _bar(DownloadColumn(), "{task.fields[packets]} packets") as bar:
        task = bar.add_task(name, total=None, packets="0")

        def progress(read: int, size: int, packets: int) -> None:
            bar.update(task, completed=read, total=size or None, packets=f"{packets:,}")

        yield progress


def _bar(*columns: str | ProgressColumn) -> Progress:
    """Returns a bar with its name before it, and the remaining time after the given columns (texts, or columns of
    rich).
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    shown = [TextColumn(column) if isinstance(column, str) else column for column in columns]
    head = TextColumn("{task.description}")
    return Progress(head, BarColumn(), *shown, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
