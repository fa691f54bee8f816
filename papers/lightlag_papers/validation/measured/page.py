"""The page of the scorecard."""

from __future__ import annotations

from collections.abc import Sequence

from lightlag_papers.table import markdown_table
from lightlag_papers.validation.measured.data import FOLDER
from lightlag_papers.validation.measured.fact import COLUMNS, Section, Verdict
from lightlag_papers.validation.pages import Page

__all__ = ["COMMAND", "counts", "measured_page"]

COMMAND = "lightlag validate measured"

INTRODUCTION = """\
Each row is a measured fact, from real links or a real kernel, and our value for the same quantity. Tolerances were
fixed before the first run, from the spread of the measurements (`measured/tolerances.py`); no result changes one. A
value in brackets is a range: of repetitions, or of our seeds. A reason names the part of the model that was switched,
and the value without it. `--json` prints every row, `--section NAME` runs one section, and `--data DIRECTORY` compares
your own measurements.
"""


def counts(sections: Sequence[Section]) -> tuple[int, int, int]:
    """Returns the number of rows that agree, that differ, and that have no verdict."""
    agree, differ, rest = (sum(one.count(verdict) for one in sections) for verdict in Verdict)
    return agree, differ, rest


def measured_page(sections: Sequence[Section]) -> Page:
    """Returns the page with all sections, good and bad rows alike."""
    agree, differ, rest = counts(sections)
    parts = [INTRODUCTION, markdown_table(("section", "agrees", "differs", "no verdict"), _summary(sections))]
    for one in sections:
        parts.append(f"## {one.title}\n")
        parts += [f"{text}\n" for text in one.about]
        parts.append(_rows(one))
        parts += [f"![{picture.name}](images/{picture.name}.png)\n\n{picture.caption}\n" for picture in one.figures]
    parts.append("## Sources\n")
    parts.append((FOLDER / "README.md").read_text("utf-8").partition("\n\n")[2])
    judged = agree + differ
    result = f"{agree} of {judged} measured facts agree within the tolerances."
    about = f"{rest} more are shown without a verdict." if rest else ""
    return Page("Measured paths", result, COMMAND, "\n".join(parts), about)


def _rows(section: Section) -> str:
    """Returns the table of a section. A source that all rows have is stated once, above the table."""
    rows = [fact.cells() for fact in section.facts]
    sources = {fact.source for fact in section.facts}
    if len(sources) > 1:
        return markdown_table(COLUMNS, rows)
    return f"Source: {', '.join(sources)}.\n\n" + markdown_table(COLUMNS[1:], [row[1:] for row in rows])


def _summary(sections: Sequence[Section]) -> list[tuple[str, ...]]:
    return [(one.title, *(str(one.count(verdict)) for verdict in Verdict)) for one in sections]
