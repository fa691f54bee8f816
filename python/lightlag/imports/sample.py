"""The start of a file, by which readers recognise their format."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lightlag.imports import texts

__all__ = ["Sample", "all_match", "any_matches"]

_LINES = 100


@dataclass(frozen=True)
class Sample:
    """The start of a file, in several forms."""

    path: Path
    """The file, or a directory of files that belong together."""

    @cached_property
    def magic(self) -> bytes:
        """The first bytes, decompressed.

        Raises
        ------
        InputError
            If the file cannot be read.
        """
        return texts.head(self.path, 32)

    @cached_property
    def text(self) -> str:
        """The start as text."""
        return texts.start(self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The first lines that are not empty, without surrounding whitespace; long lines are truncated."""
        return [line.strip()[: texts.MAX_LINE] for line in self.text.splitlines() if line.strip()][:_LINES]


def any_matches(pattern: str) -> Callable[[Sample], bool]:
    """Returns a predicate that is true if a line of the sample contains this pattern."""
    compiled = re.compile(pattern)
    return lambda sample: any(compiled.search(line) for line in sample.lines)


def all_match(pattern: str) -> Callable[[Sample], bool]:
    """Returns a predicate that is true if there are lines, and all of them start with this pattern."""
    compiled = re.compile(pattern)
    return lambda sample: bool(sample.lines) and all(compiled.match(line) for line in sample.lines)
