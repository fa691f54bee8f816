"""Captures: connections, their statistics, and the packets of one of them.

Captures of any origin are read: pcapng and pcap, of real hosts and of simulated runs. The meaning of the numbers, and
the limits of a capture, are in docs/real-packets.md.
"""

from __future__ import annotations

from lightlag.captures.connections import Capture, Connection, inspect

__all__ = ["Capture", "Connection", "inspect"]
