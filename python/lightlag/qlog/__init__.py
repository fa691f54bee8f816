"""Logs of connections in qlog 0.3, which qvis shows: packets, ACKs, losses and recovery metrics.

The engine writes the logs of QUIC during a run. Logs of TCP are made from the captures of both endpoints of a flow and
from the trace. docs/real-packets.md describes TCP in the events of QUIC.
"""

from __future__ import annotations

from lightlag.qlog.writing import CHANGES, FILE_SUFFIX, check, check_scenario, write

__all__ = ["CHANGES", "FILE_SUFFIX", "check", "check_scenario", "write"]
