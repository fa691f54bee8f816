"""The options of TCP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from lightlag.scenario.values import Congestion, LossAssumption, Rate, Size, Time


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
    release: Literal["tokens", "acks"] | None = None
    """When data that waits for tokens leaves: with its tokens, which is the default, or with the next ACK."""


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
    max_cwnd: int | None = None
    """Largest congestion window in segments; by default it has no limit."""
    receive_buffer: Size | Mapping[str, Any] | None = None
    """Receive buffer, which bounds the advertised window: a size, "auto", or its bounds
    {"auto": {"initial": "64 kB", "max": "16 MB"}}."""
    send_buffer: Size | None = None
    """Maximum amount of written and unacknowledged data, at least `mss`; by default everything is written at once."""
    receive_window: Literal["stevens", "inet", "linux"] | None = None
    """Rule for offered windows: the free buffer (stevens), the same with zero for every window below an MSS (inet), or
    64 kB at first (linux)."""
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
    loss_assumption: LossAssumption | None = None
    """Assumed cause of a loss without other evidence; corruption costs neither window nor back-off. Or a loss response
    of one's own, which decides for each loss."""
    ack_interval: Time | None = None
    """Send one ACK in this time instead of delayed ACKs, whatever arrives; 0 s is off."""
    rate_control: RateControl | Mapping[str, Any] | None = None
    """A token bucket for everything that leaves."""
    route: Route | Mapping[str, Any] | Literal["path"] | bool | None = None
    """Knowledge about the route before the first measurement; "path" takes all of it from the scenario's path."""
    outage_after: int | None = None
    """Timeouts in a row that mean a link outage: then only probes leave, and nothing is given up; 0 is off."""


TcpLike: TypeAlias = Tcp | Mapping[str, Any]
