//! HyStart: leave slow start before it overflows the queue, as Linux does.
//!
//! Ha, Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55(9), 2011, with the thresholds of
//! current Linux. Two signs in a round of at least `low_window` segments end slow start with ssthresh = W:
//!
//! - ACK train: ACKs that follow each other within `ack_spacing` have lasted longer than (RTTmin + 1 ms)/2 since
//!   the round began. Half, because this sender does not pace; 1 ms is Linux's bound for delays of ACKs.
//! - delay: after 8 samples, the smallest RTT of the round exceeds RTTmin by more than
//!   clamp(RTTmin/8, `delay_min`, `delay_max`).
//!
//! A round ends when what was sent last at its begin is acknowledged. RFC 9406 (HyStart++) keeps only the second
//! sign and then slows down in steps; that is another policy.

use super::parameters::{Place, Setting};
use super::{Ack, Window};
use lightlag_core::{Duration, Instant};

/// Linux's bound for how much later an ACK may come than it must.
const ACK_DELAY: Duration = Duration::from_millis(1);
/// Samples of a round before its smallest counts.
const SAMPLES: u32 = 8;

/// Parameters of [`HyStart`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Whether slow start ends early at all.
    pub on: bool,
    /// The window in segments from which on it looks, 16.
    pub low_window: f64,
    /// The most between two ACKs of a train, 2 ms.
    pub ack_spacing: Duration,
    /// Smallest rise of the RTT that ends slow start, 4 ms.
    pub delay_min: Duration,
    /// Largest rise of the RTT that is needed, 16 ms.
    pub delay_max: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            on: false,
            low_window: 16.0,
            ack_spacing: Duration::from_millis(2),
            delay_min: Duration::from_millis(4),
            delay_max: Duration::from_millis(16),
        }
    }
}

impl Config {
    /// What the ranges of single parameters do not show.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { delay_min, delay_max, .. } = self;
        if delay_min <= delay_max {
            return Ok(());
        }
        Err(format!("hystart_delay_min: {delay_min} is above hystart_delay_max, which is {delay_max}: make it smaller"))
    }
}

/// Watches the ACKs of slow start for signs of a full path.
pub struct HyStart {
    config: Config,
    round_end: Option<u64>,
    round_start: Instant,
    last_ack: Instant,
    round_rtt: Duration,
    samples: u32,
}

impl HyStart {
    /// A watch, if `config` wants one.
    pub fn new(config: &Config) -> Option<Self> {
        config.on.then_some(Self {
            config: *config,
            round_end: None,
            round_start: Instant::ZERO,
            last_ack: Instant::ZERO,
            round_rtt: Duration::MAX,
            samples: 0,
        })
    }

    /// Whether slow start should end with this ACK, at a window of `segments`.
    pub fn ends_slow_start(&mut self, ack: &Ack, segments: f64) -> bool {
        let Some(rtt) = ack.rtt.filter(|_| segments >= self.config.low_window) else { return false };
        if self.round_end.is_none_or(|end| ack.snd_una > end) {
            self.begin_round(ack);
        }
        let train = self.sees_train(ack);
        self.sees_delay(rtt, ack.min_rtt) || train
    }

    fn begin_round(&mut self, ack: &Ack) {
        self.round_end = Some(ack.snd_nxt);
        self.round_start = ack.now;
        self.last_ack = ack.now;
        self.round_rtt = Duration::MAX;
        self.samples = 0;
    }

    fn sees_train(&mut self, ack: &Ack) -> bool {
        if ack.now.since(self.last_ack) > self.config.ack_spacing {
            return false;
        }
        self.last_ack = ack.now;
        ack.now.since(self.round_start) > (ack.min_rtt + ACK_DELAY) / 2
    }

    fn sees_delay(&mut self, rtt: Duration, min_rtt: Duration) -> bool {
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = (min_rtt / 8).max(self.config.delay_min).min(self.config.delay_max);
        self.round_rtt > min_rtt + rise
    }
}

/// Ends the slow start of `window` if this ACK shows a full path.
pub fn watch(hystart: &mut Option<HyStart>, ack: &Ack, window: &mut Window) {
    if let Some(hystart) = hystart
        && window.in_slow_start()
        && hystart.ends_slow_start(ack, window.segments())
    {
        window.leave_slow_start();
    }
}

/// The configuration of an algorithm that takes this policy.
pub(super) trait Choosable {
    fn hystart(&mut self) -> &mut Config;
}

/// The parameters, for an algorithm that takes this policy.
pub(super) fn settings<C: Choosable>(default: &'static str) -> Vec<Setting<C>> {
    let most = Duration::from_secs(60);
    vec![
        Setting {
            name: "hystart",
            default,
            unit: "",
            meaning: "End slow start early, at a train of ACKs or a rise of the round-trip time (HyStart of Linux).",
            place: Place::Flag(|config| &mut config.hystart().on),
        },
        Setting {
            name: "hystart_low_window",
            default: "16",
            unit: "segments",
            meaning: "The window from which on HyStart looks.",
            place: Place::Number { at: |config| &mut config.hystart().low_window, least: 1.0, most: 1e6 },
        },
        Setting {
            name: "hystart_ack_spacing",
            default: "2 ms",
            unit: "time",
            meaning: "The most between two ACKs of a train; 0 s looks for no train.",
            place: Place::Time { at: |config| &mut config.hystart().ack_spacing, most },
        },
        Setting {
            name: "hystart_delay_min",
            default: "4 ms",
            unit: "time",
            meaning: "The smallest rise of the round-trip time that ends slow start.",
            place: Place::Time { at: |config| &mut config.hystart().delay_min, most },
        },
        Setting {
            name: "hystart_delay_max",
            default: "16 ms",
            unit: "time",
            meaning: "The largest rise of the round-trip time that is needed; between the two it is RTTmin/8.",
            place: Place::Time { at: |config| &mut config.hystart().delay_max, most },
        },
    ]
}

#[cfg(test)]
mod tests;
