"""Reductions, epochs and means of a congestion window over time: pure functions of a trace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

OPEN, RECOVERY, LOSS = "open", "recovery", "loss"


@dataclass(frozen=True)
class WindowTrace:
    """The window of one flow over time, with one element per change.

    Attributes
    ----------
    time_s
        Time in seconds.
    cwnd, ssthresh, w_max
        Congestion window (inflated during fast recovery), slow-start threshold and Wmax in segments; NaN where there
        is none.
    k_s
        K of the epoch in seconds; NaN outside an epoch.
    phase
        State of the sender: ``open``, ``recovery`` or ``loss``.
    """

    time_s: NDArray[np.float64]
    cwnd: NDArray[np.float64]
    ssthresh: NDArray[np.float64]
    w_max: NDArray[np.float64]
    k_s: NDArray[np.float64]
    phase: NDArray[np.str_]

    @classmethod
    def of(cls, trace: pl.DataFrame, flow: str) -> WindowTrace:
        """Returns the window of one flow from a run's trace."""
        import polars as pl

        rows = trace.filter(pl.col("flow") == flow)

        def column(name: str) -> NDArray[np.float64]:
            return rows[name].cast(pl.Float64).fill_null(math.nan).to_numpy()

        return cls(
            column("time_s"),
            column("cwnd_segments"),
            column("ssthresh_segments"),
            column("w_max_segments"),
            column("k_s"),
            rows["phase"].cast(pl.String).to_numpy().astype(np.str_),
        )

    def deflated(self) -> NDArray[np.float64]:
        """Returns the window without its inflation in fast recovery: ssthresh during that phase.

        The inflation accounts for segments that have left the network.
        """
        return np.where((self.phase == RECOVERY) & ~np.isnan(self.ssthresh), self.ssthresh, self.cwnd)


@dataclass(frozen=True)
class Epoch:
    """A reduction of the window, and the epoch that follows until the next reduction.

    Attributes
    ----------
    reduction_s
        Time of the reduction.
    window
        Window before the reduction, in segments.
    threshold
        ssthresh after the reduction, in segments.
    timeout
        Whether a retransmission timeout caused the reduction.
    w_max, k_s
        Wmax (segments) and K (seconds) of the growth that followed; NaN if the next reduction came first.
    switched
        Whether the window passed Wmax by a whole segment: the growth has turned from concave to convex.
    """

    reduction_s: float
    window: float
    threshold: float
    timeout: bool
    w_max: float
    k_s: float
    switched: bool

    @property
    def grew(self) -> bool:
        """Whether cubic growth followed the reduction."""
        return not math.isnan(self.k_s)


def epochs(trace: WindowTrace) -> list[Epoch]:
    """Returns the reductions of a trace in order, each with the epoch that follows."""
    phase = trace.phase
    entered = (phase[1:] != phase[:-1]) & (phase[1:] != OPEN)
    starts = np.flatnonzero(entered) + 1
    return [_epoch(trace, int(start), int(end)) for start, end in zip(starts, [*starts[1:], len(phase)], strict=True)]


def _epoch(trace: WindowTrace, start: int, end: int) -> Epoch:
    rows = np.arange(start, end)
    grown = rows[(trace.phase[rows] == OPEN) & ~np.isnan(trace.k_s[rows])]
    w_max = float(trace.w_max[grown[0]]) if len(grown) else math.nan
    highest = float(trace.cwnd[grown].max()) if len(grown) else math.nan
    return Epoch(
        reduction_s=float(trace.time_s[start]),
        window=float(trace.deflated()[start - 1]),
        threshold=float(trace.ssthresh[start]),
        timeout=bool(trace.phase[start] == LOSS),
        w_max=w_max,
        k_s=float(trace.k_s[grown[0]]) if len(grown) else math.nan,
        switched=bool(len(grown)) and math.floor(highest) > math.floor(w_max),
    )


def time_mean(time_s: NDArray[np.float64], values: NDArray[np.float64], start_s: float, end_s: float) -> float:
    """Returns the time-weighted mean of a value that stays constant between its changes.

    Examples
    --------
    >>> time_mean(np.array([0.0, 1.0, 3.0]), np.array([10.0, 20.0, 40.0]), 0.0, 4.0)
    22.5
    """
    inside = (time_s > start_s) & (time_s < end_s)
    first = max(int(np.searchsorted(time_s, start_s, side="right")) - 1, 0)
    edges = np.concatenate(([start_s], time_s[inside], [end_s]))
    levels = np.concatenate(([values[first]], values[inside]))
    return float(np.sum(np.diff(edges) * levels) / (end_s - start_s))


def band(values: Sequence[float], low: float = 0.05, high: float = 0.95) -> tuple[float, float]:
    """Returns two quantiles of a sample, by linear interpolation.

    Examples
    --------
    >>> band([1.0, 2.0, 3.0, 4.0, 5.0], 0.25, 0.75)
    (2.0, 4.0)
    """
    lower, upper = np.quantile(np.asarray(values, dtype=np.float64), [low, high])
    return float(lower), float(upper)
