"""Statistics of results: pure functions of values and data frames."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lightlag import _engine
from lightlag._renamed import renamed
from lightlag.errors import InputError
from lightlag.records.lists import column

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Numbers: TypeAlias = npt.NDArray[np.float64]

__all__ = [
    "Interval",
    "aggregate_goodput",
    "arrived_bytes",
    "bin_width",
    "decimate",
    "decimate_rows",
    "goodput",
    "jain",
    "mean_interval",
    "student_t",
    "transfers",
]


MAX_INTERVALS = 10_000_000
"""Maximum number of intervals of goodput over time."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        message = f"module 'lightlag.analyse' has no attribute {name!r}"
        raise AttributeError(renamed(f"lightlag.analyse.{name}") or message)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the half width of its confidence interval (NaN below two values)."""

    mean: float
    half_width: float
    count: int

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half_width


def student_t(confidence: float, freedom: int) -> float:
    """Returns the t for which a Student variable lies in [-t, t] with this probability.

    The probability is a finite series for integer degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4); the
    quantile is found by bisection.

    Parameters
    ----------
    confidence
        Probability inside, 0 to 1.
    freedom
        Degrees of freedom: the number of values minus one.

    Examples
    --------
    >>> round(student_t(0.95, 9), 3)
    2.262
    """
    return _engine.student_t(confidence, freedom)


def mean_interval(values: Iterable[float], confidence: float = 0.95) -> Interval:
    """Returns the mean of independent values with its Student-t interval.

    Examples
    --------
    >>> interval = mean_interval([9.0, 10.0, 11.0])
    >>> print(f"{interval.mean} ± {interval.half_width:.2f}")
    10.0 ± 2.48
    """
    return Interval(*_engine.mean_interval(list(values), confidence))


def bin_width(seconds: float) -> float:
    """Returns a round interval in seconds that divides a duration into 50 to 125 bins; at least 0.1 s.

    Examples
    --------
    >>> bin_width(120.0), bin_width(10.0), bin_width(3600.0)
    (1.0, 0.1, 50.0)
    """
    least = max(seconds / 125, 0.1)
    power = 10.0 ** math.floor(math.log10(least) + 1e-9)
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= least * (1 - 1e-9))


def jain(values: Iterable[float]) -> float:
    """Jain's fairness index (Σx)² / (n Σx²): 1 if all are equal, 1/n if one has the entire capacity.

    Examples
    --------
    >>> jain([5.0, 5.0, 5.0, 5.0])
    1.0
    >>> jain([1.0, 0.0, 0.0, 0.0])
    0.25
    """
    return _engine.jain(list(values))


def aggregate_goodput(flows: Sequence[Mapping[str, Any]], end_s: float) -> float:
    """Returns the goodput of all flows in bit/s: their payload over the time from the first start to the last finish.

    The sum of their goodputs would exceed the rate of the link if they ran one after the other.

    Parameters
    ----------
    flows
        Entries of ``summary["flows"]``.
    end_s
        The end of the run in seconds, which is also the end of unfinished flows.

    Examples
    --------
    >>> first = {"start_s": 0.0, "finish_s": 4.0, "delivered_bytes": 4_000_000, "goodput_bps": 8e6}
    >>> second = {"start_s": 4.0, "finish_s": 8.0, "delivered_bytes": 4_000_000, "goodput_bps": 8e6}
    >>> aggregate_goodput([first, second], 8.0)
    8000000.0
    """
    ends = [end_s if finish_s is None else finish_s for finish_s in column(flows, "finish_s")]
    return _engine.aggregate_goodput(column(flows, "start_s"), ends, sum(column(flows, "delivered_bytes")))


def goodput(trace: pl.DataFrame, interval_s: float, end_s: float | None = None) -> pl.DataFrame:
    """Returns the goodput over time: the payload that arrived in each of a number of equal intervals, each byte once.

    Payload counts when it arrives, in order or not. In-order delivery comes in bursts: the data released by a repaired
    loss is delivered immediately, faster than the link.

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
            f"interval_s: {interval_s:g} cuts {end:g} s into more than {MAX_INTERVALS:,} intervals; choose a longer one"
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
        for name, level in arrived_bytes(trace, edges)
    ]
    empty = pl.DataFrame({"time_s": [0.0], "flow": trace["flow"][:0].extend_constant(None, 1), "goodput_bps": [0.0]})
    return pl.concat(frames) if frames and steps else empty.clear()


def transfers(trace: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """Returns the throughput of flows over the time that they carried data, and the delay of that data.

    The throughput is equation 4 of "Performance Evaluation of TCP-CUBIC and TCP-BBR in FANETs": the payload that
    arrived over the time from the first transmission to the last arrival. Goodput also counts the time before the first
    transmission and after the last arrival. The delay is Little's law: the mean number of bytes between sender and
    receiving application, over the delivery rate. It includes the repair of losses and the time that data waits for
    missing data before it, but not the time in the sender's buffer.

    Times are taken from the rows, so the interval between a flow's rows must be shorter than its delay:
    ``record.interval``.

    Parameters
    ----------
    trace
        A trace with ``time_s``, ``flow``, ``sent_bytes``, ``delivered_bytes`` and ``arrived_bytes``.
    flows
        The flows, with ``name``, ``finish_s`` and ``delivered_bytes``. They are needed because the last row of a trace
        is before the end of a finished transfer.

    Returns
    -------
    polars.DataFrame
        ``flow``, ``first_sent_s``, ``last_arrival_s``, ``arrived_bytes``, ``throughput_bps`` and ``mean_delay_s``: one
        row per flow whose data arrived. The throughput is null if all data arrived within one row.

    Examples
    --------
    1000 bytes are sent at 1 s, 1000 at 2 s, and all have arrived at 5 s.

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


def arrived_bytes(trace: pl.DataFrame, times: Sequence[float]) -> Iterator[tuple[pl.Series, list[float]]]:
    """Yields the payload that had arrived at each flow's receiver by given times, in bytes, each byte once.

    Between two rows of the trace the bytes grow linearly, so that no interval has more than the link carried in it.

    Parameters
    ----------
    trace
        A trace with ``time_s``, ``flow`` and ``arrived_bytes``.
    times
        Seconds, ascending.

    Yields
    ------
    tuple
        The name of a flow, as a series of one value, and its bytes at the given times.
    """
    if "leg" in trace.columns:
        # The rows of every leg tell of the same receiver.
        trace = trace.filter(trace["leg"] == 1)
    flows = [trace] if trace["flow"].n_unique() == 1 else trace.partition_by("flow", maintain_order=True)
    for rows in flows:
        yield rows["flow"][:1], _between(times, rows["time_s"].to_list(), rows["arrived_bytes"].to_list())


def _between(times: Sequence[float], then: Sequence[float], level: Sequence[float]) -> list[float]:
    """Interpolates a level linearly between its rows: 0 before the first, and the last value after the last row."""
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


def decimate(times: Numbers, values: Numbers, points: int) -> tuple[Numbers, Numbers]:
    """Returns a curve with fewer points that looks the same: the first, minimum, maximum and last of each time slice.

    Parameters
    ----------
    times, values
        The curve, by time.
    points
        Approximate maximum number of points.
    """
    import polars as pl

    if len(times) <= points:
        return times, values
    rows = decimate_rows(pl.Series(times), pl.Series(values), points).to_numpy()
    return times[rows], values[rows]


def decimate_rows(times: pl.Series, values: pl.Series, points: int) -> pl.Series:
    """Returns the indices of the rows that :func:`decimate` keeps, ascending; a value may be NaN or null."""
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


def __dir__() -> list[str]:
    return sorted(__all__)
