"""The examples of ``docs/swarms.md`` run as they stand there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag import _engine

PAGE = Path(__file__).parents[1] / "docs" / "swarms.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def block(language: str, part: str) -> str:
    [found] = [text for text in blocks(language) if part in text]
    return found


@pytest.mark.parametrize("name", ["patrol", "relief"])
def test_scenarios_run(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.toml"
    path.write_text(block("toml", f'name = "{name}"'))
    result = ll.run(path)
    assert result.flows["goodput_bps"].sum() > 0
    assert result.radios["sent_frames"].sum() > 0


def test_keys_of_a_medium_are_keys_of_a_medium() -> None:
    scenario = block("toml", 'name = "relief"')
    fragments = [text for text in blocks("toml") if "name =" not in text]
    assert [text.split()[0] for text in fragments] == ["rate_control", "routing"]
    for fragment in fragments:
        keys = {line.split(" = ")[0] for line in fragment.splitlines()}
        kept = [line for line in scenario.splitlines() if line.split(" = ")[0] not in keys]
        text = "\n".join(kept).replace("[[media]]", f"[[media]]\n{fragment}")
        [medium] = json.loads(_engine.parse(text).json())["media"]
        assert keys <= medium.keys()


def test_a_swarm_in_python_makes_its_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(block("python", "Swarm("), names)
    result = names["result"]
    assert result.flows.height == 4
    assert result.radios.height == 20
    assert {file.name for file in tmp_path.iterdir()} == {"at-10s.png", "airtime.png", "routes.png", "swarm.html"}
    assert all(file.stat().st_size > 10_000 for file in tmp_path.iterdir())
    assert result.positions["node"].unique(maintain_order=True).to_list()[:2] == ["uav1", "uav2"]


def test_a_flow_that_is_told_of_its_route_is_silent_for_less_time(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(block("python", "def silence"), names)
    waits = names["waits"]
    mean = {elfn: sum(values) / len(values) for elfn, values in waits.items()}
    printed = str({elfn: round(value, 2) for elfn, value in mean.items()})
    assert capsys.readouterr().out == f"{printed}\n"
    assert f"It prints `{printed}`" in PAGE.read_text("utf-8")
    # A probe each 2 s, and a search of up to 1.2 s.
    assert max(waits[True]) < 3.2
    assert mean[True] < mean[False] / 1.5
