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
    ("ns-3", "cubic"): Switch("runs here without HyStart", congestion={"slow_start": "standard"}),
    ("ns-3", "highspeed"): Switch(
        "reads the table of RFC 3649 an entry ahead, as Linux", congestion={"response": "linux"}
    ),
}
"""By peer and algorithm."""

BOUNDED = {"hybla"}
"""Algorithms that flood an open window: they get a receive window of 2 BDP on both sides."""
