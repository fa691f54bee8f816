//! Choices of implementations where RFC 9000 and RFC 9002 leave freedom. Their differences are visible in single
//! packets, and few of them in the throughput.

/// Arithmetic of the algorithms NewReno and CUBIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Windows {
    /// lightlag's, in segments for each acknowledgement.
    #[default]
    Product,
    /// quinn's, for each packet.
    Quinn,
    /// aioquic's, for each packet, with an exit from slow start when the round-trip time rises.
    Aioquic,
    /// picoquic's, with estimates of the bandwidth and of the loss rate. They also start BBR on long paths.
    Picoquic,
}

/// Choices of an implementation. The default follows the wording of the RFCs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Details {
    /// Arithmetic of `newreno`, `reno` and `cubic`.
    pub windows: Windows,
    /// Whether a full datagram must leave a part of the window unused.
    pub strict_window: bool,
    /// Whether a sender is limited by the application unless the window or the pacer stopped it, whatever part of the
    /// window is unused.
    pub plain_limit: bool,
    /// Whether a server that may send a byte before the client's address is validated sends a full datagram. Its first
    /// datagram counts without the tag of its first packet.
    pub loose_amplification: bool,
    /// Minimum space in a datagram for another packet in bytes.
    pub coalescing_room: u64,
    /// Whether packets after the first in a datagram are sent regardless of the window, and the last one is padded.
    pub free_coalescing: bool,
    /// Space that frames need before they are written, and space for the length of a STREAM frame: upper limits of
    /// their headers instead of exact sizes.
    pub roomy_frames: bool,
    /// Whether a packet number takes a byte more from 2^(8n - 1) unacknowledged packets on, not only above.
    pub early_number_len: bool,
    /// Whether packets are at least 22 bytes longer than their connection ID (RFC 9000 §10.3).
    pub resembles_reset: bool,
    /// Whether lost CRYPTO frames are retransmitted one by one, the last one first.
    pub separate_crypto: bool,
    /// Whether other packets carry an ACK frame only after their frames, if there is space, and only when a round trip
    /// has passed since the last one or an acknowledgement is being delayed.
    pub bundled_acks: bool,
    /// Whether an acknowledgement waits for permission to send if there is also data, and one in another space stops
    /// the timer of a delayed one.
    pub acks_wait: bool,
    /// Whether an acknowledgement of a packet that was declared lost has no effect.
    pub forgets_lost: bool,
    /// Whether persistent congestion needs losses that one acknowledgement reveals.
    pub sudden_persistence: bool,
    /// Whether packets that only acknowledge are also lost by time: they delay probe timeouts and date losses.
    pub times_acks: bool,
    /// Whether reported delays are limited by the peer's max_ack_delay also before the handshake is confirmed.
    pub limits_early_delays: bool,
    /// Whether discarded keys leave the back-off of probe timeouts unchanged.
    pub keeps_backoff: bool,
    /// Whether probe timeouts of the application space start when the handshake is complete, not when it is confirmed.
    pub early_probes: bool,
    /// Whether probes repeat only control frames, one packet's at a time, in the space whose timeout expired. Without
    /// any they carry a PING, or IMMEDIATE_ACK in 1-RTT packets, next to new data.
    pub sparse_probes: bool,
    /// Whether all packets are sent with ECT until a report of the peer is wrong, without a test.
    pub trusts_ecn: bool,
    /// Whether handshake data waits while early data fills the window. It can block a connection for ever, so the
    /// profile of quinn, which does it, leaves it out.
    pub stalls_handshakes: bool,
    /// Whether an event makes the endpoint build all datagrams that window and pacer permit, up to the last byte of the
    /// window, with one sequence of packet numbers for all spaces.
    pub flights: bool,
    /// Whether BLOCKED frames are due when the application writes beyond a limit, not when the limit is reached.
    pub early_blocked: bool,
}

impl Details {
    /// Returns the choices of aioquic 1.2.0.
    pub fn aioquic() -> Self {
        Self { windows: Windows::Aioquic, flights: true, ..Self::default() }
    }

    /// Returns the choices of picoquic d199d45 that decide about throughput; its packets differ in more.
    pub fn picoquic() -> Self {
        Self { windows: Windows::Picoquic, plain_limit: true, ..Self::default() }
    }

    /// The choices of quinn-proto 0.11.19.
    pub const QUINN: Self = Self {
        windows: Windows::Quinn,
        strict_window: true,
        plain_limit: true,
        loose_amplification: true,
        // The largest header of a Handshake packet, 55 bytes, 32 bytes of frames, and the tag.
        coalescing_room: 103,
        free_coalescing: true,
        roomy_frames: true,
        early_number_len: true,
        resembles_reset: true,
        separate_crypto: true,
        bundled_acks: true,
        acks_wait: true,
        forgets_lost: true,
        sudden_persistence: true,
        times_acks: true,
        limits_early_delays: true,
        keeps_backoff: true,
        early_probes: true,
        sparse_probes: true,
        trusts_ecn: true,
        stalls_handshakes: false,
        flights: false,
        early_blocked: true,
    };
}
