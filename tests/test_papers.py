"""The distribution lightlag-papers: its metadata, how commands find it, and their messages without it."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lightlag as ll
from lightlag.cli.app import app
from lightlag.cli.completion import complete
from lightlag.commands import papers

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text("utf-8"))["project"]
MISSING = "error: papers: need lightlag-papers, which is not installed; pip install 'lightlag[papers]'\n"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """The command line of a lightlag without papers."""
    monkeypatch.setattr(papers, "GROUP", "lightlag.nothing")
    return CliRunner()


def test_the_papers_have_the_version_of_the_package_and_need_it() -> None:
    assert PROJECT["version"] == ll.__version__
    assert PROJECT["dependencies"] == [f"lightlag=={ll.__version__}"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert extras["papers"] == [PROJECT["name"]]


def test_the_commands_find_what_the_papers_declare() -> None:
    declared = PROJECT["entry-points"][papers.GROUP]
    assert {entry.name: entry.value for entry in metadata.entry_points(group=papers.GROUP)} == declared
    assert all(callable(papers.installed(name)) for name in declared if name != "papers")
    assert "cubic-inet" in papers.papers()


@pytest.mark.parametrize(
    "arguments",
    [
        ["reproduce", "cubic-inet"],
        ["reproduce", "all"],
        ["validate", "tcp"],
        ["validate", "kernel", "--short"],
        ["list", "papers"],
    ],
    ids=" ".join,
)
def test_without_the_papers_a_command_names_what_to_install(alone: CliRunner, arguments: list[str]) -> None:
    done = alone.invoke(app, arguments)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", MISSING)


def test_without_the_papers_everything_else_works(alone: CliRunner) -> None:
    assert alone.invoke(app, ["list", "congestion"]).exit_code == 0
    assert alone.invoke(app, ["reproduce", "--help"]).exit_code == 0
    assert complete(["reproduce"], "") == []
    assert 'cannot validate "flowers"' in alone.invoke(app, ["validate", "flowers"]).stderr
