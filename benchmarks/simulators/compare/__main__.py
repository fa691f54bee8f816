"""Compares lightlag with ns-3 and ns-2 on a grid of one-flow scenarios, and writes docs/simulators.md; with ns-2 also over a
satellite with a small queue, and writes docs/simulators-satellite.md, and with every module of its TCP-Linux, and writes
docs/simulators-modules.md.

    python benchmarks/simulators/compare

The results of the other simulators are stored in target/simulators. Run from the root of the repository, after `make simulators` built them.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import modules
import ours
import satellite
from grid import CELLS, mean
from programs import PROGRAMS, Program, Runs
from report import Row, page, table
from settings import SWITCHES


def main() -> None:
    """Runs the grid."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--others-only", action="store_true", help="run and keep the simulators' part, nothing else")
    parser.add_argument("--out", type=Path, default=Path("docs/simulators.md"), help="the page of the grid")
    parser.add_argument(
        "--satellite-out", type=Path, default=Path("docs/simulators-satellite.md"), help="the satellite's page"
    )
    parser.add_argument(
        "--modules-out", type=Path, default=Path("docs/simulators-modules.md"), help="the page of the modules of TCP-Linux"
    )
    parser.add_argument("--only", choices=["grid", "satellite", "modules"], help="write one page")
    arguments = parser.parse_args()
    if arguments.only in (None, "grid"):
        _grid(arguments)
    if arguments.only in (None, "satellite"):
        _write(satellite.compared(arguments.others_only), arguments.satellite_out, arguments.others_only)
    if arguments.only in (None, "modules"):
        _write(modules.compared(arguments.others_only), arguments.modules_out, arguments.others_only)


def _write(text: str, page: Path, others_only: bool) -> None:
    if not others_only:
        page.write_text(text, "utf-8")
        print(f"wrote {page}")


def _grid(arguments: argparse.Namespace) -> None:
    versions = {}
    rows = []
    for simulator in PROGRAMS:
        runs = Runs(simulator)
        versions[simulator.name] = runs.version
        for algorithm in simulator.algorithms:
            compared = _compare(simulator, algorithm, runs, arguments.others_only)
            if compared:
                print(f"{simulator.name} {runs.version}, {algorithm}\n\n{table(compared)}\n", flush=True)
            rows += compared
    if not arguments.others_only:
        arguments.out.write_text(page(rows, versions, sorted(_missing())), "utf-8")
        print(f"wrote {arguments.out}")


def _compare(simulator: Program, algorithm: str, runs: Runs, others_only: bool) -> list[Row]:
    """Returns the rows of an algorithm; none if lightlag has no equivalent."""
    theirs = {}
    for cell in CELLS:
        window = ours.window(algorithm, cell)
        theirs[cell] = [runs.outcome(algorithm, cell, window, seed) for seed in cell.seeds]
    if others_only or algorithm not in ours.known():
        return []
    switch = SWITCHES.get((simulator.name, algorithm))
    rows = []
    for cell in CELLS:
        plain = mean(ours.outcomes(simulator.name, algorithm, cell, None))
        set_alike = mean(ours.outcomes(simulator.name, algorithm, cell, switch)) if switch else plain
        row = Row(simulator.name, algorithm, cell, theirs[cell], set_alike, plain)
        named = row.difference if row.is_outlier else None
        if named is not None and named.proof is not None:
            alike = mean(ours.outcomes(simulator.name, algorithm, cell, named.proof))
            row = replace(row, alike=alike)
        rows.append(row)
    return rows


def _missing() -> set[str]:
    return {name for simulator in PROGRAMS for name in simulator.algorithms} - ours.known()


if __name__ == "__main__":
    main()
