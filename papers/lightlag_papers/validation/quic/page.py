"""The page of the experiment cards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from lightlag_papers.table import markdown_table
from lightlag_papers.validation.measured.fact import Verdict, number
from lightlag_papers.validation.pages import Page
from lightlag_papers.validation.quic.cards import Kind
from lightlag_papers.validation.quic.tolerances import EQUAL, PRINTED

if TYPE_CHECKING:
    from lightlag_papers.validation.quic.cards import Card
    from lightlag_papers.validation.quic.equal import Pair, Setup
    from lightlag_papers.validation.quic.rows import Row

__all__ = ["COMMAND", "quic_page"]

COMMAND = "lightlag validate quic"

INTRODUCTION = f"""\
Each row is a printed value, from a test, a measurement or an implementation in virtual time, and our median over
seeds. A bound (≤) must be satisfied; other values agree within {PRINTED:.0%}. These tolerances were fixed before the
first run (`quic/tolerances.py`), and the setups are data (`quic/cards/*.toml`). Values that differ are bold; for them,
suspected causes are tested with one changed setting at a time. `--json` prints every value with its range. Values of
quinn and aioquic are our own measurements of their code in virtual time.
"""

EQUAL_ABOUT = f"""\
Endless transfers of 60 s. Both transports have the same congestion control, initial window, losses of the same data
packets, no pacing, and large buffers and credit. Cells: loss, and mean goodput of QUIC divided by TCP's, with its
standard error; they agree within {EQUAL:.0%}. The headers of QUIC are 0.7 % larger. These settings are equal too:"""


def quic_page(cards: Sequence[Card], rows: Sequence[Row], pairs: Sequence[Pair], setup: Setup | None = None) -> Page:
    """Returns the page with all rows, good and bad ones alike. `setup` has the constants of the pairs."""
    parts = [INTRODUCTION, "## Cards\n", markdown_table(CARDS, _cards(cards, rows))]
    wide = [card for card in cards if _repeats(card)]
    for card in wide:
        parts += [f"## {card.title}\n", _matrix([row for row in rows if row.card == card.name])]
    narrow = [row for row in rows if row.card not in {card.name for card in wide}]
    parts += ["## Transfers\n", markdown_table(TRANSFERS, _transfers(narrow))]
    if deviations := [f"- **{card.name}**: {card.deviation}" for card in cards if _differs(card, rows)]:
        parts += ["## Deviations\n", "\n".join(deviations), ""]
    if pairs and setup:
        shared = "; ".join(one.name for one in setup.equal)
        parts += ["## Equal constants\n", f"{EQUAL_ABOUT} {shared}.\n", _equal(pairs), _causes(pairs, setup)]
    return Page("QUIC", _result(rows), COMMAND, "\n".join(parts), _about(rows, pairs))


def _result(rows: Sequence[Row]) -> str:
    """Returns the line of the index: bounds and measured values separately."""
    near, measured = _judged([row for row in rows if row.kind is not Kind.BOUND and not row.kind.is_own])
    met, bounds = _judged([row for row in rows if row.kind is Kind.BOUND])
    return f"{near} of {measured} measured values agree within {PRINTED:.0%}; {met} of {bounds} bounds are met."


def _about(rows: Sequence[Row], pairs: Sequence[Pair]) -> str:
    """Returns the counts of own checks."""
    held, checks = _judged([row for row in rows if row.kind.is_own])
    same = sum(pair.verdict is Verdict.AGREES for pair in pairs)
    return (
        f"{held} of {checks} own criteria hold; QUIC and TCP with equal constants agree within {EQUAL:.0%} in "
        f"{same} of {len(pairs)} cells."
    )


def _judged(rows: Sequence[Row]) -> tuple[int, int]:
    """Returns the number of rows that agree, and of those with a verdict."""
    verdicts = [row.verdict for row in rows if row.verdict is not Verdict.NO_VERDICT]
    return verdicts.count(Verdict.AGREES), len(verdicts)


CARDS = ("card", "source", "setup", "agrees", "differs", "no verdict")
TRANSFERS = ("card", "setup", "sender", "printed", "lightlag", "ratio", "verdict", "ratio with one change")


def _cards(cards: Sequence[Card], rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    for card in cards:
        verdicts = [row.verdict for row in rows if row.card == card.name]
        setup = f"{card.title}. {card.about}"
        yield card.name, card.source, setup, *(str(verdicts.count(one)) for one in Verdict)


def _differs(card: Card, rows: Sequence[Row]) -> bool:
    return bool(card.deviation) and any(row.card == card.name and row.verdict is Verdict.DIFFERS for row in rows)


def _repeats(card: Card) -> bool:
    """Returns true if a card has bounds of times, and a line of each setup for each of several senders."""
    senders, setups = {line.sender for line in card.lines}, {line.setup for line in card.lines}
    bounds = {(line.kind, line.metric) for line in card.lines} == {(Kind.BOUND, "time")}
    return bounds and len(senders) > 1 and len(setups) > 1 and len(card.lines) == len(senders) * len(setups)


def _matrix(rows: Sequence[Row]) -> str:
    """Returns a table with one row per setup and one column per sender."""
    senders = list(dict.fromkeys(row.sender for row in rows))
    lines = []
    for setup, group in groupby(rows, key=lambda row: row.setup):
        of = list(group)
        first = [row for row in of if row.sender == senders[0]]
        head = f"{setup}: {' / '.join(row.label for row in first)}"
        cells = (" / ".join(_bold(row) for row in of if row.sender == sender) for sender in senders)
        lines.append((head, f"≤ {' / '.join(number(row.printed) for row in first)}", *cells))
    return markdown_table(("setup", "printed, s", *senders), lines)


def _bold(row: Row) -> str:
    """Returns our value, bold if it differs."""
    shown = number(row.ours.value) if math.isfinite(row.ours.value) else f"> {row.longest}"
    return f"**{shown}**" if row.verdict is Verdict.DIFFERS else shown


def _transfers(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Returns a line for the numbers of a setup and sender."""
    for _, group in groupby(rows, key=lambda row: (row.card, row.setup, row.sender, row.metric)):
        of = list(group)
        first = of[0]
        labels = " / ".join(row.label for row in of)
        setup = f"{first.setup}: {labels}" if labels else first.setup
        printed = f"{' / '.join(row.source for row in of)} {first.unit}".strip()
        verdicts = [row.verdict for row in of]
        shown = verdicts[0].value if len(set(verdicts)) == 1 else " / ".join(one.value for one in verdicts)
        ours = " / ".join(_bold(row) for row in of)
        ratios = " / ".join(_ratio(row.ratio) for row in of)
        yield first.card, setup, first.sender, printed, ours, ratios, shown, _changes(of)


def _changes(rows: Sequence[Row]) -> str:
    """Returns the ratios of each change, for the numbers that differ."""
    names = dict.fromkeys(test.change for row in rows for test in row.tests)
    found = []
    for name in names:
        ratios = (next((_ratio(test.ratio) for test in row.tests if test.change == name), "–") for row in rows)
        found.append(f"{name} {' / '.join(ratios)}")
    return "; ".join(found)


def _ratio(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "∞"


def _equal(pairs: Sequence[Pair]) -> str:
    """Returns a table with a row per congestion control and rate, and a column per round-trip time."""
    delays = list(dict.fromkeys(pair.path.rtt_ms for pair in pairs))
    lines = []
    for (congestion, rate), group in groupby(pairs, key=lambda pair: (pair.congestion, pair.path.rate_mbps)):
        cells = []
        for pair in group:
            shown = f"{pair.ratio:.3f}"
            bold = f"**{shown}**" if pair.verdict is Verdict.DIFFERS else shown
            error = f" ± {pair.error:.3f}" if pair.error else ""
            cells.append(f"{100 * pair.path.loss:g} %: {bold}{error}")
        lines.append((congestion, f"{rate:g} Mbit/s", *cells))
    return markdown_table(("congestion", "rate", *(f"{delay:g} ms" for delay in delays)), lines)


def _causes(pairs: Sequence[Pair], setup: Setup) -> str:
    """Returns the number of seeds, and the cells that differ with their ratios with one change."""
    random = [pair for pair in pairs if pair.path.loss]
    seeds, error = [pair.seeds for pair in random], max((pair.error for pair in random), default=0.0)
    said = f"Paths with losses have {min(seeds, default=0)} to {max(seeds, default=0)} seeds; the largest standard "
    said += f"error is {error:.4f}."
    differ = [pair for pair in pairs if pair.verdict is Verdict.DIFFERS]
    if not differ:
        return f"{said}\n"
    said += (
        f" {len(differ)} cells differ. {setup.causes} Ratios with one change and up to {setup.change_seeds} seeds:\n"
    )
    names = [test.change for test in differ[0].tests]
    lines = [(name, *(_near(pair.tests[at].ratio) for pair in differ)) for at, name in enumerate(names)]
    cells = (
        f"{pair.congestion}, {pair.path.rate_mbps:g} Mbit/s, {pair.path.rtt_ms:g} ms, {100 * pair.path.loss:g} %: "
        f"{pair.ratio:.3f}"
        for pair in differ
    )
    return f"{said}\n{markdown_table(('change', *cells), lines)}"


def _near(ratio: float) -> str:
    """Returns a ratio, bold unless it is near 1."""
    return f"{ratio:.3f}" if abs(ratio - 1) <= EQUAL else f"**{ratio:.3f}**"
