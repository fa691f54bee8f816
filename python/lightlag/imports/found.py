"""The facts of a path in a file: numbers with their origin, and rows over time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Found", "Measured", "Motion", "Options", "Row", "Side", "Written"]

Side = Literal["forward", "backward"]
LONGEST_S = 480 * 3600.0
"""Seconds of a time in a scenario at most."""
FASTEST_BPS = 1e15


@dataclass(frozen=True)
class Options:
    """The facts that the user adds to a file."""

    rate: str | None = None
    """Rate of the link, where the file has none."""
    delay: str | None = None
    """Delay of the link, where the file has none."""
    interval_s: float | None = None
    """Time between two probes; by default as the file says, or 1 s."""
    columns: tuple[str, ...] = ()
    """Columns of a table, as ``rate=rate_mbps:Mbit/s``."""
    missing: tuple[str, ...] = ()
    """Values of a table that stand for none, as ``0`` or ``999``."""


@dataclass(frozen=True)
class Measured:
    """A number and where it comes from."""

    value: float
    origin: str


@dataclass(frozen=True)
class Row:
    """A link from a time on, in seconds, bit/s and seconds; None where nothing is said."""

    time_s: float
    rate_bps: float | None = None
    delay_s: float | None = None
    loss: float | None = None


@dataclass(frozen=True)
class Motion:
    """Nodes that move."""

    nodes: tuple[str, ...]
    file: str
    """The text of the file of their paths."""
    format: str
    end_s: float
    span_m: float
    """The largest distance of two nodes at the start."""


@dataclass(frozen=True)
class Written:
    """The tables of a scenario that a reader writes itself, behind its name and duration."""

    lines: tuple[str, ...]
    files: dict[str, str]
    """Files beside it, by name."""


@dataclass
class Found:
    """The facts that a file gives."""

    title: str
    """A sentence about the file."""
    rate: Measured | None = None
    """bit/s."""
    delay: Measured | None = None
    """Seconds, one way."""
    loss: dict[Side, Measured] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    """The link over time."""
    side: Side | None = None
    """The direction of the rows; None is both."""
    opportunities: str | None = None
    """A trace of mahimahi, in the place of rows."""
    duration_s: float = 0.0
    transfer: Measured | None = None
    """Bytes."""
    congestion: tuple[str, str] | None = None
    """The congestion control, and its origin."""
    is_udp: bool = False
    traffic: Measured | None = None
    """Rate at which datagrams are sent, in bit/s; by default that of the link."""
    is_backward: bool = False
    """Whether the data flows from the server to the client."""
    mss: Measured | None = None
    motion: Motion | None = None
    written: Written | None = None
    """The rest of the scenario, in the place of a link and a flow."""
    other: Found | None = None
    """The opposite direction, where the file has both: its rate, rows, losses and data."""
    has_flow: bool = True
    """Whether data was sent in this direction."""
    notes: list[str] = field(default_factory=list)
