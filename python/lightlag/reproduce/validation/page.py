"""The page ``docs/validation.md``: every table of the judges, and the papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lightlag import _engine
from lightlag.reproduce.paper import Picture, Reproduction
from lightlag.reproduce.table import markdown_table, to_markdown
from lightlag.reproduce.validation import response
from lightlag.reproduce.validation.judge import Judgement
from lightlag.reproduce.validation.response import Cell

INTRODUCTION = """\
# Validation

How far lightlag can be trusted: what it measures beside closed forms, and beside papers. This page is written by

    lightlag validate tcp

and by nobody's hand; the same version writes the same page. A deviation that is too large stays in the table. Every run
also checks that packets are conserved: sent = delivered + dropped + in flight.
"""

IN_TESTS = (
    (
        "M/D/1 and M/D/1/K: waiting time and loss of a queue with Poisson arrivals",
        "`cargo test -p lightlag-net --test md1`",
    ),
    ("RTT and RTO vectors of RFC 6298 (single samples, floors, back-off)", "`cargo test -p lightlag-control rtt`"),
    (
        "Mathis, CUBIC's response function, window / RTT, growth per round trip",
        "`cargo test -p lightlag-sim --test closed_form`",
    ),
    ("CUBIC's vectors: K, W(t), fast convergence, every variant", "`cargo test -p lightlag-control cubic`"),
    ("Hybla's vectors: ρ, slow start, avoidance", "`cargo test -p lightlag-control hybla`"),
    ("the SACK option byte by byte", "`cargo test -p lightlag-tcp --test sack_option`"),
    (
        "conservation of packets over random topologies, losses and sizes",
        "`cargo test -p lightlag-sim --test conservation`",
    ),
    ("the same seed gives the same hash", "`cargo test -p lightlag-sim --test determinism`"),
)

LIMITS = """\
## What the response functions say, and what not

The formulas of Mathis and of RFC 9438 §5.1 assume that losses come at equal distances of 1/p segments. Losses that are
random and independent come at exponential distances with the same mean, and then the mean window is larger: by 7 % for
Reno, and by 24 % for CUBIC without fast convergence, whose growth accelerates. The *renewal model* is the same growth
function with exponential distances (`python/lightlag/reproduce/validation/theory.py`). Where losses are random it is
the judge, and the formula stands beside it. Neither knows the time that recovery takes, timeouts, or whole segments.

A flow with equal distances between its losses is started with the window of its steady state. From elsewhere CUBIC
comes there only slowly, because its growth function is flat where it should correct: the deviation shrinks with one
over the square root of the number of losses. The formula therefore says little about short flows.
"""

RESPONSE = """\
## Congestion control under random losses

The mean window of one flow that nothing but losses holds back: segments of 1024 B on 1 Gbit/s, an ACK for each, SACK,
and independent losses of data with probability p. A cell is the window in segments that the delivered payload stands
for, and its relative deviation from the closed form; where that is more than 10 %, or where there is none, from the
*renewal model* too (`renewal.py`, `laws.py`): the same growth and reduction with random distances between losses, the
round trip until a loss is reported, and that of its repair. A cell in bold is explained by neither. Cells without a
percentage have no closed form. A cell is the run

    lightlag run python/lightlag/reproduce/validation/response.toml --set defaults.tcp.congestion=NAME \\
      --set links.0.delay=HALF_THE_RTT --set 'links.0.loss={ forward = P, backward = 0 }' --set duration=LONG_ENOUGH
"""

VERDICTS = """\
## Papers, run again: what a verdict says

A *claim* is what a paper prints: a number, an order, a shape in words. It is *reproduced* inside its band, *not
reproduced* outside, with the reason shown, and *cannot be judged* where the paper contradicts itself or leaves open
what decides. A row whose paper column is empty is no claim. It is an *own check*, against a closed form, a model or
another simulator, which *holds* or *does not hold* and is counted apart; or it stands for information.

Bands have two sides unless the paper itself prints a limit, and their origin stands beside them. *As printed*: the
paper's words are the criterion. *Set beforehand*: the band comes from the scatter of a model of the same experiment,
and was written down before the simulator first ran it. A paper shows one run or the mean of ten, so a band is as wide
as runs differ. No band is moved by a result.
"""

REASONS = {
    "random distances": "the closed form assumes a loss every 1/p segments, and random distances change the mean; the "
    "renewal model, which knows them, is within 10 %",
    "several losses a round trip": f"by the closed form p·W is {response.CROWDED} or more: a round trip often loses "
    "several segments, to which the window reacts once, and repairs follow one another; the form assumes single losses",
    "timeouts": f"{response.WAITING:.0%} of the time or more goes into timeouts, which the closed form does not know; "
    "with them the mean is that of Padhye et al. 1998",
}
"""Why a cell may be outside its closed form."""


@dataclass
class Findings:
    """What the judges found.

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


def document(found: Findings) -> str:
    """The page. Figures are expected where :func:`image` says, beside it."""
    parts = [INTRODUCTION, f"Version {_engine.__version__}.\n", "## Closed forms\n"]
    parts += judged(found.closed_forms)
    parts.append(LIMITS)
    if found.cells:
        parts += [RESPONSE, response_table(found.cells), explanations(found.cells)]
    if found.transport:
        parts.append("## Congestion control as a whole\n")
        parts += judged(found.transport)
    parts.append("## In the test suite\n\nThese judges are tests; `make test` runs them.\n")
    parts.append(markdown_table(("judge", "command"), IN_TESTS))
    if found.papers:
        parts.append(VERDICTS)
    parts += [_paper(reproduction) for reproduction in found.papers]
    return "\n".join(parts)


def judged(judgements: Sequence[Judgement]) -> list[str]:
    """How many hold, their table and their commands."""
    failed = sum(judgement.holds is False for judgement in judgements)
    number = sum(judgement.holds is not None for judgement in judgements)
    commands = "### Commands\n\nA row of the table above is made by the command of the same number.\n"
    return [f"{number - failed} of {number} hold.\n", _table(judgements), commands, _commands(judgements)]


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


def _paper(reproduction: Reproduction) -> str:
    paper = reproduction.paper
    layouts = [f"**{one.title}**\n\n{markdown_table(one.header, one.lines)}" for one in reproduction.layouts]
    pictures = [f"![{one.caption}]({image(reproduction, one)})\n\n{one.caption}" for one in reproduction.pictures]
    rest = "\n\n".join([*layouts, *reproduction.notes, *pictures])
    return (
        f"## {paper.title}\n\n{paper.reference}; `{paper.command}`. {reproduction.summary()}\n\n"
        f"{to_markdown(reproduction.rows)}\n{rest}\n"
    )
