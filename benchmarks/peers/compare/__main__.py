"""Compares lightlag with ns-3 and ns-2 on a grid of one-flow scenarios, and writes docs/peers.md; with ns-2 also over a
satellite with a small queue, and writes docs/peers-satellite.md, and with every module of its TCP-Linux, and writes
docs/peers-modules.md.

    python benchmarks/peers/compare

What the peers give is kept in target/peers; run from the root of the repository, after `make peers` built them.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import modules
import ours
import satellite
from grid import CELLS, mean
from peers import PEERS, Peer, Runs
from report import Row, page, table
from settings import SWITCHES


def main() -> None:
    """Runs the grid."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers-only", action="store_true", help="run and keep the peers' part, nothing else")
    parser.add_argument("--out", type=Path, default=Path("docs/peers.md"), help="the page of the grid")
    parser.add_argument(
        "--satellite-out", type=Path, default=Path("docs/peers-satellite.md"), help="the satellite's page"
    )
    parser.add_argument(
        "--modules-out", type=Path, default=Path("docs/peers-modules.md"), help="the page of the modules of TCP-Linux"
    )
    parser.add_argument("--only", choices=["grid", "satellite", "modules"], help="write one page")
    arguments = parser.parse_args()
    if arguments.only in (None, "grid"):
        _grid(arguments)
    if arguments.only in (None, "satellite"):
        _write(satellite.compared(arguments.peers_only), arguments.satellite_out, arguments.peers_only)
    if arguments.only in (None, "modules"):
        _write(modules.compared(arguments.peers_only), arguments.modules_out, arguments.peers_only)


def _write(text: str, page: Path, peers_only: bool) -> None:
    if not peers_only:
        page.write_text(text, "utf-8")
        print(f"wrote {page}")


def _grid(arguments: argparse.Namespace) -> None:
    versions = {}
    rows = []
    for peer in PEERS:
        runs = Runs(peer)
        versions[peer.name] = runs.version
        for algorithm in peer.algorithms:
            compared = _compare(peer, algorithm, runs, arguments.peers_only)
            if compared:
                print(f"{peer.name} {runs.version}, {algorithm}\n\n{table(compared)}\n", flush=True)
            rows += compared
    if not arguments.peers_only:
        arguments.out.write_text(page(rows, versions, sorted(_missing())), "utf-8")
        print(f"wrote {arguments.out}")


def _compare(peer: Peer, algorithm: str, runs: Runs, peers_only: bool) -> list[Row]:
    """The rows of an algorithm; none where there is nothing of ours to compare."""
    theirs = {}
    for cell in CELLS:
        window = ours.window(algorithm, cell)
        theirs[cell] = [runs.outcome(algorithm, cell, window, seed) for seed in cell.seeds]
    if peers_only or algorithm not in ours.known():
        return []
    switch = SWITCHES.get((peer.name, algorithm))
    rows = []
    for cell in CELLS:
        plain = mean(ours.outcomes(peer.name, algorithm, cell, None))
        set_alike = mean(ours.outcomes(peer.name, algorithm, cell, switch)) if switch else plain
        row = Row(peer.name, algorithm, cell, theirs[cell], set_alike, plain)
        named = row.difference if row.is_outlier else None
        if named is not None and named.proof is not None:
            alike = mean(ours.outcomes(peer.name, algorithm, cell, named.proof))
            row = replace(row, alike=alike)
        rows.append(row)
    return rows


def _missing() -> set[str]:
    return {name for peer in PEERS for name in peer.algorithms} - ours.known()


if __name__ == "__main__":
    main()
