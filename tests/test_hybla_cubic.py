"""Hybla and CUBIC, 2010, run again: growth functions, and the checks that the paper's card lists."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import statistics
from pathlib import Path

import pytest

from lightlag.analyse import Interval
from lightlag.drawing import style
from lightlag_papers import PAPERS, Verdict, drawing
from lightlag_papers.hybla_cubic import comparison, equations, growth, simulators, sweeps, unstated
from lightlag_papers.hybla_cubic.comparison import Setting
from lightlag_papers.paper import Effort

pytestmark = pytest.mark.long


def test_bic_turns_from_additive_increase_to_search_to_probing() -> None:
    bic = equations.Bic(1750.0, 2000.0)
    # 250 below: 186 at 32 a round, then the distance shrinks as exp(-t/2) from 64 to 0.02, then 0.02 at 0.01 a round.
    assert bic.linear_ends == pytest.approx(186 / 32)
    assert bic.search_ends - bic.linear_ends == pytest.approx(2 * math.log(64 / 0.02))
    assert bic.arrives - bic.search_ends == 2
    for edge in (bic.linear_ends, bic.search_ends, bic.arrives):
        assert bic.window(edge + 1e-9) == pytest.approx(bic.window(edge), abs=1e-6)
    gained = [bic.window(bic.arrives + n) - 2000 for n in range(8)]
    assert gained == pytest.approx([0, 1, 3, 7, 15, 31, 63, 95])


def test_bic_near_its_old_window_skips_the_linear_part() -> None:
    bic = equations.Bic(87.5, 100.0)
    assert bic.linear_ends == 0
    assert bic.window(2) == pytest.approx(100 - 12.5 * math.exp(-1))


def test_hybla_multiplies_the_window_of_reno() -> None:
    assert equations.hybla(1e-4, 0.3) == pytest.approx(12 * 122.47, rel=1e-4)
    assert equations.hybla(1e-4, 0.01) == pytest.approx(122.47, rel=1e-4)


def test_simulated_epochs_follow_the_growth_functions() -> None:
    rows = growth.bic_rows(*(growth.BicGrowth.run(variant) for variant in ("paper", "linux")))
    rows += growth.cubic_rows(*map(growth.cubic_growth, growth.CUBICS))
    judged = [row for row in rows if row.verdict.decided]
    assert len(judged) == 7
    assert not any(row.verdict.failed for row in judged), judged


def test_the_round_trip_time_matches_the_setting() -> None:
    for rtt_s in (0.025, 0.6):
        (flow,) = Setting("NewReno", rtt_s=rtt_s, seconds=5).run(1, record="off").summary["flows"]
        assert flow["min_rtt_s"] == pytest.approx(rtt_s, abs=0.001)


def test_wired_flows_share_the_bottleneck() -> None:
    flows = Setting("Hybla", paced=True, seconds=10).run(1, name="shared", record="off").summary["flows"]
    assert [flow["name"] for flow in flows] == ["satellite", "wired 1", "wired 2", "wired 3"]
    assert [flow["congestion"] for flow in flows] == ["hybla", "newreno", "newreno", "newreno"]
    assert [flow["min_rtt_s"] for flow in flows] == pytest.approx([0.6, 0.025, 0.025, 0.025], abs=0.002)


@pytest.fixture(scope="module")
def found() -> comparison.Comparison:
    return comparison.Comparison.run(Effort(jobs=2))


@pytest.fixture(scope="module")
def middle() -> comparison.Comparison:
    return comparison.Comparison.run(Effort(jobs=2), max_window=1000)


def failing(found: comparison.Comparison) -> list[tuple[str, str]]:
    return [(row.item, row.paper) for row in comparison.claims(found) if row.verdict.failed]


def test_with_a_maximum_window_of_1000_packets_cubic_leads_as_in_the_paper(middle: comparison.Comparison) -> None:
    assert len(comparison.claims(middle)) == 8
    assert failing(middle) == []


def test_with_5000_packets_hybla_leads_for_two_minutes(found: comparison.Comparison) -> None:
    assert ("Fig. 5", "Hybla falls behind CUBIC") in failing(found)
    assert ("Fig. 4", "Hybla's average is lower") not in failing(found)
    hybla, cubic = (
        statistics.fmean(one.goodput_bps(comparison.SECONDS) for one in samples) / 1e6
        for samples in (found.hybla, found.cubic)
    )
    # ns-2 with TCP-Linux on this path, eight seeds: docs/simulators-satellite.md.
    assert hybla == pytest.approx(4.45, rel=0.1)
    assert cubic > hybla


def test_the_congestion_window_ends_at_the_maximum() -> None:
    for algorithm in ("Hybla", "CUBIC"):
        trace = Setting(algorithm, max_window=400, seconds=60).run(1, record="change").trace("cwnd")
        assert trace["cwnd_segments"].max() == 400


def test_ns2_with_this_maximum_window_and_these_losses_delivers_as_much() -> None:
    theirs = {
        run.max_window: run.goodput_mbps for run in simulators.runs() if (run.algorithm, run.seed) == ("Hybla", 1)
    }
    setting = Setting("Hybla", max_window=1000, thresholds="maximum")
    assert simulators.same_losses(setting, 1) == pytest.approx(theirs[1000], rel=0.1)
    # A limited receive buffer differs: the data received above a hole fills it.
    buffer = dataclasses.replace(setting, max_window=400, bound="buffer")
    assert simulators.same_losses(buffer, 1) < 0.6 * theirs[400]


def test_the_window_varies_as_much_as_in_ns2(found: comparison.Comparison) -> None:
    theirs = [run.variation for run in simulators.runs() if (run.algorithm, run.max_window) == ("Hybla", 5000)]
    ours = statistics.fmean(one.variation for one in found.hybla)
    assert ours == pytest.approx(statistics.fmean(theirs), rel=0.15)


def test_readings_differ_and_are_named() -> None:
    readings = unstated.settings()
    assert len({json.dumps(setting, sort_keys=True) for setting in readings.values()}) == len(readings) == 27
    for window in unstated.WINDOWS:
        assert readings[f"receive buffer of {window} packets"]["bound"] == "buffer"


def test_a_sweep_checks_each_reading_by_all_claims() -> None:
    names = ("congestion window of 1000 packets", "receive buffer of 200 packets")
    wanted = {name: unstated.settings()[name] for name in names}
    sweep = unstated.Sweep(Effort(seeds=2, jobs=2), wanted)
    assert list(sweep.readings.rows) == list(wanted)
    assert all(len(rows) == 9 for rows in sweep.readings.rows.values())
    assert sweep.best.max_window == wanted[sweep.readings.best]["max_window"]


def test_acks_and_payload_agree(found: comparison.Comparison) -> None:
    # An ACK for every packet that arrives, less those that are lost (1e-4 a hop) or still in transit.
    for one in (*found.cubic, *found.hybla):
        packets = one.payload[-1] / comparison.PAYLOAD_BYTES
        assert packets * 0.98 <= one.acks[-1] <= packets * 1.15
        assert (one.acks[1:] >= one.acks[:-1]).all()


def test_hybla_repairs_without_a_timeout(found: comparison.Comparison) -> None:
    assert sum(one.timeouts for one in found.hybla) == 0
    # ns-2: 102.7 reductions in 200 s.
    assert statistics.fmean(one.recoveries for one in found.hybla) == pytest.approx(102.7, rel=0.1)


def test_a_sender_that_does_not_see_lost_retransmissions_waits_for_the_timer() -> None:
    (flow,) = Setting("Hybla", seconds=60, blind=True).run(1, record="off").summary["flows"]
    assert flow["timeouts"] >= 5
    assert flow["limited_s"]["timeout"] > 30


def test_the_queue_decides_who_is_ahead() -> None:
    small, *others = sweeps.grid_rows(sweeps.goodputs(sweeps.grid_settings(), Effort(jobs=2), 2))
    assert small.quantity.startswith("queue of 50 packets")
    assert not small.verdict.decided
    assert len(others) == 3
    assert not any(row.verdict.failed for row in others), others


def test_where_errors_are_frequent_hybla_is_ahead() -> None:
    queues = (comparison.SMALL_QUEUE, comparison.BDP // 2)
    found = sweeps.goodputs(sweeps.per_settings(queues), Effort(jobs=2), 3)
    assert sweeps.per_row(found).verdict is Verdict.REPRODUCED
    assert sweeps.queue_errors_row(found).verdict is Verdict.HOLDS


def test_hyblas_rate_grows_as_fast_at_every_round_trip_time() -> None:
    for rtt_s in (0.025, 0.2):
        assert growth.hybla_slope(rtt_s, **growth.HYBLA_PAPER) == pytest.approx(1600, rel=growth.HYBLA_TOLERANCE)
    # Linux's 1/128 of a segment add nothing to a window of 128 segments.
    assert growth.hybla_slope(0.025) < 160


def test_a_reproduction_leaves_the_grid_and_the_figures(tmp_path: Path) -> None:
    PAPERS["hybla-cubic"].reproduce(tmp_path / "out", seeds=1, jobs=2)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    stems = ("fig1", "fig2", "fig4", "fig5", "fig6", "queues", "errors", "round_trips")
    figures = {f"{stem}.{suffix}" for stem in stems for suffix in ("pdf", "png")}
    assert names == figures | {*("run.json", "table.csv", "queues.csv", "readings.csv", "measured.csv", "report.md")}
    with (tmp_path / "out" / "queues.csv").open(encoding="utf-8") as file:
        algorithms = [row["algorithm"] for row in csv.DictReader(file)]
    assert algorithms == [*("Hybla", "Hybla", "CUBIC") * 2, "NewReno"]


def test_an_interval_that_reaches_below_zero_fits_a_logarithmic_axis() -> None:
    # Two seeds give such intervals. A bar without an end took all the room of the figure, which is a warning.
    figure, axes = style.chart()
    drawing.intervals(axes, [1.0, 10.0], [Interval(1.0, 20.0, 2), Interval(3.0, 0.1, 2)], 0)
    axes.set_yscale("log")
    axes.set_ylim(0.1, 40)
    assert style.save_as(figure, "png").startswith(b"\x89PNG")
