"""Beyond the paper: the best interval between ACKs."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from lightlag_papers.paper import Effort
from lightlag_papers.scps_ns3 import equations
from lightlag_papers.scps_ns3.setting import SCPS, Rates, Setting, Transport, kbps, rates, shown
from lightlag_papers.table import AS_PRINTED, Layout, Row, Verdict

INTERVALS_S = (0.05, 0.1, 0.2, 0.4, 0.8)
RETURNS_BPS = (1.5e6, 5e3, 3e3, 1.5e3)
PAPER_S, TEXT_BPS = 0.1, 5e3
RATED = SCPS.but("rate control alone", congestion='"none"', loss_assumption="corruption")
COALESCED = RATED.but("rate control alone, ACKs in a bucket")
KINDS = (SCPS, RATED, COALESCED)
SHARE = 0.5
"""Fraction of the return link that a token bucket allows for ACKs."""


def point(one: Transport, interval_s: float, return_bps: float) -> Setting:
    """Returns a setting. If a token bucket limits the ACKs, it allows them half of the return link."""
    sets = {"ack_interval": f"{interval_s * 1e3:.0f} ms"}
    if one is COALESCED:
        sets["rate_control"] = f'{{ rate = "1.5 Mbit/s", ack_rate = "{SHARE * return_bps:g} bit/s" }}'
    return Setting(one.but(one.label, **sets), return_bps)


@dataclass(frozen=True)
class Intervals:
    """Throughputs by kind of transport, ACK interval and rate of the return link."""

    found: Rates

    @classmethod
    def run(cls, effort: Effort) -> Intervals:
        """Runs all points."""
        return cls(rates([point(k, t, r) for k in KINDS for t in INTERVALS_S for r in RETURNS_BPS], effort))

    def mean(self, one: Transport, interval_s: float, return_bps: float) -> float:
        """Returns the mean throughput of a point in kbit/s."""
        return statistics.fmean(self.found[point(one, interval_s, return_bps)]) / 1e3

    def best(self, one: Transport, return_bps: float) -> float:
        """Returns the ACK interval with the largest throughput."""
        return max(INTERVALS_S, key=lambda interval: self.mean(one, interval, return_bps))


ITEM = "beyond: ACK interval"


def rows(run: Intervals) -> list[Row]:
    """Returns the rows on the influence of the ACK interval."""
    return [*(_best_row(run, one) for one in KINDS), _insensitive_row(run)]


def _best_row(run: Intervals, one: Transport) -> Row:
    parts = [
        f"{rate / 1e3:g} kbit/s: {run.best(one, rate):g} s ({run.mean(one, run.best(one, rate), rate):.0f}, with 0.1 s "
        f"{run.mean(one, PAPER_S, rate):.0f})"
        for rate in RETURNS_BPS
    ]
    fits = ", ".join(f"{8 * equations.ACK_BYTES / rate:.2f}" for rate in RETURNS_BPS[1:])
    return Row(
        ITEM,
        f"best interval of {', '.join(f'{t:g}' for t in INTERVALS_S)} s, {one.label}; throughput, kbit/s",
        "0.1 s at 5 kbit/s, by many simulations" if one is SCPS else "",
        f"ACKs fit if the interval is {fits} s or more",
        "; ".join(parts),
        Verdict.claim(run.best(one, TEXT_BPS) == PAPER_S) if one is SCPS else Verdict.NOT_JUDGED,
        f"0.1 s is the best of these at 5 kbit/s, {AS_PRINTED}. Fewer ACKs leave room on the return link, but each "
        "adds a segment to the window"
        if one is SCPS
        else "",
    )


def _insensitive_row(run: Intervals) -> Row:
    shares = []
    for one in (RATED, COALESCED):
        found = [run.mean(one, interval, rate) for interval in INTERVALS_S for rate in RETURNS_BPS if rate >= 3e3]
        shares.append(min(found) / max(found))
    return Row.check(
        ITEM,
        "rate control alone, down to 3 kbit/s: least over largest throughput of all intervals, without and with a "
        "bucket of half the return link for its ACKs",
        "near 1 with it: late ACKs are merged into one, which reports the newest state",
        f"{shares[0]:.2f}, {shares[1]:.2f}",
        shares[1] >= 0.8 and shares[1] > shares[0],
        "at least 0.8, and above the value without: a sender that does not depend on ACKs hardly needs tuning. What "
        "is left is the burst of 64 ACKs that the bucket holds at the start",
    )


def layout(run: Intervals) -> Layout:
    """Returns the table of all points."""
    header = ("interval, s", *(f"{one.label}, {rate / 1e3:g} kbit/s" for one in KINDS for rate in RETURNS_BPS))
    lines = [
        (f"{t:g}", *(shown(kbps(run.found[point(one, t, rate)])) for one in KINDS for rate in RETURNS_BPS))
        for t in INTERVALS_S
    ]
    return Layout(
        "ack_interval", "Throughput in kbit/s by ACK interval and rate of the return link", header, tuple(lines)
    )
