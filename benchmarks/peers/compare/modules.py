"""Every congestion module that ns-2's TCP-Linux shares with us, with the profile `ns2-linux` alone: the path of the
satellite, the same data packets lost in both, writes docs/peers-modules.md.
"""

from __future__ import annotations

from itertools import product

import satellite
from grid import Outcome
from peers import NS2, Kept
from report import CLOSE
from satellite import LINKS, PAYLOAD, PRECISION, SOURCE, WINDOW, Cell, Pair, losses

import lightlag
from lightlag_papers.hybla_cubic.scenarios import scenario

SECONDS = 100
SEEDS, MOST_SEEDS = 2, 16
"""A cell with losses has so many seeds, and as many more, up to the most, while its ratio is not precise."""
ROUND_TRIPS_MS = (80, 450, 600)
QUEUES = (60, 644)
ERROR_RATES = ("0", "1e-4", "1e-3")
ALGORITHMS = {
    "newreno": "reno",
    "vegas": "vegas",
    "bic": "bic",
    "westwood": "westwood",
    "veno": "veno",
    "highspeed": "highspeed",
    "scalable": "scalable",
    "htcp": "htcp",
    "illinois": "illinois",
    "yeah": "yeah",
}
"""Our name, and theirs."""


def compared(peers_only: bool) -> str:
    """Runs ns-2, and lightlag unless only the peer's part is wanted; the text of the page."""
    kept = Kept(NS2.package, SOURCE, "ns2-modules")
    pairs = [
        Pair(algorithm, Cell(round_trip_ms, queue, error_rate), [], [])
        for algorithm, round_trip_ms, queue, error_rate in product(ALGORITHMS, ROUND_TRIPS_MS, QUEUES, ERROR_RATES)
    ]
    for pair in pairs:
        # Without losses every run is the same.
        first, most = (SEEDS, MOST_SEEDS) if float(pair.cell.error_rate) else (1, 1)
        if peers_only:
            for seed in range(1, first + 1):
                _peer(kept, pair, seed)
            continue
        while pair.needs_seeds(first, most):
            for seed in range(len(pair.ours) + 1, len(pair.ours) + first + 1):
                pair.theirs.append(_peer(kept, pair, seed))
                pair.ours.append(_run(pair, seed))
    return "" if peers_only else page(pairs, kept.version)


def _peer(kept: Kept, pair: Pair, seed: int) -> Outcome:
    cell = pair.cell
    values = (ALGORITHMS[pair.algorithm], cell.round_trip_ms, cell.error_rate, cell.queue, WINDOW, SECONDS, seed)
    lines = [" ".join(map(str, losses(cell, seed, link, SECONDS))) for link in LINKS]
    return kept.outcome(["ns", str(SOURCE), *map(str, values)], SECONDS, PAYLOAD, "\n".join(lines))


def _run(pair: Pair, seed: int) -> Outcome:
    cell = pair.cell
    sets = satellite.settings(cell, seed, SECONDS) | {"defaults.tcp.congestion": f'"{pair.algorithm}"'}
    flow = lightlag.run(scenario("satellite"), seed=seed, sets=sets).summary["flows"][0]
    return Outcome(flow["goodput_bps"] / 1e6, flow["retransmitted_segments"], flow["mean_cwnd_segments"])


def page(pairs: list[Pair], version: str) -> str:
    """The whole of docs/peers-modules.md."""
    close = sum(abs(pair.ratio - 1) <= CLOSE for pair in pairs)
    queues = " or ".join(map(str, QUEUES))
    parts = [
        f"""# Beside every module of ns-2's TCP-Linux

The congestion modules of Linux 2.6.22 that ns-2 {version} carries, beside ours with `profile = "ns2-linux"` and
nothing else: the profile chooses the variant `linux-2.6` of each algorithm. The path is
[that of the satellite](peers-satellite.md) with a bottleneck of {satellite.MEGABITS} Mbit/s, a queue of {queues}
packets, {SECONDS} s, a first ssthresh of {WINDOW} segments, and the same data packets lost in both. Goodput is in
Mbit/s; with losses each is the mean of {SEEDS} seeds, and of {SEEDS} more at a time, up to {MOST_SEEDS}, while the
standard error of the ratio is above {PRECISION:g}. The ratio is our goodput over that of ns-2. This page is written
by `make peers`.

{close} of {len(pairs)} cells are within 10 %.
""",
        _summary(pairs),
    ]
    for algorithm in ALGORITHMS:
        parts += [f"\n## {algorithm}\n", _table([pair for pair in pairs if pair.algorithm == algorithm])]
    return "\n".join(parts) + "\n"


def _summary(pairs: list[Pair]) -> str:
    lines = ["| algorithm | cells within 10 % | smallest ratio | largest |", "| --- | ---: | ---: | ---: |"]
    for algorithm in ALGORITHMS:
        ratios = [pair.ratio for pair in pairs if pair.algorithm == algorithm]
        close = sum(abs(ratio - 1) <= CLOSE for ratio in ratios)
        lines.append(f"| {algorithm} | {close} of {len(ratios)} | {min(ratios):.2f} | {max(ratios):.2f} |")
    return "\n".join(lines)


def _table(pairs: list[Pair]) -> str:
    lines = [
        "| RTT | queue | errors | goodput, ns-2 | ours | ratio | sent again, ns-2 | ours | mean cwnd, ns-2 | ours |",
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
        lines.append("| " + " | ".join(values) + " |")
    return "\n".join(lines)
