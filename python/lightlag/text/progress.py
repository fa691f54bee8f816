"""Progress bars: simulated time, speed and estimate, on stderr or below the cell of a notebook.

Nothing where stderr is no terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lightlag.text.notebook import Bar, is_notebook

__all__ = ["of_capture", "of_count", "of_run"]


@contextmanager
def of_run(name: str, *, shown: bool) -> Iterator[Callable[[float, float, int], None] | None]:
    """A bar for one run; gives what :func:`lightlag.run` takes as progress."""
    if shown and is_notebook():
        with Bar(name) as cell:
            yield lambda now_s, end_s, events: cell.show(now_s, end_s, f"{now_s:.4g} of {end_s:g} s")
        return
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.4g} of {task.total:g} s"),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

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
    """A bar for runs of a comparison or pictures of a film; gives what takes the number done and that of all."""
    if shown and is_notebook():
        with Bar(name) as cell:
            yield lambda done, total: cell.show(done, total, f"{done:,} of {total:,}")
        return
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def of_capture(name: str, *, shown: bool) -> Iterator[Callable[[int, int, int], None] | None]:
    """A bar for the reading of a capture; gives what :func:`lightlag.inspect` takes as progress."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[packets]} packets"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None, packets="0")

        def progress(read: int, size: int, packets: int) -> None:
            bar.update(task, completed=read, total=size or None, packets=f"{packets:,}")

        yield progress
