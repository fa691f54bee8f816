//! Capabilities that only some algorithms have, beyond [`CongestionControl`](super::CongestionControl).
//!
//! An algorithm implements the traits that it needs, and returns itself from the accessors of `CongestionControl`. Its
//! [`Needs`](super::Needs) tell the sender when to use them.

use lightlag_core::{Duration, Instant, Rate};

/// The default for the least segments of a burst (Linux: `tcp_min_tso_segs`).
pub const LEAST_BURST: u64 = 2;

/// Schedules segments by a rate, or in bursts on a timer, instead of leaving that to the window and the ACK clock.
pub trait Departures {
    /// The pacing rate; `None` leaves it to the ACK clock, or to the connection's own pacing.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// The least segments of a burst, if the sender makes bursts (TSO of Linux).
    fn least_burst(&self) -> u64 {
        LEAST_BURST
    }

    /// The number of segments that may leave at `now`, and the time of the next ones. Called only if
    /// [`Needs::bursts`](super::Needs).
    fn release(&self, now: Instant) -> Release {
        Release { segments: u32::MAX, next: now }
    }
}

/// Observes each segment, for algorithms that measure delivery rates or send bursts.
pub trait Transmissions {
    /// A segment left, new or again.
    fn on_sent(&mut self, sent: &Sent);

    /// A segment was marked as lost. Called before the ACK or timeout that reports the loss, and only if
    /// [`Needs::rate`](super::Needs).
    fn on_lost(&mut self, _lost: &Lost) {}
}

/// Probes the path with segments of low priority.
pub trait LowPriority {
    /// Time at which the next probe leaves. Called whenever no other segment can leave.
    fn next_probe(&mut self, path: &Probing) -> Option<Instant>;

    /// A probe left.
    fn on_probe_sent(&mut self);

    /// The peer acknowledged a probe.
    fn on_probe_ack(&mut self, now: Instant);
}

/// Judges the cause of a loss or a timeout.
pub trait Diagnosis {
    /// Whether the current episode comes from errors of the path. Then all outstanding data leaves again at once, and a
    /// timeout is not doubled. Called only if [`Needs::bulk_repeat`](super::Needs).
    fn blames_errors(&self) -> bool {
        false
    }

    /// Whether a timeout waits once more for its margin over SRTT, 4 RTTVAR, because only the ACKs may be missing.
    /// Called only if [`Needs::patience`](super::Needs).
    fn bears_silence(&mut self) -> bool {
        false
    }
}

/// Lets somebody outside of the run set its window and its rate, between two events.
pub trait Steering {
    /// Sets the bytes allowed in flight, and the pacing rate; without one, departures follow the ACK clock.
    fn steer(&mut self, window: u64, pacing_rate: Option<Rate>);

    /// The report of its ACKs since the last call.
    fn take(&mut self) -> Report;
}

/// The sum of what ACKs told a steered algorithm.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Report {
    /// Bytes acknowledged or SACKed for the first time.
    pub delivered: u64,
    /// Bytes marked as lost.
    pub lost: u64,
    /// The part of the delivered bytes that was marked with CE.
    pub marked: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Number of round-trip samples.
    pub samples: u64,
    /// Sum of the samples in seconds.
    pub rtt: f64,
    /// Sums over the samples for their slope over time: of times since the first one in seconds, of their squares, and of
    /// their products with the samples.
    pub slope: [f64; 3],
}

impl Report {
    /// The mean round-trip sample in seconds.
    pub fn mean_rtt(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.rtt / self.samples as f64)
    }

    /// The change of the round-trip time in seconds a second, by least squares; 0 without two samples at different times.
    pub fn rtt_gradient(&self) -> f64 {
        let [times, squares, products] = self.slope;
        let count = self.samples as f64;
        let spread = count * squares - times * times;
        if spread > 0.0 { (count * products - times * self.rtt) / spread } else { 0.0 }
    }
}

/// The number of segments that may leave, for an algorithm that sends in bursts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// Segments that may leave now, new or retransmitted.
    pub segments: u32,
    /// Time at which more may leave. It is meaningless while some may leave now.
    pub next: Instant,
}

/// The state of a sender that asks for its next segment of low priority.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    /// The current time.
    pub now: Instant,
    /// SRTT (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// The largest window that the peer advertised, in bytes.
    pub receive_window: u64,
}

/// A segment that left, new or retransmitted.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Time at which it left.
    pub now: Instant,
    /// Its payload.
    pub bytes: u64,
    /// Outstanding data before it left.
    pub prior_inflight: u64,
    /// Whether the flight was empty because the application had nothing to send.
    pub app_limited: bool,
}

/// A segment that was marked as lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Time at which it was marked.
    pub now: Instant,
    /// Its payload.
    pub bytes: u64,
    /// Bytes in flight just after it was sent.
    pub tx_in_flight: u64,
    /// Bytes marked lost since it was sent, itself included.
    pub lost_since: u64,
    /// Whether the application left room in the window when it was sent.
    pub app_limited: bool,
}
