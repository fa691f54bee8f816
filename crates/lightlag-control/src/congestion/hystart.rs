//! HyStart: leaves slow start before it overflows the queue, as in Linux.
//!
//! Ha, Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55(9), 2011, with the thresholds of current
//! Linux. From `low_window` segments on, two signs in a round end slow start with ssthresh = W:
//!
//! - ACK train: ACKs at most `ack_spacing` apart have lasted longer than (RTTmin + 1 ms)/2 since the start of the
//!   round. Half, because this sender does not pace; 1 ms is Linux's bound for delays of ACKs.
//! - delay: after 8 samples, the smallest RTT of the round exceeds RTTmin by more than
//!   clamp(RTTmin/8, `delay_min`, `delay_max`).
//!
//! A round ends when the last segment sent at its start is acknowledged; the first round starts with the first ACK.
//! A timeout starts one, too, which ends when all data that was outstanding then is acknowledged; RTTmin is measured anew
//! from there on, so that an outage which is undone does not look like a queue (`cubictcp_state`).
//! Linux from 2021 to 6.13 started it at the low window, amid a flight, and so ended slow start a round too early on
//! long paths (`late_rounds`; the versions are from memory, both behaviours were seen: in a 6.18 kernel, and in packet
//! scripts for older ones).
//!
//! [`plus_plus`] is the other policy of this name, RFC 9406's.

use super::{Ack, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

pub mod plus_plus;

/// Linux's bound for the delay of an ACK.
const ACK_DELAY: Duration = Duration::from_millis(1);
/// Samples of a round before its smallest counts.
const SAMPLES: u8 = 8;

/// The condition that ends slow start before a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Never (RFC 5681 §3.1).
    #[default]
    Standard,
    /// A train of ACKs or a rise of the round-trip time: [`HyStart`].
    HyStart,
    /// In steps after a rise of the round-trip time: [`plus_plus`].
    PlusPlus,
}

impl Policy {
    const ALL: [Self; 3] = [Self::Standard, Self::HyStart, Self::PlusPlus];
    const NAMES: [&'static str; 3] = ["standard", "hystart", "hystart++"];

    /// Its name in a scenario.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Parameters of a slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The condition that ends it before a loss.
    pub policy: Policy,
    /// HyStart: the least window in segments that is examined, 16.
    pub low_window: f64,
    /// HyStart: whether rounds start at the low window, not at the first ACK, as in Linux from 2021 to 6.13.
    pub late_rounds: bool,
    /// HyStart: the longest time between two ACKs of a train, 2 ms.
    pub ack_spacing: Duration,
    /// Both: the smallest rise of the RTT that counts, 4 ms.
    pub delay_min: Duration,
    /// Both: the largest rise of the RTT that is required, 16 ms.
    pub delay_max: Duration,
    /// HyStart++: L, the most segments that one ACK counts for, 8.
    pub limit: f64,
    /// HyStart++: conservative slow start has one part in this many of slow start's growth, 4.
    pub css_divisor: f64,
    /// HyStart++: the rounds of conservative slow start, 5.
    pub css_rounds: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self::of(Policy::Standard)
    }
}

impl Config {
    /// The defaults of `policy`.
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
        }
    }

    /// The rise over `rtt` that counts: an eighth of it, within the two bounds.
    fn rise(&self, rtt: Duration) -> Duration {
        (rtt / 8).max(self.delay_min).min(self.delay_max)
    }

    /// Checks conditions that the ranges of single parameters cannot express.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { delay_min, delay_max, .. } = self;
        if delay_min <= delay_max {
            return Ok(());
        }
        Err(format!("hystart_delay_min: {delay_min} is above hystart_delay_max, which is {delay_max}: make it smaller"))
    }
}

/// The defaults of each policy, which stand in memory once.
static DEFAULTS: [Config; 3] =
    [Config::of(Policy::Standard), Config::of(Policy::HyStart), Config::of(Policy::PlusPlus)];

/// The parameters of one connection, if they are not the defaults.
struct Rules(Option<Box<Config>>);

impl Rules {
    fn new(config: &Config) -> Self {
        Self((*config != DEFAULTS[config.policy as usize]).then(|| Box::new(*config)))
    }

    /// The parameters of a connection with this policy.
    #[inline]
    fn of(&self, policy: Policy) -> &Config {
        self.0.as_deref().unwrap_or(&DEFAULTS[policy as usize])
    }
}

/// Watches the ACKs of slow start for signs of a full path.
pub struct HyStart {
    rules: Rules,
    round_end: u64,
    round_start: Instant,
    last_ack: Instant,
    round_rtt: Duration,
    samples: u8,
    /// Whether there was a round.
    started: bool,
    /// A timeout started the round; its end follows with the next ACK.
    timed_out: bool,
    /// The smallest round-trip time since the last timeout, in seconds: half the size of a duration.
    min_rtt_s: f32,
}

impl HyStart {
    /// A new watch, before the first ACK.
    pub fn new(config: &Config) -> Self {
        Self {
            rules: Rules::new(config),
            round_end: 0,
            round_start: Instant::ZERO,
            last_ack: Instant::ZERO,
            round_rtt: Duration::MAX,
            samples: 0,
            started: false,
            timed_out: false,
            min_rtt_s: f32::INFINITY,
        }
    }

    /// Starts a round with a timeout.
    pub fn time_out(&mut self, now: Instant) {
        self.begin_round(now, u64::MAX);
        self.timed_out = true;
        self.min_rtt_s = f32::INFINITY;
    }

    /// Ends the slow start of `window` if this ACK shows a full path.
    pub fn watch(&mut self, ack: &Ack, window: &mut Window) {
        if self.ends_slow_start(ack, window.segments()) {
            window.leave_slow_start();
        }
    }

    /// Whether slow start should end with this ACK, at a window of `segments`.
    pub fn ends_slow_start(&mut self, ack: &Ack, segments: f64) -> bool {
        if self.timed_out && self.round_end == u64::MAX {
            self.round_end = ack.snd_nxt;
        }
        let Some(rtt) = ack.rtt else { return false };
        let min_rtt = if self.timed_out { self.min_since_timeout(rtt) } else { ack.min_rtt };
        let rules = self.rules.of(Policy::HyStart);
        let small = segments < rules.low_window;
        // Rounds that start at the low window start amid a flight, and see the queue of its second half.
        if !(small && rules.late_rounds) && (!self.started || ack.snd_una > self.round_end) {
            self.begin_round(ack.now, ack.snd_nxt);
        }
        if small {
            return false;
        }
        let train = self.sees_train(ack.now, min_rtt);
        self.sees_delay(rtt, min_rtt) || train
    }

    /// The smallest round-trip time since the timeout, after this sample.
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
        if now.since(self.last_ack) > self.rules.of(Policy::HyStart).ack_spacing {
            return false;
        }
        self.last_ack = now;
        now.since(self.round_start) > (min_rtt + ACK_DELAY) / 2
    }

    fn sees_delay(&mut self, rtt: Duration, min_rtt: Duration) -> bool {
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.round_rtt > min_rtt + self.rules.of(Policy::HyStart).rise(min_rtt)
    }
}

/// The configuration of an algorithm that has a slow start.
pub(super) trait Choosable {
    fn hystart(&mut self) -> &mut Config;
}

/// The parameters, for an algorithm that has a slow start; `default` is its policy.
pub(super) fn settings<C: Choosable + Clone>(default: &'static str) -> Vec<Setting<C>> {
    let most = Duration::from_secs(60);
    vec![
        Setting::word("slow_start", "a value", &Policy::NAMES, |config: &C| config.clone().hystart().policy as usize, |config: &mut C, word| config.hystart().policy = Policy::ALL[word]).by_default(default).about("When slow start ends before a loss: never in standard, at a train of ACKs or a rise of the \
                      round-trip time in hystart (Linux), in steps after such a rise in hystart++ (RFC 9406)."),
        Setting::quantity("hystart_low_window", |config: &mut C| &mut config.hystart().low_window, Unit::Plain, 1.0, 1e6).by_default("16").unit("segments").about("HyStart: the window from which on it looks."),
        Setting::flag("hystart_late_rounds", |config: &mut C| &mut config.hystart().late_rounds).by_default("false").about("HyStart: rounds count from the low window on and begin amid a flight, as in Linux from 2021 to 6.13; else \
                      from the first ACK on."),
        Setting::time_up_to("hystart_ack_spacing", |config: &mut C| &mut config.hystart().ack_spacing, most).by_default("2 ms").unit("time").about("HyStart: the most between two ACKs of a train; 0 s looks for no train."),
        Setting::time_up_to("hystart_delay_min", |config: &mut C| &mut config.hystart().delay_min, most).by_default("4 ms").unit("time").about("Both: the smallest rise of the round-trip time that counts."),
        Setting::time_up_to("hystart_delay_max", |config: &mut C| &mut config.hystart().delay_max, most).by_default("16 ms").unit("time").about("Both: the largest rise of the round-trip time that is needed; between the two it is an eighth."),
        Setting::quantity("hystart_limit", |config: &mut C| &mut config.hystart().limit, Unit::Plain, 1.0, 1e9).by_default("8").unit("segments").about("HyStart++: L, the most that one ACK counts for; RFC 9406 has none for a sender that paces."),
        Setting::quantity("hystart_css_divisor", |config: &mut C| &mut config.hystart().css_divisor, Unit::Plain, 1.0, 1000.0).by_default("4").about("HyStart++: conservative slow start grows by one part in so many of what slow start does."),
        Setting::quantity("hystart_css_rounds", |config: &mut C| &mut config.hystart().css_rounds, Unit::Plain, 1.0, 1000.0).by_default("5").unit("round trips").about("HyStart++: so many rounds of conservative slow start end it."),
    ]
}

#[cfg(test)]
mod tests;
