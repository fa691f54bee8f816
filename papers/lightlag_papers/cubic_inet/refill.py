"""Reno's recovery to a full path of 10 Gbit/s and 100 ms: 1.4 h (§2.1).

A loss halves the window W of the full path, and each round trip adds a segment, so recovery takes W/2 round
trips. The full recovery takes some 4 billion packets, so only the start of the growth is simulated at this rate,
and the full recovery at a hundredth of the rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import lightlag as ll
from lightlag_papers.cubic_inet.growth import FLOW, RTT_S
from lightlag_papers.epochs import WindowTrace
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import AS_PRINTED, BEFOREHAND, Row

RATE_BPS, SEGMENT_BYTES, HEADERS_BYTES = 10e9, 1250, 40
PRINTED_HOURS = 1.4
STARTED_S, GROWTH_S = 1.0, 3.0
"""Interval in s in which growth is measured. The initial slow start to half of the full window is over by then."""
SCALE = 100
"""Ratio of the paper's rate to the rate of the complete simulation."""
TOLERANCE = 0.02


@dataclass(frozen=True)
class Refill:
    """Growth from half of a full window to the full window.

    Attributes
    ----------
    per_round
        Segments added per round trip, starting at half of the full window, at 10 Gbit/s.
    small_s
        Duration of the complete recovery at a hundredth of the rate, in s.
    """

    per_round: float
    small_s: float

    @classmethod
    def run(cls) -> Refill:
        """Runs both paths."""
        start = _window(RATE_BPS, GROWTH_S)
        inside = start.time_s >= STARTED_S
        slope = float(np.polyfit(start.time_s[inside], start.cwnd[inside], 1)[0])
        full = full_window(RATE_BPS / SCALE)
        small = _window(RATE_BPS / SCALE, 1.2 * refill_s(RATE_BPS / SCALE))
        half, all_ = (float(small.time_s[np.argmax(small.cwnd >= size)]) for size in (full / 2, full))
        return cls(slope * RTT_S, all_ - half)

    @property
    def hours(self) -> float:
        """Returns the duration of the complete recovery at 10 Gbit/s with the measured growth, in hours."""
        return refill_s(RATE_BPS) / self.per_round / 3600


def full_window(rate_bps: float) -> float:
    """Returns the bandwidth-delay product in segments.

    Examples
    --------
    >>> full_window(10e9)
    100000.0
    """
    return rate_bps * RTT_S / 8 / SEGMENT_BYTES


def refill_s(rate_bps: float) -> float:
    """Returns the time in which half of a full window is regained at one segment per round trip, in s.

    Examples
    --------
    >>> refill_s(10e9) / 3600
    1.3888888888888888
    """
    return full_window(rate_bps) / 2 * RTT_S


def _window(rate_bps: float, seconds: float) -> WindowTrace:
    """Returns the trace of a NewReno flow that starts at half of the full window."""
    half = round(full_window(rate_bps) / 2)
    sets = {
        "duration": f"{seconds:g} s",
        "defaults.tcp.congestion": '"newreno"',
        "defaults.tcp.mss": f"{SEGMENT_BYTES - HEADERS_BYTES} B",
        "defaults.tcp.initial_window": str(min(half, 1000)),
        "defaults.tcp.initial_ssthresh": str(half),
        "defaults.tcp.receive_buffer": "256 MiB",
        "links.0.rate": f"{rate_bps:g} bit/s",
        "links.0.queue": "200000 packets",
        "links.0.loss": "0",
        "record.trace": "sampled",
    }
    return WindowTrace.of(ll.run(scenario("cubic_inet/growth"), sets=sets).trace("cwnd"), FLOW)


def rows(refill: Refill) -> list[Row]:
    """Returns the rows for the printed time, and for the complete recovery on a smaller path."""
    small = refill_s(RATE_BPS / SCALE)
    return [
        Row.claim(
            "§2.1",
            "10 Gbit/s, RTT 100 ms, segments of 1250 B: NewReno from half of the full window to all of it, h",
            f"approximately {PRINTED_HOURS}",
            f"{refill.hours:.2f} ({refill.per_round:.3f} segments per round trip)",
            round(refill.hours, 1) == PRINTED_HOURS,
            f"rounded to the printed value, {AS_PRINTED}: growth simulated at half of the full window, the rest by "
            "the closed form",
            theory=f"{refill_s(RATE_BPS) / 3600:.2f} (W/2 = {full_window(RATE_BPS) / 2:.0f} round trips)",
        ),
        Row.check(
            "§2.1",
            (
                f"growth from half of the full window at {RATE_BPS / SCALE / 1000000.0:.0f} Mbit/s, simulated "
                "completely, s"
            ),
            f"{small:.0f} (W/2 = {full_window(RATE_BPS / SCALE) / 2:.0f} round trips)",
            f"{refill.small_s:.1f}",
            abs(refill.small_s / small - 1) <= TOLERANCE,
            f"within {TOLERANCE:.0%} ({BEFOREHAND})",
        ),
    ]
