"""Statistics of results: pure functions of values and data frames."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lightlag.errors import InputError
from lightlag.records.lists import column

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
    "thinned_rows",
    "together",
    "transfers",
]


MAX_INTERVALS = 10_000_000
"""Maximum number of intervals of goodput over time."""


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
    start = min(column(flows, "start_s"), default=0.0)
    end = max((end_s if finish_s is None else finish_s for finish_s in column(flows, "finish_s")), default=0.0)
    return sum(column(flows, "delivered_bytes")) * 8 / (end - start) if end > start else 0.0


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

    Raises
    ------
    InputError
        If the length is not positive, or there are more than 10,000,000 intervals.
    """
    import polars as pl

    _check_seconds(interval_s, "interval_s")
    if end_s is not None and end_s != 0:
        _check_seconds(end_s, "end_s")
    end = float((trace["time_s"].max() if len(trace) else 0.0) if end_s is None else end_s)  # type: ignore[arg-type]
    if end / MAX_INTERVALS >= interval_s:
        raise InputError(
            f"interval_s: {interval_s:g} cuts {end:g} s into more than {MAX_INTERVALS:,} intervals; take a longer one"
        )
    steps = math.floor(end / interval_s * (1 + 1e-12))
    edges = [at * interval_s for at in range(steps + 1)]
    frames = [
        pl.DataFrame(
            {
                "time_s": edges[1:],
                "flow": name.new_from_index(0, steps),
                "goodput_bps": [8 * (after - before) / interval_s for before, after in itertools.pairwise(level)],
            },
            schema_overrides={"time_s": pl.Float64, "goodput_bps": pl.Float64},
        )
        for name, level in arrived(trace, edges)
    ]
    empty = pl.DataFrame({"time_s": [0.0], "flow": trace["flow"][:0].extend_constant(None, 1), "goodput_bps": [0.0]})
    return pl.concat(frames) if frames and steps else empty.clear()


def transfers(trace: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """Throughput of flows over the time in which they carried data, and the delay of that data.

    The throughput is equation 4 of "Performance Evaluation of TCP-CUBIC and TCP-BBR in FANETs": the payload that
    arrived over the time from the first transmission to the last arrival. Goodput also counts the time before the
    first transmission and after the last arrival. The delay is Little's law: the mean number of bytes between sender
    and receiving application, over the rate at which they were delivered. It counts the repair of losses and the wait
    behind a hole, but not the time of data in the sender's buffer.

    Times are those of rows, so a flow needs rows more often than a delay lasts: ``record.interval``.

    Parameters
    ----------
    trace
        A trace with ``time_s``, ``flow``, ``sent_bytes``, ``delivered_bytes`` and ``arrived_bytes``.
    flows
        The flows with ``name``, ``finish_s`` and ``delivered_bytes``: the last row of a trace is before the end of a
        finished transfer.

    Returns
    -------
    polars.DataFrame
        ``flow``, ``first_sent_s``, ``last_arrival_s``, ``arrived_bytes``, ``throughput_bps`` and ``mean_delay_s``: a
        row for each flow whose data arrived. The throughput is null if all data arrived within one row.

    Examples
    --------
    1000 bytes leave at 1 s, 1000 at 2 s, and all have arrived at 5 s.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"time_s": [0.0, 1.0, 2.0, 4.0], "flow": ["a"] * 4, "sent_bytes": [0, 1000, 2000, 2000]})
    >>> rows = rows.with_columns(delivered_bytes=pl.lit(0), arrived_bytes=pl.lit(0))
    >>> flows = pl.DataFrame({"name": ["a"], "finish_s": [5.0], "delivered_bytes": [2000]})
    >>> transfers(rows, flows).drop("arrived_bytes").rows()
    [('a', 1.0, 5.0, 4000.0, 3.25)]
    """
    import polars as pl

    if "leg" in trace.columns:
        # The first leg sends the data of the flow; the rows of each leg tell of its receiver.
        trace = trace.filter(trace["leg"] == 1)
    column = pl.col
    kept = ("time_s", "flow", "sent_bytes", "delivered_bytes", "arrived_bytes")
    ends = flows.filter(column("finish_s").is_not_null() & column("name").is_in(trace["flow"].cast(pl.String).unique()))
    finished = ends.select(
        column("finish_s").alias("time_s"),
        column("name").cast(trace.schema["flow"]).alias("flow"),
        *(column("delivered_bytes").cast(trace.schema[name]).alias(name) for name in kept[2:]),
    )
    rows = pl.concat([trace.select(kept), finished]).sort("time_s", maintain_order=True)
    mine = rows.lazy().with_columns(
        under_way=column("sent_bytes").cast(pl.Float64) - column("delivered_bytes").cast(pl.Float64),
        first=column("time_s").filter(column("sent_bytes") > 0).min().over("flow"),
        last=column("time_s").filter(column("arrived_bytes") == column("arrived_bytes").max()).min().over("flow"),
    )
    step = column("time_s") - column("time_s").shift(1).over("flow")
    mean = (column("under_way") + column("under_way").shift(1).over("flow")) / 2
    counted = (column("time_s") > column("first")) & (column("time_s") <= column("last"))
    return (
        mine.with_columns(area=pl.when(counted).then(step * mean).otherwise(0.0))
        .group_by("flow", maintain_order=True)
        .agg(
            first_sent_s=column("first").first(),
            last_arrival_s=column("last").first(),
            arrived_bytes=column("arrived_bytes").max(),
            delivered=column("delivered_bytes").max(),
            area=column("area").sum(),
        )
        .filter(column("arrived_bytes") > 0)
        .with_columns(active=column("last_arrival_s") - column("first_sent_s"))
        .select(
            "flow",
            "first_sent_s",
            "last_arrival_s",
            "arrived_bytes",
            throughput_bps=pl.when(column("active") > 0).then(8 * column("arrived_bytes") / column("active")),
            mean_delay_s=pl.when(column("delivered") > 0).then(column("area") / column("delivered")),
        )
        .collect()
    )


def _check_seconds(value: object, name: str) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value <= 1e300:
        raise InputError(f"{name}: {value!r:.60} is not a positive number of seconds")


def arrived(trace: pl.DataFrame, times: Sequence[float]) -> Iterator[tuple[pl.Series, list[float]]]:
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
    if "leg" in trace.columns:
        # The rows of every leg tell of the same receiver.
        trace = trace.filter(trace["leg"] == 1)
    flows = [trace] if trace["flow"].n_unique() == 1 else trace.partition_by("flow", maintain_order=True)
    for rows in flows:
        yield rows["flow"][:1], _between(times, rows["time_s"].to_list(), rows["arrived_bytes"].to_list())


def _between(times: Sequence[float], then: Sequence[float], level: Sequence[float]) -> list[float]:
    """A level between its rows by straight lines: 0 before the first, and that of the last behind it."""
    found, row = [], 0
    for time in times:
        row = bisect.bisect_right(then, time, row)
        if row == 0:
            found.append(0.0)
        elif row == len(then) or then[row - 1] == time:
            found.append(float(level[row - 1]))
        else:
            start, low = then[row - 1], level[row - 1]
            found.append((level[row] - low) / (then[row] - start) * (time - start) + low)
    return found


def thinned(times: Numbers, values: Numbers, points: int) -> tuple[Numbers, Numbers]:
    """The same curve to the eye with fewer points: first, least, greatest and last of each slice of time.

    Parameters
    ----------
    times, values
        The curve, by time.
    points
        About the most that are kept.
    """
    import polars as pl

    if len(times) <= points:
        return times, values
    rows = thinned_rows(pl.Series(times), pl.Series(values), points).to_numpy()
    return times[rows], values[rows]


def thinned_rows(times: pl.Series, values: pl.Series, points: int) -> pl.Series:
    """The numbers of the rows that :func:`thinned` keeps, ascending; a value may be NaN or null."""
    import polars as pl

    rows = pl.int_range(len(times), eager=True)
    if len(times) <= points:
        return rows
    slices = points // 4
    first, last = times[0], times[-1]
    edges = pl.Series([first + at * (last - first) / slices for at in range(1, slices)], dtype=pl.Float64)
    curve = pl.DataFrame(
        {
            "slice": edges.search_sorted(times, side="right"),
            "row": rows,
            "value": values.cast(pl.Float64).fill_nan(None),
        }
    )
    row = pl.col("row")
    found = curve.group_by("slice").agg(
        row.first(),
        row.last().alias("last"),
        row.get(pl.col("value").arg_min()).alias("least"),
        row.get(pl.col("value").arg_max()).alias("greatest"),
    )
    kept = [found[name] for name in ("row", "last", "least", "greatest")]
    return pl.concat([one.alias("row") for one in kept]).drop_nulls().unique().sort()
