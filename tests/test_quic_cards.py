"""The experiment cards of QUIC: well-formed data, verdicts of fast cards, and the page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lightlag.errors import InputError
from lightlag.scenario.reading import read_scenario
from lightlag_papers.kept import KeptRuns
from lightlag_papers.validation.measured.fact import Spread, Verdict
from lightlag_papers.validation.measured.runs import Work
from lightlag_papers.validation.quic import Results, cards, equal, page, validate
from lightlag_papers.validation.quic.cards import Kind, merged
from lightlag_papers.validation.quic.paths import scenario
from lightlag_papers.validation.quic.rows import Row, judge, rows

PAGE = Path(__file__).parents[1] / "docs/validation/quic.md"

RECORDED = {
    "q4": "AAAA ADAA AADD",
    "q7": "A A A D A A A A",
    "q8": "ADA AAA AAA",
    "q10": "N N AA DD",
}
"""Verdicts of fast cards by line: agrees, differs, no verdict."""


@pytest.mark.parametrize("name", cards.NAMES)
def test_every_run_of_a_card_is_a_valid_scenario(name: str) -> None:
    card = cards.card(name)
    assert card.source
    for line in card.lines:
        assert line.setup
        assert line.sender
        assert len(line.printed) == len(line.runs) == len(line.labels)
        assert all(value > 0 for value in line.printed)
        assert len(line.ranges) in {0, len(line.printed)}
        bases = [] if line.base is None else [line.base]
        for settings in [*line.runs, *bases]:
            for change in [{}, *(one.settings for one in line.changes)]:
                read_scenario(scenario(merged(settings, change)))


def test_the_cards_have_the_printed_numbers_of_their_sources() -> None:
    read = {name: cards.card(name) for name in cards.NAMES}
    # 18 target times with four senders; satellite tests, and three transfers of quinn; two paths have no model.
    counts = {name: sum(len(line.printed) for line in card.lines) for name, card in read.items()}
    assert list(counts) == [f"q{number}" for number in range(1, 12)]
    assert list(counts.values()) == [72, 15, 7, 12, 10, 3, 8, 9, 0, 6, 7]
    kinds = {name: {line.kind for line in card.lines} for name, card in read.items()}
    assert kinds["q1"] == kinds["q7"] == {Kind.BOUND}
    assert kinds["q4"] == {Kind.MEAN}
    assert kinds["q6"] == {Kind.OPEN}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('request = true\nquic = { profile = "rfc9002"', 'request = true\nquick = { profile = "rfc9002"', '"quick"'),
        ("printed = [0.62, 1.77, 4.02, 8.04]", "printed = [0.62]", "1 printed numbers for 4 settings"),
        ('metric = "time"', 'metric = "speed"', 'the unknown metric "speed"'),
        ('kind = "mean"', 'kind = "guess"', "'guess' is not a valid Kind"),
        ("source =", "origin =", "has no key 'source'"),
        ("[set]", "[set", r"q4.toml: .* \(at line"),
    ],
)
def test_a_wrong_card_is_named_with_the_wrong_key(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = (cards.FOLDER / "q4.toml").read_text("utf-8")
    assert old in text
    (tmp_path / "q4.toml").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError, match=message):
        cards.card("q4", tmp_path)


def test_a_card_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(InputError, match=r"q99\.toml"):
        cards.card("q99")


def test_a_bound_has_one_side_and_a_measured_value_two() -> None:
    assert [judge(Kind.BOUND, ratio) for ratio in (0.1, 1.0, 1.001)] == [
        Verdict.AGREES,
        Verdict.AGREES,
        Verdict.DIFFERS,
    ]
    assert [judge(Kind.MEDIAN, ratio).value for ratio in (0.84, 0.86, 1.14, 1.16)] == [
        *("differs", "agrees", "agrees", "differs")
    ]
    assert judge(Kind.BOUND, float("inf")) is Verdict.DIFFERS
    assert [judge(Kind.OWN_BOUND, ratio).value for ratio in (0.1, 1.001)] == ["agrees", "differs"]


@pytest.mark.parametrize("name", RECORDED)
def test_fast_cards_have_their_recorded_verdicts(name: str, tmp_path: Path) -> None:
    card = cards.card(name)
    found = iter(rows(Work(tmp_path), card))
    letters = {Verdict.AGREES: "A", Verdict.DIFFERS: "D", Verdict.NO_VERDICT: "N"}
    lines = ["".join(letters[next(found).verdict] for _ in line.runs) for line in card.lines]
    assert " ".join(lines) == RECORDED[name]


def test_only_rows_that_differ_test_changes(tmp_path: Path) -> None:
    found = rows(Work(tmp_path), cards.card("q7"))
    assert {bool(row.tests) for row in found if row.verdict is Verdict.AGREES} == {False}
    (slow,) = [row for row in found if row.verdict is Verdict.DIFFERS]
    changes = {test.change: test.ratio for test in slow.tests}
    # The credit is the size of the data; the initial window is scaled, so that a larger one does not help much.
    assert changes["credit 200 MB"] < 1 < slow.ratio
    assert changes["initial window 1000"] == pytest.approx(slow.ratio, rel=0.05)


def test_finished_runs_are_not_repeated(tmp_path: Path) -> None:
    store = KeptRuns(tmp_path / "kept.jsonl")
    card = cards.card("q7")
    first = rows(Work(tmp_path, 1, store), card)
    count = len(store)
    assert count > 0
    assert rows(Work(tmp_path, 1, store), card) == first
    assert len(store) == count


def test_both_transports_lose_the_same_packets() -> None:
    constants = equal.setup()
    assert len(constants.paths) == 20
    path = equal.Route(20, 100, 0.01)
    lost = equal.losses(constants, path, 1)
    assert lost == sorted(set(lost))
    packets = 20e6 * 60 / 8 / 1500
    assert len(lost) == pytest.approx(0.01 * packets, rel=0.1)
    assert lost != equal.losses(constants, path, 2)
    contents = [equal.scenario(constants, path, "cubic", transport, 1) for transport in ("quic", "tcp")]
    assert contents[0]["links"] == contents[1]["links"]
    assert equal.losses(constants, equal.Route(20, 100, 0), 1) == []


def test_settings_that_differ_by_default_are_equal_and_changes_replace_them() -> None:
    constants = equal.setup()
    path = equal.Route(20, 100, 0.01)
    content = equal.scenario(constants, path, "cubic", "tcp", 1)
    (flow,) = content["flows"]
    assert flow["tcp"]["mss"] == "1460 B"
    assert flow["tcp"]["prr"] is False
    assert flow["congestion"] == {"algorithm": "cubic", "slow_start": "standard"}
    assert equal.scenario(constants, path, "newreno", "quic", 1)["flows"][0]["congestion"] == "newreno"
    for one in constants.changes:
        plain = [equal.scenario(constants, path, "cubic", transport, 1) for transport in ("quic", "tcp")]
        changed = [equal.scenario(constants, path, "cubic", transport, 1) for transport in ("quic", "tcp")]
        for found in changed:
            equal.change(found, path, one)
            read_scenario(found)
        assert changed != plain


def test_spared_packets_are_not_lost() -> None:
    constants = equal.setup()
    path = equal.Route(20, 300, 0.01)
    assert path.product == 500
    content = equal.scenario(constants, path, "newreno", "tcp", 1)
    lost = content["links"][0]["loss"]["forward"]["packets"]
    equal.change(content, path, equal.Equally("spared", spared=(4, 14)))
    rest = content["links"][0]["loss"]["forward"]["packets"]
    assert set(lost) - set(rest) == {number for number in lost if 2_000 <= number <= 7_000}
    assert len(rest) < len(lost)
    # Without losses there is nothing to spare.
    clean = equal.scenario(constants, equal.Route(20, 300, 0), "newreno", "tcp", 1)
    equal.change(clean, path, equal.Equally("spared", spared=(4, 14)))
    assert clean["links"][0]["loss"]["forward"] == 0


def test_cells_with_a_large_error_get_more_seeds(tmp_path: Path) -> None:
    quick = equal.Route(1, 300, 0.01)
    constants = replace(equal.setup(), seeds=2, max_seeds=8, error=1e-9, length="10 s", congestion=("newreno",))
    (pair,) = equal.pairs(Work(tmp_path), replace(constants, paths=(quick,), changes=()))
    assert pair.seeds == 8
    assert pair.error > 0
    (pair,) = equal.pairs(Work(tmp_path), replace(constants, paths=(quick,), changes=(), error=1.0))
    assert pair.seeds == 2


def test_the_page_shows_values_that_differ_in_bold_and_unfinished_ones() -> None:
    card = cards.card("q7")
    bold = Row("Q7", "setup", "sender", "", Kind.BOUND, "time", "s", 10, None, None, Spread(20), Verdict.DIFFERS)
    open_end = Row(
        "Q7", "far", "sender", "", Kind.BOUND, "time", "s", 10, None, None, Spread(float("inf")), Verdict.DIFFERS
    )
    text = page.quic_page([card], [bold, open_end], []).text()
    assert "| ≤ 10 s | **20** | 2.00 | differs |" in text
    assert "| ≤ 10 s | **> 900 s** | ∞ | differs |" in text
    assert "0 of 2 bounds are met" in text
    assert open_end.record()["ours"]["value"] is None


def test_the_record_counts_verdicts() -> None:
    row = Row("Q7", "setup", "sender", "", Kind.BOUND, "time", "s", 10, None, None, Spread(9), Verdict.AGREES)
    record = Results([row], []).record()
    assert (record["agrees"], record["differs"], record["no_verdict"]) == (1, 0, 0)
    assert record["rows"][0]["ratio"] == pytest.approx(0.9)


def test_the_page_of_the_documentation_is_short_and_has_every_card() -> None:
    text = PAGE.read_text("utf-8")
    assert len(text.splitlines()) <= 130
    shown = re.findall(r"^\| (Q\d+) \| [^|]+ \| [^|]+ \| \d+ \|", text, re.MULTILINE)
    assert shown == [name.upper() for name in cards.NAMES]


@pytest.mark.long
def test_all_cards_give_the_page_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = equal.setup()
    # All pairs take most of the time of the command.
    some = replace(constants, paths=constants.paths[::7])
    with monkeypatch.context() as patched:
        patched.setattr(equal, "setup", lambda: some)
        found = validate(tmp_path / "validation", jobs=2, kept=tmp_path / "kept.jsonl")
    assert (tmp_path / "validation/quic.json").exists()
    assert not (tmp_path / "kept.jsonl").exists()
    text = PAGE.read_text("utf-8")
    assert _cards((tmp_path / "validation/quic.md").read_text("utf-8")) == _cards(text)
    assert len(found.pairs) == 2 * len(some.paths)
    for pair in found.pairs:
        shown = f"{pair.ratio:.3f}" if pair.verdict is Verdict.AGREES else f"**{pair.ratio:.3f}**"
        rows = [
            line for line in text.splitlines() if line.startswith(f"| {pair.congestion} | {pair.path.rate_mbps:g} ")
        ]
        assert any(f"{100 * pair.path.loss:g} %: {shown}" in row for row in rows), pair


def _cards(text: str) -> str:
    """Returns the part of the page about the cards."""
    return text[text.index("## Cards") : text.index("## Equal constants")]
