"""The sentences of reports are true: who is best and by how much, and why a run was as fast as it was."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag import _engine
from lightlag.analyse import student_t
from lightlag.comparison import saving as comparison_report
from lightlag.comparison.comparison import Comparison
from lightlag.outcomes.design import MEASURES, Design
from lightlag.outcomes.outcome import Flows, Outcome
from lightlag.outcomes.variables import Variable, competitors
from lightlag.report.answer import Answer, answer, differences
from lightlag.report.slow import account

SCENARIOS = Path(__file__).parents[1] / "scenarios"

# --- who is best ------------------------------------------------------------------------------------------------------


def rival(name: str, *values: float) -> dict[str, Any]:
    return {"name": name, "values": list(enumerate(values))}


def cases(*candidates: dict[str, Any]) -> dict[str, Any]:
    """Returns candidates as a comparison by goodput."""
    cells = [
        {"algorithm": at, "point": 0, "is_fixed": False, "values": {"goodput_bps": one["values"]}}
        for at, one in enumerate(candidates)
    ]
    names = [one["name"] for one in candidates]
    return {"algorithms": names, "points": [[]], "measures": ["goodput_bps"], "cells": cells}


def gap(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Returns the difference of a candidate from another one."""
    asked = {"comparison": cases(one, other), "measure": "goodput_bps", "base": other["name"]}
    row = json.loads(_engine.analysis(json.dumps({"differences": asked})))[0]["rows"][0]
    found: dict[str, Any] = row["gap"] | {"is_clear": row["is_clear"]}
    return found


def level(*candidates: dict[str, Any]) -> list[str]:
    """Returns the candidates that may be the best by goodput."""
    found = json.loads(_engine.analysis(json.dumps({"answer": cases(*candidates)})))
    levels: list[str] = found["points"][0]["level"]
    return levels


def test_a_ratio_has_the_interval_of_fieller() -> None:
    found = gap(rival("a", 10.0, 12.0, 14.0), rival("b", 5.0, 5.0, 8.0))
    assert found["ratio"] == pytest.approx(2.0)
    # At the ends of the interval the mean of a - r b is as far from 0 as t allows.
    for end in (found["low"], found["high"]):
        left = [a - end * b for a, b in ((10, 5), (12, 5), (14, 8))]
        mean = sum(left) / 3
        deviation = math.sqrt(sum((one - mean) ** 2 for one in left) / 2 / 3)
        assert abs(mean) == pytest.approx(student_t(0.95, 2) * deviation)


def test_the_interval_excludes_1_where_the_paired_test_distinguishes_two() -> None:
    draw = random.Random(3)
    both = {True: 0, False: 0}
    for _ in range(300):
        common = [draw.gauss(10, 2) for _ in range(6)]
        a = rival("a", *(one + draw.gauss(0.4, 0.5) for one in common))
        b = rival("b", *(one + draw.gauss(0.0, 0.5) for one in common))
        found = gap(a, b)
        assert found["is_clear"] == (not found["low"] <= 1 <= found["high"])
        both[found["is_clear"]] += 1
    assert min(both.values()) > 30


@pytest.mark.parametrize("rivals", [2, 6])
def test_a_difference_is_claimed_between_equals_in_at_most_5_percent(rivals: int) -> None:
    draw, wrong = random.Random(5), 0
    for _ in range(1000):
        # All are equally good: any difference is wrong.
        found = level(*(rival(str(at), *(draw.gauss(10, 1) for _ in range(5))) for at in range(rivals)))
        wrong += len(found) < rivals
    assert wrong <= 50


def outcome(name: str, point: tuple[str, ...], seed: int, goodput: float, **changed: Any) -> Outcome:
    flows = Flows(["f"], [name], [goodput], [None], [0.1], [None])
    values: dict[str, Any] = {
        "completion_s": None,
        "jain": 1.0,
        "retransmitted_share": 0.01 + seed / 1000,
        "queueing_mean_s": None,
        "queueing_p95_s": None,
        "bottleneck": None,
        "timeouts": 0,
        "simulated_s": 10.0,
        "result_hash": f"{name}{point}{seed}",
        "capacity_bps": None,
        "arrived_bytes": None,
        "windows": None,
    }
    return Outcome(congestion=name, point=point, seed=seed, goodput_bps=goodput, flows=flows, **{**values, **changed})


def compared(goodputs: dict[str, list[float]], **vary: tuple[str, ...]) -> Comparison:
    """A comparison with these goodputs in Mbit/s by seed; the key is NAME, or NAME@VALUE of one variable."""
    names = list(dict.fromkeys(key.partition("@")[0] for key in goodputs))
    variables = tuple(Variable(label, (f"links.0.{label}",), values) for label, values in vary.items())
    seeds = max(map(len, goodputs.values()))
    design = Design({"name": "made"}, tuple(competitors(names)), variables, 1, seeds)
    outcomes = []
    for key, values in goodputs.items():
        name, _, value = key.partition("@")
        point = (value,) if value else ()
        outcomes += [outcome(name, point, seed, 1e6 * one) for seed, one in enumerate(values, start=1)]
    return Comparison(design, outcomes)


def test_the_answer_names_the_best_and_by_how_much() -> None:
    found = answer(compared({"cubic": [9.0, 9.2, 8.8, 9.1], "hybla": [9.9, 10.0, 9.8, 10.0]}))
    assert found.headline.startswith("hybla beats cubic by 10 % (95 %: 8 to 12 %): a goodput of")
    assert "9.925 Mbit/s against 9.025 Mbit/s" in found.headline


def test_indistinguishable_algorithms_have_no_ranking() -> None:
    found = answer(compared({"cubic": [9.0, 9.9, 8.8, 9.1], "hybla": [9.4, 9.2, 9.1, 9.3]}))
    assert re.fullmatch(
        r"hybla and cubic cannot be distinguished by goodput: hybla has 1 % more than cubic \(95 %: −8 to 10 %\)\.",
        found.headline,
    )
    assert re.fullmatch(r"About \d+ seeds would probably distinguish hybla from cubic\.", found.sentences[0])


def test_the_report_compares_each_candidate_with_the_best() -> None:
    comparison = compared({"cubic": [9.0, 9.9, 8.8, 9.1], "hybla": [9.4, 9.2, 9.1, 9.3], "bbr": [2.0, 2.1, 2.2, 2.1]})
    found = differences(comparison, MEASURES[0])
    assert [(one.base, [row.name for row in one.rows]) for one in found] == [("hybla", ["cubic", "bbr"])]
    near, far = found[0].rows
    assert not near.is_clear
    words = "1 % less than hybla (95 %: −13 to 14 %), not significant; more than 1,000 seeds would probably tell"
    assert near.words == words
    assert far.is_clear
    assert far.words.startswith("77")
    page = comparison_report.report(comparison)
    assert near.words in page
    assert far.words in page


def test_what_the_best_costs_is_part_of_the_answer() -> None:
    comparison = compared({"cubic": [9.0, 9.2, 8.8, 9.1], "hybla": [9.9, 10.0, 9.8, 10.0]})
    costs = {"cubic": (0.003, 0.012), "hybla": (0.31, 0.135)}
    runs = []
    for one in comparison.outcomes:
        share, queue = (cost * (1 + one.seed / 100) for cost in costs[one.congestion])
        flows = dataclasses.replace(one.flows, min_rtt_s=[0.5 + one.seed / 10])
        runs.append(dataclasses.replace(one, retransmitted_share=share, queueing_mean_s=queue, flows=flows))
    found = answer(Comparison(comparison.design, runs))
    assert found.headline.endswith(
        "hybla retransmits 32 % of its segments and adds a mean queueing delay of 138 ms, 23 % of the minimum RTT."
    )
    assert re.match(
        r"cubic costs less: 9 % less goodput than hybla \(95 %: 8 to 11 %\), with 0\.31 % retransmitted and a queueing "
        r"delay of 12\.3 ms\.",
        found.sentences[0],
    )
    assert found.points[0].costs.startswith("hybla retransmits 32 %")


def test_of_several_the_next_is_named_and_the_others_follow() -> None:
    found = answer(compared({"cubic": [9.0, 9.1, 8.9], "hybla": [12.0, 12.2, 12.1], "newreno": [4.0, 4.1, 4.05]}))
    assert found.headline.startswith("hybla has the highest goodput, 12.10 Mbit/s: 34")
    assert "more than cubic" in found.headline
    assert re.search(r"hybla has 3 times as much as newreno \(95 %: 2\.9 to 3\)\.", " ".join(found.sentences))


def test_one_run_and_deterministic_runs_are_marked() -> None:
    assert (
        "One run of each does not show the effect of randomness."
        in answer(compared({"cubic": [9.0], "hybla": [8.0]})).sentences
    )
    same: dict[str, Any] = {"retransmitted_share": 0.0}
    runs = [outcome(name, (), seed, rate, **same) for name, rate in (("cubic", 9e6), ("hybla", 6e6)) for seed in (1, 2)]
    fixed = answer(Comparison(Design({"name": "made"}, tuple(competitors(["cubic", "hybla"])), (), 1, 2), runs))
    assert fixed.headline.startswith("cubic beats hybla by 50 %: a goodput of 9.000 Mbit/s")
    assert "Nothing is random there: each seed gives the same result." in fixed.sentences


def test_one_that_delivers_nothing_has_no_ratio() -> None:
    nothing = {"cubic": [9.0, 9.1, 8.9], "hybla": [0.0, 0.0, 0.0]}
    assert answer(compared(nothing)).headline == "cubic beats hybla: a goodput of 9.000 Mbit/s against 0 bit/s."
    three = answer(compared(nothing | {"newreno": [0.0, 0.0, 0.0]}))
    assert "cubic has the highest goodput, 9.000 Mbit/s: more than hybla" in three.headline
    neither = {"cubic": [0.0, 0.0], "hybla": [0.0, 0.0]}
    assert answer(compared(neither)).headline.startswith("cubic and hybla reach the same goodput, 0")


def test_points_are_summed_up() -> None:
    goodputs = {
        "cubic@0": [9.0, 9.1, 9.05],
        "hybla@0": [8.0, 8.1, 8.04],
        "cubic@1e-3": [2.0, 2.1, 2.05],
        "hybla@1e-3": [6.0, 6.1, 6.02],
        "cubic@1e-2": [0.5, 0.9, 0.7],
        "hybla@1e-2": [0.8, 0.6, 0.71],
    }
    found = answer(compared(goodputs, loss=("0", "1e-3", "1e-2")))
    assert found.headline == "cubic beats all others by goodput at 1 of 3 points: loss 0."
    assert found.sentences[0] == "hybla does at 1: loss 1e-3."
    assert (
        found.sentences[1]
        == "At 1 point cubic or hybla may be the best: loss 1e-2; more than 1,000 seeds would probably tell."
    )
    page = comparison_report.report(compared(goodputs, loss=("0", "1e-3", "1e-2")))
    assert "Best at each point" in page
    assert "2.9 times as much as cubic" in page


def test_values_of_one_algorithm_are_compared() -> None:
    goodputs = {"cubic@0": [9.0, 9.1, 9.05], "cubic@1e-3": [6.0, 6.1, 6.04]}
    assert answer(compared(goodputs, loss=("0", "1e-3"))).headline.startswith("loss 0 beats loss 1e-3 by 50 %")


def test_algorithms_in_one_run_are_compared_within_it() -> None:
    net = ll.presets.dumbbell(pairs=2, rate="10 Mbit/s", duration="20 s")
    found: Answer = answer(ll.compare(net, ["cubic/bbr"], replications=3))
    assert any(
        re.match(r"In cubic/bbr a flow of (cubic|bbr) gets|In cubic/bbr the shares", one) for one in found.sentences
    )


def test_a_report_of_1000_runs_is_small() -> None:
    net = ll.presets.dumbbell(pairs=2, rate="5 Mbit/s", duration="5 s")
    vary = {"topology.delay": ["5 ms", "50 ms"], "topology.queue": ["0.5 bdp", "1 bdp"]}
    names = ["newreno", "cubic", "hybla", "bbr", "vegas"]
    few = ll.compare(net, names, vary=vary, replications=2)
    # The same curves again, with other seeds: it is their number that counts.
    design = Design(few.design.scenario, few.design.competitors, few.design.variables, 1, 50)
    runs = [
        dataclasses.replace(one, seed=one.seed + 2 * again, goodput_bps=one.goodput_bps * (1 + again / 1000))
        for one in few.outcomes
        for again in range(25)
    ]
    page = comparison_report.report(Comparison(design, runs))
    assert len(runs) == 1000
    assert all(one.result_hash in page for one in runs)
    assert len(page.encode()) <= 1_000_000


# --- why a run was slow -----------------------------------------------------------------------------------------------


def link(**changed: Any) -> ll.Network:
    net = ll.Network("path")
    net.link("a", "b", **{"rate": "10 Mbit/s", "delay": "100 ms", "queue": "1 bdp", **changed})
    return net


def why(net: ll.Network, duration: str = "30 s", **sets: Any) -> str:
    found = account(ll.run(net, duration=duration, seed=1, sets=sets))
    return " ".join([found.headline, *(sentence for _, sentences in found.flows for sentence in sentences)])


def test_a_receive_window_below_the_bdp_is_named() -> None:
    net = link()
    net.flow("a", "b", tcp={"receive_buffer": "50 kB"})
    text = why(net)
    assert re.search(r"for 9\d% of its time the receive window limited it", text)
    assert "The BDP is 250.1 kB (10 Mbit/s × 200.1 ms)" in text
    assert "A receive buffer of at least the BDP" in text


def test_losses_and_a_window_that_never_grows_are_named() -> None:
    net = link(loss=0.02)
    net.flow("a", "b", congestion="newreno")
    text = why(net)
    assert "too little to fill the path" in text
    assert re.search(r"dropped: \d+ at a->b \(errors on the link\)", text)
    assert re.search(r"It retransmitted [\d,]+ of [\d,]+ segments \(\d\.\d+%\), in \d+ fast recover", text)
    assert "The window never reached the BDP" in text


def test_a_full_path_is_the_limit() -> None:
    net = link(delay="5 ms")
    net.flow("a", "b")
    text = why(net, "60 s")
    assert re.search(r"the path limited it, and the link transmitted (9\d|100)% of the time", text)
    assert "too little to fill the path" not in text


def test_slow_start_over_a_long_path_has_its_price() -> None:
    net = link(delay="300 ms")
    net.flow("a", "b", transfer="2 MB")
    text = why(net, "60 s")
    found = re.search(r"The window took ([\d.]+) s, ([\d.]+) minimum round trips, to reach the BDP; until then", text)
    assert found is not None
    assert float(found[1]) / float(found[2]) == pytest.approx(0.6, rel=0.02)
    assert re.search(r"Its 2 MB took \d+\.\d+ s\.", text)


def test_flows_that_share_have_a_share() -> None:
    net = link(delay="20 ms")
    for _ in range(4):
        net.flow("a", "b")
    text = why(net)
    assert "4 flows reached" in text
    assert "4 flows share a->b most of that time: an equal share of its rate is 2.5 Mbit/s." in text


def test_reasons_that_are_as_frequent_come_in_the_order_of_the_flows() -> None:
    imports = "import lightlag as ll; from lightlag.report.slow import account"
    code = f"{imports}; print(account(ll.run({str(SCENARIOS / 'siot.toml')!r})))"
    told = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, env=os.environ | {"PYTHONHASHSEED": seed}
        ).stdout
        for seed in "1234"
    }
    assert len(told) == 1


def test_an_outage_is_waited_for() -> None:
    net = link(loss=1.0)
    net.flow("a", "b")
    assert re.search(r"(it was aborted|waited for timeouts|had nothing to send)", why(net, "200 s"))


def test_every_scenario_has_a_report(tmp_path: Path) -> None:
    for name in ("leo", "geo-leo", "swarm", "traffic", "siot", "starlink-550", "scps-moon", "heterogeneous"):
        run = ll.run(SCENARIOS / f"{name}.toml", duration="3 s", seed=1)
        folder = run.save(tmp_path / name, report=True)
        page = (folder / "report.html").read_text()
        (data,) = re.findall(r'<script type="application/json" id="charts">(.*?)</script>', page, flags=re.DOTALL)
        assert "cwnd" in json.loads(data)
        assert len(page) < 1_000_000


def test_what_was_not_recorded_has_no_chart() -> None:
    net = link()
    net.flow("a", "b")
    sets = {"record.trace": "off", "record.queue": "off", "record.drops": False}
    page = ll.run(net, duration="5 s", sets=sets).report()
    assert "records neither a trace, nor queues, nor drops" in page


def test_a_comparison_and_its_report_need_neither_matplotlib_nor_numpy(tmp_path: Path, pair_file: Path) -> None:
    arguments = ["compare", str(pair_file), "-c", "cubic,hybla", "-n", "2", "-q", "-o", str(tmp_path / "out")]
    code = (
        f"import sys; sys.argv = ['lightlag', *{arguments!r}]\n"
        "from lightlag.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end\n"
        "print([name for name in ('matplotlib', 'numpy', 'scipy') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert (tmp_path / "out" / "report.html").exists()
