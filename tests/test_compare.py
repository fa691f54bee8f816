"""Comparisons: what varies, what competes, what they measure, and that nothing that finished is lost."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lightlag as ll
from lightlag import _engine
from lightlag.analyse import mean_interval
from lightlag.outcomes import journal, plan
from lightlag.outcomes.design import MEASURES, Design
from lightlag.outcomes.outcome import Outcome
from lightlag.outcomes.variables import Variable, competitors, split, variables

SHORT = {"duration": "20 s", "replications": 2}


def long_loss(pairs: int = 2) -> ll.Scenario:
    """Flows that share a lossy bottleneck."""
    return ll.presets.dumbbell(pairs=pairs, rate="5 Mbit/s", duration="10 s")


# --- what varies ------------------------------------------------------------------------------------------------------


def test_every_combination_of_values_is_run(net: ll.Network) -> None:
    vary = {"links.0.loss": [0, 1e-2], "links.0.delay": ["5 ms", "50 ms", "100 ms"]}
    comparison = ll.compare(net, ["cubic", "hybla"], vary=vary, **SHORT)  # type: ignore[arg-type]
    assert len(comparison.outcomes) == 2 * 3 * 2 * 2
    assert [variable.label for variable in comparison.variables] == ["loss", "delay"]
    assert comparison.points == [(loss, delay) for loss in ("0", "0.01") for delay in ("5 ms", "50 ms", "100 ms")]
    runs = comparison.runs
    assert runs.columns[:5] == ["congestion", "loss", "delay", "delay_s", "seed"]
    assert runs["loss"].dtype == pl.Float64
    assert runs.group_by("congestion", "loss", "delay").len()["len"].unique().to_list() == [2]
    for name in ("cubic", "hybla"):
        clean, lossy = (runs.filter(congestion=name, loss=loss)["goodput_bps"].mean() for loss in (0.0, 0.01))
        assert clean > lossy  # type: ignore[operator]


def test_a_point_is_the_run_with_these_changes(net: ll.Network) -> None:
    comparison = ll.compare(net, ["cubic"], vary={"links.0.delay": ["80 ms"]}, **SHORT)  # type: ignore[arg-type]
    sets = {"links.0.delay": "80 ms", "defaults.tcp.congestion": "cubic", "record.queueing": True}
    by_hand = ll.run(net, duration="20 s", seed=2, sets=sets)
    assert comparison.of("cubic", ("80 ms",))[1].result_hash == by_hand.result_hash


def test_keys_that_vary_together_take_the_same_value() -> None:
    net = ll.Network("two-hops")
    net.link("a", "b", rate="10 Mbit/s", delay="1 ms")
    net.link("b", "c", rate="10 Mbit/s", delay="1 ms")
    net.flow("a", "c", transfer="100 kB")
    comparison = ll.compare(net, ["cubic"], vary={"hop: links.0.delay + links.1.delay": ["10 ms", "40 ms"]}, **SHORT)  # type: ignore[arg-type]
    assert comparison.variables[0].label == "hop"
    rtts = [comparison.of("cubic", (delay,))[0].flows.min_rtt_s[0] for delay in ("10 ms", "40 ms")]
    assert rtts == pytest.approx([0.04, 0.16], rel=0.05)


def test_texts_that_look_like_numbers_are_varied_in_quotes() -> None:
    net = ll.Network("page")
    net.link("a", "b", rate="10 Mbit/s", delay="10 ms")
    net.flow("a", "b", traffic={"kind": "requests", "response": "10 kB", "count": 1})
    comparison = ll.compare(net, ["cubic"], vary={"defaults.setup.tls": ['"1.2"', '"1.3"']}, replications=1)
    rows = comparison.summary.filter(measure="completion_s")
    assert rows["tls"].to_list() == [1.2, 1.3]
    # TLS 1.2 takes a round trip more.
    assert rows["mean"][0] - rows["mean"][1] == pytest.approx(0.02, abs=0.002)


def pages(http: str) -> ll.Network:
    net = ll.Network("pages")
    net.link("server", "client", rate="10 Mbit/s", delay="100 ms")
    traffic = {"kind": "web", "html": "10 kB", "objects": 10, "object": "10 kB", "http": http, "count": 1}
    net.flow("server", "client", traffic=traffic)
    return net


@pytest.mark.parametrize("first", ["1.1", "2"])
def test_a_default_that_depends_on_a_varied_key_follows_it(first: str) -> None:
    varied = ll.compare(pages(first), ["cubic"], vary={"flows.0.traffic.http": ['"1.1"', '"2"']}, replications=1)
    alone = [ll.compare(pages(http), ["cubic"], replications=1) for http in ("1.1", "2")]
    expected = [one.summary.filter(measure="completion_s")["mean"][0] for one in alone]
    assert varied.summary.filter(measure="completion_s")["mean"].to_list() == expected


def test_scenarios_vary_like_a_key(net: ll.Network) -> None:
    comparison = ll.compare(
        [net, long_loss()], ["cubic", "newreno"], vary={"seedless: duration": ["5 s"]}, replications=2
    )
    assert comparison.points == [("pair", "5 s"), ("dumbbell", "5 s")]
    assert comparison.name == "pair, dumbbell"
    dots = comparison.plot("goodput-vs-scenario").axes[0]
    assert [line.get_linestyle() for line in dots.lines[:1]] == ["None"]
    assert comparison.runs["scenario"].unique(maintain_order=True).to_list() == ["pair", "dumbbell"]


@pytest.mark.parametrize(
    ("keys", "labels"),
    [
        (["links.1.loss"], ["loss"]),
        (["links.1.loss", "links.2.loss"], ["1 loss", "2 loss"]),
        (["links.1.queue.limit"], ["queue limit"]),
        (["links[0].rate.forward"], ["rate forward"]),
        (["PER: links.1.loss"], ["PER"]),
        (["record.runs", "duration"], ["record runs", "duration"]),
    ],
)
def test_labels_are_short_and_distinguish_variables(keys: list[str], labels: list[str]) -> None:
    assert [one.label for one in variables({key: [1] for key in keys})] == labels


def test_values_may_be_tables() -> None:
    (one,) = variables(['links.0.loss=0, { mean = 0.01, burst = 5 }, "text, with a comma"'])
    assert one.values == ("0", "{ mean = 0.01, burst = 5 }", '"text, with a comma"')
    with pytest.raises(ll.InputError, match="'}' is missing at the end"):
        split("{ a = 1, b", ",", "--vary")


@pytest.mark.parametrize(
    ("values", "scale", "unit", "places"),
    [
        (("1", "2", "3"), "linear", "", (1, 2, 3)),
        (("1e-4", "1e-3", "1e-2"), "log", "", (1e-4, 1e-3, 1e-2)),
        (("0", "1e-4", "1e-2"), "equal", "", (0, 1, 2)),
        (("10 ms", "50 ms"), "linear", "ms", (10, 50)),
        (("500 ms", "2 s"), "linear", "s", (0.5, 2)),
        (("900 kbit/s", "20 Mbit/s"), "log", "Mbit/s", (0.9, 20)),
        (("0", "0.5", "1"), "linear", "", (0, 0.5, 1)),
        (("1 bdp", "100 packets"), "equal", "", (0, 1)),
        (("linux", "rfc"), "equal", "", (0, 1)),
    ],
)
def test_values_are_on_an_axis(values: tuple[str, ...], scale: str, unit: str, places: tuple[float, ...]) -> None:
    axis = Variable("x", ("x",), values).axis
    assert (axis.scale, axis.unit) == (scale, unit)
    assert axis.is_ordered == (values not in (("1 bdp", "100 packets"), ("linux", "rfc")))
    assert axis.places == pytest.approx(places)


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ({"links.0.los": [0]}, r"with los=0: links\[0\].los: .*did you mean \"loss\""),
        ({"links.0.loss": [0, 2]}, r"with loss=2: links\[0\].loss: .*2"),
        ({"links.7.loss": [0]}, "with loss=0: .*not an entry of links"),
        ({"links.0.loss": []}, "has no value"),
        ({"links.0.loss": [0, 0]}, "twice"),
        ({"": [1]}, "names no key"),
        ({"seed": [1, 2]}, "replications"),
        ({"defaults.tcp.congestion": ["cubic"]}, "congestion"),
        (["links.0.loss"], "is not KEY=V1,V2"),
        (["a: links.0.loss=0", "a: links.0.delay=1 ms"], "label"),
        (["links.0.loss=0", "x: links.0.loss=1e-3"], "varies twice"),
    ],
)
def test_keys_that_cannot_vary_are_rejected_before_anything_runs(net: ll.Network, vary: object, message: str) -> None:
    def progress(done: int, total: int) -> None:
        raise AssertionError("nothing runs")

    with pytest.raises(ValueError, match=message):
        ll.compare(net, ["cubic"], vary=vary, progress=progress, **SHORT)  # type: ignore[arg-type]


def test_two_scenarios_of_one_name_are_rejected(net: ll.Network) -> None:
    with pytest.raises(ll.InputError, match='two scenarios are called "pair"'):
        ll.compare([net, net], ["cubic"], **SHORT)  # type: ignore[arg-type]


# --- what competes ----------------------------------------------------------------------------------------------------


def test_algorithms_compete_in_one_run() -> None:
    scenario = ll.presets.dumbbell(pairs=4, rate="100 Mbit/s", duration="30 s")
    comparison = ll.compare(scenario, ["newreno/scalable", "newreno"], replications=3)
    flows = comparison.flows
    mixed = flows.filter(congestion="newreno/scalable", seed=1)
    assert mixed["algorithm"].to_list() == ["newreno", "scalable", "newreno", "scalable"]
    shares = {who: interval.mean for mix, _, who, interval in comparison.shares() if mix == "newreno/scalable"}
    # Scalable TCP takes from newreno what newreno would share (Kelly 2003 §4).
    assert shares["scalable"] > 1.5 * shares["newreno"]
    assert {mix for mix, *_ in comparison.shares()} == {"newreno/scalable"}
    jain = {name: comparison.interval(name, MEASURES[2]).mean for name in comparison.algorithms}
    assert jain["newreno/scalable"] < jain["newreno"]
    assert "shares" in comparison.figures
    assert len(comparison.plot("shares").axes[0].patches) == 2


def test_algorithms_have_parameters_and_labels(net: ll.Network) -> None:
    given = {"plain": "cubic", "bold": {"algorithm": "cubic", "beta": 0.9}, "both": ["cubic", "bbr"]}
    comparison = ll.compare(net, given, **SHORT)  # type: ignore[arg-type]
    assert comparison.algorithms == ["plain", "bold", "both"]
    hashes = [comparison.of(name)[0].result_hash for name in comparison.algorithms]
    # There is one flow, so that the first of the two has it.
    assert hashes[0] == hashes[2] != hashes[1]


@pytest.mark.parametrize(
    ("text", "label", "algorithms"),
    [
        ("cubic", "cubic", ("cubic",)),
        ("peach+/cubic", "peach+/cubic", ("peach+", "cubic")),
        ("mine: cubic / bbr", "mine", ("cubic", "bbr")),
        ("{ algorithm = 'hybla', count = 'acks' }", "hybla (count=acks)", ("hybla",)),
        ("old: { algorithm = 'cubic', variant = 'rfc8312' }/bbr", "old", ("cubic", "bbr")),
    ],
)
def test_competitors_are_written_as_text(text: str, label: str, algorithms: tuple[str, ...]) -> None:
    (one,) = competitors([text])
    assert (one.label, one.algorithms) == (label, algorithms)


def test_flows_that_name_their_own_are_compared_as_they_are() -> None:
    net = ll.Network("named")
    net.link("a", "b", rate="1 Mbit/s", delay="10 ms")
    net.flow("a", "b", congestion="cubic")
    net.flow("a", "b", congestion="bbr")
    comparison = ll.compare(net, vary={"links.0.rate": ["1 Mbit/s", "2 Mbit/s"]}, duration="10 s", replications=1)
    assert comparison.algorithms == ["as given"]
    assert comparison.design.competitors[0].algorithms == ("cubic", "bbr")
    slow, fast = (comparison.of("as given", (rate,))[0].goodput_bps for rate in ("1 Mbit/s", "2 Mbit/s"))
    assert 1.8 < fast / slow < 2.2


def test_a_competitor_replaces_algorithms_that_take_turns(net: ll.Network) -> None:
    scenario = json.loads(plan.make(net, ["cubic"], (), 1, [("defaults.congestion", '["bbr", "hybla"]')]).cells[0].text)
    assert scenario["defaults"]["congestion"] == ["cubic"]


# --- what is measured -------------------------------------------------------------------------------------------------


def test_queueing_covers_the_bottleneck() -> None:
    net = ll.Network("fat-queue")
    net.link("client", "gateway", rate="1 Gbit/s", delay="1 ms")
    net.link("gateway", "server", rate="8 Mbit/s", delay="49 ms", queue="50 kB")
    net.flow("client", "server")
    comparison = ll.compare(net, ["newreno", "vegas"], duration="60 s", replications=1)
    newreno, vegas = (comparison.of(name)[0] for name in ("newreno", "vegas"))
    assert newreno.bottleneck == "gateway->server"
    # 50 kB of 8 Mbit/s are 50 ms: loss-based control fills them, Vegas keeps 2 to 4 segments waiting (1.5 ms each).
    assert 0.040 < newreno.queueing_p95_s < 0.0505  # type: ignore[operator]
    assert 0.001 < vegas.queueing_mean_s < 0.008  # type: ignore[operator]
    assert newreno.queueing_mean_s < newreno.queueing_p95_s  # type: ignore[operator]


def test_queueing_agrees_with_samples_of_the_queue() -> None:
    scenario = ll.presets.geo(transfer=None, duration="60 s", loss=0.0)
    comparison = ll.compare(scenario, ["newreno"], replications=1)
    (outcome,) = comparison.outcomes
    result = ll.run(scenario, sets={"defaults.tcp.congestion": "newreno", "record.queueing": True})
    (link,) = (one for one in result.summary["links"] if one["name"] == outcome.bottleneck)
    assert outcome.queueing_mean_s == link["mean_wait_s"]
    # Little's law: the mean queue is the arrivals a second times the mean wait.
    arrivals = link["data_packets"] / result.simulated_s
    assert link["mean_wait_s"] * arrivals == pytest.approx(link["mean_queue_packets"], rel=0.02)
    assert "mean_wait_s" in result.links.columns


def test_intervals_match_student(net: ll.Network) -> None:
    comparison = ll.compare(net, ["cubic"], duration="60 s", replications=4)
    rows = {row["measure"]: row for row in comparison.summary.to_dicts()}
    assert list(rows) == [measure.column for measure in MEASURES]
    for measure in MEASURES:
        values = [float(value) for value in comparison.runs[measure.column]]
        interval = mean_interval(values)
        row = rows[measure.column]
        assert (row["mean"], row["half_width"], row["runs"]) == (interval.mean, interval.half_width, 4)


def test_without_a_trace_there_is_no_figure_over_time(net: ll.Network) -> None:
    comparison = ll.compare(net, ["cubic"], sets={"record.trace": "off"}, **SHORT)  # type: ignore[arg-type]
    assert not comparison.has_traces
    assert not {"goodput", "cwnd"} & set(comparison.figures)


# --- figures ----------------------------------------------------------------------------------------------------------


def test_figures_against_a_variable_show_means_and_bands(net: ll.Network) -> None:
    vary = {"links.0.loss": [0, 1e-3, 1e-2], "links.0.delay": ["5 ms", "50 ms"]}
    comparison = ll.compare(net, ["cubic", "newreno"], vary=vary, duration="10 s", replications=2)
    assert comparison.figures[:5] == [
        "goodput-vs-loss",
        "completion-vs-loss",
        "retransmitted-vs-loss",
        "queueing-vs-loss",
        "goodput-vs-delay",
    ]
    figure = comparison.plot("goodput-vs-loss")
    left, right = figure.axes
    assert [axes.get_title(loc="left") for axes in (left, right)] == ["delay 5 ms", "delay 50 ms"]
    assert left.get_ylim() == right.get_ylim()
    expected = [comparison.interval("cubic", MEASURES[0], (loss, "5 ms")).mean / 1e6 for loss in ("0", "0.001", "0.01")]
    assert left.lines[0].get_ydata() == pytest.approx(expected)
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["0", "0.001", "0.01"]
    assert len(left.collections) == 2
    assert len(comparison.plot("queueing-vs-delay").axes) == 2 * 3


def test_completion_times_are_drawn_as_a_distribution() -> None:
    net = ll.Network("transfers")
    net.link("a", "b", rate="2 Mbit/s", delay="10 ms")
    for size in ("50 kB", "100 kB", "200 kB"):
        net.flow("a", "b", transfer=size)
    comparison = ll.compare(net, ["cubic"], duration="60 s", replications=2)
    steps = comparison.plot("completion").axes[0].lines[0]
    times = sorted(time for one in comparison.outcomes for time in one.flows.completion_s if time is not None)
    assert np.array(steps.get_xdata()) == pytest.approx([0.0, *times])
    assert np.array(steps.get_ydata()) == pytest.approx([at / 6 for at in range(7)])


def test_flows_of_different_round_trips_are_drawn_against_them() -> None:
    net = ll.Network("rtts")
    net.link("gateway", "server", rate="10 Mbit/s", delay="1 ms", queue="100 packets")
    for name, delay in (("near", "10 ms"), ("far", "80 ms")):
        net.link(name, "gateway", rate="100 Mbit/s", delay=delay)
        net.flow(name, "server")
    comparison = ll.compare(net, ["newreno"], duration="30 s", replications=2)
    assert "rtt" in comparison.figures
    (line,) = comparison.plot("rtt").axes[0].get_lines()[:1]
    rtts, goodputs = np.array(line.get_xdata()), np.array(line.get_ydata())
    assert rtts == pytest.approx([22, 162], rel=0.05)
    assert goodputs[0] > goodputs[1]


def test_more_algorithms_than_colours_still_differ() -> None:
    from lightlag.drawing import style

    looks = {json.dumps(style.line_style(at)) for at in range(20)}
    assert len(looks) == 20


# --- nothing is lost --------------------------------------------------------------------------------------------------


def test_an_outcome_survives_a_file(net: ll.Network) -> None:
    comparison = ll.compare(net, ["cubic"], **SHORT)  # type: ignore[arg-type]
    for outcome in comparison.outcomes:
        again = Outcome.from_json(json.loads(json.dumps(outcome.to_json())))
        assert again.to_json() == outcome.to_json()
    design = Design.from_json(json.loads(json.dumps(comparison.design.to_json())))
    assert design == comparison.design


def test_an_outcome_without_data_is_json_with_no_index(net: ll.Network) -> None:
    comparison = ll.compare(net, ["cubic"], replications=1, duration="1 ms", jobs=1)
    plain = json.loads(json.dumps(comparison.outcomes[0].to_json(), allow_nan=False))
    assert plain["jain"] is None
    # Earlier versions wrote NaN.
    for jain in (None, math.nan):
        assert math.isnan(Outcome.from_json(plain | {"jain": jain}).jain)


def test_a_saved_comparison_is_read_and_drawn_again(net: ll.Network, tmp_path: Path) -> None:
    vary = {"links.0.loss": [0, 1e-2]}
    comparison = ll.compare(net, ["cubic", "hybla"], vary=vary, **SHORT)  # type: ignore[arg-type]
    folder = comparison.save(tmp_path / "kept", formats=())
    again = ll.load_comparison(folder)
    assert again.runs.equals(comparison.runs)
    assert again.summary.equals(comparison.summary, null_equal=True)
    assert again.figures == comparison.figures
    for kind in comparison.figures:
        first, second = (one.plot(kind, tmp_path / f"{at}.svg") for at, one in enumerate((comparison, again)))
        assert first is not second
        assert (tmp_path / "0.svg").read_bytes() == (tmp_path / "1.svg").read_bytes()
    assert pl.read_csv(folder / "runs.csv").shape == pl.read_parquet(folder / "runs.parquet").shape
    assert pl.read_parquet(folder / "flows.parquet").height == 8
    (folder / "curves.jsonl").write_text("{}\n")
    with pytest.raises(ll.InputError, match="does not hold a comparison"):
        ll.load_comparison(folder)


def test_a_journal_saves_repeating_runs(net: ll.Network, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    seen: list[int] = []

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(ll.Interrupted):
        ll.compare(net, ["cubic", "hybla"], duration="20 s", replications=4, jobs=1, progress=stop, journal=path)
    # The last line breaks off, as when the power does.
    text = path.read_text()
    kept = text.count("\n")
    assert 3 <= kept < 8
    path.write_text(text[: -len(text) // 50])
    whole = ll.compare(net, ["cubic", "hybla"], duration="20 s", replications=4)
    resumed = ll.compare(
        net,
        ["cubic", "hybla"],
        duration="20 s",
        replications=4,
        progress=lambda done, total: seen.append(done),
        journal=path,
    )
    assert seen == list(range(kept, 9))
    assert resumed.runs.equals(whole.runs)
    assert len(journal.read(path)) == 8


def test_a_journal_distinguishes_runs(net: ll.Network, tmp_path: Path) -> None:
    trace = tmp_path / "rate.csv"
    trace.write_text("time_s,rate_bps\n0,1e6\n")
    sets = [("links.0.trace", str(trace))]
    keys = {run.key for run in plan.make(net, ["cubic", "hybla"], (), 3, sets).runs()}
    assert len(keys) == 6
    trace.write_text("time_s,rate_bps\n0,2e6\n1,1e6\n")
    assert not keys & {run.key for run in plan.make(net, ["cubic", "hybla"], (), 3, sets).runs()}


def test_all_runs_of_a_large_plan_are_there() -> None:
    net = ll.Network("tiny")
    net.link("a", "b", rate="10 Mbit/s", delay="1 ms")
    net.flow("a", "b", transfer="10 kB")
    vary = {"links.0.delay": [f"{at} ms" for at in range(1, 31)]}
    comparison = ll.compare(net, ["cubic", "newreno"], vary=vary, replications=5, duration="5 s")
    assert comparison.is_complete
    assert len(comparison.outcomes) == 300
    assert all(math.isfinite(outcome.goodput_bps) for outcome in comparison.outcomes)
    assert comparison.design.run_count == 300


def test_the_engine_reports_how_far_models_follow_their_sources() -> None:
    entries = json.loads(_engine.catalog())["congestion"]
    assert {entry["provenance"] for entry in entries} <= {"established", "reconstructed"}
