"""What other commands wrote into docs/validation.md stays."""

from __future__ import annotations

from lightlag.reproduce.validation import kept

KERNEL = "<!-- kernel: begin -->\n## Kernel\n\na table\n<!-- kernel: end -->\n"
SCRIPTS = "<!-- packet scripts: begin -->\n## Packet scripts\n<!-- packet scripts: end -->\n"


def test_sections_are_found_wherever_they_stand() -> None:
    page = f"# Validation\n\n{KERNEL}\nbetween\n\n{SCRIPTS}"
    assert kept.sections(page) == [KERNEL, SCRIPTS]
    assert kept.sections("# Validation\n<!-- kernel: begin -->\nnever ends\n") == []


def test_a_new_page_gets_them_at_its_end_again_and_again() -> None:
    page = kept.with_sections("# New\n", [KERNEL, SCRIPTS])
    assert page.startswith("# New\n")
    assert kept.sections(page) == [KERNEL, SCRIPTS]
    assert kept.with_sections("# New\n", kept.sections(page)) == page
    assert kept.with_sections("# New\n", []) == "# New\n"
