//! Capabilities that only some algorithms have, beyond the answers of every [`CongestionControl`](super::CongestionControl).
//!
//! An algorithm implements the traits it needs and opens their doors in its `CongestionControl`; its
//! [`Needs`](super::Needs) tell the sender when to use them.

use lightlag_core::{Duration, Instant, Rate};

/// Segments of a burst at least, where the algorithm does not say otherwise (Linux: `tcp_min_tso_segs`).
pub const LEAST_BURST: u64 = 2;

/// Says when segments leave, where that is not left to the window and the ACK clock: at a rate, or in bursts on a timer.
pub trait Departures {
    /// How fast segments may leave; `None` leaves it to the ACK clock, or to the connection's own pacing.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Segments of a burst at least, where the sender makes bursts (TSO of Linux).
    fn least_burst(&self) -> u64 {
        LEAST_BURST
    }

    /// How many segments may leave at `now`, and when the next ones may. Asked only if [`Needs::bursts`](super::Needs).
    fn release(&self, now: Instant) -> Release {
        Release { segments: u32::MAX, next: now }
    }
}

/// Hears of each segment: algorithms that measure delivery rates or send bursts follow what is in flight.
pub trait Transmissions {
    /// A segment left, new or again.
    fn on_sent(&mut self, sent: &Sent);

    /// A segment was marked as lost, before the ACK or timeout that says so is announced. Told only if
    /// [`Needs::rate`](super::Needs).
    fn on_lost(&mut self, _lost: &Lost) {}
}

/// Probes the path with segments of low priority.
pub trait LowPriority {
    /// When the next one leaves; asked whenever nothing else can leave.
    fn next_probe(&mut self, path: &Probing) -> Option<Instant>;

    /// It left.
    fn on_probe_sent(&mut self);

    /// The peer acknowledged one.
    fn on_probe_ack(&mut self, now: Instant);
}

/// Judges what is behind a loss or a timeout.
pub trait Diagnosis {
    /// Whether the episode that has just begun comes from errors of the path: then everything outstanding leaves again
    /// at once, and a timeout is not doubled. Asked only if [`Needs::bulk_repeat`](super::Needs).
    fn blames_errors(&self) -> bool {
        false
    }

    /// Whether a timeout waits once more for as long as its margin over SRTT, 4 RTTVAR: what is missing may be the
    /// ACKs. Asked only if [`Needs::patience`](super::Needs).
    fn bears_silence(&mut self) -> bool {
        false
    }
}

/// The number of segments that may leave, for an algorithm that sends in bursts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// Segments that may leave now, new ones or again.
    pub segments: u32,
    /// When more may; of no meaning while some may leave now.
    pub next: Instant,
}

/// The knowledge of a sender that asks for its next segment of low priority.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    /// When.
    pub now: Instant,
    /// SRTT (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// The largest window that the peer advertised, in bytes.
    pub receive_window: u64,
}

/// A segment left, new or again.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// Its payload.
    pub bytes: u64,
    /// Outstanding data before it left.
    pub prior_inflight: u64,
    /// Whether nothing was in flight because the application had nothing to send.
    pub app_limited: bool,
}

/// A segment was marked as lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When.
    pub now: Instant,
    /// Its payload.
    pub bytes: u64,
    /// Bytes in flight just after it was sent.
    pub tx_in_flight: u64,
    /// Bytes marked lost since it was sent, itself included.
    pub lost_since: u64,
    /// Whether it was sent when the application left room in the window.
    pub app_limited: bool,
}
