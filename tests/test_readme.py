"""The README runs, and its examples give what it says."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import lightlag as ll
import pages


def test_the_readme_runs(tmp_path: Path) -> None:
    ran = pages.run(pages.ROOT / "README.md", tmp_path)
    first, sky, own = ran.results
    assert ran.names["env"].observation_space.contains(ran.names["observation"])
    assert isinstance(first, ll.Result)
    assert first.flows["finish_s"].is_not_null().all()
    assert isinstance(first.trace("cwnd"), pl.DataFrame)
    assert sky.name == "starlink-550"
    assert own.flows["congestion"].unique().to_list() == ["aimd"]
    page = (tmp_path / "globe.html").read_text("utf-8")
    assert all(part in page for part in ("London->New York", "SRTT", "goodput", "cwnd"))
    assert ll.open_study(tmp_path / "results" / "loss").runs.collect().height >= 18 * 10
