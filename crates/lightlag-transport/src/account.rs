//! The reports of an endpoint about itself: counters, the division of its time, and its state at one moment.

use lightlag_control::congestion::{Epoch, Internals, Phase};
use lightlag_core::{Duration, Rate};

/// The limits of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Limit {
    /// The application has nothing to send, or the connection is not open yet.
    #[default]
    Application,
    /// The congestion window.
    Cwnd,
    /// The window that the peer advertises.
    Rwnd,
    /// Losses are repaired in fast recovery.
    Recovery,
    /// A timeout: the wait for it, and the repair after it.
    Timeout,
    /// Pacing.
    Pacing,
}

/// Time for which each limit held the sender back. The parts sum to the time since the connection was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limited {
    /// By the congestion window.
    pub cwnd: Duration,
    /// By the receiver's window.
    pub rwnd: Duration,
    /// By the application, the handshake included.
    pub application: Duration,
    /// By pacing.
    pub pacing: Duration,
    /// In fast recovery.
    pub recovery: Duration,
    /// Waiting for a timeout, and repairing after it.
    pub timeout: Duration,
}

impl Limited {
    /// The time of one limit, to be changed.
    pub fn of_mut(&mut self, limit: Limit) -> &mut Duration {
        match limit {
            Limit::Application => &mut self.application,
            Limit::Cwnd => &mut self.cwnd,
            Limit::Rwnd => &mut self.rwnd,
            Limit::Recovery => &mut self.recovery,
            Limit::Timeout => &mut self.timeout,
            Limit::Pacing => &mut self.pacing,
        }
    }
}

/// The reasons why a connection was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The SYN or SYN-ACK was not answered.
    SynTimeout,
    /// Data was not acknowledged.
    Timeout,
    /// The peer answered the SYN with a reset.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// The application aborted it, or was gone when data arrived.
    Aborted,
    /// Probes of an idle connection were not answered.
    KeepAlive,
    /// The window stayed closed, and the probes of it were not answered.
    ProbeTimeout,
    /// The peer never closed, and no application waited for it (FIN-WAIT-2).
    FinWait,
    /// The host crashed, and with it the connection.
    Crashed,
}

impl Failure {
    /// The reason in words.
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
    /// Segments with payload sent, retransmissions included.
    pub sent_segments: u64,
    /// Sum of the round-trip samples.
    pub rtt_sum: Duration,
    /// Number of round-trip samples.
    pub rtt_count: u64,
    /// Segments without payload sent: ACKs, SYN, FIN, probes.
    pub acks_sent: u64,
    /// ACKs that arrived while data was outstanding, duplicates included.
    pub acks_received: u64,
    /// Segments with payload sent again.
    pub retransmitted_segments: u64,
    /// Expiries of the retransmission timer, that of the SYN included.
    pub timeouts: u64,
    /// Episodes of fast recovery.
    pub recoveries: u64,
    /// Payload that arrived more than once, in bytes.
    pub duplicate_bytes: u64,
    /// ACKs that reported data as received twice (RFC 2883).
    pub dsacks: u64,
    /// SNACK options that reported no outstanding data.
    pub snacks_ignored: u64,
    /// Zero-window probes sent.
    pub probes: u64,
    /// Tail loss probes sent (RFC 8985 §7).
    pub tail_probes: u64,
    /// Episodes whose reaction was undone because they were spurious.
    pub undone: u64,
    /// Reactions to congestion marks (RFC 3168).
    pub mark_reactions: u64,
    /// Segments of low priority sent, which are not among [`Self::sent_segments`].
    pub low_priority_sent: u64,
    /// Number of them that the peer acknowledged.
    pub low_priority_acked: u64,
    /// The reason why the connection was given up, if it was.
    pub failure: Option<Failure>,
}

impl Statistics {
    /// Mean of the round-trip samples.
    pub fn mean_rtt(&self) -> Option<Duration> {
        (self.rtt_count > 0).then(|| self.rtt_sum / self.rtt_count)
    }
}

/// The state of a sender at one moment. Sizes and offsets are in bytes of payload.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// The window, with the inflation of fast recovery without SACK.
    pub cwnd: u64,
    /// Slow-start threshold; [`u64::MAX`] before the first loss.
    pub ssthresh: u64,
    /// Data in the network (RFC 6675 pipe).
    pub inflight: u64,
    /// SRTT; zero before the first sample.
    pub srtt: Duration,
    /// The last round-trip sample; zero before the first.
    pub rtt: Duration,
    /// The smallest round-trip sample; [`Duration::MAX`] before the first.
    pub min_rtt: Duration,
    /// The timeout, with back-off.
    pub rto: Duration,
    /// The losses being repaired.
    pub phase: Phase,
    /// First byte not acknowledged.
    pub snd_una: u64,
    /// Next byte to send for the first time.
    pub snd_nxt: u64,
    /// Distance by which the peer's window reaches beyond `snd_una`.
    pub peer_window: u64,
    /// Payload of a full segment.
    pub segment_size: u64,
    /// The cubic epoch, for algorithms that have one.
    pub epoch: Option<Epoch>,
    /// The inner state of the congestion control, as far as it shows one.
    pub internals: Internals,
    /// The pacing rate of the congestion control, if it has one.
    pub pacing_rate: Option<Rate>,
}
