"""Compares the downloads: python -m interop_quic [--only TEXT] [--programs DIR] [--out DIR], from tests/."""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import lightlag
from interop_quic import cells, programs
from interop_quic.cells import Cell
from interop_quic.lab import Download, DownloadError, Processes, Programs, download, end_on_signals
from interop_quic.page import page, table
from interop_quic.rows import Row, Simulated
from lightlag.emulation.namespaces import allowed
from lightlag_papers.validation import pages

OUTPUT = Path("target/interop-quic")
"""Default directory of the stacks."""

SIMULTANEOUS = 6
"""Number of simultaneous downloads with random loss. Each has a few Mbit/s, and is only shown."""


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="interop_quic", description="Real QUIC stacks and their simulation.")
    parser.add_argument("--only", metavar="TEXT", default="", help="only downloads whose name contains this")
    parser.add_argument("--programs", type=Path, metavar="DIR", default=OUTPUT, help="where the stacks are built")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the page into this directory")
    options = parser.parse_args()
    reason = allowed()
    if reason is not None:
        print(f"QUIC stacks are not compared: {reason}")
        return 0
    judged = [cell for cell in cells.lossless() if options.only in cell.name()]
    shown = [cell for cell in cells.lossy() if options.only in cell.name()]
    if not judged and not shown:
        print(f"no download is called {options.only!r}", file=sys.stderr)
        return 2
    end_on_signals()
    processes = Processes()
    try:
        built = programs.prepared(options.programs.resolve())
        start = time.monotonic()
        rows = [*judge(judged, built, processes), *show(shown, built, processes)]
    except programs.BuildError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    wrong = [row for row in rows if row.is_wrong]
    print(f"\n{table(rows)}\n")
    print(f"{len(wrong)} of {len(rows)} downloads deviate or fail; {time.monotonic() - start:.0f} s, {load()}")
    if options.out is not None:
        pages.write(options.out, {"quic-interop": page(rows)})
    return 1 if wrong else 0


def judge(chosen: list[Cell], built: Programs, processes: Processes) -> list[Row]:
    """Runs downloads one after another, those that deviate twice."""
    rows = []
    for cell in chosen:
        row = play(cell, built, processes)
        say(row)
        if row.is_wrong:
            print(f"repeated; {load()}", flush=True)
            row = play(cell, built, processes)
            say(row)
        rows.append(row)
    return rows


def play(cell: Cell, built: Programs, processes: Processes) -> Row:
    """Runs the downloads of a cell one after another."""
    return row(cell, built, (download(cell, seed, built, processes) for seed in cell.seeds))


def show(chosen: list[Cell], built: Programs, processes: Processes) -> list[Row]:
    """Runs the downloads of cells with random loss simultaneously."""
    with concurrent.futures.ThreadPoolExecutor(SIMULTANEOUS) as pool:
        try:
            started = {
                cell: [pool.submit(download, cell, seed, built, processes) for seed in cell.seeds] for cell in chosen
            }
            rows = []
            for cell, downloads in started.items():
                rows.append(row(cell, built, (one.result() for one in downloads)))
                say(rows[-1])
        except BaseException:
            processes.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return rows


def row(cell: Cell, built: Programs, measured: Iterable[Download]) -> Row:
    """Returns the row of a cell. ``measured`` runs the downloads."""
    simulated = [simulate(cell, seed, built.certificate) for seed in cell.seeds]
    try:
        return Row(cell, list(measured), simulated)
    except (DownloadError, OSError) as failure:
        return Row(cell, [], simulated, str(failure))


def simulate(cell: Cell, seed: int, certificate: int) -> Simulated:
    """Runs the simulation of a download."""
    flow = lightlag.run(cell.scenario(seed, certificate)).flows.row(0, named=True)
    return Simulated(flow["responses_mean_first_byte_s"], flow["responses_mean_s"])


def say(row: Row) -> None:
    """Prints a line about a row."""
    if row.failure:
        print(f"failed     {row.cell.name()}: {row.failure}", flush=True)
        return
    done, first = row.done, row.first_byte
    print(
        f"{row.verdict():10} {row.cell.name()}: {done.measured:.2f} s, simulated {done.simulated:.2f} s, "
        f"busy {done.busier / done.measured:.0%}, first byte {first.measured:.3f} s, simulated "
        f"{first.simulated:.3f} s, computing {first.both:.3f} s, "
        f"{row.median(lambda one: one.dropped):.0f} packets dropped, "
        f"{row.median(lambda one: one.overflowed):.0f} at sockets, late {row.median(lambda one: one.late):.1f} ms",
        flush=True,
    )


def load() -> str:
    """Returns the load of the machine."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


if __name__ == "__main__":
    sys.exit(main())
