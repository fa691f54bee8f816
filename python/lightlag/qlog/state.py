"""The state of a sender, as the comment of a captured packet reports it."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["SenderState", "state_of"]

_STATE = re.compile(
    r"cwnd (\d+) B, ssthresh (?:(\d+) B|unlimited), in flight (\d+) B(?:, SRTT (\d+\.\d+) ms)?, (open|recovery|loss)"
)


@dataclass(frozen=True, slots=True)
class SenderState:
    """State of a sender after it sent or processed a packet.

    Attributes
    ----------
    ssthresh
        None while it is unlimited.
    srtt_ms
        None before the first sample.
    phase
        `open`, `recovery` or `loss`.
    """

    cwnd: int
    ssthresh: int | None
    inflight: int
    srtt_ms: float | None
    phase: str

    @property
    def congestion_state(self) -> str:
        """Name of the state of the congestion controller."""
        if self.phase != "open":
            return self.phase
        return "slow_start" if self.ssthresh is None or self.cwnd < self.ssthresh else "congestion_avoidance"


def state_of(comment: str) -> SenderState | None:
    """Returns the state in a comment; None if it has none.

    Examples
    --------
    >>> state_of("cwnd 14480 B, ssthresh unlimited, in flight 1448 B, SRTT 594.742 ms, open").inflight
    1448
    """
    found = _STATE.match(comment)
    if found is None:
        return None
    cwnd, ssthresh, inflight, srtt, phase = found.groups()
    return SenderState(
        int(cwnd),
        None if ssthresh is None else int(ssthresh),
        int(inflight),
        None if srtt is None else float(srtt),
        phase,
    )
