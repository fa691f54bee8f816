"""The outcome of a swarm: its transfers, its frames and its routing, and the paper's metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Flow:
    """One transfer.

    Attributes
    ----------
    bytes
        Payload received.
    seconds
        From the first segment to the last byte; 0 if nothing arrived.
    delay_s
        Mean time from the first transmission of a segment to its delivery in order; NaN if nothing arrived.
    timeouts
        Number of retransmission timeouts.
    hops
        Mean number of hops of the data that arrived; NaN if nothing arrived or hops were not recorded.
    """

    bytes: int
    seconds: float
    delay_s: float
    timeouts: int
    hops: float = math.nan

    @property
    def bps(self) -> float:
        """Throughput by equation 4 of the paper: received payload divided by the active time, in bit/s."""
        return self.bytes * 8 / self.seconds if self.bytes and self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Air:
    """Counts of frames and of routing messages.

    Attributes
    ----------
    sent
        Transmitted frames (data, routing and address resolution), each attempt counted; no acknowledgements.
    retries
        Number of these frames that are retransmissions of an unacknowledged frame.
    dropped
        Frames that a station dropped: after their last attempt, after their lifetime, or at a full queue.
    broken
        Number of links that AODV considered broken; NaN if unknown.
    routing_bytes
        Bytes of routing messages, each hop counted.
    """

    sent: int
    retries: int
    dropped: int
    broken: float
    routing_bytes: int

    @property
    def repeating(self) -> float:
        """The fraction of transmitted frames that are retransmissions; NaN if there are no frames."""
        return self.retries / self.sent if self.sent else math.nan


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes
    ----------
    flows
        All transfers, including those that delivered nothing.
    air
        Frames and routing.
    seconds
        Duration of the run.
    """

    flows: Sequence[Flow]
    air: Air
    seconds: float

    @property
    def served(self) -> int:
        """Number of flows that delivered data."""
        return sum(flow.bytes > 0 for flow in self.flows)

    @property
    def delay_s(self) -> float:
        """Mean delay of a delivered segment, weighted by bytes; NaN if nothing arrived."""
        return self._by_bytes([flow.delay_s for flow in self.flows])

    @property
    def hops(self) -> float:
        """Mean number of hops of the data that arrived; NaN if unknown."""
        return self._by_bytes([flow.hops for flow in self.flows])

    @property
    def timeouts(self) -> int:
        """Total number of timeouts of all flows."""
        return sum(flow.timeouts for flow in self.flows)

    def record(self) -> dict[str, Any]:
        """Returns plain values for JSON, in which unknown values are None; :meth:`of_record` restores the outcome."""
        parts = asdict(self)
        return parts | {"flows": [_plain(flow) for flow in parts["flows"]], "air": _plain(parts["air"])}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Outcome:
        """Restores an outcome from the values of :meth:`record`."""
        flows = [Flow(**_numbers(flow)) for flow in record["flows"]]
        return cls(flows, Air(**_numbers(record["air"])), record["seconds"])

    def _by_bytes(self, values: Sequence[float]) -> float:
        weighted = [
            (flow.bytes, value) for flow, value in zip(self.flows, values, strict=True) if not math.isnan(value)
        ]
        total = sum(weight for weight, _ in weighted)
        return math.fsum(weight * value for weight, value in weighted) / total if total else math.nan


def _plain(numbers: Mapping[str, float]) -> dict[str, float | None]:
    """Replaces NaN by None, because JSON has no NaN."""
    return {name: None if math.isnan(value) else value for name, value in numbers.items()}


def _numbers(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in plain.items()}
