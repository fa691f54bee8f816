"""Bad input: one message with place, value and remedy on stderr, exit code 2, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import PAIR
from lightlag.cli import app

# What is changed by --set, the place that the message names, and a part of the message.
CHANGES = [
    ("duration=10", "duration", "10"),
    ("duration=0 s", "duration", "0 s"),
    ("duration=-3 s", "duration", "-3 s"),
    ("duration=ten seconds", "duration", "ten seconds"),
    ("name=a/b", "name", "a/b"),
    ("seed=-1", "seed", "-1"),
    ("seed=1.5", "seed", "1.5"),
    ("speed=3", "speed", "did you mean"),
    ("links=[]", "links", ""),
    ("flows=[]", "flows", ""),
    ("links.0.rate=0 bit/s", "links[0].rate", "0 bit/s"),
    ("links.0.rate=-1 Mbit/s", "links[0].rate", "-1 Mbit/s"),
    ("links.0.rate=5 MB", "links[0].rate", "5 MB"),
    ("links.0.rate=5", "links[0].rate", "5"),
    ("links.0.raet=5 Mbit/s", "links[0].raet", "did you mean"),
    ("links.0.delay=-20 ms", "links[0].delay", "-20 ms"),
    ("links.0.delay=20", "links[0].delay", "20"),
    ("links.0.delay=20 m", "links[0].delay", "20 m"),
    ("links.0.loss=1.01", "links[0].loss", "1.01"),
    ("links.0.loss=-0.1", "links[0].loss", "-0.1"),
    ("links.0.loss=often", "links[0].loss", "often"),
    ("links.0.loss={ bit_error_rate = 2 }", "links[0].loss", "2"),
    ("links.0.loss.rate=0.1", "links.0.loss", "0.001"),
    ("links.0.queue=0 packets", "links[0].queue", "0 packets"),
    ("links.0.queue=1.5 packets", "links[0].queue", "1.5 packets"),
    ("links.0.queue=-1 bdp", "links[0].queue", "-1 bdp"),
    ("links.0.queue=50", "links[0].queue", "50"),
    ("links.0.header=1 MB", "links[0].header", "1 MB"),
    ('links.0.between=["client", "client"]', "links[0].between", "client"),
    ('links.0.between=["client"]', "links[0].between", ""),
    ('links.0.between=["client", "b"]', "flows[0].to", "server"),
    ("links.7.rate=1 Mbit/s", "links.7.rate", "7"),
    ("flows.0.to=sever", "flows[0].to", "did you mean"),
    ("flows.0.from=", "flows[0].from", ""),
    ("flows.0.to=client", "flows[0]", "client"),
    ("flows.0.transfer=0 B", "flows[0].transfer", "0 B"),
    ("flows.0.transfer=-1 MB", "flows[0].transfer", "-1 MB"),
    ("flows.0.transfer=2 Mbit", "flows[0].transfer", "2 Mbit"),
    ("flows.0.start=soon", "flows[0].start", "soon"),
    ("flows.0.congestion=carrot", "flows[0].tcp.congestion", "carrot"),
    ("flows.0.congestion.beta=0.5", "flows[0].tcp.congestion", ""),
    ("flows.0.tcp.mss=1 B", "flows[0].tcp", ""),
    ("flows.0.tcp.sack=yes", "flows[0].tcp", "yes"),
    ("flows.0.tcp.nagel=true", "flows[0].tcp", "nagel"),
    ("flows.0.tcp.initial_window=0", "flows[0].tcp", "0"),
    ("defaults.tcp.profile=bsd", "defaults.tcp.profile", "bsd"),
    ("defaults.tcp.rto.min=-1 s", "defaults.tcp.rto", "-1 s"),
    ("defaults.tcp.receive_buffer=0 B", "defaults.tcp", "0 B"),
    ("record.interval=0 s", "record.interval", "0 s"),
    ("record.trace=always", "record.trace", "always"),
    ("record.drops=7", "record.drops", "7"),
    ("topology.kind=ring", "topology", "ring"),
]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.toml").write_text(PAIR)
    return CliRunner()


def refused(call: CliRunner, *arguments: str) -> str:
    """What stderr says, without its prefix; nothing else may have happened."""
    done = call.invoke(app, list(arguments))
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert not Path("results").exists()
    return done.stderr


@pytest.mark.parametrize(("change", "place", "part"), CHANGES, ids=[change for change, _, _ in CHANGES])
def test_wrong_values_are_refused_with_their_place(call: CliRunner, change: str, place: str, part: str) -> None:
    message = refused(call, "run", "pair.toml", "--set", change)
    assert message.startswith(f"error: pair.toml: {place}"), message
    assert part in message


FILES = {
    "no such file": (None, "no such file"),
    "not UTF-8": (b'name = "\xff"', "byte 8 is not UTF-8"),
    "not TOML": (b"name = \n", "line 1"),
    "empty": (b"", "duration"),
    "only a name": (b'name = "x"', "duration"),
    "two keys of a name": (b'name = "x"\nname = "y"', "line 2"),
    "a network in two pieces": (
        PAIR.encode() + b'[[links]]\nbetween = ["c", "d"]\nrate = "1 Mbit/s"\ndelay = "1 ms"\n'
        b'[[flows]]\nfrom = "client"\nto = "d"\n',
        "flows[1]",
    ),
    "two flows of a name": (
        PAIR.encode().replace(b'from = "client"', b'name = "f"\nfrom = "client"') * 1
        + b'[[flows]]\nname = "f"\nfrom = "client"\nto = "server"\n',
        "f",
    ),
    "a date": (PAIR.encode().replace(b"seed = 3", b"seed = 2026-01-01"), "seed"),
    "not a number": (PAIR.encode().replace(b"1e-3", b"nan"), "links[0].loss"),
}


@pytest.mark.parametrize("case", FILES)
def test_wrong_files_are_refused_by_name(call: CliRunner, case: str) -> None:
    content, part = FILES[case]
    if content is not None:
        Path("wrong.toml").write_bytes(content)
    message = refused(call, "run", "wrong.toml")
    assert message.startswith("error: wrong.toml: ")
    assert part in message


COMMANDS = {
    "a folder for a file": (["run", "."], "is a folder"),
    "a change without a value": (["run", "pair.toml", "--set", "seed"], '--set "seed": is not KEY=VALUE'),
    "a change without a key": (["run", "pair.toml", "--set", "=3"], "is not KEY=VALUE"),
    "a file where the results go": (["run", "pair.toml", "--out", "pair.toml"], "pair.toml: is not a folder"),
    "an unknown algorithm": (["compare", "pair.toml", "-c", "cubic,carrot"], "carrot"),
    "a key that is not there": (["compare", "pair.toml", "-c", "cubic", "--vary", "links.0.los=0,1"], "with los=0: "),
    "a value at one point": (["compare", "pair.toml", "-c", "cubic", "--vary", "links.0.loss=0,2"], "with loss=2: "),
    "no values": (["compare", "pair.toml", "-c", "cubic", "--vary", "links.0.loss="], "has no value"),
    "no key": (["compare", "pair.toml", "-c", "cubic", "--vary", "links.0.loss"], "is not KEY=V1,V2"),
    "a broken table": (["compare", "pair.toml", "-c", "{ algorithm = 'cubic'"], "is missing at the end"),
    "a format of figures": (["compare", "pair.toml", "-c", "cubic", "--figures", "gif"], "is not one of"),
    "no algorithm": (["compare", "pair.toml", "-c", ","], "at least 1"),
    "an algorithm twice": (["compare", "pair.toml", "-c", "cubic,cubic"], "named twice"),
    "a figure of no results": (["plot", "nowhere"], "nowhere: is not a results folder"),
    "an unknown list": (["list", "flowers"], "congestion, queues, profiles, scenarios, papers"),
    "an unknown name": (["explain", "carrot"], "carrot"),
    "an unknown paper": (["reproduce", "nobody-2020"], "cubic-inet"),
    "an unknown thing to validate": (["validate", "flowers"], "there are tcp and kernel"),
    "a page without a folder": (["validate", "tcp", "--out", "nowhere/page.md"], "there is no folder nowhere"),
    "an unknown file to check": (["check", "nowhere.toml"], "nowhere.toml: no such file"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_wrong_commands_say_what_would_be_right(call: CliRunner, case: str) -> None:
    arguments, part = COMMANDS[case]
    message = refused(call, *arguments)
    assert message.startswith("error: ")
    assert part in message


USAGE = [["fly"], ["run"], ["run", "pair.toml", "--seed", "-4"], ["run", "pair.toml", "--jobs", "0"], ["run", "--what"]]
USAGE += [["compare", "pair.toml", "--replications", "0"], ["list"], ["run", "pair.toml", "--seed", "x"]]


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_wrong_usage_ends_with_2(call: CliRunner, arguments: list[str]) -> None:
    assert refused(call, *arguments).startswith(("Usage: ", "error: "))


def test_all_errors_are_reported_at_once(call: CliRunner) -> None:
    Path("wrong.toml").write_text(
        PAIR.replace("5 Mbit/s", "5").replace("20 ms", "20").replace("1e-3", "3").replace("2 MB", "2")
    )
    lines = refused(call, "check", "wrong.toml").splitlines()
    places = [line.split(": ")[2] for line in lines]
    assert sorted(places) == ["flows[0].transfer", "links[0].delay", "links[0].loss", "links[0].rate"]


def test_an_unknown_metric_is_refused(call: CliRunner) -> None:
    assert call.invoke(app, ["run", "pair.toml", "-q", "--out", "kept"]).exit_code == 0
    done = call.invoke(app, ["plot", "kept", "--metric", "colour"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "cwnd, goodput, sequence, rtt, queue" in done.stderr
    done = call.invoke(app, ["plot", "kept", "-o", "cwnd.docx"])
    assert done.exit_code == 2
    assert "cwnd.docx" in done.stderr
