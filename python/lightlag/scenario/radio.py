"""Radio media, and nodes that are on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lightlag._renamed import former_keywords
from lightlag.scenario.values import Model, RoutingProtocol, Time


@former_keywords()
@dataclass(frozen=True, kw_only=True)
class Radio:
    """A radio: its power, its receiver and its MAC. Omitted keys of a medium have the defaults of ns-3.37; omitted keys
    of a node have the values of its medium.
    """

    power: str | None = None
    """Transmit power: a power such as "16 dBm". Default: ``"16.0206 dBm"``."""
    gain: str | None = None
    """Antenna gain, for transmission and reception: a ratio such as "15 dB". Default: ``"0 dB"``."""
    noise_figure: str | None = None
    """Noise figure of the receiver: a ratio such as "15 dB". Default: ``"7 dB"``."""
    sensitivity: str | None = None
    """Weakest signal that the receiver can notice: a power such as "16 dBm". Default: ``"-101 dBm"``."""
    detection: str | None = None
    """Weakest preamble that the receiver detects: a power such as "16 dBm". Default: ``"-82 dBm"``."""
    detection_snr: str | None = None
    """Minimum ratio of signal to interference and noise for a preamble: a ratio such as "15 dB". Default: ``"4
    dB"``."""
    carrier_sense: str | None = None
    """Minimum power of frames, decodable or not, that makes the medium busy: a power such as "16 dBm". Default: ``"-82
    dBm"``."""
    energy_detection: str | None = None
    """Minimum energy of any kind that makes the medium busy: a power such as "16 dBm". Default: ``"-62 dBm"``."""
    capture: bool | None = None
    """Whether a much stronger frame replaces one that has just started. Default: False."""
    capture_margin: str | None = None
    """Minimum margin of the stronger frame for ``capture``: a ratio such as "15 dB". Default: ``"5 dB"``."""
    rate: str | None = None
    """Data rate, ``"24 Mbit/s"`` or ``"HtMcs7"``: a rate. Default: ``"24 Mbit/s"``."""
    rate_control: Model | None = None
    """Choice of the data rate, ``"minstrel-ht"`` or with its parameters ``{"algorithm": "arf", "successes": 5}``; fixed
    by default."""
    broadcast_rate: str | None = None
    """Rate of broadcasts: a rate. Default: ``"6 Mbit/s"``."""
    max_attempts: int | None = None
    """Maximum number of transmissions of a frame before it is dropped. From 1 to 255. Default: 7."""
    rts_threshold: int | None = None
    """Maximum size in bytes of a frame without RTS and CTS. From 1 to 65,535. Default: 65,535."""
    aggregation: float | None = None
    """Maximum size of an A-MPDU in bytes; 0 for none. From 0 to 65,535. Default: 65,535."""
    missing_block_ack: Literal["ask", "repeat"] | None = None
    """Reaction to a missing block acknowledgement: request it (ask), or retransmit the frames (repeat).
    Default: ``"ask"``."""
    block_ack_agreement: Literal["aggregates", "ns3"] | None = None
    """Block acknowledgement agreements: in place from the start where packets can be aggregated, or negotiated at every
    rate (as in ns-3, with 802.11n and 802.11ac). Default: ``"aggregates"``."""
    access_class: Literal["best-effort", "background", "video", "voice"] | None = None
    """Access class of flows without a code point, if the medium has classes. Default: ``"best-effort"``."""
    edca: Mapping[str, Mapping[str, Any]] | None = None
    """Parameters of access classes that differ from the standard, ``{"voice": {"cw_min": 3, "cw_max": 7}}``; also
    ``aifsn`` and ``txop``."""
    queue: int | None = None
    """Maximum number of waiting frames. From 1 to 1,000,000. Default: 500."""
    lifetime: Time | None = None
    """Maximum waiting time of a frame. Default: ``"500 ms"``."""


@former_keywords()
@dataclass(frozen=True, kw_only=True)
class Medium(Radio):
    """A radio medium: a channel, the radios on it where a node specifies nothing else, and the routing of their
    nodes.
    """

    name: str | None = None
    """Name of the medium. Default: ``"air"``."""
    kind: Literal["wifi"] | None = None
    """Kind of the medium: wifi is a channel of 802.11. Default: ``"wifi"``."""
    standard: Literal["802.11a", "802.11g", "802.11n", "802.11ac"] | None = None
    """Amendment of 802.11. Default: ``"802.11n"``."""
    frequency: str | None = None
    """Centre frequency: a frequency such as "5.18 GHz" (Hz, kHz, MHz, GHz). Default: ``"5.18 GHz"``."""
    width: Literal["20 MHz", "40 MHz", "80 MHz"] | None = None
    """Width of the channel. Default: ``"20 MHz"``."""
    guard: Literal["long", "short", "short-unrounded"] | None = None
    """Guard interval of 802.11n and 802.11ac. Default: ``"long"``."""
    streams: int | None = None
    """Spatial streams of 802.11n and 802.11ac. From 1 to 4. Default: 1."""
    errors: Literal["nist", "yans", "table-bcc", "table-ldpc"] | None = None
    """Error model. Default: ``"nist"``."""
    propagation: Model | None = None
    """Path loss over the distance; by default log-distance with an exponent of 3."""
    fading: Model | None = None
    """Fading from frame to frame; by default none."""
    shadowing: Mapping[str, Any] | None = None
    """Losses that differ from pair to pair, ``{"deviation": "4 dB", "epoch": "1 s"}``: a normal deviation in dB, drawn
    for each pair of stations and each epoch; a random line of sight also holds for one epoch (Rappaport 1996)."""
    routing: RoutingProtocol | None = None
    """Routing protocol, ``"aodv"``, which is the default, or with its parameters
    ``{"protocol": "olsr", "hello_interval": "1 s"}``; or a custom router."""
    arp: Literal["off", "ns3"] | None = None
    """Address resolution: none (nodes know the addresses), or as in ns-3. Default: ``"off"``."""
    elfn: bool | None = None
    """Explicit link failure notification: whether TCP senders are notified when their route breaks, and wait for a
    route exists again; needs AODV. Default: False."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node with one or several radios. Nodes without radios need no such table."""

    name: str
    """Name, as used by links and flows."""
    media: tuple[str, ...] | None = None
    """Media of the node's radios; may be omitted if there is only one medium."""
    at: Sequence[str] | None = None
    """Initial position as coordinates to the east, to the north and up: ``["10 m", "0 m", "1.5 m"]``."""
    area: Sequence[str] | None = None
    """Box in which the node moves, with a corner at the origin; by default the box of the swarm, if there is one."""
    mobility: Model | None = None
    """Mobility model, ``{"model": "random-waypoint"}``; by default the node does not move."""
    radio: Radio | Mapping[str, Any] | None = None
    """Settings of the node's radios that override the settings of their media."""
