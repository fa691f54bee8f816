"""The phases of BBR over time, and the quantities that the test cases measure, from the trace of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightlag.results.result import Result

__all__ = ["BITS", "PAYLOAD", "PROBE_BW", "Phase", "Run"]

PAYLOAD = 1448
"""Payload of a segment with timestamps, in bytes."""
BITS = PAYLOAD / 1500
"""Payload of a full packet as a fraction of its size, header included."""
PROBE_BW = ("down", "cruise", "refill", "up")
"""The phases of ProbeBW."""

NAMES = {
    "startup": "startup",
    "drain": "drain",
    "probe_rtt": "probe_rtt",
    "probe_bw_down": "down",
    "probe_bw_cruise": "cruise",
    "probe_bw_refill": "refill",
    "probe_bw_up": "up",
}


@dataclass(frozen=True)
class Phase:
    """A phase of BBR, with the rows of the trace that belong to it."""

    name: str
    """One of startup, drain, down, cruise, refill, up and probe_rtt."""
    start_s: float
    end_s: float
    """Time when the next phase started, or the end of the run."""
    first: int
    last: int
    """First row, and the row after the last one."""
    is_over: bool
    """Whether another phase followed."""


class Run:
    """The trace of the flow under test, as arrays."""

    def __init__(self, result: Result, flow: str = "test") -> None:
        import numpy as np
        import polars as pl

        trace = result.trace().filter(pl.col("flow") == flow)
        self.result = result
        self.time = trace["time_s"].to_numpy()
        self.window = trace["cwnd_segments"].to_numpy()
        self.flight = trace["inflight_bytes"].to_numpy().astype(np.float64)
        self.rtt = trace["rtt_s"].to_numpy()
        self.acked = trace["acked_bytes"].to_numpy().astype(np.float64)
        self.sent = trace["sent_bytes"].to_numpy().astype(np.float64)
        self.arrived = trace["arrived_bytes"].to_numpy().astype(np.float64)
        self.recovery = trace["phase"].to_list()
        self.end_s = float(result.simulated_s)
        self._trace = trace
        states = trace["state"].to_list() if "state" in trace.columns else []
        self.has_states = any(state is not None for state in states)
        self._states = states

    @property
    def is_version_1(self) -> bool:
        """Whether ProbeBW is one state with a cycle of gains, as in version 1."""
        return "probe_bw" in self._states

    @cached_property
    def rate(self) -> Any:
        """Estimated rate of the bottleneck in bit/s of payload."""
        return self._column("bottleneck_rate_bps")

    @cached_property
    def propagation(self) -> Any:
        """Estimated round-trip time without queues."""
        return self._column("rtprop_s")

    @cached_property
    def pacing(self) -> Any:
        """Pacing rate in bit/s of payload."""
        return self._column("pacing_rate_bps")

    @cached_property
    def pacing_gain(self) -> Any:
        """Pacing gain."""
        return self._column("pacing_gain")

    @cached_property
    def window_gain(self) -> Any:
        """Window gain."""
        return self._column("cwnd_gain")

    @property
    def product(self) -> Any:
        """Estimated bandwidth-delay product in bytes."""
        return self.rate * self.propagation / 8

    def _column(self, name: str) -> Any:
        import numpy as np

        if name not in self._trace.columns:
            return np.full(len(self.time), np.nan)
        return self._trace[name].cast(float).fill_null(math.nan).to_numpy()

    @cached_property
    def phases(self) -> list[Phase]:
        """The phases in order; empty for an algorithm without states."""
        names = list(self._named())
        starts = [at for at, name in enumerate(names) if name and (at == 0 or names[at - 1] != name)]
        found = []
        for place, first in enumerate(starts):
            is_over = place + 1 < len(starts)
            last = starts[place + 1] if is_over else len(names)
            end_s = float(self.time[last]) if is_over else self.end_s
            found.append(Phase(names[first], float(self.time[first]), end_s, first, last, is_over))
        return found

    def _named(self) -> Iterator[str]:
        """Yields the phase of each row. In version 1 the pacing gain determines the phase of ProbeBW."""
        last = ""
        for state, gain in zip(self._states, self.pacing_gain, strict=True):
            if state == "probe_bw":
                last = "up" if gain > 1.01 else "down" if gain < 0.99 else "cruise"
            elif state is not None:
                last = NAMES[state]
            yield last

    def first(self, name: str, after_s: float = 0.0) -> Phase | None:
        """Returns the first phase of this name that starts at or after a time."""
        return next((one for one in self.phases if one.name == name and one.start_s >= after_s), None)

    def following(self, phase: Phase) -> Phase | None:
        """Returns the phase after this one."""
        return next((one for one in self.phases if one.first == phase.last), None) if phase.is_over else None

    def at(self, time_s: float) -> Phase | None:
        """Returns the phase at a time."""
        return next((one for one in self.phases if one.start_s <= time_s < one.end_s), None)

    def row(self, time_s: float) -> int:
        """Returns the index of the last row at or before a time."""
        import numpy as np

        return max(int(np.searchsorted(self.time, time_s, side="right")) - 1, 0)

    def value(self, column: Any, time_s: float) -> float:
        """Returns the value of a column at a time."""
        return float(column[self.row(time_s)])

    def part(self, column: Any, start_s: float, end_s: float) -> Any:
        """Returns the values of a column in an interval, without unknown ones."""
        import numpy as np

        values = column[(self.time >= start_s) & (self.time < end_s)]
        return values[~np.isnan(values)]

    def rounds(self, start_s: float, end_s: float) -> float:
        """Returns the number of packet-timed round trips in an interval, with the part of the last one.

        A round ends with the first ACK of a packet that was sent after the round started, by the RTT sample of the ACK.
        """
        import numpy as np

        sent = self.time - self.rtt
        count, begin = 0, start_s
        while True:
            first = self.row(begin) + 1
            later = np.flatnonzero(sent[first:] >= begin)
            end = float(self.time[first + later[0]]) if len(later) else math.inf
            if end >= end_s:
                length = end - begin if end < math.inf else self.value(self.rtt, end_s)
                return count + (end_s - begin) / length
            count, begin = count + 1, end

    def goodput(self, start_s: float, end_s: float) -> float:
        """Returns the payload in bit/s that arrived in an interval."""
        count = self.value(self.arrived, end_s) - self.value(self.arrived, start_s)
        return 8 * count / (end_s - start_s)

    def losses(self, start_s: float, end_s: float) -> int:
        """Returns the number of data packets of the flow that were dropped in an interval."""
        import polars as pl

        drops = self.result.drops
        return drops.filter(
            (pl.col("flow") == "test") & ~pl.col("backward") & pl.col("time_s").is_between(start_s, end_s)
        ).height
