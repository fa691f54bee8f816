"""Sections of ``docs/validation.md`` that other commands write stay when the page is written anew.

Such a section stands between ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``.
"""

from __future__ import annotations

import re

_SECTION = re.compile(r"<!-- (?P<name>[^:>]+): begin -->\n.*?<!-- (?P=name): end -->\n?", re.DOTALL)


def sections(page: str) -> list[str]:
    """The sections of other commands, with their marks."""
    return [found.group(0) for found in _SECTION.finditer(page)]


def with_sections(page: str, kept: list[str]) -> str:
    """A new page, and behind it what an old one had from other commands."""
    return "\n".join([page.rstrip("\n") + "\n", *(section.rstrip("\n") + "\n" for section in kept)])
