"""Terms in tables, in reports and of the field that are neither keys nor columns: `glossary.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["Term", "term", "terms"]


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
    table = tomllib.loads((resources.files("lightlag.words") / "glossary.toml").read_text("utf-8"))
    return tuple(
        Term(one["name"], one["text"], tuple(one.get("also", ())), tuple(one.get("columns", ())))
        for one in table["term"]
    )


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
    return _by_spelling().get(" ".join(word.lower().split()))
