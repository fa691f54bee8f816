//! HighSpeed TCP of Linux 2.6.22 (tcp_highspeed.c), which ns-2's TCP-Linux contains, in whole segments:
//!
//! - the table of RFC 3649, read an entry ahead as with `response = "linux"`; the entry changes only with an ACK of
//!   congestion avoidance, so that a loss in slow start keeps the last one;
//! - avoidance: each ACK counts a, and W counted ones are a segment; what is above W remains;
//! - loss, timeout: ssthresh = W − ⌊b W⌋, with the b of §5 at the entry, cut to 1/256.

use super::super::linux26::{Module, Sender};
use super::{Ack, Config, Congestion, TABLE, entry};

/// The module.
pub(super) struct Module26 {
    config: Config,
    /// The entry in use.
    row: usize,
}

impl Module26 {
    pub(super) fn new(config: &Config) -> Self {
        Self { config: config.clone(), row: 0 }
    }

    /// b of the entry, in 1/256.
    fn decrease(&self) -> f64 {
        let Config { low_window, high_window, high_decrease, .. } = self.config;
        let share = libm::log(TABLE[self.row].0 / low_window) / libm::log(high_window / low_window);
        (256.0 * (0.5 + share * (high_decrease - 0.5))).floor()
    }
}

impl Module for Module26 {
    fn avoid_congestion(&mut self, _ack: &Ack, sender: &mut Sender) {
        let window = sender.whole();
        self.row = TABLE.partition_point(|row| row.0 < window).min(TABLE.len() - 1);
        sender.count += entry(self.row).0;
        if sender.count >= window {
            sender.count -= window;
            sender.window.grow(1.0);
        }
    }

    fn threshold(&mut self, window: f64, _event: &Congestion) -> f64 {
        window - (window * self.decrease() / 256.0).floor()
    }
}

#[cfg(test)]
mod tests;
