//! YeAH of Linux 2.6.22 (tcp_yeah.c), which ns-2's TCP-Linux contains, in whole segments:
//!
//! - a round ends with the first ACK of data that was sent in it; this ACK must be outside of fast recovery, and the
//!   round must have at least three samples. base starts as the sample of the handshake;
//! - fast mode: W grows by a segment once more than min(W, 100) segments are counted; slow mode: by a segment for W
//!   ACKs;
//! - loss, timeout: as in the paper, but of the window, and in fast recovery the window may fall to half of ssthresh.

use super::super::linux26::{Module, Sender};
use super::{Ack, Config, Congestion, LEAST_WINDOW, ReductionHistory, SCALABLE_COUNT, TOO_FEW_SAMPLES};
use crate::congestion::round::{Round, Samples};
use crate::congestion::{ConnectionStart, Phase};
use lightlag_core::{Duration, Instant};

/// State of the module.
pub(super) struct YeahLinux26 {
    config: Config,
    round: Round,
    base: Duration,
    /// Q in the last round, in segments.
    queue: f64,
    memory: ReductionHistory,
    /// Number of segments that the last ACK acknowledged.
    acked: f64,
    /// Whether recovery has ended since the last ACK.
    restarts: bool,
}

impl YeahLinux26 {
    pub(super) fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            config: config.clone(),
            round: Round::default(),
            // ns-2 measures the 40 bytes of its first packet, as the handshake does here.
            base: start.rtt.unwrap_or(Duration::MAX),
            queue: 0.0,
            memory: ReductionHistory { slow: 0.0, fast: 0.0, reno: LEAST_WINDOW },
            acked: 1.0,
            restarts: false,
        }
    }

    fn end_round(&mut self, round: &Samples, sender: &mut Sender) {
        if round.count <= TOO_FEW_SAMPLES {
            return;
        }
        let Config { q_max, phi, zeta, .. } = self.config;
        let excess = round.min.saturating_sub(self.base);
        self.queue = (sender.whole() * (excess / round.min)).floor();
        if self.queue <= q_max && excess / self.base <= 1.0 / phi {
            self.memory.fast += 1.0;
            if self.memory.fast > zeta {
                (self.memory.reno, self.memory.fast) = (LEAST_WINDOW, 0.0);
            }
            self.memory.slow = 0.0;
            return;
        }
        if self.queue > q_max && sender.whole() > self.memory.reno {
            self.drain(sender);
        }
        self.memory.reno = if self.memory.reno <= LEAST_WINDOW {
            (sender.whole() / 2.0).floor().max(LEAST_WINDOW)
        } else {
            self.memory.reno + 1.0
        };
        self.memory.slow += 1.0;
    }

    fn drain(&self, sender: &mut Sender) {
        let window = sender.whole();
        let most = (window / libm::exp2(self.config.epsilon)).floor();
        let given = (self.queue / self.config.gamma).floor().min(most);
        sender.window.clamp_to((window - given).max(self.memory.reno));
        sender.window.leave_slow_start();
    }

    fn turn_round(&mut self, ack: &Ack, sender: &mut Sender) {
        if let Some(samples) = self.round.on_ack_beyond(ack) {
            self.end_round(&samples, sender);
        }
    }
}

impl Module for YeahLinux26 {
    fn measure(&mut self, ack: &Ack, sender: &Sender) {
        if std::mem::take(&mut self.restarts) {
            self.round.restart(ack);
        }
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
        }
        if ack.phase == Phase::Open {
            self.acked = sender.window.in_segments(ack.newly_acked).floor();
        }
        if !ack.may_grow() {
            self.round.take_in(ack);
        }
    }

    fn after_slow_start(&mut self, ack: &Ack, sender: &mut Sender) {
        self.turn_round(ack, sender);
    }

    fn avoid_congestion(&mut self, ack: &Ack, sender: &mut Sender) {
        let window = sender.whole();
        let is_full = if self.memory.slow == 0.0 {
            sender.count += std::mem::replace(&mut self.acked, 1.0);
            sender.count > window.min(SCALABLE_COUNT)
        } else {
            sender.count += 1.0;
            sender.count >= window
        };
        if is_full {
            sender.window.grow(1.0);
            sender.count = 0.0;
        }
        self.turn_round(ack, sender);
    }

    fn threshold(&mut self, window: f64, _event: &Congestion) -> f64 {
        let half = (window / 2.0).floor().max(2.0);
        let price = if self.memory.slow < self.config.rho {
            self.queue.min(half).max((window / libm::exp2(self.config.delta)).floor())
        } else {
            half
        };
        self.memory.fast = 0.0;
        self.memory.reno = (self.memory.reno / 2.0).floor().max(LEAST_WINDOW);
        window - price
    }

    fn end(&mut self, _now: Instant) {
        self.restarts = true;
    }
}

#[cfg(test)]
mod tests;
