"""Tables and figures that say what happened: totals, legs, identical runs, units, round trips, capacity."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lightlag as ll
from conftest import Lightlag, pair
from lightlag import analyse
from lightlag.drawing import style
from lightlag.outcomes.variables import variables
from lightlag.records.rows import flow_rows, link_rows
from lightlag.records.summary import asked
from test_capture import TSHARK, needs_tshark


def two_in_turn() -> ll.Network:
    """Two transfers over one link, one after the other."""
    net = ll.Network("in-turn")
    net.link("a", "b", rate="10 Mbit/s", delay="10 ms", queue="2 bdp")
    net.flow("a", "b", name="first", transfer="5 MB")
    net.flow("a", "b", name="second", transfer="5 MB", start="10 s")
    return net


def split() -> ll.Network:
    """A flow that is split by a proxy next to a lossy satellite."""
    net = ll.Network("split")
    net.link("client", "gateway", rate="50 Mbit/s", delay="5 ms")
    net.link("gateway", "server", rate="5 Mbit/s", delay="250 ms", loss=ll.Directions(forward=3e-3, backward=0.0))
    net.flow("client", "server", name="f", transfer="1 MB")
    net.proxy("gateway", buffer="2 MB")
    return net


# --- one definition of what flows carry together ----------------------------------------------------------------------


def test_flows_in_turn_do_not_add_up_to_more_than_the_link(tmp_path: Path, lightlag: Lightlag) -> None:
    result = ll.run(two_in_turn(), duration="60 s")
    flows = result.summary["flows"]
    assert sum(flow["goodput_bps"] for flow in flows) > 10e6
    seconds = flows[1]["finish_s"] - flows[0]["start_s"]
    total = analyse.aggregate_goodput(flows, result.simulated_s)
    assert total == pytest.approx(10e6 * 8 / seconds)
    assert f"{total / 1e6:.4g} Mbit/s" in repr(result)
    (tmp_path / "turn.toml").write_text(two_in_turn().scenario("60 s").to_toml())
    done = lightlag("run", "turn.toml")
    assert f"2 flows: {total / 1e6:.4g} Mbit/s together" in done.stdout
    comparison = ll.compare(two_in_turn(), ["cubic"], replications=1, duration="60 s")
    assert comparison.runs["goodput_bps"].to_list() == [pytest.approx(total)]


def test_an_unfinished_flow_counts_to_the_end() -> None:
    flows: list[dict[str, Any]] = [
        {"start_s": 1.0, "finish_s": 3.0, "delivered_bytes": 500},
        {"start_s": 2.0, "finish_s": None, "delivered_bytes": 500},
    ]
    assert analyse.aggregate_goodput(flows, 5.0) == 8_000 / 4
    assert analyse.aggregate_goodput([], 5.0) == 0.0
    assert analyse.aggregate_goodput([{"start_s": 5.0, "finish_s": None, "delivered_bytes": 0}], 5.0) == 0.0


def test_a_short_download_is_not_limited_by_what_comes_after_it() -> None:
    net = pair()
    net.flow("server", "client", name="long", transfer="1 GB")
    (short, _) = ll.run(net, duration="30 s").summary["flows"]
    took = short["finish_s"] - short["start_s"]
    assert took < 10
    assert sum(short["limited_s"].values()) == pytest.approx(took, abs=1e-6)
    assert short["limited_s"]["application"] < 0.3 * took


# --- every leg of a flow through proxies ------------------------------------------------------------------------------


def test_every_leg_has_its_row(tmp_path: Path) -> None:
    result = ll.run(split(), duration="120 s")
    legs = result.legs
    assert legs.select("flow", "leg", "from", "to").rows() == [
        ("f", 1, "client", "gateway"),
        ("f", 2, "gateway", "server"),
    ]
    resent = legs["retransmitted_segments"].to_list()
    assert resent[0] == 0
    assert resent[1] > 0
    flow, first, second = flow_rows(result.summary)
    assert (flow["flow"], first["flow"], second["flow"]) == ("f", "  client->gateway", "  gateway->server")
    assert (flow["retransmitted"], flow["mean cwnd"], flow["limited by"]) == ("–", "–", "–")
    assert first["retransmitted"] == "0%"
    assert second["retransmitted"] not in ("–", "0%")
    assert flow["finished"] == second["finished"] != first["finished"]
    loaded = ll.load(result.save(tmp_path / "split"))
    assert loaded.legs.equals(legs)
    assert loaded.summary == result.summary
    with pytest.raises(ll.InputError, match="no proxy splits a flow"):
        _ = ll.run(pair(), duration="5 s").legs


def test_a_trace_and_its_figures_distinguish_legs() -> None:
    result = ll.run(split(), duration="120 s")
    trace = result.trace("cwnd")
    assert trace.columns[:3] == ["time_s", "flow", "leg"]
    assert sorted(trace["leg"].unique()) == [1, 2]
    labels = [line.get_label() for line in result.plot("cwnd").axes[0].lines]
    assert labels == ["f: client->gateway", "f: gateway->server"]
    total = result.goodput(1.0)["goodput_bps"].sum() / 8
    # Without the last interval, which is not complete; the rows of both legs tell of one receiver.
    assert 0.8e6 < total <= 1e6


def test_a_comparison_shows_the_leg_over_the_satellite(tmp_path: Path, lightlag: Lightlag) -> None:
    comparison = ll.compare(split(), ["cubic", "hybla"], replications=2, duration="120 s")
    for outcome in comparison.outcomes:
        sets = {"defaults.tcp.congestion": outcome.congestion, "record.queueing": True}
        leg = ll.run(split(), duration="120 s", seed=outcome.seed, sets=sets).legs.row(1, named=True)
        assert outcome.flows.leg == ["gateway->server"]
        assert outcome.retransmitted_share == leg["retransmitted_segments"] / leg["sent_segments"] > 0
        assert outcome.timeouts == leg["timeouts"]
        assert outcome.flows.min_rtt_s[0] > 0.51  # type: ignore[operator]
        if outcome.windows:
            assert max(outcome.windows["f"][1]) > 20
    (tmp_path / "split.toml").write_text(split().scenario("120 s").to_toml())
    set_ = "proxies.0.server.congestion=hybla"
    done = lightlag("compare", "split.toml", "-c", "cubic,reno", "-n", "1", "--figures", "none", "-s", set_)
    assert (
        "note: -c sets the algorithm of client (sender of f); proxy gateway toward the receiver keeps hybla"
        in done.stderr
    )
    assert "retransmissions, timeouts and windows refer to the longest leg: gateway->server of f" in done.stderr


def test_an_algorithm_can_be_set_for_the_proxy_alone() -> None:
    net = ll.Network("split")
    net.link("client", "gateway", rate="50 Mbit/s", delay="5 ms")
    net.link("gateway", "server", rate="5 Mbit/s", delay="50 ms")
    net.flow("client", "server", transfer="100 kB", congestion="reno")
    net.proxy("gateway", buffer="2 MB")
    comparison = ll.compare(net, ["cubic", "hybla"], replications=1, duration="20 s")
    assert comparison.algorithms == ["cubic", "hybla"]


# --- runs in which nothing is random ----------------------------------------------------------------------------------


def test_identical_runs_have_no_interval(tmp_path: Path, lightlag: Lightlag) -> None:
    comparison = ll.compare(two_in_turn(), ["cubic", "bbr"], replications=3, duration="60 s")
    assert comparison.is_identical("cubic")
    row = comparison.rows()[0]
    assert row["runs"] == "3 seeds, identical"
    assert not any("±" in cell for cell in row.values())
    summary = comparison.summary.filter(congestion="cubic")
    assert summary["identical"].all()
    assert summary["half_width"].is_nan().all()
    (tmp_path / "turn.toml").write_text(two_in_turn().scenario("60 s").to_toml())
    compare = ("compare", "turn.toml", "-c", "cubic", "-n", "2", "--figures", "none")
    done = lightlag(*compare)
    assert "warning: nothing is random: its 2 seeds give the same result; run once with -n 1" in done.stderr
    assert "2 seeds, identical" in " ".join(done.stdout.split())
    drawn = lightlag(*compare, "--force", "-s", 'flows.0.start={ uniform = ["0 s", "1 s"] }')
    assert "warning: nothing is random" not in drawn.stderr
    assert "identical" not in drawn.stdout


def test_the_warning_reports_that_nothing_is_random(tmp_path: Path, lightlag: Lightlag) -> None:
    (tmp_path / "turn.toml").write_text(two_in_turn().scenario("5 s").to_toml())
    vary = ("--vary", "links.0.loss=0,1e-3")
    done = lightlag("compare", "turn.toml", "-c", "cubic,bbr", "-n", "2", "--figures", "none", *vary)
    assert "nothing is random in 1 of 4 combinations, such as cubic, loss 0: its 2 seeds" in done.stderr


def test_a_random_start_is_of_its_flow_and_seed(tmp_path: Path) -> None:
    net = pair()
    net.flow("client", "server", name="late", transfer="10 kB", start={"uniform": ["1 s", "2 s"]})
    starts = [ll.run(net, duration="5 s", seed=seed).flows["start_s"][1] for seed in range(1, 6)]
    assert all(1 <= start < 2 for start in starts)
    assert len(set(starts)) == 5
    (tmp_path / "net.toml").write_text(net.scenario("5 s").to_toml())
    assert ll.run(tmp_path / "net.toml", seed=1).flows["start_s"][1] == starts[0]
    with pytest.raises(ll.ScenarioError, match=r"flows\[1\]\.start\.uniform\[1\]: is not above min"):
        ll.run(net, duration="5 s", sets={"flows.1.start": {"uniform": ["2 s", "1 s"]}})


# --- numbers next to text ---------------------------------------------------------------------------------------------


def test_quantities_have_columns_with_numbers() -> None:
    vary = {
        "links.0.delay": ["5 ms", "0.1 s"],
        "links.0.rate": ["500 kbit/s", "2 Mbit/s"],
        "links.0.queue": ["1 bdp", "2 bdp"],
        "flows.0.transfer": ["10 kB"],
        "links.0.loss": [0, 1e-2],
    }
    comparison = ll.compare(pair(), ["cubic"], vary=vary, replications=1, duration="20 s")
    runs = comparison.runs
    names = ["delay", "delay_s", "rate", "rate_bps", "queue", "queue_bdp", "transfer", "transfer_bytes", "loss"]
    assert runs.columns[1 : 1 + len(names)] == names
    assert set(runs.select("delay", "delay_s").rows()) == {("5 ms", 0.005), ("0.1 s", 0.1)}
    assert set(runs["rate_bps"]) == {500_000.0, 2_000_000.0}
    assert set(runs["transfer_bytes"]) == {10_000.0}
    for table in (comparison.flows, comparison.summary):
        assert set(names) <= set(table.columns)
        assert table["delay_s"].dtype == pl.Float64


def test_names_and_mixtures_have_no_numbers() -> None:
    (kinds, mixed) = variables(["flows.0.tcp.recovery=sack,rack", "links.0.queue=1 bdp,20 packets"])
    assert kinds.numeric is None
    assert mixed.numeric is None
    with pytest.raises(ll.InputError, match="would give a column completion_s, which exists already"):
        variables(["completion: links.0.delay=1 ms,2 ms"])


# --- the round trip as a variable -------------------------------------------------------------------------------------


def test_a_round_trip_varies_with_the_longest_delay() -> None:
    net = ll.presets.geo(loss=0.0, transfer="200 kB", duration="20 s")
    comparison = ll.compare(net, ["cubic"], vary=["rtt=50 ms,250 ms", "links.1.loss=0,1e-3"], replications=1)
    assert comparison.runs.columns[1:4] == ["rtt", "rtt_s", "loss"]
    assert any(kind.startswith("goodput-vs-rtt") for kind in comparison.figures)
    for outcome in comparison.outcomes:
        rtt = {"50 ms": 0.05, "250 ms": 0.25}[outcome.point[0]]
        assert rtt < outcome.flows.min_rtt_s[0] < rtt + 0.004  # type: ignore[operator]


def test_a_round_trip_that_cannot_be_set_is_rejected(tmp_path: Path, lightlag: Lightlag) -> None:
    compare = ("compare", "heterogeneous", "-c", "cubic", "-n", "1", "--figures", "none")
    done = lightlag(*compare, "--vary", "rtt=100 ms,200 ms")
    assert "with rtt=100 ms" in done.stderr
    assert "flows have paths of different lengths" in done.stderr
    for vary, message in [
        ("rtt=soon", "rtt=soon"),
        ("rtt+links.0.delay=1 ms", "vary it alone"),
        ("rtt=1 us", "is less than"),
    ]:
        with pytest.raises((ll.InputError, ll.ScenarioError), match=message):
            ll.compare(ll.presets.geo(), ["cubic"], vary=[vary], replications=1)


# --- goodput over time ------------------------------------------------------------------------------------------------


def test_goodput_over_time_stays_below_the_link_that_is_drawn() -> None:
    result = ll.run(ll.presets.geo(loss=1e-3, transfer=None, duration="60 s"), seed=2)
    found = asked("outcome", result.parts)
    assert (found["capacity_link"], found["capacity_bps"]) == ("gateway->server", 20e6)
    axes = result.plot("goodput", interval_s=0.5).axes[0]
    limit = [line for line in axes.lines if line.get_label() == "link gateway->server: 20 Mbit/s"]
    assert [line.get_ydata()[0] for line in limit] == pytest.approx([20.0])  # type: ignore[index]
    highest = max(float(np.max(line.get_ydata())) for line in axes.lines if line not in limit)
    assert highest <= 20.0 + 1e-9
    # In order the same payload comes in bursts above the link.
    trace = result.trace("goodput")
    in_order = analyse.goodput(trace.with_columns(arrived_bytes="delivered_bytes"), 0.5)
    assert in_order["goodput_bps"].max() > 20e6  # type: ignore[operator]
    assert limit[0].get_color() == style.LIMIT["color"]


def test_the_goodput_of_a_comparison_over_time_stays_below_the_link() -> None:
    net = ll.presets.geo(loss=1e-3, transfer="4 MB", duration="60 s")
    comparison = ll.compare(net, ["cubic"], vary=["rtt=50 ms,250 ms"], replications=2)
    for axes in comparison.plot("goodput").axes:
        (limit,) = (line for line in axes.lines if line.get_label() == "link")
        (mean,) = (line for line in axes.lines if line.get_label() == "CUBIC")
        # A packet of 1500 bytes in an interval of 0.1 s is 0.12 Mbit/s.
        assert 10 < float(np.max(mean.get_ydata())) < float(np.max(limit.get_ydata())) + 0.12


def test_without_one_bottleneck_no_link_is_drawn() -> None:
    changes = {"links.0.changes": [{"at": "2 s", "rate": "1 Mbit/s"}]}
    result = ll.run(pair(), duration="5 s", sets=changes)
    assert asked("outcome", result.parts)["capacity_bps"] is None
    assert not any(str(line.get_label()).startswith("link") for line in result.plot("goodput").axes[0].lines)


# --- captures ---------------------------------------------------------------------------------------------------------


@needs_tshark
def test_wireshark_shows_node_names_and_the_complete_close(tmp_path: Path) -> None:
    assert TSHARK is not None
    result = ll.run(pair(), duration="30 s", seed=3, sets={"record.pcap.at": ["client"]})
    folder = result.save(tmp_path / "run")
    capture = folder / "captures" / "client.pcapng"
    fields = [
        "-T",
        "fields",
        "-e",
        "ip.src_host",
        "-e",
        "ip.dst_host",
        "-e",
        "tcp.flags.fin",
        "-e",
        "tcp.analysis.flags",
    ]
    done = subprocess.run([TSHARK, "-r", capture, "-N", "nd", *fields], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert {tuple(row[:2]) for row in rows} == {("client", "server"), ("server", "client")}
    fins = [row[:2] for row in rows if row[2] in ("1", "True")]
    assert ["client", "server"] in fins
    assert ["server", "client"] in fins
    assert rows[-1][:3] in (["client", "server", "0"], ["client", "server", "False"]), "the answer to the last FIN"


def test_a_mean_of_identical_runs_is_their_value() -> None:
    comparison = ll.compare(two_in_turn(), ["cubic"], replications=2, duration="60 s")
    interval = comparison.interval("cubic", next(one for one in comparison.measures if one.column == "goodput_bps"))
    assert math.isnan(interval.half_width)
    assert interval.count == 2
    assert interval.mean == comparison.outcomes[0].goodput_bps


# --- one unit in a column ---------------------------------------------------------------------------------------------


def test_a_column_has_one_unit() -> None:
    net = ll.Network("unlike")
    net.link("a", "b", rate="10 Mbit/s", delay="10 ms")
    net.link("c", "d", rate="300 kbit/s", delay="10 ms")
    net.flow("a", "b", transfer="5 MB")
    net.flow("c", "d", transfer="50 kB")
    summary = ll.run(net, duration="20 s").summary
    assert [str(row["goodput"]).split()[1] for row in flow_rows(summary)] == ["Mbit/s"] * 2
    assert {str(row["carried"]).split()[1] for row in link_rows(summary)} == {"MB"}
    given: dict[str, Any] = {"links.0.rate": ["100 kbit/s", "5 Mbit/s"]}
    rows = ll.compare(pair(), ["cubic"], vary=given, replications=2, duration="20 s").rows()
    assert [str(row["goodput"]).split()[-1] for row in rows] == ["Mbit/s"] * 2
