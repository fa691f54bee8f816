"""The command line: what it prints, where, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import lightlag as ll
from conftest import PAIR, Lightlag
from lightlag import _engine, presets
from lightlag.cli.app import app
from lightlag.scenario import congestion_names, load_scenario
from lightlag.words import explain


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """The command line in this process, in an empty directory with pair.toml."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "pair.toml").write_text(PAIR)
    return CliRunner()


def test_help_names_every_command_and_gives_examples(lightlag: Lightlag) -> None:
    done = lightlag("--help")
    assert done.returncode == 0
    for word in ("run", "compare", "plot", "diff", "reproduce", "list", "explain", "check", "schema", "Examples"):
        assert word in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert done.stdout.count("...") == 1  # COMMAND [ARGS]...


@pytest.mark.parametrize(
    "command", ["run", "compare", "plot", "diff", "reproduce", "list", "explain", "check", "schema"]
)
def test_every_command_explains_itself(call: CliRunner, command: str) -> None:
    done = call.invoke(app, [command, "--help"])
    assert done.exit_code == 0
    assert "Usage: " in done.stdout


def every_command(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields all commands, each with the words that call it."""
    yield path, found
    for name in getattr(found, "commands", {}):
        yield from every_command(found.commands[name], (*path, name))


def test_help_pages_are_as_they_were_written(call: CliRunner) -> None:
    commands = dict(every_command(get_command(app)))
    assert len(commands) > 25
    for path in commands:
        done = call.invoke(app, [*path, "--help"])
        assert done.exit_code == 0, path
        assert "\\b" not in done.stdout, path
        assert "\b" not in done.stdout, path
        assert max(map(len, done.stdout.splitlines())) <= 120, path
    lines = call.invoke(app, ["inspect", "--help"]).stdout.splitlines()
    assert "  lightlag inspect real.pcapng --flow 3              everything about one connection" in lines


def test_a_command_alone_is_imported() -> None:
    program = (
        "import sys; from lightlag._start import main; sys.argv[1:] = {!r}\ntry: main()\nexcept SystemExit: pass\n"
    )
    shown = "print(*(one for one in sys.modules if one.startswith(('lightlag', 'typer', 'rich'))), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program.format(["--version"]) + shown], capture_output=True, text=True)
    assert not {"lightlag.cli.app", "typer", "rich"} & set(done.stderr.split())
    assert "lightlag._start" in done.stderr
    done = subprocess.run(
        [sys.executable, "-c", program.format(["list", "queues"]) + shown], capture_output=True, text=True
    )
    assert not {"lightlag.commands.study", "lightlag.commands.serve", "rich", "polars"} & set(done.stderr.split())


def test_run_takes_a_duration_and_a_file_after_pcap(call: CliRunner) -> None:
    done = call.invoke(app, ["run", "--pcap", "pair.toml", "-d", "1 s", "-o", "out", "-q"])
    assert done.exit_code == 0, done.stderr
    result = ll.load(Path("out"))
    assert result.scenario["duration"] == "1 s"
    assert len(result.captures) == 2
    done = call.invoke(app, ["run", "pair.toml", "--pcap", "client", "-d", "1 s", "-o", "one", "-q"])
    assert done.exit_code == 0, done.stderr
    assert len(ll.load(Path("one")).captures) == 1
    assert call.invoke(app, ["run", "--pcap"]).exit_code == 2
    assert "soon" in call.invoke(app, ["run", "pair.toml", "-d", "soon"]).stderr


def test_parts_are_changed_by_name(call: CliRunner) -> None:
    sets = [
        "-s",
        "links.client->server.loss=0.01",
        "-s",
        "flows.client->server.transfer=",
        "-s",
        "links.client-server.rate=3 Mbit/s",
    ]
    done = call.invoke(app, ["run", "pair.toml", "--json", "-d", "1 s", *sets])
    scenario = json.loads(done.stdout)["scenario"]
    assert scenario["links"][0]["loss"] == {"forward": 0.01, "backward": 0.001}
    assert scenario["links"][0]["rate"] == "3 Mbit/s"
    assert "transfer" not in scenario["flows"][0]
    result = ll.run(
        "pair.toml", duration="1 s", sets={"links.server-client.delay": "7 ms", "flows.client->server.transfer": ""}
    )
    assert result.scenario["links"][0]["delay"] == "7 ms"
    vary = ["--vary", "links.client->server.loss=0,0.1", "-c", "cubic", "-n", "1", "-d", "1 s"]
    vary += ["--figures", "none", "-o", "varied"]
    done = call.invoke(app, ["compare", "pair.toml", *vary])
    assert done.exit_code == 0, done.stderr
    assert ll.load_comparison(Path("varied")).runs["loss"].to_list() == [0.0, 0.1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "geoo"], 'geoo: no such file; did you mean "geo"?'),
        (["run", "geo.toml"], '"geo" without .toml is the preset'),
        (["run", "pairr.toml"], 'did you mean "pair.toml"?'),
        (["run", "pair.toml", "-c", "CUBIK"], '"CUBIK" is not a congestion control; did you mean "cubic"?'),
        (["run", "pair.toml", "-s", "loss=0.1"], "loss: \"loss\" is not a key here: loss belongs to links[0]"),
        (["run", "pair.toml", "-s", "links.client->sever.loss=1"], 'did you mean "client->server"?'),
        (["list", "scenaros"], 'cannot list "scenaros"; did you mean "scenarios"?'),
        (["reproduce", "hypatai"], 'no paper "hypatai"; did you mean "hypatia"?'),
    ],
)  # fmt: skip
def test_misspellings_have_the_nearest_name_and_the_place(call: CliRunner, arguments: list[str], message: str) -> None:
    done = call.invoke(app, arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_new_scenario_writes_a_commented_file_that_runs(call: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("geo", "lan", "moon"):
        done = call.invoke(app, ["new", "scenario", f"my-{path}", "--path", path])
        assert done.exit_code == 0, done.stderr
        text = Path(f"my-{path}.toml").read_text()
        assert text.startswith("#:schema ./lightlag.schema.json\n")
        assert text.count("# ") > 8
        done = call.invoke(app, ["run", f"my-{path}.toml", "-d", "20 s", "-q", "-o", path])
        assert done.exit_code == 0, done.stderr
    with monkeypatch.context() as patched:
        patched.setattr("lightlag.commands.questions.is_asked", lambda: True)
        done = call.invoke(app, ["new", "scenario", "asked"], input="leo\n50 Mbit/s\n60 ms\nCUBIC\n")
    assert done.stdout.count("?") == 4
    text = Path("asked.toml").read_text()
    for line in ('rate = "50 Mbit/s"', 'delay = "29.8 ms"', 'congestion = "cubic"'):
        assert line in text
    # What its first lines advise.
    advised = next(line for line in text.splitlines() if "lightlag compare" in line).split("lightlag ")[-1].split()
    done = call.invoke(app, [*advised, "-n", "1", "-d", "1 s", "--figures", "none", "-q"])
    assert (done.exit_code, done.stderr) == (0, "")
    for option, value in (("--rate", "50"), ("--rtt", "5"), ("--path", "goe"), ("-c", "cubik")):
        done = call.invoke(app, ["new", "scenario", "wrong", option, value])
        assert done.exit_code == 2
        assert value in done.stderr
    assert call.invoke(app, ["new", "scenario", "a/b"]).exit_code == 2
    assert "exists already" in call.invoke(app, ["new", "scenario", "asked"]).stderr


def test_without_a_command_there_is_help(call: CliRunner) -> None:
    assert "Usage: " in call.invoke(app, []).output


def test_the_version(call: CliRunner) -> None:
    assert call.invoke(app, ["--version"]).stdout == f"lightlag {_engine.__version__}\n"


def test_run_prints_tables_and_writes_results(call: CliRunner, tmp_path: Path) -> None:
    done = call.invoke(app, ["run", "pair.toml"])
    assert done.exit_code == 0, done.stderr
    for text in ("client->server", "goodput", "Mbit/s", "limited by", "utilisation", "results in results/pair"):
        assert text in done.stdout
    assert ll.load(tmp_path / "results" / "pair").result_hash in done.stdout


def test_json_is_all_there_is_on_stdout(lightlag: Lightlag, pair_file: Path, tmp_path: Path) -> None:
    done = lightlag("run", pair_file, "--json")
    assert json.loads(done.stdout)["scenario"]["name"] == "pair"
    assert not (tmp_path / "results").exists()
    again = lightlag("run", pair_file, "--json", "--out", "kept")
    assert json.loads(again.stdout)["result_hash"] == json.loads(done.stdout)["result_hash"]
    assert ll.load(tmp_path / "kept").result_hash == json.loads(done.stdout)["result_hash"]


def test_run_takes_changes_and_a_seed(call: CliRunner) -> None:
    arguments = ["run", "pair.toml", "--json", "--seed", "8", "--set", "flows.0.congestion=hybla", "-s", "duration=2 s"]
    summary = json.loads(call.invoke(app, arguments).stdout)
    assert summary["seed"] == 8
    assert summary["flows"][0]["congestion"] == "hybla"
    assert summary["scenario"]["duration"] == "2 s"


def test_a_named_directory_that_exists_is_rejected_before_the_run(call: CliRunner, tmp_path: Path) -> None:
    assert call.invoke(app, ["run", "pair.toml", "-q", "-o", "mine"]).exit_code == 0
    again = call.invoke(app, ["run", "pair.toml", "-q", "-o", "mine"])
    assert again.exit_code == 2
    assert again.stderr.startswith("error: mine: exists already; replace it with --force")
    assert call.invoke(app, ["run", "pair.toml", "-q", "-o", "mine", "--force", "--seed", "5"]).exit_code == 0
    assert ll.load(tmp_path / "mine").seed == 5


def test_a_file_that_runs_again_takes_the_next_free_name(call: CliRunner, tmp_path: Path) -> None:
    for seed in ("1", "2", "3"):
        assert call.invoke(app, ["run", "pair.toml", "-q", "--seed", seed]).exit_code == 0
    found = {folder.name: ll.load(folder).seed for folder in (tmp_path / "results").iterdir()}
    assert found == {"pair": 1, "pair-2": 2, "pair-3": 3}
    assert call.invoke(app, ["run", "pair.toml", "-q", "--force", "--seed", "4"]).exit_code == 0
    assert ll.load(tmp_path / "results" / "pair").seed == 4


def test_a_comparison_that_runs_again_takes_the_next_free_name(call: CliRunner, tmp_path: Path) -> None:
    for _ in range(2):
        done = call.invoke(
            app, ["compare", "pair.toml", "-c", "cubic", "-n", "1", "-d", "3 s", "-q", "--figures", "none"]
        )
        assert done.exit_code == 0, done.stderr
    assert sorted(folder.name for folder in (tmp_path / "results").iterdir()) == ["pair-compare", "pair-compare-2"]


def test_quiet_is_quiet(call: CliRunner) -> None:
    done = call.invoke(app, ["run", "pair.toml", "--quiet"])
    assert (done.stdout, done.stderr) == ("", "")


def test_warnings_go_to_stderr(call: CliRunner) -> None:
    done = call.invoke(app, ["run", "pair.toml", "--json", "--set", "defaults.tcp.receive_buffer=5 kB"])
    assert done.stderr.startswith("warning: ")
    json.loads(done.stdout)


def test_compare_prints_means_and_writes_figures(call: CliRunner, tmp_path: Path) -> None:
    arguments = ["compare", "pair.toml", "--congestion", "cubic,newreno", "-n", "2", "--jobs", "2", "--figures", "pdf"]
    done = call.invoke(app, arguments)
    assert done.exit_code == 0, done.stderr
    for text in ("cubic", "newreno", "goodput", "completion time", "retransmitted", "queueing p95", "±"):
        assert text in done.stdout
    folder = tmp_path / "results" / "pair-compare"
    assert (folder / "bars.pdf").read_bytes().startswith(b"%PDF")
    assert len((folder / "summary.csv").read_text().splitlines()) == 1 + 2 * 6
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert call.invoke(app, ["compare", "pair.toml", "-n", "1", "-o", str(folder)]).exit_code == 2


def test_compare_writes_a_report_with_charts_of_its_own(call: CliRunner, tmp_path: Path) -> None:
    done = call.invoke(app, ["compare", "pair.toml", "-c", "cubic,newreno", "-n", "2", "-o", "compared"])
    assert done.exit_code == 0, done.stderr
    assert "report and tables in compared" in done.stdout
    names = {path.name for path in (tmp_path / "compared").iterdir()}
    assert "report.html" in names
    assert not any(name.endswith((".pdf", ".svg", ".png")) for name in names)
    report = (tmp_path / "compared" / "report.html").read_text()
    assert all(f'<a href="{name}">' in report for name in names - {"report.html"})


def test_report_writes_the_page_of_a_run_and_of_a_comparison(call: CliRunner, tmp_path: Path) -> None:
    assert call.invoke(app, ["run", "pair.toml", "-q", "-o", "one", "--report"]).exit_code == 0
    written = (tmp_path / "one" / "report.html").read_text()
    done = call.invoke(app, ["report", "one"])
    assert done.stdout == "one/report.html\n", done.stderr
    assert (tmp_path / "one" / "report.html").read_text() == written
    assert '<a href="trace.parquet">' in written
    assert call.invoke(app, ["compare", "pair.toml", "-c", "cubic", "-n", "2", "-q", "-o", "two"]).exit_code == 0
    assert call.invoke(app, ["report", "two", "-o", "apart.html"]).exit_code == 0
    apart = (tmp_path / "apart.html").read_text()
    assert "runs.csv" not in apart, "a link that would lead nowhere"
    assert "cubic reaches a goodput of" in apart
    failed = call.invoke(app, ["run", "pair.toml", "--json", "--report"])
    assert failed.exit_code == 2
    assert "--report: cannot be combined with --json alone; name a directory with --out" in failed.stderr
    failed = call.invoke(app, ["report", "nothing"])
    assert failed.exit_code == 2
    assert "nothing: is not a results directory" in failed.stderr


def test_compare_varies_keys_and_scenarios(call: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text((tmp_path / "pair.toml").read_text().replace('"pair"', '"other"'))
    arguments = ["compare", "pair.toml", "other.toml", "-c", "cubic, cubic/hybla", "-n", "2", "--seed", "5"]
    arguments += ["--vary", "PER: links.0.loss=0,1e-3", "--set", "duration=10 s", "--figures", "png"]
    done = call.invoke(app, arguments)
    assert done.exit_code == 0, done.stderr
    assert "warning: cubic/hybla: a run has 1 flow, so that not all" in done.stderr
    for text in ("PER", "scenario", "other", "cubic/hybla", "1e-3", "pair, other: mean"):
        assert text in done.stdout
    folder = tmp_path / "results" / "pair-other-compare"
    assert ll.load_comparison(folder).design.seed == 5
    assert (folder / "goodput-vs-PER.png").read_bytes().startswith(b"\x89PNG")
    report = (folder / "report.html").read_text()
    assert "links.0.loss = 0, 1e-3" in report
    done = call.invoke(app, ["plot", str(folder), "-m", "goodput-vs-PER", "-o", "again.pdf"])
    assert (tmp_path / "again.pdf").read_bytes().startswith(b"%PDF"), done.stderr
    assert call.invoke(app, ["plot", str(folder), "-m", "pie"]).exit_code == 2


def test_compare_writes_tables_alone(call: CliRunner, tmp_path: Path) -> None:
    done = call.invoke(app, ["compare", "pair.toml", "-c", "cubic", "-n", "1", "--figures", "none", "-o", "tables"])
    assert done.exit_code == 0, done.stderr
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    assert names == {
        *("run.json", "curves.jsonl", "runs.csv", "runs.parquet"),
        *("summary.csv", "summary.parquet", "flows.parquet", "study.toml"),
    }


@pytest.mark.parametrize("metric", ["swarm", "airtime", "routes"])
def test_plot_draws_swarms(call: CliRunner, tmp_path: Path, metric: str) -> None:
    folder = tmp_path / "chain"
    assert call.invoke(app, ["run", "adhoc-chain", "--set", "duration=2 s", "-o", str(folder), "-q"]).exit_code == 0
    done = call.invoke(app, ["plot", str(folder), "-m", metric, "-o", str(tmp_path / "figure.png")])
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_figures_of_swarms_take_radios(call: CliRunner, tmp_path: Path) -> None:
    folder = tmp_path / "geo"
    assert call.invoke(app, ["run", "geo", "--set", "duration=2 s", "-o", str(folder), "-q"]).exit_code == 0
    done = call.invoke(app, ["plot", str(folder), "-m", "airtime"])
    assert done.exit_code == 2
    assert "radio" in done.stderr


def test_plot_draws_what_was_written(call: CliRunner, tmp_path: Path) -> None:
    call.invoke(app, ["run", "pair.toml", "-q"])
    done = call.invoke(app, ["plot", "results/pair", "--metric", "goodput", "-o", "goodput.svg"])
    assert done.stdout == "goodput.svg\n"
    assert (tmp_path / "goodput.svg").read_text().startswith("<?xml")
    assert call.invoke(app, ["plot", "results/pair"]).stdout == "results/pair/cwnd.pdf\n"


QUEUES = list(explain.queues())


def test_list_prints_a_name_a_line(call: CliRunner) -> None:
    lines = call.invoke(app, ["list", "congestion"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == congestion_names()
    assert all(len(line.split()) > 3 for line in lines)
    profiles = call.invoke(app, ["list", "profiles"]).stdout.splitlines()
    assert [line.split()[0] for line in profiles] == ["linux", "rfc", "inet", "ns3", "ns2-linux", "scps"]
    queues = call.invoke(app, ["list", "queues"]).stdout.splitlines()
    assert [line.split()[0] for line in queues] == QUEUES
    assert {"drop_tail", "codel", "ack_filter"} < set(QUEUES)
    scenarios = call.invoke(app, ["list", "scenarios"]).stdout.splitlines()
    assert [line.split()[0] for line in scenarios] == list(presets.PRESETS)
    assert "cubic-inet" in call.invoke(app, ["list", "papers"]).stdout


def test_a_defect_is_one_message_too(call: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    def defect(*_: object) -> str:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(_engine, "schema", defect)
    done = call.invoke(app, ["schema"])
    assert done.exit_code == 1
    assert done.stderr.startswith("error: internal error (please report): ZeroDivisionError('division by zero')")
    assert len(done.stderr.splitlines()) == 1


def terminal_output(arguments: list[str], folder: Path) -> str:
    """The output of a command on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "lightlag", *arguments], cwd=folder, stdout=theirs, stderr=theirs):
        os.close(theirs)
        shown = b""
        # Linux reports the end of a terminal as an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                shown += part
    os.close(ours)
    return shown.decode()


def test_a_terminal_shows_time_speed_and_estimate(tmp_path: Path) -> None:
    shown = terminal_output(["run", "dumbbell", "--set", "duration=600 s", "--set", "record.trace=off"], tmp_path)
    assert "of 600 s" in shown
    assert "× real time" in shown
    assert "0:00:0" in shown
    assert "client1->server1" in shown
    assert "…" not in shown
    shown = terminal_output(["compare", "dumbbell", "-c", "cubic", "-n", "2", "--set", "duration=30 s"], tmp_path)
    assert "/2" in shown


def test_a_closed_pipe_is_not_an_error(lightlag: Lightlag) -> None:
    command = f"{sys.executable} -m lightlag schema | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


@pytest.mark.parametrize(
    "name", [*congestion_names(), *QUEUES, "linux", "rfc", "inet", "ns3", "ns2-linux", "scps", *presets.PRESETS]
)
def test_everything_with_a_name_is_explained(call: CliRunner, name: str) -> None:
    done = call.invoke(app, ["explain", name])
    assert done.exit_code == 0
    assert name in done.stdout
    assert len(done.stdout.splitlines()) > 5


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("minstrel-ht", ("rate control of radios", "sampling", 'rate_control = "minstrel-ht"')),
        ("aodv", ("routing protocol of swarms", "hello_interval", 'routing = "aodv"')),
        ("log-distance", ("model of propagation", "exponent")),
        ("trace", ("model of mobility", "file, required", '{ model = "trace", file = ... }')),
        ("static", ("routing protocol of swarms", "model of mobility")),
    ],
)
def test_models_of_swarms_are_explained(call: CliRunner, name: str, parts: tuple[str, ...]) -> None:
    done = call.invoke(app, ["explain", name])
    assert done.exit_code == 0
    for part in parts:
        assert part in done.stdout


def test_cubic_is_explained_with_equations_and_source(call: CliRunner) -> None:
    text = call.invoke(app, ["explain", "cubic"]).stdout
    for part in ("K", "beta", "variant", "RFC 9438", "Established", "Deviations from the source\n  - rfc9438: "):
        assert part in text


def test_a_reconstruction_is_called_so(call: CliRunner) -> None:
    for name in ("peach", "peach+"):
        text = call.invoke(app, ["explain", name]).stdout
        assert "Reconstructed" in text
        assert "Deviations from the source\n  - " in text


@pytest.mark.parametrize("name", presets.PRESETS)
def test_the_explanation_of_a_preset_is_a_scenario_file(call: CliRunner, tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.toml").write_text(call.invoke(app, ["explain", name]).stdout)
    assert load_scenario(tmp_path / "mine.toml") == load_scenario(name)


def test_presets_run_by_name(call: CliRunner, tmp_path: Path) -> None:
    assert call.invoke(app, ["run", "geo", "-q", "--set", "flows.0.transfer=100 kB"]).exit_code == 0
    assert ll.load(tmp_path / "results" / "geo").summary["flows"][0]["delivered_bytes"] == 100_000


def test_check_reports_what_is_wrong_and_what_surprises(call: CliRunner) -> None:
    done = call.invoke(app, ["check", "pair.toml"])
    assert (done.exit_code, done.stdout) == (0, "pair.toml: is valid\n")
    done = call.invoke(app, ["check", "pair.toml", "--set", "defaults.tcp.receive_buffer=5 kB"])
    assert done.exit_code == 0
    assert done.stdout.startswith("warning: pair.toml: ")
    done = call.invoke(app, ["check", "pair.toml", "-s", "links.0.rate=fast", "-s", "flows.0.to=x", "-s", "seed=-1"])
    assert done.exit_code == 2
    assert {line.split(": ")[2] for line in done.stderr.splitlines()} >= {"links[0].rate", "flows[0].to", "seed"}


TWO_WAYS = """
duration = "30 s"
routing = { kind = "follow links", convergence = "2 s" }
links = [
  { between = ["a", "b"], rate = "1 Mbit/s", delay = "1 ms" },
  { between = ["b", "d"], rate = "1 Mbit/s", delay = "1 ms", changes = [{ at = "10 s", down = true }] },
  { between = ["a", "c"], rate = "1 Mbit/s", delay = "2 ms" },
  { between = ["c", "d"], rate = "1 Mbit/s", delay = "2 ms" },
]
flows = [{ name = "bulk", from = "a", to = "d" }]
"""


def test_check_shows_how_routes_change(call: CliRunner) -> None:
    Path("ways.toml").write_text(TWO_WAYS, encoding="utf-8")
    done = call.invoke(app, ["check", "ways.toml"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-4:] == [
        "from 0 s: bulk over a, b, d",
        "from 10 s: bulk over a loop",
        "from 12 s: bulk over a, c, d",
        "ways.toml: is valid",
    ]


def test_schema_is_json(call: CliRunner) -> None:
    schema = json.loads(call.invoke(app, ["schema"]).stdout)
    assert set(schema["properties"]) == {
        "name", "duration", "seed", "ip", "routing", "defaults", "topology", "links", "media", "nodes", "flows",
        "proxies", "tunnels", "record", "constellation", "stations",
    }  # fmt: skip


@pytest.mark.parametrize(("alias", "name"), [("HSTCP", "highspeed"), ("h-tcp", "htcp"), ("TCP Hybla", "hybla")])
def test_a_name_of_the_literature_is_explained(call: CliRunner, alias: str, name: str) -> None:
    done = call.invoke(app, ["explain", alias])
    assert done.exit_code == 0
    assert done.stdout == call.invoke(app, ["explain", name]).stdout


def test_a_run_accepts_names_of_the_literature(call: CliRunner) -> None:
    hashes = [
        json.loads(call.invoke(app, ["run", "pair.toml", "--json", "--set", f"defaults.tcp.congestion={name}"]).stdout)
        for name in ("stcp", "scalable")
    ]
    assert hashes[0]["result_hash"] == hashes[1]["result_hash"]


def test_unknown_names_suggest_the_nearest(call: CliRunner) -> None:
    done = call.invoke(app, ["run", "pair.toml", "--set", "defaults.tcp.congestion=Qubic"])
    assert done.exit_code == 2
    assert 'did you mean "cubic"?' in done.stderr
    assert 'did you mean "hybla"?' in call.invoke(app, ["explain", "hibla"]).stderr


def test_two_names_of_one_algorithm_are_one(call: CliRunner) -> None:
    done = call.invoke(app, ["compare", "pair.toml", "-c", "hstcp,highspeed", "-n", "1"])
    assert done.exit_code == 2
    assert '"highspeed" is named twice' in done.stderr
