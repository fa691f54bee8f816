//! Veno of Linux 2.6.22 (tcp_veno.c), which ns-2's TCP-Linux contains, in whole segments:
//!
//! - N = W − ⌊2 W·RTTmin/RTT⌋/2, in half segments, with RTT the smallest sample since the last ACK that may open the window,
//!   mostly the newest one. Samples are counted from the start: only the first ACK has too few;
//! - avoidance: W + 1 ACKs for a segment if N < 3, twice as many otherwise;
//! - loss: ssthresh = ⌊4 W/5⌋ if N < 3, ⌊W/2⌋ otherwise, and fast recovery does not go below; N is that of the last ACK
//!   which was counted;
//! - the repair after a timeout grows as Reno's, and N stays.

use super::super::linux26::{Module, Sender};
use super::{Ack, Config, Congestion};
use crate::congestion::{Phase, Start};
use lightlag_core::{Duration, Instant};

/// Samples without which N is unknown.
const TOO_FEW_SAMPLES: u32 = 2;

/// The module.
pub(super) struct Module26 {
    config: Config,
    samples: u32,
    base: Duration,
    /// The smallest sample since the last count.
    rtt: Duration,
    /// N.
    queued: f64,
    /// Whether the next increment in a full queue applies.
    turn: bool,
}

impl Module26 {
    pub(super) fn new(config: &Config, start: &Start) -> Self {
        Self {
            config: config.clone(),
            samples: u32::from(start.rtt.is_some()),
            // ns-2 measures the 40 bytes of its first packet, as the handshake does here.
            base: start.rtt.unwrap_or(Duration::MAX),
            rtt: Duration::MAX,
            queued: 0.0,
            turn: true,
        }
    }

    fn has_room(&self) -> bool {
        self.queued < self.config.backlog
    }

    /// Computes N at this window. Returns false without samples.
    fn count_queue(&mut self, ack: &Ack, window: f64) -> bool {
        if ack.phase != Phase::Open {
            return false;
        }
        let known = self.samples > TOO_FEW_SAMPLES && self.rtt != Duration::MAX;
        if known {
            self.queued = window - (2.0 * window * (self.base / self.rtt)).floor() / 2.0;
        }
        self.rtt = Duration::MAX;
        known
    }
}

impl Module for Module26 {
    fn measure(&mut self, ack: &Ack, _sender: &Sender) {
        let Some(rtt) = ack.rtt else { return };
        self.samples = self.samples.saturating_add(1);
        self.base = self.base.min(rtt);
        self.rtt = self.rtt.min(rtt);
    }

    fn after_slow_start(&mut self, ack: &Ack, sender: &mut Sender) {
        self.count_queue(ack, sender.whole() - ack.growth);
    }

    fn avoid_congestion(&mut self, ack: &Ack, sender: &mut Sender) {
        let window = sender.whole();
        if !self.count_queue(ack, window) {
            return sender.grow_as_reno(ack.growth);
        }
        if sender.count < window {
            sender.count += 1.0;
            return;
        }
        sender.count = 0.0;
        let grows = self.has_room() || self.turn;
        if !self.has_room() {
            self.turn = !self.turn;
        }
        if grows {
            sender.window.grow(1.0);
        }
    }

    fn threshold(&mut self, window: f64, _event: &Congestion) -> f64 {
        window * if self.has_room() { self.config.beta } else { 0.5 }
    }

    fn end(&mut self, _now: Instant) {
        self.rtt = Duration::MAX;
    }

    fn least(&self, threshold: f64) -> f64 {
        threshold
    }
}

#[cfg(test)]
mod tests;
