"""``--json``: one object on stdout and nothing else, whatever the command."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lightlag as ll
from conftest import PAIR
from lightlag.cli.app import app
from lightlag.outcomes.design import Design
from lightlag.scenario import congestion_names
from lightlag_papers import PAPERS, validation
from lightlag_papers.validation import response
from lightlag_papers.validation.checks import Check
from lightlag_papers.validation.findings import Findings
from lightlag_papers.validation.kernel.criteria import Cell, Compared
from lightlag_papers.validation.kernel.points import short_points
from lightlag_papers.validation.kernel.runs import Observed


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """The command line in this process, in an empty directory with pair.toml."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.toml").write_text(PAIR)
    return CliRunner()


def test_compare_prints_design_numbers_and_directory(call: CliRunner, tmp_path: Path) -> None:
    arguments = ["compare", "pair.toml", "-c", "cubic,newreno", "-n", "2", "-v", "links.0.delay=20 ms,50 ms"]
    done = call.invoke(app, [*arguments, "--figures", "none", "--json"])
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    kept = ll.load_comparison(tmp_path / found["folder"])
    assert found["folder"] == "results/pair-compare"
    assert Design.from_json(found["design"]) == kept.design
    assert (found["complete"], found["finished"]) == (True, 8)
    rows = kept.summary.to_dicts()
    assert [row["mean"] for row in found["summary"]] == [row["mean"] for row in rows]
    assert found["summary"][0].keys() == rows[0].keys() >= {"delay", "delay_s", "half_width", "runs", "identical"}
    assert "tables in results/pair-compare" in done.stderr


def test_what_does_not_exist_is_null(call: CliRunner) -> None:
    arguments = ["compare", "pair.toml", "-c", "cubic", "-n", "1", "-s", "duration=1 s", "--figures", "none", "--json"]
    done = call.invoke(app, [*arguments, "-q"])
    assert done.stderr == ""
    found = {row["measure"]: row for row in json.loads(done.stdout)["summary"]}
    assert (found["completion_s"]["mean"], found["completion_s"]["runs"]) == (None, 0)
    assert (found["goodput_bps"]["half_width"], found["goodput_bps"]["runs"]) == (None, 1)


def test_an_interrupted_comparison_prints_what_has_finished(call: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    from lightlag.commands import compared

    def stopped(of: Any, jobs: Any, journal: Path, **_: Any) -> ll.Comparison:
        whole = compared_run(of, jobs, journal, shown=False, fresh=False)
        return ll.Comparison(whole.design, whole.outcomes[:1])

    compared_run = compared.run
    monkeypatch.setattr(compared, "run", stopped)
    done = call.invoke(app, ["compare", "pair.toml", "-c", "cubic", "-n", "2", "--figures", "none", "--json", "-q"])
    found = json.loads(done.stdout)
    assert (found["complete"], found["finished"]) == (False, 1)
    assert "1 of 2 runs had finished" in done.stderr


def test_check_prints_warnings_and_routes(call: CliRunner) -> None:
    assert json.loads(call.invoke(app, ["check", "pair.toml", "--json"]).stdout) == {
        "file": "pair.toml",
        "valid": True,
        "warnings": [],
        "routes": [],
        "rain_outages": {},
    }
    done = call.invoke(app, ["check", "pair.toml", "--json", "-s", "defaults.tcp.receive_buffer=5 kB"])
    (warning,) = json.loads(done.stdout)["warnings"]
    assert "receive_buffer" in warning["place"]
    done = call.invoke(app, ["check", "iridium", "--json"])
    routes = json.loads(done.stdout)["routes"]
    assert all({"start_s", "flow", "nodes"} == route.keys() for route in routes)


def test_check_prints_errors_to_both_outputs(call: CliRunner) -> None:
    done = call.invoke(app, ["check", "pair.toml", "--json", "-s", "links.0.rate=fast", "-s", "seed=-1"])
    found = json.loads(done.stdout)
    assert (done.exit_code, found["valid"]) == (2, False)
    assert {error["place"] for error in found["errors"]} == {"links[0].rate", "seed"}
    assert len(done.stderr.splitlines()) == 2
    done = call.invoke(app, ["check", "nowhere.toml", "--json"])
    assert (done.exit_code, json.loads(done.stdout)["errors"][0]["place"]) == (2, "")
    assert call.invoke(app, ["check", "pair.toml", "--json", "-s", "rate"]).stdout == ""


@pytest.mark.parametrize("what", ["congestion", "queues", "profiles", "scenarios", "papers"])
def test_list_prints_the_names_of_its_lines(call: CliRunner, what: str) -> None:
    (key, entries), *others = json.loads(call.invoke(app, ["list", what, "--json"]).stdout).items()
    assert (key, others) == (what, [])
    lines = call.invoke(app, ["list", what]).stdout.splitlines()
    assert [line.split(maxsplit=1) for line in lines] == [[entry["name"], entry["about"]] for entry in entries]
    if what == "congestion":
        assert [entry["name"] for entry in entries] == congestion_names()
    if what == "papers":
        assert [entry["name"] for entry in entries] == list(PAPERS)


def test_a_wrong_name_prints_no_object(call: CliRunner) -> None:
    for arguments in (["list", "flowers"], ["validate", "flowers"], ["reproduce", "flowers"], ["compare", "flowers"]):
        done = call.invoke(app, [*arguments, "--json"])
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")


def findings() -> Findings:
    good = Check("growth", "20 ms", "lightlag run", "1 s", "1 s", "+0.00%", True, "±1%")
    bad = Check("timeouts", "20 ms", "lightlag run", "2 s", "1 s", "+100%", False, "±1%")
    algorithm = response.ALGORITHMS[0]
    window = response.Cell(algorithm, 1e-3, 0.1, 30.0, None, 31.0, 1000, 0.0)
    return Findings(closed_forms=[good, bad], cells=[window])


def test_validate_prints_every_verdict(call: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def validate(out: Path, **options: Any) -> Findings:
        asked.update(options)
        return findings()

    monkeypatch.setattr(validation, "validate", validate)
    done = call.invoke(app, ["validate", "tcp", "--json"])
    found = json.loads(done.stdout)
    assert asked["quiet"]
    assert (done.exit_code, found["holds"], found["failures"]) == (1, False, ["timeouts, 20 ms: +100%"])
    assert [one["holds"] for one in found["closed_forms"]] == [True, False]
    assert (found["windows"][0]["formula"], found["windows"][0]["ours"]) == (None, 30.0)
    assert done.stderr.startswith("error: 1 checks do not hold")


def test_validate_kernel_prints_criteria_and_cells(call: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    from lightlag_papers.validation import kernel

    point = next(point for point in short_points() if point.group == "pattern")
    runs = Observed(144_800, 1.0, 1, 0), Observed(144_800, 1.005, 1, 0)
    found = Compared([Cell(point, runs[:1], runs[1:])])
    monkeypatch.setattr(kernel, "validate", lambda *_, **__: found)
    done = call.invoke(app, ["validate", "kernel", "--json"])
    plain = json.loads(done.stdout)
    assert (done.exit_code, plain["holds"], plain["criteria"][0]["holds"]) == (0, True, True)
    (cell,) = plain["cells"]
    assert (cell["place"], cell["ours"][0]["retransmissions"]) == (point.place, 1)
    assert math.isclose(cell["goodput_ratio"], 1 / 1.005)
