"""Errors that newcomers make, and the message of each: the place, the value and the fix."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
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


TWO = """\
name = "ship"
duration = "20 s"

[[links]]
between = ["client", "router"]
rate = "100 Mbit/s"
delay = "5 ms"

[[links]]
between = ["router", "server"]
rate = "30 Mbit/s"
delay = "290 ms"

[[flows]]
from = "client"
to = "server"
"""
"""A scenario whose bottleneck is its second link."""

MISTAKES = (
    (
        ["run", "two.toml", "-s", "links.1.loss=2"],
        "links[1].loss: 2 is not a probability between 0 and 1, such as 1e-4",
    ),
    (["run", "two.toml", "-s", "links.1.delay=290 msec"], '"290 msec" is not a time such as "300 ms"'),
    (
        ["run", "two.toml", "-s", "links.1.queue=fq"],
        '"fq" is not a queue; write one of drop_tail, red, codel, fq_codel',
    ),
    (["run", "two.toml", "-s", "links.1.queue=fqcodel"], 'did you mean "fq_codel"?'),
    (["run", "two.toml", "-s", "rate=5 Mbit/s"], "the slowest is links[1], so write links.1.rate"),
    (
        ["compare", "two.toml", "-c", "cubic", "bbr3", "-n", "2"],
        "bbr3: is an algorithm, not a scenario; write -c cubic,bbr3",
    ),
    (
        ["compare", "two.toml", "-c", "cubic", "bbr3", "hybla"],
        "bbr3, hybla: are algorithms, not scenarios; write -c cubic,bbr3,hybla",
    ),
    (
        ["compare", "two.toml", "-c", "cubic", "-c", "bbr3", "hybla"],
        "hybla: is an algorithm, not a scenario; write -c cubic,bbr3,hybla",
    ),
    (["compare", "two.toml", "cubic", "bbr3"], "cubic, bbr3: are algorithms, not scenarios; write -c cubic,bbr3"),
    (["compare", "two.toml", "-n", "0"], "0 is out of range: give at least 1."),
    (["compare", "two.toml", "-c", "all", "-n", "1"], '"all" is not a congestion control; write one of tahoe'),
    (["compare", "two.toml", "-c", "cubic", "--vary", "rtt=50,100"], 'rtt=50: "50" is not a time such as "300 ms"'),
    (
        ["compare", "two.toml", "-c", "cubic", "--vary", "rate=5Mbit/s,10Mbit/s"],
        'with rate=5Mbit/s: rate: "rate" is not a key here: rate belongs to links[0] to links[1]; the slowest is '
        "links[1], so write links.1.rate",
    ),
    (["compare", "two.toml", "-c", "cubic", "--vary", "bandwidth=5Mbit/s"], "links[1], so write links.1.rate"),
    (
        ["compare", "two.toml", "-c", "cubic", "--vary", "beta=0.5"],
        "beta is a parameter of algorithms, so write defaults.tcp.congestion.beta",
    ),
    (
        ["compare", "two.toml", "-c", "cubic", "--vary", "flows=1,2"],
        "flows: 1 is not a list; write one [[flows]] for each",
    ),
    (
        ["run", "two.toml", "-n", "3"],
        'No such option: -n; a run has one seed; "lightlag compare FILE -n N" runs several',
    ),
    (["run", "two.toml", "--plot"], 'No such option: --plot; plot the results with "lightlag plot DIR"'),
    (["run", "two.toml", "--algorithm", "bbr"], "No such option: --algorithm (Possible options: --congestion)"),
    (["run", "two.toml", "--cc", "bbr"], "No such option: --cc (Possible options: --congestion)"),
    (["plot"], "no results directory; name one, such as results/geo, or list all figures with --list"),
    (
        ["plot", "none", "-m", "goodput"],
        'none: is not a results directory (no run.json); write one with "lightlag run"',
    ),
    (["plot", "two.toml"], "two.toml: is a file, not a results directory; name a directory that"),
    (["inspect", "two.toml"], "two.toml: not a capture: the file starts with neither a pcapng nor a pcap header"),
    (["inspect", "nofile.pcap"], "nofile.pcap: there is no such file"),
    (["import", "two.toml"], 'two.toml: is a scenario already; run it with "lightlag run"'),
    (["study", "run", "two.toml"], "two.toml: is a scenario, not a study: duration is a key of scenarios; run it with"),
    (["study", "run", "real.pcap"], "real.pcap: is a capture, not a text file; lightlag inspect describes it"),
    (
        ["run", "real.pcap"],
        "real.pcap: is a capture, not a text file; lightlag inspect describes it, why diagnoses it, replay repeats it",
    ),
    (["report", "real.pcap"], "real.pcap: is a capture, not a results directory; lightlag inspect describes it"),
    (["list", "models"], '"lightlag explain NAME" describes models, keys, columns and warnings'),
    (["ls"], "Did you mean 'list'?"),
    (["completion", "bash"], 'install completion with "lightlag --install-completion"'),
    (["run", "ship.py"], "ship.py: no such file; "),
    (["run", "two.toml", "-d", "60"], 'duration: 60 is not a time with its unit, such as "300 ms"'),
    (["run", "two.toml", "-s", "duration=1y"], '"1y" is not a time such as "300 ms"'),
    (["run", "bad.json"], "bad.json: line 1, column 1: not JSON"),
    (["orbit", "geo"], "write [constellation] and [[stations]], or name a preset such as starlink-550"),
    (["orbit", "starlink-550", "--pair", "Paris,Tokyo"], "'Paris' is not a station; there are London"),
    (["orbit", "starlink-550", "--pair", "London"], "--pair: 'London' is not two stations; write A,B"),
    (["validate", "tpc"], 'cannot validate "tpc"; name tcp, kernel'),
    (["emulate", "geo"], "Missing option '--between'. Two TUN devices, or network namespaces"),
    (["serve-tcp", "--address", "10.9.0.2"], "--port: is missing; give it"),
    (["serve-tcp", "--port", "99999"], "99999 is out of range: give 1 to 65535."),
    (["diff", "two.toml"], "Missing argument 'B'. Another one of the same kind."),
    (
        ["run", "two.toml", "-s", 'flows.0.tcp.delayed_ack={ delay = "40 ms", every = 4 }'],
        'flows[0].tcp.delayed_ack.every: "every" is not a key here; write one of segments',
    ),
    (["explain", "nosuchterm"], 'unknown name "nosuchterm"; '),
)
"""Input of newcomers, and a part of the error."""


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[" ".join(arguments) for arguments, _ in MISTAKES])
def test_a_mistake_of_a_newcomer_names_the_fix(arguments: list[str], message: str, here: Path) -> None:
    Path("two.toml").write_text(TWO)
    Path("bad.json").write_text("{")
    Path("real.pcap").write_bytes(bytes.fromhex("d4c3b2a1") + bytes([0xFF] * 40))
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2, done.output
    assert message in done.stderr, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "presets"],
        ["list", "algorithms"],
        ["compare", "two.toml", "-c", "cubic", "-c", "bbrv3", "-n", "1", "-d", "2 s", "-o", "out"],
        ["run", "two.toml", "-s", "links.1.rate=50Mbps", "-d", "1 s", "-o", "out"],
        ["run", "two.toml", "-s", "links.1.queue=1 BDP", "-d", "1 s", "-o", "out"],
        ["run", "two.toml", "-s", "links.1.queue=fq_codel", "-d", "1 s", "-o", "out"],
        [
            "compare",
            "two.toml",
            "-c",
            "cubic",
            "--vary",
            "defaults.tcp.congestion.beta=0.5,0.7",
            "-n",
            "1",
            "-d",
            "1 s",
        ],
    ],
    ids=" ".join,
)
def test_what_newcomers_write_is_understood(arguments: list[str], here: Path) -> None:
    Path("two.toml").write_text(TWO)
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.stderr
    if arguments[:2] == ["compare", "two.toml"] and "bbrv3" in arguments:
        assert ll.load("out").design.competitors[1].label == "bbr3"


def test_a_parameter_of_a_class_varies_with_its_key(here: Path) -> None:
    Path("two.toml").write_text(TWO)
    assert CliRunner().invoke(app, ["new", "congestion", "mine"]).exit_code == 0
    key = "defaults.tcp.congestion.beta=0.5,0.7"
    line = ["compare", "two.toml", "-c", "mine/mine.py:Mine", "--vary", key, "-n", "1", "-d", "1 s", "-o", "out"]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count(" Mine ") == 2


def test_comparing_a_swarm_does_not_warn_that_nothing_is_random(here: Path) -> None:
    done = CliRunner().invoke(
        app, ["compare", "adhoc-chain", "-c", "cubic", "-n", "2", "-d", "2 s", "--figures", "none"]
    )
    assert done.exit_code == 0, done.stderr
    assert "nothing is random" not in done.stderr


def test_a_count_of_segments_without_effect_has_a_warning(here: Path) -> None:
    Path("two.toml").write_text(TWO)
    line = ["run", "two.toml", "-d", "1 s", "-s", "flows.0.tcp.delayed_ack={ segments = 20 }"]
    assert "set adaptive = false for an ACK every 20 segments [idle-key]" in CliRunner().invoke(app, line).stderr


def commands(found: Any, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command, as words."""
    if not hasattr(found, "commands"):
        return [words]
    return [one for name in found.commands for one in commands(found.commands[name], (*words, name))]


def test_help_has_no_notation_of_the_parser() -> None:
    every = commands(typer.main.get_command(app))
    assert len(every) > 25
    for words in every:
        text = " ".join(CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"}).stdout.split())
        for wrong in (r"<(str|int|float|text|path)", r"\bx ?[<>]=", r"[<>]=x", r"\{[A-Z]+"):
            assert not re.search(wrong, text), f"{words}: {re.search(wrong, text)}"
        assert "[required]" not in text.partition("Options:")[0], f"{words}: the usage shows required arguments"


@pytest.mark.parametrize(
    "module", [ll, ll.plot, ll.presets, ll.analyse, ll.libm, ll.errors], ids=lambda one: one.__name__
)
def test_completion_at_a_prompt_has_public_names_only(module: Any) -> None:
    assert {"Any", "np", "annotations", "math", "TYPE_CHECKING"}.isdisjoint(dir(module))
    assert {*module.__all__} <= {*dir(module)}


def test_the_loaders_name_each_other(here: Path) -> None:
    ll.run(pair(), duration="1 s").save("run")
    ll.compare(pair(), ["cubic"], replications=1, duration="1 s").save("compared")
    assert type(ll.load("compared")) is ll.Comparison
    for loader, folder in ((ll.load_comparison, "run"), (ll.open_study, "run"), (ll.open_study, "compared")):
        with pytest.raises(ll.InputError, match=r"lightlag\.load"):
            loader(folder)
    Path("two.toml").write_text(TWO)
    with pytest.raises(ll.InputError, match=r"two\.toml: is a file; name a results directory"):
        ll.load("two.toml")


def test_numbers_are_as_people_write_them(here: Path) -> None:
    for name in ("mars", "moon"):
        ll.run(name, sets={"flows.0.transfer": "50 kB"}, seed=1).save(name)
    text = CliRunner().invoke(app, ["diff", "mars", "moon"]).stdout
    assert not re.search(r"\de[+-]?\d", text), text
    assert re.search(r"RTT +499\.\d s +2\.\d+ s +-49\d\.\d s", text), text
    assert re.search(r"timeouts +0 +\d +", text), text
    assert re.search(r"[+-][\d,.]+ %", text)
    assert not re.search(r"\d%", text)


CLASS = """\
import lightlag as ll


@ll.compiled
class Mine(ll.CongestionControl):
    seen: int = ll.state(0)

    def on_ack(self, ack):
        self.cwnd += ack.growth

    def on_congestion(self, event):
        self.cwnd = 2.0
        {}
"""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("self.seen += event.flihgt", 'the argument has no flihgt; did you mean "flight"?'),
        ('self.seen = "a"', "fields of a compiled class hold numbers"),
    ],
)
def test_a_mistake_in_a_compiled_class_has_file_line_and_reason(line: str, reason: str, here: Path) -> None:
    pytest.importorskip("numba")
    Path("mine.py").write_text(CLASS.format(line))
    Path("two.toml").write_text(TWO)
    done = CliRunner().invoke(app, ["run", "two.toml", "-c", "mine.py:Mine"])
    assert done.exit_code == 2, done.output
    assert re.search(r"mine\.py:1[0-3]: Mine\.on_congestion: numba cannot compile it", done.stderr), done.stderr
    assert reason in done.stderr
