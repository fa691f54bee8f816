//! HyStart: ends slow start before it overflows the queue, as in Linux.
//!
//! Ha, Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55(9), 2011, with the thresholds of current
//! Linux. For W ≥ `low_window`, either of two signs in a round ends slow start with ssthresh = W:
//!
//! - ACK train: ACKs at most `ack_spacing` apart have lasted longer than (RTTmin + 1 ms)/2 since the start of the
//!   round; 1 ms is Linux's bound for the delay of an ACK. A sender that paces spreads its window, so the time is not
//!   halved for it.
//! - delay: after 8 samples, the smallest RTT of the round exceeds RTTmin by more than
//!   clamp(RTTmin/8, `delay_min`, `delay_max`).
//!
//! A round ends when the last segment sent at its start is acknowledged; the first round starts with the first ACK. A
//! timeout also starts a round, which ends when all data that was outstanding then is acknowledged; RTTmin is measured
//! again after the timeout, so that the delay due to an outage does not look like a queue if the timeout is undone
//! (`cubictcp_state`). Linux from 2021 to 6.13 started the first round at the low window, in the middle of a flight,
//! and so ended slow start a round too early on long paths (`late_rounds`; the versions are from memory, both
//! behaviours were seen: in a 6.18 kernel, and in packet scripts for older ones).
//!
//! [`plus_plus`] is HyStart++ of RFC 9406, and [`search`] is SEARCH.

use super::{Ack, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit, words};
use search::{SearchExit, SearchReference};

pub mod plus_plus;
pub mod search;

/// Linux's bound for the delay of an ACK.
const ACK_DELAY: Duration = Duration::from_millis(1);
/// Minimum number of samples in a round before the smallest one counts.
const SAMPLES: u8 = 8;

words! {
    /// The condition that ends slow start before a loss.
    pub enum Policy {
        /// Never (RFC 5681 §3.1).
        Standard = "standard",
        /// A train of ACKs, or a rise of the round-trip time: [`HyStart`].
        HyStart = "hystart",
        /// In steps, after a rise of the round-trip time: [`plus_plus`].
        PlusPlus = "hystart++",
        /// When fewer bytes are delivered than were sent a round-trip time earlier: [`search`].
        Search = "search",
    }
}

/// Parameters of slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Condition that ends slow start before a loss.
    pub policy: Policy,
    /// HyStart: minimum window in segments for the examination of ACKs. Default: 16.
    pub low_window: f64,
    /// HyStart: whether rounds start at the low window, as in Linux from 2021 to 6.13, and not with the first ACK.
    pub late_rounds: bool,
    /// HyStart: maximum time between two ACKs of a train. Default: 2 ms.
    pub ack_spacing: Duration,
    /// HyStart and HyStart++: the rise of the RTT that counts is at least this. Default: 4 ms.
    pub delay_min: Duration,
    /// HyStart and HyStart++: the rise of the RTT that counts is at most this. Default: 16 ms.
    pub delay_max: Duration,
    /// HyStart++: L, the maximum number of segments that one ACK counts for. Default: 8.
    pub limit: f64,
    /// HyStart++: divisor of the growth in conservative slow start. Default: 4.
    pub css_divisor: f64,
    /// HyStart++: number of rounds of conservative slow start. Default: 5.
    pub css_rounds: f64,
    /// SEARCH: length of the window in initial round-trip times. Default: 3.5.
    pub search_window: f64,
    /// SEARCH: bytes that should have been delivered.
    pub search_reference: SearchReference,
    /// SEARCH: relative difference of expected and delivered bytes that ends slow start. Default: 0.26.
    pub search_threshold: f64,
    /// SEARCH: window after the exit.
    pub search_exit: SearchExit,
    /// SEARCH: number of acknowledged segments for each segment sent while the queue drains. Default: 16.
    pub search_drain: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self::of(Policy::Standard)
    }
}

impl Config {
    /// Returns the defaults of `policy`.
    pub const fn of(policy: Policy) -> Self {
        Self {
            policy,
            low_window: 16.0,
            late_rounds: false,
            ack_spacing: Duration::from_millis(2),
            delay_min: Duration::from_millis(4),
            delay_max: Duration::from_millis(16),
            limit: 8.0,
            css_divisor: 4.0,
            css_rounds: 5.0,
            search_window: 3.5,
            search_reference: SearchReference::Sent,
            search_threshold: SearchReference::Sent.threshold(),
            search_exit: SearchExit::Drain,
            search_drain: 16.0,
        }
    }

    /// Returns the rise over `rtt` that counts: an eighth of `rtt`, within the two bounds.
    fn rise(&self, rtt: Duration) -> Duration {
        (rtt / 8).max(self.delay_min).min(self.delay_max)
    }

    /// Checks conditions that the ranges of single parameters cannot express.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { delay_min, delay_max, .. } = self;
        if delay_min <= delay_max {
            return Ok(());
        }
        Err(format!("hystart_delay_min: {delay_min} is above hystart_delay_max, which is {delay_max}: reduce it"))
    }
}

/// The defaults of each policy; connections that use them share this copy.
static DEFAULTS: [Config; 4] = [
    Config::of(Policy::Standard),
    Config::of(Policy::HyStart),
    Config::of(Policy::PlusPlus),
    Config::of(Policy::Search),
];

/// The parameters of one connection; `None` if they are the defaults.
struct HystartParameters(Option<Box<Config>>);

impl HystartParameters {
    fn new(config: &Config) -> Self {
        Self((*config != DEFAULTS[config.policy as usize]).then(|| Box::new(*config)))
    }

    /// Returns the parameters of a connection that has this policy.
    #[inline]
    fn of(&self, policy: Policy) -> &Config {
        self.0.as_deref().unwrap_or(&DEFAULTS[policy as usize])
    }
}

/// HyStart: examines the ACKs of slow start for signs of a full path.
pub struct HyStart {
    rules: HystartParameters,
    round_end: u64,
    round_start: Instant,
    last_ack: Instant,
    round_rtt: Duration,
    samples: u8,
    /// Whether a round has started since the connection started.
    started: bool,
    /// Whether a timeout started the round, whose end is set by the next ACK.
    timed_out: bool,
    /// Whether the sender paces.
    paces: bool,
    /// Smallest round-trip time since the last timeout in seconds; an `f32`, as it is half the size of a duration.
    min_rtt_s: f32,
}

impl HyStart {
    /// Creates the state before the first ACK, for a sender that paces or does not.
    pub fn new(config: &Config, paces: bool) -> Self {
        Self {
            rules: HystartParameters::new(config),
            round_end: 0,
            round_start: Instant::ZERO,
            last_ack: Instant::ZERO,
            round_rtt: Duration::MAX,
            samples: 0,
            started: false,
            timed_out: false,
            paces,
            min_rtt_s: f32::INFINITY,
        }
    }

    /// Starts a round after a timeout.
    pub fn time_out(&mut self, now: Instant) {
        self.begin_round(now, u64::MAX);
        self.timed_out = true;
        self.min_rtt_s = f32::INFINITY;
    }

    /// Ends the slow start of `window` if this ACK indicates a full path.
    pub fn watch(&mut self, ack: &Ack, window: &mut Window) {
        if self.ends_slow_start(ack, window.segments()) {
            window.leave_slow_start();
        }
    }

    /// Returns true if slow start should end with this ACK, at a window of `segments`.
    pub fn ends_slow_start(&mut self, ack: &Ack, segments: f64) -> bool {
        let Some((rtt, min_rtt)) = self.follow(ack, segments) else { return false };
        let train = self.sees_train(ack.now, min_rtt);
        self.sees_delay(rtt, min_rtt) || train
    }

    /// Counts rounds. Returns the sample of this ACK and the smallest one, if the window of `segments` is examined.
    #[inline]
    pub(super) fn follow(&mut self, ack: &Ack, segments: f64) -> Option<(Duration, Duration)> {
        if self.timed_out && self.round_end == u64::MAX {
            self.round_end = ack.snd_nxt;
        }
        let rtt = ack.rtt?;
        let min_rtt = if self.timed_out { self.min_since_timeout(rtt) } else { ack.min_rtt };
        let rules = self.rules.of(Policy::HyStart);
        let small = segments < rules.low_window;
        // Rounds that start at the low window start amid a flight, and see the queue of its second half.
        if !(small && rules.late_rounds) && (!self.started || ack.snd_una > self.round_end) {
            self.begin_round(ack.now, ack.snd_nxt);
        }
        (!small).then_some((rtt, min_rtt))
    }

    /// Returns the start of the round, and the smallest round-trip time in it.
    pub(super) fn round(&self) -> (Instant, Duration) {
        (self.round_start, self.round_rtt)
    }

    /// Adds this sample. Returns the smallest round-trip time since the timeout.
    #[cold]
    fn min_since_timeout(&mut self, rtt: Duration) -> Duration {
        self.min_rtt_s = self.min_rtt_s.min(rtt.as_secs_f64() as f32);
        Duration::from_secs_f64(f64::from(self.min_rtt_s))
    }

    fn begin_round(&mut self, now: Instant, end: u64) {
        self.started = true;
        self.round_end = end;
        self.round_start = now;
        self.last_ack = now;
        self.round_rtt = Duration::MAX;
        self.samples = 0;
    }

    fn sees_train(&mut self, now: Instant, min_rtt: Duration) -> bool {
        self.extends_train(now) && now.since(self.round_start) > self.longest_train(min_rtt)
    }

    /// Returns the maximum length of a train of ACKs on a path that is not full.
    pub(super) fn longest_train(&self, min_rtt: Duration) -> Duration {
        let longest = min_rtt + ACK_DELAY;
        if self.paces { longest } else { longest / 2 }
    }

    /// Returns true if an ACK at this time belongs to the train that started with the round.
    pub(super) fn extends_train(&mut self, now: Instant) -> bool {
        if now.since(self.last_ack) > self.rules.of(Policy::HyStart).ack_spacing {
            return false;
        }
        self.last_ack = now;
        true
    }

    pub(super) fn sees_delay(&mut self, rtt: Duration, min_rtt: Duration) -> bool {
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.round_rtt > min_rtt + self.rules.of(Policy::HyStart).rise(min_rtt)
    }
}

/// Returns the settings of slow start, for an algorithm whose slow start is `default` unless it is set.
pub(super) fn settings(default: &'static str) -> Vec<Setting<Config>> {
    let max = Duration::from_secs(60);
    vec![
        Setting::choice("slow_start", |of: &mut Config| &mut of.policy, "a value").by_default(default).about(
            "End of slow start before a loss: none in standard; a train of ACKs or a rise of the round-trip time in hystart \
             (Linux); a rise, followed by conservative slow start, in hystart++ (RFC 9406); a delivery rate that stops \
             growing in search (draft-chung-ccwg-search).",
        ),
        Setting::quantity("hystart_low_window", |of: &mut Config| &mut of.low_window, Unit::Plain, 1.0, 1e6)
            .unit("segments")
            .about("HyStart: minimum window for an end of slow start."),
        Setting::flag("hystart_late_rounds", |of: &mut Config| &mut of.late_rounds).about(
            "HyStart: rounds start at the low window, amid a flight, as in Linux from 2021 to 6.13; otherwise with the \
             first ACK.",
        ),
        Setting::time_up_to("hystart_ack_spacing", |of: &mut Config| &mut of.ack_spacing, max)
            .about("HyStart: maximum interval between two ACKs of a train; 0 s disables the search for trains."),
        Setting::time_up_to("hystart_delay_min", |of: &mut Config| &mut of.delay_min, max)
            .about("Both: minimum threshold for the rise of the round-trip time."),
        Setting::time_up_to("hystart_delay_max", |of: &mut Config| &mut of.delay_max, max)
            .about("Both: maximum threshold for that rise; between the two bounds it is an eighth of the round-trip time."),
        Setting::quantity("hystart_limit", |of: &mut Config| &mut of.limit, Unit::Plain, 1.0, 1e9)
            .unit("segments")
            .about("HyStart++: L, the maximum count of one ACK; RFC 9406 has no maximum for a sender that paces."),
        Setting::quantity("hystart_css_divisor", |of: &mut Config| &mut of.css_divisor, Unit::Plain, 1.0, 1000.0)
            .about("HyStart++: divisor of the growth in conservative slow start."),
        Setting::quantity("hystart_css_rounds", |of: &mut Config| &mut of.css_rounds, Unit::Plain, 1.0, 1000.0)
            .unit("round trips")
            .about("HyStart++: number of rounds of conservative slow start."),
        Setting::quantity("search_window", |of: &mut Config| &mut of.search_window, Unit::Plain, 1.0, 100.0)
            .unit("round trips")
            .about("SEARCH: length of the window, which has 10 bins."),
        Setting::choice("search_reference", |of: &mut Config| &mut of.search_reference, "a value")
            .implies(|of| of.search_threshold = of.search_reference.threshold())
            .about(
                "SEARCH: bytes expected in the window: those sent a round-trip time earlier (draft -09), or twice those \
                 delivered a round-trip time earlier (earlier drafts).",
            ),
        Setting::quantity("search_threshold", |of: &mut Config| &mut of.search_threshold, Unit::Plain, 0.01, 0.5)
            .by_default("0.26; 0.35 if search_reference is delivered")
            .about("SEARCH: missing fraction of the expected bytes that ends slow start."),
        Setting::choice("search_exit", |of: &mut Config| &mut of.search_exit, "a value").about(
            "SEARCH: window after the exit: the bytes delivered in an initial round-trip time, reached by draining the \
             queue; the window less the bytes of two round trips (rollback, earlier drafts); or unchanged (keep).",
        ),
        Setting::quantity("search_drain", |of: &mut Config| &mut of.search_drain, Unit::Plain, 1.0, 1e6)
            .unit("segments")
            .about("SEARCH: acknowledged segments for each segment that is sent while the queue drains."),
    ]
}

#[cfg(test)]
mod tests;
