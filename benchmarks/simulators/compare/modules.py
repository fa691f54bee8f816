"""Compares every congestion module that ns-2's TCP-Linux shares with lightlag, with no settings but the profile
`ns2-linux`. The path is the satellite's, and both sides lose the same data packets. Writes docs/simulators-modules.md.
"""

from __future__ import annotations

from itertools import product

import satellite
from programs import NS2, Kept
from report import CLOSE
from satellite import PRECISION, SOURCE, WINDOW, Cell, Pair, Runs

SECONDS = 100
SEEDS, MAX_SEEDS = 2, 16
"""Number of seeds of a cell with losses, and the maximum. While the ratio of the cell is not precise enough, as many
are added again.
"""
ROUND_TRIPS_MS = (80, 450, 600)
QUEUES = (60, 644)
ERROR_RATES = ("0", "1e-4", "1e-3")
_SHARED = ("vegas", "bic", "westwood", "veno", "highspeed", "scalable", "htcp", "illinois", "yeah")
ALGORITHMS = {"newreno": ("reno", '"newreno"')} | {name: (name, f'"{name}"') for name in _SHARED}
"""By our name of an algorithm: its name in ns-2, and the settings of lightlag."""


def compared(others_only: bool) -> str:
    """Runs ns-2, and lightlag unless only ns-2's part is requested. Returns the text of the page."""
    runs = Runs(Kept(NS2.package, SOURCE, "ns2-modules"), ALGORITHMS, SECONDS)
    pairs = [
        Pair(algorithm, Cell(round_trip_ms, queue, error_rate), [], [])
        for algorithm, round_trip_ms, queue, error_rate in product(ALGORITHMS, ROUND_TRIPS_MS, QUEUES, ERROR_RATES)
    ]
    for pair in pairs:
        # Without losses every run is the same.
        first, most = (SEEDS, MAX_SEEDS) if float(pair.cell.error_rate) else (1, 1)
        runs.complete(pair, first, most, others_only)
    if others_only:
        return ""
    for algorithm in ALGORITHMS:
        print(f"ns-2 {runs.kept.version}, {algorithm}\n\n{_table([p for p in pairs if p.algorithm == algorithm])}\n")
    return page(pairs, runs.kept.version)


def page(pairs: list[Pair], version: str) -> str:
    """The complete text of docs/simulators-modules.md."""
    far = [pair for pair in pairs if abs(pair.ratio - 1) > CLOSE]
    parts = [introduction(len(pairs), len(pairs) - len(far), version), _summary(pairs)]
    if far:
        parts += [f"\n## Cells that differ by more than {100 * CLOSE:g} %\n", _table(far, named=True)]
    return "\n".join(parts) + "\n"


def introduction(cells: int, close: int, version: str) -> str:
    """Returns the text of the page with the verdict and the method."""
    queues = " or ".join(map(str, QUEUES))
    return f"""# Comparison with every module of ns-2's TCP-Linux

**{close} of {cells} goodputs are within {100 * CLOSE:g} % of ns-2 {version}.** The table at the end lists the others.

ns-2 carries the congestion modules of Linux 2.6.22. lightlag runs with `profile = "ns2-linux"` alone, which selects the
variant `linux-2.6` of each algorithm. The path is the [satellite path](simulators-satellite.md) with a bottleneck of
{satellite.MEGABITS} Mbit/s, a queue of {queues} packets, {SECONDS} s, an initial ssthresh of {WINDOW} segments, and the
same data packets lost in both. Goodput is in Mbit/s. A cell with losses is the mean of {SEEDS} seeds, and of {SEEDS}
more at a time, up to {MAX_SEEDS}, while the standard error of the ratio is above {PRECISION:g}. The ratio is our goodput
divided by ns-2's. `make simulators` writes this page and prints the tables with all cells.
"""


def _summary(pairs: list[Pair]) -> str:
    lines = ["| algorithm | cells within 10 % | smallest ratio | largest |", "| --- | ---: | ---: | ---: |"]
    for algorithm in ALGORITHMS:
        ratios = [pair.ratio for pair in pairs if pair.algorithm == algorithm]
        close = sum(abs(ratio - 1) <= CLOSE for ratio in ratios)
        lines.append(f"| {algorithm} | {close} of {len(ratios)} | {min(ratios):.2f} | {max(ratios):.2f} |")
    return "\n".join(lines)


def _table(pairs: list[Pair], *, named: bool = False) -> str:
    lines = [
        "| RTT | queue | errors | goodput, ns-2 | ours | ratio | retransmitted, ns-2 | ours | mean cwnd, ns-2 | ours |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for pair in pairs:
        sides = (pair.theirs, pair.ours)
        again = [sum(outcome.retransmitted for outcome in side) / len(side) for side in sides]
        windows = [sum(outcome.cwnd for outcome in side) / len(side) for side in sides]
        values = (
            f"{pair.cell.round_trip_ms} ms",
            str(pair.cell.queue),
            pair.cell.error_rate,
            *(f"{satellite.mean_goodput(side):.2f}" for side in sides),
            f"{pair.ratio:.3f}",
            *(f"{number:.0f}" for number in again),
            *(f"{window:.0f}" for window in windows),
        )
        lines.append("| " + " | ".join((pair.algorithm, *values) if named else values) + " |")
    if named:
        lines[:2] = [lines[0].replace("|", "| algorithm |", 1), lines[1].replace("|", "| --- |", 1)]
    return "\n".join(lines)
