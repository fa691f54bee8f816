//! The model of the path: delivered data, bandwidth, aggregation and policer.

use super::states::State;
use super::{Bbr, policer};
use crate::congestion::path_model::whole;
use crate::congestion::{Ack, RateSample};
use lightlag_core::Instant;

/// Number of rounds in each of the two halves of the window over which aggregated ACKs are remembered (Linux).
const AGGREGATED_ROUNDS: u64 = 5;
/// 2²⁴ µs in seconds: Linux stores rates as whole segments in this time.
const UNIT_S: f64 = 16.777_216;

impl Bbr {
    /// Returns the bandwidth to use: the rate of a policer if one was detected, otherwise BtlBw.
    pub(super) fn bandwidth(&self) -> f64 {
        self.leo_estimate().or(self.policer.rate()).unwrap_or_else(|| self.bandwidth.max())
    }

    /// Rounds a rate to its stored precision: in Linux whole segments per 2²⁴ µs (`BW_UNIT`), which is 0.2 % less for
    /// 10 segments in 600 ms.
    pub(super) fn kept(&self, rate: f64) -> f64 {
        let unit = if self.tso { self.segment / UNIT_S } else { 0.0 };
        whole(rate, unit)
    }

    pub(super) fn count_delivered(&mut self, ack: &Ack) {
        self.delivered =
            ack.rate.as_ref().map_or(self.delivered + ack.newly_delivered, |sample| sample.total_delivered);
        if ack.newly_delivered > 0 {
            self.delivered_at = ack.now;
        }
    }

    /// Updates the model from a valid sample. A sample over less than the minimum round-trip time contains no
    /// information about the rate (Linux).
    pub(super) fn learn(&mut self, ack: &Ack, sample: &RateSample, rate: f64) {
        let rate = self.kept(rate);
        if self.rounds.advance(sample) {
            self.conserve = false;
        }
        self.take_rate(ack, rate);
        let limited = sample.app_limited || self.shallow.covers(sample);
        self.watch_policer(self.newly_lost > 0, self.rounds.started, limited, ack.now);
        if !limited || rate >= self.bandwidth.max() {
            self.bandwidth.update(self.rounds.count, rate, self.config.bandwidth_rounds as u64);
        }
        self.await_handover(ack.now);
        let (bandwidth, acked) = (self.bandwidth(), ack.newly_delivered as f64);
        // Two halves count: the current one and the one before.
        let half = self.rounds.count / AGGREGATED_ROUNDS;
        self.aggregation.note(ack.now, acked, bandwidth, self.window, half, 2);
        self.check_full(limited);
    }

    pub(super) fn watch_policer(&mut self, newly_lost: bool, round: bool, limited: bool, now: Instant) {
        if !self.config.policer {
            return;
        }
        let news = policer::PolicerSample {
            at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            newly_lost,
            round,
            limited,
            probing: matches!(self.state, State::ProbeBw(_)),
        };
        if self.policer.watch(&news) == policer::Finding::Forgotten {
            self.probe_bandwidth(now);
        }
    }

    pub(super) fn check_full(&mut self, limited: bool) {
        if self.filled || self.is_held || !self.rounds.started || limited {
            return;
        }
        if self.bandwidth.max() >= 1.25 * self.full {
            self.full = self.bandwidth.max();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= 3;
    }
}
