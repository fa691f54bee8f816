"""Every word of a scenario, a result and a warning is explained from where it is declared."""

from __future__ import annotations

import json

import pytest

from lightlag import _engine, _schema, _words
from lightlag._explain import explain
from lightlag.errors import InputError


def flat(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


def test_every_key_is_explained_by_its_name_and_at_its_place() -> None:
    keys = _schema.all_keys()
    assert len(keys) > 1000
    assert [key.place for key in keys if not key.about] == []
    for name in {key.name for key in keys}:
        assert explain(name), name
    for key in (key for key in keys[::7] if "const" not in key.schema):
        text = _words.explanation(key.place)
        assert text is not None, key.place
        assert flat(key.about) in flat(text), key.place


def test_every_value_that_is_a_word_is_explained() -> None:
    for word in _schema.word_places():
        assert explain(word), word


def test_every_column_is_explained_with_its_meaning() -> None:
    tables = json.loads(_engine.dictionary())
    assert len(tables) > 8
    for table in tables:
        for column in table["columns"]:
            text = _words.explanation(column["name"])
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
        ("loss", ("links[].loss", "Losses other than those for want of room", "bit_error_rate")),
        ("gilbert-elliott", ("good and bad in turn (Gilbert-Elliott)",)),
        ("proxy", ("proxies", "Nodes that split the connections")),
        ("scps", ("TCP profile", "defaults.tcp.scps", "snack_delay")),
        ("flows[0].tcp.mss", ("Value of the MSS option",)),
        ("goodput_bps", ("column of results", "in bit/s")),
        ("small-queue", ("warning", "bandwidth-delay product")),
        ("hello_interval", ("The time between two HELLOs", 'Default  "1 s"')),
    ],
)
def test_words_are_found_as_people_write_them(word: str, parts: tuple[str, ...]) -> None:
    text = flat(explain(word))
    for part in parts:
        assert flat(part) in text, text


def test_an_unknown_word_has_the_nearest() -> None:
    with pytest.raises(InputError, match='did you mean "small-queue"'):
        explain("smal-queue")


def test_a_warning_says_its_name() -> None:
    read = _engine.parse(PAIR_WITH_A_SHORT_QUEUE)
    assert [name for name, _, _ in read.named_warnings()] == ["small-queue"]
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
