//! Attribution of losses: to congestion, which the congestion control reacts to, or to corruption. A segment lost by
//! corruption is only retransmitted; window, threshold and timeout stay unchanged.
//!
//! By default a configured assumption decides, or a custom loss response. Reports override both. A report of corruption
//! is valid for two round trips, at least a second, and applies to all data sent since one round trip before it. This
//! round trip includes a full ACK interval, because SRTT contains only half of one. A congestion mark in the last round
//! trip overrides the report. We chose these times: no source specifies them.

use super::Sender;
use crate::config::{Config, LossAssumption};
use lightlag_control::congestion::Cause;
use lightlag_control::congestion::response::LossEvent;
use lightlag_core::{Duration, Instant};

/// Minimum time for which a report of corruption is valid.
const LIFE: Duration = Duration::from_secs(1);

/// Reports of corruption and congestion on the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signals {
    /// While the report is valid, losses of segments sent at or after this time are attributed to corruption.
    corrupted_from: Instant,
    corrupted_until: Instant,
    congested_until: Instant,
}

impl Default for Signals {
    /// Returns the state before any report.
    fn default() -> Self {
        Self { corrupted_from: Instant::MAX, corrupted_until: Instant::ZERO, congested_until: Instant::ZERO }
    }
}

impl Sender {
    /// Handles a report that packets of this sender are being corrupted.
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

    /// Handles a congestion mark.
    pub(crate) fn congestion_told(&mut self, now: Instant, config: &Config) {
        if config.loss_assumption != LossAssumption::Congestion || self.special.extra().is_some() {
            let until = now + self.rtt.srtt();
            self.special.extra_mut().signals.congested_until = until;
        }
    }

    /// Returns true if a loss that was detected now is attributed to corruption, so that the window is not reduced.
    /// `sent` is the transmission time of the lowest lost segment.
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
            LossAssumption::Custom(_) => self.asks_response(now, cause, sent),
        }
    }

    #[cold]
    fn asks_response(&mut self, now: Instant, cause: Cause, sent: Option<Instant>) -> bool {
        let (inflight, cwnd) = (self.board.pipe(), self.cwnd);
        let (rtt, srtt, min_rtt) = (self.rtt.latest(), self.rtt.srtt(), self.rtt.min());
        let response = self.congestion.as_mut().and_then(|congestion| congestion.loss_response());
        let loss = LossEvent { now, cause, sent, inflight, cwnd, rtt, srtt, min_rtt };
        response.is_some_and(|response| response.is_corruption(&loss))
    }
}
