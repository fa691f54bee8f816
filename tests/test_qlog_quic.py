"""Logs of QUIC flows, and ``lightlag inspect`` of logs."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lightlag as ll
from lightlag.cli.app import app
from lightlag.qlog.reading import inspect
from qlog_files import Log, read

PAIR = ("client-to-server.sqlog", "client-to-server-receiver.sqlog")


def network(**flow: Any) -> ll.Network:
    """A transfer of QUIC with losses at a queue."""
    net = ll.Network("pair")
    net.link("client", "server", rate="5 Mbit/s", delay="20 ms", queue="20 packets")
    net.flow("client", "server", transfer="500 kB", transport="quic", **flow)
    return net


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[ll.Result, Path]:
    folder = tmp_path_factory.mktemp("quic")
    return ll.run(network(), duration="20 s", seed=1, qlog=folder), folder


def test_both_ends_have_a_log(logged: tuple[ll.Result, Path]) -> None:
    result, folder = logged
    assert sorted(path.name for path in folder.iterdir()) == sorted(PAIR)
    assert result.captures.keys() == {"client", "server"}
    for name, node, side in zip(PAIR, ("client", "server"), ("client", "server"), strict=True):
        log = read(folder / name)
        assert log.header["qlog_version"] == "0.3"
        assert log.header["title"] == "pair: client->server"
        assert log.header["trace"]["vantage_point"] == {"name": node, "type": side}
        times = [event["time"] for event in log.events]
        assert times == sorted(times)
        assert log.named("recovery:metrics_updated")


def test_received_packets_were_sent_and_the_others_are_lost(logged: tuple[ll.Result, Path]) -> None:
    result, folder = logged
    sender, receiver = (read(folder / name) for name in PAIR)
    sent, received = numbers(sender, "transport:packet_sent"), numbers(receiver, "transport:packet_received")
    lost = numbers(sender, "recovery:packet_lost")
    assert len(sent) == len(set(sent))
    assert set(received) <= set(sent)
    dropped = len(result.drops)
    assert dropped > 0
    assert len(sent) - len(received) == dropped
    assert set(sent) - set(received) == set(lost)
    data = sum(any(frame["frame_type"] == "stream" for frame in frames) for frames in frames_of(sender))
    assert data == result.summary["flows"][0]["sent_segments"]


def numbers(log: Log, name: str) -> list[tuple[str, int]]:
    headers = (event["data"]["header"] for event in log.named(name))
    return [(header["packet_type"], header["packet_number"]) for header in headers]


def frames_of(log: Log) -> list[list[dict[str, Any]]]:
    return [event["data"]["frames"] for event in log.named("transport:packet_sent")]


def test_logs_are_the_same_again_and_from_a_directory(logged: tuple[ll.Result, Path], tmp_path: Path) -> None:
    result, folder = logged
    ll.run(network(), duration="20 s", seed=1, qlog=tmp_path / "again")
    result.save(tmp_path / "saved")
    loaded = ll.load(tmp_path / "saved")
    assert isinstance(loaded, ll.Result)
    loaded.qlog(tmp_path / "loaded")
    pickle.loads(pickle.dumps(result)).qlog(tmp_path / "pickled")
    for again, name in ((again, name) for again in ("again", "loaded", "pickled") for name in PAIR):
        assert (tmp_path / again / name).read_bytes() == (folder / name).read_bytes()
    result.qlog(tmp_path / "one.sqlog")
    assert (tmp_path / "one.sqlog").read_bytes() == (folder / PAIR[0]).read_bytes()
    (tmp_path / "saved" / "captures" / "quic.logs").unlink()
    with pytest.raises(ll.InputError, match=r"no log of the QUIC flow client->server; run it again with --qlog"):
        ll.load(tmp_path / "saved").qlog(tmp_path / "none")


def test_flows_of_tcp_and_quic_have_logs_of_one_form(tmp_path: Path) -> None:
    net = network(name="quic")
    net.flow("client", "server", transfer="200 kB", name="tcp")
    net.flow("server", "client", transfer="50 kB", transport="quic", name="back")
    net.flow("client", "server", transport="udp", traffic={"kind": "constant", "rate": "100 kbit/s"}, name="udp")
    result = ll.run(net, duration="20 s", seed=1, qlog=tmp_path / "all")
    names = ("quic", "tcp", "back")
    files = [f"{name}{end}.sqlog" for name in names for end in ("", "-receiver")]
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == sorted(files)
    for file in files:
        log = read(tmp_path / "all" / file)
        protocol = "TCP" if file.startswith("tcp") else "QUIC"
        assert log.header["trace"]["common_fields"]["protocol_type"] == [protocol]
        assert log.header["title"] == f"pair: {file.partition('.')[0].partition('-')[0]}"
    # The sender of the data opens the connection.
    assert read(tmp_path / "all" / "back.sqlog").header["trace"]["vantage_point"] == {
        "name": "server",
        "type": "client",
    }
    result.qlog(tmp_path / "one", flows="back")
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["back-receiver.sqlog", "back.sqlog"]


def test_inspect_reads_our_logs(logged: tuple[ll.Result, Path]) -> None:
    result, folder = logged
    log = inspect(folder / PAIR[0])
    assert (log.schema, log.note, len(log.traces)) == ("0.3", None, 1)
    found, events = log.traces[0].summary, read(folder / PAIR[0])
    assert found["packets_sent"] == len(events.named("transport:packet_sent"))
    assert found["packets_received"] == len(events.named("transport:packet_received"))
    assert found["packets_lost"] == len(result.drops)
    assert found["stream_bytes"] - found["repeated_bytes"] == 500_000
    assert found["repeated_bytes"] > 0
    # Two delays of 20 ms, and the packets of the handshake at 5 Mbit/s.
    assert 0.04 < found["min_rtt_s"] < 0.05
    assert found["min_rtt_s"] < found["smoothed_rtt_s"] < 0.15
    assert found["max_cwnd_bytes"] > 20_000
    assert found["duration_s"] == pytest.approx((events.events[-1]["time"] - events.events[0]["time"]) / 1e3)
    answer = CliRunner().invoke(app, ["inspect", str(folder / PAIR[0])])
    assert answer.exit_code == 0
    assert "client (client)" in answer.output
    assert f"qlog 0.3, 1 trace, {len(events.events):,} events" in answer.output


CURRENT_NAMES = {
    "quic:connection_state_updated",
    "quic:parameters_set",
    "quic:packet_sent",
    "quic:packet_received",
    "quic:packet_lost",
    "quic:recovery_metrics_updated",
    "quic:congestion_state_updated",
}
"""Events of draft-ietf-quic-qlog-quic-events-13 that a run writes."""


def test_the_current_schema_has_the_same_events_under_its_names(logged: tuple[ll.Result, Path], tmp_path: Path) -> None:
    result = ll.run(network(), duration="20 s", seed=1, qlog=tmp_path, qlog_schema="main-14")
    assert result.result_hash == logged[0].result_hash
    assert result.scenario["record"]["pcap"]["qlog_schema"] == "main-14"
    for name, side in zip(PAIR, ("client", "server"), strict=True):
        log, old = read(tmp_path / name), read(logged[1] / name)
        trace = log.header["trace"]
        assert log.header["file_schema"] == "urn:ietf:params:qlog:file:sequential"
        assert log.header["serialization_format"] == "application/qlog+json-seq"
        assert "qlog_version" not in log.header
        assert trace["event_schemas"] == ["urn:ietf:params:qlog:events:quic-13"]
        assert trace["vantage_point"]["type"] == side
        assert trace["common_fields"]["time_format"] == "relative_to_epoch"
        assert {event["name"] for event in log.events} <= CURRENT_NAMES
        assert [event["time"] for event in log.events] == [event["time"] for event in old.events]
        for event in log.named("quic:packet_sent", "quic:packet_received"):
            assert set(event["data"]) == {"header", "raw", "frames"}
            assert event["data"]["raw"]["length"] > 0
            for frame in event["data"]["frames"]:
                # The length of a stream's data has another place than in 0.3.
                assert frame["frame_type"] != "stream" or frame["raw"]["payload_length"] >= 0
        for new, before in zip(log.named("quic:packet_lost"), old.named("recovery:packet_lost"), strict=True):
            assert new["data"]["header"] == before["data"]["header"]
        found = inspect(tmp_path / name)
        assert (found.schema, found.traces[0].summary) == ("current", inspect(logged[1] / name).traces[0].summary)
    answer = CliRunner().invoke(app, ["inspect", str(tmp_path / PAIR[0])])
    assert "the current qlog, 1 trace" in answer.output


def test_the_form_of_logs_is_checked(tmp_path: Path) -> None:
    scenario = tmp_path / "pair.toml"
    scenario.write_text(network().scenario().to_toml())
    run = ["run", str(scenario), "--duration", "1s", "--json", "-q"]
    answer = CliRunner().invoke(app, [*run, "--qlog", str(tmp_path / "one.sqlog"), "--qlog-schema", "main-14"])
    assert answer.exit_code == 0
    assert "file_schema" in read(tmp_path / "one.sqlog").header
    refused = CliRunner().invoke(app, [*run, "--qlog-schema", "main-14"])
    assert refused.exit_code == 2
    assert "--qlog-schema needs --qlog" in refused.output
    with pytest.raises(ll.InputError, match="needs a path for the logs; add qlog"):
        ll.run(network(), duration="1 s", qlog_schema="main-14")
    with pytest.raises(ll.ScenarioError, match=r"record\.pcap\.qlog_schema"):
        ll.run(network(), duration="1 s", qlog=tmp_path / "two", qlog_schema="main-12")  # type: ignore[arg-type]
    with pytest.raises(ll.ScenarioError, match=r"only captures with comments include logs"):
        ll.run(network(), duration="1 s", sets={"record.pcap.qlog_schema": "main-14"})


OLD: list[dict[str, Any]] = [
    {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": "quic-go qlog"},
    {"time": 10.0, "name": "transport:connection_started", "data": {}},
    {
        "time": 11.0,
        "name": "transport:packet_sent",
        "data": {
            "header": {"packet_type": "1RTT", "packet_number": 0},
            "raw": {"length": 1_000},
            "frames": [{"frame_type": "stream", "stream_id": 0, "offset": 0, "length": 900}],
        },
    },
    {
        "time": 61.0,
        "name": "recovery:metrics_updated",
        "data": {"min_rtt": 50.0, "smoothed_rtt": 52.5, "latest_rtt": 55.0, "congestion_window": 12_000},
    },
    {"time": 90.0, "name": "recovery:packet_lost", "data": {"header": {"packet_type": "1RTT", "packet_number": 0}}},
    {
        "time": 91.0,
        "name": "transport:packet_sent",
        "data": {
            "header": {"packet_type": "1RTT", "packet_number": 1},
            "raw": {"length": 500},
            "frames": [
                {"frame_type": "ack", "acked_ranges": [[3]]},
                {"frame_type": "stream", "stream_id": 0, "offset": 600, "length": 400},
            ],
        },
    },
    {"time": 92.5, "name": "vendor:something", "data": {"values": [1, 2]}},
    {"time": 110.0, "name": "transport:packet_received", "data": {"header": {}, "raw": {"length": 40}}},
    {"time": 110.0, "name": "recovery:metrics_updated", "data": {"smoothed_rtt": 51.0, "congestion_window": 8_000}},
]
COMMON = {"vantage_point": {"type": "server"}, "common_fields": {"time_format": "relative", "reference_time": 0}}
OLD[0]["trace"] = COMMON
EXPECTED = {
    "side": "server",
    "duration_s": 0.1,
    "events": 8,
    "other_events": 2,
    "packets_sent": 2,
    "packets_received": 1,
    "packets_lost": 1,
    "packets_dropped": 0,
    "bytes_sent": 1_500,
    "bytes_received": 40,
    "stream_bytes": 1_300,
    # Bytes 600 to 900 were sent before.
    "repeated_bytes": 300,
    "min_rtt_s": 0.05,
    "smoothed_rtt_s": 0.051,
    "latest_rtt_s": 0.055,
    "max_cwnd_bytes": 12_000,
}
CURRENT = {
    "transport:packet_sent": "quic:packet_sent",
    "transport:packet_received": "quic:packet_received",
    "recovery:packet_lost": "quic:packet_lost",
    "recovery:metrics_updated": "quic:recovery_metrics_updated",
}


def sequence(records: list[Any]) -> str:
    return "".join(f"\x1e{json.dumps(record)}\n" for record in records)


def current() -> list[dict[str, Any]]:
    """The events of ``OLD`` in the current schema, with the time since the previous event."""
    header: dict[str, Any] = {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "trace": {**COMMON, "event_schemas": []},
    }
    header["trace"]["common_fields"] = {"time_format": "relative_to_previous_event"}
    events, last = [], 0.0
    for event in OLD[1:]:
        changed = json.loads(json.dumps(event))
        changed |= {"time": event["time"] - last, "name": CURRENT.get(event["name"], event["name"])}
        last = event["time"]
        for frame in changed["data"].get("frames", ()):
            if "length" in frame:
                frame["raw"] = {"payload_length": frame.pop("length")}
        events.append(changed)
    return [header, *events]


def of_lists() -> dict[str, Any]:
    """The events of ``OLD`` as lists of values, with times in microseconds, as picoquic writes them."""
    scaled = json.loads(json.dumps(OLD[1:]))
    for event in scaled:
        event["time"] *= 1e3
        for key in ("min_rtt", "smoothed_rtt", "latest_rtt"):
            if key in event["data"]:
                event["data"][key] *= 1e3
    events = [[event["time"], *event["name"].split(":"), event["data"]] for event in scaled]
    fields = ["relative_time", "category", "event", "data"]
    trace = {**COMMON, "configuration": {"time_units": "us"}, "event_fields": fields, "events": events}
    return {"qlog_version": "draft-00", "traces": [trace]}


FORMS = {
    "0.3 as a sequence": ("0.3", sequence(OLD)),
    "0.3 as lines": ("0.3", sequence(OLD).replace("\x1e", "")),
    "0.3 as one text": (
        "0.3",
        json.dumps({"qlog_version": "0.3", "traces": [{**COMMON, "events": OLD[1:]}]}, indent=1),
    ),
    "the current schema": ("current", sequence(current())),
    "lists in microseconds": ("draft-00", json.dumps(of_lists())),
}


@pytest.mark.parametrize("form", FORMS)
def test_inspect_reads_the_logs_of_others(form: str, tmp_path: Path) -> None:
    schema, text = FORMS[form]
    path = tmp_path / "log.qlog"
    path.write_text(text)
    log = inspect(path)
    assert (log.schema, log.note) == (schema, None)
    found = {key: value for key, value in log.traces[0].summary.items() if key in EXPECTED}
    assert found == pytest.approx(EXPECTED)
    answer = CliRunner().invoke(app, ["inspect", str(path), "--json"])
    assert json.loads(answer.output) == log.summary


def test_the_end_of_a_log_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "cut.sqlog"
    path.write_text(sequence(OLD)[:-20])
    log = inspect(path)
    assert log.note == "the last record, in line 9, is incomplete"
    assert log.traces[0].summary["events"] == 7
    answer = CliRunner().invoke(app, ["inspect", str(path)])
    assert answer.exit_code == 0
    assert "cut.sqlog: the last record, in line 9, is incomplete; the part before that is shown" in answer.output


BAD = {
    "no header": (sequence(OLD[1:]), "line 1: has neither qlog_version nor file_schema"),
    "no trace": (sequence([{"qlog_version": "0.3"}]), "line 1: trace: is missing"),
    "damaged": (sequence(OLD).replace('"name"', "name", 3), "line 2: is not JSON"),
    "a list": (sequence([OLD[0], [1, 2], OLD[1]]), "line 2: is not a JSON object"),
    "no time": (sequence([*OLD[:2], {"name": "a", "data": {}}]), "line 3: time: None is not a number of milliseconds"),
    "no name": (sequence([*OLD[:3], {"time": 1, "data": {}}]), "line 4: name: None is not the name of an event"),
    "one text": ('{"qlog_version": "0.3",\n"traces": [\n}', "line 3: is not JSON"),
    "traces": ('{"qlog_version": "0.3", "traces": 3}', "line 1: traces: is missing or no list"),
    "events": ('{"qlog_version": "0.3", "traces": [{}]}', r"traces\[0\]: has no list of events"),
    "an event": (
        '{"qlog_version": "0.3", "traces": [{"events": [3]}]}',
        r"traces\[0\]\.events\[0\]: is not a JSON object",
    ),
    "empty": ("", "line 1: is not JSON"),
    "nested": ("[" * 100_000, "nested too deeply"),
    "infinite": (sequence([*OLD[:2], {"time": float("inf"), "name": "a"}]), "line 3: time"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_log_is_one_error_with_its_line(case: str, tmp_path: Path) -> None:
    text, message = BAD[case]
    path = tmp_path / "bad.qlog"
    path.write_text(text)
    with pytest.raises(ll.InputError, match=rf"bad\.qlog: {message}" if case != "nested" else message):
        inspect(path)
    answer = CliRunner().invoke(app, ["inspect", str(path)])
    assert answer.exit_code != 0


def test_bytes_and_options_that_do_not_fit_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bytes.sqlog"
    path.write_bytes(sequence(OLD[:2]).encode() + b"\x1e\xff\xfe\n")
    with pytest.raises(ll.InputError, match=r"bytes\.sqlog: is not a log: it is not text in UTF-8"):
        inspect(path)
    path.write_text(sequence(OLD))
    monkeypatch.setattr("lightlag.qlog.reading._MAX_RECORD", 200)
    with pytest.raises(ll.InputError, match=r"line 3: is longer than"):
        inspect(path)
    monkeypatch.undo()
    answer = CliRunner().invoke(app, ["inspect", str(path), "--flow", "1"])
    assert answer.exit_code != 0
    assert "--flow and --out need a capture" in str(answer.exception) + answer.output
    shutil.copy(path, tmp_path / "log")
    assert CliRunner().invoke(app, ["inspect", str(tmp_path / "log")]).exit_code == 0
