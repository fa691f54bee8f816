"""The generated pages of the documentation: complete, and right about every key."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
import pages as code
from conftest import Lightlag
from lightlag import _engine
from lightlag.commands import listing
from lightlag.study.tables import DICTIONARY
from lightlag.validation.assessment import Assessment
from lightlag.validation.section import Section
from lightlag.words import explain
from lightlag_papers import PAPERS
from lightlag_papers.collection import Collection
from lightlag_papers.paper import Reproduction
from lightlag_papers.table import COLUMNS
from lightlag_papers.validation import response
from lightlag_papers.validation.checks import Check
from lightlag_papers.validation.findings import Findings
from lightlag_papers.validation.kernel.criteria import Cell, Compared, Verdict
from lightlag_papers.validation.kernel.points import short_points
from lightlag_papers.validation.kernel.runs import Observed
from lightlag_papers.validation.measured import Scorecard
from lightlag_papers.validation.quic import Results
from manual import algorithms, keys, objects, pages


@pytest.fixture(scope="module")
def reference() -> keys.Reference:
    return keys.Reference()


def tables(schema: Any) -> Iterator[dict[str, Any]]:
    """Every table with keys in a schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict) and "forward" not in schema["properties"]:
            yield schema
        for value in schema.values():
            yield from tables(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from tables(value)


def test_every_key_of_the_schema_is_in_the_reference(reference: keys.Reference) -> None:
    written = [section.table for section in reference.in_order()]
    missing = [sorted(table["properties"]) for table in tables(json.loads(_engine.schema())) if table not in written]
    assert missing == []
    written_pages = keys.pages(reference)
    places = keys.places_of(reference)
    for section in reference.in_order():
        assert f"\n## {section.title}\n" in written_pages[places[section.title]]
        assert section.keys.keys() == section.table["properties"].keys()


def test_every_key_has_a_type_and_an_example_that_the_schema_accepts(reference: keys.Reference) -> None:
    wrong = []
    for section in reference.in_order():
        for key in section.keys.values():
            example = reference.example(key)
            if not key.type or example is None or not reference.accepts(key.schema, example):
                wrong.append((section.title, key.name, key.type, example))
    assert wrong == []


def test_links_between_sections_lead_somewhere(reference: keys.Reference) -> None:
    places = keys.places_of(reference)
    anchors = {keys.anchor(title): place for title, place in places.items()}
    assert len(anchors) == len(reference.in_order())
    found = 0
    for name, page in keys.pages(reference).items():
        for other, anchor in re.findall(r"\]\((?:([\w-]+)\.md)?#([^)]+)\)", page):
            assert anchors[anchor] == (other or name)
            found += 1
    assert found > 200


def test_the_reference_is_split_by_table_and_its_overview_leads_to_each_page(reference: keys.Reference) -> None:
    pages_of = keys.pages(reference)
    overview = keys.overview(reference)
    top = {name for name, schema in reference.schema["properties"].items() if reference.tables(schema)}
    assert top <= pages_of.keys()
    for name, page in pages_of.items():
        assert f"](scenario/{name}.md)" in overview
        assert f"\n{name} <scenario/{name}>\n" in overview
        assert page.startswith(f"# Scenario keys: {name}\n")
        assert "\n## " in page, f"{name} has no section"
        if name in top:
            assert page.index(f"\n## {name}") == page.index("\n## ")
    assert max(map(len, pages_of.values())) < 0.4 * sum(map(len, pages_of.values()))


def test_every_column_of_a_comparison_is_in_the_dictionary(net: ll.Network) -> None:
    comparison = ll.compare(net, ["cubic"], vary={"links.0.queue": ["20 kB", "40 kB"]}, replications=2)
    variables = {"queue", "queue_bytes"}
    for table in (comparison.runs, comparison.flows, comparison.summary):
        assert set(table.columns) - variables <= DICTIONARY.keys()
    page = pages.comparisons()
    assert all(f"| `{name}` |" in page for name in DICTIONARY)


def printed(lightlag: Lightlag, *words: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(lightlag(*words, "--json").stdout)
    return found


def test_every_key_of_an_object_is_on_its_page(lightlag: Lightlag, pair_file: Path, tmp_path: Path) -> None:
    other = ("--set", "links.0.queue=20 kB")
    compare = ("compare", pair_file, "-c", "cubic", "-n", "2", "--figures", "none")
    found = {
        "lightlag run --json": printed(lightlag, "run", pair_file, "-o", "a"),
        "lightlag compare --json": printed(lightlag, *compare, "-o", "c"),
        "lightlag check --json": printed(lightlag, "check", pair_file, "--set", "links.0.loss=2")
        | printed(lightlag, "check", pair_file),
    }
    printed(lightlag, "run", pair_file, *other, "-o", "b")
    found["lightlag diff --json"] = printed(lightlag, "diff", "a", "b")
    found["lightlag why FILE --json"] = printed(lightlag, "why", pair_file, "-n", "1")
    found["run.json of a run"] = json.loads((tmp_path / "a" / "run.json").read_text("utf-8"))
    found["run.json of a comparison"] = json.loads((tmp_path / "c" / "run.json").read_text("utf-8"))
    answers = tmp_path / "answers.toml"
    answers.write_text("[answers]\n", "utf-8")
    checked = lightlag("course", "check", "lab1", answers, "--json")
    found["lightlag course check LAB ANSWERS --json"] = json.loads(checked.stdout)
    for what in listing.LISTS:
        found.setdefault("lightlag list WHAT --json", {}).update(printed(lightlag, "list", what))
    capture = Path(__file__).parent / "data/captures/linux-cubic-sender.pcap"
    found["lightlag inspect FILE --json"] = printed(lightlag, "inspect", capture)
    found["lightlag compare-capture REAL SIMULATED --json"] = printed(lightlag, "compare-capture", capture, capture)
    found["lightlag replay CAPTURE --json"] = printed(lightlag, "replay", capture)
    found["lightlag orbit SCENARIO --json"] = printed(
        lightlag, "orbit", "iridium", "--seconds", "30", "--station", "Oslo"
    )
    found |= long_ones()
    assert found.keys() == objects.OBJECTS.keys()
    for title, keys_of in found.items():
        assert keys_of.keys() <= objects.known(title), title


def long_ones() -> dict[str, dict[str, Any]]:
    """The JSON objects of commands that would run for minutes, made from small results."""
    point = next(point for point in short_points() if point.group == "pattern")
    seen = Observed(144_800, 1.0, 1, 0)
    paper = Reproduction(PAPERS["cubic-inet"])
    return {
        "lightlag reproduce PAPER --json": paper.record(),
        "lightlag reproduce all --json": Collection([paper]).record(),
        "lightlag validate tcp --json": Findings(closed_forms=[], cells=[]).record(),
        "lightlag validate kernel --json": Compared([Cell(point, (seen,), (seen,))]).record(),
        "lightlag validate measured --json": Scorecard().record(),
        "lightlag validate quic --json": Results().record(),
        "lightlag validate congestion --json": Assessment("newreno", 3, 1, 1.0).record(),
        "lightlag validate bbr --json": Assessment("bbr3", 3, 1, 1.0, subject="cases").record(),
    }


def test_entries_of_long_objects_are_on_their_page() -> None:
    page = objects.page()
    point = next(point for point in short_points() if point.group == "pattern")
    seen = Observed(144_800, 1.0, 1, 0)
    window = response.Cell(response.ALGORITHMS[0], 1e-3, 0.1, 30.0, None, 31.0, 1000, 0.0)
    entries: list[set[str]] = [
        {one.name for one in dataclasses.fields(Check)},
        set(window.record()),
        set(Cell(point, (seen,), (seen,)).record()),
        {one.name for one in dataclasses.fields(Verdict)},
        set(Section("response", "Response", [], "").record()),
        set(COLUMNS),
    ]
    for names in entries:
        assert all(f"`{name}`" in page for name in names), names


def test_the_help_of_every_command_is_there() -> None:
    page = pages.commands()
    for command in ("run", "compare", "study run", "new congestion", "explain"):
        assert f"## lightlag {command}\n" in page
    assert page.count("Usage: lightlag") == page.count("## lightlag ")


def test_the_pages_are_written(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    pages.write(tmp_path)
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {
        *pages.COPIES.values(),
        "glossary.md",
        *(f"reference/{name}.md" for name in ("scenario", "comparisons", "commands", "json")),
        *(f"reference/scenario/{name}.md" for name in keys.INTRODUCTIONS),
        *(f"reference/algorithms/{algorithms.file_name(name)}.md" for name in explain.algorithms()),
        "reference/algorithms/overview.txt",
    }
    assert (tmp_path / "glossary.md").read_text("utf-8") == (pages.ROOT / "docs" / "glossary.md").read_text("utf-8")


@pytest.mark.parametrize("entry", algorithms.catalog(), ids=lambda entry: str(entry["name"]))
def test_an_algorithm_has_a_page_with_its_source_and_its_deviations(entry: dict[str, Any]) -> None:
    page = algorithms.page(entry)
    assert page.startswith(f"# {entry['name']}\n")
    assert f"\n| source | {entry['source'].split('=')[0]}" in page
    assert f"\n| year | {entry['year']} |\n" in page
    assert all(f"\n{line}\n" in page for line in entry["equations"])
    assert all(f"\n| `{one['name']}` | " in page for one in entry["parameters"])
    assert all(f' = "{value}"`\n' in page for value, _ in entry["variants"])
    rows = [f" | {one['source']} | {one['here']} | {one['reason']} |\n" for one in entry["deviations"]]
    assert all(row in page for row in rows)
    assert ("\n## Deviations\n\nNo other deviation from the source is known." in page) == (not rows)
    assert entry["provenance"] == "established" or rows
    assert "\n## Not modelled\n\n" in page


def test_the_page_of_congestion_control_includes_every_algorithm(lightlag: Lightlag) -> None:
    names = [one["name"] for one in printed(lightlag, "list", "congestion")["congestion"]]
    page = (pages.ROOT / "docs" / "models" / "congestion-control.md").read_text("utf-8")
    assert "```{include} ../reference/algorithms/overview.txt\n```" in page
    overview = algorithms.overview(algorithms.catalog())
    for name in names:
        target = f"../reference/algorithms/{algorithms.file_name(name)}"
        assert f"| [{name}]({target}.md) | " in overview
        assert f"\n{target}\n" in overview


def test_links_of_the_pages_of_algorithms_lead_somewhere() -> None:
    folder = pages.ROOT / "docs" / "reference" / "algorithms"
    for entry in algorithms.catalog():
        for target, heading in re.findall(r"\]\(([\w./-]+\.md)(?:#([\w-]+))?\)", algorithms.page(entry)):
            found = (folder / target).resolve()
            assert found.exists(), f"{entry['name']}: {target}"
            headings = {
                keys.anchor(line.lstrip("# ")) for line in found.read_text("utf-8").splitlines() if line[:1] == "#"
            }
            assert not heading or heading in headings, f"{entry['name']}: {heading}"


def test_tables_on_the_pages_of_algorithms_are_valid(tmp_path: Path) -> None:
    found = 0
    for entry in algorithms.catalog():
        path = tmp_path / "page.md"
        path.write_text(algorithms.page(entry), "utf-8")
        for block in code.blocks(path):
            if block.language == "toml":
                code.check_table(block)
                found += 1
    assert found


def test_the_citation_names_the_version() -> None:
    citation = (pages.ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {_engine.__version__}\n" in citation
    assert f"Version {_engine.__version__}" in (pages.ROOT / "docs" / "cite.md").read_text("utf-8")


def test_the_help_of_the_studio_links_to_the_documentation_that_it_is_published_with() -> None:
    pytest.importorskip("sphinx")
    from manual import live

    index = (Path(__file__).parents[1] / "studio" / "index.html").read_text("utf-8")
    assert '<meta name="lightlag-documentation" content="../index.html" />' in live.documented(index, "../index.html")
    with pytest.raises(ValueError, match="lightlag-documentation"):
        live.documented("<head></head>", "../index.html")
