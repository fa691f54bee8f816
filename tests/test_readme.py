"""The examples of the README run, and what it names is there."""

from __future__ import annotations

import re
import runpy
import shlex
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

import lightlag as ll
from lightlag._explain import presets
from lightlag.cli import app

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text("utf-8")
STUDIES = (ROOT / "docs" / "studies.md").read_text("utf-8")
LEARNING = (ROOT / "docs" / "learning.md").read_text("utf-8")
OWN = (ROOT / "docs" / "own-algorithm.md").read_text("utf-8")
LINES = re.findall(r"^    (lightlag [^#\n]*)", TEXT + STUDIES + OWN, re.MULTILINE)
COMMANDS = [command.strip() for line in LINES for command in line.split(";")]


def test_the_examples_in_python_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    results = []
    for example in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(example, names)
        results.append(names["result"])
    first, sky, own, _ = results
    assert names["env"].observation_space.contains(names["observation"])
    assert isinstance(first, ll.Result)
    assert first.flows["finish_s"].is_not_null().all()
    assert isinstance(first.trace("cwnd"), pl.DataFrame)
    assert sky.name == "starlink-550"
    assert own.flows["congestion"].unique().to_list() == ["aimd"]
    page = (tmp_path / "globe.html").read_text("utf-8")
    assert all(part in page for part in ("London->New York", "SRTT", "goodput", "cwnd"))


def test_the_examples_of_the_tutorial_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", OWN, re.DOTALL)
    for number, example in enumerate(examples):
        # In a file, as a class is whose source the digest needs.
        (tmp_path / f"example{number}.py").write_text(example)
        names = runpy.run_path(str(tmp_path / f"example{number}.py"))
        assert names["result"].flows["delivered_bytes"].sum() > 0
    assert len(examples) == 7
    assert (tmp_path / "aimd.pdf").stat().st_size > 1000


def test_the_examples_for_policies_that_learn_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", LEARNING, re.DOTALL)
    for example in examples:
        names: dict[str, Any] = {}
        exec(example, names)
        assert names["result"].flows["delivered_bytes"][0] > 0
    assert len(examples) == 3
    assert (tmp_path / "learned.pdf").stat().st_size > 1000


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_there_with_their_options(command: str) -> None:
    _, name, *words = shlex.split(command)
    found: Any = typer.main.get_command(app)
    assert name in found.commands, command
    found = found.commands[name]
    while hasattr(found, "commands"):
        assert words[0] in found.commands, command
        found = found.commands[words.pop(0)]
    known = {option for parameter in found.params for option in parameter.opts}
    used = {word.split("=")[0] for word in words if word.startswith("-")}
    assert used <= known, f"{command}: {used - known}"
    if name == "run":
        assert words[0] in presets() or (ROOT / words[0]).exists(), command


TABLES = re.findall(r"```toml\n(.*?)```", TEXT + STUDIES, re.DOTALL)


@pytest.mark.parametrize("text", [text for text in TABLES if "scenarios" in text])
def test_studies_are_complete(text: str) -> None:
    study = ll.Study.of(tomllib.loads(text), ROOT, "loss")
    assert len(study.plan().cells) >= 18


def test_links_and_images_lead_to_files() -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", TEXT)
    assert len(targets) > 3
    missing = [target for target in targets if "://" not in target and not (ROOT / target).exists()]
    assert missing == []
