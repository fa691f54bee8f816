"""The outcome of a swarm: its transfers, its frames and its routing; the metrics of the paper."""

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
        Frames of data, routing and address resolution on the air, each attempt counted; no acknowledgements.
    retries
        Those of them that repeat one that was not acknowledged.
    dropped
        Frames that a station dropped: after their last attempt, after their lifetime, or at a full queue.
    broken
        Links that AODV took for broken; NaN if unknown.
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
        """The fraction of the frames on the air that repeat another one; NaN without any."""
        return self.retries / self.sent if self.sent else math.nan


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
    """

    flows: Sequence[Flow]
    air: Air
    seconds: float

    @property
    def served(self) -> int:
        """Flows that delivered anything."""
        return sum(flow.bytes > 0 for flow in self.flows)

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

    def record(self) -> dict[str, Any]:
        """Plain values for JSON, from which :meth:`of_record` makes the same outcome: what is unknown is None."""
        parts = asdict(self)
        return parts | {"flows": [_plain(flow) for flow in parts["flows"]], "air": _plain(parts["air"])}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Outcome:
        """The outcome of which :meth:`record` gave these values."""
        flows = [Flow(**_numbers(flow)) for flow in record["flows"]]
        return cls(flows, Air(**_numbers(record["air"])), record["seconds"])

    def _by_bytes(self, values: Sequence[float]) -> float:
        weighted = [
            (flow.bytes, value) for flow, value in zip(self.flows, values, strict=True) if not math.isnan(value)
        ]
        total = sum(weight for weight, _ in weighted)
        return math.fsum(weight * value for weight, value in weighted) / total if total else math.nan


def _plain(numbers: Mapping[str, float]) -> dict[str, float | None]:
    """Numbers for JSON, which has no NaN."""
    return {name: None if math.isnan(value) else value for name, value in numbers.items()}


def _numbers(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in plain.items()}
