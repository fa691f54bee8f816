"""Beyond the paper: the gain by header compression, by MTU and rate of the return link."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from lightlag_papers.paper import Effort
from lightlag_papers.scps_ns3 import equations
from lightlag_papers.scps_ns3.ack_intervals import RATED as ALONE
from lightlag_papers.scps_ns3.setting import HEADERS_BYTES, PPP_BYTES, SCPS, Rates, Setting, Transport, kbps, rates
from lightlag_papers.scps_ns3.setting import shown as interval
from lightlag_papers.table import Layout, Row

MTUS = (100, 256, 512, 1000, 1500)
RETURNS_BPS = (1.5e6, 5e3, 3e3, 1.5e3)
EQUAL_BPS, NARROW_BPS = 1.5e6, 3e3
DATA_BYTES, ACK_BYTES = 8, 10
"""Size in bytes of a compressed header, instead of 20 bytes: for data without an ACK, and for a bare ACK."""
RATED = ALONE.but(ALONE.label, rate_control='{ rate = "1.425 Mbit/s" }')
"""SCPS-TP with a rate below the link's, so that the token bucket is the limit."""
KINDS = (RATED, SCPS)


def point(one: Transport, mtu: int, return_bps: float, *, compressed: bool) -> Setting:
    """Returns a setting, with or without header compression. The packet size is the same in both cases."""
    sets = {"scps": "{ compression = true }"} if compressed else {}
    return Setting(one.but(one.label, **sets), return_bps, mtu=mtu)


@dataclass(frozen=True)
class Compression:
    """Throughputs with and without header compression."""

    found: Rates

    @classmethod
    def run(cls, effort: Effort) -> Compression:
        """Runs all points."""
        return cls(
            rates(
                [
                    point(one, mtu, rate, compressed=on)
                    for one in KINDS
                    for mtu in MTUS
                    for rate in RETURNS_BPS
                    for on in (False, True)
                ],
                effort,
            )
        )

    def mean(self, one: Transport, mtu: int, return_bps: float, *, compressed: bool) -> float:
        """Returns the mean throughput of a point in kbit/s."""
        return statistics.fmean(self.found[point(one, mtu, return_bps, compressed=compressed)]) / 1e3

    def gain(self, one: Transport, mtu: int, return_bps: float) -> float:
        """Returns the ratio of the throughput with compression to the throughput without."""
        with_it, without = (self.mean(one, mtu, return_bps, compressed=on) for on in (True, False))
        return with_it / without


def data_gain(mtu: int) -> float:
    """Returns the gain if the rate is limited in bytes of IP: packets keep their size, but carry 12 B more.

    Examples
    --------
    >>> [round(data_gain(mtu), 3) for mtu in (100, 512, 1500)]
    [1.2, 1.025, 1.008]
    """
    return (mtu - 20 - DATA_BYTES) / (mtu - HEADERS_BYTES)


def ack_gain() -> float:
    """Returns the gain if the ACKs limit the rate.

    Examples
    --------
    >>> round(ack_gain(), 4)
    1.3125
    """
    return equations.ACK_BYTES / (HEADERS_BYTES - 20 + ACK_BYTES + PPP_BYTES)


ITEM = "beyond: compression"


def rows(run: Compression) -> list[Row]:
    """Returns the rows on the gains."""
    return [_rated_row(run), *(_by_return_row(run, one) for one in KINDS), _narrow_row(run)]


def _rated_row(run: Compression) -> Row:
    ours = [run.gain(RATED, mtu, EQUAL_BPS) for mtu in MTUS]
    ideal = [data_gain(mtu) for mtu in MTUS]
    return Row.check(
        ITEM,
        f"rate control alone, equal rates, MTU {', '.join(map(str, MTUS))}: throughput with over without",
        ", ".join(f"{value:.3f}" for value in ideal) + " (headers of 28 instead of 40 B, packets of the same size)",
        ", ".join(f"{value:.3f}" for value in ours),
        all(abs(a / b - 1) <= 0.01 for a, b in zip(ours, ideal, strict=True)),
        "each within 1 %",
    )


def _by_return_row(run: Compression, one: Transport) -> Row:
    return Row.informing(
        ITEM,
        f"{one.label}, MTU 512, return link of {', '.join(f'{rate / 1e3:g}' for rate in RETURNS_BPS)} kbit/s: "
        "throughput with over without",
        ", ".join(f"{run.gain(one, 512, rate):.2f}" for rate in RETURNS_BPS),
        f"ten ACKs per second take 2.56 kbit/s instead of 3.36: {2.56 / 3:.0%} of 3 kbit/s, not {3.36 / 3:.0%}"
        + ("" if one is RATED else "; 1.5 kbit/s is too low for either, and Vegas takes their queue for a full path"),
        theory=f"from {data_gain(512):.2f} (data) to {ack_gain():.2f} (ACKs of 32 instead of 42 B) and more, if they "
        "fit",
    )


def _narrow_row(run: Compression) -> Row:
    gains = [run.gain(SCPS, mtu, NARROW_BPS) for mtu in MTUS]
    return Row.check(
        ITEM,
        f"SCPS-TP, return link of 3 kbit/s, MTU {', '.join(map(str, MTUS))}: throughput with over without",
        "above 1.1 at each: ACKs fit again",
        ", ".join(f"{gain:.2f}" for gain in gains),
        min(gains) >= 1.1,
        "at least 1.1 at each",
    )


def layout(run: Compression) -> Layout:
    """Returns the table of all points."""
    header = ("MTU", "return link, kbit/s", *(f"{one.label}: {what}" for one in KINDS for what in WHAT))
    lines = []
    for mtu in MTUS:
        for rate in RETURNS_BPS:
            runs = [run.found[point(one, mtu, rate, compressed=on)] for one in KINDS for on in (False, True)]
            lines.append((str(mtu), f"{rate / 1e3:g}", *(interval(kbps(found)) for found in runs)))
    return Layout("compression", "Throughput in kbit/s without and with compressed headers", header, tuple(lines))


WHAT = ("plain", "compressed")
