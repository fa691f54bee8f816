"""The options of TCP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from lightlag._renamed import former_keywords
from lightlag.scenario.values import Congestion, LossAssumption, Rate, Size, Time


@dataclass(frozen=True, kw_only=True)
class DelayedAck:
    """Settings of delayed ACKs. Omitted keys come from the profile."""

    segments: int | None = None
    """Number of segments that one ACK acknowledges, 1 to 1,000."""
    timeout: Time | None = None
    """Maximum delay of an ACK, up to 10 s (RFC 9293 §3.8.6.3 requires at most 500 ms)."""
    quick: int | None = None
    """Number of segments at the start of the connection that are acknowledged immediately. From 0 to 65,535."""
    adaptive: bool | None = None
    """Use Linux's rules: ``segments`` counts only full segments, quick ACKs return after pauses and duplicates and
    while the window grows, and the delay, initially ``timeout``, adapts to the peer's rate."""


@dataclass(frozen=True, kw_only=True)
class Rto:
    """Parameters of the retransmission timeout (RFC 6298). Omitted keys come from the profile."""

    initial: Time | None = None
    """Timeout before the first sample."""
    syn: Time | None = None
    """Timeout of the SYN."""
    min: Time | None = None
    """Minimum timeout."""
    max: Time | None = None
    """Maximum timeout, including back-off."""
    variance_floor: Time | None = None
    """Minimum of the variance term, which is 4 RTTVAR in RFC 6298."""
    variance_gain: Literal["1/4", "1/8"] | None = None
    """Gain with which a sample changes RTTVAR."""
    variance: Literal["mean", "peak"] | None = None
    """Rule for RTTVAR: mean (RFC 6298), or peak (the maximum deviation in a round trip, as in Linux; its gains are
    fixed)."""
    scaled_gains: bool | None = None
    """Divide the gains of SRTT and RTTVAR by the number of samples expected in a round trip: one for every two segments
    in flight (RFC 7323 appendix G)."""
    every_ack: bool | None = None
    """Restart the timer at any ACK, even a duplicate (ns-2)."""


@dataclass(frozen=True, kw_only=True)
class ChallengeAcks:
    """Rate limit of challenge ACKs, applied to each connection separately (RFC 5961 §7)."""

    count: int
    """Maximum number of challenge ACKs in each interval, 1 to 1,000."""
    every: Time
    """Length of the interval."""


@dataclass(frozen=True, kw_only=True)
class KeepAlive:
    """Keep-alive probes of an idle connection (RFC 9293 §3.8.4)."""

    idle: Time | None = None
    """Time without a segment from the peer before the first probe is sent (RFC 9293: at least 2 h by default)."""
    interval: Time | None = None
    """Time from one probe to the next. Default: ``"75 s"``."""
    probes: int | None = None
    """Number of consecutive unanswered probes that abort the connection. From 0 to 65,535. Default: 9."""


@former_keywords()
@dataclass(frozen=True, kw_only=True)
class Bets:
    """Partial reliability (BETS of SCPS-TP), if both ends offer it."""

    max_transmissions: int | None = None
    """Maximum number of transmissions of a segment, 1 to 20; with 1 nothing is retransmitted. Default: 20."""
    receive_timeout: Time | None = None
    """Time for which the receiver waits for a hole to be filled, before it skips it. Default: 1.048577 s."""
    hold: Size | None = None
    """Maximum amount of data that the receiver stores above a hole before it skips the hole. Default: half the receive
    buffer."""


@dataclass(frozen=True, kw_only=True)
class Scps:
    """Capabilities of SCPS-TP that a connection offers."""

    snack: Literal["off", "short", "long"] | None = None
    """Form of the negative acknowledgements: off, short (one option for each hole, up to six) or long (a bit
    vector)."""
    snack_delay: Time | None = None
    """Minimum time between two retransmissions for the same hole, but at least a round trip. Default: 0 s."""
    record_size: Size | None = None
    """Size of the application's records. The last segment of a record ends exactly at its end, and is marked."""
    report_corruption: bool | None = None
    """Report in ACKs the packets that arrived corrupted at the receiver's interface, so that the sender attributes
    their losses to corruption."""
    compression: bool | None = None
    """Compress headers after the handshake to 8 to 24 bytes, instead of 20 to 60. Default: false."""
    bets: Bets | Mapping[str, Any] | bool | None = None
    """Partial reliability: ``False``, ``True`` or a table. Data that could not be repaired is a hole in the stream,
    which is reported to the receiving application. Default: false."""


@dataclass(frozen=True, kw_only=True)
class RateControl:
    """A token bucket that counts bytes of IP packets, shared by all connections of a node whose packets are sent on the
    same link.
    """

    rate: Rate | None = None
    """Token rate. Default: ``route.rate``."""
    ack_rate: Rate | None = None
    """Token rate at the passive end, which sends ACKs. Default: ``rate``."""
    bucket: Size | None = None
    """Size of the bucket. Default: five packets of full size."""
    release: Literal["tokens", "acks"] | None = None
    """Event that releases data that waits for tokens: enough tokens in the bucket (tokens), or the next ACK (acks).
    Default: tokens."""


@dataclass(frozen=True, kw_only=True)
class Route:
    """Values of a route that are known before the first measurement."""

    path: bool | None = None
    """Take the other values from the scenario's path: propagation and transmission delay in both directions, and the
    rate of the slowest link."""
    rtt: Time | None = None
    """Round-trip time that is assumed before the first sample."""
    rto: Time | None = None
    """Retransmission timeout before the first sample, which also applies to the SYN; ``rto.initial`` and ``rto.syn``
    override it. Default: three times ``rtt``, at least the profile's."""
    bdp: Size | None = None
    """Window that ends slow start. Default: the payload of ``rate`` × ``rtt``."""
    rate: Rate | None = None
    """Rate of the token bucket, in IP packets, unless ``rate_control`` sets one."""


@dataclass(frozen=True, kw_only=True)
class Tcp:
    """TCP settings that deviate from a profile."""

    profile: Literal["linux", "rfc", "inet", "ns3", "ns2-linux", "scps"] | None = None
    """A complete set of defaults, which the other keys override. Default: linux."""
    congestion: Congestion | None = None
    """The congestion control: its name, or a table with ``algorithm`` and its parameters."""
    mss: Size | None = None
    """Value of the MSS option, 36 to 65,000 bytes. A segment's payload is that minus its options; in the profiles ns3
    and inet it is the payload itself."""
    sack: bool | None = None
    """Selective acknowledgements (RFC 2018)."""
    dsack: bool | None = None
    """Report duplicate data (D-SACK, RFC 2883), if SACK is used."""
    timestamps: bool | None = None
    """Timestamps (RFC 7323)."""
    ecn: Literal["off", "classic", "accecn"] | None = None
    """Explicit congestion notification: off, classic (RFC 3168) or accecn (RFC 9768). Default: off, or classic with a
    congestion control that relies on marks."""
    ect: Literal["ect0", "ect1"] | None = None
    """ECN codepoint of ECN-capable packets: ect0, or ect1 (L4S, RFC 9331)."""
    ect_control: bool | None = None
    """With AccECN, send every segment after the handshake as ECN-capable, including pure ACKs and retransmissions, as
    Linux does; otherwise only new data (RFC 3168 §6.1.4 to 6.1.6)."""
    accecn_option: Literal["off", "sparse", "always"] | None = None
    """When the AccECN option with its byte counters is sent (RFC 9768 §3.2.3.3): off, sparse (at changes, and three
    times per round trip), or always (as in Linux; full segments then carry 12 bytes less)."""
    abe: bool | None = None
    """Reduce the window less after a congestion mark than after a loss (ABE, RFC 8511)."""
    window_scaling: bool | None = None
    """Window scaling (RFC 7323). Without it, at most 65,535 bytes can be in flight."""
    initial_window: int | Literal["rfc3390"] | None = None
    """Initial window: 1 to 1,000 segments (RFC 6928), or ``"rfc3390"``, min(4 MSS, max(2 MSS, 4380 B))."""
    initial_ssthresh: int | None = None
    """Initial slow-start threshold, 2 to 1,000,000 segments. Default: none; slow start then ends at the first
    congestion."""
    max_cwnd: int | None = None
    """Maximum congestion window, 2 to 1,000,000 segments (``snd_cwnd_clamp`` in Linux, ``window_`` in ns-2). Only with
    window-based algorithms. Default: none."""
    receive_buffer: Size | Mapping[str, Any] | None = None
    """Receive buffer, which bounds the advertised window: a size, ``"auto"``, or ``"auto"`` with its bounds,
    ``{"auto": {"initial": "64 kB", "max": "16 MB"}}``."""
    send_buffer: Size | None = None
    """Maximum amount of data that is written and not yet acknowledged, from ``mss`` to 1 TB; an application that writes
    more waits for space. Default: none, so that everything is written immediately."""
    receive_window: Literal["stevens", "inet", "linux"] | None = None
    """Rule for advertised windows: stevens (the free buffer), inet (as stevens, but zero for every window below one
    MSS) or linux (64 kB at first, and two segments more for each segment that arrives)."""
    probe: Literal["empty", "byte"] | None = None
    """Probe of a closed window: empty (after the retransmission timeout, as in Linux) or byte (with the next byte,
    after 5, 5, 6, 12, 24, 48, 60 s, as in BSD and INET)."""
    syn_data: bool | None = None
    """Keep data that comes with a SYN until the connection is open (RFC 9293 §3.10.7.2); otherwise drop it."""
    fast_open: bool | Literal["cookie known"] | None = None
    """TCP Fast Open (RFC 7413), if both endpoints support it. ``True`` sends data with every SYN between two hosts
    except the first, which requests the cookie; ``"cookie known"`` also sends data with the first. The response to a
    request then arrives one round trip earlier."""
    partial_segments: bool | None = None
    """Accept the part of a segment that fits into the receive buffer; otherwise accept a segment completely or not at
    all, as in INET."""
    window_edge: Literal["trim", "whole"] | None = None
    """Treatment of a segment that ends beyond the advertised window: ``trim`` cuts it (RFC 9293 §3.10.7.4); ``whole``
    accepts it if the application has read all earlier data, and drops it otherwise (Linux)."""
    delayed_ack: DelayedAck | Mapping[str, Any] | bool | None = None
    """Delayed ACKs: ``False``, or a table with ``segments``, ``timeout``, ``quick`` and ``adaptive``."""
    sack_compression: bool | None = None
    """Delay duplicate ACKs by up to 1 ms, and replace up to 44 of them by one ACK, as in Linux. Needs SACK."""
    push: bool | None = None
    """Set PSH on the last segment of each write and burst."""
    tso: bool | None = None
    """Send in bursts. A burst contains what the current rate allows in 1 ms, but at least two segments and at most 64
    KiB; the sender waits up to 1 ms for an ACK that completes a burst (TSO autosizing of Linux). Pacing then starts
    after the first ten segments."""
    rto: Rto | Mapping[str, Any] | None = None
    """The retransmission timeout (RFC 6298): any of ``initial``, ``syn``, ``min``, ``max``, ``variance_floor``,
    ``variance_gain``, ``variance``, ``scaled_gains``, ``every_ack``."""
    timer_granularity: Literal["exact", "linux"] | None = None
    """Resolution of timers: exact, or linux (steps of 4 ms below 252 ms, of 32 ms above 252 ms, and of 256 ms above 2
    s)."""
    rtt_samples: Literal["send_time", "timestamp", "one_per_round", "timed"] | None = None
    """The ACKs that give a round-trip sample."""
    recovery: Literal["reno", "newreno", "sack", "rack", "fack", "snack"] | None = None
    """Loss detection and repair: reno (RFC 5681), newreno (RFC 6582), sack (RFC 6675), rack (RFC 8985), fack (forward
    acknowledgement, as in ns-2's TCP-Linux) or snack (SCPS-TP). sack, rack and fack need SACK, and snack needs SNACK;
    if that is not negotiated, newreno is used."""
    partial_acks: Literal["impatient", "slow_but_steady"] | None = None
    """Partial ACKs that restart newreno's retransmission timer (RFC 6582 §4): the first (impatient), or each
    (slow_but_steady)."""
    prr: bool | None = None
    """Proportional rate reduction in fast recovery with SACK (RFC 9937)."""
    rate_halving: bool | None = None
    """Rate halving in fast recovery with SACK, instead of ``prr``: one segment is sent for every two ACKs, until the
    window is half of ssthresh (cubic and other algorithms without such a rule: until it is ssthresh). At the end of
    recovery the window is at most three segments above what is in flight (Linux 2.6 in ns-2)."""
    prr_marks: bool | None = None
    """Use ``prr`` also after a congestion mark, as Linux does; otherwise a mark reduces the window immediately."""
    reductions: Literal["rfc", "linux", "each", "ns3"] | None = None
    """Base of window reductions, and their frequency: rfc (FlightSize, RFC 5681 §3.1), linux (the congestion window, in
    whole segments; a timeout in fast recovery leaves the threshold unchanged), each (the congestion window, again at
    every timeout, even of the same data, as in ns-2's TCP-Linux) or ns3 (as rfc, but without SACK each duplicate ACK
    subtracts a segment)."""
    tlp: bool | None = None
    """Send tail loss probes (RFC 8985 §7). Requires SACK."""
    frto: bool | None = None
    """After a timeout, send new data first, to test whether the timeout was spurious (F-RTO, RFC 5682)."""
    eifel: bool | None = None
    """Undo a window reduction when timestamps show that it was spurious (Eifel, RFC 3522)."""
    dsack_undo: bool | None = None
    """Undo a window reduction when D-SACK reports every retransmission as a duplicate (RFC 3708)."""
    pacing: bool | None = None
    """Pace segments with any algorithm: at 2 × cwnd/SRTT in slow start, at 1.2 × cwnd/SRTT afterwards."""
    idle_restart: Literal["off", "rfc5681", "rfc2861", "rfc7661"] | None = None
    """Window after an idle time: off (unchanged), rfc5681 (initial window), rfc2861 (halved for each timeout of idle
    time) or rfc7661 (unchanged for five minutes, even if it is hardly used, but a loss then reduces it to half of the
    used part)."""
    burst_limit: int | None = None
    """Maximum number of segments sent back to back, 1 to 1,000,000; 0 means no limit."""
    growth: Literal["per_ack", "per_segment"] | Mapping[str, int] | None = None
    """Increase of the window by an ACK: per_ack (RFC 5681), per_segment (Linux), or in bytes, ``{"abc": 2}`` (RFC
    3465)."""
    limited_transmit: bool | None = None
    """Send new data on the first two duplicate ACKs (RFC 3042)."""
    nagle: bool | None = None
    """Hold back a small segment while data is in flight (RFC 9293 §3.7.4)."""
    minshall: bool | None = None
    """If ``nagle`` is on, hold back a small segment only while another small segment is in flight (Minshall's variant,
    as in Linux)."""
    syn_retries: int | None = None
    """Number of retransmissions of a SYN before the connection is aborted, at most 255."""
    syn_linear_timeouts: int | None = None
    """Number of additional retransmissions of a SYN, one initial timeout apart, before the timeout doubles, at most
    255. ``syn_retries`` counts only the later retransmissions (tcp_syn_linear_timeouts of Linux)."""
    retries: int | None = None
    """Number of consecutive timeouts, or of unanswered probes of a closed window, before the connection is aborted (RFC
    9293 §3.8.3 R2), at most 255."""
    time_wait: Time | None = None
    """Length of TIME-WAIT (2 MSL)."""
    fin_wait: Time | None = None
    """Duration of FIN-WAIT-2 after the application has released the connection. Default: set by the profile; rfc, ns3
    and ns2-linux wait for the peer without limit."""
    challenge_acks: ChallengeAcks | Mapping[str, Any] | None = None
    """Rate limit of challenge ACKs for each connection, ``{"count": 10, "every": "5 s"}`` (RFC 5961 §7)."""
    answer_unsent: bool | None = None
    """Reply with a challenge ACK to an ACK of data that was never sent (RFC 5961 §5); false drops it, as Linux 6.12
    does."""
    keep_alive: KeepAlive | Mapping[str, Any] | None = None
    """Keep-alive probes of an idle connection (RFC 9293 §3.8.4): any of ``idle``, ``interval``, ``probes``.
    Default: none."""
    careful_resume: Mapping[str, Size | Time] | None = None
    """Careful Resume (RFC 9959): window and RTT of an earlier connection on the path,
    ``{"saved_cwnd": "2 MB", "saved_rtt": "600 ms"}``. If the first measured round trip is similar to ``saved_rtt``, the
    window jumps to half of ``saved_cwnd``, or to ``max_jump`` if that is less. Only with window-based algorithms.
    Default: none."""
    scps: Scps | Mapping[str, Any] | bool | None = None
    """SCPS-TP capabilities that are offered to the peer: ``True``, or any of ``snack``, ``snack_delay``,
    ``record_size``, ``report_corruption``."""
    loss_assumption: LossAssumption | None = None
    """Assumed cause of a loss without evidence of its cause: congestion, or corruption, which neither reduces the
    window nor backs off the timeout; or a custom loss response, ``{"python": "mine.py:Mine"}``, which decides for each
    loss."""
    ack_interval: Time | None = None
    """Send one ACK per interval of this length instead of delayed ACKs, whatever arrives; 0 s turns it off. The
    retransmission timeout is then at least SRTT plus this interval."""
    rate_control: RateControl | Mapping[str, Any] | None = None
    """Token bucket for all packets sent, ``{"rate": "1.5 Mbit/s", "ack_rate": "20 kbit/s", "bucket": "3 kB"}``."""
    route: Route | Mapping[str, Any] | Literal["path"] | bool | None = None
    """Values of the route that are known before the first measurement: any of ``rtt``, ``rto``, ``bdp`` and ``rate``;
    or ``"path"``, which takes all of them from the scenario's path. They initialize SRTT and the timeout, end slow
    start at a window of ``bdp``, and limit the sending rate to ``rate``."""
    outage_after: int | None = None
    """Number of consecutive timeouts for the same data that indicate a link outage. After that only probes are sent,
    after 1, 2, 4 … 60 s, 60 s, and the connection is not aborted; 0 turns this off. From 0 to 255."""
    receive_offload: bool | None = None
    """Receive the segments of a burst (``tso``) as one buffer, with at most one ACK, as over veth devices and netem,
    where a burst is never cut into packets (GSO). The setting of the sender applies."""


TcpLike: TypeAlias = Tcp | Mapping[str, Any]
