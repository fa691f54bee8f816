"""Traces of lightlag itself: CSV with time, rate, delay and loss, in one file per direction."""

from __future__ import annotations

from lightlag.exports.changes import intervals
from lightlag.exports.path import PathOverTime

__all__ = ["files"]


def files(path: PathOverTime) -> dict[str, str]:
    """Returns the trace of each direction by the end of its name."""
    found = {}
    for name, direction in (("forward", path.forward), ("backward", path.backward)):
        lines = ["time_s,rate_bps,delay_s,loss"]
        for interval in intervals(path, direction):
            time, delay = f"{interval.since_us / 1e6:.6f}", f"{interval.delay_ns / 1e9:.9f}"
            lines.append(f"{time},{interval.rate_bps},{delay},{interval.loss:.12g}")
        found[f"-{name}.csv"] = "\n".join(lines) + "\n"
    return found
