"""The examples of ``docs/constellations.md`` run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

import lightlag as ll
from lightlag import presets

PAGE = Path(__file__).parents[1] / "docs" / "constellations.md"


def block(language: str) -> str:
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return str(found)


def test_the_scenario_runs(tmp_path: Path) -> None:
    path = tmp_path / "kuiper.toml"
    path.write_text(block("toml"))
    result = ll.run(path, duration="10 s")
    assert result.flows["goodput_bps"].sum() > 1e6
    assert result.paths["node"].cast(pl.String).str.starts_with("k-").any()


def test_the_questions_to_a_sky_are_answered() -> None:
    names: dict[str, Any] = {}
    exec(block("python"), names)
    assert names["sky"].pairs(60).height == 3


def test_the_presets_are_named() -> None:
    named = set(re.findall(r"`([a-z0-9-]+)`", PAGE.read_text("utf-8")))
    constellations = {name for name, make in presets.PRESETS.items() if make().constellation is not None}
    assert constellations <= named
