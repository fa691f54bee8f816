"""The README and the tour run, and the README is short, plain and right."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import lightlag as ll
import pages
from words import counts

README = pages.ROOT / "README.md"
MAX_LINES = 90


def test_the_readme_runs(tmp_path: Path) -> None:
    ran = pages.run(README, tmp_path)
    (result,) = ran.results
    assert isinstance(result, ll.Result)
    assert result.flows["finish_s"].is_not_null().all()
    assert isinstance(result.trace("cwnd"), pl.DataFrame)
    assert (tmp_path / "cwnd.pdf").stat().st_size > 1000
    assert (tmp_path / "results" / "geo-compare" / "report.html").exists()


def test_the_readme_is_short_and_plain() -> None:
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= MAX_LINES
    assert list(map(str, counts.found_in("README.md", text))) == []


def test_results_in_the_readme_match_the_pages() -> None:
    rows = re.findall(
        r"^\| [^|]+ \| ([\d.,]+[^|]*) \| \[[^]]+\]\(([^)]+)\) \|$", README.read_text("utf-8"), re.MULTILINE
    )
    assert len(rows) == 7
    for result, page in rows:
        assert result in (pages.ROOT / page).read_text("utf-8"), f"{page}: {result}"


@pytest.mark.long
def test_the_tour_runs(tmp_path: Path) -> None:
    ran = pages.run(pages.ROOT / "docs" / "tour.md", tmp_path)
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
