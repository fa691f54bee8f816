"""Beyond the paper, and its future work: hole reports under bit errors, with SNACK compared with SACK and RACK."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from lightlag.analyse import mean_interval
from lightlag_papers.paper import Effort
from lightlag_papers.scps_ns3 import equations
from lightlag_papers.scps_ns3.asymmetry import ENOUGH, in_runs
from lightlag_papers.scps_ns3.corruption import RATE_ONLY, RATED_BPS
from lightlag_papers.scps_ns3.setting import FILE_BYTES, RUNS, Setting, Transport, kbps, shown
from lightlag_papers.table import Layout, Row

BERS = (0.0, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4)
DELAYS_S = (0.05, 0.3)
JUDGED_BER = 1e-5
_LARGE = {"receive_buffer": "3 MB"}
SNACK = RATE_ONLY.but("SNACK, holes", **_LARGE)
VECTOR = SNACK.but("SNACK, bit vector", scps='{ snack = "long" }')
SACK = SNACK.but("SACK (RFC 6675)", scps="false", sack="true", recovery="sack")
RACK = SNACK.but("RACK (RFC 8985)", scps="false", sack="true", recovery="rack")
NEITHER = SNACK.but("neither (NewReno)", scps="false", recovery="newreno")
KINDS = (SNACK, VECTOR, SACK, RACK, NEITHER)
"""Transports that differ only in loss recovery. All have only rate control, an ACK every 69 ms, and ignore losses."""


@dataclass(frozen=True)
class Sample:
    """The results of one run.

    Attributes
    ----------
    rate_bps
        File size divided by the duration of the transfer.
    repairs
        Number of retransmitted segments per lost segment.
    timeouts
        Number of retransmission timeouts.
    ack_bytes
        Number of bytes on the return link.
    """

    rate_bps: float
    repairs: float
    timeouts: int
    ack_bytes: int


def sample(setting: Setting, seed: int) -> Sample:
    """Runs a setting and reduces it to its results."""
    result = setting.run(seed)
    (flow,) = result.summary["flows"]
    links = {link["name"]: link for link in result.summary["links"]}
    lost = sum(links[name]["dropped_error"] + links[name]["dropped_queue"] for name in FORWARD)
    return Sample(
        float(flow["goodput_bps"]),
        flow["retransmitted_segments"] / lost if lost else 1.0,
        int(flow["timeouts"]),
        int(links["server->router"]["carried_bytes"]),
    )


FORWARD = ("client->router", "router->server")


@dataclass(frozen=True)
class Repairs:
    """Results by kind of transport, delay and bit error rate."""

    found: dict[tuple[str, float, float], list[Sample]]

    @classmethod
    def run(cls, effort: Effort) -> Repairs:
        """Runs all points."""
        seeds = effort.seeds_of(RUNS)
        runs = [
            (Setting(one, delay_s=d, ber=ber), seed)
            for d in DELAYS_S
            for ber in BERS
            for one in KINDS
            for seed in seeds
        ]
        return cls(
            effort.collect(
                lambda run: sample(*run), runs, lambda run: (run[0].transport.label, run[0].delay_s, run[0].ber)
            )
        )

    def of(self, one: Transport, delay_s: float, ber: float) -> list[Sample]:
        """Returns the results of a point."""
        return self.found[one.label, delay_s, ber]

    def rates(self, one: Transport, delay_s: float, ber: float) -> list[float]:
        """Returns the throughputs of a point in bit/s."""
        return [each.rate_bps for each in self.of(one, delay_s, ber)]

    def mean(self, one: Transport, delay_s: float, ber: float, value: Callable[[Sample], float]) -> float:
        """Returns the mean of a quantity at a point."""
        return statistics.fmean(map(value, self.of(one, delay_s, ber)))


def most_bps(ber: float, delay_s: float) -> float:
    """Returns the maximum throughput, from the rate, the losses, the handshake and the last segment's delay."""
    full = equations.rated_bps(RATED_BPS, 472, equations.packet_error_rate(ber, 514))
    return 8 * FILE_BYTES / (3 * delay_s + 8 * FILE_BYTES / full)


def rows(run: Repairs) -> list[Row]:
    """Returns the rows on what is expected of each transport."""
    return [
        _full_row(run),
        _once_row(run),
        *(_beside_row(run, delay) for delay in DELAYS_S),
        _worst_row(run),
        _load_row(run),
    ]


ITEM = "beyond: repair"


def _full_row(run: Repairs) -> Row:
    delay, ber = DELAYS_S[0], JUDGED_BER
    ideal = most_bps(ber, delay) / 1e3
    ours = kbps(run.rates(SNACK, delay, ber))
    return Row.check(
        ITEM,
        "SNACK at 50 ms, BER 1e-5, kbit/s",
        f"{ideal:.0f} (rate, each loss once more)",
        shown(ours),
        0.95 <= ours.mean / ideal <= 1.01,
        "within 95 to 101 %",
    )


def _once_row(run: Repairs) -> Row:
    parts = [
        "/".join(f"{run.mean(one, DELAYS_S[0], ber, lambda s: s.repairs):.2f}" for one in KINDS) for ber in BERS[1:]
    ]
    snack = [abs(run.mean(SNACK, DELAYS_S[0], ber, lambda s: s.repairs) - 1) for ber in BERS[1:5]]
    return Row.check(
        ITEM,
        f"retransmissions per lost segment, at 50 ms and BER 1e-6 to 1e-4: {'/'.join(one.label for one in KINDS)}",
        "1 (a report names the missing segments)",
        ", ".join(parts),
        max(snack) <= 0.02,
        "SNACK within 2 % of 1 up to 3e-5. RACK takes what ACKs of 69 ms have not yet named for lost",
    )


def _beside_row(run: Repairs, delay: float) -> Row:
    good = in_runs(run.rates(SNACK, delay, JUDGED_BER), run.rates(SACK, delay, JUDGED_BER), lambda a, b: a >= b)
    count = len(run.rates(SNACK, delay, JUDGED_BER))
    holds = good >= ENOUGH * count
    waits = run.mean(SACK, delay, JUDGED_BER, lambda s: s.timeouts)
    why = (
        ". A report holds six holes per ACK, so six per round trip, and this limits the rate on the long path"
        if not holds
        else ""
    )
    return Row.check(
        ITEM,
        f"BER 1e-5, {delay * 1e3:.0f} ms: {', '.join(one.label for one in KINDS)}, kbit/s",
        "SNACK above SACK, which waits for the timer when a repair is lost; at most "
        f"{most_bps(JUDGED_BER, delay) / 1e3:.0f}",
        ", ".join(shown(kbps(run.rates(one, delay, JUDGED_BER))) for one in KINDS),
        holds,
        f"in 8 of 10 seeds; it is in {good} of {count}. SACK has {waits:.0f} timeouts per run{why}",
    )


def _worst_row(run: Repairs) -> Row:
    best = []
    for delay in DELAYS_S:
        means = {one.label: statistics.fmean(run.rates(one, delay, BERS[-1])) / 1e3 for one in KINDS}
        name = max(means, key=lambda label: means[label])
        best.append(f"{delay * 1e3:.0f} ms: {name} {means[name]:.0f} of {most_bps(BERS[-1], delay) / 1e3:.0f}")
    return Row.informing(
        ITEM,
        f"the best at BER 1e-4 ({equations.packet_error_rate(1e-4, 514):.0%} of the packets lost), kbit/s",
        "; ".join(best),
        "a bit vector of 20 bytes covers 160 segments; RACK needs no complete report",
    )


def _load_row(run: Repairs) -> Row:
    parts = []
    for one in KINDS:
        share = [
            run.mean(one, DELAYS_S[0], ber, lambda s: 8 * s.ack_bytes * s.rate_bps / (8 * FILE_BYTES) / 1e3)
            for ber in (0.0, 1e-5)
        ]
        parts.append(f"{one.label} {share[0]:.1f} to {share[1]:.1f}")
    return Row.informing(
        ITEM,
        "load of the return link at 50 ms, BER 0 and 1e-5, kbit/s",
        "; ".join(parts),
        "an option of 6 B for each hole; of 10 to 34 B for SACK",
        theory=f"{8 * 42 / 0.069 / 1e3:.1f} without options",
    )


def layout(run: Repairs) -> Layout:
    """Returns a table with a row for each delay and bit error rate."""
    header = ("delay, ms", "BER", "at most", *(text for one in KINDS for text in (one.label, "again", "timeouts")))
    lines = []
    for delay in DELAYS_S:
        for ber in BERS:
            cells = [f"{delay * 1e3:.0f}", f"{ber:g}", f"{most_bps(ber, delay) / 1e3:.0f}"]
            for one in KINDS:
                again = run.mean(one, delay, ber, lambda s: s.repairs)
                timeouts = mean_interval(s.timeouts for s in run.of(one, delay, ber)).mean
                cells += [shown(kbps(run.rates(one, delay, ber))), f"{again:.2f}", f"{timeouts:.1f}"]
            lines.append(tuple(cells))
    title = f"Throughput in kbit/s at a rate of 1.425 Mbit/s, {RUNS} seeds; retransmissions per lost segment, timeouts"
    return Layout("repair", title, header, tuple(lines))
