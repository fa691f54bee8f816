"""Renders the figures of a comparison to files in several processes.

matplotlib holds Python's lock while it renders, so that threads would wait for each other. A painter is a process of
this module: it imports matplotlib immediately, then reads a comparison from its standard input and renders the
requested figures, one by one. It may be started while the comparison is still running.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from lightlag.drawing import names
from lightlag.outcomes import journal
from lightlag.outcomes.design import Design
from lightlag.outcomes.kinds import kinds
from lightlag.outcomes.outcome import Outcome
from lightlag.outcomes.outcomes import Outcomes

__all__ = ["Painter", "draw", "painters"]

_MOST = 7
"""Maximum number of painters: more would wait for the largest figure."""


@contextmanager
def painters(count: int) -> Iterator[list[Painter]]:
    """Starts painter processes, which end with the context."""
    started = [Painter() for _ in range(min(count, _MOST))]
    try:
        yield started
    finally:
        for painter in started:
            painter.end()


def draw(comparison: Outcomes, formats: Sequence[str], helpers: Sequence[Painter] = ()) -> dict[tuple[str, str], bytes]:
    """Renders every figure in every format; returns the contents of the files by kind and format.

    Parameters
    ----------
    formats
        pdf, svg and png.
    helpers
        Processes that also render.
    """
    there = kinds(comparison)
    # The largest first, so that it is not the last to finish.
    left = deque(sorted(there, key=lambda kind: kind not in ("cwnd", "bars")))
    drawn: dict[str, dict[str, bytes]] = {}

    def serve(painter: Painter, described: bytes) -> None:
        try:
            painter.learn(described)
            while left:
                kind = left.popleft()
                try:
                    drawn[kind] = painter.draw(kind, formats)
                except BaseException:
                    left.append(kind)
                    raise
        except (OSError, ValueError, IndexError):
            # The helper has ended, or has no more work: this process renders the rest.
            return

    described = _described(comparison) if helpers else b""
    threads = [threading.Thread(target=serve, args=(painter, described)) for painter in helpers]
    for thread in threads:
        thread.start()
    _draw_all(comparison, left, formats, drawn)
    for thread in threads:
        thread.join()
    _draw_all(comparison, left, formats, drawn)
    return {(kind, suffix): drawn[kind][suffix] for kind in there for suffix in formats}


def _draw_all(
    comparison: Outcomes, left: deque[str], formats: Sequence[str], drawn: dict[str, dict[str, bytes]]
) -> None:
    while True:
        try:
            kind = left.popleft()
        except IndexError:
            return
        drawn[kind] = _draw(comparison, kind, formats)


def _draw(comparison: Outcomes, kind: str, formats: Sequence[str]) -> dict[str, bytes]:
    from lightlag.drawing import style
    from lightlag.plot.comparison import draw as figure_of

    figure = figure_of(comparison, kind)
    style.settle(figure)
    return {suffix: style.save_as(figure, suffix) for suffix in formats}


def _described(comparison: Outcomes) -> bytes:
    """Returns a comparison for a painter: its design and the number of its runs, followed by one line per run."""
    lines = list(journal.lines(comparison.keyed()))
    head = {"design": comparison.design.to_json(), "runs": len(lines), "labels": dict(names.given())}
    return (json.dumps(head) + "\n" + "".join(lines)).encode()


class Painter:
    """A process that renders figures. Ctrl-C does not reach it; the process that started it ends it."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "lightlag.comparison.painters"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        assert self._process.stdin is not None, "requested with PIPE"
        assert self._process.stdout is not None, "requested with PIPE"
        self._to, self._from = self._process.stdin, self._process.stdout

    def learn(self, described: bytes) -> None:
        """Sends a comparison to the process."""
        self._to.write(described)
        self._to.flush()

    def draw(self, kind: str, formats: Sequence[str]) -> dict[str, bytes]:
        """Renders a figure; returns it in these formats.

        Raises
        ------
        OSError, ValueError
            If the process has ended.
        """
        self._to.write((json.dumps([kind, list(formats)]) + "\n").encode())
        self._to.flush()
        sizes = json.loads(self._from.readline())
        drawn = {suffix: self._from.read(size) for suffix, size in sizes.items()}
        if any(len(drawn[suffix]) != size for suffix, size in sizes.items()):
            raise OSError("a rendering process has ended")
        return drawn

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._to, self._from):
            try:
                pipe.close()
            except OSError:
                # The process has closed its input, so the rest is dropped.
                continue


def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
    """Reads a comparison, then renders the requested figures until its input ends."""
    from lightlag.plot import comparison as comparison_plot

    assert comparison_plot.__all__, "imported before there is anything to draw"
    head = asked.readline()
    if not head:
        return
    about = json.loads(head)
    outcomes = [Outcome.from_json(json.loads(asked.readline())["outcome"]) for _ in range(about["runs"])]
    comparison = Outcomes(Design.from_json(about["design"]), outcomes)
    for line in asked:
        kind, formats = json.loads(line)
        with names.within(about["labels"]):
            drawn = _draw(comparison, kind, formats)
        answers.write((json.dumps({suffix: len(data) for suffix, data in drawn.items()}) + "\n").encode())
        for data in drawn.values():
            answers.write(data)
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
