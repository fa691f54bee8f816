//! Vegas as in ns-3 (`TcpVegas`, since 2016), in whole segments:
//!
//! - the RTT samples are the values of SRTT at each ACK of new data; the minimum of a round counts if there are at
//!   least three, otherwise W grows as in NewReno; base is the smallest SRTT;
//! - diff = W − ⌊W·base/RTT⌋;
//! - slow start: W doubles every round; diff > γ ends it at min(W, ⌊W·base/RTT⌋ + 1);
//! - every reduction of W also lowers ssthresh, to max(W − 1, 2) with the W before the reduction; after a round
//!   ssthresh is at least ¾ W;
//! - loss: W = ssthresh, which is W − 1; timeout: the same ssthresh, W = 1.

use super::{Ack, Phase, Samples, TOO_FEW_SAMPLES, Vegas};
use lightlag_core::Duration;

impl Vegas {
    /// Processes an ACK. As in all algorithms here, a window that is not used does not grow; ns-3 does not check this.
    pub(super) fn on_ack_ns3(&mut self, ack: &Ack) {
        let seen = (ack.newly_acked > 0 && ack.srtt > Duration::ZERO).then_some(ack.srtt);
        self.base = self.base.min(seen.unwrap_or(Duration::MAX));
        let ended = self.round.on_ack(&Ack { rtt: seen, ..*ack });
        if ack.phase != Phase::Open {
            self.round.forget();
        }
        let growth = if ack.may_grow() { ack.growth } else { 0.0 };
        match ended.filter(|_| ack.phase == Phase::Open) {
            Some(samples) if samples.count > TOO_FEW_SAMPLES => self.end_round_ns3(&samples, growth),
            None if ack.phase == Phase::Open => {
                self.window.slow_start(growth, 1.0);
            }
            _ => self.grow_as_newreno(growth),
        }
    }

    fn end_round_ns3(&mut self, round: &Samples, growth: f64) {
        let whole = self.window.segments().floor();
        let target = (whole * (self.base / round.min)).floor();
        let diff = whole - target;
        let begins = self.window.in_slow_start();
        if begins && diff > self.config.gamma {
            self.window.clamp_to(whole.min(target + 1.0));
            self.window.limit_slow_start(self.lowered());
        } else if begins {
            self.window.slow_start(growth, 1.0);
        } else if diff > self.config.beta {
            self.window.clamp_to(whole - 1.0);
            self.window.limit_slow_start(self.lowered());
        } else if diff < self.config.alpha && growth > 0.0 {
            self.window.raise_to(whole + 1.0);
        }
        self.window.raise_threshold(0.75 * self.window.segments());
    }

    /// Returns the maximum allowed ssthresh after a reduction.
    pub(super) fn lowered(&self) -> f64 {
        (self.window.segments() - 1.0).max(2.0)
    }
}
