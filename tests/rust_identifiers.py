"""Finds parameters of functions that identify a part of a network by a plain integer, in the source text of a crate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rust_imports import NOISE, TESTS

_FUNCTION = re.compile(r"\bfn\s+(\w+)")
_BARE = re.compile(r"\b(flow|link|node|station|interface):\s*&?(?:usize|u32)\b")
_TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub\(crate\) )?mod (\w+);")


def bare_parameters(source: Path) -> Iterator[str]:
    """Yields `file: function(parameter)` for each parameter below `source` that identifies a part by a number.

    Such a parameter is named like a part of a network and has the type of a number. Code of tests is left out.
    """
    texts = {file: file.read_text("utf-8") for file in sorted(source.rglob("*.rs"))}
    of_tests = {"tests", *(name for text in texts.values() for name in _TEST_MODULE.findall(text))}
    for file, text in texts.items():
        parts = file.relative_to(source).with_suffix("").parts
        if of_tests.isdisjoint(parts):
            text = TESTS.sub("", NOISE.sub(" ", text))
            for function in _FUNCTION.finditer(text):
                for name in _BARE.findall(_parameters(text, function.end())):
                    yield f"{file.relative_to(source)}: {function[1]}({name})"


def _parameters(text: str, start: int) -> str:
    """The parameters of a function whose name ends at `start`."""
    first = text.index("(", start)
    depth = 0
    for place in range(first, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return text[first:place]
    return text[first:]
