"""Results in memory and on disk: the same numbers, complete or not at all."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lightlag as ll
from conftest import Lightlag
from lightlag import _engine
from lightlag.records import rows
from lightlag.records.source import TableName

TABLES: tuple[TableName, ...] = ("flows", "links", "trace", "queue", "drops")


def test_a_directory_holds_what_the_run_held(result: ll.Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "pair")
    assert {path.name for path in folder.iterdir()} == {"run.json", *(f"{name}.parquet" for name in TABLES)}
    loaded = ll.load(folder)
    for name in TABLES:
        assert loaded.table(name).equals(result.table(name)), name
        assert loaded.table(name).schema == result.table(name).schema, name
    assert loaded.summary == result.summary
    assert (loaded.name, loaded.seed, loaded.result_hash) == (result.name, 3, result.result_hash)
    assert repr(loaded) == repr(result)


def test_run_json_records_the_origin_of_the_numbers(result: ll.Result, tmp_path: Path) -> None:
    run = json.loads((result.save(tmp_path / "pair") / "run.json").read_text())
    assert run["version"] == _engine.__version__
    assert run["result_hash"] == result.result_hash
    assert not run["interrupted"]
    # The scenario as run can be run again.
    assert ll.run(run["scenario"]).result_hash == result.result_hash


def test_names_are_in_the_tables(result: ll.Result) -> None:
    assert result.trace()["flow"].cast(pl.String).unique().to_list() == ["client->server"]
    assert set(result.queue["link"].cast(pl.String).unique()) == {"client->server", "server->client"}
    assert set(result.drops["cause"].cast(pl.String).unique()) <= {"queue", "error", "aqm", "ack_filter", "ttl"}
    assert set(result.trace()["phase"].cast(pl.String).unique()) <= {"open", "recovery", "loss"}


def test_flows_at_proxies_have_a_table(result: ll.Result, tmp_path: Path) -> None:
    with pytest.raises(ll.InputError, match="no proxy splits a flow"):
        _ = result.proxies
    net = ll.Network("split")
    net.link("client", "gateway", rate="50 Mbit/s", delay="5 ms")
    net.link("gateway", "server", rate="5 Mbit/s", delay="250 ms")
    net.flow("client", "server", transfer="1 MB")
    net.proxy("gateway", buffer="512 kB", server={"congestion": "hybla"})
    split = ll.run(net, duration="60 s")
    (proxy,) = split.proxies.to_dicts()
    assert (proxy["node"], proxy["flow"], proxy["congestion"]) == ("gateway", "client->server", "hybla")
    assert (proxy["confirmed_bytes"], proxy["lost_bytes"], proxy["client_failure"]) == (1_000_000, 0, None)
    loaded = ll.load(split.save(tmp_path / "split"))
    assert loaded.proxies.equals(split.proxies)
    assert loaded.summary == split.summary
    assert "gateway" in split._repr_html_()


def test_what_a_sink_collects_is_in_its_row(tmp_path: Path) -> None:
    text = "kind = 'iot'\nsinks = 2\nsensors = 3\nrate = '1 Mbit/s'\ndelay = '270 ms'\n"
    file = tmp_path / "iot.toml"
    file.write_text(f"duration = '300 s'\n[topology]\n{text}")
    run = ll.run(file)
    sinks = [flow["messages"] for flow in run.summary["flows"] if "messages" in flow]
    assert len(sinks) == 2
    assert all(0 <= sink["sent"] - sink["delivered"] <= 1 for sink in sinks)
    assert run.flows["messages_sent"].drop_nulls().to_list() == [sink["sent"] for sink in sinks]
    assert ll.load(run.save(tmp_path / "iot")).summary == run.summary


def test_notifications_of_stations_are_in_the_row_of_a_flow(tmp_path: Path) -> None:
    file = tmp_path / "told.toml"
    file.write_text(
        """
        duration = "300 s"
        defaults.tcp.profile = "scps"
        links = [
            { between = ["host", "ground"], rate = "10 Mbit/s", delay = "20 ms" },
            { between = ["ground", "sat"], rate = "1.5 Mbit/s", delay = "250 ms", signals = "outage", changes = [
                { at = "10 s", down = true }, { at = "70 s", down = false } ] },
        ]
        flows = [{ from = "host", to = "sat", transfer = "2 MB" }]
        """
    )
    run = ll.run(file)
    (flow,) = run.summary["flows"]
    assert flow["signals"] == {"sent": 2, "received": 2, "ignored": 0, "lost": 0, "local": 0}
    assert run.flows["signals_received"].to_list() == [2]
    assert "2 of 2 acted on" in run._repr_html_()
    assert ll.load(run.save(tmp_path / "told")).summary == run.summary


def test_what_a_flow_did_without_is_in_its_row(tmp_path: Path) -> None:
    net = ll.Network("partial")
    net.link("ground", "sat", rate="1.5 Mbit/s", delay="260 ms", queue="200 packets", loss=0.01)
    bets = ll.Tcp(profile="scps", congestion="none", scps={"bets": {"max_transmissions": 1, "receive_timeout": "1 s"}})
    net.flow("ground", "sat", name="partial", transfer="500 kB", tcp=bets)
    net.flow("ground", "sat", name="whole", transfer="100 kB", tcp={"profile": "scps"})
    run = ll.run(net, duration="300 s")
    partial, whole = run.summary["flows"]
    assert "holes" not in whole
    assert whole["delivered_bytes"] == 100_000
    holes = partial["holes"]
    assert holes["count"] > 0
    assert partial["delivered_bytes"] + holes["bytes"] == 500_000
    seconds = partial["finish_s"] - partial["start_s"]
    assert partial["goodput_bps"] == pytest.approx(partial["delivered_bytes"] * 8 / seconds)
    assert run.flows["holes_bytes"].to_list() == [holes["bytes"], None]
    assert ll.load(run.save(tmp_path / "partial")).summary == run.summary


def test_a_flow_that_aborted_has_a_reason(result: ll.Result) -> None:
    assert result.flows["failure"].to_list() == [None]
    net = ll.Network("deaf")
    net.link("client", "server", rate="5 Mbit/s", delay="20 ms", queue="50 packets", loss=1)
    net.flow("client", "server", transfer="2 MB")
    deaf = ll.run(net, duration="600 s")
    (flow,) = deaf.summary["flows"]
    assert deaf.flows["failure"].to_list() == [flow["failure"]] != [None]


def test_the_tables_agree_with_each_other(four_flows: ll.Result) -> None:
    drops = four_flows.drops.group_by("link").len().sort("link")
    links = four_flows.links.with_columns(drops=pl.col("dropped_queue") + pl.col("dropped_error"))
    for link, count in drops.with_columns(pl.col("link").cast(pl.String)).rows():
        assert links.filter(name=link)["drops"].item() == count
    last = four_flows.trace().group_by("flow", maintain_order=True).last()
    assert (last["delivered_bytes"] <= four_flows.flows["delivered_bytes"]).all()
    assert four_flows.trace()["time_s"].is_sorted()


def test_a_trace_by_metric_is_a_part_of_the_trace(result: ll.Result) -> None:
    assert result.trace("cwnd").columns[:3] == ["time_s", "flow", "cwnd_segments"]
    for metric in ("cwnd", "goodput", "sequence", "rtt"):
        assert set(result.trace(metric).columns) <= set(result.trace().columns)
    with pytest.raises(ll.InputError, match="no trace of"):
        result.trace("queue")


def test_goodput_over_time_adds_up_to_what_was_delivered(four_flows: ll.Result) -> None:
    per_flow = four_flows.goodput(1.0).group_by("flow", maintain_order=True).agg(pl.col("goodput_bps").sum() / 8)
    delivered = four_flows.flows["delivered_bytes"].cast(pl.Float64)
    assert ((per_flow["goodput_bps"] - delivered).abs() < 0.02 * delivered).all()


def test_results_show_themselves(four_flows: ll.Result) -> None:
    assert re.fullmatch(r"<Result 'dumbbell': 4 flows, 15 s simulated, [\d.]+ Mbit/s, seed 1>", repr(four_flows))
    page = four_flows._repr_html_()
    assert page.count("<table>") == 2
    assert "client1-&gt;server1" in page
    assert "limited by" in page


def test_people_read_at_most_twenty_flows_and_eight_links() -> None:
    many = ll.run(ll.presets.dumbbell(pairs=30, stagger="0 s", duration="1 s"), seed=1)
    assert len(rows.flow_rows(many.summary)) == 20
    links = rows.link_rows(many.summary)
    assert len(links) == 8
    assert "router-left->router-right" in [link["link"] for link in links]


def summary_of(*delivered: int) -> dict[str, Any]:
    """The summary of a run with a flow for each number of delivered bytes."""
    net = ll.Network("flows")
    net.link("a", "b", rate="10 Mbit/s", delay="1 ms")
    for at in range(len(delivered)):
        net.flow("a", "b", name=f"f{at}", transfer="1 kB")
    summary = ll.run(net, duration="1 ms").summary
    for flow, amount in zip(summary["flows"], delivered, strict=True):
        flow["delivered_bytes"] = amount
    return summary


def test_people_read_flows_that_delivered_data_before_those_that_did_not() -> None:
    few = summary_of(0, 0, 5)
    assert [row["flow"] for row in rows.flow_rows(few)] == ["f0", "f1", "f2"]
    assert rows.other_flows(few) == ""
    many = summary_of(*[0] * 20, 7, *[0] * 3, 8)
    assert [row["flow"] for row in rows.flow_rows(many)] == ["f20", "f24"]
    assert rows.other_flows(many) == "and 23 more flows, without delivered data"
    mixed = summary_of(*[0] * 3, *[9] * 22)
    assert [row["flow"] for row in rows.flow_rows(mixed)] == [f"f{at}" for at in range(3, 23)]
    assert rows.other_flows(mixed) == "and 5 more flows, 3 of them without delivered data"
    assert rows.other_flows(summary_of(*[9] * 21)) == "and 1 more flow"


def test_people_read_the_first_flows_where_none_delivered_data() -> None:
    silent = summary_of(*[0] * 22)
    assert [row["flow"] for row in rows.flow_rows(silent)] == [f"f{at}" for at in range(20)]
    assert rows.other_flows(silent) == "and 2 more flows, without delivered data"


LARGE = {"record.interval": "1 s", "topology.sinks": "20", "topology.sensors": "500"}


def test_samples_of_idle_queues_take_little_memory() -> None:
    # 20,042 link directions, 600 times: 12 million rows of 28 bytes would be 337 MB.
    code = (
        "import lightlag as ll\n"
        f"run = ll.run('satellite-iot', sets={LARGE!r})\n"
        "status = open('/proc/self/status').read()\n"
        "print(status.partition('VmHWM:')[2].split()[0])\n"
    )
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert 1024 * int(printed) < 300e6


def test_a_table_of_queues_in_several_batches_has_all_rows(tmp_path: Path) -> None:
    # 602 link directions, 2001 times: more than a batch of 2^20 rows.
    sets = {"topology.pairs": "150", "record.interval": "1 ms", "record.trace": "off"}
    result = ll.run("dumbbell", duration="2 s", sets=sets)
    links = result.links.height
    queue = result.queue
    assert queue.height == links * 2001 > 1 << 20
    assert queue["time_s"].to_list()[:: 100 * links] == pytest.approx([at / 10 for at in range(21)])
    assert queue["link"].cast(str).to_list()[-links:] == result.links["name"].to_list()
    name, most = result.links.sort("max_queue_packets").select("name", "max_queue_packets").rows()[-1]
    assert 0 < max(queue.filter(queue["link"].cast(str) == name)["packets"]) <= most
    assert ll.load(result.save(tmp_path / "run")).queue.equals(queue)


def test_existing_results_are_rejected_unless_forced(result: ll.Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "pair")
    # In words of the command line, if this is one.
    with pytest.raises(FileExistsError, match=r"replace it with (--force|force=True)"):
        result.save(folder)
    about = json.loads((folder / "run.json").read_text())
    assert set(about["files"]) == {path.name for path in folder.iterdir()}
    # A table that this run does not have, of the one before.
    (folder / "stale.parquet").write_text("")
    (folder / "run.json").write_text(json.dumps(about | {"files": [*about["files"], "stale.parquet"]}))
    result.save(folder, force=True)
    assert not (folder / "stale.parquet").exists()
    ll.load(folder).save(tmp_path / "copy")
    assert ll.load(tmp_path / "copy").result_hash == result.result_hash
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "pair"]


def test_force_replaces_results_only(result: ll.Result, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match="other files than results"):
        result.save(tmp_path / "thesis", force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="not a directory"):
        result.save(tmp_path / "file", force=True)
    (tmp_path / "empty").mkdir()
    result.save(tmp_path / "empty", force=True)
    assert (tmp_path / "thesis" / "chapter1.tex").read_text() == "years of work"


def test_parent_directories_are_created(result: ll.Result, tmp_path: Path) -> None:
    assert (result.save(tmp_path / "a" / "b" / "c") / "run.json").is_file()


def test_a_destination_that_cannot_be_written_is_one_error(result: ll.Result, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match=r"file: is not a directory"):
        result.save(tmp_path / "file" / "inside")
    with pytest.raises(OSError, match=r"x{300}: cannot write: "):
        result.save(tmp_path / ("x" * 300))


FULL_DISK = """
import resource, signal, sys
import lightlag as ll
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
result = ll.run(sys.argv[1], seed=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    result.save(sys.argv[2])
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [100, 5000])
def test_a_disk_that_fills_up_leaves_no_files(pair_file: Path, tmp_path: Path, limit: int) -> None:
    folder = tmp_path / "results" / "pair"
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, pair_file, folder, str(limit)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "cannot write" in done.stdout
    assert os.strerror(errno.EFBIG) in done.stdout
    assert len(done.stdout.splitlines()) == 1
    assert not (tmp_path / "results").exists()


def test_the_command_line_reports_a_full_disk_and_ends_with_1(
    lightlag: Lightlag, pair_file: Path, tmp_path: Path
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, hard))
    try:
        done = lightlag("run", pair_file, "--quiet", "--out", "full")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert done.returncode == 1
    assert done.stderr.startswith("error: full/")
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["pair.toml"]


def test_a_comparison_and_a_figure_on_a_full_disk_leave_nothing(
    lightlag: Lightlag, pair_file: Path, result: ll.Result, tmp_path: Path
) -> None:
    result.save(tmp_path / "kept")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8000, hard))
    try:
        compared = lightlag("compare", pair_file, "-c", "cubic", "-n", "2", "--quiet", "--out", "full")
        drawn = lightlag("plot", "kept", "-o", "cwnd.png")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    for done, name in ((compared, ".full.unfinished.jsonl"), (drawn, "cwnd.png")):
        assert done.returncode == 1
        assert done.stderr.startswith(f"error: {name}")
        assert os.strerror(errno.EFBIG) in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "pair.toml"]


def test_other_directories_are_reported_as_no_results(result: ll.Result, tmp_path: Path) -> None:
    with pytest.raises(ll.InputError, match="is not a results directory"):
        ll.load(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ll.InputError, match="cannot be read"):
        ll.load(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(ll.InputError, match="does not hold a single run"):
        ll.load(tmp_path)
    (tmp_path / "run.json").write_text('{"result_hash": ""}')
    with pytest.raises(ll.InputError, match=r"run\.json: scenario: None is not a value that a run writes"):
        ll.load(tmp_path)
    folder = result.save(tmp_path / "pair")
    (folder / "flows.parquet").unlink()
    with pytest.raises(ll.InputError, match=r"flows\.parquet: cannot be read"):
        _ = ll.load(folder).flows


def test_unknown_tables_are_rejected(result: ll.Result) -> None:
    with pytest.raises(ll.InputError, match="flows, links, trace, queue, drops"):
        result.table("pcap")  # type: ignore[arg-type]


def test_a_swarm_has_tables_of_its_radios_paths_and_positions(tmp_path: Path) -> None:
    net = ll.Network("row", media=[ll.Medium(rate="24 Mbit/s", detection="-101 dBm", routing="static")])
    net.nodes += [ll.Node(name=f"n{at}", at=(f"{40 * at} m", "0 m", "10 m")) for at in range(3)]
    net.flow("n0", "n2", transfer="100 kB")
    run = ll.run(net, duration="20 s", sets={"record.positions": "10 ms"})
    loaded = ll.load(run.save(tmp_path / "row"))
    assert loaded.summary["interfaces"] == run.summary["interfaces"]
    for result in (run, loaded):
        assert result.interfaces["name"].to_list() == ["n0@air", "n1@air", "n2@air"]
        ways = result.paths.filter(pl.col("hop") == 0).select("flow", "hops").rows()
        assert ways == [("n0->n2", 2)]
        assert result.paths["node"].to_list() == ["n0", "n1", "n2"]
        places = result.positions.filter(node="n2").select("x_m", "z_m").unique().rows()
        assert places == [(80.0, 10.0)]
        [medium] = rows.medium_rows(result.summary)
        sent, retries = (int(result.interfaces[key].sum()) for key in ("sent_frames", "retries"))
        assert (medium["medium"], medium["radios"], medium["frames"]) == ("air", "3", str(sent))
        assert medium["retries"] == f"{retries / sent:.0%}" if retries else "0%"
        assert medium["routing"] == "0 B", "static routes cost nothing on the air"
        radio = result.interfaces.row(0, named=True)
        assert 0.0 < radio["mean_queue_packets"] < radio["max_queue_packets"]
        assert radio["mpdus_per_aggregate"] is None, "frames at 24 Mbit/s leave alone"
        assert "mean queue" in rows.radio_rows(result.summary)[0]
        assert "n1@air" in result._repr_html_()


def test_the_old_name_of_the_table_of_interfaces_names_the_new_one(result: ll.Result) -> None:
    with pytest.raises(AttributeError, match="no attribute 'radios'; its name is interfaces"):
        _ = result.radios  # type: ignore[attr-defined]
    with pytest.raises(ll.InputError, match='no table "radios"; its name is "interfaces"'):
        result.table("radios")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["interfaces", "paths", "positions"])
def test_without_radios_there_are_no_tables_of_them(result: ll.Result, name: str) -> None:
    with pytest.raises(ll.InputError, match="no node has a radio"):
        getattr(result, name)


def test_a_path_over_two_media_and_a_link_has_a_row_for_each_of_them() -> None:
    low = ll.Medium(name="low", standard="802.11g", frequency="2.437 GHz", rate="24 Mbit/s", routing="static")
    high = ll.Medium(name="high", rate="24 Mbit/s", routing="aodv")
    net = ll.Network("two", media=[low, high])
    net.nodes += [
        ll.Node(name="scout", media=("low",), at=("0 m", "0 m", "10 m")),
        ll.Node(name="bridge", media=("low", "high"), at=("30 m", "0 m", "10 m")),
        ll.Node(name="gateway", media=("high",), at=("60 m", "0 m", "10 m")),
    ]
    net.link("gateway", "server", rate="5 Mbit/s", delay="20 ms")
    net.flow("scout", "server", transfer="200 kB")
    result = ll.run(net, duration="30 s")
    [flow] = result.summary["flows"]
    assert flow["delivered_bytes"] == 200_000
    assert [(row["medium"], row["radios"]) for row in rows.medium_rows(result.summary)] == [
        ("low", "2"),
        ("high", "2"),
    ]
    names = ["scout@low", "bridge@low", "bridge@high", "gateway@high"]
    assert result.interfaces["name"].to_list() == names
    busy = result.interfaces.sort("utilisation", descending=True)["name"].to_list()
    assert [row["radio"] for row in rows.radio_rows(result.summary)] == busy


def test_a_swarm_without_flows_has_radios_and_nothing_to_compare(tmp_path: Path) -> None:
    silent = ll.Scenario(
        name="silent",
        duration="10 s",
        topology=ll.Swarm(nodes=4, area=("50 m", "50 m", "10 m"), flows=0, medium=ll.Medium(routing="oracle")),
    )
    run = ll.run(silent)
    for result in (run, ll.load(run.save(tmp_path / "silent"))):
        assert result.flows.is_empty()
        assert result.interfaces["sent_frames"].to_list() == [0, 0, 0, 0]
        assert result.simulated_s == pytest.approx(10.0)
        assert "uav1@air" in result._repr_html_()
    with pytest.raises(ll.InputError, match=r"silent: there is no flow to compare"):
        ll.compare(silent, ["cubic"], replications=1)
    with pytest.raises(ll.InputError, match=r"flows=0: there is no flow to compare"):
        ll.compare(silent, ["cubic"], vary={"topology.flows": ["2", "0"]}, replications=1)


def test_one_loader_reads_runs_comparisons_and_studies(net: ll.Network, tmp_path: Path) -> None:
    ll.run(net, duration="3 s", seed=1).save(tmp_path / "run")
    ll.compare(net, ["cubic"], replications=1, duration="3 s").save(tmp_path / "compared", formats=(), report=False)
    ll.Study(net, congestion=["cubic"], replications=1, set={"duration": "3 s"}).run(tmp_path / "study")
    kinds = [type(ll.load(tmp_path / name)).__name__ for name in ("run", "compared", "study")]
    assert kinds == ["Result", "Comparison", "StudyResults"]
    with pytest.raises(ll.InputError, match=r"read a run or a study with lightlag\.load"):
        ll.load_comparison(tmp_path / "run")
    with pytest.raises(ll.InputError, match=r"with lightlag\.load"):
        ll.open_study(tmp_path / "compared")


def test_a_figure_of_several_metrics_is_rejected(result: ll.Result) -> None:
    with pytest.raises(ll.InputError, match="call plot once for each of cwnd"):
        result.plot(["cwnd", "rtt"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rate": 10e6, "delay": "5 ms"}, 'link a - b: rate: 10000000.0 has no unit; write "10 Mbit/s"'),
        ({"rate": "1 Mbit/s", "delay": 0.3}, 'link a - b: delay: 0.3 has no unit; write "300 ms"'),
        ({"rate": "1 Mbit/s", "delay": "1 s", "queue": 20}, 'queue: 20 has no unit; write "20 packets"'),
    ],
)
def test_a_quantity_without_a_unit_is_rejected_where_it_is_written(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ll.InputError, match=re.escape(message)):
        ll.Network().link("a", "b", **given)


def test_the_module_lists_what_it_offers() -> None:
    assert {"Any", "annotations", "np", "TYPE_CHECKING"}.isdisjoint({*dir(ll), *dir(ll.plot)})
    assert {"load", "run", "Network"} <= {*dir(ll)}
