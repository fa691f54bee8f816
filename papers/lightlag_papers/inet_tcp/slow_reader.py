"""Flow control with an application that reads slowly: §2.2, §3.2.3; the paper shows no figure."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass

import numpy as np

import lightlag as ll
from lightlag import _engine
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import Row

TRANSFER, MSS, BUFFER = 2_000_000, 1452, 65_535
READ_BYTES_A_SECOND = 100_000
BURSTS = {"flows.0.reader": '{ burst = "60 kB", every = "3 s" }', "flows.0.transfer": "120 kB"}
"""Changes for a reader that reads nearly the entire buffer every 3 s, so one window update opens the window."""
UPDATE_S = 3.0
"""Time in s of the window update after the first burst. The first ACK after this time is lost."""
STEPS = 4000
"""Number of segments in the exchange with a single receiver, one per millisecond."""
TCP = {"profile": "inet", "mss": f"{MSS} B", "receive_buffer": f"{BUFFER} B"}


@dataclass(frozen=True)
class Windows:
    """The windows that a receiver with a slow application offers to a sender that fills every window.

    Attributes
    ----------
    edges
        Right edge of the window in each ACK.
    offers
        By how much each ACK that moved the right edge extended the window, in bytes.
    delivered
        Number of bytes that arrived.
    """

    edges: list[int]
    offers: list[int]
    delivered: int

    @classmethod
    def run(cls, steps: int = STEPS) -> Windows:
        """Sends a full segment whenever it fits into the window, at most one per millisecond, and nothing else."""
        nxt, edge = 0, BUFFER
        read = READ_BYTES_A_SECOND // 1000
        arrivals: list[tuple[int, int]] = []
        edges: list[int] = []
        answers: list[tuple[int, int, bytes]] = []
        batch = 20
        while len(arrivals) < steps:
            # As many segments as fit the window that is known; then one without data, while the application reads.
            for _ in range(batch):
                fits = nxt + MSS <= edge
                arrivals.append((nxt, MSS) if fits else (nxt, 0))
                nxt += MSS if fits else 0
            answers = _engine.answers(json.dumps(TCP), arrivals, [read] * len(arrivals))
            edges = [number + window for number, window, _ in answers]
            edge = max(edges, default=edge)
        moved = [later > earlier for earlier, later in itertools.pairwise([BUFFER, *edges])]
        offers = [window for (_, window, _), more in zip(answers, moved, strict=True) if more]
        return cls(edges, offers, nxt)

    @property
    def shrunk(self) -> int:
        """Number of times that the right edge moved back."""
        return sum(later < earlier for earlier, later in itertools.pairwise(self.edges))


def rows() -> list[Row]:
    """Returns the rows on silly windows, shrinking windows and deadlock."""
    return [*_steady_rows(), _window_row(Windows.run()), *_deadlock_rows()]


def _steady_rows() -> list[Row]:
    """Returns the rows for a reader of 100 kB/s after a path of 10 Mbit/s."""
    result = ll.run(scenario("inet_tcp/slow_reader"), seed=1)
    flow = result.summary["flows"][0]
    fresh, least = flow["sent_segments"] - flow["retransmitted_segments"], math.ceil(TRANSFER / MSS)
    trace = result.trace("goodput")
    time_s, delivered = trace["time_s"].to_numpy(), trace["delivered_bytes"].to_numpy().astype(np.float64)
    middle = [float(np.interp(at, time_s, delivered)) for at in (5.0, 15.0)]
    rate = (middle[1] - middle[0]) / 10
    return [
        Row.claim(
            "§2.2, slow reader",
            "data segments for 2 MB",
            "no silly windows",
            f"{fresh}, {flow['retransmitted_segments']} more retransmitted",
            fresh == least,
            "not one segment below the MSS but the last",
            theory=f"{least}: {TRANSFER} B in segments of {MSS} B",
        ),
        Row.informing(
            "§2.2, slow reader",
            "rate from 5 to 15 s, kB/s",
            f"{rate / 1e3:.1f}",
            f"{flow['limited_s']['rwnd'] / result.simulated_s:.0%} of the time limited by the receiver's window",
            theory=f"{READ_BYTES_A_SECOND / 1e3:.0f}",
        ),
    ]


def _window_row(windows: Windows) -> Row:
    return Row.claim(
        "§3.2.3, slow reader",
        "ACKs that move the right edge of the window back; smallest window of those that move it forward, B",
        "never; no window below the MSS",
        f"{windows.shrunk} of {len(windows.edges)}; {min(windows.offers)}",
        windows.shrunk == 0 and min(windows.offers) >= MSS,
        "the advertised window does not shrink, even below the MSS; a receiver alone, whose application reads 100 kB/s",
        theory=f"0; at least {MSS}",
    )


def _deadlock_rows() -> list[Row]:
    """Returns the rows for a lost window update. Only a zero-window probe can then resume the transfer."""
    loss = {"links.0.loss": f'{{ forward = 0, backward = {{ at = ["{UPDATE_S:g} s"] }} }}'}
    whole = ll.run(scenario("inet_tcp/slow_reader"), seed=1, sets=BURSTS)
    lossy = ll.run(scenario("inet_tcp/slow_reader"), seed=1, sets=BURSTS | loss)
    before, after = (result.summary["flows"][0]["finish_s"] for result in (whole, lossy))
    lost = int(lossy.summary["links"][1]["dropped_error"])
    return [
        Row.claim(
            "§3.2.3, window update lost",
            "time of completion of 120 kB, s; without and with the loss",
            "the persist timer avoids a deadlock",
            f"{_shown(before)} and {_shown(after)}, {lost} ACK{'s' * (lost != 1)} lost",
            lost > 0 and before is not None and after is not None and after > before,
            "later with the loss of the update after the first read; the application reads 60 kB every 3 s",
            theory="one probe interval later",
        )
    ]


def _shown(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.2f}"
