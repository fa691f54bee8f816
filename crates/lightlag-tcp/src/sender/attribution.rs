//! The cause of a loss: congestion, to which the congestion control reacts, or corruption, which costs only the
//! segment: no window, no threshold, no back-off.
//!
//! A loss response of a user may take the place of an assumption. Reports override both. News of corruption lasts two round trips, at least a second, and excuses data that
//! left after it minus a round trip, in which an ACK may wait for a whole interval: SRTT contains half of one. A
//! congestion mark within a round trip overrides it. These lifetimes are ours: no source gives any.

use super::Sender;
use crate::config::{Config, LossAssumption};
use lightlag_control::congestion::Cause;
use lightlag_control::congestion::response::Loss;
use lightlag_core::{Duration, Instant};

/// The shortest life of a report of corruption.
const LIFE: Duration = Duration::from_secs(1);

/// The reports about the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signals {
    /// Segments that left from here on may have been corrupted, as long as the report lasts.
    corrupted_from: Instant,
    corrupted_until: Instant,
    congested_until: Instant,
}

impl Default for Signals {
    /// No reports.
    fn default() -> Self {
        Self { corrupted_from: Instant::MAX, corrupted_until: Instant::ZERO, congested_until: Instant::ZERO }
    }
}

impl Sender {
    /// A report says that packets of this sender are corrupted on their way.
    #[cold]
    pub(crate) fn corruption_told(&mut self, now: Instant, config: &Config) {
        let srtt = self.rtt.srtt();
        let round_trip = srtt.max(self.rtt.latest()) + config.ack_interval.unwrap_or(Duration::ZERO);
        let signals = &mut self.special.extra_mut().signals;
        if now >= signals.corrupted_until {
            signals.corrupted_from = Instant::ZERO + now.since(Instant::ZERO + round_trip);
        }
        signals.corrupted_until = now + (srtt * 2).max(LIFE);
    }

    /// A congestion mark came.
    pub(crate) fn congestion_told(&mut self, now: Instant, config: &Config) {
        if config.loss_assumption != LossAssumption::Congestion || self.special.extra().is_some() {
            let until = now + self.rtt.srtt();
            self.special.extra_mut().signals.congested_until = until;
        }
    }

    /// Whether a loss found now costs nothing. The lowest lost segment left at `sent`.
    pub(crate) fn blames_corruption(
        &mut self,
        now: Instant,
        cause: Cause,
        sent: Option<Instant>,
        config: &Config,
    ) -> bool {
        match self.special.extra().map(|extra| extra.signals) {
            Some(signals) if now < signals.congested_until => return false,
            Some(signals)
                if now < signals.corrupted_until && sent.is_some_and(|sent| sent >= signals.corrupted_from) =>
            {
                return true;
            }
            _ => {}
        }
        match config.loss_assumption {
            LossAssumption::Congestion => false,
            LossAssumption::Corruption => true,
            LossAssumption::Own(_) => self.asks_response(now, cause, sent),
        }
    }

    #[cold]
    fn asks_response(&mut self, now: Instant, cause: Cause, sent: Option<Instant>) -> bool {
        let (inflight, cwnd) = (self.board.pipe(), self.cwnd);
        let (rtt, srtt, min_rtt) = (self.rtt.latest(), self.rtt.srtt(), self.rtt.min());
        let response = self.congestion.as_mut().and_then(|congestion| congestion.loss_response());
        let loss = Loss { now, cause, sent, inflight, cwnd, rtt, srtt, min_rtt };
        response.is_some_and(|response| response.is_corruption(&loss))
    }
}
