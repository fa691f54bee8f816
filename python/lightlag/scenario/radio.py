"""Radio media, and nodes that are on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lightlag.scenario.values import RoutingProtocol, Time

Model = str | Mapping[str, Any]
"""A model by its name, or as a mapping with its parameters: ``{"model": "log-distance", "exponent": 2.5}``."""


@dataclass(frozen=True, kw_only=True)
class Radio:
    """A radio: its power, its receiver and its MAC. Left out, a key has the default of ns-3.37."""

    power: str | None = None
    """Power that it sends, ``"16.02 dBm"``."""
    gain: str | None = None
    """Gain of its antenna, both ways."""
    noise_figure: str | None = None
    """Noise that its receiver adds."""
    sensitivity: str | None = None
    """The weakest signal that it notices at all."""
    detection: str | None = None
    """The weakest preamble that it detects."""
    detection_snr: str | None = None
    """Ratio of signal to interference and noise that a preamble needs."""
    carrier_sense: str | None = None
    """Power of frames that makes the medium busy, whether or not they are understood."""
    energy_detection: str | None = None
    """Energy of any kind that makes the medium busy."""
    capture: bool | None = None
    """Whether a much stronger frame takes the place of one that has just started."""
    capture_margin: str | None = None
    """How much stronger it has to be."""
    rate: str | None = None
    """The rate of data: ``"24 Mbit/s"`` or ``"HtMcs7"``."""
    rate_control: Model | None = None
    """Choice of the rate of data, ``"minstrel-ht"`` or ``{"algorithm": "arf", "successes": 5}``; fixed by default."""
    broadcast_rate: str | None = None
    """The rate of broadcasts."""
    tries: int | None = None
    """Transmissions of a frame after which it is given up."""
    rts_threshold: int | None = None
    """Frames longer than so many bytes ask for the medium first."""
    aggregation: float | None = None
    """Most bytes of an A-MPDU; 0 for none."""
    missing_block_ack: Literal["ask", "repeat"] | None = None
    """The reaction to a block acknowledgement that did not come: a question for it (default), or the frames again."""
    block_ack_agreement: Literal["aggregates", "ns3"] | None = None
    """Agreements about block acknowledgements: from the start where packets can be aggregated (default), or negotiated
    at every rate as in ns-3."""
    access_class: Literal["best-effort", "background", "video", "voice"] | None = None
    """Access class of packets of flows that have no code point; by default best effort."""
    edca: Mapping[str, Mapping[str, Any]] | None = None
    """Parameters of access classes where they are not the standard's: ``{"voice": {"cw_min": 3, "cw_max": 7}}``; also
    aifsn and txop."""
    queue: int | None = None
    """Frames that may wait."""
    lifetime: Time | None = None
    """The time for which a frame may wait."""


@dataclass(frozen=True, kw_only=True)
class Medium(Radio):
    """A radio medium: a channel, the radios on it where a node says nothing else, and the routing of their nodes."""

    name: str | None = None
    """Its name; by default ``"air"``."""
    kind: Literal["wifi"] | None = None
    """Its kind; by default ``"wifi"``, a channel of 802.11."""
    standard: Literal["802.11a", "802.11g", "802.11n", "802.11ac"] | None = None
    """The amendment of 802.11; by default 802.11n."""
    frequency: str | None = None
    """The centre frequency; by default 5.18 GHz."""
    width: Literal["20 MHz", "40 MHz", "80 MHz"] | None = None
    """The width of the channel."""
    guard: Literal["long", "short", "short-unrounded"] | None = None
    """The guard interval of 802.11n and 802.11ac."""
    streams: int | None = None
    """Spatial streams of 802.11n and 802.11ac."""
    errors: Literal["nist", "yans", "table-bcc", "table-ldpc"] | None = None
    """The model of errors."""
    propagation: Model | None = None
    """The loss over the distance; by default log-distance with an exponent of 3."""
    fading: Model | None = None
    """The power of each frame around its mean; by default none."""
    shadowing: Mapping[str, Any] | None = None
    """Losses that differ from pair to pair: ``{"deviation": "4 dB", "epoch": "1 s"}``."""
    routing: RoutingProtocol | None = None
    """The routing protocol, ``"aodv"`` or ``{"protocol": "olsr", "hello_interval": "1 s"}``; or a router of one's own;
    by default AODV."""
    arp: Literal["off", "ns3"] | None = None
    """Whether nodes have to ask for addresses; by default they know them."""
    elfn: bool | None = None
    """Whether senders of TCP are told that their route broke, and that there is one again; needs AODV."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node with a radio, or with several. Nodes of links alone need none of these."""

    name: str
    media: tuple[str, ...] | None = None
    """The media on which it has a radio; by default the only one."""
    at: Sequence[str] | None = None
    """Its place at the start: ``["10 m", "0 m", "1.5 m"]`` to the east, to the north and up."""
    area: Sequence[str] | None = None
    """The box in which it moves, from the origin on; by default that of the swarm, if there is one."""
    mobility: Model | None = None
    """Its movement, ``{"model": "random-waypoint"}``; by default it stays."""
    radio: Radio | Mapping[str, Any] | None = None
    """Differences of its radios from the others of their media."""
