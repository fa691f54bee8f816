//! Congestion control: how much may be in flight, and how fast it may leave.
//!
//! Recovery ([`crate::recovery`]) decides what was lost and announces episodes; an algorithm here only answers
//! with a window and, if it paces, a rate. It never transmits, and nothing else changes its window.
//!
//! An algorithm is one file and one line of the [`registry`]: [`new_reno`], [`cubic`], [`hybla`]. The window-based
//! ones share a [`Window`] and may take [`hystart`] for their slow start.

pub mod cubic;
pub mod hybla;
pub mod hystart;
pub mod new_reno;
mod parameters;
pub mod registry;
mod window;

pub use parameters::Parameter;
pub use registry::{Choice, Entry, UnknownAlgorithm, build, catalog};
pub use window::Window;

use lightlag_core::{Duration, Instant, Rate};

/// What an algorithm knows when its connection begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Payload of a full segment in bytes.
    pub segment_size: u64,
    /// Initial window in segments.
    pub initial_window: u64,
    /// The round-trip time of the handshake, if it gave one.
    pub rtt: Option<Duration>,
}

/// What one acknowledgement told the sender. Offsets and sizes are in bytes of payload.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When the ACK arrived.
    pub now: Instant,
    /// How far the cumulative acknowledgement advanced.
    pub newly_acked: u64,
    /// Data acknowledged or SACKed for the first time.
    pub newly_delivered: u64,
    /// Segments that this ACK counts for growth, by the profile's rule: 1 for each ACK, the full-sized segments
    /// it acknowledged, or those up to a limit (RFC 3465).
    pub growth: f64,
    /// The round-trip sample, if the ACK gives one (Karn).
    pub rtt: Option<Duration>,
    /// SRTT (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// The smallest sample so far; [`Duration::MAX`] before the first.
    pub min_rtt: Duration,
    /// Outstanding data after this ACK (RFC 6675 pipe with SACK, FlightSize without).
    pub inflight: u64,
    /// Outstanding data before this ACK.
    pub prior_inflight: u64,
    /// First unacknowledged offset after this ACK.
    pub snd_una: u64,
    /// The offset of the next new data. A round ends when `snd_una` reaches the `snd_nxt` of its start.
    pub snd_nxt: u64,
    /// What the sender is repairing.
    pub phase: Phase,
    /// Whether the window, not the application or the receiver, held the sender back in the last round.
    pub cwnd_limited: bool,
}

impl Ack {
    /// Whether this ACK may open the window: it acknowledged data, outside fast recovery, of a sender that used
    /// its whole window (RFC 9438 §4.6, RFC 5681 §3.1).
    pub fn may_grow(&self) -> bool {
        self.newly_acked > 0 && self.cwnd_limited && self.phase != Phase::Recovery
    }
}

/// What the sender is repairing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// Nothing.
    #[default]
    Open,
    /// Losses that duplicate or selective ACKs reported (fast recovery).
    Recovery,
    /// Losses after a timeout, until everything outstanding then is acknowledged.
    Loss,
}

/// Why an episode began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Duplicate or selective ACKs.
    Loss,
    /// The retransmission timer, for the first time for this data.
    Timeout,
    /// The retransmission timer, again for the same data (RFC 5681 §3.1: ssthresh stays).
    RepeatedTimeout,
}

/// The begin of an episode: once each, whatever the number of lost segments.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When.
    pub now: Instant,
    /// Why.
    pub cause: Cause,
    /// FlightSize before the reaction, in bytes (RFC 5681 §3.1 equation 4).
    pub flight: u64,
    /// SRTT (RFC 6298).
    pub srtt: Duration,
    /// The smallest round-trip sample so far.
    pub min_rtt: Duration,
}

/// One epoch of a cubic growth function, for figures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Epoch {
    /// When it began.
    pub start: Instant,
    /// The window at the plateau in segments.
    pub w_max: f64,
    /// From `start` to the plateau.
    pub k: Duration,
}

/// An algorithm. One instance serves one direction of one connection.
pub trait CongestionControl: Send {
    /// New data was acknowledged or SACKed, in recovery or not.
    fn on_ack(&mut self, ack: &Ack);

    /// An episode began.
    fn on_congestion(&mut self, event: &Congestion);

    /// Fast recovery ended, everything outstanding at its begin is acknowledged; or the repair after a timeout.
    fn on_recovered(&mut self, _now: Instant) {}

    /// Bytes allowed in flight. Never below one segment.
    fn window(&self) -> u64;

    /// Slow start ends when the window reaches this, in bytes; `u64::MAX` before the first loss.
    fn ssthresh(&self) -> u64;

    /// How fast segments may leave; `None` leaves it to the ACK clock.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// The current cubic epoch, for algorithms that have one.
    fn epoch(&self) -> Option<Epoch> {
        None
    }
}

#[cfg(test)]
mod tests;
