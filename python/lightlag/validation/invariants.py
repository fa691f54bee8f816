"""Invariants that hold in every run, as far as they can be checked from its results.

The engine itself counts each packet at the end of a run: sent = received + dropped + in flight.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightlag.results.result import Result

__all__ = ["broken"]

STALL_RTOS, LEAST_RTO_S = 20, 0.2
"""Number of timeouts without data until a flow counts as stalled, and minimum of a timeout in seconds.

A timeout is two mean round trips, or the minimum if that is longer.
"""
LARGEST_PAYLOAD = 1460
"""Maximum payload of a segment in the validation scenarios, in bytes."""


def broken(result: Result) -> list[str]:
    """Returns the invariants that do not hold in this run."""
    import numpy as np

    found = [] if _conserved(result.summary) else ["more data arrived than was sent and not dropped"]
    ordered = ("acked_bytes", "delivered_bytes", "arrived_bytes", "sent_bytes")
    rows = {str(part["flow"][0]): part for part in result.trace().partition_by("flow", maintain_order=True)}
    for flow in result.summary["flows"]:
        if flow["name"] not in rows:
            continue
        part = rows[flow["name"]]
        counts = [part[name].to_numpy().astype(np.float64) for name in ordered]
        if any((np.diff(count) < 0).any() for count in counts):
            found.append(f"{flow['name']}: a count of bytes falls")
        # In order and one time: delivered data is a part of the arrived data, which is a part of the sent data.
        if any((low > high).any() for low, high in itertools.pairwise(counts)):
            found.append(f"{flow['name']}: acknowledged, delivered, arrived and sent bytes are out of order")
        if stall := _stall(flow, part["time_s"].to_numpy(), counts[2], result.simulated_s):
            found.append(stall)
    return found


def _conserved(summary: dict[str, Any]) -> bool:
    """Checks that the segments that were sent and not dropped hold at least the payload that was delivered."""
    causes = ("queue", "aqm", "police", "error", "outage", "route")
    dropped = sum(link[f"dropped_{cause}"] for link in summary["links"] if link.get("data_packets") for cause in causes)
    flows = summary["flows"]
    # A SYN may be among the drops, and has no payload.
    left = sum(flow["sent_segments"] for flow in flows) - dropped + 6 * len(flows)
    return bool(left * LARGEST_PAYLOAD >= sum(flow["delivered_bytes"] for flow in flows))


def _stall(flow: dict[str, Any], times: Any, arrived: Any, end_s: float) -> str:
    """Returns a message about the maximum time without data, if it is a stall; otherwise an empty text."""
    import numpy as np

    # The time in which the application has nothing to send does not count.
    limit = STALL_RTOS * max(LEAST_RTO_S, 2 * (flow["mean_rtt_s"] or 0.0)) + flow["limited_s"]["application"]
    until = end_s if flow["finish_s"] is None else flow["finish_s"]
    moments = times[1:][np.diff(arrived) > 0]
    moments = np.concatenate(([flow["start_s"]], moments[moments < until], [until]))
    longest = float(np.diff(moments).max())
    return f"{flow['name']}: nothing arrives for {longest:.3g} s" if longest > limit else ""
