"""Explains every term in a scenario, a result or a warning, from the declarations in the engine."""

from __future__ import annotations

import itertools
import json
import re
import textwrap
from collections.abc import Iterable
from functools import cache
from typing import Any

from lightlag import _engine
from lightlag.words import glossary
from lightlag.words import schema as _schema

__all__ = ["columns", "explanation", "is_explained", "key", "known", "spellings", "warnings"]

_SHOWN = 12


def explanation(word: str) -> str | None:
    """Explains a term: warnings, keys, columns and values with this name.

    Otherwise lists the descriptions that mention it.

    Returns None for an unknown term.

    Examples
    --------
    >>> print(explanation("small-queue").splitlines()[0])
    small-queue: warning
    >>> explanation("no such word") is None
    True
    """
    word = word.strip()
    if text := _exact(word):
        return text
    # "C/N0, faded", "Goodput (Mbit/s)", "Goodput over time": the heading without what follows the quantity.
    for head in _heads(word):
        if text := _exact(head):
            return f"{word}: see {head}\n\n{text}"
    return _mentions(word)


def is_explained(word: str) -> bool:
    """Returns True if a term has an explanation of its own, beyond descriptions that mention it."""
    return any(_exact(one) for one in (word.strip(), *_heads(word.strip())))


def _exact(word: str) -> str | None:
    found = _found(word)
    if term := glossary.term(word):
        found = [_term(word, term), *found, *_inner(term.columns, word)]
    for label in glossary.label(word):
        found = [_label(word, label), *found, *_inner(label.columns, word)]
    if not found:
        # A table by the name of one of its entries.
        found = [part for part in map(key, _plurals(word)) if part][:1]
    return "\n\n".join(dict.fromkeys(found)) or None


def _heads(word: str) -> list[str]:
    """Returns the parts of a heading before a comma, a unit or "over time", the longest first."""
    starts = [at.start() for at in re.finditer(r", | in | \(| against | over time", word)]
    return [word[:at] for at in sorted(starts, reverse=True) if at > 0]


def _inner(names: Iterable[str], word: str) -> list[str]:
    """Returns the explanations of other terms, keys and columns."""
    parts = []
    for name in names:
        if name != word:
            term = glossary.term(name)
            parts += [] if term is None or name in columns() else [_term(name, term)]
            parts += _found(name)
    return parts


def _found(word: str) -> list[str]:
    """Returns the explanations of a warning, keys, columns and values, in the first spelling that is known."""
    for spelling in spellings(word):
        column = _columns(spelling)
        measured = _measure(spelling) if column is None else [column]
        parts = (_warning(spelling), key(spelling), *measured, _values(spelling))
        if found := [part for part in parts if part]:
            return found
    return []


def spellings(word: str) -> list[str]:
    """Returns the spellings of a term in scenarios and tables.

    Examples
    --------
    >>> spellings("Keep-Alive")
    ['Keep-Alive', 'keep-alive', 'keep_alive']
    """
    lowered = word.lower()
    return list(dict.fromkeys([word, lowered, re.sub(r"[ -]", "_", lowered), re.sub(r"[ _]", "-", lowered)]))


def _term(word: str, term: glossary.Term) -> str:
    head = f"{word}: term" if word.lower() == term.name.lower() else f"{word}: see {term.name}"
    also = "\n" + _wrapped(f"Also: {', '.join(term.also)}", "  ") if term.also else ""
    return f"{head}\n\n{_wrapped(term.text, '  ')}{also}"


def _label(word: str, label: glossary.Label) -> str:
    others = [name for name in label.names if name.lower() != word.lower()]
    also = "\n" + _wrapped(f"Also: {', '.join(others)}", "  ") if others else ""
    return f"{word}: in {label.of}\n\n{_wrapped(label.text, '  ')}{also}"


def known() -> list[str]:
    """Returns all words that have their own explanation."""
    names = [key.name for key in _schema.all_keys()]
    spoken = [spelling for term in glossary.terms() for spelling in (term.name, *term.also)]
    spoken += [name for label in glossary.labels() for name in label.names]
    return list(dict.fromkeys([*warnings(), *names, *_schema.word_places(), *columns(), *spoken]))


@cache
def warnings() -> dict[str, str]:
    """Returns the kinds of warnings with a paragraph each."""
    return dict(json.loads(_engine.catalog())["warnings"])


@cache
def columns() -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Returns the columns of results by name, each with its tables and their declarations."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for table in json.loads(_engine.dictionary()):
        for column in table["columns"]:
            found.setdefault(column["name"], []).append((table["name"], column))
            if (alone := ".".join(column["keys"])) not in ("", column["name"]):
                found.setdefault(alone, []).append((table["name"], column))
    return found


def _plurals(word: str) -> tuple[str, ...]:
    return (f"{word}s", f"{word[:-1]}ies" if word.endswith("y") else f"{word}es", {"medium": "media"}.get(word, word))


def _warning(word: str) -> str | None:
    about = warnings().get(word)
    return None if about is None else f"{word}: warning\n\n{_wrapped(about, '  ')}"


def key(word: str) -> str | None:
    """Returns the keys with this name, or the key at this path."""
    steps = _schema.normal(word)
    if not steps:
        return None
    matching = [one for path, one in _schema.by_name().get(steps[-1], ()) if path[-len(steps) :] == steps]
    if not matching:
        matching = [_schema.Key(steps, schema, "", False) for schema in _schema.found(steps)[:1]]
    groups: dict[tuple[str, str], list[_schema.Key]] = {}
    for one in matching:
        # The keys that choose a form are one, whatever the form.
        said = ("", "") if "const" in one.schema else (one.about, _schema.type_of(one.schema))
        groups.setdefault(said, []).append(one)
    if not groups:
        return None
    parts = [f"{word}: key of a scenario"]
    for same in itertools.islice(groups.values(), _SHOWN):
        first, others = same[0], list(dict.fromkeys(one.place for one in same[1:] if one.place != same[0].place))
        lines = [f"{first.place}{', required' if first.is_required else ''}"]
        lines += _wrapped(f"also {', '.join(others)}", "  ").splitlines() if others else []
        if "const" in first.schema:
            chosen = dict.fromkeys(str(one.schema.get("const")) for one in same)
            lines += _wrapped(f"Chooses one of {', '.join(chosen)}.", "  ").splitlines()
        else:
            lines += _wrapped(first.about, "  ").splitlines()
            lines += [f"  {label:<9}{text}" for label, text in _facts(first.schema)]
        if inner := _schema.children_of(first.schema):
            lines += textwrap.wrap(
                f"{'Keys':<9}{', '.join(inner)}", 98, initial_indent="  ", subsequent_indent=" " * 11
            )
        parts.append("\n".join(lines))
    if len(groups) > _SHOWN:
        parts.append(f"and at {len(groups) - _SHOWN} more positions: write one with its table, as links.{word}")
    return "\n\n".join(parts)


def _facts(schema: dict[str, Any]) -> list[tuple[str, str]]:
    facts = [("Value", _schema.type_of(schema))]
    if "default" in schema and schema["default"] not in ({}, [], None):
        facts.append(("Default", json.dumps(schema["default"], ensure_ascii=False)))
    bounds = [f"{word} {schema[key]:g}" for word, key in (("from", "minimum"), ("to", "maximum")) if key in schema]
    return [*facts, ("Range", " ".join(bounds))] if bounds else facts


def _columns(word: str) -> str | None:
    found = columns().get(word)
    if not found:
        return None
    parts = [f"{word}: column of results"]
    for table, column in found:
        unit = f", in {column['unit']}" if column.get("unit") else ""
        parts.append(f"{table}.{column['name']}, {column['kind']}{unit}\n{_wrapped(column['meaning'], '  ')}")
    return "\n\n".join(parts)


def _measure(word: str) -> list[str]:
    """Finds a metric by its title in tables, or a column by its name without its unit."""
    from lightlag.outcomes.design import MEASURES

    lowered = word.lower()
    parts = [
        f"{word}: metric of comparisons\n\nruns.{one.column}\n{_wrapped(one.about, '  ')}"
        for one in MEASURES
        if lowered in (one.title.lower(), one.column)
    ]
    # goodput_bps, cwnd_segments, rtt_s.
    named = [name for name in columns() if re.fullmatch(rf"{re.escape(lowered)}_[a-z]+", name)]
    parts += [text for name in named[:_SHOWN] if (text := _columns(name))]
    return parts


def _values(word: str) -> str | None:
    places = _schema.word_places().get(word)
    if not places:
        return None
    lines = [f"  {place}" + (f": {about}" if about else "") for place, about in places[:_SHOWN]]
    more = [f"  and {len(places) - _SHOWN} more keys"] if len(places) > _SHOWN else []
    return f"{word}: value of a key\n\n" + "\n".join([*lines, *more])


def _mentions(word: str) -> str | None:
    """Returns the keys and their values whose descriptions contain the word as a whole; `rts` is not found in
    "reports".
    """
    if len(word) < 2:
        return None
    whole = re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", re.IGNORECASE)
    found = []
    for key in _schema.all_keys():
        if whole.search(key.name.replace("_", " ")) and key.about:
            found.append((key.place, key.about))
        for text in (key.about, key.table):
            if whole.search(text):
                place = key.place if text is key.about else key.place.rpartition(".")[0] or "a scenario"
                found.append((place, text))
    found = list(dict.fromkeys(found))
    if not found:
        return None
    parts = [f"{place}\n{_wrapped(text, '  ')}" for place, text in found[:_SHOWN]]
    return "\n\n".join([f"{word}: mentioned in these keys of a scenario", *parts])


def _wrapped(text: str, indent: str) -> str:
    # A name as draft-ietf-quic-ack-frequency is not divided.
    return textwrap.fill(text, 98, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
