"""Runs, comparisons and studies of the studio, and what becomes of them."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lightlag as ll
from conftest import PAIR, Lightlag, pair
from lightlag.errors import FolderError
from lightlag.files import writing
from lightlag.files.writing import reserved
from lightlag.studio import worker
from studio import (
    ENDLESS,
    Server,
    Socket,
    carried_out,
    events,
    failure,
    gone,
    until,
)
from studio import client as client
from studio import folder as folder
from studio import page as page
from studio import server as server
from studio import sockets as sockets

# --- runs -------------------------------------------------------------------------------------------------------------


def test_runs_match_the_command_line(sockets: Socket, folder: Path) -> None:
    found = carried_out(
        sockets, op="run", scenario=PAIR, seeds=[3, 4, 3], sets=[["links.0.loss", 1e-2]], duration="9 s"
    )
    results = [event for event in found if event["event"] == "result"]
    assert sorted(event["place"] for event in results) == ["0/pair-seed3", "0/pair-seed4"]
    for event in results:
        wanted = ll.run(pair(), sets={"links.0.loss": 1e-2}, seed=event["seed"], duration="9 s")
        assert event["result_hash"] == wanted.result_hash
        assert ll.load(folder / event["place"].removeprefix("0/")).result_hash == wanted.result_hash
    assert found[0]["event"] == "start"
    assert found[0]["total"] == 2
    assert found[-1] == {"event": "end", "cancelled": False}
    # Nothing is replaced.
    again = [carried_out(sockets, op="run", scenario=PAIR, duration="9 s") for _ in range(2)]
    places = [event["place"] for one in again for event in one if event["event"] == "result"]
    assert places == ["0/pair", "0/pair-2"]


def test_files_that_come_along_are_kept_for_another_run(sockets: Socket, folder: Path, lightlag: Lightlag) -> None:
    text = PAIR.replace("loss = 1e-3", 'trace = "../rate.csv"')
    files = {"../rate.csv": base64.b64encode(b"time_s,rate_bps\n0,1e6\n5,2e6\n").decode()}
    found = carried_out(sockets, op="run", scenario=text, files=files, duration="9 s")
    (result,) = [event for event in found if event["event"] == "result"]
    done = lightlag("run", folder / "pair", "--out", "again", "--json")
    assert json.loads(done.stdout)["result_hash"] == result["result_hash"]
    assert "did not come with" in failure(carried_out(sockets, op="run", scenario=text))
    assert "outside the directories" in failure(carried_out(sockets, op="run", scenario=text, base="0"))
    assert "not valid base64" in failure(carried_out(sockets, op="run", scenario=text, files={"../rate.csv": "%"}))


def test_files_do_not_leave_the_directories_through_a_link(sockets: Socket, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "files").symlink_to(tmp_path / "elsewhere")
    text = PAIR.replace("loss = 1e-3", 'trace = "rate.csv"')
    files = {"rate.csv": base64.b64encode(b"time_s,rate_bps\n0,1e6\n").decode()}
    assert "is outside the directories" in failure(carried_out(sockets, op="run", scenario=text, files=files))
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../secret.csv", "link.csv", "pipe", ".", "/dev/zero", "a\0b", "none.csv"]
)
def test_a_trace_from_elsewhere_is_rejected(sockets: Socket, folder: Path, name: str) -> None:
    (folder.parent / "secret.csv").write_text("time_s,rate_bps\n0,1e6\n")
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    os.mkfifo(folder / "pipe")
    quoted = json.dumps(name)
    for trace in (
        quoted,
        f"{{ file = {quoted} }}",
        f"{{ forward = {quoted} }}",
        f"{{ backward = {{ file = {quoted} }} }}",
    ):
        text = PAIR.replace("loss = 1e-3", f"trace = {trace}")
        found = carried_out(sockets, op="run", scenario=text, base="0")
        assert re.search(
            "outside the directories|is not a file|does not exist|neither|cannot be read|is not a readable name",
            failure(found),
        )
        assert found[0]["errors"][0]["path"].startswith("links[0].trace")


def test_errors_are_reported_with_their_places(sockets: Socket) -> None:
    found = carried_out(sockets, op="run", scenario=PAIR.replace('"5 Mbit/s"', '"5 apples"'))
    assert [event["event"] for event in found] == ["failed", "end"]
    assert found[0]["errors"][0]["path"] == "links[0].rate"
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"op": "run"}, "is not a string"),
        ({"op": "run", "scenario": "a = "}, "is not valid TOML"),
        ({"op": "run", "scenario": "[]", "format": "json"}, "is not a table"),
        ({"op": "run", "scenario": PAIR, "seeds": [-1]}, "seeds"),
        ({"op": "run", "scenario": PAIR, "seeds": "1"}, "seeds"),
        ({"op": "run", "scenario": PAIR, "jobs": 0}, "jobs"),
        ({"op": "run", "scenario": PAIR, "threads": True}, "threads"),
        ({"op": "run", "scenario": PAIR, "sets": [1]}, "sets"),
        ({"op": "run", "scenario": PAIR, "files": []}, "files"),
        ({"op": "run", "scenario": PAIR, "out": "/tmp/x"}, "out"),
        ({"op": "run", "scenario": PAIR, "base": "../.."}, "not a valid name"),
        ({"op": "compare", "scenarios": []}, "scenarios"),
        ({"op": "compare", "scenarios": [PAIR], "congestion": ["cubix"]}, "cubix"),
        ({"op": "compare", "scenarios": [PAIR], "replications": "many"}, "replications"),
        ({"op": "watch", "study": "0/none.toml"}, "does not exist"),
        ({"op": "fly"}, "op"),
        ({}, "op"),
    ]
    for request, words in wrong:
        assert words in failure(carried_out(sockets, **request))


def test_a_run_takes_another_name_if_one_of_the_same_name_ends_while_it_looks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = folder / ".pair.lock"
    other = lock.open("w")
    fcntl.flock(other, fcntl.LOCK_EX)

    @contextmanager
    def ends_meanwhile(wanted: Path) -> Iterator[Path]:
        try:
            with reserved(wanted) as work:
                yield work
        except FolderError:
            # The other run saves its results between the attempt and what follows it.
            (folder / "pair").mkdir()
            lock.unlink()
            other.close()
            raise

    monkeypatch.setattr(worker, "reserved", ends_meanwhile)
    with worker._placed(folder, "pair") as (mine, is_found, _):
        assert (mine, is_found) == (folder / "pair-2", False)
    assert other.closed


def test_a_directory_that_another_command_removes_again_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    results.mkdir()
    made = writing._make_parents

    def emptied(wanted: Path) -> list[Path]:
        found = made(wanted)
        # The command that had made it has written nothing.
        results.rmdir()
        return found

    monkeypatch.setattr(writing, "_make_parents", emptied)
    with reserved(results / "pair"):
        assert [one.name for one in results.iterdir()] == [".pair.lock"]


def test_a_name_of_a_scenario_leads_nowhere(sockets: Socket, folder: Path) -> None:
    before = set(folder.parent.iterdir())
    text = PAIR.replace('"pair"', '"../../up"')
    found = carried_out(sockets, op="run", scenario=text, duration="1 s")
    assert {path.name for path in folder.iterdir() if path.is_dir()} <= {"up"}
    assert found[-1]["event"] == "end"
    assert set(folder.parent.iterdir()) == before


def test_a_comparison_matches_the_command_line(sockets: Socket, folder: Path) -> None:
    vary = {"links.0.loss": [0.0, 1e-2]}
    request: dict[str, Any] = {
        "scenarios": [PAIR],
        "congestion": ["cubic", "hybla"],
        "vary": vary,
        "replications": 3,
        "duration": "9 s",
    }
    found = carried_out(sockets, op="compare", **request)
    (result,) = [event for event in found if event["event"] == "result"]
    wanted = ll.compare(pair(), ["cubic", "hybla"], vary=vary, replications=3, duration="9 s", seed=3)
    assert pl.DataFrame(result["summary"])["mean"].to_list() == wanted.summary.fill_nan(None)["mean"].to_list()
    assert [event["finished"] for event in found if event["event"] == "progress"] == list(range(1, 13))
    assert ll.load_comparison(folder / "pair-compare").summary.equals(wanted.summary, null_equal=True)
    assert (folder / "pair-compare" / "report.html").is_file()


def test_a_study_is_watched_to_its_end(sockets: Socket, folder: Path) -> None:
    (folder / "pair.toml").write_text(PAIR)
    (folder / "short.toml").write_text('scenarios = ["pair.toml"]\ncongestion = ["cubic", "reno"]\nreplications = 3\n')
    study = ll.Study.read(folder / "short.toml")
    assert "has no store yet" in failure(carried_out(sockets, op="watch", study="0/short.toml"))
    ll.Study([str(folder / "pair.toml")], congestion=["cubic"], replications=3).run(
        out=folder / "part", store=folder / "store"
    )
    with sockets("/tasks") as task:
        task.send_json({"id": 1, "op": "watch", "study": "0/short.toml"})
        first = task.receive_json()
        assert (first["event"], first["finished"], first["total"]) == ("status", 3, 6)
        study.run(out=folder / "short", store=folder / "store")
        found = events(task)
    assert (found[-2]["finished"], found[-2]["total"]) == (6, 6)
    assert found[-1] == {"event": "end", "cancelled": False}


STUDY = """scenarios = ["pair.toml"]
congestion = ["cubic", "hybla"]
replications = 3
[vary]
"links.0.loss" = [0.0, 0.01]
"""


def test_a_study_matches_the_command_line(sockets: Socket, folder: Path, lightlag: Lightlag) -> None:
    (folder / "pair.toml").write_text(PAIR)
    (folder / "wide.toml").write_text(STUDY)
    found = carried_out(sockets, op="study", study="0/wide.toml", jobs=2)
    assert found[0] == {"event": "start", "name": "wide", "total": 12, "warnings": []}
    counts = [(event["finished"], event["total"]) for event in found if event["event"] == "status"]
    assert (counts[0], counts[-1]) == ((0, 12), (12, 12))
    (result,) = [event for event in found if event["event"] == "result"]
    assert result == {"event": "result", "place": "0/wide", "finished": 12, "complete": True}
    assert found[-1] == {"event": "end", "cancelled": False}
    done = lightlag("study", "run", folder / "wide.toml", "--out", "own/wide", "--store", "own/store", "--quiet")
    assert done.returncode == 0
    for name in ("runs", "flows", "summary"):
        ours, theirs = (
            getattr(ll.study.open_study(one), name) for one in (folder / "wide", folder.parent / "own/wide")
        )
        assert ours.lazy().collect().equals(theirs.lazy().collect(), null_equal=True)
    # Nothing is made again, and results of the same study are written again.
    again = carried_out(sockets, op="study", study="0/wide.toml")
    assert next(event for event in again if event["event"] == "status")["finished"] == 12
    assert [event["place"] for event in again if event["event"] == "result"] == ["0/wide"]


def test_results_of_a_study_replace_no_others(sockets: Socket, folder: Path) -> None:
    (folder / "pair.toml").write_text(PAIR)
    (folder / "wide.toml").write_text(STUDY.replace("3", "1"))
    before = ll.run(pair(), duration="1 s")
    before.save(folder / "wide")
    found = carried_out(sockets, op="study", study="0/wide.toml", jobs=2)
    assert [event["place"] for event in found if event["event"] == "result"] == ["0/wide-2"]
    assert ll.load(folder / "wide").result_hash == before.result_hash


def test_a_cancelled_study_keeps_its_runs_and_continues(sockets: Socket, folder: Path) -> None:
    (folder / "pair.toml").write_text(PAIR)
    (folder / "long.toml").write_text(STUDY.replace("replications = 3", "replications = 400"))
    with sockets("/tasks") as task:
        task.send_json({"id": 1, "op": "study", "study": "0/long.toml", "jobs": 1})
        first = task.receive_json()
        while first["event"] != "status" or first["finished"] == 0:
            first = task.receive_json()
        task.send_json({"id": 1, "op": "cancel"})
        found = events(task)
    assert found[-1] == {"event": "end", "cancelled": True}
    (result,) = [event for event in found if event["event"] == "result"]
    assert 0 < result["finished"] < 1600
    assert not result["complete"]
    with sockets("/tasks") as task:
        task.send_json({"id": 1, "op": "watch", "study": "0/long.toml"})
        assert task.receive_json()["finished"] == result["finished"]


def test_failed_runs_of_a_study_are_reported_and_the_others_stored(sockets: Socket, folder: Path) -> None:
    (folder / "pair.toml").write_text(PAIR)
    (folder / "bad.toml").write_text(STUDY.replace("[0.0, 0.01]", '[0.0, "often"]'))
    assert "often" in failure(carried_out(sockets, op="study", study="0/bad.toml"))
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"study": "0/none.toml"}, "does not exist"),
        ({"study": "0/../x.toml"}, "is not a valid name"),
        ({"study": "/etc/passwd"}, "is not a valid name"),
        ({"study": 7}, "is not a valid name"),
        ({}, "is not a valid name"),
        ({"study": "0/pair.toml"}, "is a scenario, not a study"),
        ({"study": "0/bad.toml", "store": "0/away"}, "does not exist"),
        ({"study": "0/bad.toml", "store": "../away"}, "is not a valid name"),
        ({"study": "0/bad.toml", "out": "/tmp/x"}, "out: is not a key of study"),
        ({"study": "0/bad.toml", "jobs": 0}, "jobs"),
        ({"study": "0"}, "is not a file"),
    ]
    for request, words in wrong:
        assert words in failure(carried_out(sockets, op="study", **request)), request


# --- on real sockets --------------------------------------------------------------------------------------------------


def test_two_clients_run_at_the_same_time_and_one_cancels(server: Server, folder: Path) -> None:
    with server.socket("/tasks") as one, server.socket("/tasks") as other:
        for client in (one, other):
            client.send(json.dumps({"id": 1, "op": "run", "scenario": ENDLESS}))
        for client in (one, other):
            until(client, "progress")
        one.send(json.dumps({"id": 1, "op": "run", "scenario": PAIR}))
        assert "an active task" in until(one, "refused")["message"]
        # The run of another client.
        other.send(json.dumps({"id": 2, "op": "cancel"}))
        one.send(json.dumps({"id": 1, "op": "cancel"}))
        result = until(one, "result")
        assert result["interrupted"]
        assert until(one, "end")["cancelled"]
        assert ll.load(folder / result["place"].removeprefix("0/")).interrupted
        until(other, "progress")
        (worker,) = server.workers
        # Its client disconnects without a message.
        other.socket.shutdown(socket.SHUT_RDWR)
        gone(worker)
    kept = {path.name: ll.load(path).interrupted for path in folder.iterdir() if (path / "run.json").exists()}
    assert kept == {"pair": True, "pair-2": True}
    assert server.workers == []
    assert server.end() == 0


def test_a_killed_worker_is_reported_and_the_others_continue(server: Server) -> None:
    with server.socket("/tasks") as one:
        one.send(json.dumps({"id": 1, "op": "run", "scenario": ENDLESS}))
        until(one, "progress")
        (worker,) = server.workers
        os.kill(worker, signal.SIGKILL)
        assert "signal 9" in until(one, "failed")["message"]
        assert not until(one, "end")["cancelled"]
        one.send(json.dumps({"id": 1, "op": "run", "scenario": PAIR, "duration": "1 s"}))
        assert until(one, "result")["place"].startswith("0/pair")
        until(one, "end")
    assert server.workers == []


def test_a_comparison_that_was_cancelled_continues(server: Server, folder: Path) -> None:
    request = {"id": 1, "op": "compare", "scenarios": [PAIR], "congestion": ["cubic", "hybla"], "replications": 2000}
    with server.socket("/tasks") as one:
        one.send(json.dumps(request | {"jobs": 1}))
        until(one, "progress")
        (worker,) = server.workers
        one.send(json.dumps({"id": 1, "op": "cancel"}))
        result = until(one, "result")
        until(one, "end")
        finished = result["finished"]
        assert 0 < finished < 4000
        assert not result["complete"]
        assert not ll.load_comparison(folder / "pair-compare").is_complete
        gone(worker)
        # The runs that a killed worker had finished are also stored.
        one.send(json.dumps(request | {"jobs": 1}))
        more = until(one, "progress")["finished"]
        assert more == finished + 1
        (worker,) = server.workers
        os.kill(worker, signal.SIGKILL)
        until(one, "failed")
        until(one, "end")
        one.send(json.dumps(request | {"jobs": 1}))
        assert until(one, "progress")["finished"] > more
    gone(server.workers[0]) if server.workers else None
    assert not ll.load_comparison(folder / "pair-compare").is_complete


def test_ctrl_c_keeps_the_records_of_runs(server: Server, folder: Path) -> None:
    with server.socket("/tasks") as one:
        one.send(json.dumps({"id": 1, "op": "run", "scenario": ENDLESS}))
        until(one, "progress")
        (worker,) = server.workers
        assert server.end() == 0
        gone(worker)
    assert ll.load(folder / "pair").interrupted
    assert server.process.stdout is not None
    assert server.process.stdout.read().endswith("stopped\n")


def test_a_killed_server_leaves_no_worker(server: Server, folder: Path) -> None:
    with server.socket("/tasks") as one:
        one.send(json.dumps({"id": 1, "op": "run", "scenario": ENDLESS}))
        until(one, "progress")
        (worker,) = server.workers
        server.process.kill()
        gone(worker)
    assert ll.load(folder / "pair").interrupted
