"""Links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lightlag.scenario.values import (
    Aggregate,
    Changes,
    Channel,
    Delay,
    Directions,
    Fade,
    Fec,
    Jitter,
    Loss,
    OnDemand,
    Queue,
    Ramp,
    Rate,
    Reorder,
    Signals,
    Size,
    Slots,
    Trace,
)


@dataclass(frozen=True, kw_only=True)
class LinkParameters:
    """A link with the properties of a listed link, in both directions."""

    rate: Rate | Directions[Rate]
    """Bit rate."""
    delay: Delay | Directions[Delay]
    """Propagation delay: a time, or the path of a light signal."""
    jitter: Jitter | Directions[Jitter | None] | None = None
    """Jitter: a maximum deviation in either direction, ``"5 ms"``, or a distribution."""
    queue: Queue | Directions[Queue] | None = None
    """Limit of the queue, ``"1000 packets"``, ``"64 kB"`` or ``"1 bdp"``; or a discipline with its keys,
    ``{"discipline": "codel"}``. Default: ``"1000 packets"``."""
    loss: Loss | Directions[Loss] | None = None
    """Packet loss other than queue overflow. Default: 0."""
    fec: Fec | Directions[Fec | None] | None = None
    """Forward error correction by repair packets, ``{"data": 10, "repair": 2}``."""
    reorder: Reorder | Directions[Reorder] | None = None
    """Random extra delay of packets, so that later ones overtake them, ``{"probability": 0.01, "delay": "5 ms"}``."""
    duplicate: float | Directions[float] | None = None
    """Probability that a packet arrives twice."""
    changes: Changes | Directions[Changes] | None = None
    """Changes of the link at given times: rate, delay, outages (``down``) and losses."""
    trace: Trace | Directions[Trace | None] | None = None
    """File with the changes of the link over time, instead of ``changes``."""
    outage: Literal["hold", "lose"] | Directions[Literal["hold", "lose"]] | None = None
    """Fate of packets in an outage: they wait (hold), or the transmitter does not detect the outage and they are lost
    (lose)."""
    fade: Fade | Directions[Fade | None] | None = None
    """Rain, which determines the rate of the link through the MODCODs of DVB-S2."""
    on_demand: OnDemand | Directions[OnDemand | None] | None = None
    """Bandwidth on demand: the transmitter must request capacity, ``{"frame": "26.5 ms", "latency": "560 ms"}``."""
    slots: Slots | Directions[Slots | None] | None = None
    """Grid of times when the state of the link changes: outages, steps of the delay, losses and lower rates,
    ``{"period": "15 s", "phase": "12 s", "outage": "100 ms"}``."""
    channel: Channel | Directions[Channel | None] | None = None
    """Channel whose bad state adds delay, loses packets and lowers the rate,
    ``{"good": {"mean_time": "10 s"}, "bad": {"mean_time": "200 ms", "delay": "30 ms", "loss": 0.3}}``."""
    ramp: Ramp | Directions[Ramp | None] | None = None
    """Capacity that follows demand: the rate at rest, and the time with a queue until the link has its rate,
    ``{"idle": "100 Mbit/s", "time": "400 ms"}``."""
    aggregate: Aggregate | Directions[Aggregate | None] | None = None
    """Frames of a radio: packets wait for the next frame and are sent together, ``{"interval": "1.33 ms"}``."""
    signals: Signals | None = None
    """Events that the stations at both ends report to flows with SCPS-TP: outages, corruption or both."""
    header: Size | None = None
    """Link-layer header and trailer of every packet. Default: ``"0 B"``."""
    mtu: Size | Directions[Size | None] | None = None
    """Largest IP packet that the link carries, 68 B to 65,535 B; larger ones are dropped without a notification.
    Default: no limit."""
    police: Mapping[str, Any] | Directions[Mapping[str, Any] | None] | None = None
    """Policer before the queue: a token bucket that drops packets above a rate,
    ``{"rate": "50 Mbit/s", "burst": "64 kB"}``."""


@dataclass(frozen=True, kw_only=True)
class Link(LinkParameters):
    """A full-duplex link between two nodes. The forward direction starts at the first node."""

    between: tuple[str, str]
    """The two nodes. A node is created when it is first named."""
