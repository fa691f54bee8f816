//! Scalable TCP of Linux 2.6.22 (tcp_scalable.c), which ns-2's TCP-Linux contains, in whole segments:
//!
//! - avoidance: W grows by a segment every min(W, 50) + 1 ACKs; with 50 instead of 100, a delayed ACK counts for its
//!   two segments;
//! - loss, timeout: ssthresh = W − ⌊W/8⌋, whatever the window: there is no legacy window.

use super::super::linux26::{Module, Sender};
use super::{Ack, Config, Congestion};

/// State of the module.
pub(super) struct ScalableLinux26 {
    config: Config,
}

impl ScalableLinux26 {
    pub(super) fn new(config: &Config) -> Self {
        Self { config: config.clone() }
    }
}

impl Module for ScalableLinux26 {
    fn avoid_congestion(&mut self, _ack: &Ack, sender: &mut Sender) {
        let window = sender.whole();
        let needed = (1.0 / self.config.increase).floor();
        // The module compares with `>`, so one more ACK is needed than with the `>=` of the others.
        sender.count += 1.0;
        let needed = if self.config.is_legacy(window) { window } else { window.min(needed) };
        if sender.count > needed {
            sender.window.grow(1.0);
            sender.count = 0.0;
        }
    }

    fn threshold(&mut self, window: f64, _event: &Congestion) -> f64 {
        let lost = if self.config.is_legacy(window) { 0.5 } else { 1.0 - self.config.beta };
        window - (window * lost).floor()
    }
}

#[cfg(test)]
mod tests;
