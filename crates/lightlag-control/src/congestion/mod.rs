//! Congestion control: the amount of data in flight, and the rate at which it leaves.
//!
//! The recovery of the transport decides which data was lost and announces episodes. An algorithm here only answers
//! with a window and, if it paces, a rate. It never transmits, and nothing else changes its window.
//!
//! An algorithm is one file and one line of the [`registry`]; those of users come from [outside](own). Window-based ones share a [`Window`] and may use
//! [`hystart`] for their slow start. Those that decide once a round trip share a [`round::Round`].

pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod capabilities;
pub mod careful_resume;
pub mod compound;
pub mod copa;
pub mod cubic;
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
pub mod new_reno;
pub mod none;
pub mod noordwijk;
pub mod own;
mod path_model;
pub mod peach;
pub mod registry;
pub mod reno;
pub mod response;
pub mod round;
pub mod scalable;
pub mod slow_start;
pub mod star;
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

pub use capabilities::{
    Departures, Diagnosis, LEAST_BURST, Lost, LowPriority, Probing, Release, Report, Sent, Steering, Transmissions,
};
pub use internals::{Internals, PathState};
pub use registry::{
    Choice, Entry, Parameter, Provenance, UnknownAlgorithm, build, canonical, catalog, names, register,
};
pub use slow_start::SlowStart;
pub use window::{Window, WindowBased};

use lightlag_core::{Duration, Instant};

/// The facts known to an algorithm when its connection starts.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Payload of a full segment in bytes.
    pub segment_size: u64,
    /// Initial window in segments.
    pub initial_window: u64,
    /// The round-trip time of the handshake, or that of a known route.
    pub rtt: Option<Duration>,
    /// The capacity of a known route in bytes of payload, at which slow start ends.
    pub pipe: Option<u64>,
    /// The first slow-start threshold in segments, if it is set.
    pub ssthresh: Option<u32>,
    /// The largest window in segments, if it is set. Only algorithms with a [`Window`] keep to it.
    pub max_window: Option<u32>,
    /// Whether a reduction leaves whole segments.
    pub whole: bool,
    /// Whether timestamps are offered.
    pub timestamps: bool,
    /// Whether a congestion mark costs less than a loss (ABE, RFC 8511).
    pub abe: bool,
    /// Whether the ends agreed on ECN, so that marks can come.
    pub ecn: bool,
    /// Whether segments leave in bursts, as for an offload of the network card (TSO of Linux).
    pub tso: bool,
    /// The seed of the algorithm's random draws, different for each connection.
    pub seed: u64,
}

/// The needs of an algorithm beyond its ACKs, declared by its configuration: [`Choice::needs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// It uses [`Ack::rate`] and both calls of [`Transmissions`].
    pub rate: bool,
    /// These rates are measured as ns-3 does ([`RateSampler::of_ns3`](crate::delivery_rate::RateSampler::of_ns3)).
    pub rate_as_ns3: bool,
    /// [`Departures::pacing_rate`] is called for each segment.
    pub pacing: bool,
    /// Its window applies during fast recovery, too: no proportional rate reduction, no inflation.
    pub own_recovery: bool,
    /// After a loss all outstanding data leaves again in slow start, as after a timeout (Tahoe).
    pub restart_on_loss: bool,
    /// Congestion marks are echoed as they come, and all packets can carry them (RFC 8257).
    pub exact_marks: bool,
    /// Segments of low priority leave at the times of [`LowPriority::next_probe`].
    pub probes: Probes,
    /// It sends in bursts: [`Departures::release`] decides which segments may leave, and the window does not apply.
    /// [`Transmissions::on_sent`] reports each segment.
    pub bursts: bool,
    /// [`Diagnosis::blames_errors`] is called after each loss and timeout.
    pub bulk_repeat: bool,
    /// [`Diagnosis::bears_silence`] is called when a timeout is due and no sign of a loss has come.
    pub patience: bool,
}

impl Needs {
    /// Nothing but ACKs.
    pub const NONE: Self = Self {
        rate: false,
        rate_as_ns3: false,
        pacing: false,
        own_recovery: false,
        restart_on_loss: false,
        exact_marks: false,
        probes: Probes::None,
        bursts: false,
        bulk_repeat: false,
        patience: false,
    };
}

/// The data in segments of low priority, which a sender adds for its algorithm. They take no part in the repair: they
/// are not in flight, never lost and never retransmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Probes {
    /// No such segments.
    #[default]
    None,
    /// The data sent last: the dummy segments of TCP Peach.
    Last,
    /// All unacknowledged data, in turns, so that they also repair: the NIL segments of TCP Peach+.
    Outstanding,
}

/// The information carried by one acknowledgement. Offsets and sizes are in bytes of payload.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Time at which the ACK arrived.
    pub now: Instant,
    /// Advance of the cumulative acknowledgement.
    pub newly_acked: u64,
    /// Data acknowledged or SACKed for the first time.
    pub newly_delivered: u64,
    /// Data marked as lost by this ACK.
    pub newly_lost: u64,
    /// The part of the newly delivered data marked with CE, according to the feedback (RFC 3168, RFC 8257, RFC 9768).
    pub newly_marked: u64,
    /// Whether it is a duplicate ACK (RFC 5681 §2; with SACK one that reports new data, RFC 6675 §2).
    pub duplicate: bool,
    /// Whether the peer still echoes a mark (ECE, RFC 3168 §6.1.2). If so, the window does not grow.
    pub ece: bool,
    /// One-way delay of the newest data, by timestamps, in ticks of 1 ms. The clocks differ by a constant, so only
    /// differences between two of these are meaningful.
    pub one_way: Option<Duration>,
    /// Segments by which this ACK counts for growth, according to the profile: 1 for each ACK, the full-sized segments
    /// that it acknowledged, or those up to a limit (RFC 3465).
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
    /// The losses that the sender is repairing.
    pub phase: Phase,
    /// Whether the window, rather than the application or the receiver, limited the sender in the last round.
    pub cwnd_limited: bool,
    /// Time at which pacing lets the next segment leave; not after `now` if at once.
    pub next_departure: Instant,
    /// The delivery rate, if the algorithm [`Needs`] it.
    pub rate: Option<RateSample>,
}

/// The rate of delivery between the sending of one segment and its ACK (draft-ietf-ccwg-bbr §4.1.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Bytes delivered in `interval`.
    pub delivered: u64,
    /// The longer of the time to send that data and the time to have it acknowledged. Zero without a valid sample; then
    /// only the other fields count.
    pub interval: Duration,
    /// Bytes that the connection had delivered when the newest segment acknowledged now was sent.
    pub prior_delivered: u64,
    /// Bytes delivered so far.
    pub total_delivered: u64,
    /// Bytes marked lost between the sending of that segment and now.
    pub lost: u64,
    /// Bytes in flight just after that segment was sent.
    pub tx_in_flight: u64,
    /// Whether the application left room in the window when that segment was sent.
    pub app_limited: bool,
    /// Whether that segment had been sent more than once.
    pub retransmitted: bool,
}

impl RateSample {
    /// Bytes a second, if the sample is valid.
    pub fn bytes_per_second(&self) -> Option<f64> {
        (!self.interval.is_zero()).then(|| self.delivered as f64 / self.interval.as_secs_f64())
    }
}

impl Ack {
    /// Whether this ACK may open the window. It must have acknowledged or reported data that counts, outside fast
    /// recovery, for a sender that used its whole window (RFC 9438 §4.6, RFC 5681 §3.1), and must not echo a mark (RFC
    /// 3168 §6.1.2).
    pub fn may_grow(&self) -> bool {
        let counts = self.newly_acked > 0 || self.duplicate && self.growth > 0.0;
        counts && self.cwnd_limited && !self.ece && self.phase != Phase::Recovery
    }
}

/// The kind of losses that a sender is repairing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// None.
    #[default]
    Open,
    /// Losses that duplicate or selective ACKs reported (fast recovery).
    Recovery,
    /// Losses after a timeout, until everything outstanding then is acknowledged.
    Loss,
}

/// The cause of an episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Duplicate or selective ACKs reported a loss.
    Loss,
    /// The retransmission timer fired for the first time for this data.
    Timeout,
    /// The retransmission timer fired again for the same data (RFC 5681 §3.1: ssthresh stays).
    RepeatedTimeout,
    /// The peer echoes a congestion mark, at most once a window (RFC 3168 §6.1.2). Nothing is repaired.
    Mark,
}

/// The start of an episode, announced once, whatever the number of lost segments.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Its time.
    pub now: Instant,
    /// Its cause.
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
    /// Its start.
    pub start: Instant,
    /// The window at the plateau in segments.
    pub w_max: f64,
    /// Time from `start` to the plateau.
    pub k: Duration,
}

/// The amount that may be in flight. Every algorithm answers it, a [`WindowBased`] one by its [`Window`].
pub trait Allowance {
    /// Bytes allowed in flight, at least one segment.
    fn window(&self) -> u64;

    /// The window in bytes at which slow start ends; `u64::MAX` before the first loss.
    fn ssthresh(&self) -> u64;

    /// Undoes the last reaction. A model of the path that did not react has nothing to undo.
    fn restore(&mut self) {}

    /// Restarts from at most `window` bytes, with `threshold` as the new least threshold. A model of the path keeps its
    /// own window.
    fn restart(&mut self, _window: u64, _threshold: u64) {}
}

/// An algorithm. One instance serves one direction of one connection.
///
/// The methods that return none by default give access to the [capabilities] that only some algorithms have.
pub trait CongestionControl: Allowance + Send {
    /// New data was acknowledged or SACKed, in recovery or not.
    fn on_ack(&mut self, ack: &Ack);

    /// An episode started.
    fn on_congestion(&mut self, event: &Congestion);

    /// The last reaction was to a spurious loss (RFC 3522, RFC 3708, RFC 5682): window and threshold return to their
    /// values before it, or more.
    fn on_undo(&mut self, _now: Instant) {
        self.restore();
    }

    /// The sender was idle for longer than a timeout, or did not use its window, or moderates it after a repair. It
    /// restarts from at most `window` bytes (RFC 5681 §4.1, RFC 2861, RFC 7661), with `threshold` as the new least
    /// threshold.
    fn on_idle(&mut self, _now: Instant, window: u64, threshold: u64) {
        self.restart(window, threshold);
    }

    /// Fast recovery ended, as all data outstanding at its start is acknowledged, or the repair after a timeout did.
    fn on_recovered(&mut self, _now: Instant) {}

    /// Slow start ends here, at the present window. An algorithm without its own slow start ignores it.
    fn leave_slow_start(&mut self) {}

    /// Whether its window applies in the present episode, in place of proportional rate reduction.
    fn refuses_prr(&self) -> bool {
        false
    }

    /// The window that rate halving leaves in fast recovery, in bytes: by default half of ssthresh (`tcp_reno_min_cwnd`
    /// of Linux 2.6).
    fn least_in_recovery(&self) -> u64 {
        self.ssthresh() / 2
    }

    /// The current cubic epoch, for algorithms that have one.
    fn epoch(&self) -> Option<Epoch> {
        None
    }

    /// Its inner state, for traces.
    fn internals(&self) -> Internals {
        Internals::default()
    }

    /// Its rate or its bursts. An algorithm that [`Needs`] `pacing` or `bursts` returns itself.
    fn departures(&self) -> Option<&dyn Departures> {
        None
    }

    /// Its observer of segments. An algorithm that [`Needs`] `rate` or `bursts` returns itself.
    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        None
    }

    /// Its segments of low priority. An algorithm that [`Needs`] `probes` returns itself.
    fn low_priority(&mut self) -> Option<&mut dyn LowPriority> {
        None
    }

    /// Its judgement of losses. An algorithm that [`Needs`] `bulk_repeat` or `patience` returns itself.
    fn diagnosis(&mut self) -> Option<&mut dyn Diagnosis> {
        None
    }

    /// The judge of its losses that stands in front of it, if there is one.
    fn loss_response(&mut self) -> Option<&mut dyn response::LossResponse> {
        None
    }

    /// Its window in somebody else's hands. An algorithm that is steered from outside of the run returns itself.
    fn steering(&mut self) -> Option<&mut dyn Steering> {
        None
    }

    /// Its failure. Only algorithms from outside can [fail](own).
    fn fault(&self) -> Option<&own::Fault> {
        None
    }
}

#[cfg(test)]
mod tests;
