"""Statistics against tables and sums that can be checked by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest

from lightlag import _engine, analyse
from lightlag.outcomes.design import MEASURES


@pytest.mark.parametrize(
    ("freedom", "t"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (9, 2.2622), (10, 2.2281), (29, 2.0452), (120, 1.9799)],
)
def test_student_t_matches_the_tables(freedom: int, t: float) -> None:
    assert analyse.student_t(0.95, freedom) == pytest.approx(t, abs=5e-5)


def test_student_t_for_99_percent() -> None:
    assert analyse.student_t(0.99, 7) == pytest.approx(3.4995, abs=5e-5)


@pytest.mark.parametrize(("confidence", "freedom"), [(0.0, 3), (1.0, 3), (0.95, 0)])
def test_student_t_rejects_invalid_arguments(confidence: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="no interval"):
        analyse.student_t(confidence, freedom)


def test_the_interval_of_three_values() -> None:
    interval = analyse.mean_interval([9.0, 10.0, 11.0])
    # s = 1, t(0.95, 2) = 4.3027, so the half width is 4.3027 / √3.
    assert interval.mean == 10.0
    assert interval.half_width == pytest.approx(4.3027 / math.sqrt(3), abs=1e-4)
    assert interval.low < 10 < interval.high


def test_intervals_of_too_few_values() -> None:
    assert math.isnan(analyse.mean_interval([4.0]).half_width)
    assert math.isnan(analyse.mean_interval([]).mean)
    assert analyse.mean_interval([2.0, 2.0]).half_width == 0.0


def test_jain_lies_between_one_share_and_all() -> None:
    assert analyse.jain([3.0] * 7) == pytest.approx(1.0)
    assert analyse.jain([1.0, 0.0, 0.0]) == pytest.approx(1 / 3)
    assert analyse.jain([1.0, 3.0]) == pytest.approx(0.8)  # 4² / (2 · 10)
    assert math.isnan(analyse.jain([0.0, 0.0]))


def test_goodput_counts_what_arrived_within_each_interval() -> None:
    trace = pl.DataFrame(
        {
            "time_s": [0.0, 1.0, 1.5, 2.0, 3.0, 0.5, 2.5],
            "flow": ["a", "a", "a", "a", "a", "b", "b"],
            "arrived_bytes": [0, 100, 150, 300, 400, 10, 20],
        }
    )
    goodput = analyse.goodput(trace, 1.0)
    assert goodput["time_s"].to_list() == [1, 2, 3, 1, 2, 3]
    # Between the rows of b, 10 bytes at 0.5 s and 20 at 2.5 s, payload grows by 5 bytes per second.
    assert goodput["goodput_bps"].to_list() == [800, 1600, 800, 100, 40, 20]


def test_goodput_leaves_out_an_incomplete_interval_and_continues_after_the_last_row() -> None:
    trace = pl.DataFrame({"time_s": [0.0, 1.0], "flow": ["a", "a"], "arrived_bytes": [0, 125]})
    goodput = analyse.goodput(trace, 1.0, end_s=3.5)
    assert goodput["goodput_bps"].to_list() == [1000, 0, 0]
    assert analyse.goodput(trace, 2.0).is_empty()


def test_goodput_of_no_rows_is_empty() -> None:
    trace = pl.DataFrame(schema={"time_s": pl.Float64, "flow": pl.String, "arrived_bytes": pl.UInt64})
    assert analyse.goodput(trace, 1.0).columns == ["time_s", "flow", "goodput_bps"]
    with pytest.raises(ValueError, match="not a positive number"):
        analyse.goodput(trace, 0.0)


def test_intervals_are_printed_with_two_digits_of_their_half_width() -> None:
    goodput, completion, fairness, again, queueing, _ = MEASURES
    assert queueing.show(analyse.Interval(0.1234, 0.0023, 10)) == "123.4 ± 2.3 ms"
    assert goodput.show(analyse.Interval(9_412_345.0, 123_456.0, 10)) == "9.41 ± 0.12 Mbit/s"
    assert completion.show(analyse.Interval(123.456, 17.0, 10)) == "123 ± 17 s"
    assert fairness.show(analyse.Interval(1.0, 0.0, 10)) == "1.000 ± 0.000"
    assert again.show(analyse.Interval(0.0123, 0.0012, 10)) == "1.23 ± 0.12%"
    assert goodput.show(analyse.Interval(5e5, math.nan, 1)) == "500.0 kbit/s"
    assert completion.show(analyse.mean_interval([])) == "–"
    assert _engine.decimals(0.0, 0.0) == 0


@pytest.mark.parametrize(("seconds", "width"), [(0.5, 0.1), (10, 0.1), (120, 1.0), (300, 5.0), (3600, 50.0)])
def test_bins_are_round(seconds: float, width: float) -> None:
    assert analyse.bin_width(seconds) == pytest.approx(width)
