"""The findings of the judges as pages: closed forms, algorithms, and one for each paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from lightlag import _engine
from lightlag_papers.paper import Picture, Reproduction
from lightlag_papers.table import Layout, markdown_table, to_markdown
from lightlag_papers.validation import response
from lightlag_papers.validation.judge import Judgement
from lightlag_papers.validation.pages import Page
from lightlag_papers.validation.response import Cell

COMMAND = "lightlag validate tcp"

LIMITS = """\
## Limits of the response functions

The formulas of Mathis and of RFC 9438 §5.1 assume that losses come at equal distances of 1/p segments. Random,
independent losses come at exponential distances with the same mean, which makes the mean window larger: by 7 % for
Reno, and by 24 % for CUBIC without fast convergence, whose growth accelerates. The *renewal model* is the same growth
function with exponential distances (`python/lightlag/validation/theory.py`). It judges the rows with random
losses, and the formula is shown for comparison. Both leave out the time that recovery takes, timeouts, and whole
segments.

A flow with equal distances between its losses starts with the window of its steady state. From any other window CUBIC
approaches that state slowly, because its growth function is flat where it should correct: the deviation shrinks with
one over the square root of the number of losses. The formula therefore says little about short flows.
"""

RESPONSE = """\
## Windows under random losses

These are mean windows of one flow that only losses hold back: segments of 1024 B on 1 Gbit/s, an ACK for each, SACK,
and independent losses of data with probability p. A cell holds the window in segments that the delivered payload
amounts to, and its relative deviation from the closed form. Where that deviation is more than 10 %, or where there is
no closed form, the cell also holds the deviation from the *renewal model* (`renewal.py`, `laws.py`): the same growth
and reduction with random distances between losses, with the round trip until a loss is reported and the round trip of
its repair. Neither explains a cell in bold. Cells without a percentage have no closed form. A cell is the run

<!-- not run: names in capitals stand for values -->

    lightlag run papers/lightlag_papers/validation/response.toml --set defaults.tcp.congestion=NAME \\
      --set links.0.delay=HALF_THE_RTT --set 'links.0.loss={ forward = P, backward = 0 }' --set duration=LONG_ENOUGH
"""

REASONS = {
    "random distances": "the closed form assumes a loss every 1/p segments, and random distances change the mean; the "
    "renewal model, which has them, is within 10 %",
    "several losses a round trip": f"by the closed form p·W is {response.CROWDED} or more: a round trip often loses "
    "several segments, to which the window reacts once, and repairs follow one another; the form assumes single losses",
    "timeouts": f"{response.WAITING:.0%} of the time or more goes into timeouts, which the closed form leaves out; "
    "with them the mean is that of Padhye et al. 1998",
}
"""Why a cell may be outside its closed form."""


@dataclass
class Findings:
    """Everything that the judges found.

    Attributes
    ----------
    closed_forms, transport
        Judgements on links, timers and single windows; on algorithms as a whole.
    cells
        Mean windows under random losses.
    papers
        Papers, run again.
    """

    closed_forms: Sequence[Judgement] = ()
    cells: Sequence[Cell] = ()
    transport: Sequence[Judgement] = ()
    papers: Sequence[Reproduction] = field(default_factory=list)

    def failures(self) -> list[str]:
        """A line for each judgement and each cell that does not hold."""
        lines = [
            f"{judgement.judge}, {judgement.point}: {judgement.deviation}"
            for judgement in (*self.closed_forms, *self.transport)
            if judgement.holds is False
        ]
        return lines + [
            f"{cell.algorithm.label}, {cell.place}: {cell.text}" for cell in self.cells if cell.holds is False
        ]

    def record(self) -> dict[str, Any]:
        """Every judgement, and the papers without their figures, as plain values for JSON."""
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
    """The pages by name. Figures are expected where :func:`image` says."""
    papers = {reproduction.paper.name: _paper(reproduction) for reproduction in found.papers}
    return {"closed-forms": _closed_forms(found), "algorithms": _algorithms(found), **papers}


def _closed_forms(found: Findings) -> Page:
    body = "\n".join([*_judged(found.closed_forms, "##"), LIMITS])
    return Page("Closed forms", f"{_held(found.closed_forms)} hold.", COMMAND, body)


def _algorithms(found: Findings) -> Page:
    parts = [RESPONSE, response_table(found.cells), explanations(found.cells), "## Algorithms as a whole\n"]
    good, judged = sum(cell.holds is True for cell in found.cells), sum(cell.holds is not None for cell in found.cells)
    result = f"{good} of {judged} windows under random losses and {_held(found.transport)} other comparisons hold."
    return Page("Congestion control", result, COMMAND, "\n".join([*parts, *_judged(found.transport, "###")]))


def _held(judgements: Sequence[Judgement]) -> str:
    """The number of judgements that hold, of those with a verdict.

    Examples
    --------
    >>> _held([Judgement("a", "p", "x", "1", "1", "+0.00%", True, "1 %")])
    '1 of 1'
    """
    judged = [judgement.holds for judgement in judgements if judgement.holds is not None]
    return f"{sum(judged)} of {len(judged)}"


def _judged(judgements: Sequence[Judgement], level: str) -> list[str]:
    """The table of judgements and their commands, under a heading of a level."""
    commands = f"{level} Commands\n\nThe command with the number of a row makes that row.\n"
    return [_table(judgements), commands, _commands(judgements)]


def _numbers(judgements: Sequence[Judgement]) -> dict[str, int]:
    """A number for each command, in order."""
    commands = dict.fromkeys(j.command for j in judgements if j.command != "the same run")
    return {command: number for number, command in enumerate(commands, start=1)}


def _table(judgements: Sequence[Judgement]) -> str:
    numbers = _numbers(judgements)
    rows, last = [], ""
    for j in judgements:
        last = last if j.command == "the same run" else str(numbers[j.command])
        rows.append((last, j.judge, j.point, j.ours, j.theory, j.deviation, j.verdict, j.tolerance))
    header = ("command", "judge", "point", "lightlag", "theory", "deviation", "verdict", "tolerance")
    return markdown_table(header, rows)


def _commands(judgements: Sequence[Judgement]) -> str:
    return "".join(f"{number}. `{command}`\n" for command, number in _numbers(judgements).items())


RESPONSE_HEADER = ("algorithm", "p", "closed form", *(f"{rtt * 1e3:g} ms" for rtt in response.RTTS_S))


def response_lines(cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    """A line for each algorithm and loss rate."""
    lines: dict[tuple[str, float], list[Cell]] = {}
    for cell in cells:
        lines.setdefault((cell.algorithm.label, cell.p), []).append(cell)
    return [
        (label, response.power(p), _forms(line), *(cell.text for cell in line)) for (label, p), line in lines.items()
    ]


def _forms(line: Sequence[Cell]) -> str:
    """The closed form's windows, one if it does not depend on the round-trip time."""
    forms = list(dict.fromkeys("" if cell.formula is None else f"{cell.formula:.4g}" for cell in line))
    return ", ".join(forms)


def response_table(cells: Sequence[Cell]) -> str:
    """Mean windows and their deviations, and where the closed forms come from."""
    judged_cells = [cell for cell in cells if cell.holds is not None]
    direct = sum(cell.within_formula for cell in judged_cells)
    good = sum(cell.holds is True for cell in judged_cells)
    sources = dict.fromkeys((cell.algorithm.label, cell.algorithm.source or "none") for cell in cells)
    return "\n".join(
        (
            f"Of {len(judged_cells)} cells with a closed form that applies, {direct} are within 10 % of it, and "
            f"{good - direct} more within 10 % of the renewal model.\n",
            markdown_table(RESPONSE_HEADER, response_lines(cells)),
            "### Closed forms\n",
            markdown_table(("algorithm", "mean window in segments"), sources),
        )
    )


def explanations(cells: Sequence[Cell]) -> str:
    """The cells outside their closed form, by reason."""
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
    """Algorithms with their places."""
    places: dict[str, list[str]] = {}
    for cell in cells:
        places.setdefault(cell.algorithm.label, []).append(cell.place)
    return "".join(f"- {label}: {'; '.join(at)}\n" for label, at in places.items())


def image(reproduction: Reproduction, picture: Picture) -> str:
    """The place of a figure, relative to the page."""
    return f"images/{reproduction.paper.name}-{picture.name}.png"


def _paper(reproduction: Reproduction) -> Page:
    paper = reproduction.paper
    readings = [_layout(one) for one in reproduction.layouts if one is reproduction.readings]
    layouts = [_layout(one) for one in reproduction.layouts if one is not reproduction.readings]
    pictures = [f"![{one.caption}]({image(reproduction, one)})\n\n{one.caption}" for one in reproduction.pictures]
    about = f"{paper.reference}. `{paper.command}` makes this table and its figures alone."
    lead = [reproduction.lead] if reproduction.lead else []
    table = to_markdown(reproduction.rows)
    body = "\n\n".join([*lead, *readings, about, table, *layouts, *reproduction.notes, *pictures])
    return Page(paper.title, reproduction.summary(), COMMAND, body)


def _layout(layout: Layout) -> str:
    return f"**{layout.title}**\n\n{markdown_table(layout.header, layout.lines)}"
