"""Terms in tables, in reports and of the field that are neither keys nor columns: `glossary.toml`; and labels of
printed tables: `labels.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["Label", "Term", "label", "labels", "term", "terms"]


@dataclass(frozen=True, slots=True)
class Term:
    """An entry of the glossary."""

    name: str
    text: str
    also: tuple[str, ...] = ()
    """Other spellings of the term."""
    columns: tuple[str, ...] = ()
    """Keys of a scenario and columns of results whose explanation is also shown."""


@cache
def terms() -> tuple[Term, ...]:
    """Returns all entries in their order."""
    return tuple(
        Term(one["name"], one["text"], tuple(one.get("also", ())), tuple(one.get("columns", ())))
        for one in _table("glossary")["term"]
    )


@dataclass(frozen=True, slots=True)
class Label:
    """Headings or row labels of printed tables that belong together."""

    names: tuple[str, ...]
    of: str
    """The tables that have it."""
    text: str
    columns: tuple[str, ...] = ()
    """Terms, keys and columns whose explanation is also shown."""


@cache
def labels() -> tuple[Label, ...]:
    """Returns all labels in their order."""
    return tuple(
        Label(tuple(one["names"]), one["of"], one["text"], tuple(one.get("columns", ())))
        for one in _table("labels")["label"]
    )


def label(word: str) -> tuple[Label, ...]:
    """Returns the labels with this name, in upper or lower case; a name may belong to several tables.

    Examples
    --------
    >>> label("window scale")[0].of
    'lightlag inspect --flow'
    """
    lowered = _folded(word)
    return tuple(one for one in labels() if lowered in map(_folded, one.names))


def _folded(word: str) -> str:
    return " ".join(word.lower().split())


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("lightlag.words") / f"{name}.toml").read_text("utf-8"))


@cache
def _by_spelling() -> Mapping[str, Term]:
    return {spelling.lower(): one for one in terms() for spelling in (one.name, *one.also)}


def term(word: str) -> Term | None:
    """Returns the entry of a term, in any of its spellings and in upper or lower case; None for an unknown term.

    Examples
    --------
    >>> term("Receive window").name
    'rwnd'
    """
    return _by_spelling().get(_folded(word))
