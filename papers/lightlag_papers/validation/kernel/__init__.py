"""Comparison of the running kernel's TCP over an emulated path with the simulated TCP over the simulated path.

Both paths are described by the same file, ``path.toml``. ``lightlag validate kernel`` runs transfers with exact
patterns of losses, transfers whose completion is timed, bulk flows, and families such as small buffers, thin
return links and outages; it counts retransmissions and timeouts on both sides, prints a verdict for each
criterion and writes the page ``docs/validation/kernel.md``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lightlag.emulation.namespaces import allowed
from lightlag.errors import InputError
from lightlag_papers.validation import pages
from lightlag_papers.validation.kernel.criteria import Compared, cells
from lightlag_papers.validation.kernel.families import every_family, few_families
from lightlag_papers.validation.kernel.page import kernel_page
from lightlag_papers.validation.kernel.points import all_points, short_points
from lightlag_papers.validation.kernel.runs import Kept, Observed, measure, simulate

__all__ = ["validate"]

KEPT = Path("results/kernel.jsonl")
"""The file in which the kernel's runs are stored."""

JOBS = 12
SHOWN = 6
"""Maximum number of a cell's runs whose counts are printed."""
REPEATS = 3
"""Number of runs of the kernel at each point where the runs differ little."""

SEEDS = 3
"""Number of runs of each bulk flow with random losses; flows whose results scatter have more."""


def validate(
    out: str | os.PathLike[str] | None,
    *,
    seeds: int | None = None,
    jobs: int | None = None,
    only: str = "",
    short: bool = False,
    again: bool = False,
    kept: str | os.PathLike[str] = KEPT,
    quiet: bool = True,
) -> Compared:
    """Compares every cell, prints the verdicts and writes the page.

    Parameters
    ----------
    out
        The directory for the pages. With None, `only` or `short` no page is written.
    seeds
        Runs of each flow with random losses or delays, 3 by default; bulk flows that scatter have more.
    jobs
        Number of simultaneous runs, 12 by default: they take little time, and each has namespaces of its own.
    only
        Run only cells whose description contains this text, and print each of them.
    short
        Run a few cells that take seconds.
    again
        Measure the kernel again even if stored runs exist.
    kept
        A file with the runs of this kernel on these paths. They are not measured again, so an interrupted measurement
        continues where it stopped.
    quiet
        Print nothing.

    Raises
    ------
    InputError
        If there is no directory for the pages, or no cell's description contains `only`.
    OSError
        If namespaces cannot be created, or a flow of the kernel failed.
    """
    from lightlag_papers.paper import status

    folder = None if out is None or only or short else Path(out)
    if folder is not None:
        pages.check_folder(folder)
    count = SEEDS if seeds is None else seeds
    points = [*short_points(), *few_families()] if short else [*all_points(count), *every_family(count)]
    points = [point for point in points if only in point.place]
    if not points:
        raise InputError(f'no cell of the comparison with the kernel contains "{only}"; try "tail" or "cubic, 200 ms"')
    if reason := allowed():
        raise OSError(f"{reason}; the kernel's TCP is measured between two namespaces, as root")
    store = Kept(Path(kept), forget=again)
    with status(shown=not quiet) as progress:
        kernel = measure(points, REPEATS, store, JOBS if jobs is None else jobs, progress)
        found = Compared(cells(kernel, simulate(points, progress)))
    if folder is not None:
        pages.write(folder, {"kernel": kernel_page(found.cells)})
    if not quiet:
        _print(found, detailed=bool(only) or short)
        if folder is not None:
            print(f"{folder / 'kernel.md'}: is written")
    return found


def _counts(runs: Sequence[Observed]) -> str:
    """Formats the retransmissions and timeouts of the first runs."""
    texts = list(dict.fromkeys(f"{run.retransmissions}/{run.timeouts}" for run in runs))
    return ", ".join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")


def _print(found: Compared, *, detailed: bool) -> None:
    """Prints the verdicts, and either every cell or the cells that deviate."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(markup=False, highlight=False)
    console.width = max(console.width, 120)
    table = Table("cell", "kernel s", "ours s", "ratio", "kernel retransmitted/timeouts", "ours", title_justify="left")
    for cell in found.cells:
        if not (detailed or cell.is_outside):
            continue
        counts, ours = _counts(cell.kernel), _counts(cell.ours)
        row = (
            cell.point.place,
            f"{cell.kernel_s:.3f}",
            f"{cell.ours_s:.3f}",
            f"{cell.ratio:.3f}",
            counts,
            ours,
        )
        table.add_row(*(Text(text, "red" if cell.is_outside else "") for text in row))
    if table.row_count:
        console.print(table)
    for verdict in found.verdicts:
        console.print(f"{'holds' if verdict.holds else 'DOES NOT HOLD'}: {verdict.criterion}: {verdict.found}")
