"""Comparison of QUIC with printed numbers: experiment cards, and TCP with equal constants.

``lightlag validate quic`` runs the cards, prints a verdict for each number and writes the page
``docs/validation/quic.md``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine, _signals
from lightlag_papers.kept import KeptRuns
from lightlag_papers.paper import status
from lightlag_papers.validation import pages
from lightlag_papers.validation.measured.fact import Verdict
from lightlag_papers.validation.measured.runs import Work
from lightlag_papers.validation.quic import cards, equal
from lightlag_papers.validation.quic.cards import Card
from lightlag_papers.validation.quic.equal import Pair
from lightlag_papers.validation.quic.rows import Row, rows

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Results", "validate"]

KEPT = Path("results/quic.jsonl")
"""The file in which finished runs are stored until all cards are complete."""


@dataclass
class Results:
    """All rows of the cards, and the pairs of QUIC and TCP with equal constants."""

    rows: Sequence[Row] = field(default_factory=list)
    pairs: Sequence[Pair] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """Returns all rows as plain values for JSON."""
        agree, differ, rest = (sum(row.verdict is verdict for row in self.rows) for verdict in Verdict)
        return {
            "validated": "quic",
            "version": _engine.__version__,
            "agrees": agree,
            "differs": differ,
            "no_verdict": rest,
            "rows": [row.record() for row in self.rows],
            "equal": [pair.record() for pair in self.pairs],
        }


def validate(
    out: str | os.PathLike[str] | None,
    *,
    jobs: int = 1,
    kept: str | os.PathLike[str] = KEPT,
    quiet: bool = True,
) -> Results:
    """Runs all cards and the pairs with equal constants, prints the rows and writes the page.

    Parameters
    ----------
    out
        The directory for the page; None to write none.
    jobs
        Number of simultaneous runs.
    kept
        File with finished runs. After an interruption, the same call makes only the remaining ones.
    quiet
        Print nothing. Otherwise the rows are printed to stdout, and the current step to stderr.

    Raises
    ------
    InputError
        If the directory cannot be created.
    """
    folder = None if out is None else Path(out)
    if folder is not None:
        pages.check_folder(folder)
    store = KeptRuns(Path(kept))
    found = Results()
    read = [cards.card(name) for name in cards.NAMES]
    with (
        tempfile.TemporaryDirectory(prefix=".lightlag-quic-") as directory,
        status(shown=not quiet) as progress,
        _signals.telling(store.told),
    ):
        work = Work(Path(directory), jobs, store, progress)
        for card in read:
            found.rows = [*found.rows, *rows(work, card)]
        found.pairs = equal.pairs(work, equal.setup())
    if folder is not None:
        write(read, found, folder)
    store.remove()
    if not quiet:
        from rich.console import Console

        show(found, Console())
        if folder is not None:
            print(f"{folder / 'quic.md'}: is written")
    return found


def write(read: Sequence[Card], found: Results, folder: Path) -> None:
    """Writes the page, and the rows as JSON, except among the pages of the documentation."""
    import json

    from lightlag.files.output import write_text
    from lightlag_papers.validation.quic.page import quic_page

    pages.write(folder, {"quic": quic_page(read, found.rows, found.pairs, equal.setup())})
    if folder != pages.FOLDER:
        write_text(folder / "quic.json", json.dumps(found.record(), indent=1, ensure_ascii=False) + "\n")


def show(found: Results, console: Console) -> None:
    """Prints all rows, the ratios with equal constants, and the counts."""
    from rich.table import Table
    from rich.text import Text

    table = Table("card", "setup", "sender", "printed", "lightlag", "ratio", "verdict", title_style="bold")
    for row in found.rows:
        setup = f"{row.setup}: {row.label}" if row.label else row.setup
        cells = (row.card, setup, row.sender, f"{row.source} {row.unit}", row.value, f"{row.ratio:.2f}")
        style = "red" if row.verdict is Verdict.DIFFERS else ""
        table.add_row(*(Text(cell, style) for cell in (*cells, row.verdict.value)))
    console.print(table)
    table = Table("congestion", "path", "QUIC", "TCP", "ratio", "verdict", title="Equal constants", title_style="bold")
    for pair in found.pairs:
        path = f"{pair.path.rate_mbps:g} Mbit/s, {pair.path.rtt_ms:g} ms, loss {100 * pair.path.loss:g} %"
        goodputs = (f"{pair.quic_mbps:.3g}", f"{pair.tcp_mbps:.3g}", f"{pair.ratio:.3f}")
        style = "red" if pair.verdict is Verdict.DIFFERS else ""
        table.add_row(*(Text(cell, style) for cell in (pair.congestion, path, *goodputs, pair.verdict.value)))
    console.print(table)
    record = found.record()
    agree, judged = record["agrees"], record["agrees"] + record["differs"]
    console.print(f"{agree} of {judged} printed values agree; {record['no_verdict']} no verdict", highlight=False)
