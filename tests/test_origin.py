"""The origin of results: what computed them, and the command that computes them again."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from conftest import Lightlag, pair
from lightlag import _engine
from lightlag.comparison import saving as comparison_report
from lightlag.records import origin as _origin
from lightlag.scenario import read_scenario
from test_study import contents, small


def about(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text("utf-8"))
    return found


def repeated(folder: Path, lightlag: Lightlag) -> subprocess.CompletedProcess[str]:
    """Runs the command stored in a results directory, in that directory."""
    program, *arguments = shlex.split(about(folder)["repeat"])
    assert program == "lightlag"
    return lightlag(*arguments, cwd=folder)


class Additive(ll.CongestionControl):
    """A class that is defined only in this program."""

    def on_ack(self, ack: Any) -> None:
        self.cwnd += ack.growth / self.cwnd

    def on_congestion(self, event: Any) -> None:
        self.ssthresh = self.cwnd = max(2.0, self.cwnd / 2)


# --- what is recorded -------------------------------------------------------------------------------------------------


def test_a_run_records_what_computed_it(lightlag: Lightlag, pair_file: Path) -> None:
    assert lightlag("run", pair_file, "--seed", "7", "-o", "out dir").returncode == 0
    origin = about(pair_file.parent / "out dir")["origin"]
    assert origin.keys() == _origin.KEYS.keys()
    assert origin["version"] == ll.__version__
    assert origin["engine"] == _engine.__build__
    assert origin["python"] == ".".join(map(str, sys.version_info[:3]))
    assert origin["platform"]
    assert origin["command"] == f"lightlag run {pair_file} --seed 7 -o 'out dir'"
    assert ll.load(pair_file.parent / "out dir").origin == origin


def test_the_commit_matches_the_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"([0-9a-f]{40}(\+modified)?)?", _engine.__commit__)
    for known, commit, modified in (
        ("", None, None),
        ("0123456789abcdef", "0123456789abcdef", False),
        ("0123456789abcdef+modified", "0123456789abcdef", True),
    ):
        monkeypatch.setattr(_engine, "__commit__", known)
        assert (_origin.origin()["commit"], _origin.origin()["modified"]) == (commit, modified)


def test_a_program_is_named_and_a_prompt_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["/opt/bin/python3", "my experiment.py", "--fast"])
    assert _origin.origin()["command"] == "python3 'my experiment.py' --fast"
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert _origin.origin()["command"] is None


def test_no_hash_and_no_key_covers_the_origin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def hashes(place: str) -> tuple[object, ...]:
        run = ll.run(pair(), duration="2 s")
        runs = ll.compare(pair(), ["cubic"], replications=1, duration="2 s", journal=tmp_path / place)
        return run.result_hash, [key for key, _ in runs.keyed()], runs.runs["result_hash"].to_list()

    before = hashes("one")
    monkeypatch.setattr(_origin, "origin", lambda *_, **__: {"python": "9.9", "platform": "elsewhere"})
    assert hashes("two") == before


def test_a_comparison_and_its_report_say_it(tmp_path: Path) -> None:
    found = ll.compare(pair(), ["cubic"], replications=1, duration="2 s")
    folder = found.save(tmp_path / "out", formats=())
    origin = about(folder)["origin"]
    assert origin.keys() == _origin.KEYS.keys()
    assert origin["packages"].keys() == {"polars"}
    page = comparison_report.report(found)
    for text in (_engine.__build__, origin["python"], origin["platform"], "lightlag compare ."):
        assert text in page, text
    assert ll.load_comparison(folder).origin == origin


def test_results_of_an_older_version_have_none(result: ll.Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "out")
    older = {key: value for key, value in about(folder).items() if key not in ("origin", "repeat")}
    (folder / "run.json").write_text(json.dumps(older), "utf-8")
    assert ll.load(folder).origin == {}
    assert ll.load(folder).summary == result.summary
    (folder / "run.json").write_text(json.dumps(older | {"origin": "here"}), "utf-8")
    with pytest.raises(ll.InputError, match="origin: 'here' is not a value"):
        ll.load(folder)


# --- once more --------------------------------------------------------------------------------------------------------


def test_a_run_is_repeated_from_its_directory(lightlag: Lightlag, pair_file: Path) -> None:
    first = lightlag("run", pair_file, "--seed", "9", "-s", "links.0.loss=1e-2", "-c", "hybla", "-o", "out/one")
    assert "repeat it with: lightlag run out/one\n" in first.stdout
    folder = pair_file.parent / "out" / "one"
    # The scenario in the directory counts, not the file, which may have changed.
    pair_file.unlink()
    done = repeated(folder, lightlag)
    assert done.returncode == 0, done.stderr
    assert f"the same result as .: hash {about(folder)['result_hash']}" in done.stdout
    assert about(folder.with_name("one-again"))["result_hash"] == about(folder)["result_hash"]
    assert lightlag("run", "out/one", "--seed", "10", "-o", "other", "-q").returncode == 0
    assert about(pair_file.parent / "other")["result_hash"] != about(folder)["result_hash"]


def test_a_run_of_a_program_is_repeated_by_the_command(lightlag: Lightlag, tmp_path: Path) -> None:
    trace = tmp_path / "rates.csv"
    trace.write_text("time_s,rate_bps\n0,5e6\n1,2e6\n")
    net = ll.Network("traced")
    net.link("a", "b", rate="5 Mbit/s", delay="20 ms", trace=str(trace), loss=1e-3)
    net.flow("a", "b", congestion={"algorithm": "cubic", "beta": 0.8})
    folder = ll.run(net, duration="5 s", seed=4).save(tmp_path / "out")
    assert "the same result" in repeated(folder, lightlag).stdout
    assert ll.run(folder).result_hash == ll.load(folder).result_hash


def test_another_result_is_an_error_that_names_both_engines(lightlag: Lightlag, tmp_path: Path) -> None:
    folder = ll.run(pair(), duration="2 s").save(tmp_path / "out")
    found = about(folder)
    found["origin"]["engine"] = "0.0.9+0123456789abcdef"
    (folder / "run.json").write_text(json.dumps(found | {"result_hash": "0" * 32}), "utf-8")
    done = repeated(folder, lightlag)
    assert done.returncode == 1
    assert "error: another result than .: the hash is " in done.stderr
    assert f"0.0.9+0123456789abcdef made it, this is {_engine.__build__}" in done.stderr


def test_a_comparison_is_repeated_from_its_directory(lightlag: Lightlag, pair_file: Path) -> None:
    other = pair_file.with_name("other.toml")
    other.write_text(pair_file.read_text().replace('"pair"', '"other"').replace("20 ms", "40 ms"))
    arguments = ("-c", "cubic,{ algorithm = 'cubic', beta = 0.8 }/hybla", "-n", "2", "--vary", "links.0.loss=0,1e-2")
    done = lightlag("compare", pair_file, other, *arguments, "-s", "duration=3 s", "--figures", "none", "-o", "out")
    assert "repeat it with: lightlag compare ./out\n" in done.stdout, done.stderr
    for file in (pair_file, other):
        file.unlink()
    done = repeated(pair_file.parent / "out", lightlag)
    assert "the same results as .: 16 runs with the same hash" in done.stdout, done.stderr
    one, two = (ll.load_comparison(pair_file.parent / name) for name in ("out", "out-again"))
    assert one.runs.equals(two.runs)
    done = lightlag("compare", "out", "-c", "cubic", "-o", "new")
    assert done.returncode == 2
    assert (
        "out: is a comparison, which is repeated without changes; remove the other scenarios and options" in done.stderr
    )


def test_a_class_of_a_program_cannot_be_repeated_by_a_command(tmp_path: Path) -> None:
    net = pair()
    assert about(ll.run(net, duration="1 s", congestion=Additive).save(tmp_path / "run"))["repeat"] is None
    found = ll.compare(net, ["cubic", Additive], replications=1, duration="1 s")
    assert found.repeat is None
    assert ll.compare(net, ["cubic"], replications=1, duration="1 s").repeat == "lightlag compare ."


def test_a_class_in_a_file_is_found_from_every_directory(lightlag: Lightlag, pair_file: Path) -> None:
    done = lightlag("new", "congestion", "mine")
    assert done.returncode == 0, done.stderr
    (file,) = pair_file.parent.glob("**/mine.py")
    place = f"{file.relative_to(pair_file.parent)}:Mine"
    done = lightlag(
        "compare", pair_file, "-c", place, "-n", "1", "--figures", "none", "-s", "duration=1 s", "-o", "out"
    )
    assert done.returncode == 0, done.stderr
    assert "1 runs with the same hash" in repeated(pair_file.parent / "out", lightlag).stdout


def test_a_study_is_repeated_from_its_directory(lightlag: Lightlag, tmp_path: Path) -> None:
    folder = tmp_path / "first"
    small().run(folder, store=tmp_path / "store", progress=False)
    assert about(folder)["repeat"].startswith("lightlag study run study.toml ")
    done = repeated(folder, lightlag)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "again") == contents(folder)


def test_scenarios_of_a_study_are_found_from_its_results(pair_file: Path, tmp_path: Path, lightlag: Lightlag) -> None:
    study = ll.Study(pair_file.name, congestion=["cubic"], replications=1, set={"duration": "1 s"}, directory=tmp_path)
    folder = tmp_path / "results" / "first"
    study.run(folder, store=tmp_path / "store", progress=False)
    done = repeated(folder, lightlag)
    assert done.returncode == 0, done.stderr
    one, two = contents(folder), contents(tmp_path / "results" / "again")
    # The tables are the same; the scenario is named by its path from either study.
    assert [name for name in one if one[name] != two[name]] == ["run.json"]


def test_a_preset_is_not_taken_for_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ll.run(pair(), duration="1 s").save("geo")
    assert json.loads(read_scenario("geo").json())["name"] == "geo"
    assert json.loads(read_scenario("./geo").json())["name"] == "pair"
    assert _origin.again("run", Path("geo")) == "lightlag run ./geo"


def test_a_directory_next_to_a_study_does_not_hide_a_preset(pair_file: Path, tmp_path: Path) -> None:
    for name in ("geo", "kept"):
        ll.run(pair_file, duration="1 s").save(tmp_path / name)
    study = ll.Study(["geo", "kept"], congestion=["cubic"], replications=1, set={"duration": "1 s"}, directory=tmp_path)
    assert list(study.plan().design.scenarios) == ["geo", "pair"]
