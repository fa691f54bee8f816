"""The report of a comparison: one self-contained file, with every figure and all that is needed to repeat it."""

from __future__ import annotations

import html.parser
import json
import re
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.comparison import painters
from lightlag.comparison import saving as comparison_report


class Page(html.parser.HTMLParser):
    """The tags of a page and the text of its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "input", "use"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag, f"</{tag}> closes what is open"

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def charts(text: str) -> dict[str, Any]:
    """The data of the charts of a page."""
    (data,) = re.findall(r'<script type="application/json" id="charts">(.*?)</script>', text, flags=re.DOTALL)
    found: dict[str, Any] = json.loads(data)
    return found


@pytest.fixture(scope="module")
def comparison() -> ll.Comparison:
    net = ll.Network("pair <& friends>")
    net.link("client", "server", rate="5 Mbit/s", delay="20 ms", queue="50 packets", loss=1e-3)
    net.flow("client", "server", transfer="1 MB")
    net.flow("client", "server", transfer="1 MB")
    vary = {"links.0.loss": [0, 1e-2]}
    return ll.compare(net, ["cubic", "hybla", "cubic/bbr"], vary=vary, duration="20 s", replications=2)


@pytest.fixture(scope="module")
def text(comparison: ll.Comparison) -> str:
    return comparison_report.report(comparison, "lightlag compare pair --vary 'links.0.loss=0,1e-2'")


def test_a_report_uses_no_network(text: str) -> None:
    page = Page(text)
    assert page.open == []
    loading = {"src", "srcset", "href", "xlink:href", "data", "action", "poster", "background", "cite", "manifest"}
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "image", "audio", "video")
        for name, value in attributes.items():
            if name in loading:
                assert (value or "").startswith("#"), f"<{tag} {name}={value}>"
            assert "://" not in (value or ""), f"<{tag} {name}={value}>"
            assert all(place.startswith("#") for place in re.findall(r"url\(([^)]*)\)", value or ""))
    (style,) = re.findall(r"<style>(.*?)</style>", text, flags=re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    for code in (style, script):
        assert not re.search(r"://|@import|url\(|fetch|XMLHttp|import\s*\(|new Image", code)


def test_every_reference_of_a_figure_leads_to_its_own_part(text: str) -> None:
    page = Page(text)
    names = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(names) == len(set(names))
    meant = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    assert meant <= set(names)
    assert meant


def test_a_report_is_complete(comparison: ll.Comparison, text: str) -> None:
    page = Page(text)
    assert "pair <& friends>" in page.text
    assert "3 algorithms × 2 values of loss × 2 seeds: 12 runs." in page.text
    assert "lightlag compare pair --vary 'links.0.loss=0,1e-2'" in page.text
    for needed in (ll.__version__, "established", "RFC 9438", "reconstructed", "Competing algorithms", "1 to 2"):
        assert needed.lower() in page.text.lower()
    for outcome in comparison.outcomes:
        assert outcome.result_hash in page.text
    for row in comparison.rows():
        assert row["goodput"] in page.text
    figures = [attributes.get("id") for tag, attributes in page.tags if tag == "figure"]
    assert figures == comparison.figures == list(charts(text))
    said = [attributes["aria-label"] for _, attributes in page.tags if attributes.get("role") == "img"]
    assert len(said) == sum(len(chart["panels"]) for chart in charts(text).values())
    assert any("cubic" in (one or "") and "Mbit/s" in (one or "") for one in said)
    assert '"rate": "5 Mbit/s"' in page.text


def test_colours_match_the_page(text: str) -> None:
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert not re.findall(r"#[0-9a-fA-F]{6}", script), "a colour that stays as it is on a dark screen"
    assert "var(--c${" in script
    text = text.replace("var(--c${at % 8})", "var(--c7)")
    defined = set(re.findall(r"(--\w+):", text))
    assert set(re.findall(r"var\((--\w+)\)", text)) <= defined
    assert "prefers-color-scheme: dark" in text


def test_numbers_can_be_sorted(comparison: ll.Comparison, text: str) -> None:
    page = Page(text)
    keys = [attributes["data-at"] for tag, attributes in page.tags if tag == "td" and "data-at" in attributes]
    assert len([key for key in keys if float(key or "nan") > 1e5]) >= len(comparison.rows())
    assert any(attributes.get("class") == "sortable" for tag, attributes in page.tags if tag == "table")


@pytest.mark.long
def test_the_same_comparison_gives_the_same_bytes(comparison: ll.Comparison, tmp_path: Path) -> None:
    assert len(comparison.figures) >= 8, "enough for two processes"
    one, two = (
        comparison.save(tmp_path / str(jobs), command="x", jobs=jobs, formats=("pdf", "svg")) for jobs in (1, 2)
    )
    names = sorted(path.name for path in one.iterdir())
    assert names == sorted(path.name for path in two.iterdir())
    for name in names:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    assert {"report.html", "goodput-vs-loss.pdf", "goodput-vs-loss.svg", "summary.parquet"} <= set(names)


def test_an_interrupted_comparison_reports_it(comparison: ll.Comparison) -> None:
    part = ll.Comparison(comparison.design, comparison.outcomes[:5])
    assert "interrupted after 5 of 12 runs" in Page(comparison_report.report(part)).text


def test_formats_are_checked(comparison: ll.Comparison, tmp_path: Path) -> None:
    with pytest.raises(ll.InputError, match='"gif" is not a format'):
        comparison.save(tmp_path / "out", formats=("gif",))
    assert not (tmp_path / "out").exists()


def test_a_painter_that_ends_leaves_no_gap(comparison: ll.Comparison) -> None:
    with painters.painters(2) as helpers:
        helpers[0].end()
        drawn = painters.draw(comparison, ["svg"], helpers)
    assert [kind for kind, _ in drawn] == comparison.figures
    assert all(data.lstrip().startswith(b"<?xml") for data in drawn.values())
    assert helpers[1]._process.poll() is not None


def _recording(page: str) -> dict[str, Any]:
    """The data of the player in the frame of a report."""
    (frame,) = re.findall(r' srcdoc="([^"]*)"', page)
    (found,) = re.findall(r'<script type="application/json" id="recording">(.*?)</script>', html.unescape(frame))
    data: dict[str, Any] = json.loads(found)
    return data


def test_a_constellation_plays_in_the_report(comparison: ll.Comparison, text: str, tmp_path: Path) -> None:
    assert '<iframe class="player"' not in text
    sky = ll.compare("iridium", ["cubic"], replications=1, duration="5 s")
    page = comparison_report.report(sky)
    Page(page)
    assert page.count('<iframe class="player"') == 1
    assert "66 satellites for 5 s, starting at 2026-01-01T00:00:00Z." in page
    data = _recording(page)
    assert (data["kind"], data["until"], [way["name"] for way in data["ways"]]) == ("sky", 5.0, ["Anchorage – Oslo"])
    assert not re.search(r"(src|href)=.?https?://", page)
    sky.scenario["constellation"] = {"file": str(tmp_path / "gone.tle")}
    assert "The constellation cannot be rendered: " in comparison_report.report(sky)


def test_a_swarm_plays_in_the_report(comparison: ll.Comparison, text: str) -> None:
    assert '<iframe class="player"' not in text
    flying = ll.compare("adhoc-chain", ["cubic"], replications=1, duration="2 s")
    page = comparison_report.report(flying)
    Page(page)
    assert page.count('<iframe class="player"') == 1
    assert "The first 2 s of the scenario with its own algorithms, seed 1, run again for this report." in page
    # The frames at the start, halfway along the chain, and at the end.
    data = _recording(page)
    assert (data["times"][0], data["times"][-1], len(data["nodes"])) == (0.0, 2.0, 5)
    assert [way["courses"][-1][1] for way in data["ways"]] == [[0, 1, 2, 3, 4]]
    assert not re.search(r"(src|href)=.?https?://", page)
    flying.scenario["topology"] = {"kind": "swarm", "nodes": 501}
    assert "reports animate a maximum of 500" in comparison_report.report(flying)
