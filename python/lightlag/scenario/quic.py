"""The options of QUIC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from lightlag.scenario.values import Congestion, LossAssumption, Size, Time


@dataclass(frozen=True, kw_only=True)
class QuicAck:
    """Settings of acknowledgements (RFC 9000 §13.2). Omitted keys come from the profile."""

    delay: Time | None = None
    """Maximum delay of an acknowledgement (max_ack_delay), below 2^14 ms."""
    max_ranges: int | None = None
    """Maximum number of ranges in an acknowledgement, 1 to 10,000."""
    packets: int | None = None
    """Number of packets that one acknowledgement covers, 1 to 1,000."""
    reordering: int | None = None
    """Reordering threshold of immediate acknowledgements in packets, at most 1,000; 0 never acknowledges
    immediately."""


@dataclass(frozen=True, kw_only=True)
class QuicAckFrequency:
    """Frequency of acknowledgements that a sender of data requests (draft-ietf-quic-ack-frequency-14)."""

    delay: Time | None = None
    """Maximum delay of an acknowledgement, 1 ms up to 2^14 ms. Default: a quarter of the round-trip time."""
    packets: int | None = None
    """Number of packets that one acknowledgement covers, 1 to 1,000. Default: 10."""
    reordering: int | None = None
    """Reordering threshold of immediate acknowledgements in packets, at most 1,000; 0 never acknowledges immediately.
    Default: 1."""


@dataclass(frozen=True, kw_only=True)
class Quic:
    """QUIC settings that deviate from a profile."""

    profile: Literal["rfc9002", "quinn", "picoquic", "quiche", "msquic", "aioquic"] | None = None
    """An implementation whose behaviour the other keys override: rfc9002 (the default), quinn, picoquic, quiche, msquic
    or aioquic."""
    congestion: Congestion | None = None
    """The congestion control: its name, or a table with ``algorithm`` and its parameters. The name alone of the
    profile's own algorithm leaves the parameters of the profile."""
    datagram: Size | None = None
    """UDP payload of a full datagram, 1,200 B to 65,507 B (RFC 9000 §14)."""
    ack: QuicAck | Mapping[str, Any] | None = None
    """Acknowledgements of 1-RTT packets: any of ``packets``, ``delay``, ``reordering``, ``max_ranges``."""
    client: QuicLike | None = None
    """Keys that differ at the end that opens the connection."""
    server: QuicLike | None = None
    """Keys that differ at the end that accepts the connection."""
    accept_zero_rtt: bool | None = None
    """Whether the server accepts data in the first flight."""
    auto_credit: bool | None = None
    """Whether credit grows as in the profile; false keeps the window of each stream and of the connection at its
    initial size."""
    careful_resume: Mapping[str, Size | Time] | None = None
    """Careful Resume (RFC 9959) by the end that sends: window and RTT of an earlier connection on the path,
    ``{"saved_cwnd": "2 MB", "saved_rtt": "600 ms"}``. If the first measured round trip is similar to ``saved_rtt``, the
    window jumps to half of ``saved_cwnd``, or to ``max_jump`` if that is less. Only with window-based algorithms. With
    ``rule = "picoquic"`` and that profile, the window starts at all of ``saved_cwnd``; only with newreno, cubic and,
    above 250 ms, bbr3. Default: none."""
    certificate: Size | None = None
    """Size of the server's certificate chain, 100 B to 60 kB."""
    connection_credit: Size | None = None
    """Initial credit of the connection (initial_max_data), from a datagram to 1 TB."""
    ecn: Literal["not_ect", "ect0", "ect1"] | None = None
    """ECN codepoint of sent packets: not_ect, ect0, or ect1 (L4S). Default: set by the profile, and ect1 with a
    congestion control that relies on marks."""
    fairness: Literal["round_robin", "sequential"] | None = None
    """Order of streams with new data and equal priority: round_robin or sequential."""
    id_length: int | None = None
    """Length of connection IDs, 0 to 20 bytes."""
    idle_timeout: Time | None = None
    """Idle timeout (RFC 9000 §10.1), at most 30 days; 0 s means none."""
    initial_rtt: Time | None = None
    """Round-trip time before the first sample, which sets the first probe timeout (RFC 9002 §6.2.2)."""
    initial_window: int | None = None
    """Initial window, 1 to 1,000 datagrams. Default: set by the profile; rfc9002 starts with at most 14,720 B (RFC 9002
    §7.2)."""
    pacing: bool | None = None
    """Pace packets at a rate that follows the window; otherwise send as the window permits. An algorithm with its own
    rate, such as BBR, uses that."""
    packet_threshold: int | None = None
    """Packet threshold of loss detection, 1 to 1,000 (RFC 9002 §6.1.1)."""
    retry: bool | None = None
    """Validate the client's address with a Retry packet, which takes a round trip. Only at the server."""
    send_buffer: Size | None = None
    """Maximum amount of sent, unacknowledged data of all streams. Default: set by the profile; most have no limit."""
    stream_credit: Size | None = None
    """Initial credit of each stream (initial_max_stream_data), from a datagram to 1 TB."""
    streams: int | None = None
    """Number of bidirectional and of unidirectional streams that the peer may open at the same time, 1 to 1,000,000."""
    time_threshold: float | None = None
    """Time threshold of loss detection in round-trip times, 1 to 10 (RFC 9002 §6.1.2)."""
    zero_rtt: bool | None = None
    """Resume an earlier connection with the server and send data in the first flight (0-RTT). Only at the client."""
    ack_frequency: QuicAckFrequency | Mapping[str, Any] | None = None
    """Frequency of acknowledgements that an end requests of its peer while it sends data
    (draft-ietf-quic-ack-frequency-14): any of ``packets``, ``delay``, ``reordering``. The peer then supports it.
    Default: none."""
    keep_alive: Time | None = None
    """Interval of PING frames while a connection is idle, from 1 ms to below the idle timeout (RFC 9000 §10.1.2); 0 s
    means none."""
    key_update: int | None = None
    """Number of packets with the same keys before an end updates them (RFC 9001 §6), from 1; 0 means no updates.
    Captures show them. Default: 0."""
    migrate: tuple[Time, ...] | None = None
    """Times in the run when the client migrates to another address, at most 7: the window and the round-trip time start
    again (RFC 9000 §9.4). Only at the client. Default: none."""
    mtu: Size | bool | None = None
    """Search for the path MTU by probes (RFC 8899, RFC 9000 §14.3): its largest datagram, from ``datagram`` to 65,507
    B; or false for none, and true for the search of the profile, or up to 1,452 B if it has none."""
    rebind: tuple[Time, ...] | None = None
    """Times in the run when a NAT gives the client another port (RFC 9000 §9), which the client does not notice. Only
    at the client. Default: none."""
    version: int | None = None
    """Version of QUIC, 1 (RFC 9000) or 2 (RFC 9369). Captures show it; times and sizes are the same."""
    loss_assumption: LossAssumption | None = None
    """Assumed cause of a loss without evidence of its cause: congestion, or corruption, which does not reduce the
    window; or a custom loss response, ``{"python": "mine.py:Mine"}``, which decides for each loss. Other values than
    congestion turn off the windows of quinn, picoquic and aioquic, so that the algorithm has its own."""


QuicLike: TypeAlias = Quic | Mapping[str, Any]
