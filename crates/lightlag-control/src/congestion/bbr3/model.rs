//! The model of the path (draft-ietf-ccwg-bbr §5.5): bandwidth, round-trip time, aggregation, and the delivery and loss
//! signals of the last round.

use super::states::State;
use super::{AGGREGATION_ROUNDS, Ack, BANDWIDTH_CYCLES, Bbr3, LEAST, RateSample};
use lightlag_core::Duration;

impl Bbr3 {
    /// Updates the signals of the current round, near the start of an ACK (UpdateLatestDeliverySignals).
    pub(super) fn update_latest_delivery_signals(&mut self, sample: &RateSample, rate: f64) {
        self.bw_latest = self.bw_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered as f64);
        self.loss_round_start = sample.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = self.delivered;
        }
    }

    /// Restarts the signals if a round has ended, near the end of an ACK (AdvanceLatestDeliverySignals).
    pub(super) fn advance_latest_delivery_signals(&mut self, sample: &RateSample, rate: f64) {
        if self.loss_round_start {
            self.bw_latest = rate;
            self.inflight_latest = sample.delivered as f64;
            self.loss_ranges = 0;
        }
    }

    /// Clears the signals (ResetCongestionSignals).
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// Updates max_bw, and at the end of a round the bounds, once the rounds are up to date (UpdateCongestionSignals).
    pub(super) fn update_congestion_signals(&mut self, sample: &RateSample, rate: f64, limited: bool) {
        if self.rounds.advance(sample) {
            self.rounds_since_probe_up += 1;
        }
        if rate > 0.0 && (rate >= self.max_bw.max() || !limited) {
            self.max_bw.update(self.cycle, rate, BANDWIDTH_CYCLES);
        }
        if self.loss_round_start {
            self.adapt_lower_bounds();
        }
    }

    /// Called once per round: lowers the bounds to the delivered data if there were losses.
    fn adapt_lower_bounds(&mut self) {
        if self.is_loss_in_round && !self.is_probing_bw() {
            if self.bw_shortterm == f64::INFINITY {
                self.bw_shortterm = self.max_bw.max();
            }
            if self.inflight_shortterm == f64::INFINITY {
                self.inflight_shortterm = self.window;
            }
            let beta = self.config.beta;
            self.bw_shortterm = self.bw_latest.max(beta * self.bw_shortterm);
            self.inflight_shortterm = self.inflight_latest.max(beta * self.inflight_shortterm);
        }
        self.startup_lost_too_much = self.is_startup_loss_too_high();
        self.is_loss_in_round = false;
    }

    /// Removes the short-term bounds (ResetShortTermModel).
    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// Updates the excess of aggregated ACKs (UpdateACKAggregation).
    pub(super) fn update_aggregation(&mut self, ack: &Ack) {
        let rounds = if self.full_bw_reached { AGGREGATION_ROUNDS } else { 1 };
        let (acked, count) = (ack.newly_delivered as f64, self.rounds.count);
        self.aggregation.note(ack.now, acked, self.bw, self.window, count, rounds);
    }

    /// Restarts the detection of a full path (ResetFullBW).
    pub(super) fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// Detects a full path: three rounds in which the rate grew by less than a quarter (CheckFullBWReached). An ACK
    /// without a valid sample does not count.
    pub(super) fn check_full_bw_reached(&mut self, rate: f64, limited: bool) {
        if self.is_held || self.full_bw_now || !self.rounds.started || limited || rate == 0.0 {
            return;
        }
        if rate >= 1.25 * self.full_bw {
            self.reset_full_bw();
            self.full_bw = rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// Updates the minimum round-trip time (UpdateMinRTT). If ProbeRTT is disabled, nothing empties the queue for a new
    /// measurement, so the minimum never expires.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let probes = !self.config.probe_rtt.is_zero();
        self.probe_rtt_expired = probes && ack.now > self.probe_rtt_min_at + self.rtt_lifetime();
        if let Some(rtt) = ack.rtt {
            if rtt < self.probe_rtt_min_delay || self.probe_rtt_expired {
                self.probe_rtt_min_delay = rtt;
                self.probe_rtt_min_at = ack.now;
            } else {
                self.confirm_min_rtt(ack, rtt);
            }
        }
        let expired = probes && ack.now > self.min_rtt_at + self.config.rtt_window;
        if self.probe_rtt_min_delay < self.min_rtt || expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_at = self.probe_rtt_min_at;
        }
    }

    /// Returns `gain` times the bandwidth-delay product at this bandwidth (BDPMultiple).
    pub(super) fn bdp_multiple(&self, bandwidth: f64, gain: f64) -> f64 {
        if self.min_rtt == Duration::MAX {
            return self.initial_window;
        }
        gain * bandwidth * self.min_rtt.as_secs_f64()
    }

    /// Returns the bandwidth-delay product, or the window if congestion reduced it further (TargetInflight).
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp_multiple(self.bw, 1.0).min(self.window)
    }

    /// Adds the quanta to a flight (QuantizationBudget). A quantum is as for a TCP with segmentation offload: 1 ms at
    /// the pacing rate, from two segments to 64 KB. The result is at least three quanta.
    pub(super) fn with_budget(&self, flight: f64) -> f64 {
        let quantum = (0.001 * self.rate).min(64_000.0).max(2.0 * self.segment);
        let flight = flight.max(3.0 * quantum).max(LEAST * self.segment);
        if self.state == State::Up { flight + 2.0 * self.segment } else { flight }
    }

    /// Returns the target flight for a bandwidth and a gain, quanta included (Inflight).
    pub(super) fn inflight_at(&self, bandwidth: f64, gain: f64) -> f64 {
        self.with_budget(self.bdp_multiple(bandwidth, gain))
    }

    /// Returns the long-term bound, less the headroom for other flows (InflightWithHeadroom).
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        let headroom = self.segment.max(self.config.headroom * self.inflight_longterm);
        (self.inflight_longterm - headroom).max(LEAST * self.segment)
    }
}
