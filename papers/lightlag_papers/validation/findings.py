"""The results of the validation as pages: closed forms, algorithms, and one page per paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from lightlag import _engine
from lightlag_papers.paper import Paper, Picture, Reproduction
from lightlag_papers.table import BEFOREHAND, Layout, Row, Verdict, markdown_table
from lightlag_papers.validation import response
from lightlag_papers.validation.checks import Check
from lightlag_papers.validation.pages import Page
from lightlag_papers.validation.response import Cell

COMMAND = "lightlag validate tcp"

LIMITS = """\
## Limits of the response functions

The formulas of Mathis and of RFC 9438 §5.1 assume losses at equal distances of 1/p segments. Random, independent
losses have exponential distances with the same mean, which makes the mean window larger: by 7 % for Reno, and by 24 %
for CUBIC without fast convergence, whose growth accelerates. The *renewal model*
(`python/lightlag/validation/theory.py`) has the same growth function with exponential distances. It is the reference
of the rows with random losses, and the formula is shown for comparison. Both leave out recovery times, timeouts, and
the rounding to segments.

A flow with equal distances between its losses starts with the window of its steady state. From any other window CUBIC
approaches that state slowly, because its growth function is flat there: the deviation shrinks with one over the
square root of the number of losses. The formula therefore does not apply to short flows.
"""

RESPONSE = """\
## Windows under random losses

Mean windows of one flow that only losses limit: segments of 1024 B on 1 Gbit/s, an ACK for each, SACK, and
independent losses of data with probability p. A cell holds the window in segments, computed from the delivered
payload, and its relative deviation from the closed form. Where that deviation is more than 10 %, or where there is no
closed form, the cell also holds the deviation from the *renewal model* (`renewal.py`, `laws.py`): the same growth and
reduction with random distances between losses, the round trip until a loss is reported and the round trip of its
retransmission. Bold marks cells that neither explains. A cell is the run

<!-- not run: names in capitals stand for values -->

    lightlag run papers/lightlag_papers/validation/response.toml --set defaults.tcp.congestion=NAME \\
      --set links.0.delay=HALF_THE_RTT --set 'links.0.loss={ forward = P, backward = 0 }' --set duration=LONG_ENOUGH
"""

REASONS = {
    "random distances": "the closed form assumes a loss every 1/p segments, and random distances change the mean; "
    "the renewal model, which has them, is within 10 %",
    "several losses per round trip": f"by the closed form p·W is {response.CROWDED} or more: a round trip often "
    "loses several segments, the window is reduced once for all of them, and "
    "recoveries follow one another; the form assumes isolated losses",
    "timeouts": f"{response.WAITING:.0%} of the time or more is spent in timeouts, which the closed form leaves out; "
    "with them Padhye et al. 1998 give the mean",
}
"""Reasons why a cell may deviate from its closed form."""


@dataclass
class Findings:
    """All findings of the validation.

    Attributes
    ----------
    closed_forms, transport
        Checks of links, timers and single windows; of complete algorithms.
    cells
        Mean windows under random losses.
    papers
        Papers, run again.
    """

    closed_forms: Sequence[Check] = ()
    cells: Sequence[Cell] = ()
    transport: Sequence[Check] = ()
    papers: Sequence[Reproduction] = field(default_factory=list)

    def failures(self) -> list[str]:
        """Returns one line for each check and each cell that does not hold."""
        lines = [
            f"{check.reference}, {check.point}: {check.deviation}"
            for check in (*self.closed_forms, *self.transport)
            if check.holds is False
        ]
        return lines + [
            f"{cell.algorithm.label}, {cell.place}: {cell.text}" for cell in self.cells if cell.holds is False
        ]

    def record(self) -> dict[str, Any]:
        """Returns all checks, and the papers without their figures, as plain values for JSON."""
        failures = self.failures()
        return {
            "validated": "tcp",
            "version": _engine.__version__,
            "holds": not failures,
            "failures": failures,
            "closed_forms": list(map(asdict, self.closed_forms)),
            "windows": [cell.record() for cell in self.cells],
            "transport": list(map(asdict, self.transport)),
            "papers": [paper.record() for paper in self.papers],
        }


def pages(found: Findings) -> dict[str, Page]:
    """Returns the pages by name. They refer to figures at the paths that :func:`image` returns."""
    papers = {reproduction.paper.name: _paper(reproduction) for reproduction in found.papers}
    return {"closed-forms": _closed_forms(found), "algorithms": _algorithms(found), **papers}


def _closed_forms(found: Findings) -> Page:
    body = "\n".join([*_judged(found.closed_forms, "##"), LIMITS])
    result = f"{_held(found.closed_forms)} measurements agree with their closed forms or models within the tolerances."
    return Page("Closed forms", result, COMMAND, body)


def _algorithms(found: Findings) -> Page:
    parts = [RESPONSE, response_table(found.cells), explanations(found.cells), "## Complete algorithms\n"]
    good, checked = sum(cell.holds is True for cell in found.cells), sum(cell.holds is not None for cell in found.cells)
    result = f"{good} of {checked} windows under random losses and {_held(found.transport)} other comparisons hold."
    direct = sum(cell.within_formula for cell in found.cells if cell.holds is not None)
    about = (
        f"{direct} windows are within 10 % of the closed form, and {good - direct} within 10 % of the renewal model."
    )
    return Page("Congestion control", result, COMMAND, "\n".join([*parts, *_judged(found.transport, "###")]), about)


def _held(checks: Sequence[Check]) -> str:
    """Returns how many of the checks with a verdict hold, as text.

    Examples
    --------
    >>> _held([Check("a", "p", "x", "1", "1", "+0.00%", True, "1 %")])
    '1 of 1'
    """
    checked = [check.holds for check in checks if check.holds is not None]
    return f"{sum(checked)} of {len(checked)}"


def _judged(checks: Sequence[Check], level: str) -> list[str]:
    """Returns the table of checks and their commands, under a heading of the given level."""
    commands = f"{level} Commands\n\nEach command makes the rows with its number.\n"
    return ["A row holds unless its last column states otherwise.\n", _table(checks), commands, _commands(checks)]


def _numbers(checks: Sequence[Check]) -> dict[str, int]:
    """Returns the number of each command in the table of checks."""
    commands = dict.fromkeys(j.command for j in checks if j.command != "the same run")
    return {command: number for number, command in enumerate(commands, start=1)}


def _table(checks: Sequence[Check]) -> str:
    numbers = _numbers(checks)
    rows, last = [], ""
    notes: dict[str, str] = {}
    for j in checks:
        last = last if j.command == "the same run" else str(numbers[j.command])
        note = j.tolerance if notes.get(j.reference) != j.tolerance or len(j.tolerance) < REPEATED else "as above"
        notes[j.reference] = j.tolerance
        note = note if j.holds else f"{j.verdict}{': ' if note else ''}{note}"
        rows.append((last, f"{j.reference}; {j.point}", j.ours, j.theory, j.deviation, note))
    header = ("command", "quantity", "lightlag", "theory", "deviation", "tolerance")
    return markdown_table(header, rows)


def _commands(checks: Sequence[Check]) -> str:
    return "".join(f"{number}. `{command}`\n" for command, number in _numbers(checks).items())


REPEATED = 20
"""Minimum length in characters of a note that is not repeated in the rows of a quantity."""
RESPONSE_HEADER = ("algorithm", "p", "closed form", *(f"{rtt * 1e3:g} ms" for rtt in response.RTTS_S))


def response_lines(cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    """Returns the cells of each line of the table: one line per algorithm and loss rate."""
    lines: dict[tuple[str, float], list[Cell]] = {}
    for cell in cells:
        lines.setdefault((cell.algorithm.label, cell.p), []).append(cell)
    return [
        (label, response.power(p), _forms(line), *(cell.text for cell in line)) for (label, p), line in lines.items()
    ]


def _forms(line: Sequence[Cell]) -> str:
    """Returns the windows by the closed form as text; only one if they do not depend on the round-trip time."""
    forms = list(dict.fromkeys("" if cell.formula is None else f"{cell.formula:.4g}" for cell in line))
    return ", ".join(forms)


def response_table(cells: Sequence[Cell]) -> str:
    """Returns the page with mean windows, their deviations, and the sources of the closed forms."""
    judged_cells = [cell for cell in cells if cell.holds is not None]
    direct = sum(cell.within_formula for cell in judged_cells)
    good = sum(cell.holds is True for cell in judged_cells)
    labels = {cell.algorithm.label for cell in cells if not (cell.formula is None and cell.model is None)}
    sources = dict.fromkeys((cell.algorithm.label, cell.algorithm.source) for cell in cells if cell.algorithm.source)
    parts = [
        f"{direct} of {len(judged_cells)} cells with an applicable closed form are within 10 % of it, and "
        f"{good - direct} more within 10 % of the renewal model.\n",
        markdown_table(RESPONSE_HEADER, response_lines([cell for cell in cells if cell.algorithm.label in labels])),
    ]
    if unknown := list(dict.fromkeys(cell.algorithm.label for cell in cells if cell.algorithm.label not in labels)):
        parts.append(
            f"{', '.join(unknown)} have neither a closed form nor a model; the command prints their windows.\n"
        )
    parts += ["### Closed forms\n", markdown_table(("algorithm", "mean window in segments"), sources)]
    return "\n".join(parts)


def explanations(cells: Sequence[Cell]) -> str:
    """Returns the section on the cells that deviate from their closed form, by reason."""
    parts = ["### Cells outside their closed form\n"]
    for reason, meaning in REASONS.items():
        named = [cell for cell in cells if cell.reason == reason]
        if named:
            parts.append(f"**{reason.capitalize()}**: {meaning}.\n\n{_named(named)}\n")
    rest = [cell for cell in cells if cell.holds is False]
    if rest:
        parts.append(f"**Not explained:**\n\n{_named(rest)}\n")
    return "\n".join(parts)


def _named(cells: Sequence[Cell]) -> str:
    """Formats cells by algorithm, with their loss rates and round-trip times."""
    places: dict[str, dict[float, list[str]]] = {}
    for cell in cells:
        places.setdefault(cell.algorithm.label, {}).setdefault(cell.p, []).append(f"{cell.rtt_s * 1e3:g}")
    lines = []
    for label, by_rate in places.items():
        named = (f"p = {response.power(p)}, {', '.join(rtts)} ms" for p, rtts in by_rate.items())
        lines.append(f"- {label}: {'; '.join(named)}\n")
    return "".join(lines)


def image(reproduction: Reproduction, picture: Picture) -> str:
    """Returns the path of a figure, relative to the page."""
    return f"images/{reproduction.paper.name}-{picture.name}.png"


PAGE_CELLS = 40
"""Maximum number of cells of a table on a paper's page; larger tables are only in the directory of its command."""
PAGE_READINGS = 5
"""Number of readings on a paper's page: those that reproduce the most claims."""
GROUP = 3
"""Minimum number of rows with the same criterion, none of them negative, that are combined into one line."""
GROUP_VALUES = 6
"""Maximum number of rows in a group whose values are shown."""
GROUP_WORDS = 4
"""Maximum number of words in a value of a group that is shown."""
ADVANCE = "†"
"""Mark that stands for `BEFOREHAND` on a page."""
_NUMBER = re.compile(r"\d[\d.]*")


def _paper(reproduction: Reproduction) -> Page:
    paper = reproduction.paper
    layouts = [one for one in reproduction.layouts if one is not reproduction.readings]
    pictures = [f"![{one.name}]({image(reproduction, one)})\n\n{one.caption}" for one in reproduction.figures]
    shown = [one for one in layouts if len(one.header) * len(one.lines) <= PAGE_CELLS]
    tables = _rows(reproduction.rows)
    parts = [_about(paper, len(layouts) - len(shown), marked=any(ADVANCE in part for part in tables))]
    if reproduction.lead:
        parts.append(reproduction.lead)
    parts += tables
    if reproduction.readings:
        parts.append(_best(reproduction.readings))
    parts += [_layout(one) for one in shown]
    if reproduction.notes:
        parts += ["## Method", *reproduction.notes]
    if pictures:
        parts += ["## Figures", *pictures]
    return Page(paper.title, reproduction.summary(), COMMAND, "\n\n".join(parts), _deviations(reproduction))


def _about(paper: Paper, left: int, *, marked: bool) -> str:
    """Returns the paragraph below the head of a page: source, command, and what the page leaves out."""
    text = f"{paper.reference}. `{paper.command} --out DIRECTORY` writes all rows with their notes"
    if left:
        text += f", {'1 larger table' if left == 1 else f'{left} larger tables'}"
    text += " and the figures."
    return f"{text} {ADVANCE}: {BEFOREHAND}." if marked else text


def _deviations(reproduction: Reproduction) -> str:
    """Returns the paper's explanation of negative verdicts, or a list of the items with negative verdicts."""
    if reproduction.paper.deviations:
        return reproduction.paper.deviations
    items = dict.fromkeys(row.item for row in reproduction.rows if row.verdict.failed)
    return f"Deviations: {'; '.join(items)}." if items else ""


def _rows(rows: Sequence[Row]) -> list[str]:
    """Returns the tables of rows: negative verdicts with their notes, and the others with only their criterion."""
    parts = []
    header: tuple[str, ...]
    lines: list[tuple[str, ...]]
    negative = [row for row in rows if row.verdict.failed or row.verdict is Verdict.UNDECIDED]
    if negative:
        header = ("quantity", "paper", "closed form or model", "lightlag", "verdict", "note")
        lines = [
            (*_cells(group), group[0].verdict.value, note)
            for group, note in _groups(negative, lambda row: _short(row.reason))
        ]
        parts += ["## Deviations", _filled(header, lines)]
    if claims := [row for row in rows if row.verdict is Verdict.REPRODUCED]:
        agreed = [(*_cells(group), band) for group, band in _groups(claims, _criterion)]
        lines = [(label, paper, ours, band) for label, paper, _, ours, band in agreed]
        parts += ["## Claims reproduced", _filled(("quantity", "paper", "lightlag", "band"), lines)]
    if checks := [row for row in rows if row.verdict is Verdict.HOLDS]:
        agreed = [(*_cells(group), tolerance) for group, tolerance in _groups(checks, _criterion)]
        lines = [(label, theory, ours, tolerance) for label, _, theory, ours, tolerance in agreed]
        header = ("quantity", "closed form or model", "lightlag", "tolerance")
        parts += ["## Own checks that hold", _filled(header, lines)]
    if not any(row.verdict.of_a_claim for row in rows):
        informing = [row for row in rows if row.verdict is Verdict.NOT_JUDGED]
        lines = [(_label(row), row.theory, row.ours) for row in informing]
        parts += ["## For information", _filled(("quantity", "closed form or model", "lightlag"), lines)]
    return parts


def _filled(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    r"""Returns a table without the columns that are empty in all lines.

    Examples
    --------
    >>> _filled(("a", "b", "c"), [("1", "", "2")])
    '| a | c |\n| --- | --- |\n| 1 | 2 |\n'
    """
    used = [index for index in range(len(header)) if any(line[index] for line in lines)]
    return markdown_table([header[index] for index in used], ([line[index] for index in used] for line in lines))


def _label(row: Row) -> str:
    """Returns the item and the quantity of a row in one cell.

    Examples
    --------
    >>> _label(Row.informing("Fig. 3", "3d: throughput", "1")), _label(Row.informing("Fig. 3", "throughput", "1"))
    ('Fig. 3d: throughput', 'Fig. 3: throughput')
    """
    number = row.item.removeprefix("Fig. ")
    return f"Fig. {row.quantity}" if re.match(rf"{re.escape(number)}[a-z]: ", row.quantity) else _joined(row)


def _joined(row: Row) -> str:
    return f"{row.item}: {row.quantity}"


def _groups(rows: Sequence[Row], criterion: Callable[[Row], str]) -> Iterator[tuple[list[Row], str]]:
    """Yields groups of rows with their criterion; each group becomes one line of the page."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        text = re.sub(r"^[+-][\d.]+%, ", "", criterion(row))
        groups.setdefault((text, row.item.partition(", ")[0], _kind(row), row.verdict.value), []).append(row)
    for (text, *_), group in groups.items():
        if _is_a_line(group):
            yield group, text
        else:
            yield from (([row], criterion(row)) for row in group)


def _is_a_line(rows: Sequence[Row]) -> bool:
    """Returns true if rows with the same criterion become one line: many rows, or one quantity for several items."""
    alike = all(row.quantity.startswith(_kind(row)) for row in rows) or len(rows) > GROUP_VALUES
    return len(rows) >= GROUP and alike and not rows[0].verdict.failed and (_are_short(rows) or _have_a_range(rows))


def _kind(row: Row) -> str:
    """Returns the quantity without the part that differs between the rows of a group."""
    return row.quantity.rpartition(": ")[2].partition("; ")[0]


def _cells(rows: Sequence[Row]) -> tuple[str, str, str, str]:
    """Returns label, paper, theory and ours of a line: the values of a few rows, or the range of their details."""
    if len(rows) == 1:
        return _label(rows[0]), rows[0].paper, rows[0].theory, rows[0].ours
    family, _, first = rows[0].item.partition(", ")
    parts = list(dict.fromkeys(row.item.partition(", ")[2] for row in rows))
    named = ", ".join(parts) if len(parts) <= GROUP else f"{first} to {parts[-1]}"
    label = f"{family} ({len(rows)} rows{'; ' if first else ''}{named}): {_kind(rows[0])}"
    if _are_short(rows):
        paper, theory, ours = (", ".join(filter(None, column)) for column in zip(*map(_values, rows), strict=True))
        return label, paper, theory, ours
    details = [row.reason.partition("; ")[2] for row in rows]
    numbers = sorted(match[0] for text in details if (match := _NUMBER.search(text)))
    return label, "", "", _NUMBER.sub(f"{numbers[0]} to {numbers[-1]}", details[0], count=1) if numbers else "all agree"


def _values(row: Row) -> tuple[str, str, str]:
    return row.paper, row.theory, row.ours


def _are_short(rows: Sequence[Row]) -> bool:
    """Returns true if the values of a group fit into one line."""
    longest = max(len(text.split()) for row in rows for text in _values(row))
    return len(rows) <= GROUP_VALUES and longest <= GROUP_WORDS


def _have_a_range(rows: Sequence[Row]) -> bool:
    """Returns true if the details of each row have at most one number."""
    return all(len(_NUMBER.findall(row.reason.partition("; ")[2])) <= 1 for row in rows)


def _criterion(row: Row) -> str:
    """Returns the criterion of a row with a positive verdict, without the details and the explanation.

    Examples
    --------
    >>> row = Row.check("Fig. 1", "W", "8", "9", True, "within 10 % (set in advance); in 9 of 10. In 3 of 6 readings")
    >>> _criterion(row)
    'within 10 %†'
    """
    text = row.reason.partition(". ")[0].partition("; ")[0]
    criterion, _, explanation = text.partition(": ")
    return _short(criterion if explanation and " " in criterion else text)


def _short(text: str) -> str:
    """Returns a note in which a mark replaces the remark that limits were set in advance.

    Examples
    --------
    >>> _short("1 to 3 (the factors of the band of 160, set in advance)")
    '1 to 3 (the factors of the band of 160)†'
    """
    return text.replace(f" ({BEFOREHAND})", ADVANCE).replace(f", {BEFOREHAND})", f"){ADVANCE}")


_SIGNS = {"yes": "+", "no": "-", "open": "?"}


def _best(readings: Layout) -> str:
    """Returns the table of the readings that reproduce the most claims, best first; claims are signs in one cell."""
    header = list(readings.header)
    count = next(index for index, name in enumerate(header) if name in ("reproduced", "claims"))
    lines = sorted(readings.lines, key=lambda line: int(line[count].split()[0]), reverse=True)
    title = readings.title
    if len(lines) > PAGE_READINGS:
        title = f"{title} (the first {PAGE_READINGS} of {len(lines)} readings)"
    shown: list[Sequence[str]] = [list(line) for line in lines[:PAGE_READINGS]]
    if shown[0][-1] in _SIGNS:
        names = [name.partition(": ") for name in header[count + 1 :]]
        claims = "; ".join(
            claim if before is not None and item == before[0] else f"{item}: {claim}"
            for (item, _, claim), before in zip(names, [None, *names], strict=False)
        )
        title = title.replace("yes where a reading reproduces a claim", "+ reproduced, - not, ? undecided")
        shown = [(*line[: count + 1], "".join(_SIGNS[cell] for cell in line[count + 1 :])) for line in shown]
        header = [*header[: count + 1], "claims"]
        return f"**{title}**\n\nClaims, in this order: {claims}.\n\n{markdown_table(header, shown)}"
    return f"**{title}**\n\n{markdown_table(header, shown)}"


def _layout(layout: Layout) -> str:
    return f"**{layout.title}**\n\n{markdown_table(layout.header, layout.lines)}"
