"""Facts that follow from the summary of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def legs_of(summary: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The legs of each flow that proxies split, by its name, in the order of the hops."""
    legs: dict[str, list[dict[str, Any]]] = {}
    for leg in summary.get("legs", []):
        legs.setdefault(leg["flow"], []).append(leg)
    return legs


def longest_leg(legs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The leg with the largest round trip: behind a proxy beside a satellite, that of the satellite."""
    return max(legs, key=lambda leg: leg["min_rtt_s"] or 0.0)


def leg_name(leg: Mapping[str, Any]) -> str:
    """The nodes that a leg joins."""
    return f"{leg['from']}->{leg['to']}"


def capacity(summary: Mapping[str, Any]) -> tuple[str, float] | None:
    """Name and rate in bit/s of the link direction that is the slowest on the way of every flow of TCP.

    None if there is no such one, or if its rate changes during the run.
    """
    names = {flow["bottleneck"] for flow in summary["flows"] if flow["bottleneck"] is not None}
    if len(names) != 1:
        return None
    (name,) = names
    rates = [link["rate_bps"] for link in summary["links"] if link["name"] == name]
    return (name, float(rates[0])) if rates and rates[0] is not None else None
