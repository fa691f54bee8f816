"""The outcome of a swarm: its transfers, its frames and its routing; the metrics of the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lightlag.analyse import jain

FLOWS = 30


@dataclass(frozen=True)
class Flow:
    """One transfer.

    Attributes
    ----------
    bytes
        Payload that its receiver got.
    seconds
        From the first segment to the last byte; 0 if nothing arrived.
    delay_s
        Mean time from the first transmission of a segment to its delivery in order; NaN if nothing arrived.
    timeouts
        Of the retransmission timer.
    hops
        Mean over the data that arrived; NaN without any, or where hops were not recorded.
    """

    bytes: int
    seconds: float
    delay_s: float
    timeouts: int
    hops: float = math.nan

    @property
    def bps(self) -> float:
        """Throughput by equation 4 of the paper: what arrived over the time between the first and the last of it."""
        return self.bytes * 8 / self.seconds if self.bytes and self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Air:
    """Frames and messages of routing.

    Attributes
    ----------
    sent
        Frames on the air, each attempt counted; no answers.
    failed
        Attempts that were not acknowledged.
    breaks
        Frames dropped, whatever the reason: of each AODV is told that its link is broken.
    routing_bytes
        Bytes of routing messages, each hop counted.
    """

    sent: int
    failed: int
    breaks: int
    routing_bytes: int

    @property
    def failing(self) -> float:
        """The share of frames without an acknowledgement."""
        return self.failed / self.sent if self.sent else math.nan


@dataclass(frozen=True)
class Outcome:
    """A run.

    Attributes
    ----------
    flows
        Every transfer, also those that carried nothing.
    air
        Frames and routing.
    seconds
        The length of the run.
    cpu_s
        Time of the processor; NaN if unknown.
    """

    flows: Sequence[Flow]
    air: Air
    seconds: float
    cpu_s: float = math.nan

    @property
    def kbps(self) -> float:
        """Average throughput of a flow, those without any data counted as 0."""
        return math.fsum(flow.bps for flow in self.flows) / len(self.flows) / 1e3

    @property
    def whole_kbps(self) -> float:
        """The same over the whole run, however short the time was in which a flow carried data."""
        return sum(flow.bytes for flow in self.flows) * 8e-3 / self.seconds / len(self.flows)

    @property
    def served(self) -> int:
        """Flows that delivered anything."""
        return sum(flow.bytes > 0 for flow in self.flows)

    @property
    def fairness(self) -> float:
        """Jain's index of the throughputs, those without any data counted as 0; 1 if nobody has anything."""
        index = jain(flow.bps for flow in self.flows)
        return 1.0 if math.isnan(index) else index

    @property
    def fairness_of_served(self) -> float:
        """Jain's index of those flows alone that delivered anything; 1 without any."""
        index = jain(flow.bps for flow in self.flows if flow.bytes)
        return 1.0 if math.isnan(index) else index

    @property
    def delay_s(self) -> float:
        """Mean delay of a delivered segment, each byte with the same weight; NaN if nothing arrived."""
        return self._by_bytes([flow.delay_s for flow in self.flows])

    @property
    def hops(self) -> float:
        """Mean hops of the data that arrived; NaN if unknown."""
        return self._by_bytes([flow.hops for flow in self.flows])

    @property
    def timeouts(self) -> int:
        """Of all flows together."""
        return sum(flow.timeouts for flow in self.flows)

    def _by_bytes(self, values: Sequence[float]) -> float:
        weighted = [
            (flow.bytes, value) for flow, value in zip(self.flows, values, strict=True) if not math.isnan(value)
        ]
        total = sum(weight for weight, _ in weighted)
        return math.fsum(weight * value for weight, value in weighted) / total if total else math.nan
