"""Statistics of results: pure functions of values and data frames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Numbers: TypeAlias = npt.NDArray[np.float64]

__all__ = [
    "Interval",
    "arrived",
    "bin_width",
    "goodput",
    "jain",
    "mean_interval",
    "student_t",
    "thinned",
    "together",
]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the half width of its confidence interval (NaN below two values)."""

    mean: float
    half_width: float
    count: int

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width


def student_t(confidence: float, freedom: int) -> float:
    """The t for which a Student variable lies in [-t, t] with this probability.

    The probability is a finite series for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4);
    the quantile is found by bisection.

    Parameters
    ----------
    confidence
        Probability inside, 0 to 1.
    freedom
        Degrees of freedom: values less one.

    Examples
    --------
    >>> round(student_t(0.95, 9), 3)
    2.262
    """
    if not 0 < confidence < 1 or freedom < 1:
        raise ValueError(f"no interval of confidence {confidence} with {freedom} degrees of freedom")

    def inside(angle: float) -> float:
        sine, cosine = math.sin(angle), math.cos(angle)
        odd = freedom % 2
        term, total = (cosine if odd else 1.0), 0.0
        for k in range(2 + odd, freedom + 1, 2):
            total += term
            term *= cosine * cosine * (k - 1) / k
        return 2 / math.pi * (angle + sine * total) if odd else sine * total

    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < confidence else (low, middle)
    return math.tan(low) * math.sqrt(freedom)


def mean_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """The mean of independent values with its Student-t interval.

    Examples
    --------
    >>> interval = mean_interval([9.0, 10.0, 11.0])
    >>> print(f"{interval.mean} ± {interval.half_width:.2f}")
    10.0 ± 2.48
    """
    numbers = list(values)
    count = len(numbers)
    if count == 0:
        return Interval(math.nan, math.nan, 0)
    mean = math.fsum(numbers) / count
    if count == 1:
        return Interval(mean, math.nan, 1)
    variance = math.fsum((value - mean) ** 2 for value in numbers) / (count - 1)
    return Interval(mean, student_t(confidence, count - 1) * math.sqrt(variance / count), count)


def bin_width(seconds: float) -> float:
    """A round interval that cuts a time into 50 to 125 bins, at least 0.1 s.

    Examples
    --------
    >>> bin_width(120.0), bin_width(10.0), bin_width(3600.0)
    (1.0, 0.1, 50.0)
    """
    least = max(seconds / 125, 0.1)
    power = 10.0 ** math.floor(math.log10(least) + 1e-9)
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= least * (1 - 1e-9))


def jain(values: Iterable[float]) -> float:
    """Jain's fairness index (Σx)² / (n Σx²): 1 if all are equal, 1/n if one has everything.

    Examples
    --------
    >>> jain([5.0, 5.0, 5.0, 5.0])
    1.0
    >>> jain([1.0, 0.0, 0.0, 0.0])
    0.25
    """
    shares = list(values)
    squares = math.fsum(share * share for share in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares > 0 else math.nan


def together(flows: Sequence[Mapping[str, Any]], end_s: float) -> float:
    """Goodput of flows together in bit/s: all their payload over the time from the first start to the last finish.

    The sum of their goodputs would be more than the link carries where they ran one after the other.

    Parameters
    ----------
    flows
        Entries of ``summary["flows"]``.
    end_s
        The end of the run in seconds, at which an unfinished flow ends.

    Examples
    --------
    >>> first = {"start_s": 0.0, "finish_s": 4.0, "delivered_bytes": 4_000_000, "goodput_bps": 8e6}
    >>> second = {"start_s": 4.0, "finish_s": 8.0, "delivered_bytes": 4_000_000, "goodput_bps": 8e6}
    >>> together([first, second], 8.0)
    8000000.0
    """
    start = min((flow["start_s"] for flow in flows), default=0.0)
    end = max((end_s if flow["finish_s"] is None else flow["finish_s"] for flow in flows), default=0.0)
    return sum(flow["delivered_bytes"] for flow in flows) * 8 / (end - start) if end > start else 0.0


def goodput(trace: pl.DataFrame, interval_s: float, end_s: float | None = None) -> pl.DataFrame:
    """Goodput over time, from the payload that had arrived by the ends of equal intervals, each byte once.

    Payload counts when it arrives, in order or not. Delivery in order comes in bursts: what a repaired loss sets free
    comes at once, faster than the link.

    Parameters
    ----------
    trace
        A trace with ``time_s``, ``flow`` and ``arrived_bytes``.
    interval_s
        Length of an interval in seconds.
    end_s
        End of the last interval in seconds; by default the last row of the trace. An incomplete interval is left out.

    Returns
    -------
    polars.DataFrame
        ``time_s`` (end of the interval), ``flow`` and ``goodput_bps``, by flow, then by time.
    """
    import numpy as np
    import polars as pl

    if interval_s <= 0:
        raise ValueError(f"an interval of {interval_s} s is not positive")
    end = (trace["time_s"].max() if len(trace) else 0.0) if end_s is None else end_s
    steps = math.floor(float(end) / interval_s * (1 + 1e-12))  # type: ignore[arg-type]
    edges: Numbers = np.arange(steps + 1, dtype=np.float64) * interval_s
    frames = [
        pl.DataFrame({"time_s": edges[1:], "goodput_bps": np.diff(level) * 8 / interval_s}).select(
            "time_s", name.new_from_index(0, steps).alias("flow"), "goodput_bps"
        )
        for name, level in arrived(trace, edges)
    ]
    empty = pl.DataFrame({"time_s": [0.0], "flow": trace["flow"][:0].extend_constant(None, 1), "goodput_bps": [0.0]})
    return pl.concat(frames) if frames and steps else empty.clear()


def arrived(trace: pl.DataFrame, times: Numbers) -> Iterator[tuple[pl.Series, Numbers]]:
    """The payload that had arrived at each flow's receiver by certain times, in bytes, each byte once.

    Between two rows of the trace it grows evenly, so that no interval holds more than the link carried in it.

    Parameters
    ----------
    trace
        A trace with ``time_s``, ``flow`` and ``arrived_bytes``.
    times
        Seconds, ascending.

    Yields
    ------
    tuple
        The name of a flow, as a series of one, and its bytes.
    """
    import numpy as np

    if "leg" in trace.columns:
        # The rows of every leg tell of the same receiver.
        trace = trace.filter(trace["leg"] == 1)
    for rows in trace.partition_by("flow", maintain_order=True):
        then, level = rows["time_s"].to_numpy(), rows["arrived_bytes"].to_numpy().astype(np.float64)
        yield rows["flow"][:1], np.interp(times, then, level, left=0.0)


def thinned(times: Numbers, values: Numbers, points: int) -> tuple[Numbers, Numbers]:
    """The same curve to the eye with fewer points: first, least, greatest and last of each slice of time.

    Parameters
    ----------
    times, values
        The curve, by time.
    points
        About the most that are kept.
    """
    import numpy as np

    if len(times) <= points:
        return times, values
    edges = np.linspace(times[0], times[-1], points // 4 + 1)
    starts = np.searchsorted(times, edges[:-1])
    keep: set[int] = set()
    for start, stop in zip(starts, [*starts[1:], len(times)], strict=True):
        part = values[start:stop]
        if len(part):
            keep.update((start, stop - 1))
            if not np.isnan(part).all():
                keep.update((start + int(np.nanargmin(part)), start + int(np.nanargmax(part))))
    order = np.array(sorted(keep))
    return times[order], values[order]
