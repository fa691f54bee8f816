"""Scenarios: plain values that mirror the engine's schema, and a builder for scripts.

Quantities are texts with a unit, as in a scenario file: ``"10 Mbit/s"``, ``"300 ms"``, ``"1 bdp"``, ``"15 MiB"``.
None leaves a field to the engine's default. The engine checks everything: see :func:`Scenario.check`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from lightlag import _engine, _toml
from lightlag._text import printable
from lightlag.errors import InputError, ScenarioError, scenario_error

__all__ = [
    "Bets",
    "Chain",
    "ChallengeAcks",
    "Crash",
    "Defaults",
    "DelayedAck",
    "Directions",
    "Dumbbell",
    "Flow",
    "FlowTemplate",
    "Iot",
    "KeepAlive",
    "Line",
    "Link",
    "Network",
    "Pcap",
    "PointToPoint",
    "Proxy",
    "RateControl",
    "Record",
    "Route",
    "Rto",
    "Satellite",
    "Scenario",
    "Scps",
    "Star",
    "Tcp",
    "Terrestrial",
]

T = TypeVar("T")


@dataclass(frozen=True)
class Directions(Generic[T]):
    """One value for each direction of a link; forward is from its first node to its second."""

    forward: T
    backward: T


Size: TypeAlias = str
Time: TypeAlias = str
Rate: TypeAlias = str
Start: TypeAlias = Time | Mapping[str, Any]
"""A time, or how it is drawn for each seed: {"uniform": ["0 s", "1 s"]} or {"exponential": "1 s"}."""
Delay: TypeAlias = Time | Mapping[str, Any]
"""A time, or a path of light: ``{"distance": "384400 km"}``; ``{"orbit": "geo", "elevation": "40 deg"}`` from
the ground to a satellite, and with two elevations up to it and down; ``{"height": "550 km", "satellites": 22}`` between
neighbours in a plane. ``"processing": "5 ms"`` adds to either."""
Loss: TypeAlias = float | Mapping[str, Any]
"""A packet error rate, ``{"bit_error_rate": 1e-6}``, ``{"at": ["2.9 s"]}``, or packets by number,
``{"packets": [1000, 1003], "direction": "forward"}``; ``"where": "before queue"`` draws them on arrival. In bursts:
``{"mean": 0.01, "burst": 5}``, or ``{"good": {"mean_time": "10 s"}, "bad": {"mean_time": "200 ms", "loss": 0.5}}``."""
Queue: TypeAlias = str | Mapping[str, Any]
"""A limit, ``"1 bdp"``, or ``{"discipline": "codel", "limit": "1000 packets", "interval": "600 ms"}``."""
Reorder: TypeAlias = bool | Mapping[str, Any]
"""``{"probability": 0.01, "delay": "5 ms"}``; ``["1 ms", "10 ms"]`` draws the delay between the two. True lets packets
overtake where the delay of the link becomes shorter."""
Changes: TypeAlias = Sequence[Mapping[str, Any]]
"""``[{"at": "30 s", "rate": "5 Mbit/s"}, {"at": "60 s", "down": True}, {"at": "70 s", "down": False}]``."""
Jitter: TypeAlias = str | Mapping[str, Any]
"""``"5 ms"``, or ``{"distribution": "normal", "deviation": "2 ms", "most": "6 ms", "correlation": 0.9}``."""
Traffic: TypeAlias = Mapping[str, Any]
"""``{"kind": "constant", "rate": "1 Mbit/s"}``, or bulk, on_off, periodic, poisson, burst, transfers, requests, web
with their keys. Sizes and times that vary are tables, ``{"distribution": "exponential", "mean": "10 kB"}``."""
Trace: TypeAlias = str | Mapping[str, Any]
"""The path of a CSV file with time_s and any of rate_bps, delay_s and loss, or
``{"file": "cell.down", "format": "mahimahi"}``. The path is relative to the folder of the
scenario file. ``"repeat": True`` starts a CSV file again after its last row."""
Fade: TypeAlias = Mapping[str, Any]
"""``{"mean": -0.5, "deviation": 1.2, "clear_sky": "15 dB", "symbol_rate": "20 MBd"}``: mean and deviation of ln A,
where A is the attenuation in dB; also correlation_time, margin, hysteresis, loop_delay and step."""
OnDemand: TypeAlias = Mapping[str, Any]
"""``{"frame": "26.5 ms", "latency": "560 ms"}``; also constant and free, which need no request, and
most."""
Signals: TypeAlias = Literal["off", "outage", "corruption", "all"] | Mapping[str, Any]
"""``"all"``, or ``{"outage": True, "corruption": "receiver"}`` (off, receiver, sender, both); also recent and
interval."""
Routing: TypeAlias = Literal["static", "follow links"] | Mapping[str, Any]
"""``"static"``, or ``{"kind": "follow links", "convergence": "200 ms", "ttl": 64}``."""
Congestion: TypeAlias = str | Mapping[str, Any]
"""The name of an algorithm, or ``{"algorithm": "cubic", "variant": "rfc8312", "beta": 0.7}``."""


@dataclass(frozen=True, kw_only=True)
class DelayedAck:
    """Settings of delayed ACKs."""

    segments: int | None = None
    """Number of segments that one ACK acknowledges."""
    timeout: Time | None = None
    """Longest delay of an ACK."""
    quick: int | None = None
    """Number of segments at the start of the connection that are acknowledged at once."""
    adaptive: bool | None = None
    """Linux's rules: quick ACKs come back, and the delay adapts to the peer's pace."""


@dataclass(frozen=True, kw_only=True)
class Rto:
    """Parameters of the retransmission timeout (RFC 6298)."""

    initial: Time | None = None
    """The timeout before the first sample."""
    syn: Time | None = None
    """The timeout of the SYN."""
    min: Time | None = None
    """Lower bound."""
    max: Time | None = None
    """Upper bound, with back-off."""
    variance_floor: Time | None = None
    """Lower bound of the variance term."""
    variance_gain: Literal["1/4", "1/8"] | None = None
    """Gain of RTTVAR."""
    variance: Literal["mean", "peak"] | None = None
    """Rule for RTTVAR: mean (RFC 6298), or the peak of a round trip as in Linux."""
    scaled_gains: bool | None = None
    """Divide the gains by the expected number of samples in a round trip (RFC 7323 appendix G)."""
    every_ack: bool | None = None
    """Restart the timer with any ACK, even a duplicate (ns-2)."""


@dataclass(frozen=True, kw_only=True)
class ChallengeAcks:
    """The limit of challenge ACKs, for each connection (RFC 5961 §7)."""

    count: int
    """Challenge ACKs in each interval."""
    every: Time
    """The interval."""


@dataclass(frozen=True, kw_only=True)
class KeepAlive:
    """Probes of an idle connection (RFC 9293 §3.8.4)."""

    idle: Time | None = None
    """Silence of the peer before the first probe."""
    interval: Time | None = None
    """Time from one probe to the next."""
    probes: int | None = None
    """Number of probes without an answer after which the connection is given up."""


@dataclass(frozen=True, kw_only=True)
class Bets:
    """Partial reliability (BETS of SCPS-TP), where both ends offer it."""

    transmissions: int | None = None
    """Most transmissions of a segment, 1 to 20; with 1 nothing is repaired. Default: 20."""
    patience: Time | None = None
    """Time for which the receiver waits for a hole to be filled, before it skips it. Default: 1.048577 s."""
    hold: Size | None = None
    """Most data that the receiver holds above a hole, before it skips it. Default: half the receive buffer."""


@dataclass(frozen=True, kw_only=True)
class Scps:
    """Capabilities of SCPS-TP that a connection offers."""

    snack: Literal["off", "short", "long"] | None = None
    """Negative acknowledgements: one option for each hole, up to six (short), or a bit vector (long)."""
    snack_delay: Time | None = None
    """Least time between two repairs of a hole; a round trip, if that is longer."""
    record_size: Size | None = None
    """Size of the application's records; each ends its segment and is marked."""
    report_corruption: bool | None = None
    """ACKs report packets that arrived damaged at the receiver's interface."""
    compression: bool | None = None
    """Headers of 8 to 24 bytes instead of 20 to 60, from the end of the handshake on."""
    bets: Bets | Mapping[str, Any] | bool | None = None
    """Partial reliability: data that could not be repaired is a hole in the stream. Default: false."""


@dataclass(frozen=True, kw_only=True)
class RateControl:
    """A token bucket in bytes of IP packets, shared by all connections that leave a node on the same link."""

    rate: Rate | None = None
    """Rate of its tokens; by default that of the route."""
    ack_rate: Rate | None = None
    """The rate at the passive end, which sends ACKs."""
    bucket: Size | None = None
    """Its size; by default five packets of full size."""


@dataclass(frozen=True, kw_only=True)
class Route:
    """Knowledge about a route before the first measurement."""

    path: bool | None = None
    """Take the other values from the scenario's path."""
    rtt: Time | None = None
    """The round trip before the first sample."""
    rto: Time | None = None
    """The timeout before the first sample, also that of the SYN; by default three times ``rtt``."""
    bdp: Size | None = None
    """Window at which slow start ends; by default the payload of ``rate`` times ``rtt``."""
    rate: Rate | None = None
    """Rate of the token bucket, where ``rate_control`` names none."""


@dataclass(frozen=True, kw_only=True)
class Tcp:
    """Deviations of a TCP from its profile. A mapping of the same keys works everywhere, too."""

    profile: Literal["linux", "rfc", "inet", "ns3", "ns2-linux", "scps"] | None = None
    """A complete set of behaviours; every other key changes one of them."""
    congestion: Congestion | None = None
    """The congestion control."""
    mss: Size | None = None
    """Value of the MSS option; the payload of a segment is this minus its options."""
    sack: bool | None = None
    """Selective acknowledgements (RFC 2018)."""
    dsack: bool | None = None
    """Reports of duplicate data (D-SACK, RFC 2883), where SACK is used."""
    timestamps: bool | None = None
    """Timestamps (RFC 7323)."""
    ecn: Literal["off", "classic", "accecn"] | None = None
    """Explicit congestion notification: classic (RFC 3168) or accecn (RFC 9768)."""
    ect: Literal["ect0", "ect1"] | None = None
    """Codepoint of packets that can be marked: ect0, or ect1 (L4S, RFC 9331)."""
    ect_control: bool | None = None
    """With AccECN, make every segment after the handshake markable, as Linux does; otherwise only new data."""
    accecn_option: Literal["off", "sparse", "always"] | None = None
    """Use of the AccECN option (RFC 9768 §3.2.3.3): at changes and 3 times a round trip, or always, as in Linux."""
    abe: bool | None = None
    """A congestion mark costs less than a loss (ABE, RFC 8511)."""
    window_scaling: bool | None = None
    """Window scaling (RFC 7323). Without it, at most 65,535 bytes are in flight."""
    initial_window: int | Literal["rfc3390"] | None = None
    """Initial window in segments (RFC 6928), or min(4 MSS, max(2 MSS, 4380 B)) (RFC 3390)."""
    initial_ssthresh: int | None = None
    """First slow-start threshold in segments; by default slow start ends with the first congestion."""
    receive_buffer: Size | Mapping[str, Any] | None = None
    """Receive buffer, which bounds the advertised window: a size, "auto", or its bounds
    {"auto": {"initial": "64 kB", "max": "16 MB"}}."""
    receive_window: Literal["stevens", "linux"] | None = None
    """Rule for offered windows: the free buffer (stevens), or 64 kB at first (linux)."""
    probe: Literal["empty", "byte"] | None = None
    """Probe of a closed window: empty as in Linux, or with the next byte as in BSD and INET."""
    syn_data: bool | None = None
    """Keep data that comes with a SYN until the connection is open (RFC 9293 §3.10.7.2); otherwise drop it."""
    fast_open: bool | Literal["cookie known"] | None = None
    """TCP Fast Open (RFC 7413): data with every SYN between two hosts except the first, or with each."""
    partial_segments: bool | None = None
    """Take the part of a segment that fits into the buffer; otherwise all of it or nothing, as in INET."""
    window_edge: Literal["trim", "whole"] | None = None
    """Treatment of a segment that ends beyond the offered window: trim cuts it, whole takes or refuses all of it, as
    in Linux."""
    delayed_ack: DelayedAck | Mapping[str, Any] | bool | None = None
    """Delayed ACKs: False, or their settings."""
    sack_compression: bool | None = None
    """Delay duplicate ACKs by up to 1 ms, for up to 44 segments together, as in Linux. Works with SACK."""
    push: bool | None = None
    """Set PSH on the last segment of each write and burst."""
    tso: bool | None = None
    """Send bursts of 1 ms at the current rate, at least two segments and at most 64 KB, as in Linux."""
    rto: Rto | Mapping[str, Any] | None = None
    """The retransmission timeout."""
    timer_granularity: Literal["exact", "linux"] | None = None
    """Resolution of timers: exact, or the ticks of a Linux kernel (4, 32, 256 ms)."""
    rtt_samples: Literal["send_time", "timestamp", "one_per_round", "timed"] | None = None
    """The ACKs that give a round-trip sample."""
    recovery: Literal["reno", "newreno", "sack", "rack", "fack", "snack"] | None = None
    """Loss detection and repair."""
    partial_acks: Literal["impatient", "slow_but_steady"] | None = None
    """Partial ACKs that restart newreno's retransmission timer (RFC 6582 §4): the first, or each."""
    prr: bool | None = None
    """Proportional rate reduction in fast recovery with SACK (RFC 9937)."""
    rate_halving: bool | None = None
    """Send a segment for every two ACKs of fast recovery with SACK, as ns-2's TCP-Linux does, instead of prr."""
    prr_marks: bool | None = None
    """Use prr after a congestion mark, too, as Linux does; otherwise the window shrinks at once."""
    reductions: Literal["rfc", "linux", "each", "ns3"] | None = None
    """Base of a reduction: FlightSize (RFC 5681 §3.1), cwnd in whole segments as in Linux, cwnd and again with each
    timeout as in ns-2, or FlightSize less duplicate ACKs as in ns-3 without SACK."""
    tlp: bool | None = None
    """Tail loss probes (RFC 8985 §7), with SACK."""
    frto: bool | None = None
    """Test a timeout with new data before everything is sent again (RFC 5682)."""
    eifel: bool | None = None
    """Undo a reaction when timestamps show that it was spurious (RFC 3522)."""
    dsack_undo: bool | None = None
    """Undo a reaction when D-SACK reports every retransmission as a duplicate (RFC 3708)."""
    pacing: bool | None = None
    """Pacing of any algorithm: twice cwnd/SRTT in slow start, 1.2 times afterwards."""
    idle_restart: Literal["off", "rfc5681", "rfc2861", "rfc7661"] | None = None
    """The window after an idle time."""
    burst_limit: int | None = None
    """Most segments that leave at once; 0 means no limit."""
    growth: Literal["per_ack", "per_segment"] | Mapping[str, int] | None = None
    """Increase of the window per ACK, per segment, or by bytes (``{"abc": 2}``, RFC 3465)."""
    limited_transmit: bool | None = None
    """Send new data on the first two duplicate ACKs (RFC 3042)."""
    nagle: bool | None = None
    """Hold back a small segment while data is in flight (RFC 9293 §3.7.4)."""
    minshall: bool | None = None
    """With ``nagle``, hold it back only while another small one is in flight (Minshall's variant, as in Linux)."""
    syn_retries: int | None = None
    """Retransmissions of a SYN before the connection is given up."""
    syn_linear_timeouts: int | None = None
    """Additional retransmissions of a SYN before the timeout doubles (Linux: 4)."""
    retries: int | None = None
    """Timeouts in a row before the connection is given up (RFC 9293 §3.8.3 R2)."""
    time_wait: Time | None = None
    """Length of TIME-WAIT (2 MSL)."""
    fin_wait: Time | None = None
    """Length of FIN-WAIT-2 once the application is gone."""
    challenge_acks: ChallengeAcks | Mapping[str, Any] | None = None
    """The limit of challenge ACKs, for each connection (RFC 5961 §7)."""
    answer_unsent: bool | None = None
    """Answer an ACK of data that was never sent with a challenge ACK (RFC 5961 §5); otherwise drop it."""
    keep_alive: KeepAlive | Mapping[str, Any] | None = None
    """Probes of an idle connection (RFC 9293 §3.8.4)."""
    careful_resume: Mapping[str, Size | Time] | None = None
    """Window and RTT of an earlier connection (RFC 9959): ``{"saved_cwnd": "2 MB", "saved_rtt": "600 ms"}``."""
    scps: Scps | Mapping[str, Any] | bool | None = None
    """Offer SCPS-TP to the peer."""
    loss_assumption: Literal["congestion", "corruption"] | None = None
    """Assumed cause of a loss without other evidence; corruption costs neither window nor back-off."""
    ack_interval: Time | None = None
    """Send one ACK in this time instead of delayed ACKs, whatever arrives; 0 s is off."""
    rate_control: RateControl | Mapping[str, Any] | None = None
    """A token bucket for everything that leaves."""
    route: Route | Mapping[str, Any] | Literal["path"] | bool | None = None
    """Knowledge about the route before the first measurement; "path" takes all of it from the scenario's path."""
    outage_after: int | None = None
    """Timeouts in a row that mean a link outage: then only probes leave, and nothing is given up; 0 is off."""


TcpLike: TypeAlias = Tcp | Mapping[str, Any]


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


@dataclass(frozen=True, kw_only=True)
class Flow:
    """A connection that carries data from one node to another."""

    from_: str
    """The sending node."""
    to: str
    """The receiving node."""
    name: str | None = None
    """By default ``from->to``, numbered from the second on."""
    transport: Literal["tcp", "udp"] | None = None
    """The transport; TCP by default."""
    traffic: Traffic | None = None
    """The model of the application; by default it sends everything at once."""
    transfer: Size | None = None
    """Payload to send; by default the flow sends until the run ends."""
    start: Start | None = None
    """Time at which the connection opens; a mapping draws it for each seed."""
    reader: Mapping[str, Any] | None = None
    """Pace of the receiving application, {"rate": "100 kB/s"} or {"burst": "64 kB", "every": "1 s"}."""
    congestion: Congestion | None = None
    """Short form of the same key in `tcp`."""
    tcp: TcpLike | None = None
    """Deviations of this flow from the scenario's defaults, at both ends."""


@dataclass(frozen=True, kw_only=True)
class FlowTemplate:
    """The flows that a generator makes for each pair of nodes."""

    count: int | None = None
    """Flows for each pair of nodes, at least 1."""
    transport: Literal["tcp", "udp"] | None = None
    """The transport; TCP by default."""
    traffic: Traffic | None = None
    """The model of the applications; by default they send everything at once."""
    transfer: Size | None = None
    """Payload of each flow; by default they send until the run ends."""
    start: Start | None = None
    """Time at which the first flow starts; a mapping draws an addition to the turn of each flow, for each seed."""
    stagger: Time | None = None
    """Time from the start of each flow to the start of the next."""
    reader: Mapping[str, Any] | None = None
    """Pace of the receiving application, {"rate": "100 kB/s"} or {"burst": "64 kB", "every": "1 s"}."""
    congestion: Congestion | None = None
    """Short form of the same key in `tcp`."""
    tcp: TcpLike | None = None
    """Deviations of these flows from the scenario's defaults, at both ends."""


@dataclass(frozen=True, kw_only=True)
class PointToPoint(Line):
    """``client`` and ``server``, joined by one link."""

    kind: Literal["point-to-point"] = "point-to-point"
    flow: FlowTemplate | None = None


@dataclass(frozen=True, kw_only=True)
class Chain(Line):
    """``client``, routers and ``server`` in a row."""

    kind: Literal["chain"] = "chain"
    hops: int
    """Number of links in the row."""
    flow: FlowTemplate | None = None


@dataclass(frozen=True, kw_only=True)
class Dumbbell(Line):
    """Clients on the left, servers on the right, and this line between their routers."""

    kind: Literal["dumbbell"] = "dumbbell"
    pairs: int
    """Number of clients, and of servers."""
    access: Line | Mapping[str, Any] | None = None
    """The links at the edge; by default they have ten times the rate of the bottleneck and 1 ms."""
    flow: FlowTemplate | None = None


@dataclass(frozen=True, kw_only=True)
class Star(Line):
    """Leaves around a hub."""

    kind: Literal["star"] = "star"
    leaves: int
    """Number of nodes around the hub."""
    flow: FlowTemplate | None = None


@dataclass(frozen=True, kw_only=True)
class Terrestrial(Line):
    """Pairs on the ground that share the bottleneck with a satellite; this line joins each client to its gateway."""

    pairs: int
    """Number of clients, and of servers."""
    last_delay: Time | None = None
    """The delay of the last client; delays rise evenly from the first client to the last."""
    flow: FlowTemplate | None = None
    """Flows from each client to its server; by default those of the satellite's `flow`."""


@dataclass(frozen=True, kw_only=True)
class Satellite:
    """Clients, a gateway, one or more satellites, a gateway, servers."""

    kind: Literal["satellite"] = "satellite"
    pairs: int
    """Number of clients, and of servers."""
    orbit: str | None = None
    """``"geo"``, ``"meo"``, ``"leo-550"`` or a height; the delays of both hops follow from it where they give none."""
    height: str | None = None
    """The height of the orbit instead, ``"550 km"``."""
    elevation: str | Sequence[str] | None = None
    """Elevation of the satellite above the horizon, at both gateways or at each: ``["40 deg", "25 deg"]``."""
    payload: Literal["transparent", "regenerative"] | None = None
    """A bent pipe without a queue (transparent, the default), or a node with queues (regenerative)."""
    processing: Time | None = None
    """Delay that each satellite adds to the link on which it sends."""
    satellites: int | None = None
    """Number of satellites in a row, joined by `isl`."""
    uplink: Line | Mapping[str, Any]
    """The link from the left gateway to the satellite; its delay may follow from the orbit."""
    downlink: Line | Mapping[str, Any]
    """The link from the satellite to the right gateway."""
    isl: Line | Mapping[str, Any] | None = None
    """The links between satellites."""
    access: Line | Mapping[str, Any] | None = None
    """The links at the edge; by default ten times the rate of the uplink and 1 ms."""
    bottleneck: Line | Mapping[str, Any] | None = None
    """A link from the right gateway to a router, behind which the servers then are."""
    terrestrial: Terrestrial | Mapping[str, Any] | None = None
    """Pairs that share the bottleneck with the satellite."""
    flow: FlowTemplate | None = None


@dataclass(frozen=True, kw_only=True)
class Iot(Line):
    """Sensors behind sinks, whose connections share this line, a satellite, from ``gateway`` to ``server``."""

    kind: Literal["iot"] = "iot"
    sinks: int
    """Number of sinks."""
    sensors: int
    """Number of sensors of each sink."""
    access: Line | Mapping[str, Any] | None = None
    """The link of every sink to the gateway; by default ten times the rate of the satellite and 1 ms."""
    radio: Line | Mapping[str, Any] | None = None
    """The link of every sensor to its sink; by default 250 kbit/s and 5 ms."""
    sensor: FlowTemplate | Mapping[str, Any] | None = None
    """Flow of each sensor; by default 100 B by UDP at random times, once a minute."""
    flow: FlowTemplate | None = None
    """The connection of each sink; by default its traffic is ``{"kind": "collect"}``."""


Topology: TypeAlias = PointToPoint | Chain | Dumbbell | Star | Satellite | Iot | Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """Settings of flows that have none of their own."""

    tcp: TcpLike | None = None
    congestion: Sequence[Congestion] | None = None
    """Congestion controls of the flows that name none, in turn, instead of ``tcp.congestion``."""


@dataclass(frozen=True, kw_only=True)
class Crash:
    """A proxy loses its buffers and its connections, and is up again at once."""

    at: Time
    """Time of the crash."""


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """A node that splits the connections which cross it."""

    node: str
    """The node. Flows that cross it in both directions pass through the proxy."""
    kind: Literal["split"] | None = None
    """Its kind: it ends each connection and opens another one, under the addresses of the ends."""
    buffer: Size
    """Bound for each flow on the data that it has read and the next hop has not acknowledged."""
    flows: tuple[str, ...] | None = None
    """Names of the flows; by default all."""
    client: TcpLike | None = None
    """TCP of its end toward the sender; the receive buffer is by default as large as ``buffer``."""
    server: TcpLike | None = None
    """TCP of its end toward the receiver."""
    crash: Crash | None = None
    """By default it never crashes."""


@dataclass(frozen=True, kw_only=True)
class Pcap:
    """Packets as pcapng files, one for each place.

    A node sees the packets that it sends, receives and forwards; a link direction sees those given to its queue.
    """

    at: tuple[str, ...] = ()
    """Nodes, and link directions as "from->to"; by default both ends of every flow that is captured."""
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
    queueing: bool | None = None
    """Waiting times of data packets at each link direction; off by default."""
    pcap: Pcap | None = None
    """Packets as files that other tools read; by default none are written."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """An experiment: a network, its flows, and the time for which to watch them.

    Examples
    --------
    >>> scenario = Scenario(
    ...     name="pair",
    ...     duration="10 s",
    ...     links=(Link(between=("a", "b"), rate="1 Mbit/s", delay="10 ms"),),
    ...     flows=(Flow(from_="a", to="b", congestion="cubic"),),
    ... )
    >>> scenario.check()
    []
    """

    name: str
    duration: Time
    """Upper bound of the run, which ends earlier when every finite flow has finished."""
    seed: int | None = None
    """The seed of all random streams."""
    ip: Literal["v4", "v6"] | None = None
    """The version of IP: headers of 20 or 40 bytes, and addresses in captures. By default v4."""
    routing: Routing | None = None
    """How nodes find their routes: once before the run, which is the default, or again whenever a link goes down, comes
    up or changes its delay."""
    defaults: Defaults | None = None
    """Settings of flows that have none of their own."""
    topology: Topology | None = None
    """A generated network, beside or instead of listed links."""
    links: tuple[Link, ...] = ()
    flows: tuple[Flow, ...] = ()
    proxies: tuple[Proxy, ...] = ()
    """Nodes that split the connections which cross them."""
    record: Record | None = None
    """The records of the run."""

    def to_dict(self) -> dict[str, Any]:
        """The scenario as plain values, in the shape of a scenario file."""
        return {key: value for key, value in _plain(self).items() if value != []}

    def to_toml(self) -> str:
        """The scenario as the text of a scenario file.

        Examples
        --------
        >>> print(Scenario(name="empty", duration="1 s", flows=(Flow(from_="a", to="b"),)).to_toml())
        name = "empty"
        duration = "1 s"
        <BLANKLINE>
        [[flows]]
        from = "a"
        to = "b"
        """
        return _toml.document(self.to_dict())

    def check(self) -> list[tuple[str, str]]:
        """Warnings, each a place and its effect on the result.

        Raises
        ------
        ScenarioError
            If the scenario cannot be run.
        """
        return check(self)[1]


ScenarioLike: TypeAlias = "Scenario | Network | Mapping[str, Any] | str | os.PathLike[str]"
"""Any description of a scenario; a text is the path of a TOML or JSON file, or the name of a preset."""
Sets: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]]
"""Changes to a scenario: dotted paths and new values."""


@dataclass
class Network:
    """A scenario in the making.

    Parameters
    ----------
    name
        Name of the scenario, also of its results folder.
    tcp
        Settings of TCP at both ends of every flow that has none of its own.
    record
        Records of the run.
    links, flows, proxies
        The parts so far; the methods :meth:`link`, :meth:`flow` and :meth:`proxy` add to them.
    topology
        A generated network, beside or instead of links that are added: :class:`PointToPoint`, :class:`Chain`,
        :class:`Dumbbell`, :class:`Star`, :class:`Satellite` or :class:`Iot`, or a mapping of the same keys with
        ``kind``.
    congestion
        Congestion controls of the flows that name none, in turn.
    ip
        The version of IP, ``"v4"`` or ``"v6"``.
    routing
        ``"static"`` or ``"follow links"``; see :class:`Scenario`.

    Examples
    --------
    >>> net = Network("geo", tcp={"profile": "linux"})
    >>> net.link("client", "gateway", rate="1 Gbit/s", delay="1 ms")
    >>> net.link("gateway", "server", rate="10 Mbit/s", delay="300 ms", queue="1 bdp", loss=1e-4)
    >>> net.flow("client", "server", transfer="20 MB", congestion="hybla")
    >>> net.scenario("120 s", seed=1).links[1].delay
    '300 ms'

    >>> shared = Network(topology=Dumbbell(pairs=4, rate="10 Mbit/s", delay="50 ms"), congestion=("cubic", "bbr"))
    >>> shared.scenario("60 s").check()
    []
    """

    name: str = "scenario"
    tcp: TcpLike | None = None
    record: Record | None = None
    links: list[Link] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    proxies: list[Proxy] = field(default_factory=list)
    topology: Topology | None = field(default=None, kw_only=True)
    congestion: Sequence[Congestion] | None = field(default=None, kw_only=True)
    ip: Literal["v4", "v6"] | None = field(default=None, kw_only=True)
    routing: Routing | None = field(default=None, kw_only=True)

    def link(
        self,
        first: str,
        second: str,
        *,
        rate: Rate | Directions[Rate],
        delay: Delay | Directions[Delay],
        jitter: Jitter | Directions[Jitter | None] | None = None,
        queue: Queue | Directions[Queue] | None = None,
        loss: Loss | Directions[Loss] | None = None,
        reorder: Reorder | Directions[Reorder] | None = None,
        duplicate: float | Directions[float] | None = None,
        changes: Changes | Directions[Changes] | None = None,
        trace: Trace | Directions[Trace | None] | None = None,
        outage: Literal["hold", "lose"] | Directions[Literal["hold", "lose"]] | None = None,
        fade: Fade | Directions[Fade | None] | None = None,
        on_demand: OnDemand | Directions[OnDemand | None] | None = None,
        signals: Signals | None = None,
        header: Size | None = None,
    ) -> None:
        """Joins two nodes by a full-duplex link; see :class:`Line` for the parameters."""
        link = Link(
            between=(first, second),
            rate=rate,
            delay=delay,
            jitter=jitter,
            queue=queue,
            loss=loss,
            reorder=reorder,
            duplicate=duplicate,
            changes=changes,
            trace=trace,
            outage=outage,
            fade=fade,
            on_demand=on_demand,
            signals=signals,
            header=header,
        )
        self.links.append(link)

    def flow(
        self,
        source: str,
        destination: str,
        *,
        name: str | None = None,
        transport: Literal["tcp", "udp"] | None = None,
        traffic: Traffic | None = None,
        transfer: Size | None = None,
        start: Start | None = None,
        reader: Mapping[str, Any] | None = None,
        congestion: Congestion | None = None,
        tcp: TcpLike | None = None,
    ) -> None:
        """Adds a flow; see :class:`Flow` for the parameters."""
        flow = Flow(
            from_=source,
            to=destination,
            name=name,
            transport=transport,
            traffic=traffic,
            transfer=transfer,
            start=start,
            reader=reader,
            congestion=congestion,
            tcp=tcp,
        )
        self.flows.append(flow)

    def proxy(
        self,
        node: str,
        *,
        kind: Literal["split"] | None = None,
        buffer: Size,
        flows: Sequence[str] | None = None,
        client: TcpLike | None = None,
        server: TcpLike | None = None,
        crash: Crash | None = None,
    ) -> None:
        """Splits the connections that cross a node; see :class:`Proxy` for the parameters."""
        named = None if flows is None else tuple(flows)
        proxy = Proxy(node=node, kind=kind, buffer=buffer, flows=named, client=client, server=server, crash=crash)
        self.proxies.append(proxy)

    def scenario(self, duration: Time = "300 s", seed: int | None = None) -> Scenario:
        """The scenario of everything added so far."""
        says_nothing = self.tcp is None and self.congestion is None
        return Scenario(
            name=self.name,
            duration=duration,
            seed=seed,
            ip=self.ip,
            routing=self.routing,
            defaults=None if says_nothing else Defaults(tcp=self.tcp, congestion=self.congestion),
            topology=self.topology,
            links=tuple(self.links),
            flows=tuple(self.flows),
            proxies=tuple(self.proxies),
            record=self.record,
        )


def load_scenario(scenario: ScenarioLike, sets: Sequence[tuple[str, str]] = ()) -> str:
    """Reads and checks a scenario; gives its complete form as JSON. Raises what :func:`read_scenario` does."""
    return read_scenario(scenario, sets).json()


def read_scenario(scenario: ScenarioLike, sets: Sequence[tuple[str, str]] = ()) -> _engine.Scenario:
    """Reads and checks a scenario.

    Raises
    ------
    ScenarioError
        If it cannot be run; each line of the message is a place, a value and a remedy.
    """
    text, kind, source = _source(scenario)
    try:
        return _engine.parse(text, kind, sets, _folder(source))
    except ScenarioError as error:
        if source is None:
            raise
        raise scenario_error(error.errors, source) from None


def check(scenario: ScenarioLike, sets: Sequence[tuple[str, str]] = ()) -> tuple[str | None, list[tuple[str, str]]]:
    """Checks a scenario; gives the file it came from, if any, and its warnings.

    Raises
    ------
    ScenarioError
        If it cannot be run, with all of its errors.
    """
    source, _, warnings = checked(scenario, sets)
    return source, warnings


def checked(
    scenario: ScenarioLike, sets: Sequence[tuple[str, str]] = ()
) -> tuple[str | None, _engine.Scenario, list[tuple[str, str]]]:
    """As :func:`check`, with the scenario as the engine has read it before the warnings."""
    text, kind, source = _source(scenario)
    try:
        read = _engine.parse(text, kind, sets, _folder(source))
        return source, read, read.warnings()
    except ScenarioError as error:
        raise scenario_error(error.errors, source or "scenario") from None


def congestion_names() -> list[str]:
    """The names of all congestion-control algorithms."""
    return [entry["name"] for entry in json.loads(_engine.catalog())["congestion"]]


def toml_value(value: object) -> str:
    """A value as TOML writes it on one line.

    Examples
    --------
    >>> toml_value(Directions("2.9 s", ["1 s"]))
    '{ forward = "2.9 s", backward = ["1 s"] }'
    """
    return _toml.one_line(_plain(value))


def _source(scenario: ScenarioLike) -> tuple[str, str, str | None]:
    """Text, format and file of a scenario."""
    if isinstance(scenario, Network):
        scenario = scenario.scenario()
    if isinstance(scenario, Scenario):
        scenario = scenario.to_dict()
    if isinstance(scenario, Mapping):
        return json.dumps(_plain(scenario)), "json", None
    if not isinstance(scenario, (str, os.PathLike)):
        raise InputError(
            f"{printable(repr(scenario)):.60} is not a scenario; give a Network, a Scenario, a mapping, the path of a "
            "file or the name of a preset"
        )
    path = Path(scenario)
    if isinstance(scenario, str) and not _exists(path):
        from lightlag import presets

        if scenario in presets.PRESETS:
            return json.dumps(presets.PRESETS[scenario]().to_dict()), "json", scenario
    return _read(path), "json" if path.suffix == ".json" else "toml", str(path)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        # A name that is too long, or has a zero in it.
        return False


def _folder(source: str | None) -> str:
    """The folder to which paths of traces are relative: that of the file, or the current one."""
    return "" if source is None else str(Path(source).resolve().parent)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not UTF-8; save the file as UTF-8 text"
    except FileNotFoundError:
        reason = 'no such file; name a scenario file, or one of "lightlag list scenarios"'
    except IsADirectoryError:
        reason = "is a folder; name a scenario file in it"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except ValueError as error:
        reason = f"cannot be read: {error}; name a scenario file"
    raise scenario_error([("", reason)], str(path))


def _plain(value: Any, at: str = "") -> Any:
    """Plain values, without None. Scalars and arrays of numpy become numbers and lists.

    Raises
    ------
    InputError
        If a value has no place in a scenario.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        entries = ((entry.name.rstrip("_"), getattr(value, entry.name)) for entry in dataclasses.fields(value))
        return {key: _plain(entry, f"{at}.{key}") for key, entry in entries if entry is not None}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry, f"{at}.{key}") for key, entry in value.items() if entry is not None}
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(entry, f"{at}[{index}]") for index, entry in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{_place(at)}{value} is not a finite number; write one such as 1e-4")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise InputError(
        f"{_place(at)}{printable(repr(value)):.60} is of type {type(value).__name__}, which a scenario cannot hold; "
        "write a text, a number, true or false, a list or a mapping"
    )


def _place(at: str) -> str:
    return f"{printable(at.removeprefix('.'))}: " if at else ""
