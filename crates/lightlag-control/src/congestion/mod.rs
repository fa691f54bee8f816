//! Congestion control: the amount of data in flight, and the sending rate.
//!
//! The recovery of the transport decides which data was lost, and announces loss episodes. An algorithm only returns a
//! window and, if it paces, a rate. It never transmits, and nothing else changes its window.
//!
//! An algorithm is one file and one line of the [`registry`]; [custom] algorithms register at run time.
//! Window-based ones share a [`Window`] and may use [`hystart`] for their slow start. Those that decide once per round
//! trip share a [`round::Round`].

mod about;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod capabilities;
pub mod careful_resume;
pub mod compound;
pub mod copa;
pub mod cubic;
pub mod custom;
pub mod dctcp;
pub mod fast;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod hystart;
pub mod illinois;
mod internals;
pub mod jersey;
pub mod ledbat;
pub mod linux26;
pub mod loss_assumption;
pub mod new_reno;
pub mod none;
pub mod noordwijk;
mod path_model;
pub mod peach;
pub mod registry;
pub mod reno;
pub mod response;
pub mod round;
pub mod scalable;
pub mod slow_start;
pub mod star;
pub mod suss;
pub mod tahoe;
mod trains;
pub mod vegas;
pub mod veno;
pub mod wave;
pub mod westwood;
pub mod westwood_br;
pub mod westwood_plus;
mod window;
pub mod yeah;

pub use about::{Deviation, Provenance, Signal};
pub use capabilities::{
    AckReport, Departures, Diagnosis, LEAST_BURST, Lost, LowPriority, Probing, Release, Sent, Startup, Steering,
    Transmissions,
};
pub use internals::{Internals, PathState};
pub use registry::{AlgorithmInfo, Choice, Parameter, UnknownAlgorithm, build, canonical, catalog, names, register};
pub use slow_start::SlowStart;
pub use window::{Window, WindowBased};

use lightlag_core::{Duration, Instant};

/// Data about a connection for an algorithm, at the start of the connection.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionStart {
    /// Payload of a full segment in bytes.
    pub segment_size: u64,
    /// Initial window in segments.
    pub initial_window: u64,
    /// Round-trip time of the handshake, or of a known route.
    pub rtt: Option<Duration>,
    /// Capacity of a known route in bytes of payload; slow start ends there.
    pub pipe: Option<u64>,
    /// First slow-start threshold in segments, if one is configured.
    pub ssthresh: Option<u32>,
    /// Maximum window in segments, if one is configured. Only algorithms with a [`Window`] apply it.
    pub max_window: Option<u32>,
    /// Whether windows are whole segments after a reduction.
    pub whole: bool,
    /// Whether timestamps are offered.
    pub timestamps: bool,
    /// Whether a congestion mark reduces the window less than a loss (ABE, RFC 8511).
    pub abe: bool,
    /// Whether the endpoints negotiated ECN, so that congestion marks are possible.
    pub ecn: bool,
    /// Whether segments are sent in bursts, as with segmentation offload (TSO in Linux).
    pub tso: bool,
    /// Whether the sender spreads a window over a round-trip time, although the algorithm has no pacing rate.
    pub paces: bool,
    /// Seed of the algorithm's random decisions, different for each connection.
    pub seed: u64,
}

/// The needs of an algorithm besides its ACKs. They follow from its configuration: [`Choice::needs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// Whether [`Ack::rate`] is measured, and both methods of [`Transmissions`] are called.
    pub rate: bool,
    /// Whether the rates are measured as in ns-3 ([`RateSampler::of_ns3`](crate::delivery_rate::RateSampler::of_ns3)).
    pub rate_as_ns3: bool,
    /// Whether [`Departures::pacing_rate`] is called for each segment.
    pub pacing: bool,
    /// Whether the algorithm's window also applies during fast recovery: no proportional rate reduction, no inflation.
    pub controls_recovery: bool,
    /// Whether a loss makes all outstanding data be retransmitted in slow start, as after a timeout (Tahoe).
    pub restart_on_loss: bool,
    /// Whether congestion marks are echoed one by one, and all packets can carry them (RFC 8257).
    pub exact_marks: bool,
    /// Data in low-priority segments, if any are sent. Their departure times come from [`LowPriority::next_probe`].
    pub probes: Probes,
    /// Whether the algorithm sends in bursts: [`Departures::release`] decides which segments may leave, the window does
    /// not apply, and [`Transmissions::on_sent`] reports each segment.
    pub bursts: bool,
    /// Whether [`Diagnosis::blames_errors`] is called after each loss and timeout.
    pub bulk_repeat: bool,
    /// Whether [`Diagnosis::bears_silence`] is called when a timeout is due and there was no other sign of a loss.
    pub patience: bool,
}

impl Needs {
    /// No needs besides ACKs.
    pub const NONE: Self = Self {
        rate: false,
        rate_as_ns3: false,
        pacing: false,
        controls_recovery: false,
        restart_on_loss: false,
        exact_marks: false,
        probes: Probes::None,
        bursts: false,
        bulk_repeat: false,
        patience: false,
    };
}

/// Data in the low-priority segments that a sender adds for its algorithm. Recovery ignores these segments: they do not
/// count as in flight, are never lost and are never retransmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Probes {
    /// No such segments.
    #[default]
    None,
    /// The data that was sent last: the dummy segments of TCP Peach.
    Last,
    /// All unacknowledged data in turn, so that the segments also repair losses: the NIL segments of TCP Peach+.
    Outstanding,
}

/// The information carried by one acknowledgement. Offsets and sizes are in bytes of payload.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Time when the ACK arrived.
    pub now: Instant,
    /// Bytes by which the cumulative acknowledgement advanced.
    pub newly_acked: u64,
    /// Bytes acknowledged or SACKed for the first time.
    pub newly_delivered: u64,
    /// Bytes marked as lost by this ACK.
    pub newly_lost: u64,
    /// Newly delivered bytes that were marked with CE, according to the feedback (RFC 3168, RFC 8257, RFC 9768).
    pub newly_marked: u64,
    /// Whether this is a duplicate ACK (RFC 5681 §2; with SACK: an ACK that reports new data, RFC 6675 §2).
    pub duplicate: bool,
    /// Whether the peer still echoes a mark (ECE, RFC 3168 §6.1.2). While it does, the window does not grow.
    pub ece: bool,
    /// One-way delay of the newest data according to timestamps, in ticks of 1 ms. The clocks of the endpoints differ
    /// by a constant, so only differences between two of these delays have a meaning.
    pub one_way: Option<Duration>,
    /// Number of segments for which this ACK counts in the growth of the window. By profile: 1 for each ACK, the
    /// full-sized segments that it acknowledged, or those up to a limit (RFC 3465).
    pub growth: f64,
    /// Round-trip sample, if the ACK gives one (Karn's algorithm).
    pub rtt: Option<Duration>,
    /// SRTT (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// Minimum round-trip sample so far; [`Duration::MAX`] before the first.
    pub min_rtt: Duration,
    /// Bytes outstanding after this ACK (RFC 6675 pipe with SACK, FlightSize without).
    pub inflight: u64,
    /// Bytes outstanding before this ACK.
    pub prior_inflight: u64,
    /// First unacknowledged offset after this ACK.
    pub snd_una: u64,
    /// Offset of the next new data. A round ends when `snd_una` reaches the value that `snd_nxt` had at its start.
    pub snd_nxt: u64,
    /// Whether the sender is repairing losses, and how they were found.
    pub phase: Phase,
    /// Whether the window, rather than the application or the receiver, limited the sender in the last round.
    pub cwnd_limited: bool,
    /// Time when pacing allows the next segment; `now` or earlier: immediately.
    pub next_departure: Instant,
    /// Delivery-rate sample, if the algorithm [`Needs`] it.
    pub rate: Option<RateSample>,
}

/// Delivery rate between the transmission of a segment and its ACK (draft-ietf-ccwg-bbr §4.1.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Bytes delivered in `interval`.
    pub delivered: u64,
    /// Time in which `delivered` bytes were sent, or in which they were acknowledged, whichever is longer. Zero if the
    /// sample is not valid; then only the other fields have a meaning.
    pub interval: Duration,
    /// Bytes that the connection had delivered when the segment was sent. An ACK can acknowledge several segments; the
    /// segment sent last gives the sample.
    pub prior_delivered: u64,
    /// Bytes that the connection has delivered so far.
    pub total_delivered: u64,
    /// Bytes marked as lost since that segment was sent.
    pub lost: u64,
    /// Bytes in flight just after that segment was sent.
    pub tx_in_flight: u64,
    /// Whether the application left the window unfilled when that segment was sent.
    pub app_limited: bool,
    /// Whether that segment was a retransmission.
    pub retransmitted: bool,
}

impl RateSample {
    /// Returns the rate in bytes per second; `None` if the sample is not valid.
    pub fn bytes_per_second(&self) -> Option<f64> {
        (!self.interval.is_zero()).then(|| self.delivered as f64 / self.interval.as_secs_f64())
    }
}

impl Ack {
    /// Returns true if this ACK may increase the window. It has to acknowledge or report data that counts for growth,
    /// outside fast recovery, for a sender that used its entire window (RFC 9438 §4.6, RFC 5681 §3.1), and must not
    /// echo a mark (RFC 3168 §6.1.2).
    pub fn may_grow(&self) -> bool {
        let counts = self.newly_acked > 0 || self.duplicate && self.growth > 0.0;
        counts && self.cwnd_limited && !self.ece && self.phase != Phase::Recovery
    }
}

/// Whether a sender is repairing losses, and how they were found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// No losses are being repaired.
    #[default]
    Open,
    /// Losses that duplicate or selective ACKs reported (fast recovery).
    Recovery,
    /// Losses found by a timeout, until all data that was outstanding then is acknowledged.
    Loss,
}

/// Cause of a congestion episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Duplicate or selective ACKs reported a loss.
    Loss,
    /// The retransmission timer expired for the first time for this data.
    Timeout,
    /// The retransmission timer expired again for the same data (RFC 5681 §3.1: ssthresh stays).
    RepeatedTimeout,
    /// The peer echoed a congestion mark; reported at most once per window (RFC 3168 §6.1.2). No data has to be
    /// repaired.
    Mark,
}

/// Start of a congestion episode. It is announced once, whatever the number of lost segments.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Time when the episode starts.
    pub now: Instant,
    /// Cause of the episode.
    pub cause: Cause,
    /// FlightSize before the reaction, in bytes (RFC 5681 §3.1 equation 4).
    pub flight: u64,
    /// SRTT (RFC 6298).
    pub srtt: Duration,
    /// Minimum round-trip sample so far.
    pub min_rtt: Duration,
}

/// An epoch of a cubic growth function, for figures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GrowthEpoch {
    /// Start of the epoch.
    pub start: Instant,
    /// Window at the plateau, in segments.
    pub w_max: f64,
    /// Time from `start` to the plateau.
    pub k: Duration,
}

/// The amount of data that may be in flight. Every algorithm implements this trait; a [`WindowBased`] one does it
/// through its [`Window`].
pub trait Allowance {
    /// Returns the number of bytes allowed in flight; at least one segment.
    fn window(&self) -> u64;

    /// Returns the slow-start threshold in bytes; `u64::MAX` before the first loss.
    fn ssthresh(&self) -> u64;

    /// Undoes the last reaction. Does nothing for a model of the path, which did not react.
    fn restore(&mut self) {}

    /// Restarts after an idle time with at most `window` bytes and a slow-start threshold of at least `threshold`
    /// bytes. A model of the path keeps its own window.
    fn restart(&mut self, _window: u64, _threshold: u64) {}
}

/// A congestion control algorithm. An instance serves one direction of a connection.
///
/// The methods that return `None` by default give access to the [capabilities] that only some algorithms have.
pub trait CongestionControl: Allowance + Send {
    /// Processes an ACK that acknowledged or SACKed new data, in recovery or not.
    fn on_ack(&mut self, ack: &Ack);

    /// Reacts to the start of a congestion episode.
    fn on_congestion(&mut self, event: &Congestion);

    /// Undoes the last reaction, which was to a spurious loss (RFC 3522, RFC 3708, RFC 5682): window and threshold
    /// return to at least their values before it.
    fn on_undo(&mut self, _now: Instant) {
        self.restore();
    }

    /// Restarts from at most `window` bytes (RFC 5681 §4.1, RFC 2861, RFC 7661), with `threshold` as the new minimum
    /// threshold: the sender was idle for longer than a timeout, did not use its window, or moderates it after
    /// recovery.
    fn on_idle(&mut self, _now: Instant, window: u64, threshold: u64) {
        self.restart(window, threshold);
    }

    /// Called when fast recovery has ended, because all data that was outstanding at its start is acknowledged, or when
    /// the repair after a timeout has ended.
    fn on_recovered(&mut self, _now: Instant) {}

    /// Ends slow start at the current window. An algorithm without its own slow start ignores the call.
    fn leave_slow_start(&mut self) {}

    /// Returns true if its own window applies in the current episode, instead of proportional rate reduction.
    fn refuses_prr(&self) -> bool {
        false
    }

    /// Returns the minimum window of rate halving in fast recovery, in bytes. Default: half of ssthresh
    /// (`tcp_reno_min_cwnd` of Linux 2.6).
    fn least_in_recovery(&self) -> u64 {
        self.ssthresh() / 2
    }

    /// Returns the current epoch of the cubic growth function, for algorithms that have one.
    fn epoch(&self) -> Option<GrowthEpoch> {
        None
    }

    /// Returns the internal state, for traces.
    fn internals(&self) -> Internals {
        Internals::default()
    }

    /// Gives access to its pacing rate or its bursts. An algorithm that [`Needs`] `pacing` or `bursts` returns itself.
    fn departures(&self) -> Option<&dyn Departures> {
        None
    }

    /// Gives access to its observer of segments. An algorithm that [`Needs`] `rate` or `bursts` returns itself.
    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        None
    }

    /// Gives access to its low-priority segments. An algorithm that [`Needs`] `probes` returns itself.
    fn low_priority(&mut self) -> Option<&mut dyn LowPriority> {
        None
    }

    /// Gives access to its classification of losses. An algorithm that [`Needs`] `bulk_repeat` or `patience` returns
    /// itself.
    fn diagnosis(&mut self) -> Option<&mut dyn Diagnosis> {
        None
    }

    /// Returns the loss response that wraps the algorithm, if there is one.
    fn loss_response(&mut self) -> Option<&mut dyn response::LossResponse> {
        None
    }

    /// Gives access to its external control. An algorithm that is steered by the caller of the run returns itself.
    fn steering(&mut self) -> Option<&mut dyn Steering> {
        None
    }

    /// Gives access to its start-up phase. A model of the path whose start-up phase can be replaced returns itself.
    fn startup(&mut self) -> Option<&mut dyn Startup> {
        None
    }

    /// Returns the error of an algorithm that has failed. Only [custom] algorithms can fail.
    fn fault(&self) -> Option<&custom::Fault> {
        None
    }
}

#[cfg(test)]
mod tests;
