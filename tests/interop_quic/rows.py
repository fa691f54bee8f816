"""A measured download next to the simulated one, with the verdict."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from interop_quic.cells import COMPUTING, TOLERANCE, Cell
from interop_quic.lab import Download, Moment


@dataclass(frozen=True)
class Simulated:
    """Times of a simulated download in seconds since the start of the client."""

    first_byte: float
    done: float


VERDICTS = ("ok", "computing", "deviates")
"""Verdicts on a time, from the best to the worst."""


@dataclass(frozen=True)
class Comparison:
    """A measured and a simulated time, and the time that the busier endpoint and both endpoints computed or waited for
    a processor, in seconds.
    """

    measured: float
    simulated: float
    busier: float
    both: float

    @property
    def ratio(self) -> float:
        """The measured time divided by the simulated one."""
        return self.measured / self.simulated

    def of_download(self) -> str:
        """Returns one of ``VERDICTS`` for the time to the last byte; ``computing`` means that an endpoint, not the
        path, is the limit.
        """
        if abs(self.ratio - 1) <= TOLERANCE:
            return "ok"
        return "computing" if self.ratio > 1 and self.busier > COMPUTING * self.measured else "deviates"

    def of_first_byte(self) -> str:
        """Returns one of ``VERDICTS`` for the time to the first byte. The endpoints compute one after another until
        then, and the simulation has no processing times, so that their time may add to the simulated one.
        """
        lower, upper = (1 - TOLERANCE) * self.simulated, (1 + TOLERANCE) * self.simulated + self.both
        return "ok" if lower <= self.measured <= upper else "deviates"


@dataclass(frozen=True)
class Row:
    """The downloads of a cell, one per seed."""

    cell: Cell
    measured: Sequence[Download]
    simulated: Sequence[Simulated]
    failure: str = ""
    """Reason why there is no measured time."""

    def median(self, of: Callable[[Download], float]) -> float:
        """Returns the median of a measured value."""
        return statistics.median(of(one) for one in self.measured)

    @property
    def done(self) -> Comparison:
        """Comparison of the times to the last byte."""
        return self._comparison(lambda one: one.done, lambda one: one.done)

    @property
    def first_byte(self) -> Comparison:
        """Comparison of the times to the first byte."""
        return self._comparison(lambda one: one.first_byte, lambda one: one.first_byte)

    def _comparison(self, of: Callable[[Download], Moment], simulated: Callable[[Simulated], float]) -> Comparison:
        return Comparison(
            measured=self.median(lambda one: of(one).seconds),
            simulated=statistics.median(simulated(one) for one in self.simulated),
            busier=self.median(lambda one: max(of(one).client, of(one).server)),
            both=self.median(lambda one: of(one).client + of(one).server),
        )

    def verdict(self) -> str:
        """Returns the worse verdict of both times, ``failed`` without a measured time, or ``shown`` with random
        loss.
        """
        if self.failure:
            return "failed"
        if self.cell.path.loss:
            return "shown"
        return max((self.first_byte.of_first_byte(), self.done.of_download()), key=VERDICTS.index)

    @property
    def is_wrong(self) -> bool:
        """Whether the row makes the run fail."""
        return self.verdict() in ("deviates", "failed")
