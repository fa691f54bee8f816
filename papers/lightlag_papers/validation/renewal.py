"""A renewal model of a window under random losses, for any growth rule; windows in segments, times in seconds.

Losses are independent, so the distances between them are exponentially distributed with a mean of 1/p segments.
The window follows its rule until a segment is lost, and for one more round trip until the loss is reported. It is
then reduced once, whatever else was lost in that round trip, and stays constant during the round trip of the
repair. A loss during the repair starts the next episode. There are no timeouts, and windows are fractional.
"""

from __future__ import annotations

import abc
import math

import numpy as np
from numpy.typing import NDArray

Windows = NDArray[np.float64]
"""One value for each of many flows, which the model advances together."""
Flags = NDArray[np.bool_]

FLOWS = 500
CYCLES = 60
"""Number of losses of each flow; the first third is not used."""
STEPS = 8
"""Maximum number of steps per round trip, used where the window grows fast."""


class Law(abc.ABC):
    """Growth and reduction of a window.

    An object may have state for each flow, so a new one is created for each use.
    """

    @abc.abstractmethod
    def slope(self, window: Windows, elapsed_s: Windows, rtt_s: float) -> Windows:
        """Returns the growth per round trip in segments, `elapsed_s` after the repair of the last loss."""

    @abc.abstractmethod
    def reduced(self, window: Windows, lost: Flags) -> Windows:
        """Returns the windows after a loss for the flows in `lost`; the windows of other flows do not change."""

    def passed(self, rounds: Windows) -> None:  # noqa: B027 - most rules count no round trips
        """Advances the state by a number of round trips, for laws that count them."""


def grown(law: Law, window: Windows, elapsed_s: Windows, rounds: Windows, rtt_s: float) -> Windows:
    """Returns the window after at most one round trip, `rounds`: each ACK of the data in flight adds slope / window."""
    acked = rounds * window
    steepest = float(np.max(law.slope(window, elapsed_s, rtt_s) / window))
    steps = min(max(math.ceil(4 * steepest), 1), STEPS)
    for step in range(steps):
        at = elapsed_s + rounds * (rtt_s * step / steps)
        middle = window + law.slope(window, at, rtt_s) * acked / (2 * steps * window)
        later = at + rounds * (rtt_s / (2 * steps))
        window = window + law.slope(middle, later, rtt_s) * acked / (steps * middle)
        law.passed(rounds / steps)
    return window


def mean_window(law: Law, p: float, rtt_s: float, start: float) -> float:
    """Returns the mean window under random losses: delivered segments divided by the number of round trips.

    Parameters
    ----------
    law
        Growth and reduction of the window.
    p, rtt_s
        Loss probability of a segment, and round-trip time in s.
    start
        Initial window, approximately the mean.
    """
    # The legacy generator's stream is the same in every version of NumPy.
    draw = np.random.RandomState(1)
    window = law.reduced(np.full(FLOWS, float(start)), np.ones(FLOWS, dtype=np.bool_))
    distance = draw.exponential(1 / p, FLOWS)
    elapsed, segments, rounds, losses = np.zeros(FLOWS), 0.0, 0.0, 0
    while losses < CYCLES * FLOWS:
        settled = losses > CYCLES * FLOWS // 3
        # A window of data is acknowledged in a round trip, and the window of its end is sent.
        lost = distance <= window
        part = np.where(lost, np.maximum(distance, 0.0) / window, 1.0)
        before = window
        window = grown(law, window, elapsed, part, rtt_s)
        sent = np.where(lost, part * before, window)
        distance = distance - sent
        elapsed = elapsed + part * rtt_s
        # The round trip until the report of the loss, and the round trip of the repair.
        window = grown(law, window, elapsed, lost.astype(np.float64), rtt_s)
        peak = window
        window = law.reduced(window, lost)
        distance = np.where(lost, draw.exponential(1 / p, FLOWS) - window, distance)
        elapsed = np.where(lost, 0.0, elapsed)
        if settled:
            segments += float(sent.sum() + (peak + window)[lost].sum())
            rounds += float(part.sum() + 2 * lost.sum())
        losses += int(lost.sum())
    return segments * (1 - p) / rounds
