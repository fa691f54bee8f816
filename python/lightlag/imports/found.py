"""The facts of a path in a file: numbers with their origin, and rows over time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

__all__ = ["Arrived", "Found", "Load", "Measured", "Motion", "Options", "Row", "Side", "Written"]

Side = Literal["forward", "backward"]
LONGEST_S = 480 * 3600.0
"""Maximum time in a scenario, in seconds."""
FASTEST_BPS = 1e15


@dataclass(frozen=True)
class Options:
    """The facts that the user adds to a file."""

    rate: str | None = None
    """Rate of the link, where the file has none."""
    delay: str | None = None
    """Delay of the link in one direction, where the file has none."""
    interval_s: float | None = None
    """Time between two probes. Defaults to the value in the file, or 1 s."""
    columns: tuple[str, ...] = ()
    """Columns of a table, as ``rate=rate_mbps:Mbit/s``."""
    missing: tuple[str, ...] = ()
    """Values of a table that mean "no value", as ``0`` or ``999``."""
    up: Path | None = None
    """Measurement of the direction to the server. The imported file is then for the direction to the client."""
    delays: Path | None = None
    """Measurement of the delay and loss of the path, where the imported file has rates."""


@dataclass(frozen=True)
class Measured:
    """A number and the source that it comes from."""

    value: float
    origin: str


@dataclass(frozen=True)
class Row:
    """Parameters of a link starting at ``time_s``: bit/s, seconds and a fraction; None where unspecified."""

    time_s: float
    rate_bps: float | None = None
    delay_s: float | None = None
    loss: float | None = None


@dataclass(frozen=True)
class Arrived:
    """Throughput that a test reported for an interval."""

    time_s: float
    bps: float
    """Payload per second."""
    rtt_s: float | None = None
    loss: float | None = None
    """Fraction of the datagrams that were lost."""


@dataclass(frozen=True)
class Motion:
    """Nodes that move."""

    nodes: tuple[str, ...]
    file: str
    """Contents of the file with their paths."""
    format: str
    end_s: float
    span_m: float
    """Maximum distance of a node from the first one at the start, in metres."""


@dataclass(frozen=True)
class Load:
    """The load of a web page."""

    objects: str
    """Contents of the file with the objects of the page."""
    http: str
    """Version of HTTP, as in a scenario."""
    http_origin: str
    setup: dict[str, str]
    """Set-up of the connections, with the keys of a scenario."""
    setup_origins: list[str]


@dataclass(frozen=True)
class Written:
    """A scenario that a reader writes itself: its tables after name and duration."""

    lines: tuple[str, ...]
    files: dict[str, str]
    """Files next to the scenario, by name."""


@dataclass
class Found:
    """The facts of a path that a file gives."""

    title: str
    """A sentence about the file."""
    rate: Measured | None = None
    """Rate of the link in bit/s."""
    delay: Measured | None = None
    """Delay of the link in one direction, in seconds."""
    loss: dict[Side, Measured] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    """Parameters of the link over time."""
    side: Side | None = None
    """The direction that the rows apply to; None for both."""
    arrived: list[Arrived] = field(default_factory=list)
    """Throughput over time as a test of it measured it; the rows are the link that follows from it."""
    opportunities: str | None = None
    """Contents of a mahimahi trace, used instead of rows."""
    duration_s: float = 0.0
    origin_s: float | None = None
    """Time zero of the rows, in seconds since 1970; None if the file does not say it."""
    transfer: Measured | None = None
    """Payload of the transfer in bytes."""
    congestion: tuple[str, str] | None = None
    """The congestion control, and where its name comes from."""
    is_udp: bool = False
    traffic: Measured | None = None
    """Rate of sent datagrams, in bit/s. Defaults to the rate of the link."""
    is_backward: bool = False
    """Whether the data flows from the server to the client."""
    mss: Measured | None = None
    motion: Motion | None = None
    load: Load | None = None
    """The page that the flow loads, instead of a transfer."""
    written: Written | None = None
    """The rest of the scenario, used instead of a link and a flow."""
    other: Found | None = None
    """The facts of the opposite direction, if the file has both: its rate, rows, losses and data."""
    has_flow: bool = True
    """Whether data was sent in this direction."""
    notes: list[str] = field(default_factory=list)
