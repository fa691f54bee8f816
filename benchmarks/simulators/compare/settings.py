"""The settings on our side in addition to the profile, with their reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Switch:
    """A behaviour of a simulator that switches of lightlag reproduce."""

    why: str
    """The behaviour of the simulator."""
    congestion: dict[str, Any] = field(default_factory=dict)
    """Parameters of the congestion control that reproduce the behaviour."""
    tcp: dict[str, Any] = field(default_factory=dict)
    """Keys of the table `tcp` that reproduce the behaviour."""

    def text(self) -> str:
        """The switches in the syntax of a scenario."""
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
"""The profile of each simulator, and the defaults of the simulator that its program changes."""

HEADERS = {"ns-3": "2 B", "ns-2": "12 B"}
"""Additional bytes per packet: PPP headers on ns-3's link; in ns-2 the timestamps, which count there although its
profile does not send them.
"""

SWITCHES: dict[tuple[str, str], Switch] = {
    ("ns-3", "cubic"): Switch("runs without HyStart in this comparison", congestion={"slow_start": "standard"}),
    ("ns-3", "highspeed"): Switch(
        "uses the next entry of the table of RFC 3649, as Linux does", congestion={"response": "linux"}
    ),
}
"""Switches by simulator and algorithm."""

BOUNDED = {"hybla"}
"""Algorithms that overload the path if the receive window is unlimited. On both sides they get a receive window of 2
BDP.
"""
