//! Veno of Linux 2.6.22 (tcp_veno.c), which ns-2's TCP-Linux contains, in whole segments:
//!
//! - N = W − ⌊2 W·RTTmin/RTT⌋/2, in half segments, with RTT the minimum sample since the last ACK that was allowed to
//!   increase the window, usually the newest sample. Samples are counted from the start of the connection, so only the
//!   first ACK has too few;
//! - avoidance: W grows by a segment every W + 1 ACKs if N < 3, otherwise half as fast;
//! - loss: ssthresh = ⌊4 W/5⌋ if N < 3, ⌊W/2⌋ otherwise, and in fast recovery the window does not fall below it; N
//!   dates from the last counted ACK;
//! - in the repair after a timeout the window grows as in Reno, and N does not change.

use super::super::linux26::{Module, Sender};
use super::{Ack, Config, Congestion};
use crate::congestion::{ConnectionStart, Phase};
use lightlag_core::{Duration, Instant};

/// Maximum number of samples with an unknown N.
const TOO_FEW_SAMPLES: u32 = 2;

/// State of the module.
pub(super) struct VenoLinux26 {
    config: Config,
    samples: u32,
    base: Duration,
    /// Minimum sample since N was last computed.
    rtt: Duration,
    /// N, in segments.
    queued: f64,
    /// Whether the next increment is applied while the queue is full; every second one is.
    turn: bool,
}

impl VenoLinux26 {
    pub(super) fn new(config: &Config, start: &ConnectionStart) -> Self {
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

    /// Computes N at this window. Returns false if there are too few samples.
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

impl Module for VenoLinux26 {
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
