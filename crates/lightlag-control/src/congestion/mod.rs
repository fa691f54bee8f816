//! Congestion control: how much may be in flight, and how fast it may leave.
//!
//! The recovery of the transport decides what was lost and announces episodes; an algorithm here only answers
//! with a window and, if it paces, a rate. It never transmits, and nothing else changes its window.
//!
//! An algorithm is one file and one line of the [`registry`]. The window-based ones share a [`Window`] and may take
//! [`hystart`] for their slow start; those that decide once a round trip share a [`round::Round`].

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
pub mod jersey;
pub mod ledbat;
pub mod new_reno;
pub mod none;
pub mod noordwijk;
mod parameters;
mod path_model;
pub mod peach;
pub mod registry;
pub mod reno;
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

pub use capabilities::{Departures, Diagnosis, LEAST_BURST, Lost, LowPriority, Probing, Release, Sent, Transmissions};
pub use parameters::Parameter;
pub use registry::{Choice, Entry, Provenance, UnknownAlgorithm, build, canonical, catalog};
pub use slow_start::SlowStart;
pub use window::{Window, WindowBased};

use lightlag_core::{Duration, Instant};

/// What an algorithm knows when its connection begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Payload of a full segment in bytes.
    pub segment_size: u64,
    /// Initial window in segments.
    pub initial_window: u64,
    /// The round-trip time of the handshake, or the one that is known of the route.
    pub rtt: Option<Duration>,
    /// What the route is known to hold in bytes of payload: slow start ends there.
    pub pipe: Option<u64>,
    /// The first slow-start threshold in segments, where one is set.
    pub ssthresh: Option<u32>,
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
    /// The seed of what the algorithm draws at random, different for each connection.
    pub seed: u64,
}

/// The needs of an algorithm beyond its ACKs, declared by its configuration: [`Choice::needs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// [`Ack::rate`] and both calls of [`Transmissions`].
    pub rate: bool,
    /// Its [`Departures::pacing_rate`] is asked for each segment.
    pub pacing: bool,
    /// Its window holds during fast recovery, too: no proportional rate reduction, no inflation.
    pub own_recovery: bool,
    /// After a loss everything outstanding leaves again under slow start, as after a timeout (Tahoe).
    pub restart_on_loss: bool,
    /// Congestion marks are echoed as they come, and all packets can carry them (RFC 8257).
    pub exact_marks: bool,
    /// Segments of low priority leave when [`LowPriority::next_probe`] says so.
    pub probes: Probes,
    /// It sends in bursts: [`Departures::release`] says what may leave, and the window does not count. It is told by
    /// [`Transmissions::on_sent`] what left.
    pub bursts: bool,
    /// [`Diagnosis::blames_errors`] is asked after each loss and timeout.
    pub bulk_repeat: bool,
    /// [`Diagnosis::bears_silence`] is asked when a timeout is due and no sign of a loss has come.
    pub patience: bool,
}

impl Needs {
    /// Its ACKs are enough.
    pub const NONE: Self = Self {
        rate: false,
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

/// What the segments of low priority copy that a sender adds for its algorithm. They take no part in the repair: they are
/// not in flight, never lost and never sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Probes {
    /// There are none.
    #[default]
    None,
    /// The data that left last: the dummy segments of TCP Peach.
    Last,
    /// All that is not acknowledged, in turns, so that they repair as well: the NIL segments of TCP Peach+.
    Outstanding,
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
    /// Data marked as lost by this ACK.
    pub newly_lost: u64,
    /// Of the data delivered now, what the feedback says was marked with CE (RFC 3168, RFC 8257, RFC 9768).
    pub newly_marked: u64,
    /// Whether it is a duplicate ACK (RFC 5681 §2; with SACK one that reports new data, RFC 6675 §2).
    pub duplicate: bool,
    /// Whether the peer still echoes a mark (ECE, RFC 3168 §6.1.2): the window does not grow.
    pub ece: bool,
    /// How long the newest data took one way, by timestamps, in ticks of 1 ms. The clocks differ by a constant, so
    /// only differences between two of these mean anything.
    pub one_way: Option<Duration>,
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
    /// When pacing lets the next segment leave; not after `now` if at once.
    pub next_departure: Instant,
    /// The delivery rate, for an algorithm that [`Needs`] it.
    pub rate: Option<RateSample>,
}

/// How fast data was delivered between the sending of one segment and its ACK (draft-ietf-ccwg-bbr §4.1.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Bytes delivered in `interval`.
    pub delivered: u64,
    /// The longer of the time to send that data and the time to have it acknowledged. Zero if there is no valid
    /// sample: then only the other fields count.
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
    /// Whether this ACK may open the window: it acknowledged data, or reported some that counts, outside fast recovery, of
    /// a sender that used its whole window (RFC 9438 §4.6, RFC 5681 §3.1), and no mark is echoed (RFC 3168 §6.1.2).
    pub fn may_grow(&self) -> bool {
        let counts = self.newly_acked > 0 || self.duplicate && self.growth > 0.0;
        counts && self.cwnd_limited && !self.ece && self.phase != Phase::Recovery
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
    /// The peer echoes a congestion mark, at most once a window (RFC 3168 §6.1.2). Nothing is repaired.
    Mark,
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

/// How much may be in flight. Every algorithm answers it: a [`WindowBased`] one by its [`Window`].
pub trait Allowance {
    /// Bytes allowed in flight. Never below one segment.
    fn window(&self) -> u64;

    /// Slow start ends when the window reaches this, in bytes; `u64::MAX` before the first loss.
    fn ssthresh(&self) -> u64;

    /// Takes the last reaction back. A model of the path that did not react has nothing to take back.
    fn restore(&mut self) {}

    /// Starts again from at most `window` bytes, with `threshold` as the new least threshold. A model of the path keeps its
    /// own window.
    fn restart(&mut self, _window: u64, _threshold: u64) {}
}

/// An algorithm. One instance serves one direction of one connection.
///
/// The methods that come back empty are doors to the [capabilities] that only some algorithms have.
pub trait CongestionControl: Allowance + Send {
    /// New data was acknowledged or SACKed, in recovery or not.
    fn on_ack(&mut self, ack: &Ack);

    /// An episode began.
    fn on_congestion(&mut self, event: &Congestion);

    /// The last reaction was to a loss that was none (RFC 3522, RFC 3708, RFC 5682): window and threshold are
    /// again what they were before it, or more.
    fn on_undo(&mut self, _now: Instant) {
        self.restore();
    }

    /// Nothing was sent for longer than a timeout, or the window was not used, or it is moderated after a repair: it starts
    /// again from at most `window` bytes (RFC 5681 §4.1, RFC 2861, RFC 7661), with `threshold` as the new least threshold.
    fn on_idle(&mut self, _now: Instant, window: u64, threshold: u64) {
        self.restart(window, threshold);
    }

    /// Fast recovery ended, everything outstanding at its start is acknowledged; or the repair after a timeout.
    fn on_recovered(&mut self, _now: Instant) {}

    /// Slow start ends here, at the present window. An algorithm that has none of its own ignores it.
    fn leave_slow_start(&mut self) {}

    /// Whether its window holds in the present episode: no proportional rate reduction takes its place.
    fn refuses_prr(&self) -> bool {
        false
    }

    /// The window that rate halving leaves in fast recovery, in bytes: half of ssthresh (`tcp_reno_min_cwnd` of Linux 2.6),
    /// where the algorithm has no more of its own.
    fn least_in_recovery(&self) -> u64 {
        self.ssthresh() / 2
    }

    /// The current cubic epoch, for algorithms that have one.
    fn epoch(&self) -> Option<Epoch> {
        None
    }

    /// Its rate or its bursts, if it has its own. An algorithm that [`Needs`] `pacing` or `bursts` has.
    fn departures(&self) -> Option<&dyn Departures> {
        None
    }

    /// Its ear for each segment. An algorithm that [`Needs`] `rate` or `bursts` has one.
    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        None
    }

    /// Its segments of low priority. An algorithm that [`Needs`] `probes` has them.
    fn low_priority(&mut self) -> Option<&mut dyn LowPriority> {
        None
    }

    /// Its judgement of losses. An algorithm that [`Needs`] `bulk_repeat` or `patience` has one.
    fn diagnosis(&mut self) -> Option<&mut dyn Diagnosis> {
        None
    }
}

#[cfg(test)]
mod tests;
