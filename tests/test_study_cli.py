"""``lightlag study``: its output, its files, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import lightlag as ll
from conftest import PAIR
from lightlag.cli.app import app

STUDY = """\
scenarios = ["pair.toml"]
congestion = ["cubic", "newreno"]
replications = 3

[vary]
"links.0.loss" = [0.001, 0.01]

[set]
duration = "3 s"
"""


class Command:
    """The command line in this process, in a directory with pair.toml and loss.toml."""

    def __init__(self) -> None:
        self._runner = CliRunner()

    def __call__(self, *arguments: str, code: int = 0) -> Result:
        done = self._runner.invoke(app, ["study", *arguments])
        assert done.exit_code == code, done.output
        return done


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    Path("pair.toml").write_text(PAIR)
    Path("loss.toml").write_text(STUDY)
    return Command()


def test_run_prints_a_table_and_writes_tables_and_store(study: Command) -> None:
    done = study("run", "loss.toml")
    assert "loss: mean ± 95 % interval" in done.stdout
    assert "tables in results/loss, runs in results/store" in done.stdout
    assert "loss: 4 cells, 3 seeds" in done.stderr
    assert ll.open_study("results/loss").runs.collect().height == 12


def test_json_is_an_object_a_line(study: Command) -> None:
    done = study("run", "loss.toml", "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [lines[0]["event"], lines[-2]["event"], lines[-1]["event"]] == ["start", "end", "tables"]
    assert (lines[0]["name"], lines[0]["total"]) == ("loss", 12)
    assert lines[-1] == {
        "event": "tables",
        "folder": "results/loss",
        "finished": 12,
        "total": 12,
        "failed": 0,
        "complete": True,
        "interrupted": False,
    }


def test_quiet_prints_nothing(study: Command) -> None:
    done = study("run", "loss.toml", "--quiet")
    assert (done.stdout, done.stderr) == ("", "")


def test_status_counts_what_the_store_holds(study: Command) -> None:
    study("status", "loss.toml", code=2)
    study("run", "loss.toml", "--shard", "1/2", "--quiet")
    done = json.loads(study("status", "loss.toml", "--json").stdout)
    assert (done["study"], done["finished"], done["total"], done["failures"]) == ("loss", 6, 12, {})
    assert sum(cell["finished"] for cell in done["cells"]) == 6
    shown = study("status", "loss.toml").stdout
    assert "loss: 6 of 12 runs" in shown
    assert "newreno" in shown


def test_resume_continues_and_starts_nothing(study: Command) -> None:
    assert "holds no store" in study("resume", "loss.toml", code=2).stderr
    study("run", "loss.toml", "--shard", "2/2", "--quiet")
    study("resume", "loss.toml", "--quiet")
    assert ll.open_study("results/loss").runs.collect().height == 12
    Path("other.toml").write_text(STUDY.replace("0.01]", "0.02]").replace("0.001", "0.002"))
    assert "holds no run of other.toml" in study("resume", "other.toml", code=2).stderr


def test_shards_in_stores_of_their_own_make_one_study(study: Command) -> None:
    for number in (1, 2, 3):
        study("run", "loss.toml", "--shard", f"{number}/3", "--store", f"part-{number}", "--quiet")
    done = study("merge", "part-1", "part-2", "part-3", "--into", "all", "--json")
    assert json.loads(done.stdout)["runs"] == 12
    study("export", "loss.toml", "--store", "all", "-o", "merged")
    study("run", "loss.toml", "--quiet")
    whole, merged = (pl.read_parquet(f"{folder}/runs/*.parquet") for folder in ("results/loss", "merged"))
    assert whole.equals(merged)


def test_add_keeps_what_has_finished(study: Command) -> None:
    study("run", "loss.toml", "--quiet")
    done = study("add", "loss.toml", "-n", "4", "-c", "hybla", "--vary", "links.0.loss=0.02")
    assert "9 cells, 36 runs" in done.stdout
    found = [json.loads(line) for line in study("run", "loss.toml", "--json").stdout.splitlines()]
    assert (found[-2]["found"], found[-2]["finished"]) == (12, 36)


def test_export_draws_the_report_without_a_run(study: Command) -> None:
    study("run", "loss.toml", "--quiet")
    done = study("export", "loss.toml", "--report", "--figures", "png")
    assert "12 runs: tables and report in results/loss" in done.stdout
    report = Path("results/loss/report")
    assert {"report.html", "goodput-vs-loss.png"} <= {path.name for path in report.iterdir()}


def test_plot_draws_a_study_from_its_store(study: Command) -> None:
    study("run", "loss.toml", "--quiet")
    done = CliRunner().invoke(app, ["plot", "results/loss", "-o", "goodput.png"])
    assert done.exit_code == 0, done.stderr
    assert Path("goodput.png").read_bytes().startswith(b"\x89PNG")


def test_repeat_makes_one_run_with_every_record(study: Command) -> None:
    study("run", "loss.toml", "--quiet")
    run = ll.Study.read("loss.toml").plan().runs()
    one = next(iter(run))
    done = study("rerun", "loss.toml", one.key[:10], "-o", "one")
    assert "results in one" in done.stdout
    kept = ll.open_study("results/loss").runs.collect().row(0, named=True)
    assert ll.load("one").summary["flows"][0]["goodput_bps"] == kept["goodput_bps"]
    assert "0000" in study("rerun", "loss.toml", "0000000000", code=2).stderr


def test_a_failed_run_is_named_with_the_command_that_repeats_it(study: Command) -> None:
    long = STUDY.replace('duration = "3 s"', 'duration = "100 h"\n"flows.0.transfer" = "100 TB"')
    Path("loss.toml").write_text(long + '\n[budget]\nrun = "100 ms"\n')
    done = study("run", "loss.toml", code=1)
    assert "longer than 0.1 s" in done.stderr
    assert "lightlag study rerun loss.toml" in done.stderr
    assert "12 runs failed; 0 of 12 runs have finished" in done.stderr


def test_tables_of_another_study_are_not_replaced(study: Command) -> None:
    study("run", "loss.toml", "--quiet")
    Path("other.toml").write_text(STUDY)
    done = study("run", "other.toml", "-o", "results/loss", code=2)
    assert "results/loss: holds other results; name another directory with --out, or use --force" in done.stderr
    study("run", "other.toml", "-o", "results/loss", "--force", "--quiet")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.toml"], "none.toml: cannot read: No such file or directory; name a study file"),
        (["run", "loss.toml", "--shard", "3/2"], "3/2"),
        (["run", "loss.toml", "--cluster", "nowhere"], '"nowhere": is not a cluster; write tls:// or tcp://HOST:PORT'),
        (["run", "loss.toml", "--cluster", "slurm"], "slurm: the resources of a worker are missing; name a file"),
        (["run", "loss.toml", "--cluster", "tcp://127.0.0.1:1"], "tcp://127.0.0.1:1: no scheduler replies"),
        (["merge", "none", "--into", "all"], "none"),
        (["add", "loss.toml"], "add"),
    ],
)
def test_bad_arguments(study: Command, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lightlag.study.executors.cluster.REACH_S", 0.5)
    done = study(*arguments, code=2)
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_compare_leaves_the_study_of_the_same_runs(study: Command) -> None:
    arguments = ["compare", "pair.toml", "-c", "cubic,{ algorithm = 'cubic', beta = 0.8 }", "-n", "2", "-q"]
    arguments += ["--vary", "PER: links.0.loss=0.001,1e-2", "--set", "duration=3 s", "--seed", "4", "--figures", "none"]
    done = CliRunner().invoke(app, [*arguments, "-o", "short"])
    assert done.exit_code == 0, done.stderr
    study("run", "short/study.toml", "-q", "-o", "long")
    compared, studied = pl.read_parquet("short/runs.parquet"), pl.read_parquet("long/runs/*.parquet")
    assert sorted(compared["result_hash"]) == sorted(studied["result_hash"])
    assert compared.height == 8
