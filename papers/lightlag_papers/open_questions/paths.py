"""The two paths, and what one flow can do on them at most."""

from __future__ import annotations

import math
from dataclasses import dataclass

import lightlag as ll
from lightlag.validation import theory
from lightlag_papers.open_questions.contenders import Algorithm, queue_for
from lightlag_papers.open_questions.scenarios import scenario

PAYLOAD, PACKET = 1448, 1500
INITIAL_WINDOW = 10


@dataclass(frozen=True)
class Orbit:
    """A path by way of a satellite.

    Attributes
    ----------
    name, file
        As in tables, and the scenario.
    rate_bps, rtt_s, seconds, runs
        The bottleneck, the round-trip time without queue, how long a run lasts, and how many there are at most.
    """

    name: str
    file: str
    rate_bps: float
    rtt_s: float
    seconds: float
    runs: int

    @property
    def most_bps(self) -> float:
        """The payload that the link carries."""
        return self.rate_bps * PAYLOAD / PACKET

    @property
    def bdp(self) -> float:
        """Segments on the path when the link is full."""
        return self.rate_bps * self.rtt_s / 8 / PACKET

    def run(self, algorithm: Algorithm, seed: int, **more: str) -> ll.Result:
        """Run one flow; keys of `more` have two underscores for a dot."""
        changes = {key.replace("__", "."): value for key, value in more.items()}
        sets = algorithm.changes(round(2 * self.bdp)) | {"links.1.queue": queue_for("1 bdp", algorithm)} | changes
        return ll.run(scenario(self.file), seed=seed, sets=sets)

    def rate_of(self, window: float) -> float:
        """The rate of a mean window in bit/s, at most the link's."""
        return min(window * PAYLOAD * 8 / self.rtt_s, self.most_bps)

    def response(self, name: str, p: float) -> float | None:
        """The rate at loss rate `p` by the response function of an algorithm, in bit/s; None if it has none here."""
        if p == 0:
            return None
        windows = {
            "newreno": theory.mathis(p),
            "cubic": theory.cubic(p, self.rtt_s),
            "hybla": max(self.rtt_s / 0.025, 1) * theory.mathis(p),
        }
        return self.rate_of(max(windows[name], windows["newreno"])) if name in windows else None

    def slow_start_s(self, size: int, initial_window: int = INITIAL_WINDOW) -> float:
        """The arrival time of a transfer of `size` bytes by slow start alone: a handshake, doublings, a full link.

        Examples
        --------
        >>> round(GEO.slow_start_s(10_000), 2)  # the handshake, and half a round trip
        0.91
        """
        segments = math.ceil(size / PAYLOAD)
        segment_s = PACKET * 8 / self.rate_bps
        window, sent, now = float(initial_window), 0.0, self.rtt_s
        while sent + window < segments and window * segment_s < self.rtt_s:
            sent, window, now = sent + window, 2 * window, now + self.rtt_s
        return now + (segments - sent) * segment_s + self.rtt_s / 2

    def fills_after(self, initial_window: int = INITIAL_WINDOW, share: float = 0.9) -> int:
        """Doublings until the window is a share of the path."""
        return max(0, math.ceil(math.log2(share * self.bdp / initial_window)))


GEO = Orbit("GEO", "geo", 10e6, 0.6, 120.0, 10)
LEO = Orbit("LEO", "leo", 50e6, 0.05, 40.0, 5)
