//! Vegas as in ns-3 (`TcpVegas`, from 2016 on), in whole segments:
//!
//! - RTT is SRTT at each ACK of new data; the smallest of a round of at least three counts, and with fewer the growth
//!   is NewReno's; base is the smallest SRTT;
//! - diff = W − ⌊W·base/RTT⌋;
//! - slow start: W doubles every round; diff > γ ends it at min(W, ⌊W·base/RTT⌋ + 1);
//! - every reduction of W lowers ssthresh to W − 1, at least 2, with the W before it; after a round ssthresh is at
//!   least ¾ W;
//! - loss: W = ssthresh, which is one segment less; timeout: the same ssthresh, W = 1.

use super::{Ack, Phase, Samples, TOO_FEW_SAMPLES, Vegas};
use lightlag_core::Duration;

impl Vegas {
    /// Takes in an ACK. As in all algorithms here, an unused window does not grow, a condition that ns-3 lacks.
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

    /// The largest allowed ssthresh from now on.
    pub(super) fn lowered(&self) -> f64 {
        (self.window.segments() - 1.0).max(2.0)
    }
}
