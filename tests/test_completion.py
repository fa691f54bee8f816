"""The completions that shells offer, and how shells request them."""

# Lines of files are clearer unbroken.
# ruff: noqa: E501

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lightlag as ll
from lightlag import presets
from lightlag.cli import shells
from lightlag.cli.completion import complete, split
from lightlag.scenario import congestion_names


def offered(line: str) -> list[str]:
    """The candidates at the end of a line."""
    words, incomplete, _ = split(line)
    return [word for word, _ in complete(words[1:], incomplete)]


def test_commands_and_options() -> None:
    assert offered("lightlag r") == ["run", "report", "reproduce", "replay"]
    assert offered("lightlag study re") == ["resume", "rerun"]
    assert offered("lightlag run geo --th") == ["--threads"]
    assert "--force" not in offered("lightlag run --force geo --f")


def test_presets_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").touch()
    (tmp_path / "mine.txt").touch()
    assert set(offered("lightlag run ")) == {*presets.PRESETS, "mine.toml"}
    assert offered("lightlag compare geo mi") == ["mine.toml"]
    assert offered("lightlag inspect mi") == ["mine.toml", "mine.txt"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lightlag run geo -c cu", ["cubic"]),
        ("lightlag compare geo -c cubic,hy", ["cubic,hybla"]),
        ("lightlag compare geo -c cubic/hy", ["cubic/hybla"]),
        ("lightlag compare geo --congestion=hy", ["--congestion=hybla"]),
        ("lightlag reproduce scps", ["scps-ns3"]),
        ("lightlag plot results/geo -m cw", ["cwnd"]),
        ("lightlag explain small-q", ["small-queue"]),
        ("lightlag plot results/geo -m cwnd,rt", ["cwnd,rtt"]),
        ("lightlag plot results/geo --no", ["--no-titles"]),
        ("lightlag orbit irid", ["iridium"]),
        ("lightlag orbit iridium --style i", ["ieee"]),
        ("lightlag inspect a.pcap --format p", ["pdf", "png", "pgf"]),
        ("lightlag replay a.pcap --font=se", ["--font=serif"]),
        ("lightlag --show-completion z", ["zsh"]),
        ("lightlag run geo -s links.gateway-server.los", ["links.gateway-server.loss.", "links.gateway-server.loss="]),
        ("lightlag run geo -s flows.", ["flows.client->server.", "flows.0."]),
        ("lightlag run geo -s flows.0.transport=", ["flows.0.transport=tcp", "flows.0.transport=quic", "flows.0.transport=udp"]),
        ("lightlag run geo -s 'flows.client->server.congestion=bb", [f"flows.client->server.congestion={one}" for one in ("bbr", "bbr3")]),
        ("lightlag compare geo --vary links.1.queue.discipline=red,co", ["links.1.queue.discipline=red,codel"]),
        ("lightlag compare geo --vary 'PER: links.1.los", ["PER: links.1.loss.", "PER: links.1.loss="]),
    ],
)  # fmt: skip
def test_values_follow_from_the_declarations(line: str, expected: list[str]) -> None:
    assert offered(line) == expected


def test_figures_of_a_comparison_are_offered(tmp_path: Path, net: ll.Network) -> None:
    compared = ll.compare(net, ["cubic"], replications=1, duration="2 s")
    compared.save(tmp_path / "compared", formats=(), report=False)
    assert offered(f"lightlag plot {tmp_path}/compared -m ") == compared.figures
    assert offered(f"lightlag plot {tmp_path}/compared -m goodput,b") == ["goodput,bars"]


def test_every_algorithm_is_offered() -> None:
    assert offered("lightlag run geo -c ") == congestion_names()


def test_a_word_that_cannot_be_completed_is_not_an_error() -> None:
    for line in (
        "lightlag nonsense ",
        "lightlag run nowhere.toml -s links.",
        "lightlag run geo -s a.b.c.",
        "lightlag run geo x ",
    ):
        assert isinstance(offered(line), list)


def with_program(tmp_path: Path) -> dict[str, str]:
    """An environment in which the command is found."""
    program = tmp_path / "lightlag"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -m lightlag\n")
    program.chmod(0o755)
    return os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}


def run_in_bash(tmp_path: Path, line: str) -> list[str]:
    """The words that the function for bash leaves in COMPREPLY."""
    text = f"""{shells.script("bash")}
compopt() {{ :; }}
COMP_LINE={line!r} COMP_POINT={len(line)}
_lightlag_completion
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", text], env=with_program(tmp_path), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_gets_what_follows_its_last_break(tmp_path: Path) -> None:
    assert run_in_bash(tmp_path, "lightlag run ge") == ["geo", "geo-leo", "geo-web", "geo-pep"]
    assert run_in_bash(tmp_path, "lightlag run geo -s flows.0.transport=u") == ["udp"]
    # In quotes the entire value is completed.
    assert run_in_bash(tmp_path, 'lightlag run geo -s "flows.0.transport=u') == ["flows.0.transport=udp"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
def test_fish_shows_the_meaning_of_a_candidate(tmp_path: Path) -> None:
    text = shells.script("fish") + "complete -C 'lightlag reproduce scps'"
    environment = with_program(tmp_path) | {"HOME": str(tmp_path)}
    done = subprocess.run(["fish", "-c", text], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["scps-ns3\tAn Implementation and Analysis of SCPS-TP in ns-3"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_zsh_can_read_its_script(tmp_path: Path) -> None:
    (tmp_path / "script").write_text(shells.script("zsh"))
    assert subprocess.run(["zsh", "-n", tmp_path / "script"], capture_output=True, check=True).stderr == b""


def test_scripts_are_installed_for_each_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for shell in ("bash", "zsh", "fish"):
        path = shells.install(shell)
        assert path.read_text() == shells.script(shell)
        assert "_LIGHTLAG_COMPLETE" in path.read_text()
    shells.install("bash")
    assert (tmp_path / ".bashrc").read_text().count("source") == 1
