"""The search of the site finds the pages of questions, abbreviations and synonyms among its first results."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")

from manual import search

DOCS = Path(__file__).parents[1] / "docs"
QUERIES = (
    *("bufferbloat", "Windows", "DTN", "why slow", "two flows different congestion", "TLE", "macOS", "bundle", "loss"),
    "compare two algorithms",
)
SHORT = f"""
import sys
sys.path.insert(0, {str(DOCS.parent / "scripts")!r})
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst", "toc", "image", "misc"]
from manual import search
def setup(app):
    app.connect("doctree-resolved", search.add)
    app.connect("env-get-outdated", search.outdated)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of the pages that the words lead to, and of some others that have the same words."""
    if shutil.which("node") is None:
        pytest.skip("needs Node.js for the search of the site")
    folder = tmp_path_factory.mktemp("site")
    pages = {place.partition("#")[0] for place in search.WORDS.values()}
    pages |= {"index", "tutorial", "studies", "commands/compare", "commands/why", "course/lab4", "glossary", "swarms"}
    for page in pages:
        target = folder / "docs" / f"{page}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DOCS / f"{page}.md", target)
    (folder / "docs" / "conf.py").write_text(SHORT, "utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(folder / "docs"), str(folder / "html")]
    # A second build has the same entries, although no page has changed.
    for _ in range(2):
        subprocess.run(command, check=True, capture_output=True)
    return folder / "html"


def test_every_word_finds_its_page_first(site: Path) -> None:
    assert search.missing(site) == []


@pytest.mark.parametrize("query", QUERIES)
def test_what_users_look_for_is_found(query: str, site: Path) -> None:
    place = search.WORDS[query.lower()]
    assert search.results(site, [query])[query][0] == place


def test_a_page_that_is_not_found_is_reported(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(search.WORDS, "zebra", "install")
    assert search.missing(site) == ["zebra: nothing, and not install"]


def test_headings_of_the_words_are_on_their_pages() -> None:
    from manual import keys

    for place in search.WORDS.values():
        page, _, heading = place.partition("#")
        lines = (DOCS / f"{page}.md").read_text("utf-8").splitlines()
        headings = {keys.anchor(line.lstrip("# ")) for line in lines if line.startswith("#")}
        assert not heading or heading in headings, place
