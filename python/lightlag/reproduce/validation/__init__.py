"""Judges: what lightlag measures beside what closed forms and papers say, as ``docs/validation.md``.

Run it with ``python -m lightlag.reproduce.validation``.
"""

from __future__ import annotations

from collections.abc import Sequence

from lightlag import _engine
from lightlag.reproduce.paper import Picture, Reproduction
from lightlag.reproduce.table import Verdict, markdown_table, to_markdown
from lightlag.reproduce.validation.judge import Judgement

__all__ = ["Judgement", "document", "image"]

INTRODUCTION = """\
# Validation

How far lightlag can be trusted: what it measures beside closed forms, and beside papers. This page is written by

    python -m lightlag.reproduce.validation

and by nobody's hand; the same version writes the same page. A deviation that is too large stays in the table. Every run
also checks that packets are conserved: sent = delivered + dropped + in flight.
"""

IN_TESTS = (
    (
        "M/D/1 and M/D/1/K: waiting time and loss of a queue with Poisson arrivals",
        "`cargo test -p lightlag-net --test md1`",
    ),
    ("RTT and RTO vectors of RFC 6298 (single samples, floors, back-off)", "`cargo test -p lightlag-tcp rtt`"),
    (
        "Mathis, CUBIC's response function, window / RTT, growth per round trip",
        "`cargo test -p lightlag-sim --test closed_form`",
    ),
    ("CUBIC's vectors: K, W(t), fast convergence, every variant", "`cargo test -p lightlag-tcp cubic`"),
    ("Hybla's vectors: ρ, slow start, avoidance", "`cargo test -p lightlag-tcp hybla`"),
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


def document(judgements: Sequence[Judgement], reproductions: Sequence[Reproduction]) -> str:
    """The page. Figures are expected where :func:`image` says, beside it."""
    failed = sum(judgement.holds is False for judgement in judgements)
    judged = sum(judgement.holds is not None for judgement in judgements)
    parts = [INTRODUCTION, f"Version {_engine.__version__}.\n", "## Closed forms\n"]
    parts.append(f"{judged - failed} of {judged} hold.\n")
    parts.append(_table(judgements))
    parts.append("### Commands\n\nA row of the table above is made by the command of the same number.\n")
    parts.append(_commands(judgements))
    parts.append(LIMITS)
    parts.append("## In the test suite\n\nThese judges are tests; `make test` runs them.\n")
    parts.append(markdown_table(("judge", "command"), IN_TESTS))
    parts += [_paper(reproduction) for reproduction in reproductions]
    return "\n".join(parts)


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


def image(reproduction: Reproduction, picture: Picture) -> str:
    """The place of a figure, relative to the page."""
    return f"images/{reproduction.paper.name}-{picture.name}.png"


def _paper(reproduction: Reproduction) -> str:
    paper = reproduction.paper
    good, bad = (reproduction.count(verdict) for verdict in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED))
    layouts = [f"**{one.title}**\n\n{markdown_table(one.header, one.lines)}" for one in reproduction.layouts]
    pictures = [f"![{one.caption}]({image(reproduction, one)})\n\n{one.caption}" for one in reproduction.pictures]
    rest = "\n\n".join([*layouts, *reproduction.notes, *pictures])
    return (
        f"## {paper.title}\n\n{paper.reference}; `{paper.command}`. {good} of {good + bad} claims are reproduced.\n\n"
        f"{to_markdown(reproduction.rows)}\n{rest}\n"
    )
