"""Trace files of TheaterQ, a queueing discipline of Linux that emulates a link from a trace.

github.com/cs7org/TheaterQ, README, section Trace File Format, line format ``EXTENDED``: the time in µs for which a line
applies, delay and jitter in ns, rate in bit/s (0: packets wait), loss as a fraction of 2^32 - 1, limit of the queue in
packets, probability and delay of duplicates, route and queue. Packets of the same route keep their order, as in
lightlag; route 0 would let them overtake when the delay becomes shorter.
"""

from __future__ import annotations

from lightlag.exports.changes import Interval, intervals
from lightlag.exports.path import PathOverTime

__all__ = ["COLUMNS", "MAX_LOSS", "files"]

COLUMNS = ("KEEP", "LATENCY", "JITTER", "RATE", "LOSS", "LIMIT", "DUP_PROB", "DUP_DELAY", "ROUTE_ID", "QUEUE_ID")
"""Columns of a line."""
MAX_LOSS = 2**32 - 1
"""Value of ``LOSS`` that loses every packet."""
ROUTE, QUEUE = 1, 0


def files(path: PathOverTime) -> dict[str, str]:
    """Returns the trace of each direction by the end of its name."""
    ends = {"forward": (path.start, path.end, path.forward), "backward": (path.end, path.start, path.backward)}
    found = {}
    for name, (start, end, direction) in ends.items():
        lines = [
            f"# {path.name}, {start} -> {end}, {path.duration_s:g} s in steps of {path.step_s:g} s, by lightlag export",
            "# tc qdisc add dev DEV root handle 1 theaterq ingest EXTENDED; cat FILE > /dev/theaterq:DEV:1:0",
            "# tc qdisc change dev DEV root handle 1 theaterq stage RUN cont HOLD",
            f"# {','.join(COLUMNS)}",
            *(_line(interval) for interval in intervals(path, direction)),
        ]
        found[f"-{name}.csv"] = "\n".join(lines) + "\n"
    return found


def _line(interval: Interval) -> str:
    keep, loss = interval.until_us - interval.since_us, round(interval.loss * MAX_LOSS)
    values = (keep, interval.delay_ns, 0, interval.rate_bps, loss, interval.queue_packets, 0, 0, ROUTE, QUEUE)
    return ",".join(map(str, values))
