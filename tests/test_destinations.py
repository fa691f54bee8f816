"""Default names of results and files: a command with a taken name chooses the next free one, and prints why."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import lightlag as ll
from conftest import PAIR
from lightlag.cli.app import app

CAPTURE = Path(__file__).parent / "data" / "captures" / "linux-cubic-sender.pcap"
STUDY = (
    'name = "few"\nscenarios = ["pair.toml"]\ncongestion = ["cubic"]\nreplications = 2\nset = { duration = "2 s" }\n'
)
TABLE = "time,rate\n0,10\n1,20\n2,10\n"

COMMANDS = {
    "run": (["run", "pair.toml"], "results/pair", "results/pair-2"),
    "compare": (
        ["compare", "pair.toml", "-c", "cubic", "-n", "1", "-d", "2 s", "--figures", "none"],
        "results/pair-compare",
        "results/pair-compare-2",
    ),
    "replay": (
        ["replay", str(CAPTURE), "-c", "reno"],
        f"results/replay-{CAPTURE.stem}",
        f"results/replay-{CAPTURE.stem}-2",
    ),
    "import": (
        ["import", "table.csv", "-c", "time=time:s", "-c", "rate=rate:Mbit/s", "--delay", "20 ms"],
        "table.toml",
        "table-2.toml",
    ),
    "export": (
        ["export", "pair.toml", "--from", "client", "--to", "server", "--as", "tc"],
        "pair-client-server.sh",
        "pair-client-server-2.sh",
    ),
}
"""Commands that choose a name themselves, with the first and the second name."""


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    Path("pair.toml").write_text(PAIR)
    Path("few.toml").write_text(STUDY)
    Path("table.csv").write_text(TABLE)
    return CliRunner()


def done(call: CliRunner, *arguments: str, code: int = 0) -> Result:
    result = call.invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_second_time_takes_the_next_free_name_and_says_so(call: CliRunner, command: str) -> None:
    arguments, first, second = COMMANDS[command]
    said = done(call, *arguments).output
    assert first in said
    assert "exists already" not in said
    before = contents()
    said = done(call, *arguments).output
    (line,) = (line for line in said.splitlines() if "exists already" in line)
    assert f"({first} exists already; --force replaces it)" in line
    assert second in said
    after = contents()
    assert {name: after[name] for name in before} == before, "the earlier files stay as they were"
    assert any(name.startswith(second) for name in after)


@pytest.mark.parametrize("command", ["run", "compare", "import", "export"])
def test_force_replaces(call: CliRunner, command: str) -> None:
    arguments, _, second = COMMANDS[command]
    done(call, *arguments)
    names = set(contents())
    assert "exists already" not in done(call, *arguments, "--force").output
    assert set(contents()) == names, f"no {second}"


@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_directory_that_the_user_names_is_never_another_one(call: CliRunner, command: str) -> None:
    arguments = COMMANDS[command][0]
    done(call, *arguments, "-o", "mine")
    before = contents()
    again = done(call, *arguments, "-o", "mine", code=2)
    assert again.stderr.splitlines()[-1].startswith("error: mine: exists already; replace it with --force")
    assert contents() == before


def test_a_study_makes_way_for_other_results_and_continues_its_own(call: CliRunner) -> None:
    done(call, "run", "pair.toml", "-q", "-d", "1 s", "-s", "name=few")
    said = done(call, "study", "run", "few.toml").output
    assert "tables in results/few-2 (results/few exists already; --force replaces it)" in said
    done(call, "study", "run", "few.toml", "-q")
    assert sorted(path.name for path in Path("results").iterdir()) == ["few", "few-2", "store"]
    assert ll.load("results/few").seed == 3
    assert "results/few-2" in done(call, "study", "export", "few.toml").output
    ll.open_study("results/few-2")


def test_a_run_of_a_study_that_is_made_again_takes_the_next_free_name(call: CliRunner) -> None:
    done(call, "study", "run", "few.toml", "-q")
    key = next(iter(ll.Study.read("few.toml").plan().runs())).key
    first, second = (done(call, "study", "rerun", "few.toml", key[:12]).output for _ in range(2))
    assert f"results in results/few-{key[:12]}\n" in first
    assert f"results in results/few-{key[:12]}-2 (results/few-{key[:12]} exists already" in second
