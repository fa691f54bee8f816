"""Every term of a scenario, a result and a warning has an explanation that can be found from its declaration."""

from __future__ import annotations

import json

import pytest

import lightlag as ll
from lightlag import _engine
from lightlag.errors import InputError
from lightlag.outcomes.design import MEASURES
from lightlag.records import rows as _rows
from lightlag.words import glossary, schema, words
from lightlag.words.explain import explain


def flat(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


@pytest.mark.long
def test_every_key_is_explained_by_its_name_and_by_its_path() -> None:
    keys = schema.all_keys()
    assert len(keys) > 1000
    assert [key.place for key in keys if not key.about] == []
    for name in {key.name for key in keys}:
        assert explain(name), name
    for key in (key for key in keys[::7] if "const" not in key.schema):
        text = words.explanation(key.place)
        assert text is not None, key.place
        assert flat(key.about) in flat(text), key.place


@pytest.mark.long
def test_every_value_that_is_a_word_is_explained() -> None:
    for word in schema.word_places():
        assert explain(word), word


def test_every_column_is_explained_with_its_meaning() -> None:
    tables = json.loads(_engine.dictionary())
    assert len(tables) > 8
    for table in tables:
        for column in table["columns"]:
            text = words.explanation(column["name"])
            assert text is not None, column["name"]
            assert flat(column["meaning"]) in flat(text), column["name"]


def test_every_warning_is_explained() -> None:
    kinds = json.loads(_engine.catalog())["warnings"]
    assert len(kinds) > 30
    for name, about in kinds:
        assert flat(about) in flat(explain(name)), name


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("loss", ("links[].loss", "Packet loss other than queue overflow", "bit_error_rate")),
        ("gilbert-elliott", ("alternates between a good and a bad state (Gilbert-Elliott)",)),
        ("proxy", ("proxies", "split the connections that cross their nodes")),
        ("scps", ("TCP profile", "defaults.tcp.scps", "snack_delay")),
        ("flows[0].tcp.mss", ("Value of the MSS option",)),
        ("goodput_bps", ("column of results", "in bit/s")),
        ("small-queue", ("warning", "bandwidth-delay product")),
        ("hello_interval", ("Time between two HELLOs", 'Default  "1 s"')),
    ],
)
def test_words_are_found_as_people_write_them(word: str, parts: tuple[str, ...]) -> None:
    text = flat(explain(word))
    for part in parts:
        assert flat(part) in text, text


def test_an_unknown_word_has_the_nearest() -> None:
    with pytest.raises(InputError, match='did you mean "small-queue"'):
        explain("smal-queue")


def test_a_warning_contains_its_name() -> None:
    read = _engine.parse(PAIR_WITH_A_SHORT_QUEUE)
    assert [name for name, _, _ in read.named_warnings()] == ["small-queue", "phase-lock"]
    assert [(place, message) for _, place, message in read.named_warnings()] == read.warnings()


PAIR_WITH_A_SHORT_QUEUE = """
duration = "9 s"
[[links]]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "100 ms"
queue = "3 packets"
[[flows]]
from = "a"
to = "b"
"""


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("rwnd", ("rwnd: term", "receive window", "receive_buffer: key of a scenario")),
        ("Receive window", ("see rwnd", "advertised window")),
        ("bufferbloat", ("codel", "links[].queue")),
        ("dropped (error)", ("links.dropped_error", "bit errors")),
        ("packet-hops", ("once for each link",)),
        ("LTP", ("is not modelled",)),
        ("rts", ("rts_threshold",)),
    ],
)
def test_terms_of_tables_and_of_the_field_are_explained(word: str, parts: tuple[str, ...]) -> None:
    text = flat(explain(word))
    for part in parts:
        assert flat(part) in text, text


def test_words_are_searched_as_entire_words() -> None:
    assert "reports" not in explain("rts")
    with pytest.raises(InputError, match='unknown name "nterv"'):
        explain("nterv")


def test_every_column_that_a_term_names_exists() -> None:
    for term in glossary.terms():
        for name in term.columns:
            assert words.explanation(name), f"{term.name}: {name}"


def test_no_two_terms_have_one_spelling() -> None:
    spellings = [spelling.lower() for term in glossary.terms() for spelling in (term.name, *term.also)]
    assert len(spellings) == len(set(spellings))


HEADINGS_OF = ("geo", "swarm", "starlink-550", "pep", "dumbbell", "scps-moon", "traffic")


@pytest.mark.parametrize("name", HEADINGS_OF)
def test_every_heading_of_a_table_of_a_run_is_explained(name: str) -> None:
    if name == "pep":
        net = ll.Network("pep")
        net.link("client", "gateway", rate="10 Mbit/s", delay="5 ms")
        net.link("gateway", "server", rate="10 Mbit/s", delay="250 ms")
        net.proxy("gateway", buffer="1 MB")
        net.flow("client", "server", transfer="100 kB")
        result = ll.run(net, duration="9 s", seed=1)
    else:
        result = ll.run(name, seed=1, duration="2 s")
    summary = result.summary
    tables = [_rows.flow_rows(summary), _rows.link_rows(summary), _rows.medium_rows(summary)]
    tables += [_rows.radio_rows(summary), _rows.proxy_rows(summary)]
    if result.scenario.get("constellation"):
        tables.append(_rows.way_rows(result))
    headings = {heading for rows in tables for row in rows for heading in row}
    assert len(headings) > 5
    for heading in sorted(headings):
        assert explain(heading), heading


def test_every_heading_of_a_comparison_is_explained() -> None:
    for measure in MEASURES:
        assert explain(measure.title.lower())
