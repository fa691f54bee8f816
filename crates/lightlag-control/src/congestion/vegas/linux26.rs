//! Vegas as in Linux 2.6.16 to 2.6.22 (tcp_vegas.c), which ns-2's TCP-Linux contains, in whole segments:
//!
//! - a round lasts until the first new data after its start is acknowledged; W' is the data outstanding at the start of
//!   the previous round, and RTT the smallest of at least three samples; with fewer samples W grows as in NewReno;
//! - diff = W' - W'·base/RTT, rounded up to the next half segment;
//! - slow start while W ≤ ssthresh: W doubles every round; diff > γ ends it with ssthresh = 2 at min(W, ⌊W'·base/RTT⌋ +
//!   1);
//! - avoidance: with V the window at the start of the round, W moves by one segment towards V + 1 if diff < α, V - 1 if
//!   diff > β, else V. V lags by a round, so W grows by a segment every second round;
//! - base starts as the sample of the handshake. In ns-2 the first packet has 40 bytes, so that base is shorter than
//!   the round trip of a full segment by the time that the links take for the additional bytes. This time counts as
//!   queueing.
//!
//! The end of recovery restarts the round; V is then still the window before recovery, and W' counts all data sent
//! since.

use super::{Ack, Phase, Samples, TOO_FEW_SAMPLES, Vegas};

impl Vegas {
    /// Processes an ACK.
    pub(super) fn on_ack_linux26(&mut self, ack: &Ack) {
        // tcp_ack: SACKed data gives no sample.
        let ack = &Ack { rtt: ack.rtt.filter(|_| ack.newly_acked > 0), ..*ack };
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
        }
        let ended = self.round.on_ack_beyond(ack);
        if ack.phase != Phase::Open {
            self.round.restart(ack);
            self.sent.1 = ack.snd_nxt;
            if ack.may_grow() {
                self.grow_as_newreno(ack.growth);
            }
            return;
        }
        let growth = if ack.may_grow() { ack.growth } else { 0.0 };
        match ended {
            Some(samples) => self.end_round_linux26(&samples, ack, growth),
            None if self.window.segments() <= self.window.threshold() => self.window.grow(growth),
            None => {}
        }
    }

    fn end_round_linux26(&mut self, round: &Samples, ack: &Ack, growth: f64) {
        let outstanding = self.window.in_segments(self.sent.1.saturating_sub(self.sent.0)).floor();
        let (whole, held) = (self.window.segments().floor(), self.held);
        self.sent = (self.sent.1, ack.snd_nxt);
        self.held = whole;
        if round.count <= TOO_FEW_SAMPLES {
            return self.grow_as_newreno(growth);
        }
        let target = (2.0 * outstanding * (self.base / round.min)).floor() / 2.0;
        let diff = outstanding - target;
        if whole <= self.window.threshold() {
            if diff > self.config.gamma {
                self.window.clamp_to(whole.min(target.floor() + 1.0));
                self.window.limit_slow_start(2.0);
            }
            self.window.grow(growth);
        } else {
            let wanted = if diff > self.config.beta {
                held - 1.0
            } else if diff < self.config.alpha {
                held + 1.0
            } else {
                held
            };
            if wanted > whole && growth > 0.0 {
                self.window.raise_to(whole + 1.0);
            } else if wanted < whole {
                self.window.clamp_to((whole - 1.0).max(super::LEAST_WINDOW));
            }
        }
        self.window.raise_to(super::LEAST_WINDOW);
    }
}
