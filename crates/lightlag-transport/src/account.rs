//! Reports of an endpoint about itself: counters, the time for which each limit applied, and a snapshot of its state.

use lightlag_control::congestion::{GrowthEpoch, Internals, Phase};
use lightlag_core::{Duration, Rate};

/// The current limit of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Limit {
    /// The application: it has nothing to send, or the connection is not open yet.
    #[default]
    Application,
    /// The congestion window is full.
    Cwnd,
    /// The window that the peer advertises is full.
    Rwnd,
    /// Losses are being repaired in fast recovery.
    Recovery,
    /// A timeout: the sender waits for it to expire, or is repairing losses after it.
    Timeout,
    /// Pacing delays the next segment.
    Pacing,
    /// QUIC: keys or messages of the handshake have not arrived.
    Handshake,
    /// QUIC: a server may not send more than three times the received bytes before it has validated the client's
    /// address (RFC 9000 §8.1).
    Amplification,
    /// QUIC: the peer has data for further streams, but may not open them (MAX_STREAMS).
    StreamLimit,
    /// QUIC: the credit of the connection is used up (MAX_DATA).
    ConnectionCredit,
    /// QUIC: the credit of every stream with data is used up (MAX_STREAM_DATA).
    StreamCredit,
    /// QUIC: the send buffer is full of unacknowledged data.
    SendBuffer,
    /// QUIC: there is nothing to send, and nothing in flight.
    Idle,
}

/// Time for which each limit applied to the sender. The times add up to the time since the connection was opened.
/// [`QuicLimited`] has the parts of two of them for QUIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limited {
    /// Time limited by the congestion window.
    pub cwnd: Duration,
    /// Time limited by the window that the peer advertises.
    pub rwnd: Duration,
    /// Time limited by the application, including the handshake.
    pub application: Duration,
    /// Time limited by pacing.
    pub pacing: Duration,
    /// Time in fast recovery.
    pub recovery: Duration,
    /// Time spent waiting for a timeout, and repairing losses after it.
    pub timeout: Duration,
}

impl Limited {
    /// Returns a mutable reference to the time for which `limit` applied.
    pub fn of_mut(&mut self, limit: Limit) -> &mut Duration {
        match limit {
            Limit::Cwnd => &mut self.cwnd,
            Limit::Rwnd | Limit::ConnectionCredit | Limit::StreamCredit => &mut self.rwnd,
            Limit::Recovery => &mut self.recovery,
            Limit::Timeout => &mut self.timeout,
            Limit::Pacing => &mut self.pacing,
            Limit::Application
            | Limit::Handshake
            | Limit::Amplification
            | Limit::StreamLimit
            | Limit::SendBuffer
            | Limit::Idle => &mut self.application,
        }
    }
}

/// Parts of the times in [`Limited`] that a QUIC sender distinguishes: the credits are [`Limited::rwnd`], and the
/// others are parts of [`Limited::application`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QuicLimited {
    /// Time spent waiting for keys or messages of the handshake.
    pub handshake: Duration,
    /// Time limited by the anti-amplification limit.
    pub amplification: Duration,
    /// Time in which the peer waited for permission to open streams.
    pub stream_limit: Duration,
    /// Time limited by the credit of the connection.
    pub connection_credit: Duration,
    /// Time limited by the credit of streams.
    pub stream_credit: Duration,
    /// Time limited by the send buffer.
    pub send_buffer: Duration,
    /// Time without data to send or in flight.
    pub idle: Duration,
}

impl QuicLimited {
    /// Adds time for which `limit` applied, if it is one of these parts.
    pub fn add(&mut self, limit: Limit, time: Duration) {
        let part = match limit {
            Limit::Handshake => &mut self.handshake,
            Limit::Amplification => &mut self.amplification,
            Limit::StreamLimit => &mut self.stream_limit,
            Limit::ConnectionCredit => &mut self.connection_credit,
            Limit::StreamCredit => &mut self.stream_credit,
            Limit::SendBuffer => &mut self.send_buffer,
            Limit::Idle => &mut self.idle,
            Limit::Application | Limit::Cwnd | Limit::Rwnd | Limit::Recovery | Limit::Timeout | Limit::Pacing => return,
        };
        *part += time;
    }
}

/// Reason why a connection was aborted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The SYN or SYN-ACK was not acknowledged.
    SynTimeout,
    /// Data was not acknowledged within the allowed number of retries.
    Timeout,
    /// The peer replied to the SYN with a reset.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// The application aborted the connection, or had released it when data arrived.
    Aborted,
    /// The keep-alive probes of an idle connection were not acknowledged.
    KeepAlive,
    /// The peer's window stayed closed, and the zero-window probes were not acknowledged.
    ProbeTimeout,
    /// The peer did not close in time after the application had released the connection (FIN-WAIT-2).
    FinWait,
    /// The host crashed.
    Crashed,
}

impl Failure {
    /// Returns the reason as text for results.
    pub fn reason(self) -> &'static str {
        match self {
            Self::SynTimeout => "the SYN was not answered",
            Self::Timeout => "data was not acknowledged",
            Self::Refused => "the peer refused the connection",
            Self::Reset => "the peer reset the connection",
            Self::Aborted => "the application aborted the connection",
            Self::KeepAlive => "keep-alive probes were not answered",
            Self::ProbeTimeout => "probes of a closed window were not answered",
            Self::FinWait => "the peer did not close in time",
            Self::Crashed => "a host crashed",
        }
    }
}

/// Counters since the connection was opened.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Statistics {
    /// Number of segments with payload sent, including retransmissions.
    pub sent_segments: u64,
    /// Sum of the round-trip samples.
    pub rtt_sum: Duration,
    /// Number of round-trip samples.
    pub rtt_count: u64,
    /// Number of segments without payload sent: ACKs, SYN, FIN, probes.
    pub acks_sent: u64,
    /// Number of ACKs that arrived while data was outstanding, including duplicates.
    pub acks_received: u64,
    /// Number of retransmitted segments with payload.
    pub retransmitted_segments: u64,
    /// Number of expiries of the retransmission timer, including those for the SYN.
    pub timeouts: u64,
    /// Number of fast recovery episodes.
    pub recoveries: u64,
    /// Payload that arrived again although it had been received before, in bytes.
    pub duplicate_bytes: u64,
    /// Number of ACKs that reported data as received twice (D-SACK, RFC 2883).
    pub dsacks: u64,
    /// Number of SNACK options that reported no outstanding data.
    pub snacks_ignored: u64,
    /// Number of zero-window probes sent.
    pub probes: u64,
    /// Number of tail loss probes sent (RFC 8985 §7).
    pub tail_probes: u64,
    /// Number of recovery episodes that were spurious, so that their window reduction was undone.
    pub undone: u64,
    /// Number of window reductions after congestion marks (RFC 3168).
    pub mark_reactions: u64,
    /// Number of low-priority segments sent. [`Self::sent_segments`] does not include them.
    pub low_priority_sent: u64,
    /// Number of low-priority segments that the peer acknowledged.
    pub low_priority_acked: u64,
    /// Reason why the connection was aborted; `None` if it was not.
    pub failure: Option<Failure>,
}

impl Statistics {
    /// Returns the mean of the round-trip samples, if there is one.
    pub fn mean_rtt(&self) -> Option<Duration> {
        (self.rtt_count > 0).then(|| self.rtt_sum / self.rtt_count)
    }
}

/// Snapshot of a sender's state. Sizes and offsets are in bytes of payload.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// Congestion window, including the inflation of fast recovery without SACK.
    pub cwnd: u64,
    /// Slow-start threshold; [`u64::MAX`] before the first loss.
    pub ssthresh: u64,
    /// Amount of data in the network (pipe, RFC 6675).
    pub inflight: u64,
    /// SRTT; zero before the first sample.
    pub srtt: Duration,
    /// The last round-trip sample; zero before the first sample.
    pub rtt: Duration,
    /// Minimum round-trip sample; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Retransmission timeout, including back-off.
    pub rto: Duration,
    /// Phase of loss repair.
    pub phase: Phase,
    /// Offset of the first unacknowledged byte.
    pub snd_una: u64,
    /// Offset of the next byte to send for the first time.
    pub snd_nxt: u64,
    /// Size of the peer's window, counted from `snd_una`.
    pub peer_window: u64,
    /// Payload of a full segment.
    pub segment_size: u64,
    /// Start of the cubic growth epoch, for algorithms that have one.
    pub epoch: Option<GrowthEpoch>,
    /// Internal state of the congestion control, as far as it exposes any.
    pub internals: Internals,
    /// Pacing rate of the congestion control, if it has one.
    pub pacing_rate: Option<Rate>,
}
