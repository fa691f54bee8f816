//! HighSpeed TCP of Linux 2.6.22 (tcp_highspeed.c), which ns-2's TCP-Linux contains, in whole segments:
//!
//! - the table of RFC 3649, read one entry ahead as with `response = "linux"`. The entry changes only with an ACK in
//!   congestion avoidance, so that a loss in slow start uses the previous entry;
//! - avoidance: each ACK adds a to a count; when the count reaches W, W grows by a segment and the count is reduced by
//!   W;
//! - loss, timeout: ssthresh = W − ⌊b W⌋, with b from the formula of §5 at the window of the entry, rounded down to
//!   1/256.

use super::super::linux26::{Module, Sender};
use super::{Ack, Config, Congestion, TABLE, entry};

/// State of the module.
pub(super) struct HighSpeedLinux26 {
    config: Config,
    /// Index of the table row in use.
    row: usize,
}

impl HighSpeedLinux26 {
    pub(super) fn new(config: &Config) -> Self {
        Self { config: config.clone(), row: 0 }
    }

    /// Returns b at the window of the current row, in units of 1/256.
    fn decrease(&self) -> f64 {
        let Config { low_window, high_window, high_decrease, .. } = self.config;
        let share = libm::log(TABLE[self.row].0 / low_window) / libm::log(high_window / low_window);
        (256.0 * (0.5 + share * (high_decrease - 0.5))).floor()
    }
}

impl Module for HighSpeedLinux26 {
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
