"""Traces of mahimahi: the time in ms of each opportunity to deliver 1500 bytes, in one file per direction.

Netravali et al., *Mahimahi: accurate record-and-replay for HTTP*, USENIX ATC 2015. With C(t) the bits that the path can
carry up to the time t, opportunity n is in the first ms in which C reaches 12,000 n.
"""

from __future__ import annotations

import numpy as np

from lightlag.errors import InputError
from lightlag.exports.path import PathOverTime
from lightlag.exports.values import PACKET, Direction

__all__ = ["MAX_LINES", "files", "opportunities", "shells"]

MAX_LINES = 40_000_000
"""Maximum number of opportunities, as in a trace that lightlag reads."""


def files(path: PathOverTime) -> dict[str, str]:
    """Returns the traces by the ends of their names: ``.up`` is the direction from the first node to the second."""
    return {".up": _text(path, path.forward, "up"), ".down": _text(path, path.backward, "down")}


def _text(path: PathOverTime, direction: Direction, name: str) -> str:
    times = opportunities(direction, path.duration_s)
    if not len(times) or times[-1] == 0:
        raise InputError(
            f"the direction {name} carries no packet of 1500 bytes in {path.duration_s:g} s; choose a longer duration"
        )
    return "\n".join(map(str, times.tolist())) + "\n"


def opportunities(direction: Direction, duration_s: float) -> np.ndarray:
    """Returns the times in ms of the opportunities of a direction, in ascending order."""
    millis = max(round(duration_s * 1e3), 1)
    rates = direction.rates(np.arange(millis + 1) / 1e3)
    carried = np.cumsum(np.where(np.isfinite(rates), rates, 0.0)) / 1e3
    count = np.floor(carried / (8 * PACKET) + 1e-6).astype(np.int64)
    if count[-1] > MAX_LINES:
        raise InputError(f"{count[-1]} opportunities are more than {MAX_LINES}; choose a shorter duration")
    return np.repeat(np.arange(1, millis + 1), np.diff(count, prepend=0))


def shells(path: PathOverTime) -> str:
    """Returns the commands of mahimahi for the mean delay and losses of a path, which traces do not hold."""
    both = [direction.at(path.times) for direction in (path.forward, path.backward)]
    delay = np.nanmean(np.concatenate([values.delay_s for values in both]))
    words = [f"mm-delay {round(float(delay) * 1e3)}"]
    for name, values in zip(("uplink", "downlink"), both, strict=True):
        reached = values.loss[values.loss < 1.0]
        if len(reached) and reached.mean() > 0.0:
            words.append(f"mm-loss {name} {reached.mean():.6g}")
    return " ".join(words)
