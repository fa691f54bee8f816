"""The two paths, and limits of the rate of a single flow on them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import lightlag as ll
from lightlag.validation import theory
from lightlag_papers.open_questions.candidates import Algorithm, queue_for
from lightlag_papers.scenarios import scenario

PAYLOAD, PACKET = 1448, 1500
INITIAL_WINDOW = 10


@dataclass(frozen=True)
class Orbit:
    """A path over a satellite.

    Attributes
    ----------
    name, file
        Name in tables, and name of the scenario.
    rate_bps, rtt_s, seconds, runs
        The bottleneck, the round-trip time without queue, the duration of a run, and the maximum number of runs.
    """

    name: str
    file: str
    rate_bps: float
    rtt_s: float
    seconds: float
    runs: int

    @property
    def most_bps(self) -> float:
        """Maximum payload rate of the link, in bit/s."""
        return self.rate_bps * PAYLOAD / PACKET

    @property
    def bdp(self) -> float:
        """Number of segments in flight that fills the link: the bandwidth-delay product."""
        return self.rate_bps * self.rtt_s / 8 / PACKET

    def run(self, algorithm: Algorithm, seed: int, **more: str) -> ll.Result:
        """Runs one flow. Keys in `more` are written with two underscores instead of a dot."""
        changes = {key.replace("__", "."): value for key, value in more.items()}
        sets = algorithm.changes(round(2 * self.bdp)) | {"links.1.queue": queue_for("1 bdp", algorithm)} | changes
        return ll.run(scenario(f"open_questions/{self.file}"), seed=seed, sets=sets)

    def rate_of(self, window: float) -> float:
        """Returns the payload rate of a mean window in bit/s, limited by the link."""
        return min(window * PAYLOAD * 8 / self.rtt_s, self.most_bps)

    def response(self, name: str, p: float) -> float | None:
        """Returns the rate at loss rate `p` by an algorithm's response function, in bit/s; None without such a
        function.
        """
        if p == 0:
            return None
        windows = {
            "newreno": theory.mathis(p),
            "cubic": theory.cubic(p, self.rtt_s),
            "hybla": max(self.rtt_s / 0.025, 1) * theory.mathis(p),
        }
        return self.rate_of(max(windows[name], windows["newreno"])) if name in windows else None

    def slow_start_s(self, size: int, initial_window: int = INITIAL_WINDOW) -> float:
        """Returns the duration of a transfer of `size` bytes with only slow start: handshake, doublings, and a full
        link.

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
        """Returns the number of doublings until the window is a fraction of the path's BDP."""
        return max(0, math.ceil(math.log2(share * self.bdp / initial_window)))


GEO = Orbit("GEO", "geo", 10e6, 0.6, 120.0, 10)
LEO = Orbit("LEO", "leo", 50e6, 0.05, 40.0, 5)
