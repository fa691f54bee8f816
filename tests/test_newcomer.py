"""Errors that newcomers make, and the message of each: the place, the value and the fix."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lightlag as ll
from conftest import pair
from lightlag.cli.app import app

SCENARIO = """\
name = "mine"
duration = "30 s"

[[links]]
between = ["client", "server"]
rate = "10 Mbit/s"
delay = "300 ms"

[[flows]]
from = "client"
to = "server"
"""

FILES = (
    ('rate = "10 Mbit/s"', 'rate = "10"', 'links[0].rate: "10" is not a rate such as "10 Mbit/s"'),
    ('"300 ms"', "300", 'links[0].delay: 300 is not a time with its unit, such as "300 ms"'),
    ('"300 ms"', '"-300 ms"', 'links[0].delay: "-300 ms" is not a time such as "300 ms"'),
    ("delay", "latency", "links[0].delay: is missing; specify the propagation delay"),
    ("delay", "latency", 'links[0].latency: "latency" is not a key here; did you mean "delay"? (one of between,'),
    ('to = "server"', 'to = "sever"', 'flows[0].to: "sever" is not a node of the network; did you mean "server"?'),
    (
        'to = "server"',
        'to = "client"',
        'flows[0].to: "client" is also the source of the flow; write two different nodes',
    ),
    ('duration = "30 s"', "", "duration: is missing; specify the maximum simulated time"),
    (
        '"300 ms"',
        '"300 ms"\nqueue = 100',
        'links[0].queue: 100 is not a queue; write "1000 packets", "64 kB" or "1 bdp"',
    ),
    ('"300 ms"', '"300 ms"\nloss = "1%"', 'links[0].loss: "1%" is not a probability between 0 and 1, such as 1e-4'),
    ('to = "server"', 'to = "server"\ncongestion = "cubci"', 'is not a congestion control; did you mean "cubic"?'),
    ('"10 Mbit/s"', '10 Mbit/s"', "line 6, column 8: not TOML: missing opening quote"),
    ('["client", "server"]', '"client-server"', 'between: "client-server" is not a list of two nodes'),
    ("[[links]]", "[links]", "links: a table is not a list; write one [[links]] for each"),
)

COMMANDS = (
    (["run", "gio"], "gio: no such file"),
    (["run", "."], ".: is a directory; name a scenario file in it, or the results directory of a run"),
    (["compare", "mine.toml", "cubic,hybla"], "cubic,hybla: is an algorithm, not a scenario; write -c cubic,hybla"),
    (["compare", "mine.toml", "-c", "cubic", "hybla"], "hybla: is an algorithm, not a scenario; write -c cubic,hybla"),
    (
        ["run", "mine.toml", "--set", "links.0.loss", "1e-3"],
        '--set "links.0.loss": is not KEY=VALUE, one argument with "="; write --set links.0.loss=1e-3',
    ),
    (["run", "-s", "duration", "mine.toml"], 'is not KEY=VALUE, one argument with "="; write -s duration=VALUE'),
    (["compare", "mine.toml", "--set", "duration", "20 s"], "write --set 'duration=20 s'"),
    (
        ["compare", "mine.toml", "--vary", "links.0.loss", "0,1e-3"],
        '--vary "links.0.loss": is not KEY=V1,V2,..., one argument with "="; write --vary links.0.loss=0,1e-3',
    ),
    (["run", "mine.toml", "--set", "duration", "-q"], '--set "duration": is not KEY=VALUE; write for example'),
    (
        ["run", "mine.toml", "-c", "cubic,hybla"],
        '"cubic,hybla": names several, and a run takes one; "lightlag compare mine.toml -c cubic,hybla" runs each',
    ),
    (["plot", "mine", "-m", "cwnd", "rtt"], "rtt: is a figure, not a directory; write -m cwnd,rtt"),
    (["run"], "Missing argument 'FILE'. A scenario in TOML or JSON, or the name of a preset."),
    (["run", "mine.toml", "--seed", "one"], "'one' is not a whole number"),
    (["plot", "geo"], 'geo: is not a results directory (no run.json); write one with "lightlag run"'),
    (["study", "run", "geo"], 'name a study file, such as one with scenarios = ["geo"]'),
    (["diff", "a", "b"], "a: no such file or directory; name two results directories of run, compare or study"),
    (["run", "mine.toml", "-s", "links.9.loss=0.1"], 'links.9.loss: "9" is not an entry of links'),
)

CALLS: tuple[tuple[Any, str], ...] = (
    (lambda: ll.run(None), "None is not a scenario; give a Network, a Scenario, a mapping, the path"),  # type: ignore[arg-type]
    (lambda: ll.run(ll.Network("x")), "links: there is no link; write [[links]] with between, rate and delay"),
    (lambda: ll.run(pair(), duration=10), 'duration: 10 is not a time with its unit, such as "300 ms"'),  # type: ignore[arg-type]
    (lambda: ll.run(pair(), progress=3), "progress: 3 is not a function; give one, True or False"),  # type: ignore[arg-type]
    (lambda: ll.run(pair(), interval_s="x"), "interval_s: 'x' is not a number of seconds; give 0.1"),  # type: ignore[arg-type]
    (lambda: ll.run(pair(), congestion="cubix"), 'is not a congestion control; did you mean "cubic"?'),
    (lambda: ll.compare(pair(), ["cubic"], replications=0), "replications: 0 is not an integer; give at least 1"),
    (lambda: ll.load_comparison("nothing"), "nothing: is not a results directory (no run.json); write one with"),
    (lambda: ll.run(pair(), duration="1 s").plot("throughput"), 'no figure of "throughput"; there are cwnd'),  # type: ignore[arg-type]
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("right", "wrong", "message"), FILES, ids=[message for *_, message in FILES])
def test_an_error_in_a_file(right: str, wrong: str, message: str, here: Path) -> None:
    assert right in SCENARIO
    Path("mine.toml").write_text(SCENARIO.replace(right, wrong, 1))
    done = CliRunner().invoke(app, ["run", "mine.toml"])
    assert done.exit_code == 2
    assert message in done.stderr, done.stderr
    assert all(line.startswith("error: mine.toml: ") for line in done.stderr.splitlines())
    assert [path.name for path in here.iterdir()] == ["mine.toml"]


def test_an_error_is_reported_once(here: Path) -> None:
    Path("mine.toml").write_text(SCENARIO.replace("[[links]]", "[links]"))
    done = CliRunner().invoke(app, ["run", "mine.toml"])
    assert done.stderr == "error: mine.toml: links: a table is not a list; write one [[links]] for each\n"


@pytest.mark.parametrize(("arguments", "message"), COMMANDS, ids=[" ".join(arguments) for arguments, _ in COMMANDS])
def test_an_error_at_the_command_line(arguments: list[str], message: str, here: Path) -> None:
    Path("mine.toml").write_text(SCENARIO)
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2, done.output
    assert message in done.stderr, done.stderr


def test_help_and_version_are_understood_as_commands() -> None:
    def said(*words: str) -> str:
        done = CliRunner().invoke(app, list(words), prog_name="lightlag")
        assert done.exit_code == 0, done.stderr
        return done.stdout

    assert said("help") == said("--help")
    assert said("help", "study", "run") == said("study", "run", "--help")
    assert said("study", "help") == said("study", "--help")
    assert said("version") == said("--version")


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("cwnd", "trace.cwnd_segments, number, in segments"),
        ("goodput", "runs.goodput_bps"),
        ("completion time", "runs.completion_s"),
        ("retransmitted", "runs.retransmitted_share"),
    ],
)
def test_words_of_tables_are_explained(word: str, line: str) -> None:
    assert line in CliRunner().invoke(app, ["explain", word]).stdout.splitlines()


@pytest.mark.parametrize(("call", "message"), CALLS, ids=[message for _, message in CALLS])
def test_an_error_in_python(call: Any, message: str, here: Path) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - its class differs
        call()
    assert message in str(error.value)


def test_a_message_in_python_names_no_command_line_option(here: Path) -> None:
    Path("again.py").write_text(
        'import lightlag as ll\nresult = ll.run("geo", duration="1 s")\nresult.save("out")\nresult.save("out")\n'
    )
    done = subprocess.run([sys.executable, "again.py"], capture_output=True, text=True, check=False, timeout=60)
    last = done.stderr.splitlines()[-1]
    assert last == "FileExistsError: out: exists already; replace it with force=True or choose another path"
