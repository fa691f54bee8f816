"""The satellite of the HYBLA-CUBIC paper in ns-2 and in lightlag: a queue of 50 packets and one of a BDP, and the same
data packets lost on each link in both.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from statistics import fmean, stdev

from grid import Outcome
from programs import NS2, Kept
from report import CLOSE

import lightlag
from lightlag_papers.scenarios import scenario

SOURCE = NS2.source.with_name("satellite.tcl")
MEGABITS = 34.368
PACKET, PAYLOAD = 1040, 1000
WINDOW = 5000
"""Maximum window in segments, which is also the initial slow-start threshold."""
SECONDS = 200
SMALL_QUEUE = 50
ROUND_TRIPS_MS = (25, 100, 300, 600)
ERROR_RATES = ("1e-4", "1e-3", "1e-2")
LINKS = ("up", "down")
SEEDS, MAX_SEEDS = 4, 48
PRECISION = 0.02
"""Seeds are added, up to the maximum, while the standard error of the ratio of a cell is above the precision."""
ALGORITHMS = {
    "newreno": ("reno", '"newreno"'),
    "cubic": ("cubic", '{ algorithm = "cubic", variant = "linux-2.6", initial_ssthresh = 0 }'),
    "hybla": ("hybla", '{ algorithm = "hybla", variant = "linux-2.6" }'),
    "vegas": ("vegas", '{ algorithm = "vegas", variant = "linux-2.6" }'),
    "illinois": ("illinois", '{ algorithm = "illinois", variant = "linux-2.6" }'),
}
"""By our name of an algorithm: its name in ns-2, and the settings of lightlag."""


@dataclass(frozen=True)
class Cell:
    """A path, with its round-trip time, error rate and queue."""

    round_trip_ms: int
    queue: int
    error_rate: str
    """Packet loss rate of each of the satellite's two links, in both directions."""

    @property
    def hop_ms(self) -> float:
        """Delay of one of the satellite's two links; the terrestrial links add 7.5 ms."""
        return (self.round_trip_ms / 2 - 7.5) / 2

    def queue_name(self) -> str:
        """Returns the queue size as it is written in the tables."""
        return f"{self.queue} packets" if self.queue == SMALL_QUEUE else f"1 BDP ({self.queue})"


@dataclass(frozen=True)
class Pair:
    """One algorithm on one path: goodput in Mbit/s, one value per seed."""

    algorithm: str
    cell: Cell
    theirs: list[Outcome]
    ours: list[Outcome]

    @property
    def ratio(self) -> float:
        """Ratio of our mean to theirs."""
        return mean_goodput(self.ours) / mean_goodput(self.theirs)

    @property
    def error(self) -> float:
        """Standard error of the ratio, from the differences between the two sides at each seed."""
        ratio = self.ratio
        sides = zip(self.ours, self.theirs, strict=True)
        apart = _error(ours.goodput_mbps - ratio * theirs.goodput_mbps for ours, theirs in sides)
        return apart / mean_goodput(self.theirs)

    def needs_seeds(self, first: int, most: int) -> bool:
        """Whether the pair has fewer than `first` seeds, or is not precise enough and has fewer than `most`."""
        return len(self.ours) < first or (len(self.ours) < most and self.error > PRECISION)

    @property
    def is_close(self) -> bool:
        """Whether the ratio is within 10 % of one."""
        return abs(self.ratio - 1) <= CLOSE


def bdp(round_trip_ms: int) -> int:
    """Returns the bandwidth-delay product in packets."""
    return round(MEGABITS * 1e3 * round_trip_ms / 8 / PACKET)


def cells() -> list[Cell]:
    """Returns all paths of the comparison."""
    return [
        Cell(round_trip_ms, queue, error_rate)
        for round_trip_ms in ROUND_TRIPS_MS
        for queue, error_rate in product((SMALL_QUEUE, bdp(round_trip_ms)), ERROR_RATES)
    ]


def compared(others_only: bool) -> str:
    """Runs ns-2, and lightlag unless only ns-2's part is requested. Returns the text of the page."""
    runs = Runs(Kept(NS2.package, SOURCE, "ns2-satellite"), ALGORITHMS, SECONDS)
    places = [Pair(algorithm, cell, [], []) for cell, algorithm in product(cells(), ALGORITHMS)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda pair: runs.complete(pair, SEEDS, MAX_SEEDS, others_only), places))
    if others_only:
        return ""
    for round_trip_ms in ROUND_TRIPS_MS:
        chosen = [pair for pair in places if pair.cell.round_trip_ms == round_trip_ms]
        print(f"ns-2 {runs.kept.version}, {round_trip_ms} ms\n\n{_table(chosen)}\n")
    return page(places, runs.kept.version)


@dataclass(frozen=True)
class Runs:
    """The runs of a page: algorithms by our name, with ns-2's names and our settings, and the duration of each run."""

    kept: Kept
    algorithms: Mapping[str, tuple[str, str]]
    seconds: int

    def complete(self, pair: Pair, first: int, most: int, others_only: bool) -> None:
        """Runs a pair with as many seeds as it needs; if only the simulator is requested, with the initial seeds."""
        if others_only:
            for seed in range(1, first + 1):
                self._peer(pair, seed)
            return
        while pair.needs_seeds(first, most):
            for seed in range(len(pair.ours) + 1, len(pair.ours) + first + 1):
                pair.theirs.append(self._peer(pair, seed))
                pair.ours.append(self._run(pair, seed))

    def _peer(self, pair: Pair, seed: int) -> Outcome:
        cell, (name, _) = pair.cell, self.algorithms[pair.algorithm]
        values = (name, cell.round_trip_ms, cell.error_rate, cell.queue, WINDOW, self.seconds, seed)
        lines = [" ".join(map(str, losses(cell, seed, link, self.seconds))) for link in LINKS]
        return self.kept.outcome(["ns", str(SOURCE), *map(str, values)], self.seconds, PAYLOAD, "\n".join(lines))

    def _run(self, pair: Pair, seed: int) -> Outcome:
        congestion = {"defaults.tcp.congestion": self.algorithms[pair.algorithm][1]}
        sets = settings(pair.cell, seed, self.seconds) | congestion
        flow = lightlag.run(scenario("hybla_cubic/satellite"), seed=seed, sets=sets).summary["flows"][0]
        return Outcome(flow["goodput_bps"] / 1e6, flow["retransmitted_segments"], flow["mean_cwnd_segments"])


def losses(cell: Cell, seed: int, link: str, seconds: int = SECONDS) -> list[int]:
    """Returns the data packets that a link loses, counted from 1. They are the same for every algorithm, queue and
    simulator.
    """
    if not float(cell.error_rate):
        return []
    most = math.ceil(MEGABITS * 1e6 * seconds / 8 / PACKET)
    draw, scale = random.Random(f"{cell.error_rate} {seed} {link}"), 1 / math.log1p(-float(cell.error_rate))
    found = []
    number = 0
    while (number := number + 1 + int(math.log(1 - draw.random()) * scale)) <= most:
        found.append(number)
    return found


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
    """Returns the mean goodput in Mbit/s."""
    return fmean(outcome.goodput_mbps for outcome in outcomes)


def _error(values: Iterable[float]) -> float:
    values = list(values)
    return float(stdev(values)) / len(values) ** 0.5


def page(pairs: list[Pair], version: str) -> str:
    """The complete text of docs/simulators-satellite.md."""
    close = sum(pair.is_close for pair in pairs)
    parts = [introduction(len(pairs), close, version), _summary(pairs)]
    for round_trip_ms in ROUND_TRIPS_MS:
        far = [pair for pair in pairs if pair.cell.round_trip_ms == round_trip_ms and not pair.is_close]
        if far:
            parts += [f"\n## Cells that differ by more than {100 * CLOSE:g} %: {round_trip_ms} ms\n", _table(far)]
    return "\n".join([*parts, "", SETTINGS]) + "\n"


def introduction(cells: int, close: int, version: str) -> str:
    """Returns the text of the page with the verdict and the method."""
    return f"""# Comparison with ns-2 over a satellite

**{close} of {cells} goodputs over a satellite are within {100 * CLOSE:g} % of ns-2 {version} with TCP-Linux.**

One flow over the satellite of the HYBLA-CUBIC paper (`benchmarks/simulators/ns2/satellite.tcl`): access of 100 Mbit/s, a
bottleneck of {MEGABITS} Mbit/s, and an up-link and a down-link of the same rate, which lose packets with the error rate
in both directions. Both simulators lose the same data packets: for each link and seed, a list gives their indices in the
order of transmission. Losses of ACKs are random in each simulator. The queue of the bottleneck has {SMALL_QUEUE}
packets, ns-2's default, or one bandwidth-delay product. Packets have {PAYLOAD} B of payload and {PACKET - PAYLOAD} B of
headers. Every segment is acknowledged, a run takes {SECONDS} s, and the maximum window is {WINDOW} packets.

A cell has {SEEDS} seeds, and {SEEDS} more at a time, up to {MAX_SEEDS}, while the standard error of its ratio is above
{PRECISION:g}; the error is computed from the differences at each seed. `make simulators` writes this page and prints the
tables with all cells.
"""


SETTINGS = f"""## Settings

Profile `ns2-linux` and `initial_ssthresh = {WINDOW}`. newreno has the increase of Linux 2.6 by the profile, the others
have `variant = "linux-2.6"`, and cubic has `initial_ssthresh = 0`, as in ns-2.35. The profile follows ns-2 in these rules:

| rule | source in ns-2 |
| --- | --- |
| a segment is lost when one four above it is SACKed; a retransmission is lost when data sent after it is SACKed, or a retransmission five later | `ScoreBoard1::UpdateScoreBoard` |
| the end of recovery clears the scoreboard | `LinuxTcpAgent::tcp_fastretrans_alert` |
| in recovery one segment is sent for two ACKs, down to half of ssthresh (cubic: ssthresh); then the window is a maximum of three segments above the flight | `send_much`, `tcp_reno_min_cwnd`, `tcp_moderate_cwnd` |
| every timeout halves the window | `enter_loss` |
| every ACK restarts the timer; one segment at a time is timed, in ticks of 1 ms, including its retransmissions | `time_processing`, `TcpAgent::output` |
| newreno counts bytes in congestion avoidance, including retransmitted bytes | `tcp_reno_cong_avoid` with `tcp_abc` |
| hybla adds multiples of 1/128 of a segment | `hybla_cong_avoid` |
| illinois retains β of the window, not 1 - β | `tcp_illinois_ssthresh` |
| vegas adds a segment every second round; its base RTT is the handshake's, because ns-2's first packet has 40 bytes | `tcp_vegas_cong_avoid`, `Agent/TCP syn_` |
| a round of vegas and illinois ends with the first ACK of data sent in it | `after(ack, beg_snd_nxt)`, `after(ack, end_seq)` |
| cubic has no dMin without timestamps, so its growth has no bound | `measure_delay` |

ns-2's congestion windows end at the maximum window, hybla's at 65,535 packets; ours end at the receive buffer, which is
larger. ns-2 treats a segment sent at 0 s as untimed, so its flow starts at 0.1 s. Our SYN carries options and has 52
bytes. This makes the base RTT of vegas 19 us longer: at 25 ms its window grows to 53 segments, and ns-2's remains at 50,
which is the difference of 3 % at 1e-4."""


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
        "| algorithm | queue | error rate | seeds | goodput, ns-2 | ours | ratio | retransmitted, ns-2 | ours | verdict |",
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
    return "beyond 10 %, within two standard errors" if beyond <= 2 * pair.error else "beyond 10 %"
