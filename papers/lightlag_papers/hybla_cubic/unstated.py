"""Readings of the paper: the maximum window and the initial slow-start thresholds, which it does not state.

The values and the bands of the claims were fixed before the first run. The maximum window limits the sender's
congestion window, like ``window_`` in ns-2, or it is the receive buffer, as with a real host. 2500 packets are
about the bandwidth-delay product, and 5000 packets twice that. 64 packets are the largest initial threshold that
§I mentions (64 KB).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightlag_papers.hybla_cubic import comparison, sweeps
from lightlag_papers.hybla_cubic.comparison import Comparison
from lightlag_papers.paper import Effort
from lightlag_papers.readings import Readings
from lightlag_papers.table import Layout

WINDOWS = (1000, 700, 1500, 400, 2500, 200, 5000)
"""Maximum windows in packets, starting at the geometric mean of 200 and 5000 and moving outwards."""
THRESHOLD_WINDOWS = (1000, 400, 5000)
"""The maximum windows with which other initial thresholds are tried."""
BOUNDS = {"cwnd": "congestion window", "buffer": "receive buffer"}
THRESHOLDS = {"modules": "", "maximum": ", thresholds at the maximum", "64 kB": ", thresholds of 64 packets"}
AGENT = "congestion window of 5000 packets, repair by RFC 6675"

Unstated = Mapping[str, Any]
"""The fields of a `Setting` that the paper does not state."""


def settings() -> dict[str, Unstated]:
    """Returns all readings by name."""
    found: dict[str, Unstated] = {}
    for bound, name in BOUNDS.items():
        for thresholds, more in THRESHOLDS.items():
            for window in WINDOWS if thresholds == "modules" else THRESHOLD_WINDOWS:
                key = f"{name} of {window} packets{more}"
                found[key] = {"max_window": window, "bound": bound, "thresholds": thresholds}
    return found | {AGENT: {"blind": True}}


class Sweep:
    """All readings with their verdicts, and the runs of the best one.

    Attributes
    ----------
    readings
        The claims of Figs. 4 to 6 and §III-D under each reading.
    best
        The runs of the best reading.
    """

    def __init__(self, effort: Effort, wanted: Mapping[str, Unstated] | None = None) -> None:
        """Runs all readings."""
        claims = {}
        best: Comparison | None = None
        most = -1
        for name, unstated in (settings() if wanted is None else wanted).items():
            effort.progress(f"Figs. 4 to 6: {name}")
            found = Comparison.run(effort, **unstated)
            errors = sweeps.goodputs(sweeps.per_settings(**unstated), effort, sweeps.GRID_SEEDS)
            claims[name] = [*comparison.claims(found), sweeps.per_row(errors, **unstated)]
            reproduced = Readings({name: claims[name]}).reproduced(name)
            if reproduced > most:
                best, most = found, reproduced
        assert best is not None, "there is no reading"
        self.readings, self.best = Readings(claims), best

    def layouts(self) -> list[Layout]:
        """Returns the table of claims by readings, and the measured values."""
        seeds = self.best.seeds
        return [
            self.readings.layout(f"Readings by claims: yes where a reading reproduces a claim, {seeds} seeds"),
            self.readings.measured("measured", "What the readings measured"),
        ]
