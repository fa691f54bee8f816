"""Papers run again: the analysis on traces made by hand, the model, and the checks that the paper's cards ask for."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from lightlag.validation import theory
from lightlag_papers import PAPERS, Row, Verdict, table
from lightlag_papers.cubic_inet import equations, growth, model, point_to_point, refill
from lightlag_papers.epochs import WindowTrace, epochs, time_mean
from lightlag_papers.paper import Effort
from lightlag_papers.validation import Check, Findings, findings, references

pytestmark = pytest.mark.long


def trace_of(*rows: tuple[float, float, float, float, float, str]) -> WindowTrace:
    """A trace from rows of time, cwnd, ssthresh, Wmax, K and phase."""
    time, cwnd, ssthresh, w_max, k, phase = (np.array(column) for column in zip(*rows, strict=True))
    return WindowTrace(time, cwnd, ssthresh, w_max, k, phase)


NAN = math.nan
EXAMPLE = trace_of(
    (0.0, 10, NAN, NAN, NAN, "open"),
    (1.0, 100, NAN, NAN, NAN, "open"),
    (2.0, 83, 80, NAN, NAN, "recovery"),
    (2.1, 150, 80, NAN, NAN, "recovery"),
    (2.5, 80, 80, NAN, NAN, "open"),
    (2.6, 81, 80, 100, 3.6, "open"),
    (6.0, 101, 80, 100, 3.6, "open"),
    (7.0, 84, 80.8, NAN, NAN, "recovery"),
    (8.0, 1, 64.6, NAN, NAN, "loss"),
    (9.0, 64.6, 64.6, NAN, NAN, "open"),
)


def test_an_epoch_is_a_reduction_and_the_growth_after_it() -> None:
    first, second, third = epochs(EXAMPLE)
    assert (first.reduction_s, first.window, first.threshold, first.timeout) == (2.0, 100, 80, False)
    assert (first.w_max, first.k_s, first.switched) == (100, 3.6, True)
    assert (second.reduction_s, second.window, second.grew, second.timeout) == (7.0, 101, False, False)
    # The inflated window of a recovery that a timeout ends is not a window of data.
    assert (third.reduction_s, third.window, third.timeout) == (8.0, 80.8, True)


def test_a_window_less_than_a_segment_above_wmax_has_not_switched() -> None:
    rows = [(0.0, 212.0, NAN, NAN, NAN, "open"), (1.0, 170.0, 169.6, NAN, NAN, "recovery")]
    rows += [(2.0, 170.6, 169.6, 212.0, 4.7, "open"), (9.0, 212.6, 169.6, 212.0, 4.7, "open")]
    assert not epochs(trace_of(*rows))[0].switched
    rows += [(9.5, 213.6, 169.6, 212.0, 4.7, "open")]
    assert epochs(trace_of(*rows))[0].switched


def test_the_mean_window_counts_ssthresh_in_recovery() -> None:
    # 10 for 1 s, 100 for 1 s, 80 for 0.6 s, 81 for 3.4 s.
    mean = time_mean(EXAMPLE.time_s, EXAMPLE.deflated(), 0.0, 6.0)
    assert mean == pytest.approx((10 + 100 + 80 * 0.6 + 81 * 3.4) / 6)


@pytest.mark.parametrize(
    ("delayed_ack", "windows", "ks"),
    [
        ((2, 0.2), (212, 213, 216, 245), (4.695, 4.700, 4.726, 4.931)),
        ((1, 0.0), None, (6.95, 5.45, 5.26, 6.46)),
    ],
)
def test_the_model_gives_what_the_reference_derives(
    delayed_ack: tuple[int, float], windows: tuple[int, ...] | None, ks: tuple[float, ...]
) -> None:
    times = [row.reduction_s for row in point_to_point.TABLE_1[:4]]
    run = model.simulate(
        point_to_point.PATH, segments=point_to_point.SEGMENTS, reductions=times, delayed_ack=delayed_ack
    )
    assert [epoch.k for epoch in run.epochs] == pytest.approx(ks, abs=0.005)
    if windows:
        assert [round(epoch.window) for epoch in run.epochs] == list(windows)


def test_the_model_transfers_everything_whatever_is_lost() -> None:
    for seed in range(1, 6):
        run = model.simulate(point_to_point.PATH, segments=5000, loss=5e-3, seed=seed)
        assert run.losses > 5
        # 5000 segments of 1.7136 ms need 8.57 s at least.
        assert run.finish_s > 1.2 + 5000 * point_to_point.PATH.segment_s


@pytest.fixture(scope="module")
def forced() -> point_to_point.Forced:
    return point_to_point.Forced.run()


def test_reductions_occur_as_in_table_1(forced: point_to_point.Forced) -> None:
    assert len(forced.epochs) == len(point_to_point.TABLE_1)
    for epoch, printed in zip(forced.epochs, point_to_point.TABLE_1, strict=True):
        assert epoch.reduction_s == pytest.approx(printed.reduction_s, abs=0.005)
        assert not epoch.timeout


def test_k_and_profile_switches_of_table_1(forced: point_to_point.Forced) -> None:
    consistent = point_to_point.TABLE_1[: point_to_point.CONSISTENT]
    for epoch, printed in zip(forced.epochs, consistent, strict=False):
        assert epoch.k_s == pytest.approx(printed.k_s, rel=point_to_point.K_TOLERANCE)
        assert epoch.switched == printed.switched


def test_simulator_and_model_agree_on_the_forced_epochs(forced: point_to_point.Forced) -> None:
    for ours, ideal in zip(forced.epochs, forced.model, strict=True):
        assert ours.window == pytest.approx(ideal.window, rel=0.02)
        assert ours.k_s == pytest.approx(ideal.k, rel=0.02)


def test_every_k_follows_from_the_window_at_the_loss(forced: point_to_point.Forced) -> None:
    checked, matched, _ = point_to_point.relation(forced.epochs)
    assert checked == matched == len(point_to_point.TABLE_1)


def test_the_published_k_inverts() -> None:
    for converging in (False, True):
        k = equations.k_published(200, converging=converging)
        assert point_to_point.implied_window(k, converging) == pytest.approx(200)


def test_random_losses_give_the_papers_number_and_completion() -> None:
    rows = point_to_point.random_rows(Effort(jobs=2))
    assert [row.verdict for row in rows] == [Verdict.REPRODUCED, Verdict.REPRODUCED, Verdict.HOLDS, Verdict.HOLDS]


def test_the_growth_function_is_followed() -> None:
    assert all(row.verdict is Verdict.REPRODUCED for row in growth.rows(growth.Growth.run()))


def test_a_loss_at_10_gbits_costs_newreno_1_4_hours() -> None:
    found = refill.Refill.run()
    # One segment per round trip: 50,000 round trips of 100 ms.
    assert found.per_round == pytest.approx(1, abs=1e-3)
    assert [row.verdict for row in refill.rows(found)] == [Verdict.REPRODUCED, Verdict.HOLDS]
    # With an ACK for every second segment and a segment each, it would be 2.8 h, which is not printed.
    slow = refill.Refill(per_round=0.5, small_s=100.0)
    assert [row.verdict for row in refill.rows(slow)] == [Verdict.NOT_REPRODUCED, Verdict.FAILS]


FIGURES = ("fig1", "fig4", "fig5", "fig7", "fig9", "fig10", "fig11", "variants")
ITEMS = {"Table 1", *(f"Fig. {name}" for name in ("1", "4", "5", "7", "9", "9a", "9b", "10", "10a", "10b", "11"))}
ITEMS |= {"§2.1", "§6", "beyond: variants", "beyond: ns-3"}


def test_a_reproduction_leaves_table_report_and_figures(tmp_path: Path) -> None:
    paper = PAPERS["cubic-inet"]
    made = [paper.reproduce(tmp_path / name, seeds=2, jobs=jobs) for name, jobs in (("a", 1), ("b", 2))]
    names = {path.name for path in (tmp_path / "a").iterdir()}
    figures = {f"{figure}.{suffix}" for figure in FIGURES for suffix in ("pdf", "png")}
    assert names == figures | {"run.json", "table.csv", "table1.csv", "variants.csv", "report.md"}
    first, second = ((tmp_path / name / "table.csv").read_bytes() for name in "ab")
    assert first == second
    with (tmp_path / "a" / "table.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == table.COLUMNS
    assert {row["item"].split(",")[0] for row in rows} == ITEMS
    with pytest.raises(FileExistsError, match="exists"):
        made[1].save(tmp_path / "a")
    made[1].save(tmp_path / "a", force=True)
    assert (tmp_path / "a" / "table.csv").read_bytes() == first


def test_a_claim_that_fails_is_printed_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    from lightlag_papers.paper import Reproduction

    reproduction = Reproduction(PAPERS["cubic-inet"])
    reproduction.add(
        [
            Row("Fig. 4", "W", "8", "", "9", Verdict.NOT_REPRODUCED, "because"),
            Row("a", "b", "c", "d", "e", Verdict.claim(True), "as printed"),
            Row("a", "b", "", "d", "e", Verdict.check(False), "not within 5 %"),
        ]
    )
    reproduction.print(Console())
    printed = capsys.readouterr().out
    assert "because" in printed
    assert "not within 5 %" in printed
    assert "1 of 2 claims reproduced; 0 of 1 own checks hold; 0 rows for information." in printed


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("paper", ["", "8"])
def test_a_claim_is_what_the_paper_prints_and_nothing_else(verdict: Verdict, paper: str) -> None:
    claims = {Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED}
    if (verdict in claims) == bool(paper):
        assert Row("a", "b", paper, "", "9", verdict, "because").verdict is verdict
    else:
        with pytest.raises(ValueError, match="the paper has"):
            Row("a", "b", paper, "", "9", verdict, "because")


def test_a_row_has_no_verdict_without_a_criterion() -> None:
    with pytest.raises(ValueError, match="by no criterion"):
        Row("a", "b", "8", "", "9", Verdict.REPRODUCED)


def test_a_band_is_two_sided_and_keeps_its_origin() -> None:
    band = table.Band.down_to(2.3, 2.7)
    assert 2.7 in band
    assert 12.7 not in band
    assert band.high == pytest.approx(2.7 * 2.7 / 2.3)
    like = table.Band.like(table.Band(80, 250, table.BEFOREHAND), 160, 80)
    assert (like.low, like.high) == (40, 125)
    assert "set in advance" in like.text


def test_tallies_add() -> None:
    one = table.Tally.of(
        [Row("a", "b", "c", "", "e", Verdict.UNDECIDED, "open"), Row("a", "b", "", "", "e", Verdict.HOLDS, "1 %")]
    )
    assert (one + one).text == "0 of 0 claims reproduced, 2 undecided; 2 of 2 own checks hold; 0 rows for information."


def test_markdown_keeps_bars_inside_cells() -> None:
    assert "| C\\|t - K\\| |" in table.markdown_table(("a",), [("C|t - K|",)])


def test_short_checks_hold() -> None:
    groups = (references.window_over_rtt, references.payload_share, references.growth, references.timeouts)
    for check in (check for group in groups for check in group()):
        assert check.holds, check


def test_the_validation_page_numbers_its_commands() -> None:
    rows = [
        Check("a", "p", "lightlag run x.toml", "1", "1", "+0.00%", True, "±1%"),
        Check("b", "p", "the same run", "2", "1", "+100.00%", False, "±1%"),
    ]
    page = findings.pages(Findings(closed_forms=rows))["closed-forms"].text()
    assert "| 1 | a; p | 1 | 1 | +0.00% | ±1% |" in page
    assert "| 1 | b; p | 2 | 1 | +100.00% | **does not hold**: ±1% |" in page
    assert "1. `lightlag run x.toml`" in page
    assert "**1 of 2 measurements agree with their closed forms" in page


def test_random_losses_raise_the_mean_window() -> None:
    assert theory.reno_random(1e-3) / theory.mathis(1e-3) == pytest.approx(1.07, abs=0.01)
    assert theory.cubic_random(1e-4, 0.1) / theory.cubic(1e-4, 0.1) == pytest.approx(1.24, abs=0.03)
