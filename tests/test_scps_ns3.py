"""SCPS-TP in ns-3, 2017, run again: the model, and the bands that the paper's card lists."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightlag as ll
from lightlag_papers import PAPERS, Verdict
from lightlag_papers.paper import Effort
from lightlag_papers.readings import Readings
from lightlag_papers.scps_ns3 import (
    ack_intervals,
    algorithms,
    asymmetry,
    compression,
    corruption,
    equations,
    model,
    outages,
    repairs,
    satellite,
    simulators,
    sweeps,
)
from lightlag_papers.scps_ns3.setting import NEWRENO, SCPS, VEGAS, Setting, Transport, rates
from lightlag_papers.table import Row

pytestmark = pytest.mark.long


def judged(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.verdict.decided]


def failing(rows: list[Row]) -> list[str]:
    return [f"{row.item}, {row.quantity}" for row in rows if row.verdict.failed]


def test_the_path_is_the_papers() -> None:
    setting = Setting(NEWRENO)
    assert (setting.mss, setting.forward_queue) == (472, 36)
    summary = setting.run(1, **{"flows.0.transfer": "472 B"}).summary
    # A segment of 514 B and an ACK of 42 over 100 ms and two links of 1.5 Mbit/s each way; after 200 ms, for it is one.
    links = {link["name"]: link["carried_bytes"] for link in summary["links"]}
    assert links["router->server"] >= 514
    assert summary["flows"][0]["min_rtt_s"] == pytest.approx(0.1, abs=0.002)


def test_the_model_fills_a_lossless_link() -> None:
    run = model.transfer(model.Path(queue=10_000), model.Ends())
    # 472 of 514 B at 1.5 Mbit/s, less a handshake and ten doublings by half.
    assert 0.94 * 1.377e6 < run.throughput_bps < 1.377e6
    assert run.timeouts == 0


def test_the_model_is_bound_to_its_acks() -> None:
    for rate in (15e3, 5e3, 3e3):
        run = model.transfer(model.Path(return_bps=rate), model.Ends())
        assert run.throughput_bps == pytest.approx(equations.ack_clock_bps(rate, 472), rel=0.08)


def test_the_model_never_loses_data() -> None:
    for seed in (1, 2):
        run = model.transfer(model.Path(ber=3e-5, file_bytes=500_000), model.Ends(ack_interval_s=0.069), seed)
        assert 0 < run.throughput_bps < 1.5e6


@pytest.fixture(scope="module")
def asymmetric() -> asymmetry.Asymmetry:
    return asymmetry.Asymmetry.run(Effort(seeds=2, jobs=2))


def test_nearly_every_claim_about_narrow_return_links_holds(asymmetric: asymmetry.Asymmetry) -> None:
    rows = asymmetry.rows(asymmetric) + asymmetry.text_claims(asymmetric)
    assert len(judged(rows)) == 10
    # From 2 to 1.5 kbit/s SCPS-TP is not slower; and Vegas as plain TCP equals ns-3 only where its ACKs alone clock it.
    known = ("Fig. 3, SCPS-TP at 1500, 15, 5", "Fig. 3, Vegas at 15, 5, 3")
    assert [name for name in failing(rows) if not name.startswith(known)] == []


def test_vegas_as_plain_tcp_is_compared_with_ns3(asymmetric: asymmetry.Asymmetry) -> None:
    (row,) = (row for row in asymmetry.rows(asymmetric) if row.quantity.startswith("Vegas at 15, 5, 3"))
    assert row.verdict.value in ("holds", "does not hold")
    assert row.theory.startswith("235, 112, 67, 45, 17 (ns-3.37)")
    assert "within 20% of ns-3.37" in row.reason


def test_narrow_links_cost_what_they_cost_in_ns3(asymmetric: asymmetry.Asymmetry) -> None:
    for rate in asymmetry.RETURNS_BPS[1:]:
        ours, theirs = asymmetric.mean(NEWRENO, rate), simulators.kbps(Setting(NEWRENO, rate))
        assert theirs is not None
        assert ours == pytest.approx(theirs, rel=0.005)
    for rate in (1.5e6, 15e3, 5e3, 3e3, 2e3):
        theirs = simulators.kbps(Setting(VEGAS, rate))
        assert theirs is not None
        assert asymmetric.mean(VEGAS, rate) == pytest.approx(theirs, rel=0.01)
    # With rate control below TCP, as in ns-3.
    for rate in (1.5e6, 15e3, 5e3):
        theirs = simulators.kbps(Setting(SCPS, rate))
        assert theirs is not None
        assert asymmetric.mean(asymmetry.BELOW, rate) == pytest.approx(theirs, rel=0.1)


def test_simulator_and_model_agree_where_acks_clock(asymmetric: asymmetry.Asymmetry) -> None:
    # Vegas is below its ACK clock at 15 kbit/s, where its delayed ACKs hold it.
    for one, rates_bps in ((NEWRENO, (15e3, 5e3, 3e3, 2e3)), (VEGAS, (5e3, 3e3, 2e3))):
        for rate in rates_bps:
            assert asymmetric.mean(one, rate) == pytest.approx(asymmetric.model(one, rate), rel=0.01)
    assert asymmetric.mean(VEGAS, 15e3) == pytest.approx(asymmetric.model(VEGAS, 15e3), rel=0.05)


def test_a_short_return_queue_helps_only_newreno(asymmetric: asymmetry.Asymmetry) -> None:
    def mean(one: Transport, queue: int) -> float:
        return statistics.fmean(asymmetric.of(one, 5e3, queue))

    assert mean(NEWRENO, 36) > 2 * mean(NEWRENO, 1000)
    assert mean(VEGAS, 5) == pytest.approx(mean(VEGAS, 1000))
    assert mean(SCPS, 5) == pytest.approx(mean(SCPS, 1000))


def test_the_models_vegas_is_ours() -> None:
    for transport, ends in ((SCPS, asymmetry.MODELS[SCPS]), (asymmetry.LINUX_VEGAS, asymmetry.PLAIN)):
        for delay in (0.1, 0.2, 0.3):
            setting = Setting(transport, delay_s=delay)
            (flow,) = setting.run(1).summary["flows"]
            assert flow["goodput_bps"] == pytest.approx(asymmetry.ideal_bps(setting, ends), rel=0.06)


def test_vegas_as_plain_tcp_moves_with_the_first_window_as_in_ns3() -> None:
    # asymmetric --algorithm=TcpVegas --initial-window=N of ns-3.37, in kbit/s.
    for window, theirs in ((1, 424.7), (2, 284.4), (4, 426.2), (10, 639.9)):
        (flow,) = Setting(VEGAS).run(1, **{"defaults.tcp.initial_window": str(window)}).summary["flows"]
        assert flow["goodput_bps"] / 1e3 == pytest.approx(theirs, rel=0.005)


def test_sequence_numbers_rise_steepest_with_scps() -> None:
    found = asymmetry.sequences(Effort(jobs=2))
    slopes = [run.slope_bps() for run in found.values()]
    assert slopes[0] > 5 * slopes[1]
    assert slopes[1] == pytest.approx(equations.ack_clock_bps(5e3, 472), rel=0.01)


def test_fixed_acks_help_westwood_and_highspeed() -> None:
    rows = algorithms.rows(algorithms.Algorithms.run(Effort(seeds=1, jobs=2)))
    by_name = {row.quantity.split(":")[0]: row.verdict for row in judged(rows)}
    assert by_name["Westwood"] is by_name["HighSpeed"] is Verdict.REPRODUCED
    # They help Hybla even more, in contrast to the paper.
    assert by_name["Hybla"] is Verdict.NOT_REPRODUCED


def test_every_claim_about_long_delays_holds() -> None:
    rows = sweeps.delay_rows(sweeps.delays(Effort(seeds=1, jobs=2)))
    assert len(judged(rows)) == 12
    assert failing(rows) == []


def test_large_segments_help() -> None:
    settings = [Setting(one, 3e3, mtu=mtu) for one in (SCPS, NEWRENO) for mtu in (100, 512, 1500)]
    found = [statistics.fmean(values) / 1e3 for values in rates(settings, Effort(seeds=2, jobs=2)).values()]
    assert found[0] < found[1] < found[2]
    assert found[3:] == pytest.approx([simulators.kbps(setting) for setting in settings[3:]], rel=0.005)
    assert all(a > 2 * b for a, b in zip(found[:3], found[3:], strict=True))


def test_a_frozen_window_grows_by_one_with_each_ack_and_never_shrinks() -> None:
    result = corruption.setting(corruption.FROZEN, 0.05).run(1, **{"record.acks": "true"})
    windows = result.acks["cwnd_bytes"].to_numpy() / 472
    growth = np.diff(windows)
    assert windows[0] == 1
    assert growth.min() >= 0
    assert growth.max() <= 1 + 1e-9
    assert result.summary["links"][2]["dropped_error"] > 300


@pytest.fixture(scope="module")
def corrupted() -> corruption.Corruption:
    return corruption.Corruption.run(Effort(seeds=3, jobs=2))


def test_with_bit_errors_newreno_is_the_papers(corrupted: corruption.Corruption) -> None:
    rows = [row for row in judged(corruption.rows(corrupted)) if "SCPS" not in row.quantity]
    assert [row.verdict for row in rows] == [Verdict.REPRODUCED] * 3


@pytest.fixture(scope="module")
def readings(corrupted: corruption.Corruption, asymmetric: asymmetry.Asymmetry) -> Readings:
    return corruption.readings(corrupted, asymmetric)


def test_each_claim_about_scps_counts_once(readings: Readings) -> None:
    assert len(readings.rows) == 6
    claims = [(row.item, row.paper) for row in readings.judged()]
    assert len(claims) == len(set(claims)) == 7


def test_a_ratio_of_13_does_not_reproduce_one_of_3(corrupted: corruption.Corruption) -> None:
    (row,) = (row for row in corruption.claims(corrupted, corruption.RATE_ONLY) if "over NewReno" in row.quantity)
    assert float(row.ours.split(",")[0]) > 10
    assert row.verdict is Verdict.NOT_REPRODUCED


def test_an_ack_releases_a_bucket_at_most(corrupted: corruption.Corruption) -> None:
    p = equations.packet_error_rate(1e-5, 514)
    for one in corruption.BY_ACKS:
        for delay in corruption.DELAYS_S:
            assert corrupted.mean(one, delay) < corruption.released_bps(p) / 1e3


def test_with_bit_errors_rate_control_comes_to_its_closed_form(corrupted: corruption.Corruption) -> None:
    full = equations.rated_bps(1.425e6, 472, equations.packet_error_rate(1e-5, 514)) / 1e3
    for delay in corruption.DELAYS_S:
        assert 0.95 * full < corrupted.mean(corruption.RATE_ONLY, delay) < 1.02 * full
        frozen = corrupted.mean(corruption.FROZEN, delay)
        assert frozen < equations.ramp_bps(5_000_000, full * 1e3, 2 * delay, 0.069, 472) / 1e3


def test_the_profile_out_of_the_box_gives_the_papers_order_under_errors() -> None:
    def goodput(tcp: dict[str, Any], delay: str, seed: int) -> float:
        channel = {"between": ["router", "server"], "rate": "1.5 Mbit/s", "delay": delay, "queue": "72 packets"}
        near = {"between": ["client", "router"], "rate": "1.5 Mbit/s", "delay": "0.01 ms", "queue": "72 packets"}
        scenario = {
            **{"name": "corruption", "duration": "2000 s", "defaults": {"tcp": tcp}, "record": {"trace": "off"}},
            "links": [near, channel | {"loss": {"bit_error_rate": 1e-5}}],
            "flows": [{"from": "client", "to": "server", "transfer": "2 MB"}],
        }
        (flow,) = ll.run(scenario, seed=seed).summary["flows"]
        return float(flow["goodput_bps"])

    newreno = {"profile": "ns3", "congestion": "newreno", "sack": False, "recovery": "newreno", "prr": False}
    for delay in ("50 ms", "100 ms"):
        for seed in (1, 2):
            assert goodput({"profile": "scps"}, delay, seed) > 1.5 * goodput(newreno, delay, seed)


def test_snack_repairs_each_loss_once() -> None:
    for one in (repairs.SNACK, repairs.VECTOR):
        found = repairs.sample(Setting(one, ber=1e-5), 1)
        assert found.repairs == pytest.approx(1, abs=0.01)
        assert found.rate_bps > repairs.sample(Setting(repairs.SACK, ber=1e-5), 1).rate_bps


def test_acks_in_a_bucket_need_no_tuning() -> None:
    settings = [ack_intervals.point(one, 0.05, 3e3) for one in (ack_intervals.RATED, ack_intervals.COALESCED)]
    without, with_bucket = (values[0] for values in rates(settings, Effort(seeds=1)).values())
    assert with_bucket > 1.5 * without


def test_compressed_headers_gain_what_they_save() -> None:
    points = [
        compression.point(compression.RATED, mtu, 1.5e6, compressed=on) for mtu in (100, 512) for on in (False, True)
    ]
    small, compressed_small, usual, compressed_usual = (v[0] for v in rates(points, Effort(seeds=1)).values())
    assert compressed_small / small == pytest.approx(compression.data_gain(100), rel=0.01)
    assert compressed_usual / usual == pytest.approx(compression.data_gain(512), rel=0.01)
    # Ten ACKs of 32 B a second fit into 3 kbit/s, ten of 42 B do not.
    narrow = [compression.point(SCPS, 512, 3e3, compressed=on) for on in (False, True)]
    plain, with_it = (v[0] for v in rates(narrow, Effort(seeds=1)).values())
    assert with_it > compression.ack_gain() * plain


def test_an_outage_ends_no_scps_connection() -> None:
    rows = outages.rows(outages.Outages.run(Effort(seeds=3, jobs=2)))
    assert len(judged(rows)) == 5
    assert failing([row for row in rows if "TCP, Linux: lateness" not in row.quantity]) == []


def test_reports_of_six_holes_bound_the_rate_over_geo() -> None:
    assert satellite.goodput(satellite.SCPS, 3e-6, 1) == pytest.approx(satellite.holes_mbps(3e-6), rel=0.2)
    assert satellite.goodput(satellite.RACK, 3e-6, 1) > 2 * satellite.holes_mbps(3e-6)
    assert satellite.goodput(satellite.SCPS, 1e-7, 1) > satellite.goodput(satellite.BBR, 1e-7, 1)


def test_a_reproduction_leaves_tables_and_figures(tmp_path: Path) -> None:
    found = PAPERS["scps-ns3"].reproduce(tmp_path / "out", seeds=1, jobs=2)
    names = {path.stem for path in (tmp_path / "out").glob("*.pdf")}
    assert names == {picture.name for picture in found.figures}
    assert {"fig3", "fig4", "fig5", "fig6", "fig7", "fig8_9", "return_queue"} <= names
    assert (tmp_path / "out" / "fig3.csv").read_text("utf-8").startswith('"return rate, kbit/s",ratio')
    items = {row.item.split(",")[0] for row in found.rows}
    assert {"Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6", "Fig. 7", "Fig. 8", "Fig. 9"} <= items
