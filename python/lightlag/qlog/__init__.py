"""Logs of connections in qlog: packets, ACKs, losses and recovery metrics. qvis shows those in qlog 0.3.

The engine writes the logs of QUIC during a run. Logs of TCP are made from the captures of both endpoints of a flow and
from the trace. docs/real-packets.md describes TCP in the events of QUIC.
"""

from __future__ import annotations

from lightlag.qlog.writing import FILE_SUFFIX, changes, check, check_scenario, write

__all__ = ["FILE_SUFFIX", "changes", "check", "check_scenario", "write"]
