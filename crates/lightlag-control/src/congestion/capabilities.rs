//! Capabilities that only some algorithms have, beyond [`CongestionControl`](super::CongestionControl).
//!
//! An algorithm implements the traits that it needs, and returns itself from the accessors of `CongestionControl`. Its
//! [`Needs`](super::Needs) tell the sender when to use them.

use lightlag_core::{Duration, Instant, Rate};

/// Default minimum number of segments in a burst (Linux: `tcp_min_tso_segs`).
pub const LEAST_BURST: u64 = 2;

/// Schedules segments by a rate, or in bursts on a timer, instead of by the window and the ACK clock.
pub trait Departures {
    /// Returns the pacing rate; `None` leaves it to the ACK clock, or to the connection's own pacing.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Returns the minimum number of segments in a burst, for a sender that makes bursts (as with TSO in Linux).
    fn least_burst(&self) -> u64 {
        LEAST_BURST
    }

    /// Returns the number of segments that may leave at `now`, and the time when the next ones may. Called only if
    /// [`Needs::bursts`](super::Needs).
    fn release(&self, now: Instant) -> Release {
        Release { segments: u32::MAX, next: now }
    }
}

/// Observes each segment that is sent or lost, for algorithms that measure delivery rates or send bursts.
pub trait Transmissions {
    /// Notes a sent segment, new or retransmitted.
    fn on_sent(&mut self, sent: &Sent);

    /// Notes a segment marked as lost. Called before the ACK or timeout that reports the loss, and only if
    /// [`Needs::rate`](super::Needs).
    fn on_lost(&mut self, _lost: &Lost) {}
}

/// Probes the path with segments of low priority.
pub trait LowPriority {
    /// Returns the time when the next probe is sent. Called whenever no other segment can leave.
    fn next_probe(&mut self, path: &Probing) -> Option<Instant>;

    /// Notes a sent probe.
    fn on_probe_sent(&mut self);

    /// Notes the peer's acknowledgement of a probe.
    fn on_probe_ack(&mut self, now: Instant);
}

/// Classifies the cause of a loss or a timeout.
pub trait Diagnosis {
    /// Returns true if the current losses are due to errors of the path, not to congestion. Then all outstanding data
    /// is retransmitted immediately, and a timeout is not doubled. Called only if [`Needs::bulk_repeat`](super::Needs).
    fn blames_errors(&self) -> bool {
        false
    }

    /// Returns true if an expired retransmission timer should wait once more, for 4 RTTVAR, because only the ACKs may
    /// be missing. Called only if [`Needs::patience`](super::Needs).
    fn bears_silence(&mut self) -> bool {
        false
    }
}

/// Lets the caller replace the start-up phase of a model of the path.
pub trait Startup {
    /// Keeps the model in its start-up phase, whatever it measures. The caller ignores its window and rate.
    fn hold_startup(&mut self);

    /// Ends [`Self::hold_startup`]; the start-up phase continues.
    fn release_startup(&mut self);

    /// Ends a held start-up phase with this window in bytes: the path is full, and the queue has to be drained.
    fn end_startup(&mut self, window: u64);

    /// Makes the intervals between probes grow with a round-trip time above `threshold`, as picoquic does. A model
    /// without such a rule ignores the call.
    fn adapt_to_long_rtt(&mut self, _threshold: Duration) {}
}

/// Lets an agent outside the run set the window and the rate between two events.
pub trait Steering {
    /// Sets the maximum bytes in flight and the pacing rate. With no pacing rate, departures follow the ACK clock.
    fn steer(&mut self, window: u64, pacing_rate: Option<Rate>);

    /// Returns the report on the ACKs since the last call.
    fn take(&mut self) -> AckReport;
}

/// Information from ACKs and timeouts for a steered algorithm, summed up over an interval.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AckReport {
    /// Bytes acknowledged or SACKed for the first time.
    pub delivered: u64,
    /// Bytes marked as lost.
    pub lost: u64,
    /// Delivered bytes that were marked with CE.
    pub marked: u64,
    /// Number of timeouts.
    pub timeouts: u64,
    /// Number of round-trip samples.
    pub samples: u64,
    /// Sum of the round-trip samples in seconds.
    pub rtt: f64,
    /// Sums for the slope of the samples over time: of the times since the first sample in seconds, of their squares,
    /// and of their products with the samples.
    pub slope: [f64; 3],
}

impl AckReport {
    /// Returns the mean of the round-trip samples in seconds; `None` without a sample.
    pub fn mean_rtt(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.rtt / self.samples as f64)
    }

    /// Returns the slope of the round-trip time in seconds per second, by least squares; 0 without two samples at
    /// different times.
    pub fn rtt_gradient(&self) -> f64 {
        let [times, squares, products] = self.slope;
        let count = self.samples as f64;
        let spread = count * squares - times * times;
        if spread > 0.0 { (count * products - times * self.rtt) / spread } else { 0.0 }
    }
}

/// Number of segments that may leave now, and the time when the next ones may, for an algorithm that sends in bursts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// Segments that may leave now, new or retransmitted.
    pub segments: u32,
    /// Time when more segments may leave. It has no meaning while some may leave now.
    pub next: Instant,
}

/// The state of a sender that requests the time of its next low-priority segment.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    /// The current time.
    pub now: Instant,
    /// SRTT (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// The maximum window that the peer advertised, in bytes.
    pub receive_window: u64,
}

/// A segment that was sent, new or retransmitted.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Time of transmission.
    pub now: Instant,
    /// Payload of the segment in bytes.
    pub bytes: u64,
    /// Outstanding bytes before the transmission.
    pub prior_inflight: u64,
    /// Whether nothing was in flight before it because the application had nothing to send.
    pub app_limited: bool,
}

/// A segment that was marked as lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Time when the segment was marked as lost.
    pub now: Instant,
    /// Payload of the segment in bytes.
    pub bytes: u64,
    /// Bytes in flight just after it was sent.
    pub tx_in_flight: u64,
    /// Bytes marked as lost since the segment was sent, including the segment.
    pub lost_since: u64,
    /// Whether the application left the window unfilled when the segment was sent.
    pub app_limited: bool,
}
