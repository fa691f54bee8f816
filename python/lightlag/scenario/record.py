"""The records of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lightlag.scenario.values import Time


@dataclass(frozen=True, kw_only=True)
class Pcap:
    """Packets as pcapng files, one for each place.

    A node sees the packets that it sends, receives and forwards; a link direction sees those given to its queue; a
    radio sees the frames that it sends and understands.
    """

    at: tuple[str, ...] = ()
    """Nodes, link directions as "from->to", and radios as "node@medium"; a node brings its radios. By default both ends
    of every flow that is captured."""
    flows: tuple[str, ...] = ()
    """Names of the flows to capture; by default all."""
    comments: bool | None = None
    """Comments on packets: the state of the sender, and the cause of a drop."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """Records of a run beside its summary."""

    trace: Literal["change", "sampled", "off"] | None = None
    """The state of senders: at each change (the default), at intervals, or never."""
    queue: Literal["sampled", "off"] | None = None
    """Queues of links: at intervals (the default), or never."""
    drops: bool | None = None
    """Every dropped packet."""
    interval: Time | None = None
    """Time between samples."""
    acks: bool | None = None
    """Each ACK that a sender receives; off by default."""
    internals: bool | None = None
    """State of the congestion control in the trace: the model and the gains of BBR, ρ of Hybla; off by default."""
    queueing: bool | None = None
    """Waiting times of data packets at each link direction; off by default."""
    positions: Time | None = None
    """Time between two samples of the positions of nodes with radios; by default 1 s, and none for ``"off"``."""
    pcap: Pcap | None = None
    """Packets as files that other tools read; by default none are written."""
