"""CUBIC and BBR in swarms, 2021: metrics, the judging of claims, the model of connectivity, ns-3's recorded runs."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lightlag.reproduce import fanet
from lightlag.reproduce.fanet import causes, claims, figures, hop, measures, model, peer, runs, sweeps
from lightlag.reproduce.fanet.claims import Sweep
from lightlag.reproduce.fanet.outcome import Air, Flow, Outcome
from lightlag.reproduce.fanet.setting import (
    BBR,
    BBR_NS3,
    CONNECTED,
    CUBIC,
    DEFAULT,
    NODES,
    READINGS,
    SPEEDS,
    Access,
    Contender,
    Setting,
)
from lightlag.reproduce.paper import Effort, Paper, Reproduction
from lightlag.reproduce.table import Verdict

AIR = Air(sent=100, failed=20, breaks=50, routing_bytes=1000)


def run(*kbps: float, air: Air = AIR) -> Outcome:
    """A run of 100 s in which each flow has a throughput, all of it in 10 s."""
    flows = [Flow(round(rate * 1250), 10.0 if rate else 0.0, 0.1, 2, 1.5) for rate in kbps]
    return Outcome(flows, air, seconds=100)


def sweep(varies: str, cubic: list[float], bbr: list[float], seeds: int = 2) -> Sweep:
    """Every run has two flows: CUBIC's share 2 to 1, BBR's 4 to 1."""
    points = NODES if varies == "nodes" else SPEEDS

    def runs(means: list[float], share: float) -> dict[int, list[Outcome]]:
        return {
            point: [run(mean * 2 * share, mean * 2 * (1 - share))] * seeds
            for point, mean in zip(points, means, strict=True)
        }

    return Sweep(varies, points, runs(cubic, 2 / 3), runs(bbr, 0.8))


def test_throughput_counts_flows_without_data_and_the_time_in_which_data_came() -> None:
    one = run(300, 100, 0, 0)
    assert one.kbps == pytest.approx(100)
    # 500 kB in 100 s, four flows: 4e6 bit / 100 s / 4.
    assert one.whole_kbps == pytest.approx(10)
    assert one.served == 2
    # (300 + 100)^2 / (n (300^2 + 100^2)) = 1.6 / n.
    assert one.fairness == pytest.approx(1.6 / 4)
    assert one.fairness_of_served == pytest.approx(1.6 / 2)
    assert one.air.failing == 0.2


def test_a_swarm_without_any_data_is_fair_and_has_no_delay() -> None:
    one = run(0, 0)
    assert (one.kbps, one.fairness, one.fairness_of_served) == (0, 1, 1)
    silent = Outcome([Flow(0, 0.0, math.nan, 0)], AIR, 100)
    assert math.isnan(silent.delay_s)
    assert math.isnan(silent.hops)


def test_delay_and_hops_weigh_by_bytes() -> None:
    flows = [Flow(3000, 1.0, 0.1, 0, 1.0), Flow(1000, 1.0, 0.5, 0, 3.0), Flow(0, 0.0, math.nan, 4)]
    one = Outcome(flows, AIR, 100)
    assert one.delay_s == pytest.approx((3 * 0.1 + 0.5) / 4)
    assert one.hops == pytest.approx(1.5)
    assert one.timeouts == 4


def test_ranks_and_signs() -> None:
    assert measures.spearman([1, 2, 3], [5, 5, 5]) != measures.spearman([1, 2, 3], [5, 5, 5])
    assert measures.spearman([1, 2, 3, 4], [1, 2, 2, 4]) == pytest.approx(0.948683, abs=1e-6)
    assert measures.sign_test(0, 5) == 1
    assert measures.sign_test(5, 5) == 1 / 32


PRINTED = [867.729, 600.0, 400.0, 250.0, 180.579], [288.185, 220.0, 160.0, 120.0, 91.271]


def verdicts(one: Sweep) -> dict[str, Verdict]:
    return {row.quantity: row.verdict for row in claims.rows(one, None)}


def test_the_papers_own_numbers_are_reproduced() -> None:
    found = verdicts(sweep("nodes", *PRINTED, seeds=10))
    assert set(found.values()) == {Verdict.REPRODUCED, Verdict.NOT_JUDGED}
    assert list(found.values()).count(Verdict.NOT_JUDGED) == 1


def test_a_wrong_order_or_a_rise_is_not_reproduced() -> None:
    swapped = verdicts(sweep("nodes", PRINTED[1], PRINTED[0], seeds=10))
    assert swapped["throughput of CUBIC above that of BBR"] is Verdict.NOT_REPRODUCED
    assert swapped["CUBIC over BBR at 40, 50, 60, 70 and 80 UAVs"] is Verdict.NOT_REPRODUCED
    rising = verdicts(sweep("nodes", PRINTED[0][::-1], PRINTED[1][::-1], seeds=10))
    assert rising["throughput of CUBIC above that of BBR"] is Verdict.REPRODUCED
    assert rising["CUBIC: rank correlation of throughput and the number of UAVs"] is Verdict.NOT_REPRODUCED
    # 180.6 kbit/s instead of 867.7 is more than a factor of 3.
    assert rising["CUBIC: throughput at 40 UAVs, kbit/s"] is Verdict.NOT_REPRODUCED


def test_each_reading_of_bbr_is_judged_and_ns3_stands_beside_its_own() -> None:
    both = sweep("nodes", *PRINTED, seeds=10)
    both = replace(both, others={"BBR of ns-3": sweep("nodes", PRINTED[0], [10.0] * 5, seeds=10).bbr})
    theirs = peer.sweep("nodes", CONNECTED)
    found = {row.quantity: row for row in claims.rows(both, theirs)}
    plain, as_ns3 = (found[f"throughput of CUBIC above that of {bbr}"] for bbr in both.bbrs)
    assert (plain.verdict, as_ns3.verdict) == (Verdict.REPRODUCED, Verdict.REPRODUCED)
    assert (plain.theory, as_ns3.theory.endswith("(ns-3.37 at 40)")) == ("", True)
    ratios = [found[f"CUBIC over {bbr} at 40, 50, 60, 70 and 80 UAVs"].verdict for bbr in both.bbrs]
    assert ratios == [Verdict.REPRODUCED, Verdict.NOT_REPRODUCED]
    assert found["BBR of ns-3: throughput at 80 UAVs, kbit/s"].paper == "91, the smallest"
    lines = claims.layout({"lightlag": both}, "nodes", "title").lines
    assert [line[2] for line in lines[:3]] == ["CUBIC", "BBR", "BBR of ns-3"]


def test_one_hop_is_judged_by_ns3s_medians() -> None:
    def starving(contender: Contender, seed: int, seconds: int) -> float:
        each = "each segment" in contender.label
        if "ns-3" not in contender.label:
            return 14.8
        return hop.NS3["each" if each else "every second", seconds] * (1.02 if each else 1.0 + seed)

    rows, layout = hop.fill(Effort(seeds=1), starving)
    assert [row.verdict for row in rows] == [Verdict.HOLDS] * 4
    assert layout.lines[1] == ("each", "60", "14.80 (14.80 to 14.80)", "2.47 (2.47 to 2.47)", "2.42")
    rows, _ = hop.fill(Effort(seeds=3), starving)
    assert [row.verdict for row in rows] == [Verdict.HOLDS] * 2 + [Verdict.FAILS] * 2


def test_bbr_of_ns3_starves_on_one_hop() -> None:
    assert hop.run(BBR, 1, 10) > 14
    assert hop.run(BBR_NS3, 1, 10) < 0.5 * hop.run(BBR, 1, 10)


def test_one_swarm_is_too_few_for_an_order() -> None:
    assert verdicts(sweep("nodes", *PRINTED, seeds=1))["throughput of CUBIC above that of BBR"] is Verdict.REPRODUCED
    mixed = sweep("nodes", *PRINTED, seeds=1)
    mixed = replace(mixed, points=(40, 50, 60, 70))
    # Four of four: p = 1/16.
    assert claims.rows(replace(mixed, points=(40, 50, 60, 70, 80)), None)
    assert measures.sign_test(*mixed.wins(claims.kbps)) == 1 / 16


def test_numbers_that_contradict_one_another_are_not_judged() -> None:
    rows = claims.rows(sweep("speed", [480, 300, 250, 200, 150], [380, 250, 200, 150, 120], seeds=10), None)
    undecided = [row.paper for row in rows if row.verdict is Verdict.UNDECIDED]
    assert undecided == ["142, the smallest", "115, the smallest"]


def test_mobility_breaks_routes_only_if_more_break_at_higher_speeds() -> None:
    one = sweep("speed", [480, 300, 250, 200, 150], [380, 250, 200, 150, 120])

    def broken(factors: list[int]) -> Sweep:
        runs = {
            point: [replace(each, air=replace(AIR, breaks=50 * factor)) for each in one.cubic[point]]
            for point, factor in zip(SPEEDS, factors, strict=True)
        }
        return replace(one, cubic=runs)

    density = sweep("nodes", *PRINTED)
    assert causes.rows(density, broken([1, 2, 3, 4, 5]))[0].verdict is Verdict.REPRODUCED
    assert causes.rows(density, broken([1, 1, 1, 1, 1]))[0].verdict is Verdict.NOT_REPRODUCED


def test_hops_of_a_chain_and_of_two_islands() -> None:
    links = np.zeros((5, 5), dtype=bool)
    for a, b in ((0, 1), (1, 2), (3, 4)):
        links[a, b] = links[b, a] = True
    steps = model.shortest(links)
    assert steps[0].tolist() == [0, 1, 2, math.inf, math.inf]
    assert steps[3, 4] == 1


def test_paths_stay_in_the_box_and_keep_their_speed() -> None:
    places = model.paths(50, 25, 60, seed=1)
    assert places.shape == (121, 50, 3)
    assert (places >= 0).all()
    assert (places <= np.array(model.BOX_M)).all()
    walked = np.linalg.norm(np.diff(places, axis=0), axis=2) / model.STEP_S
    assert walked.max() <= 25
    # The noise of the speed is zero, so that a node keeps it wherever no wall cuts its step short.
    assert np.median(walked.max(axis=0) - np.median(walked, axis=0)) == pytest.approx(0, abs=1e-9)


def test_connectivity_of_uniform_nodes_is_the_derived_one() -> None:
    rng = np.random.default_rng(1)
    for (_, nodes), (degree, connected) in causes.DERIVED.items():
        places = rng.uniform(0, 1, (300, nodes, 3)) * np.array(model.BOX_M)
        found = model.connectivity(places, DEFAULT.range_m)
        assert found.degree == pytest.approx(degree, rel=0.05)
        assert found.connected == pytest.approx(connected, rel=0.1)


def test_changes_of_links_are_those_of_a_second() -> None:
    # Two nodes part by 10 m in each of five steps of 2 s: in 10 s their link goes once.
    places = np.array([[[0.0, 0.0, 0.0], [10.0 * at, 0.0, 0.0]] for at in range(6)])
    found = model.connectivity(places, 25.0, 2.0)
    assert found.changes == pytest.approx(1 / 2 / 5)
    assert found.degree == pytest.approx(3 / 6)


def test_everybody_is_connected_in_the_other_reading() -> None:
    found = model.connectivity(model.paths(40, 25, 20, seed=3), CONNECTED.range_m)
    assert found.connected > 0.99
    assert 1.2 < found.hops < 3


def test_recorded_runs_of_ns3_are_swarms_of_thirty_flows() -> None:
    runs = peer.outcomes("CUBIC", CONNECTED.power_dbm, 40, 25)
    assert runs
    for one in runs:
        assert len(one.flows) == 30
        assert one.seconds == 100
        assert 0 < one.served <= 30
        assert one.delay_s > 0
        assert one.hops >= 1
        assert one.air.sent > one.air.failed > 0
    assert not peer.outcomes("CUBIC", 17.0, 40, 25)


def test_ns3s_runs_can_be_judged_by_themselves() -> None:
    sweeps = [peer.sweep(varies, reading) for reading in READINGS for varies in ("nodes", "speed")]
    found = [one for one in sweeps if one is not None]
    assert found
    for one in found:
        assert set(one.points) <= set(NODES if one.varies == "nodes" else SPEEDS)
        text = claims.layout({"ns-3.37": one}, "peer", "ns-3.37")
        assert len(text.lines) == 2 * len(one.points)
        assert {len(line) for line in text.lines} == {len(text.header)}
        beside = causes.layout({"ns-3.37": one}, "causes", "causes")
        assert {len(line) for line in beside.lines} == {len(beside.header)}


def test_figures_show_both_algorithms_the_paper_and_ns3() -> None:
    ours = sweep("nodes", *PRINTED)
    for draw, y in ((figures.throughput, "kbit/s"), (figures.jain, "Jain's index")):
        (axes,) = draw(ours, peer.sweep("nodes", CONNECTED)).axes
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("number of UAVs", y)
        legend = axes.get_legend()
        assert legend is not None
        assert {"CUBIC", "BBR"} <= {text.get_text() for text in legend.get_texts()}
    assert len(figures.readings({"connected": ours, "default": ours}).axes) == 2


def fading(setting: Setting, seed: int) -> Outcome:
    """A runner for the report: throughput falls with nodes and speed, BBR has half, the radio's range decides."""
    scale = 2.0 if setting.contender.algorithm == "CUBIC" else 1.0
    scale *= 1.0 if setting.reading is CONNECTED else 0.1
    rate = scale * 200 * 60 / setting.nodes * 15 / (5 + setting.speed) * (1 + seed / 100)
    share = 0.6 if setting.contender.algorithm == "CUBIC" else 0.8
    return run(2 * rate * share, 2 * rate * (1 - share))


def test_a_report_has_every_item_table_and_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "MODEL_SEEDS", 1)
    steps: list[str] = []
    paper = Paper("fanet", "title", "reference", (), lambda *_: None)
    report = Reproduction(paper)
    fanet.fill(report, Effort(seeds=3, progress=steps.append), fading, [CUBIC, BBR])
    assert {row.item for row in report.rows} >= {"Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6", "abstract", "connectivity"}
    assert [picture.name for picture in report.pictures] == ["fig3", "fig4", "fig5", "fig6", "readings"]
    assert {layout.name for layout in report.layouts} >= {
        "nodes_connected", "nodes_default", "speed_connected", "speed_default", "linux", "connectivity",
        "algorithms", "access", "routing", "sizes",
    }  # fmt: skip
    # The smallest values at 5 m/s, for both readings of BBR, and the delay.
    assert report.tally.undecided == 4
    assert "beyond the paper: routing" in steps
    folder = report.save(tmp_path / "out")
    assert (folder / "fig3.png").stat().st_size > 5000
    text = (folder / "report.md").read_text("utf-8")
    assert "ns-3.37" in text
    assert " nan" not in text


def test_sweeps_give_both_algorithms_the_same_swarms() -> None:
    asked: list[tuple[str, int, float, int]] = []

    def note(setting: Setting, seed: int) -> Outcome:
        asked.append((setting.contender.label, setting.nodes, setting.speed, seed))
        return fading(setting, seed)

    found = sweeps.Swarms(Effort(seeds=2), note).run(sweeps.settings_of("nodes", DEFAULT))
    one = sweeps.sweep("nodes", DEFAULT, found)
    by_label = {
        label: sorted(each[1:] for each in asked if each[0] == label) for label in ("CUBIC", "BBR", "BBR of ns-3")
    }
    assert (
        by_label["CUBIC"]
        == by_label["BBR"]
        == by_label["BBR of ns-3"]
        == [(nodes, 25, seed) for nodes in NODES for seed in (1, 2)]
    )
    assert one.cubic[40][0].kbps == pytest.approx(fading(Setting(CUBIC, DEFAULT, 40), 1).kbps)


def test_no_swarm_is_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "MODEL_SEEDS", 1)
    asked: list[str] = []

    def note(setting: Setting, seed: int) -> Outcome:
        asked.append(str((runs.scenario(setting), seed)))
        return fading(setting, seed)

    report = Reproduction(Paper("fanet", "title", "reference", (), lambda *_: None))
    fanet.fill(report, Effort(), note, fanet.contenders())
    assert len(set(asked)) == len(asked)
    (algorithms,) = (one for one in report.layouts if one.name == "algorithms")
    # Those of the figures have all of their seeds here, too.
    seeds = {label: count for label, count, *_ in algorithms.lines}
    assert (seeds["CUBIC"], seeds["cubic, Linux"]) == ("10", "2")
    (sizes,) = (one for one in report.layouts if one.name == "sizes")
    assert [count for _, count, *_ in sizes.lines] == ["2", "2", "10", "10", "2", "2", "1", "1", "1", "1"]


def test_seeds_are_added_to_those_that_a_setting_has() -> None:
    asked: list[int] = []

    def note(setting: Setting, seed: int) -> Outcome:
        asked.append(seed)
        return run(seed)

    swarms = sweeps.Swarms(Effort(), note)
    swarms.run([Setting(CUBIC)], 2)
    found = swarms.run([replace(Setting(CUBIC), contender=replace(CUBIC, label="another name"))], 3)
    assert asked == [1, 2, 3]
    assert [one.kbps for one in found[Setting(CUBIC)]] == [1, 2, 3]


def test_every_setting_beyond_the_paper_is_another_one() -> None:
    for name, settings in sweeps.beyond([CUBIC, BBR]).items():
        assert len(set(settings.values())) == len(settings), name


def test_throughput_and_delay_come_from_the_samples_of_a_sender() -> None:
    # Segments of 100 B at 1, 2, 3 and 4 s, each delivered a second later; the run goes on without data until 10 s.
    times = [float(at) for at in range(11)]
    trace = pl.DataFrame(
        {
            "time_s": times,
            "sent_bytes": [100 * min(at, 4) for at in range(11)],
            "delivered_bytes": [100 * min(max(at - 1, 0), 4) for at in range(11)],
        }
    )
    row = {"delivered_bytes": 400, "start_s": 0.5, "timeouts": 3}
    one = runs.flow_of(row, trace, 2.0)
    assert (one.bytes, one.seconds, one.timeouts, one.hops) == (400, 4.0, 3, 2.0)
    assert one.delay_s == pytest.approx(1.0)
    assert runs.flow_of({**row, "delivered_bytes": 0}, trace, 2.0).bps == 0


def test_frames_without_an_ack_are_repeated_or_dropped() -> None:
    radio = {
        "sent_frames": 100, "retries": 30, "dropped_queue": 1, "dropped_retry": 4, "dropped_lifetime": 2,
        "routing_bytes": 500,
    }  # fmt: skip
    assert runs.air_of([radio, radio]) == Air(sent=200, failed=68, breaks=14, routing_bytes=1000)


def test_scenarios_differ_where_settings_do() -> None:
    usual = runs.scenario(Setting(CUBIC))
    assert usual["topology"]["medium"]["power"] == "32.0206 dBm"
    assert runs.scenario(Setting(CUBIC, DEFAULT))["topology"]["medium"]["power"] == "16.0206 dBm"
    assert runs.scenario(Setting(CUBIC, speed=5))["topology"]["mobility"]["speed_most"] == "5 m/s"
    assert runs.scenario(Setting(BBR))["defaults"]["tcp"]["congestion"] == {"algorithm": "bbr"}
    assert runs.scenario(Setting(BBR, routing="olsr"))["topology"]["medium"]["routing"] == "olsr"
    texts = {str(runs.scenario(Setting(CUBIC, access=access))) for access in Access}
    assert len(texts) == 3
    assert usual["topology"]["flows"] == 30
