"""Readings of a paper: each evaluated as a whole, the best one counted, none of them mixed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from lightlag_papers import Paper, Reproduction, reproduce_all
from lightlag_papers.paper import Effort
from lightlag_papers.readings import Readings
from lightlag_papers.table import Row, Verdict


def claim(item: str, ours: str, holds: bool) -> Row:
    return Row(item, f"throughput, {ours}", f"the claim of {item}", "", ours, Verdict.claim(holds), "as printed")


READINGS = Readings(
    {
        "a window of 400": [claim("Fig. 1", "1", True), claim("Fig. 2", "2", False), claim("Fig. 3", "3", False)],
        "a window of 700": [claim("Fig. 1", "4", False), claim("Fig. 2", "5", True), claim("Fig. 3", "6", False)],
        "a window of 1000": [claim("Fig. 1", "7", True), claim("Fig. 2", "8", True), claim("Fig. 3", "9", False)],
    }
)


def test_the_best_reading_is_counted_as_a_whole() -> None:
    assert READINGS.best == "a window of 1000"
    rows = READINGS.judged()
    # Its own rows, although each claim but the last holds in two readings.
    assert [row.ours for row in rows] == ["7", "8", "9"]
    assert [row.reason for row in rows] == [
        "as printed. So in 2 of 3 readings",
        "as printed. So in 2 of 3 readings",
        "as printed. In none of 3 readings",
    ]
    assert [row.item for row in READINGS.never()] == ["Fig. 3"]


def test_claims_that_hold_in_different_readings_are_not_added_up() -> None:
    parts = Readings({name: READINGS.rows[name] for name in ("a window of 400", "a window of 700")})
    # Two claims hold somewhere, but one in each reading; the first of two that are equal is taken.
    assert (parts.best, parts.reproduced(parts.best)) == ("a window of 400", 1)
    assert "It reproduces 1 of 3 of them. So do 1 others: a window of 700." in parts.lead("them")
    assert sum(row.verdict is Verdict.REPRODUCED for row in parts.judged()) == 1


def test_one_table_has_readings_by_claims() -> None:
    layout = READINGS.layout("Readings")
    assert layout.header == (
        "reading",
        "reproduced",
        *(f"Fig. {n}: the claim of Fig. {n}" for n in (1, 2, 3)),
    )
    assert layout.lines[1] == ("a window of 700", "1 of 3", "no", "yes", "no")
    assert READINGS.measured("measured", "Values").lines[1] == ("a window of 700", "1 of 3", "4", "5", "6")


def test_readings_have_the_same_claims() -> None:
    with pytest.raises(ValueError, match="the same claims"):
        Readings({"one": [claim("Fig. 1", "1", True)], "two": [claim("Fig. 2", "1", True)]})
    with pytest.raises(ValueError, match="no reading"):
        Readings({})
    check = Row("Fig. 1", "W", "", "", "9", Verdict.HOLDS, "1 %")
    with pytest.raises(ValueError, match="not a claim"):
        Readings({"one": [check]})


def work(reproduction: Reproduction, effort: Effort) -> None:
    reproduction.lead = READINGS.lead("the claims")
    reproduction.layouts.append(READINGS.layout("Readings by claims"))
    reproduction.add(READINGS.judged())


def test_all_papers_print_readings_best_reading_and_what_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = Paper("one", "On one", "A. Body, 2026", ("Fig. 1",), work)
    found = reproduce_all([paper], tmp_path / "out")
    assert found.tally.claims == "2 of 3 claims reproduced"
    found.print(Console(width=200))
    printed = capsys.readouterr().out
    for text in ("one: readings", "a window of 700", "1 of 3", "Best of 3 readings: a window of 1000", "2 of 3"):
        assert text in printed
    assert "No reading reproduces: Fig. 3, “the claim of Fig. 3”." in printed
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "<b>Best of 3 readings:</b> a window of 1000" in page
    record = json.loads(json.dumps(found.record()))["papers"][0]
    assert record["lead"].startswith("**Best of 3 readings:**")
    # What the shelf keeps is what was there.
    again = Reproduction.restored(paper, record, tmp_path / "out" / "one")
    assert (again.lead, again.readings, again.rows) == (
        found.found[0].lead,
        found.found[0].readings,
        found.found[0].rows,
    )


def test_the_page_of_a_paper_starts_with_its_best_reading() -> None:
    from lightlag_papers.validation import Findings, findings

    reproduction = Reproduction(Paper("one", "On one", "A. Body, 2026", ("Fig. 1",), work))
    work(reproduction, Effort())
    body = findings.pages(Findings(papers=[reproduction]))["one"].body
    assert body.index("**Best of 3 readings:**") < body.index("## Deviations") < body.index("## Claims reproduced")
    assert "| a window of 700 |" in body
    report = reproduction.report()
    assert report.index("**Best of 3 readings:**") < report.index("| Fig. 1 | throughput")
