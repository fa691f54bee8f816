"""`lightlag reproduce`: every paper, as a directory, as one page and as JSON. The papers are made up."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lightlag.cli import app as cli
from lightlag.commands import papers as commands
from lightlag_papers import PAPERS, Effort, Paper, Reproduction, Row, Verdict, reproduce_all
from lightlag_papers.paper import Picture
from lightlag_papers.table import Layout

ROWS = (
    Row("Fig. 1", "W, <segments>", "8", "", "9", Verdict.NOT_REPRODUCED, "outside 7 to 8 (set in advance)"),
    Row("Fig. 1", "K, s", "4.71", "4.70", "4.69", Verdict.REPRODUCED, "4 % (set in advance)"),
    Row("Fig. 2", "which β", "β", "", "0.8", Verdict.UNDECIDED, "the text uses it for both"),
    Row("model", "K, s", "", "4.70", "4.69", Verdict.HOLDS, "1 %"),
)


def work(reproduction: Reproduction, effort: Effort) -> None:
    from lightlag.drawing import style

    effort.progress("drawing")
    figure, axes = style.chart()
    axes.plot([0, 1], [0, effort.jobs])
    reproduction.add(ROWS, [Picture("fig1", figure, "Fig. 1. A line & no more.")], ["**Bold** and `code`, 2 * 3."])
    reproduction.layouts.append(Layout("table1", "Table 1", ("K, s", "ours"), (("4.71", "4.69"),)))


def paper(name: str) -> Paper:
    return Paper(name, f"On {name}", "A. Body, 2026", ("Fig. 1",), work)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> dict[str, Paper]:
    papers = {name: paper(name) for name in ("one", "two")}
    monkeypatch.setattr(commands, "papers", lambda: papers)
    return papers


def test_all_papers_leave_one_page_one_table_and_a_directory_each(tmp_path: Path, two: dict[str, Paper]) -> None:
    found = reproduce_all(two.values(), tmp_path / "out")
    assert found.tally.text == (
        "2 of 4 claims reproduced, 2 undecided; 2 of 2 own checks hold; 0 rows for information."
    )
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == {"index.html", "verdicts.csv", "run.json", "one", "two"}
    assert {path.name for path in (out / "one").iterdir()} == {
        *("run.json", "table.csv", "table1.csv", "report.md", "fig1.png", "fig1.pdf")
    }
    with (out / "verdicts.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows] == [row.verdict.value for row in ROWS] * 2
    assert json.loads((out / "run.json").read_text("utf-8"))["summary"] == found.tally.text


def test_the_page_needs_nothing_else(tmp_path: Path, two: dict[str, Paper]) -> None:
    reproduce_all(two.values(), tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert not re.search(r"""(?:src|href)=["'](?!data:image/png;base64,|#)""", page)
    assert page.count("data:image/png;base64,iVBOR") == 2
    assert "W, &lt;segments&gt;" in page
    assert "<b>Bold</b> and <code>code</code>, 2 * 3." in page
    assert '<td class="red">not reproduced</td>' in page


def test_the_same_runs_give_the_same_bytes(tmp_path: Path, two: dict[str, Paper]) -> None:
    for name in "ab":
        reproduce_all(two.values(), tmp_path / name)
    for file in ("index.html", "verdicts.csv", "run.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_json_of_one_paper_and_of_all(tmp_path: Path, two: dict[str, Paper], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = json.loads(CliRunner().invoke(cli.app, ["reproduce", "one", "--json"]).stdout)
    assert one["tally"] == {
        **{"reproduced": 1, "not reproduced": 1, "undecided": 1},
        **{"holds": 1, "does not hold": 0, "for information": 0},
    }
    assert one["rows"][1] == {
        **{"item": "Fig. 1", "quantity": "K, s", "paper": "4.71", "closed form or model": "4.70", "lightlag": "4.69"},
        **{"verdict": "reproduced", "note": "4 % (set in advance)"},
    }
    assert one["tables"] == [
        {"name": "table1", "title": "Table 1", "header": ["K, s", "ours"], "lines": [["4.71", "4.69"]]}
    ]
    every = json.loads(CliRunner().invoke(cli.app, ["reproduce", "all", "--json"]).stdout)
    assert [each["paper"] for each in every["papers"]] == ["one", "two"]
    assert every["papers"][0] == one
    assert not (tmp_path / "results").exists()


def test_the_command_writes_and_prints(tmp_path: Path, two: dict[str, Paper], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.app, ["reproduce", "all", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert "together" in done.stdout
    assert "not reproduced Fig. 1, W, <segments>: outside 7 to 8" in " ".join(done.stdout.split())
    assert (tmp_path / "results" / "papers" / "index.html").exists()
    again = CliRunner().invoke(cli.app, ["reproduce", "all"])
    assert again.exit_code == 0, again.output
    assert "papers-2 (results/papers exists already" in " ".join(again.output.split())


def test_a_wrong_name_is_reported_for_all(two: dict[str, Paper]) -> None:
    done = CliRunner().invoke(cli.app, ["reproduce", "three"])
    assert done.exit_code == 2
    assert 'no paper "three"; name one of one, two, or all' in done.output


def test_all_is_not_the_name_of_a_paper() -> None:
    assert "all" not in PAPERS
