"""The records of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lightlag.scenario.values import Time


@dataclass(frozen=True, kw_only=True)
class Pcap:
    """Packet captures as pcapng files, one for each node, link direction or radio.

    A node captures the packets that it sends, receives and forwards; a link direction captures the packets that enter
    its queue; a radio captures the frames that it sends and decodes.
    """

    at: tuple[str, ...] = ()
    """Nodes, link directions as "from->to", and radios as "node@medium"; a node includes its radios. By default both
    endpoints of every captured flow."""
    flows: tuple[str, ...] = ()
    """Names of the flows to capture; by default all."""
    comments: bool | None = None
    """Whether packets have comments: the state of the sender, and the cause of a drop. Default: False."""
    qlog_schema: Literal["0.3", "main-14"] | None = None
    """Form of the logs of QUIC in qlog, which captures with comments include: ``"0.3"``, which qvis reads, or
    ``"main-14"``, the form of draft-ietf-quic-qlog-main-schema-14. Default: 0.3."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """Records of a run in addition to its summary."""

    trace: Literal["change", "sampled", "off"] | None = None
    """When the state of senders is recorded: at each change (change), at intervals (sampled), or never (off).
    Default: ``"change"``."""
    queue: Literal["sampled", "off"] | None = None
    """When the queues of links are recorded: at intervals (sampled), or never (off). Default: ``"sampled"``."""
    drops: bool | None = None
    """Whether every dropped packet is recorded. Default: True."""
    interval: Time | None = None
    """Time between samples, above zero. Default: ``"100 ms"``."""
    acks: bool | None = None
    """Whether each ACK that a sender receives is recorded; off by default."""
    internals: bool | None = None
    """Whether the trace includes the internal state of the congestion control, such as the model and the gains of BBR
    or ρ of Hybla; off by default."""
    queueing: bool | None = None
    """Whether the waiting times of data packets are recorded at each link direction; off by default."""
    positions: Time | None = None
    """Time between two samples of the positions of nodes with radios, 1 s by default; ``"off"`` records none."""
    pcap: Pcap | None = None
    """Packet captures, as files for other tools; by default none are written."""
