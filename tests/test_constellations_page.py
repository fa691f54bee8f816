"""The examples of ``docs/constellations.md`` run as they are printed there."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import lightlag as ll
import pages
from lightlag import presets

pytestmark = pytest.mark.long

PAGE = pages.ROOT / "docs" / "constellations.md"


def test_the_page_runs(tmp_path: Path) -> None:
    ran = pages.run(PAGE, tmp_path)
    assert ran.names["sky"].pairs(60).height == 3


def test_the_scenario_runs(tmp_path: Path) -> None:
    [block] = [block for block in pages.blocks(PAGE) if block.language == "toml"]
    path = tmp_path / "kuiper.toml"
    path.write_text(block.text)
    result = ll.run(path, duration="10 s")
    assert result.flows["goodput_bps"].sum() > 1e6
    assert result.paths["node"].cast(pl.String).str.starts_with("k-").any()


def test_the_presets_are_named() -> None:
    named = set(re.findall(r"`([a-z0-9-]+)`", PAGE.read_text("utf-8")))
    constellations = {name for name, make in presets.PRESETS.items() if make().constellation is not None}
    assert constellations <= named
