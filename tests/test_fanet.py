"""CUBIC and BBR in swarms, 2021: metrics, the assessment of claims, the model of connectivity, ns-3's recorded runs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lightlag_papers import fanet
from lightlag_papers.fanet import (
    assessment,
    causes,
    claims,
    exchanged,
    figures,
    hop,
    measures,
    model,
    readings,
    runs,
    sweeps,
)
from lightlag_papers.fanet.assessment import Assessment
from lightlag_papers.fanet.claims import CLAIMS
from lightlag_papers.fanet.outcome import Air, Flow, Outcome
from lightlag_papers.fanet.readings import GROUNDS, READINGS, Curve, Evidence, Fairness, Ground, Reading, Throughput
from lightlag_papers.fanet.setting import (
    BBR_LINUX,
    BBR_NS3,
    BBRS,
    CONNECTED,
    CUBIC,
    DEFAULT,
    MEDIUM,
    ONE_DOMAIN,
    RADIOS,
    SEEDS,
    SPEEDS,
    TABLE,
    TEXT,
    Access,
    Candidate,
    Routing,
    Setting,
)
from lightlag_papers.kept import KeptRuns
from lightlag_papers.paper import Effort, Paper, Reproduction
from lightlag_papers.table import Row, Verdict

pytestmark = pytest.mark.long

AIR = Air(sent=100, retries=20, dropped=50, broken=40, routing_bytes=1000)


def run(*kbps: float, air: Air = AIR) -> Outcome:
    """A run of 100 s whose flows have these throughputs, and deliver all of their data within 10 s."""
    flows = [Flow(round(rate * 1250), 10.0 if rate else 0.0, 0.1, 2, 1.5) for rate in kbps]
    return Outcome(flows, air, seconds=100)


def test_throughput_is_taken_over_the_run_or_over_the_time_in_which_data_came() -> None:
    one = run(300, 100, 0, 0)
    assert readings.mean_kbps(one, Throughput.ACTIVE) == pytest.approx(100)
    # 500 kB in 100 s, four flows: 4e6 bit / 100 s / 4.
    assert readings.mean_kbps(one, Throughput.RUN) == pytest.approx(10)
    assert one.served == 2
    # (300 + 100)^2 / (n (300^2 + 100^2)) = 1.6 / n.
    assert readings.jain_index(one, Throughput.RUN, Fairness.ALL) == pytest.approx(1.6 / 4)
    assert readings.jain_index(one, Throughput.ACTIVE, Fairness.SERVED) == pytest.approx(1.6 / 2)
    assert one.air.repeating == 0.2


def test_jains_index_follows_the_throughput_of_the_reading() -> None:
    # Both receive as much, one of them in half the time: equal over the run, 2 to 1 by equation 4.
    one = Outcome([Flow(1000, 10.0, 0.1, 0), Flow(1000, 5.0, 0.1, 0)], AIR, seconds=100)
    assert readings.jain_index(one, Throughput.RUN, Fairness.ALL) == pytest.approx(1)
    assert readings.jain_index(one, Throughput.ACTIVE, Fairness.ALL) == pytest.approx(0.9)


def test_a_swarm_without_any_data_has_no_fairness_and_no_delay() -> None:
    one = run(0, 0)
    assert readings.mean_kbps(one, Throughput.RUN) == 0
    for fairness in Fairness:
        assert math.isnan(readings.jain_index(one, Throughput.RUN, fairness))
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


PRINTED = {
    ("nodes", "CUBIC"): [867.729, 600, 400, 250, 180.579],
    ("nodes", "BBR"): [288.185, 220, 160, 120, 91.271],
    ("speed", "CUBIC"): [488.2, 400, 300, 200, 141.76],
    ("speed", "BBR"): [382.694, 300, 200, 150, 114.5539],
}
"""Throughputs that fall from the printed largest to the printed smallest one."""
INDEX = {
    ("nodes", "CUBIC"): [0.80, 0.75, 0.6642, 0.80, 0.8671],
    ("nodes", "BBR"): [0.7675, 0.5295, 0.60, 0.70, 0.65],
    ("speed", "CUBIC"): [0.98046, 0.618, 0.80, 0.85, 0.90],
    ("speed", "BBR"): [0.55, 0.60, 0.487, 0.67, 0.55],
}
"""Jain's indices between the printed extremes."""


def curve(means: list[float], spread: float = 0.0, seeds: int = 6) -> Curve:
    """A curve whose swarms alternate above and below the means, by a fraction of the mean."""
    return Curve(SPEEDS, tuple(tuple(mean * (1 + spread * (-1) ** seed) for seed in range(seeds)) for mean in means))


def evidence(varies: str, spread: float = 0.0, **changed: Sequence[float]) -> Evidence:
    """The paper's own numbers; `changed` are means of `cubic`, `bbr`, `jain_cubic`, `jain_bbr` and `broken`."""
    means: dict[str, Sequence[float]] = {
        "cubic": PRINTED[varies, "CUBIC"],
        "bbr": PRINTED[varies, "BBR"],
        "jain_cubic": INDEX[varies, "CUBIC"],
        "jain_bbr": INDEX[varies, "BBR"],
        "broken": [1, 2, 3, 4, 5],
        **changed,
    }
    curves = {name: curve([float(value) for value in those], spread) for name, those in means.items()}
    return Evidence(
        {"CUBIC": curves["cubic"], "BBR": curves["bbr"]},
        {"CUBIC": curves["jain_cubic"], "BBR": curves["jain_bbr"]},
        {"CUBIC": curves["broken"], "BBR": curves["broken"]},
    )


def failing(varies: str, seen: Evidence) -> set[str]:
    """The keys of the claims of an experiment that the evidence does not reproduce."""
    return {claim.key for claim in CLAIMS if claim.varies == varies and not claim.evaluate(seen).holds}


def test_each_claim_of_the_paper_is_counted_once() -> None:
    assert [claim.key for claim in CLAIMS] == (
        [f"3{letter}" for letter in "abcdefg"]
        + [f"4{letter}" for letter in "abcde"]
        + [f"5{letter}" for letter in "abcdefgh"]
        + [f"6{letter}" for letter in "abcde"]
    )
    assert len({(claim.figure, claim.quantity) for claim in CLAIMS}) == len(CLAIMS)
    assert not any("ns-3" in claim.quantity or "Linux" in claim.quantity for claim in CLAIMS)


@pytest.mark.parametrize("varies", ["nodes", "speed"])
def test_the_papers_own_numbers_are_reproduced(varies: str) -> None:
    assert failing(varies, evidence(varies)) == set()


@pytest.mark.parametrize("varies", ["nodes", "speed"])
def test_the_bands_of_the_largest_and_the_smallest_value_do_not_overlap(varies: str) -> None:
    for algorithm in claims.ALGORITHMS:
        printed = claims.PAPER[varies, algorithm]
        assert printed.min_kbps[0] * claims.FACTOR < printed.max_kbps[0] / claims.FACTOR
        assert printed.min_jain[0] + claims.MARGIN < printed.max_jain[0] - claims.MARGIN


def test_a_wrong_order_or_a_rise_is_not_reproduced() -> None:
    swapped = evidence("nodes", cubic=PRINTED["nodes", "BBR"], bbr=PRINTED["nodes", "CUBIC"])
    assert {"3a", "3d", "3e", "3f", "3g"} == failing("nodes", swapped)
    rising = evidence("nodes", cubic=PRINTED["nodes", "CUBIC"][::-1], bbr=PRINTED["nodes", "BBR"][::-1])
    assert {"3b", "3c", "3d", "3e", "3f", "3g"} == failing("nodes", rising)
    # One swap of neighbours leaves a rank correlation of -0.9, two swaps -0.8.
    assert "3b" not in failing("nodes", evidence("nodes", cubic=[868, 400, 600, 250, 181]))
    assert "3b" in failing("nodes", evidence("nodes", cubic=[868, 400, 600, 181, 250]))


def test_an_index_of_0_30_does_not_reproduce_0_66_to_0_87() -> None:
    assert {"4b", "4c"} <= failing("nodes", evidence("nodes", jain_cubic=[0.30, 0.31, 0.32, 0.30, 0.33]))
    # The extremes count, not the points between them.
    assert {"4b"} == failing("nodes", evidence("nodes", jain_cubic=[0.70, 0.71, 0.66, 0.75, 0.77]))


def test_a_value_whose_interval_is_as_wide_as_its_band_reproduces_nothing() -> None:
    # Six swarms alternate by 0.8 of the mean, at five points: 2.06 * 0.876 / sqrt(6) = 0.74 of it on each side, where
    # the band is 0.83 of it wide.
    assert {"3d", "3e", "3f", "3g"} <= failing("nodes", evidence("nodes", spread=0.8))
    assert failing("nodes", evidence("nodes", spread=0.02)) == set()


def test_all_points_of_a_curve_share_the_estimate_of_its_spread() -> None:
    # Deviations of 0.1 of the mean, ten deviations, five means: sqrt(10 * 0.01 / 5) = 0.1414; t of 5 degrees is 2.571.
    two = Curve(SPEEDS, tuple((0.9 * mean, 1.1 * mean) for mean in (100.0, 80.0, 60.0, 40.0, 20.0)))
    assert [one.mean for one in two.intervals] == pytest.approx([100, 80, 60, 40, 20])
    assert two.intervals[0].half_width == pytest.approx(2.571 * 0.1414 * 100 / math.sqrt(2), rel=1e-3)
    assert two.intervals[4].half_width == pytest.approx(two.intervals[0].half_width / 5)
    # A point without a value has no mean, and leaves the others theirs.
    gap = Curve(SPEEDS, ((math.nan, math.nan), *two.values[1:]))
    assert gap.intervals[0].count == 0
    assert gap.intervals[1].half_width > 0


def test_one_swarm_decides_no_value_and_no_order() -> None:
    single = Curve(SPEEDS, tuple((value,) for value in (867.729, 600.0, 400.0, 250.0, 180.579)))
    seen = evidence("nodes")
    one = Evidence({"CUBIC": single, "BBR": seen.throughput["BBR"]}, seen.jain, seen.broken)
    by_key = {claim.key: claim for claim in CLAIMS}
    assert not by_key["3d"].evaluate(one).holds


def test_mobility_breaks_routes_only_if_more_break_at_higher_speeds() -> None:
    assert "5h" not in failing("speed", evidence("speed", broken=[1, 1.2, 1.5, 1.8, 2]))
    assert "5h" in failing("speed", evidence("speed", broken=[1, 1.2, 1.5, 1.8, 1.9]))


def swarm_of(reading: Reading, varies: str, at: int, algorithm: str) -> Outcome:
    """A run of two flows with the paper's mean and the paper's Jain's index, under any reading."""
    mean, index = PRINTED[varies, algorithm][at], INDEX[varies, algorithm][at]
    # Shares s and 1-s have the index 1 / (2 (s² + (1-s)²)): s = (1 + sqrt(1/index - 1)) / 2.
    share = (1 + math.sqrt(1 / index - 1)) / 2
    seconds = 100.0
    flows = [Flow(round(2 * mean * one * 125 * seconds), seconds, 0.1, 1, 1.0) for one in (share, 1 - share)]
    return Outcome(flows, Air(100, 20, 50, 10 * (1 + at), 1000), seconds)


def fitting(*fits: tuple[Ground, str]) -> dict[Setting, list[Outcome]]:
    """Returns outcomes of all settings: the paper's numbers for the grounds and experiments in ``fits``, otherwise
    nearly zero.
    """
    outcomes: dict[Setting, list[Outcome]] = {}
    order = sorted(GROUNDS, key=lambda ground: any(ground == one for one, _ in fits))
    for ground in order:
        for varies in ("nodes", "speed"):
            for candidate in causes.CANDIDATES:
                for at, setting in enumerate(ground.settings(varies, candidate)):
                    if (ground, varies) in fits:
                        outcomes[setting] = [swarm_of(READINGS[0], varies, at, candidate.algorithm)] * 6
                    else:
                        outcomes.setdefault(setting, [run(1.0, 0.0)] * 6)
    return outcomes


GROUND, OTHER = Ground(TABLE, MEDIUM), Ground(TEXT, CONNECTED)


def test_all_claims_of_a_reading_are_checked_on_the_same_swarms_and_metrics() -> None:
    # One ground fits the figures over the density, another one the figures over the speed. If the reading were chosen
    # per claim, every claim would be reproduced.
    assessments = assessment.assess_all(fitting((GROUND, "nodes"), (OTHER, "speed")))
    of_density, of_speed = ({claim.key for claim in CLAIMS if claim.varies == varies} for varies in ("nodes", "speed"))
    everything = set()
    for one in assessments:
        held = {key for key, finding in one.findings.items() if finding.holds}
        everything |= held
        assert not held >= of_density | of_speed
    assert everything >= of_density | of_speed
    assert assessments[0].reproduced < len(CLAIMS)
    rows = {row.quantity.split(":")[0]: row for row in assessment.rows(assessments)}
    verdicts = {key: row.verdict is Verdict.REPRODUCED for key, row in rows.items()}
    assert verdicts == {key: finding.holds for key, finding in assessments[0].findings.items()}


def test_the_best_reading_is_the_one_with_the_most_claims_and_the_first_of_equals() -> None:
    def assessed_as(at: int, held: int) -> Assessment:
        findings = {claim.key: claims.Finding("", number < held) for number, claim in enumerate(CLAIMS)}
        return Assessment(READINGS[at], findings)

    assessed = [assessed_as(0, 3), assessed_as(1, 9), assessed_as(2, 9), assessed_as(3, 1)]
    summary = assessment.summary(sorted(assessed, key=lambda one: -one.reproduced), 6)
    assert summary.startswith(f"**The best reading** reproduces 9 of {len(CLAIMS)} claims")
    assert "(1 more reproduce as many). Each point is the mean of 6 swarms." in summary
    assert "The reading is the best of 4, of which the median reproduces 9 and the worst 1" in summary
    # The first nine claims hold somewhere; all others are named.
    never = summary.partition("**No reading reproduces** ")[2].rstrip(".").split(", ")
    assert never == [claim.key for claim in CLAIMS[9:]]


def test_readings_are_every_combination_of_the_answers() -> None:
    assert len(READINGS) == len(set(READINGS)) == 2 * 4 * 2 * 2 * 2
    assert TABLE.swarms == ((20, 5), (30, 10), (40, 15), (50, 20), (60, 25))
    assert TEXT.swarms == ((40, 30), (50, 30), (60, 30), (70, 30), (80, 30))
    assert [radio.name for radio in RADIOS] == ["44 m", "81 m", "150 m", "one collision domain"]
    # The range grows by 10^(dB / (10 * 3)).
    for radio in RADIOS:
        assert radio.range_m == pytest.approx(44 * 10 ** ((radio.power_dbm - DEFAULT.power_dbm) / 30), rel=0.02)
    assert np.linalg.norm(model.BOX_M) < ONE_DOMAIN.range_m
    assert [setting.flows for setting in GROUND.settings("nodes", CUBIC)] == [5, 10, 15, 20, 25]
    assert {setting.flows for setting in GROUND.settings("speed", CUBIC)} == {25}


def test_readings_that_differ_in_metrics_share_their_runs() -> None:
    wanted = [setting for ground in GROUNDS for setting in sweeps.settings_of(ground)]
    # 60 UAVs at 25 m/s belong to both figures: 9 points on each ground, three algorithms.
    assert len(set(wanted)) == len(GROUNDS) * 9 * 3


def test_one_hop_is_compared_with_the_medians_of_ns3() -> None:
    def starving(candidate: Candidate, seed: int, seconds: int) -> float:
        each = "each segment" in candidate.label
        if "as ns-3" not in candidate.label:
            return 14.8
        return hop.NS3["each" if each else "every second", seconds] * (1.02 if each else 1.0 + seed)

    rows, layout = hop.fill(Effort(seeds=1), starving)
    assert [row.verdict for row in rows] == [Verdict.HOLDS] * 4
    assert layout.lines[1] == ("each", "60", "14.80 (14.80 to 14.80)", "2.47 (2.47 to 2.47)", "2.42")
    rows, _ = hop.fill(Effort(seeds=3), starving)
    assert [row.verdict for row in rows] == [Verdict.HOLDS] * 2 + [Verdict.FAILS] * 2


def test_bbr_of_ns3_starves_on_one_hop() -> None:
    assert hop.run(BBR_LINUX, 1, 10) > 14
    assert hop.run(BBR_NS3, 1, 10) < 0.5 * hop.run(BBR_LINUX, 1, 10)


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
    for nodes, (degree, connected) in causes.DERIVED.items():
        places = rng.uniform(0, 1, (300, nodes, 3)) * np.array(model.BOX_M)
        found = model.connectivity(places, DEFAULT.range_m)
        assert found.degree == pytest.approx(degree, rel=0.05)
        assert found.connected == pytest.approx(connected, rel=0.1)


def test_changes_of_links_are_counted_per_second() -> None:
    # Two nodes part by 10 m in each of five steps of 2 s: in 10 s their link goes once.
    places = np.array([[[0.0, 0.0, 0.0], [10.0 * at, 0.0, 0.0]] for at in range(6)])
    found = model.connectivity(places, 25.0, 2.0)
    assert found.changes == pytest.approx(1 / 2 / 5)
    assert found.degree == pytest.approx(3 / 6)


def test_everybody_is_connected_in_the_other_reading() -> None:
    found = model.connectivity(model.paths(40, 25, 20, seed=3), CONNECTED.range_m)
    assert found.connected > 0.99
    assert 1.2 < found.hops < 3


def test_figures_show_both_algorithms_and_the_paper() -> None:
    seen = evidence("nodes", spread=0.1)
    for draw, y in ((figures.throughput, "kbit/s"), (figures.jain, "Jain's index")):
        (axes,) = draw(seen, "nodes").axes
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("number of UAVs", y)
        legend = axes.get_legend()
        assert legend is not None
        assert {"CUBIC", "BBR"} <= {text.get_text() for text in legend.get_texts()}
    assert len(figures.ranges({radio.name: seen for radio in RADIOS}).axes) == 4


def fading(setting: Setting, seed: int) -> Outcome:
    """A runner for the report with made-up throughputs: they fall with nodes and speed, BBR has half of CUBIC's, and
    the radio's range decides.
    """
    scale = 2.0 if setting.candidate.algorithm == "CUBIC" else 1.0
    scale *= 1.0 if setting.radio is CONNECTED else 0.1
    rate = scale * 200 * 60 / setting.nodes * 15 / (5 + setting.speed) * (1 + seed / 100)
    share = 0.6 if setting.candidate.algorithm == "CUBIC" else 0.8
    return run(2 * rate * share, 2 * rate * (1 - share))


def reproduced(effort: Effort, candidates: list[Candidate]) -> Reproduction:
    """A report from the runner above."""
    report = Reproduction(Paper("fanet", "title", "reference", (), lambda *_: None))
    fanet.fill(report, effort, fading, candidates)
    return report


def test_a_report_has_every_item_table_and_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "MODEL_SEEDS", 1)
    steps: list[str] = []
    report = reproduced(Effort(seeds=3, progress=steps.append), [CUBIC, BBR_LINUX])
    assert {row.item for row in report.rows} >= {"Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6", "abstract", "connectivity"}
    assert [picture.name for picture in report.figures] == ["fig3", "fig4", "fig5", "fig6", "ranges"]
    tables = {layout.name: layout for layout in report.layouts}
    assert set(tables) == {
        "answers", "claims", "throughput", "causes", "exchanged", "connectivity", "algorithms", "access",
        "routing", "sizes", "readings",
    }  # fmt: skip
    assert len(tables["readings"].lines) == len(READINGS)
    for layout in report.layouts:
        assert {len(line) for line in layout.lines} == {len(layout.header)}, layout.name
    assert report.tally.reproduced + report.tally.not_reproduced == len(CLAIMS)
    assert report.tally.undecided == 0
    assert "beyond the paper: routing" in steps
    folder = report.save(tmp_path / "out")
    assert (folder / "fig3.png").stat().st_size > 5000
    text = (folder / "report.md").read_text("utf-8")
    assert " nan" not in text
    assert text.index("**The best reading**") < text.index("| item |")


def test_each_line_of_the_readings_has_a_sign_for_each_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    assessments = assessment.assess_all(fitting((GROUND, "nodes")))
    layout = assessment.table(assessments)
    for line, one in zip(layout.lines, assessments, strict=True):
        signs = "".join(line[-4:])
        assert len(signs) == len(CLAIMS)
        assert signs.count(assessment.HOLDS) == one.reproduced
        assert line[5] == f"{one.reproduced} of {len(CLAIMS)}"
    # Both kinds of throughput are the same where flows are active for the entire run, and all flows are served.
    best = [one.reading for one in assessments if one.reproduced == assessments[0].reproduced]
    assert {reading.ground for reading in best} == {GROUND}


def test_both_algorithms_meet_the_same_swarms() -> None:
    asked: list[tuple[str, int, float, int, int]] = []

    def note(setting: Setting, seed: int) -> Outcome:
        asked.append((setting.candidate.label, setting.nodes, setting.speed, setting.flows, seed))
        return fading(setting, seed)

    sweeps.Swarms(Effort(seeds=2), note).run(sweeps.settings_of(GROUND))
    swarms = [sorted(one[1:] for one in asked if one[0] == each.label) for each in (CUBIC, *BBRS)]
    assert swarms[0] == swarms[1] == swarms[2]
    assert len(swarms[0]) == 2 * 9


def test_no_swarm_is_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "MODEL_SEEDS", 1)
    asked: list[str] = []

    def note(setting: Setting, seed: int) -> Outcome:
        asked.append(str((runs.scenario(setting), seed)))
        return fading(setting, seed)

    report = Reproduction(Paper("fanet", "title", "reference", (), lambda *_: None))
    fanet.fill(report, Effort(), note, fanet.candidates())
    assert len(set(asked)) == len(asked)
    (algorithms,) = (one for one in report.layouts if one.name == "algorithms")
    # The algorithms of the figures also have all of their seeds here.
    seeds = {line[0]: line[1] for line in algorithms.lines}
    assert (seeds["CUBIC"], seeds["cubic, Linux"]) == (str(SEEDS), "2")
    (sizes,) = (one for one in report.layouts if one.name == "sizes")
    assert [line[1] for line in sizes.lines] == ["2", "2", str(SEEDS), str(SEEDS), "2", "2", "1", "1", "1", "1"]


def test_a_run_that_is_kept_does_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[Setting, int]] = []

    def note(setting: Setting, seed: int) -> Outcome:
        ran.append((setting, seed))
        return run(100 * seed, 0)

    monkeypatch.setattr(runs, "run", note)
    path = tmp_path / "kept" / "runs"
    first = runs.keeping(KeptRuns(path))
    one = Setting(CUBIC, DEFAULT, 20, flows=2)
    whole = first(one, 1), first(one, 2)
    assert len(ran) == 2
    # The process was killed while it wrote a third line.
    with path.open("a", encoding="utf-8") as file:
        file.write('{"key": "torn", "ru')
    again = runs.keeping(KeptRuns(path))
    assert (again(one, 1), again(one, 2)) == whole
    assert len(ran) == 2
    assert again(Setting(BBR_NS3, DEFAULT, 20, flows=2), 1) == run(100, 0)
    assert len(KeptRuns(path)) == 3


def test_an_interrupted_reproduction_continues_and_leaves_no_runs(tmp_path: Path) -> None:
    ran: list[int] = []

    def work(reproduction: Reproduction, effort: Effort) -> None:
        assert effort.kept is not None
        for number in range(4):
            if effort.kept.find(str(number)) is None:
                ran.append(number)
                if ran == [0, 1, 2]:
                    raise KeyboardInterrupt
                effort.kept.add(str(number), number)

    paper = Paper("one", "title", "reference", (), work)
    with pytest.raises(KeyboardInterrupt):
        paper.reproduce(tmp_path / "out")
    paper.reproduce(tmp_path / "out")
    assert ran == [0, 1, 2, 2, 3]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_seeds_are_added_to_those_that_a_setting_has() -> None:
    asked: list[int] = []

    def note(setting: Setting, seed: int) -> Outcome:
        asked.append(seed)
        return run(seed)

    swarms = sweeps.Swarms(Effort(), note)
    swarms.run([Setting(CUBIC)], 2)
    found = swarms.run([replace(Setting(CUBIC), candidate=replace(CUBIC, label="another name"))], 3)
    assert asked == [1, 2, 3]
    assert [readings.mean_kbps(one, Throughput.ACTIVE) for one in found[Setting(CUBIC)]] == [1, 2, 3]


def test_every_setting_beyond_the_paper_is_another_one() -> None:
    for name, settings in sweeps.beyond([CUBIC, BBR_LINUX]).items():
        assert len(set(settings.values())) == len(settings), name


def test_throughput_and_delay_come_from_the_samples_of_a_sender() -> None:
    # Segments of 100 B at 1, 2, 3 and 4 s, each delivered a second later; the run continues without data until 10 s.
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


def test_hops_weigh_each_path_with_the_data_that_arrived_over_it() -> None:
    paths = pl.DataFrame(
        {
            "time_s": [1.0, 1.0, 4.0, 4.0, 4.0],
            "flow": ["a"] * 5,
            "hops": [1, 1, 2, 2, 2],
            "hop": [0, 1, 0, 1, 2],
        }
    )
    trace = pl.DataFrame({"time_s": [1.0, 2.0, 3.0, 4.0, 5.0], "delivered_bytes": [0, 100, 300, 300, 400]})
    # 300 B over one hop and 100 B over two, although both paths lasted for as long.
    assert runs.hops_of(paths, {"a": trace}) == {"a": 1.25}
    assert runs.hops_of(paths, {}) == {}


def test_frames_of_all_radios_are_added() -> None:
    radio = {
        "sent_frames": 100, "retries": 30, "dropped_queue": 1, "dropped_retry": 4, "dropped_lifetime": 2,
        "broken_links": 3, "routing_bytes": 500,
    }  # fmt: skip
    assert runs.air_of([radio, radio]) == Air(sent=200, retries=60, dropped=14, broken=6, routing_bytes=1000)


def test_scenarios_differ_where_settings_do() -> None:
    usual = runs.scenario(Setting(CUBIC))
    assert usual["topology"]["medium"]["power"] == "32.0206 dBm"
    assert runs.scenario(Setting(CUBIC, DEFAULT))["topology"]["medium"]["power"] == "16.0206 dBm"
    assert runs.scenario(Setting(CUBIC, speed=5))["topology"]["mobility"]["speed_max"] == "5 m/s"
    assert runs.scenario(Setting(BBR_LINUX))["defaults"]["tcp"]["congestion"] == {"algorithm": "bbr"}
    assert runs.scenario(Setting(BBR_LINUX, routing="olsr"))["topology"]["medium"]["routing"] == "olsr"
    assert runs.scenario(Setting(CUBIC, flows=5))["topology"]["flows"] == 5
    assert usual["topology"]["flows"] == 30
    texts = {str(runs.scenario(Setting(CUBIC, access=access))) for access in Access}
    texts |= {str(runs.scenario(Setting(CUBIC, rules=rules))) for rules in Routing}
    assert len(texts) == 4


@pytest.mark.parametrize("rules", Routing)
def test_a_short_swarm_runs_under_all_rules(rules: Routing) -> None:
    one = runs.run(Setting(CUBIC, MEDIUM, 20, flows=5, rules=rules), 1, seconds=5)
    assert len(one.flows) == 5
    assert one.air.sent > one.air.retries > 0
    # NaN equals nothing, so that the texts are compared.
    assert repr(Outcome.of_record(one.record())) == repr(one)


def test_an_outcome_without_data_is_json_without_nan() -> None:
    one = Outcome([Flow(0, 0.0, math.nan, 2)], Air(10, 0, 0, math.nan, 0), seconds=1)
    plain = json.loads(json.dumps(one.record(), allow_nan=False))
    assert (plain["flows"][0]["delay_s"], plain["air"]["broken"]) == (None, None)
    assert repr(Outcome.of_record(plain)) == repr(one)


def test_the_kept_swarms_are_json() -> None:
    def refused(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    json.loads(exchanged.FILE.read_text("utf-8"), parse_constant=refused)


def test_exchanged_swarms_are_compared_swarm_by_swarm() -> None:
    def swarm(theirs: float, ours: float) -> dict[str, object]:
        sides = {exchanged.THEIRS: run(theirs, 0).record(), exchanged.OURS: run(ours, 0).record()}
        return {"radio": "44 m", "algorithm": "CUBIC", "cpu_s": 1.0, **sides}

    def row(*both: tuple[float, float]) -> Row:
        kept = {str(at): swarm(*one) for at, one in enumerate(both)}
        found = exchanged.read(json.dumps(kept))
        assert {len(line) for line in exchanged.layout(found).lines} == {7}
        (one,) = exchanged.rows(found)
        return one

    # Within a tenth, although each swarm differs by the same amount.
    close = row((100, 109), (200, 209), (300, 309))
    assert close.verdict is Verdict.HOLDS
    # 1250 bytes per kbit/s: means of 0.25 and 0.26 MB. One of two flows is served, a fifth of the frames are retries.
    assert (close.theory, close.ours) == ("0.25; 1.0; 20; 1.50 (ns-3.37)", "0.26; 1.0; 20; 1.50")
    # About 80 kbit/s more in each swarm do not happen by chance; a difference whose sign changes may.
    assert row((100, 180), (200, 285), (300, 378)).verdict is Verdict.FAILS
    assert row((100, 300), (300, 120), (200, 250)).verdict is Verdict.HOLDS


def test_exchanged_swarms_agree_only_if_each_of_the_checked_metrics_does() -> None:
    def both(**changed: int) -> list[tuple[Outcome, Outcome]]:
        other = replace(AIR, **changed)
        return [(run(rate, 0), run(rate, 0, air=other)) for rate in (100, 200, 300)]

    (one,) = exchanged.rows({("44 m", "CUBIC"): both(retries=21)})
    assert one.verdict is Verdict.HOLDS
    (one,) = exchanged.rows({("44 m", "CUBIC"): both(retries=30)})
    assert (one.verdict, one.ours) == (Verdict.FAILS, "0.25; 1.0; 30; 1.50")


def test_swarms_in_which_nothing_arrived_have_no_hops_to_compare() -> None:
    silent = Outcome([Flow(0, 0.0, math.nan, 2)], AIR, seconds=10)
    (one,) = exchanged.rows({("44 m", "CUBIC"): [(silent, silent)]})
    assert (one.ours, one.verdict) == ("0.00; 0.0; 20; ", Verdict.HOLDS)
