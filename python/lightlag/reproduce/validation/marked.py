"""Sections of a page that another command writes, between ``<!-- begin: NAME -->`` and ``<!-- end: NAME -->``."""

from __future__ import annotations

import re

SECTION = re.compile(r"<!-- begin: (?P<name>[^>]+) -->\n.*?<!-- end: (?P=name) -->", re.DOTALL)


def section(name: str, text: str) -> str:
    """The text between its marks.

    Examples
    --------
    >>> print(section("a", "one"))
    <!-- begin: a -->
    one
    <!-- end: a -->
    """
    return f"<!-- begin: {name} -->\n{text.strip()}\n<!-- end: {name} -->"


def sections(page: str) -> list[str]:
    r"""The marked sections of a page, with their marks.

    Examples
    --------
    >>> len(sections("# Page\n" + section("a", "one") + "\n\n" + section("b", "two")))
    2
    """
    return [found.group() for found in SECTION.finditer(page)]


def with_section(page: str, new: str) -> str:
    r"""The page with the section of the same name replaced, or with one more at its end.

    Examples
    --------
    >>> page = with_section("# Page\n", section("a", "one"))
    >>> with_section(page, section("a", "two")) == page.replace("one", "two")
    True
    """
    mark = new.partition("\n")[0]
    for old in sections(page):
        if old.startswith(mark):
            return page.replace(old, new)
    return f"{page.rstrip()}\n\n{new}\n" if page else f"{new}\n"
