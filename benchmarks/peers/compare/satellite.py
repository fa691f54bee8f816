"""The satellite of the HYBLA-CUBIC paper in ns-2 and in lightlag: a queue of 50 packets and one of a BDP."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from statistics import fmean, stdev

from grid import Outcome
from peers import NS2, Kept
from report import CLOSE

import lightlag
from lightlag.reproduce.hybla_cubic.scenarios import scenario

SOURCE = NS2.source.with_name("satellite.tcl")
MEGABITS = 34.368
PACKET, PAYLOAD = 1040, 1000
WINDOW = 5000
"""The maximum window in segments, and the first slow-start threshold."""
SECONDS = 200
SMALL_QUEUE = 50
ROUND_TRIPS_MS = (25, 100, 300, 600)
ERROR_RATES = ("1e-4", "1e-3", "1e-2")
PEER_SEEDS = {25: 8, 100: 6, 300: 6, 600: 20}
OUR_SEEDS = {25: 12, 100: 16, 300: 24, 600: 40}
"""By round-trip time: on a long path few losses decide a run."""
STEADY = ("hybla",)
"""Algorithms whose runs hardly differ, with eight seeds at most."""
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
        return _mean(self.ours) / _mean(self.theirs)

    @property
    def error(self) -> float:
        """Its standard error, from the spread of the seeds."""
        relative = (_error(side) / _mean(side) for side in (self.ours, self.theirs))
        return self.ratio * sum(part**2 for part in relative) ** 0.5

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
    pairs = []
    for cell, algorithm in product(cells(), ALGORITHMS):
        seeds = min(PEER_SEEDS[cell.round_trip_ms], 8 if algorithm in STEADY else 99)
        theirs = [kept.outcome(_command(algorithm, cell, seed), SECONDS, PAYLOAD) for seed in range(1, seeds + 1)]
        if not peers_only:
            ours = [_run(algorithm, cell, seed) for seed in range(1, OUR_SEEDS[cell.round_trip_ms] + 1)]
            pairs.append(Pair(algorithm, cell, theirs, ours))
    return page(pairs, kept.version) if pairs else ""


def _command(algorithm: str, cell: Cell, seed: int) -> list[str]:
    values = (ALGORITHMS[algorithm][0], cell.round_trip_ms, cell.error_rate, cell.queue, WINDOW, SECONDS, seed)
    return ["ns", str(SOURCE), *map(str, values)]


def _run(algorithm: str, cell: Cell, seed: int) -> Outcome:
    sets = {
        "duration": f"{SECONDS} s",
        "defaults.tcp.congestion": ALGORITHMS[algorithm][1],
        "defaults.tcp.initial_ssthresh": str(WINDOW),
        "links.1.queue": f"{cell.queue} packets",
        "links.2.delay": f"{cell.hop_ms:g} ms",
        "links.3.delay": f"{cell.hop_ms:g} ms",
        "links.2.loss": cell.error_rate,
        "links.3.loss": cell.error_rate,
        "record.trace": "off",
    }
    flow = lightlag.run(scenario("satellite"), seed=seed, sets=sets).summary["flows"][0]
    return Outcome(flow["goodput_bps"] / 1e6, flow["retransmitted_segments"], flow["mean_cwnd_segments"])


def _mean(outcomes: Iterable[Outcome]) -> float:
    return fmean(outcome.goodput_mbps for outcome in outcomes)


def _error(outcomes: list[Outcome]) -> float:
    values = [outcome.goodput_mbps for outcome in outcomes]
    return float(stdev(values)) / len(values) ** 0.5


def page(pairs: list[Pair], version: str) -> str:
    """The whole of docs/peers-satellite.md."""
    close = sum(pair.is_close for pair in pairs)
    parts = [_introduction(version), f"{close} of {len(pairs)} cells are within 10 %.\n", _summary(pairs), "", SETTINGS]
    for round_trip_ms in ROUND_TRIPS_MS:
        parts += [f"\n## {round_trip_ms} ms\n", _table([p for p in pairs if p.cell.round_trip_ms == round_trip_ms])]
    return "\n".join(parts) + "\n"


def _introduction(version: str) -> str:
    theirs, ours = (
        ", ".join(f"{count} at {round_trip_ms} ms" for round_trip_ms, count in seeds.items())
        for seeds in (PEER_SEEDS, OUR_SEEDS)
    )
    return f"""# Beside ns-2 over a satellite

One flow over the satellite of the HYBLA-CUBIC paper in lightlag, and in ns-2 {version} with TCP-Linux
(`benchmarks/peers/ns2/satellite.tcl`): access of 100 Mbit/s, a bottleneck of {MEGABITS} Mbit/s, up- and
down-link of that rate, each of which loses packets with the error rate, both ways. The queue of the bottleneck is
{SMALL_QUEUE} packets, the default of ns-2, or one bandwidth-delay product. This page is written by `make peers`, as
[that of the grid](peers.md).

Packets of 1000 B and 40 of headers, an ACK for each, {SECONDS} s, a maximum window of {WINDOW} packets. Goodput is in Mbit/s,
± its standard error. Seeds: of ns-2 {theirs}, of {", ".join(STEADY)} 8 at
most; ours {ours}.
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
| cubic has no dMin without timestamps, so nothing bounds its growth | `measure_delay` |

ns-2's congestion windows end at the maximum window, hybla's at 65,535 packets; ours at the receive buffer, which is
larger. ns-2 takes a segment that left at 0 s for one that was never timed, so its flow starts at 0.1 s."""


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
        "| algorithm | queue | error rate | goodput, ns-2 | ours | ratio | sent again, ns-2 | ours | verdict |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for pair in sorted(pairs, key=lambda pair: list(ALGORITHMS).index(pair.algorithm)):
        again = [fmean(outcome.retransmitted for outcome in side) for side in (pair.theirs, pair.ours)]
        values = (
            pair.algorithm,
            pair.cell.queue_name(),
            pair.cell.error_rate,
            f"{_mean(pair.theirs):.2f} ± {_error(pair.theirs):.2f}",
            f"{_mean(pair.ours):.2f} ± {_error(pair.ours):.2f}",
            f"{pair.ratio:.2f} ± {pair.error:.2f}",
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
