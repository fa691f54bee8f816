"""Runs: the same numbers everywhere, progress, early ends, comparisons."""

from __future__ import annotations

import json
import math
import re
import threading

import pytest

import lightlag as ll
from conftest import Lightlag, pair
from lightlag import _engine
from lightlag.scenario import congestion_names, load_scenario


def test_everything_is_delivered(result: ll.Result) -> None:
    (flow,) = result.summary["flows"]
    assert flow["delivered_bytes"] == 2_000_000
    assert flow["finish_s"] == pytest.approx(result.simulated_s)
    assert flow["goodput_bps"] == pytest.approx(2_000_000 * 8 / flow["finish_s"])
    # 5 Mbit/s at most 1448 of 1500 bytes.
    assert flow["goodput_bps"] < 5e6 * 1448 / 1500
    assert flow["min_rtt_s"] >= 0.04


def test_the_time_of_a_sender_is_accounted_for(result: ll.Result) -> None:
    (flow,) = result.summary["flows"]
    assert sum(flow["limited_s"].values()) == pytest.approx(result.simulated_s, abs=1e-6)


def test_the_summary_has_the_keys_of_the_interface(result: ll.Result) -> None:
    assert set(result.summary) == set(
        "scenario seed version simulated_s wall_s events packet_hops result_hash flows links".split()
    )
    assert set(result.summary["flows"][0]) == set(
        "name from to congestion bottleneck start_s finish_s delivered_bytes goodput_bps sent_segments "
        "retransmitted_segments timeouts recoveries acks_received min_rtt_s mean_rtt_s mean_cwnd_segments "
        "limited_s".split()
    )
    assert set(result.summary["flows"][0]["limited_s"]) == set("cwnd rwnd application pacing recovery timeout".split())
    assert set(result.summary["links"][0]) == set(
        "name from to rate_bps carried_bytes utilisation dropped_queue dropped_aqm dropped_police dropped_mtu "
        "dropped_error dropped_outage dropped_acks dropped_route withdrawn marked duplicated reordered repair_packets "
        "repaired residual_loss baseband_frames dummy_frames encapsulation_bytes padding_bytes mean_queue_packets "
        "max_queue_packets".split()
    )


def test_the_same_seed_gives_the_same_hash_and_another_does_not(result: ll.Result) -> None:
    assert ll.run(pair(), duration="30 s", seed=3).result_hash == result.result_hash
    assert ll.run(pair(), duration="30 s", seed=4).result_hash != result.result_hash


def test_runs_in_threads_give_the_same_hash(result: ll.Result) -> None:
    hashes: list[str] = []
    work = [threading.Thread(target=lambda: hashes.append(ll.run(pair(), duration="30 s", seed=3).result_hash))] * 1
    work += [threading.Thread(target=lambda: hashes.append(ll.run(pair(), duration="30 s", seed=3).result_hash))]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert hashes == [result.result_hash] * 2


@pytest.mark.parametrize("threads", [2, 3, "auto"])
def test_one_run_in_threads_gives_the_same_hash(result: ll.Result, threads: int | str) -> None:
    assert ll.run(pair(), duration="30 s", seed=3, threads=threads).result_hash == result.result_hash
    live = ll.stream(pair(), "1 s", duration="30 s", seed=3, threads=threads)
    rows = sum(batch.trace.height for batch in live)
    assert live.result.result_hash == result.result_hash
    assert rows == result.trace().height


@pytest.mark.parametrize("threads", [0, -1, "many", 2000, 1.5])
def test_threads_are_a_number_or_auto(threads: int) -> None:
    with pytest.raises(ll.InputError, match=r"^threads: .* is not an integer from 1 to 1024; write 4 or "):
        ll.run(pair(), duration="1 s", threads=threads)


def test_explain_shows_where_a_network_is_cut(lightlag: Lightlag, pair_file: object) -> None:
    done = lightlag("explain", str(pair_file), "--partitions", "--threads", "2")
    assert done.returncode == 0, done.stderr
    assert re.search(r" in [23] partitions, which run for ", done.stdout) or "runs on one thread: " in done.stdout
    alone = lightlag("explain", str(pair_file), "--partitions", "--threads", "1")
    assert alone.stdout.endswith("runs on one thread: one partition was requested\n")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_line_gives_the_same_hash(
    lightlag: Lightlag, pair_file: object, result: ll.Result, jobs: str
) -> None:
    done = lightlag("run", str(pair_file), "--json", "--jobs", jobs)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result_hash"] == result.result_hash


def test_the_seed_of_the_scenario_counts_where_none_is_given() -> None:
    net = pair()
    scenario = net.scenario("5 s", seed=9)
    assert ll.run(scenario).seed == 9
    assert ll.run(scenario, seed=10).seed == 10
    assert ll.run(scenario, seed=10).scenario["seed"] == 10


def long_scenario() -> str:
    return load_scenario(ll.presets.dumbbell(pairs=4, duration="3000 s"), [("record.trace", "off")])


def test_progress_gets_increasing_times_and_may_end_the_run() -> None:
    seen: list[tuple[float, float, int]] = []

    def progress(simulated_s: float, duration_s: float, events: int) -> bool:
        seen.append((simulated_s, duration_s, events))
        return len(seen) < 3

    result = ll.run(json.loads(long_scenario()), progress=progress, interval_s=0.02)
    assert result.interrupted
    assert len(seen) == 3
    assert seen == sorted(seen)
    assert {duration for _, duration, _ in seen} == {3000.0}
    assert 0 < result.simulated_s < 3000
    assert result.simulated_s == pytest.approx(seen[-1][0])


def test_progress_that_returns_nothing_lets_the_run_continue(net: ll.Network) -> None:
    assert not ll.run(net, duration="30 s", progress=lambda *_: None, interval_s=0).interrupted


def test_an_exception_of_progress_is_passed_on() -> None:
    def progress(*_: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ll.run(json.loads(long_scenario()), progress=progress, interval_s=0)


def test_ctrl_c_in_progress_keeps_what_was_recorded() -> None:
    def progress(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(ll.Interrupted) as caught:
        ll.run(json.loads(long_scenario()), progress=progress, interval_s=0)
    assert isinstance(caught.value.result, ll.Result)
    assert caught.value.result.interrupted
    assert caught.value.result.summary["packet_hops"] > 0


def test_the_engine_runs_without_the_interpreter_lock() -> None:
    stop = threading.Event()
    thread = threading.Thread(
        target=lambda: _engine.run(_engine.parse(long_scenario(), "json"), lambda *_: not stop.is_set(), 0.01)
    )
    thread.start()
    ticks = sum(1 for _ in range(1000) if thread.is_alive())
    stop.set()
    thread.join(timeout=20)
    assert ticks == 1000
    assert not thread.is_alive()


def test_a_comparison_pairs_the_same_seeds(net: ll.Network) -> None:
    seen: list[tuple[int, int]] = []
    comparison = ll.compare(
        net, ["newreno", "cubic"], replications=3, duration="60 s", progress=lambda *now: seen.append(now)
    )
    assert comparison.runs.select("congestion", "seed").rows() == [
        (name, seed) for name in ("newreno", "cubic") for seed in (1, 2, 3)
    ]
    assert seen == [(done, 6) for done in range(1, 7)]
    by_hand = ll.run(net, duration="60 s", seed=2, sets={"defaults.tcp.congestion": "cubic", "record.queueing": True})
    assert by_hand.result_hash == comparison.of("cubic")[1].result_hash
    assert by_hand.summary["flows"][0]["goodput_bps"] == pytest.approx(comparison.of("cubic")[1].goodput_bps)


def test_a_comparison_does_not_depend_on_the_number_of_threads(net: ll.Network) -> None:
    one, two = (ll.compare(net, ["cubic", "hybla"], replications=2, duration="30 s", jobs=jobs) for jobs in (1, 2))
    assert one.runs.equals(two.runs)
    assert one.summary.equals(two.summary)


def test_a_comparison_compares_everything_by_default(net: ll.Network) -> None:
    comparison = ll.compare(net, replications=1, duration="5 s")
    assert comparison.algorithms == congestion_names()


def test_the_summary_of_a_comparison_is_its_means(net: ll.Network) -> None:
    comparison = ll.compare(net, ["cubic"], replications=3, duration="60 s")
    rows = {row["measure"]: row for row in comparison.summary.to_dicts()}
    assert rows["goodput_bps"]["mean"] == pytest.approx(comparison.runs["goodput_bps"].mean())
    assert rows["goodput_bps"]["half_width"] > 0
    assert rows["jain"]["mean"] == 1.0
    assert rows["completion_s"]["runs"] == 3


def test_what_did_not_finish_has_no_completion_time(net: ll.Network) -> None:
    comparison = ll.compare(net, ["cubic"], replications=2, duration="1 s")
    assert comparison.runs["completion_s"].to_list() == [None, None]
    assert comparison.rows()[0]["completion time"] == "–"
    assert math.isnan(comparison.summary.to_dicts()[1]["mean"])


@pytest.mark.parametrize(
    ("congestion", "options", "message"),
    [
        (["cubic", "cubic"], {}, "named twice"),
        (["cubic"], {"replications": 0}, "at least 1"),
        (["cubic"], {"jobs": 0}, "at least 1"),
        ([], {}, "at least 1"),
        (["qubic"], {}, "qubic"),
    ],
)
def test_comparisons_of_nothing_are_rejected(
    net: ll.Network, congestion: list[str], options: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ll.compare(net, congestion, duration="1 s", **options)  # type: ignore[arg-type]


def test_flows_that_name_their_own_leave_nothing_to_compare() -> None:
    net = ll.Network("named")
    net.link("a", "b", rate="1 Mbit/s", delay="1 ms")
    net.flow("a", "b", congestion="cubic")
    with pytest.raises(ll.InputError, match="nothing to compare"):
        ll.compare(net, ["newreno", "hybla"], replications=1, duration="1 s")


def test_ctrl_c_keeps_the_runs_of_a_comparison_that_have_finished(net: ll.Network) -> None:
    def progress(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(ll.Interrupted) as caught:
        ll.compare(net, ["newreno", "cubic"], replications=50, duration="60 s", jobs=1, progress=progress)
    comparison = caught.value.result
    assert isinstance(comparison, ll.Comparison)
    assert 2 <= len(comparison.outcomes) < 100
    assert {outcome.seed for outcome in comparison.outcomes} >= {1}
