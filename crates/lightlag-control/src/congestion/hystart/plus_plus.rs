//! HyStart++: slow start becomes slower when the round-trip time rises, and resumes if the rise was only jitter.
//!
//! RFC 9406 §4.2, with the constants of §4.3. For each ACK that counts for `acked` segments, W in segments:
//!
//! - slow start: W += min(acked, L), L = 8 (without bound for a sender that paces: `hystart_limit`);
//! - after 8 samples of a round, if its smallest RTT is at least R + clamp(R/8, 4 ms, 16 ms), R being the smallest RTT
//!   of the previous round: conservative slow start (CSS), with the smallest RTT of the round as the baseline;
//! - CSS: W += min(acked, L)/4; after 8 samples of a round whose smallest RTT is below the baseline, back to slow
//!   start; after 5 rounds, including the one in which it started, ssthresh = W.
//!
//! A loss or a mark ends slow start and CSS, and the algorithm reacts as usual. HyStart++ applies only to the first
//! slow start, while ssthresh is still infinite (§4.3). A round ends when the last segment sent at its start is
//! acknowledged.

use super::{Config, HystartParameters, Policy, SAMPLES};
use crate::congestion::{Ack, Window};
use lightlag_core::Duration;

/// State of HyStart++ in the first slow start.
pub struct PlusPlus {
    rules: HystartParameters,
    /// Threshold of the first slow start, in segments. Once it has changed, HyStart++ no longer applies.
    first_threshold: f64,
    round_end: Option<u64>,
    /// Smallest samples of the last round and of the current one; [`Duration::MAX`] if there is none.
    last: Duration,
    current: Duration,
    samples: u32,
    conservative: Option<Conservative>,
}

/// State of conservative slow start.
struct Conservative {
    baseline: Duration,
    rounds: f64,
}

impl PlusPlus {
    /// Creates the state before the first ACK, for a window with this threshold.
    pub fn new(config: &Config, first_threshold: f64) -> Self {
        Self {
            rules: HystartParameters::new(config),
            first_threshold,
            round_end: None,
            last: Duration::MAX,
            current: Duration::MAX,
            samples: 0,
            conservative: None,
        }
    }

    /// Grows `window` as [`SlowStart::grow`](crate::congestion::SlowStart::grow) does.
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
