"""The settings on our side beside the profile, so that both simulate the same thing, with their reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Switch:
    """A behaviour of a peer that a switch of ours shows as well."""

    why: str
    """The behaviour of the peer."""
    congestion: dict[str, Any] = field(default_factory=dict)
    """Parameters of the algorithm."""
    tcp: dict[str, Any] = field(default_factory=dict)
    """Keys of the connection."""

    def text(self) -> str:
        """The switches as a scenario says them."""
        return ", ".join(f"`{key} = {_value(value)}`" for key, value in [*self.congestion.items(), *self.tcp.items()])


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


PROFILES: dict[str, dict[str, Any]] = {
    "ns-3": {"profile": "ns3", "mss": "1448 B", "receive_buffer": "64 MiB"},
    "ns-2": {
        "profile": "ns2-linux",
        "mss": "1448 B",
        "receive_buffer": "28 MB",
        "initial_window": 10,
        "delayed_ack": {"segments": 2, "timeout": "200 ms", "quick": 0},
    },
}
"""The profile of each peer, and what its program sets against the peer's defaults."""

HEADERS = {"ns-3": "2 B", "ns-2": "12 B"}
"""ns-3's link has PPP headers; ns-2's segments are counted with the timestamps that its profile does not carry."""

SWITCHES: dict[tuple[str, str], Switch] = {
    ("ns-3", "newreno"): Switch("grows by one segment's share an ACK, not a segment", tcp={"growth": "per_ack"}),
    ("ns-3", "cubic"): Switch(
        "has no Reno-friendly region in 3.37; HyStart is off on both sides",
        congestion={"reno_friendly": False, "slow_start": "standard"},
    ),
    ("ns-3", "highspeed"): Switch(
        "reads the table of RFC 3649 an entry ahead, as Linux", congestion={"response": "linux"}
    ),
    ("ns-3", "vegas"): Switch("follows Linux, not the paper", congestion={"variant": "linux"}),
    ("ns-2", "cubic"): Switch(
        "ships CUBIC of Linux 2.6; its first slow start does not end at 100 segments",
        congestion={"variant": "linux-2.6", "initial_ssthresh": 0},
    ),
    ("ns-2", "hybla"): Switch(
        "ships Hybla of Linux 2.6, in whole segments, an increment an ACK", congestion={"variant": "linux-2.6"}
    ),
    ("ns-2", "highspeed"): Switch(
        "reads the table of RFC 3649 an entry ahead, as Linux", congestion={"response": "linux"}
    ),
    ("ns-2", "htcp"): Switch("counts the segments that an ACK acknowledges", tcp={"growth": "per_segment"}),
    ("ns-2", "bic"): Switch(
        "ships BIC of Linux 2.6, which multiplies the growth by its estimate of segments an ACK",
        congestion={"variant": "linux"},
        tcp={"growth": "per_segment"},
    ),
}
"""By peer and algorithm."""

BOUNDED = {"hybla"}
"""Algorithms that flood an open window: they get a receive window of 2 BDP on both sides."""
