"""Runs the matrix: python -m interop [--short] [--only TEXT] [--jobs N] [--out docs/validation], from tests/."""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interop import cells, lab
from interop.cells import Cell
from lightlag_papers.validation import pages
from lightlag_papers.validation.pages import Page


@dataclass
class Outcome:
    """The outcome of a cell."""

    cell: Cell
    report: dict[str, Any] | None
    failure: str


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="interop", description="The kernel's TCP against ours.")
    parser.add_argument("--short", action="store_true", help="a part that takes seconds, of 4 MB each")
    parser.add_argument("--only", metavar="TEXT", default="", help="only cells whose name holds this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="simultaneous transfers")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the page into this directory")
    options = parser.parse_args()
    reason = lab.why_not()
    if reason is not None:
        print(f"interoperability is not tried: {reason}")
        return 0
    chosen = [cell for cell in (cells.short() if options.short else cells.full()) if options.only in cell.name()]
    if not chosen:
        print(f"no cell is called {options.only!r}", file=sys.stderr)
        return 2
    outcomes = play(chosen, options.jobs)
    failed = [outcome for outcome in outcomes if outcome.report is None]
    print(f"{len(outcomes) - len(failed)} of {len(outcomes)} transfers: the same bytes, no reset, no stall")
    if options.out is not None:
        pages.write(options.out, {"interoperability": page(outcomes)})
    return 1 if failed else 0


def play(chosen: list[Cell], jobs: int) -> list[Outcome]:
    """Runs the cells, ``jobs`` at a time, and prints a line for each."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        outcomes = []
        for outcome in pool.map(lambda pair: play_one(*pair), enumerate(chosen)):
            print(line(outcome), flush=True)
            outcomes.append(outcome)
    return outcomes


def play_one(number: int, cell: Cell) -> Outcome:
    """Runs one cell."""
    try:
        return Outcome(cell, lab.transfer(cell, number), "")
    except lab.TransferError as failure:
        return Outcome(cell, None, str(failure))


def line(outcome: Outcome) -> str:
    """Returns a line about an outcome for the terminal."""
    report = outcome.report
    if report is None:
        return f"FAIL  {outcome.cell.name()}: {outcome.failure}"
    return (
        f"ok    {outcome.cell.name()}: {report['rate']:.1f} Mbit/s, {report['lost']} lost, "
        f"{report['dropped']} dropped, longest stall {1e3 * report['longest_stall']:.0f} ms"
    )


def page(outcomes: list[Outcome]) -> Page:
    """Returns the validation page."""
    good = sum(outcome.report is not None for outcome in outcomes)
    rows = [
        "Both sides compare the SHA-256 of the received bytes. "
        f"Linux {platform.release().split('-')[0]}. Path: 200 Mbit/s, round trip 4 ms, "
        "queue of 500 packets. The algorithm is lightlag's; the kernel sends with cubic, bbr (with our bbr) "
        "or reno (with our newreno).",
        "",
        "Several transfers ran at the same time on two busy cores, so the rates show function, not performance.",
        "",
        "Goodput in Mbit/s:",
        "",
        "| direction | algorithm | loss 0 | loss 0.1 % | loss 1 % |",
        "|---|---|---|---|---|",
    ]
    by_cell = {outcome.cell: outcome for outcome in outcomes}
    for to_us in (True, False):
        for congestion in cells.ALGORITHMS:
            wanted = [Cell(to_us, congestion, loss, we_listen=to_us) for loss in cells.LOSSES]
            entries = [entry(by_cell.get(cell)) for cell in wanted]
            rows.append(f"| {'kernel → ours' if to_us else 'ours → kernel'} | {congestion} | {' | '.join(entries)} |")
    rows += ["", "Options, at a loss of 0.1 %:", ""]
    rows += ["| changed | algorithm | kernel → ours | ours → kernel |", "|---|---|---|---|"]
    changed = dict.fromkeys((o.cell.changed, o.cell.by_kernel) for o in outcomes if o.cell.changed)
    for options, by_kernel in changed:
        same = [o for o in outcomes if (o.cell.changed, o.cell.by_kernel) == (options, by_kernel)]
        towards = {outcome.cell.to_us: outcome for outcome in same}
        words = ", ".join(same[0].cell.words())
        algorithms = " / ".join(dict.fromkeys(outcome.cell.congestion for outcome in same))
        rows.append(f"| {words} | {algorithms} | {entry(towards.get(True))} | {entry(towards.get(False))} |")
    failures = [f"- {outcome.cell.name()}: {outcome.failure}" for outcome in outcomes if outcome.report is None]
    result = f"{good} of {len(outcomes)} transfers pass."
    criterion = "Each moves 64 MB without a reset and without a stall of more than three retransmission timeouts."
    body = "\n".join([*rows, *(["", *failures] if failures else [])])
    return Page("Interoperability with the kernel", result, "make interop", body, criterion)


def entry(outcome: Outcome | None) -> str:
    """Returns the text of a table cell for an outcome."""
    if outcome is None:
        return "–"
    return "failed" if outcome.report is None else f"{outcome.report['rate']:.1f}"


if __name__ == "__main__":
    sys.exit(main())
