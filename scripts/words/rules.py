"""The rules of `scripts/words.toml`, and their hits in a passage."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from words.prose import Passage

FILE = Path(__file__).parents[1] / "words.toml"
WORD = re.compile(r"[a-z]+(?:[-'’][a-z]+)*")
SENTENCE = re.compile(r"(?:\A|[.!?]\s)\s*([a-z]+)")
HEAD = re.compile(r"\(([a-z|?]+)\)|([a-z?]+)")
AROUND = 50
"""Characters before and after a hit among which an exception is looked for."""


@dataclass(frozen=True)
class Rule:
    """Phrases that are a fault, and their replacement."""

    name: str
    write: str
    match: tuple[str, ...]
    opens: tuple[str, ...]
    begins: tuple[str, ...]
    exceptions: re.Pattern[str] | None


@dataclass(frozen=True)
class Hit:
    """A phrase that a rule found."""

    rule: Rule
    line: int
    phrase: str


@dataclass(frozen=True)
class Rules:
    """All rules, with their patterns by the word with which each starts."""

    rules: tuple[Rule, ...]
    zero: tuple[str, ...]
    skip: tuple[str, ...]
    match: dict[str, list[tuple[re.Pattern[str], Rule]]]
    opens: list[tuple[re.Pattern[str], Rule]]
    begins: list[tuple[re.Pattern[str], Rule]]

    def hits(self, passage: Passage) -> Iterator[Hit]:
        """Yields the hits in a passage."""
        text = passage.text.lower()
        if len(text) != len(passage.text):
            text = passage.text.translate({code: code + 32 for code in range(65, 91)})
        seen = set()
        for rule, start, end in self._found(text, passage.doc):
            if (rule.name, start) in seen or _is_excepted(rule, text, start, end):
                continue
            seen.add((rule.name, start))
            yield Hit(rule, passage.line + text.count("\n", 0, start), " ".join(text[start:end].split()))

    def _found(self, text: str, doc: bool) -> Iterator[tuple[Rule, int, int]]:
        match = self.match
        for word in WORD.finditer(text):
            if candidates := match.get(word[0]):
                start = word.start()
                for pattern, rule in candidates:
                    if found := pattern.match(text, start):
                        yield rule, start, found.end()
        for sentence in SENTENCE.finditer(text):
            for pattern, rule in self.begins:
                if found := pattern.match(text, sentence.start(1)):
                    yield rule, sentence.start(1), found.end()
        if doc:
            start = len(text) - len(text.lstrip())
            for pattern, rule in self.opens:
                if found := pattern.match(text, start):
                    yield rule, start, found.end()


def _is_excepted(rule: Rule, text: str, start: int, end: int) -> bool:
    if rule.exceptions is None:
        return False
    first = max(0, start - AROUND)
    found = rule.exceptions.finditer(text, first, end + AROUND)
    return any(one.start() < end and one.end() > start for one in found)


def heads(pattern: str) -> list[str]:
    """Returns the words with which a match of the pattern starts."""
    head = HEAD.match(pattern)
    if head is None:
        raise ValueError(f"{pattern}: does not start with a word or with (word|word)")
    words = (head[1] or head[2]).split("|")
    return [form for word in words for form in ([word[:-2], word.replace("?", "")] if "?" in word else [word])]


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_spaced(pattern) + r"(?!\w)")


def _spaced(pattern: str) -> str:
    return pattern.replace(" ", r"(?:[ \t]+|[ \t]*\n[ \t]*)")


@cache
def read(file: Path = FILE) -> Rules:
    """Reads the rules."""
    table = tomllib.loads(file.read_text("utf-8"))
    rules, opens, begins = [], [], []
    match: dict[str, list[tuple[re.Pattern[str], Rule]]] = {}
    for entry in table["rule"]:
        excepted = entry.get("except", [])
        rule = Rule(
            entry["name"],
            entry["write"],
            tuple(entry.get("match", ())),
            tuple(entry.get("opens", ())),
            tuple(entry.get("begins", ())),
            re.compile("|".join(f"(?:{_spaced(one)})" for one in excepted)) if excepted else None,
        )
        rules.append(rule)
        for pattern in rule.match:
            for head in heads(pattern):
                match.setdefault(head, []).append((_compiled(pattern), rule))
        opens += [(_compiled(pattern), rule) for pattern in rule.opens]
        begins += [(_compiled(pattern), rule) for pattern in rule.begins]
    return Rules(tuple(rules), tuple(table["zero"]), tuple(table["skip"]), match, opens, begins)
