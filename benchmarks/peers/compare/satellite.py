"""The satellite of the HYBLA-CUBIC paper in ns-2 and in lightlag: a queue of 50 packets and one of a BDP, and the same
data packets lost on each link in both.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from statistics import fmean, stdev

from grid import Outcome
from peers import NS2, Kept
from report import CLOSE

import lightlag
from lightlag_papers.hybla_cubic.scenarios import scenario

SOURCE = NS2.source.with_name("satellite.tcl")
MEGABITS = 34.368
PACKET, PAYLOAD = 1040, 1000
WINDOW = 5000
"""The maximum window in segments, and the first slow-start threshold."""
SECONDS = 200
SMALL_QUEUE = 50
ROUND_TRIPS_MS = (25, 100, 300, 600)
ERROR_RATES = ("1e-4", "1e-3", "1e-2")
LINKS = ("up", "down")
SEEDS, MOST_SEEDS = 4, 48
PRECISION = 0.02
"""A cell has so many seeds, and as many more, up to the most, while the standard error of its ratio is larger."""
ALGORITHMS = {
    "newreno": ("reno", '"newreno"'),
    "cubic": ("cubic", '{ algorithm = "cubic", variant = "linux-2.6", initial_ssthresh = 0 }'),
    "hybla": ("hybla", '{ algorithm = "hybla", variant = "linux-2.6" }'),
    "vegas": ("vegas", '{ algorithm = "vegas", variant = "linux-2.6" }'),
    "illinois": ("illinois", '{ algorithm = "illinois", variant = "linux-2.6" }'),
}
"""Our name: theirs, and what is set here."""


@dataclass(frozen=True)
class Cell:
    """A path."""

    round_trip_ms: int
    queue: int
    error_rate: str
    """Loss rate of packets on either link of the satellite, both ways."""

    @property
    def hop_ms(self) -> float:
        """One of the satellite's two links, beside 7.5 ms on the ground."""
        return (self.round_trip_ms / 2 - 7.5) / 2

    def queue_name(self) -> str:
        """As the tables have it."""
        return f"{self.queue} packets" if self.queue == SMALL_QUEUE else f"1 BDP ({self.queue})"


@dataclass(frozen=True)
class Pair:
    """One algorithm on one path: goodput in Mbit/s, a value a seed."""

    algorithm: str
    cell: Cell
    theirs: list[Outcome]
    ours: list[Outcome]

    @property
    def ratio(self) -> float:
        """Our mean over theirs."""
        return mean_goodput(self.ours) / mean_goodput(self.theirs)

    @property
    def error(self) -> float:
        """Its standard error, from the differences between the two sides at each seed."""
        ratio = self.ratio
        sides = zip(self.ours, self.theirs, strict=True)
        apart = _error(ours.goodput_mbps - ratio * theirs.goodput_mbps for ours, theirs in sides)
        return apart / mean_goodput(self.theirs)

    def needs_seeds(self, first: int, most: int) -> bool:
        """Whether it has fewer than `first` seeds, or is not precise and has fewer than `most`."""
        return len(self.ours) < first or (len(self.ours) < most and self.error > PRECISION)

    @property
    def is_close(self) -> bool:
        """Within 10 %."""
        return abs(self.ratio - 1) <= CLOSE


def bdp(round_trip_ms: int) -> int:
    """In packets."""
    return round(MEGABITS * 1e3 * round_trip_ms / 8 / PACKET)


def cells() -> list[Cell]:
    """Every path."""
    return [
        Cell(round_trip_ms, queue, error_rate)
        for round_trip_ms in ROUND_TRIPS_MS
        for queue, error_rate in product((SMALL_QUEUE, bdp(round_trip_ms)), ERROR_RATES)
    ]


def compared(peers_only: bool) -> str:
    """Runs ns-2, and lightlag unless only the peer's part is wanted; the text of the page."""
    kept = Kept(NS2.package, SOURCE, "ns2-satellite")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        places = [Pair(algorithm, cell, [], []) for cell, algorithm in product(cells(), ALGORITHMS)]
        if peers_only:
            list(pool.map(lambda pair: [_peer(kept, pair, seed) for seed in range(1, SEEDS + 1)], places))
            return ""
        return page(list(pool.map(lambda pair: _completed(kept, pair), places)), kept.version)


def _completed(kept: Kept, pair: Pair) -> Pair:
    while pair.needs_seeds(SEEDS, MOST_SEEDS):
        for seed in range(len(pair.ours) + 1, len(pair.ours) + SEEDS + 1):
            pair.theirs.append(_peer(kept, pair, seed))
            pair.ours.append(_run(pair, seed))
    return pair


def losses(cell: Cell, seed: int, link: str, seconds: int = SECONDS) -> list[int]:
    """The data packets that a link loses, counted from 1: the same for every algorithm, queue and side."""
    if not float(cell.error_rate):
        return []
    most = math.ceil(MEGABITS * 1e6 * seconds / 8 / PACKET)
    draw, scale = random.Random(f"{cell.error_rate} {seed} {link}"), 1 / math.log1p(-float(cell.error_rate))
    found = []
    number = 0
    while (number := number + 1 + int(math.log(1 - draw.random()) * scale)) <= most:
        found.append(number)
    return found


def _peer(kept: Kept, pair: Pair, seed: int) -> Outcome:
    cell = pair.cell
    values = (ALGORITHMS[pair.algorithm][0], cell.round_trip_ms, cell.error_rate, cell.queue, WINDOW, SECONDS, seed)
    lines = [" ".join(map(str, losses(cell, seed, link))) for link in LINKS]
    return kept.outcome(["ns", str(SOURCE), *map(str, values)], SECONDS, PAYLOAD, "\n".join(lines))


def _run(pair: Pair, seed: int) -> Outcome:
    sets = settings(pair.cell, seed, SECONDS) | {"defaults.tcp.congestion": ALGORITHMS[pair.algorithm][1]}
    flow = lightlag.run(scenario("satellite"), seed=seed, sets=sets).summary["flows"][0]
    return Outcome(flow["goodput_bps"] / 1e6, flow["retransmitted_segments"], flow["mean_cwnd_segments"])


def settings(cell: Cell, seed: int, seconds: int) -> dict[str, str]:
    """The path of a cell, as changes of the scenario `satellite`."""
    sets = {
        "duration": f"{seconds} s",
        "defaults.tcp.initial_ssthresh": str(WINDOW),
        "links.1.queue": f"{cell.queue} packets",
        "record.trace": "off",
    }
    for index, link in enumerate(LINKS, start=2):
        forward = f"{{ packets = {losses(cell, seed, link, seconds)} }}"
        sets[f"links.{index}.delay"] = f"{cell.hop_ms:g} ms"
        lossy = f"{{ forward = {forward}, backward = {cell.error_rate} }}"
        sets[f"links.{index}.loss"] = lossy if float(cell.error_rate) else "0"
    return sets


def mean_goodput(outcomes: Iterable[Outcome]) -> float:
    """In Mbit/s."""
    return fmean(outcome.goodput_mbps for outcome in outcomes)


def _error(values: Iterable[float]) -> float:
    values = list(values)
    return float(stdev(values)) / len(values) ** 0.5


def page(pairs: list[Pair], version: str) -> str:
    """The whole of docs/peers-satellite.md."""
    close = sum(pair.is_close for pair in pairs)
    parts = [_introduction(version), f"{close} of {len(pairs)} cells are within 10 %.\n", _summary(pairs), "", SETTINGS]
    for round_trip_ms in ROUND_TRIPS_MS:
        parts += [f"\n## {round_trip_ms} ms\n", _table([p for p in pairs if p.cell.round_trip_ms == round_trip_ms])]
    return "\n".join(parts) + "\n"


def _introduction(version: str) -> str:
    return f"""# Beside ns-2 over a satellite

One flow over the satellite of the HYBLA-CUBIC paper in lightlag, and in ns-2 {version} with TCP-Linux
(`benchmarks/peers/ns2/satellite.tcl`): access of 100 Mbit/s, a bottleneck of {MEGABITS} Mbit/s, up- and
down-link of that rate, each of which loses packets with the error rate, both ways. Both simulators lose the same data
packets: a list for each link and seed numbers them in the order in which the link carries them. Lost ACKs are each
simulator's own draws. The queue of the bottleneck is {SMALL_QUEUE} packets, the default of ns-2, or one bandwidth-delay
product. This page is written by `make peers`, as [that of the grid](peers.md).

Packets of 1000 B and 40 of headers, an ACK for each, {SECONDS} s, a maximum window of {WINDOW} packets. Goodput is in
Mbit/s, ± its standard error over the seeds; the error of a ratio is that of the differences at each seed. A cell has
{SEEDS} seeds, and {SEEDS} more at a time, up to {MOST_SEEDS}, while the error of its ratio is above {PRECISION:g}.
"""


SETTINGS = f"""## What is set

Profile `ns2-linux`, `initial_ssthresh = {WINDOW}`; newreno takes the increase of Linux 2.6 by the profile, the others
`variant = "linux-2.6"`, cubic with `initial_ssthresh = 0`, as ns-2.35 has it.

What the profile does there, and where ns-2 does it:

| what | where in ns-2 |
| --- | --- |
| a segment is lost when one four above it was reported, and a repair when data that left after it was, or a repair five later | `ScoreBoard1::UpdateScoreBoard` |
| when an episode ends all reports are forgotten | `LinuxTcpAgent::tcp_fastretrans_alert` |
| a segment leaves for two ACKs of the repair, down to half of ssthresh (cubic: ssthresh); then the window is at most three segments above what is in flight | `send_much`, `tcp_reno_min_cwnd`, `tcp_moderate_cwnd` |
| every timeout halves the window | `enter_loss` |
| every ACK restarts the timer; one segment at a time is timed, in ticks of 1 ms, through its repairs | `time_processing`, `TcpAgent::output` |
| newreno counts bytes in avoidance, those of the repair too | `tcp_reno_cong_avoid` with `tcp_abc` |
| hybla adds whole 1/128 of a segment | `hybla_cong_avoid` |
| illinois keeps β of the window, not 1 - β | `tcp_illinois_ssthresh` |
| vegas adds a segment every second round, and its base is the round trip of the handshake: ns-2 gives the first packet 40 bytes | `tcp_vegas_cong_avoid`, `Agent/TCP syn_` |
| a round of vegas and illinois ends with the first ACK of data that left in it | `after(ack, beg_snd_nxt)`, `after(ack, end_seq)` |
| cubic has no dMin without timestamps, so nothing bounds its growth | `measure_delay` |

ns-2's congestion windows end at the maximum window, hybla's at 65,535 packets; ours at the receive buffer, which is
larger. ns-2 takes a segment that left at 0 s for one that was never timed, so its flow starts at 0.1 s. Our SYN has the
options of a SYN and 52 bytes. Vegas' base is 19 us longer by that, which at 25 ms lets its window grow to 53 segments
where ns-2's stays at 50: that is the 3 % at 1e-4."""


def _summary(pairs: list[Pair]) -> str:
    lines = [
        "| algorithm | queue | cells within 10 % | smallest ratio | largest |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for algorithm, small in product(ALGORITHMS, (True, False)):
        own = [p for p in pairs if p.algorithm == algorithm and (p.cell.queue == SMALL_QUEUE) == small]
        ratios = [pair.ratio for pair in own]
        close = sum(pair.is_close for pair in own)
        queue = f"{SMALL_QUEUE} packets" if small else "1 BDP"
        lines.append(f"| {algorithm} | {queue} | {close} of {len(own)} | {min(ratios):.2f} | {max(ratios):.2f} |")
    return "\n".join(lines)


def _table(pairs: list[Pair]) -> str:
    lines = [
        "| algorithm | queue | error rate | seeds | goodput, ns-2 | ours | ratio | sent again, ns-2 | ours | verdict |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for pair in sorted(pairs, key=lambda pair: list(ALGORITHMS).index(pair.algorithm)):
        sides = (pair.theirs, pair.ours)
        again = [fmean(outcome.retransmitted for outcome in side) for side in sides]
        values = (
            pair.algorithm,
            pair.cell.queue_name(),
            pair.cell.error_rate,
            str(len(pair.ours)),
            *(f"{mean_goodput(side):.2f} ± {_error(outcome.goodput_mbps for outcome in side):.2f}" for side in sides),
            f"{pair.ratio:.3f} ± {pair.error:.3f}",
            f"{again[0]:.0f}",
            f"{again[1]:.0f}",
            _verdict(pair),
        )
        lines.append("| " + " | ".join(values) + " |")
    return "\n".join(lines)


def _verdict(pair: Pair) -> str:
    if pair.is_close:
        return "within 10 %"
    beyond = abs(pair.ratio - 1) - CLOSE
    return "by chance, or beyond 10 %" if beyond <= 2 * pair.error else "beyond 10 %"
