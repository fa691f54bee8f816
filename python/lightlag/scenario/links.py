"""Links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lightlag.scenario.values import (
    Changes,
    Delay,
    Directions,
    Fade,
    Fec,
    Jitter,
    Loss,
    OnDemand,
    Queue,
    Rate,
    Reorder,
    Signals,
    Size,
    Trace,
)


@dataclass(frozen=True, kw_only=True)
class Line:
    """The properties of a link, in both directions."""

    rate: Rate | Directions[Rate]
    """Bit rate."""
    delay: Delay | Directions[Delay]
    """Propagation delay: a time, or the path of light."""
    jitter: Jitter | Directions[Jitter | None] | None = None
    """Variation of the delay: "5 ms" to either side, or a distribution."""
    queue: Queue | Directions[Queue] | None = None
    """Limit of waiting packets: ``"1000 packets"`` (the default), ``"64 kB"`` or ``"1 bdp"``; or
    ``{"discipline": "codel"}`` with the keys of the discipline."""
    loss: Loss | Directions[Loss] | None = None
    """Packets that are lost, other than those dropped by the queue."""
    fec: Fec | Directions[Fec | None] | None = None
    """Forward error correction: ``{"data": 10, "repair": 2}``."""
    reorder: Reorder | Directions[Reorder] | None = None
    """Packets that are held back: ``{"probability": 0.01, "delay": "5 ms"}``."""
    duplicate: float | Directions[float] | None = None
    """Probability that a packet arrives twice."""
    changes: Changes | Directions[Changes] | None = None
    """New values of the link from given times on: rate, delay, down, loss."""
    trace: Trace | Directions[Trace | None] | None = None
    """A file with the changes of the link, instead of ``changes``."""
    outage: Literal["hold", "lose"] | Directions[Literal["hold", "lose"]] | None = None
    """Effect of an outage: packets wait (hold), or the transmitter does not notice and they are lost (lose)."""
    fade: Fade | Directions[Fade | None] | None = None
    """Rain, which sets the rate of the link by the MODCODs of DVB-S2."""
    on_demand: OnDemand | Directions[OnDemand | None] | None = None
    """A transmitter that must ask for bandwidth: ``{"frame": "26.5 ms", "latency": "560 ms"}``."""
    signals: Signals | None = None
    """Events that the stations at both ends report to flows with SCPS-TP: outages, corruption or both."""
    header: Size | None = None
    """Link-layer header and trailer of every packet."""


@dataclass(frozen=True, kw_only=True)
class Link(Line):
    """A full-duplex link between two nodes. Naming a node creates it."""

    between: tuple[str, str]
