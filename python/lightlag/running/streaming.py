"""A run that can be observed while it continues, in batches of new records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from lightlag import _engine, _signals
from lightlag.errors import AlgorithmError, InputError, Interrupted
from lightlag.machine import memory
from lightlag.records.source import Live
from lightlag.results.result import Result
from lightlag.running.single import changes_of, threads_of
from lightlag.scenario import ScenarioLike, Sets, read_scenario
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Batch", "Stream", "stream"]


@dataclass(frozen=True)
class Batch:
    """The records of one batch: a part of a run.

    Attributes
    ----------
    time_s
        The simulated time at the end of the batch, in seconds.
    trace, queue, drops
        The new rows of these tables; they have the columns of :class:`Result`. A queue discipline decides about a
        packet at its next call, so some of its drops appear in a later batch.
    acks
        Each ACK that a sender processed; None unless the scenario records ACKs.
    """

    time_s: float
    trace: pl.DataFrame
    queue: pl.DataFrame
    drops: pl.DataFrame
    acks: pl.DataFrame | None = None


class Stream:
    """A run in batches. Iterate over it once; :attr:`result` is set when it has ended.

    Made by :func:`stream`. The run waits until the next batch is requested.
    """

    def __init__(self, scenario: _engine.Scenario, every_s: float, threads: int) -> None:
        self._steps = _engine.Steps(scenario, threads)
        self._every_s = every_s
        self._result: Result | None = None
        self._failed: tuple[str, float, str] | None = None

    def __iter__(self) -> Iterator[Batch]:
        """Yields the remaining batches.

        Raises
        ------
        Interrupted
            On Ctrl-C; ``result`` holds what was recorded.
        AlgorithmError
            If a custom algorithm has failed; ``result`` holds what was recorded.
        """
        look = memory.watch()
        start_s = self._steps.now_s or 0.0
        number, goes_on = 0, self._result is None
        while goes_on and self._result is None:
            number += 1
            look()
            try:
                if _signals.asked():
                    raise KeyboardInterrupt
                goes_on = self._steps.step(start_s + number * self._every_s)
            except KeyboardInterrupt:
                raise Interrupted(self.stop()) from None
            yield self._batch()
        self.stop()
        if self._failed is not None:
            raise AlgorithmError.of(self._failed, self._result)

    @property
    def result(self) -> Result:
        """The result of the run.

        Raises
        ------
        InputError
            If the run has not ended.
        """
        if self._result is None:
            raise InputError("the run has not ended: iterate to its end, or end it with stop()")
        return self._result

    def stop(self) -> Result:
        """Ends the run at its current time. The result of an unfinished run is ``interrupted``."""
        if self._result is None:
            outcome = self._steps.finish()
            self._result, self._failed = Result(Live(outcome)), outcome.failed
        return self._result

    def _batch(self) -> Batch:
        import polars as pl

        kept = {field.name for field in fields(Batch)}
        news = self._steps.recorded()
        tables: dict[str, Any] = {name: pl.DataFrame(table) for name, table in news if name in kept}
        return Batch(self._steps.now_s or 0.0, **tables)


def stream(
    scenario: ScenarioLike,
    every: float | str = "1 s",
    *,
    duration: str | None = None,
    seed: int | None = None,
    sets: Sets = (),
    threads: int | str = 1,
) -> Stream:
    """Runs a scenario in steps, for live figures, or progress reports that include results.

    The result equals the result of :func:`run`, whatever the step.

    Parameters
    ----------
    scenario, duration, seed, sets, threads
        As for :func:`run`.
    every
        The simulated time of a batch, in seconds or as text such as "100 ms".

    Raises
    ------
    ScenarioError
        If the scenario cannot be run.
    InputError
        If `every` is not a time above zero, or the scenario requests captures.

    Examples
    --------
    >>> import lightlag as ll
    >>> net = ll.Network("pair")
    >>> net.link("a", "b", rate="1 Mbit/s", delay="100 ms")
    >>> net.flow("a", "b", transfer="500 kB")
    >>> live = ll.stream(net, "1 s", duration="60 s")
    >>> [round(batch.time_s) for batch in live][:3]
    [1, 2, 3]
    >>> live.result.result_hash == ll.run(net, duration="60 s").result_hash
    True
    """
    every_s, count = _seconds(every), threads_of(threads)
    read = read_scenario(scenario, changes_of(sets, duration=duration, seed=seed))
    if read.is_captured:
        raise InputError("record.pcap: cannot be combined with a stream; remove it, or use run")
    memory.check_network(read)
    return Stream(read, every_s, count)


def _seconds(every: Any) -> float:
    """Returns the simulated time of a batch in seconds.

    Raises
    ------
    InputError
        If it is not a time above zero.
    """
    try:
        seconds = _engine.seconds(every) if isinstance(every, str) else float(every)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"every: {printable(repr(every)):.60} is not a valid time ({error}); write 0.1 or '100 ms'"
        ) from None
    if not (math.isfinite(seconds) and seconds > 0):
        raise InputError(f"every: {printable(repr(every)):.60} is not above zero; write 0.1 or '100 ms'")
    return seconds
