//! HyStart++: slow start slows down in steps when the round-trip time rises, and resumes if that was jitter.
//!
//! RFC 9406 §4.2, with the constants of §4.3. In segments, for each ACK that counts `acked` of them:
//!
//! - slow start: W += min(acked, L), L = 8 (without bound for a sender that paces: `hystart_limit`);
//! - after 8 samples of a round, if its smallest RTT is at least that of the round before plus clamp(that/8, 4 ms, 16
//!   ms): conservative slow start (CSS), with the smallest RTT of the round as the baseline;
//! - CSS: W += min(acked, L)/4; after 8 samples of a round whose smallest RTT is below the baseline, back to slow
//!   start; after 5 rounds, including the one in which it started, ssthresh = W.
//!
//! A loss or a mark ends both, with the reaction of the algorithm. §4.3: this applies only to the first slow start,
//! while ssthresh is still infinite. A round ends when the last segment sent at its start is acknowledged.

use super::{Config, Policy, Rules, SAMPLES};
use crate::congestion::{Ack, Window};
use lightlag_core::Duration;

/// The round trips of the first slow start.
pub struct PlusPlus {
    rules: Rules,
    /// The threshold of the first slow start, in segments.
    first_threshold: f64,
    round_end: Option<u64>,
    /// Smallest samples of the last round and of the current one; [`Duration::MAX`] without any.
    last: Duration,
    current: Duration,
    samples: u32,
    conservative: Option<Conservative>,
}

/// Conservative slow start.
struct Conservative {
    baseline: Duration,
    rounds: f64,
}

impl PlusPlus {
    /// A new watch, before the first ACK, of a window with this threshold.
    pub fn new(config: &Config, first_threshold: f64) -> Self {
        Self {
            rules: Rules::new(config),
            first_threshold,
            round_end: None,
            last: Duration::MAX,
            current: Duration::MAX,
            samples: 0,
            conservative: None,
        }
    }

    /// Lets `window` grow, as [`SlowStart::grow`](crate::congestion::SlowStart::grow).
    pub fn grow(&mut self, ack: &Ack, window: &mut Window, acked: f64, each: f64) -> f64 {
        if window.threshold() != self.first_threshold {
            return window.slow_start(acked, each);
        }
        self.sample(ack);
        self.end_round(ack, window);
        if !window.in_slow_start() {
            return acked;
        }
        let rules = self.rules.of(Policy::PlusPlus);
        let divisor = if self.conservative.is_some() { rules.css_divisor } else { 1.0 };
        window.slow_start(acked.min(rules.limit), each / divisor)
    }

    fn sample(&mut self, ack: &Ack) {
        self.round_end.get_or_insert(ack.snd_nxt);
        let Some(rtt) = ack.rtt else { return };
        self.current = self.current.min(rtt);
        self.samples += 1;
        if self.samples < u32::from(SAMPLES) {
            return;
        }
        let rules = self.rules.of(Policy::PlusPlus);
        match &self.conservative {
            Some(css) if self.current < css.baseline => self.conservative = None,
            Some(_) => {}
            None if self.last < Duration::MAX && self.current >= self.last + rules.rise(self.last) => {
                self.conservative = Some(Conservative { baseline: self.current, rounds: 0.0 });
            }
            None => {}
        }
    }

    fn end_round(&mut self, ack: &Ack, window: &mut Window) {
        if self.round_end.is_none_or(|end| ack.snd_una < end) {
            return;
        }
        self.round_end = Some(ack.snd_nxt);
        self.last = self.current;
        self.current = Duration::MAX;
        self.samples = 0;
        if let Some(css) = &mut self.conservative {
            css.rounds += 1.0;
            if css.rounds >= self.rules.of(Policy::PlusPlus).css_rounds {
                window.leave_slow_start();
            }
        }
    }
}

#[cfg(test)]
mod tests;
