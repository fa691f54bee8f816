//! What a loss is blamed on: congestion, which the congestion control answers, or corruption, which costs nothing but the
//! segment: no window, no threshold, no back-off.
//!
//! What was told counts more than what is assumed. News of corruption lasts two round trips, at least a second, and
//! excuses what left after it minus a round trip, in which an ACK may wait for a whole interval: SRTT has half of one. A
//! congestion mark within a round trip outweighs it. These lifetimes are ours: no source gives any.

use super::Sender;
use crate::config::{Config, LossAssumption};
use lightlag_core::{Duration, Instant};

/// How long news of corruption lasts, at least.
const LIFE: Duration = Duration::from_secs(1);

/// What was told of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signals {
    /// What left from here on may have been corrupted, as long as the news lasts.
    corrupted_from: Instant,
    corrupted_until: Instant,
    congested_until: Instant,
}

impl Default for Signals {
    /// Nothing.
    fn default() -> Self {
        Self { corrupted_from: Instant::MAX, corrupted_until: Instant::ZERO, congested_until: Instant::ZERO }
    }
}

impl Sender {
    /// Somebody knows that packets of this sender are corrupted on their way.
    #[cold]
    pub(crate) fn corruption_told(&mut self, now: Instant, config: &Config) {
        let srtt = self.rtt.srtt();
        let round_trip = srtt.max(self.rtt.latest()) + config.ack_interval.unwrap_or(Duration::ZERO);
        let signals = &mut self.extra.get_or_insert_default().signals;
        if now >= signals.corrupted_until {
            signals.corrupted_from = Instant::ZERO + now.since(Instant::ZERO + round_trip);
        }
        signals.corrupted_until = now + (srtt * 2).max(LIFE);
    }

    /// A congestion mark came.
    pub(crate) fn congestion_told(&mut self, now: Instant, config: &Config) {
        if config.loss_assumption == LossAssumption::Corruption || self.extra.is_some() {
            let until = now + self.rtt.srtt();
            self.extra.get_or_insert_default().signals.congested_until = until;
        }
    }

    /// Whether a loss that is found now costs nothing; the lowest segment that is lost left at `sent`.
    pub(crate) fn blames_corruption(&self, now: Instant, sent: Option<Instant>, config: &Config) -> bool {
        let assumed = config.loss_assumption == LossAssumption::Corruption;
        match self.extra.as_ref().map(|extra| extra.signals) {
            None => assumed,
            Some(signals) if now < signals.congested_until => false,
            Some(signals) => {
                let told = now < signals.corrupted_until && sent.is_some_and(|sent| sent >= signals.corrupted_from);
                told || assumed
            }
        }
    }
}
