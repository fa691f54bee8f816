//! BIC of Linux 2.6.22 (tcp_bic.c), which ns-2's TCP-Linux contains, in whole segments. With cnt the number of ACKs to
//! count for a segment, and ⌊ ⌋ cutting:
//!
//! - W ≤ 14: cnt = W; W < Wmax, d = ⌊(Wmax − W)/4⌋: cnt = ⌊W/16⌋ if d > 16, 5 W if d ≤ 1, else ⌊W/d⌋;
//! - from Wmax on: 5 W for 4 segments, then ⌊3 W/(W − Wmax)⌋ up to Wmax + 48, then ⌊W/16⌋;
//! - no loss since the start or a timeout: cnt ≤ 20;
//! - cnt is divided by the mean number of segments that an ACK acknowledges, which is kept in sixteenths: it starts at 2
//!   and stays at 31/16 with an ACK for each segment; an increment takes one ACK more than cnt;
//! - cnt is computed again when W changes, or 1/32 s later;
//! - loss: Wmax = W, or ⌊W(1 + β)/2⌋ below the last one; ssthresh = ⌊β W⌋, ⌊W/2⌋ up to 14 segments; β = 819/1024. A timeout
//!   forgets Wmax.

use super::super::linux26::{Module, Sender, clock};
use super::{Ack, Cause, Config, Congestion};
use crate::congestion::Phase;

/// Jiffies for which the count is kept while the window is unchanged: HZ/32.
const HOLD: f64 = 31.0;
/// The most ACKs for a segment before the first loss.
const SEARCH: f64 = 20.0;
/// The distance from Wmax, in segments, at which growth is slowest, and the quotient of the search.
const B: f64 = 4.0;

/// The module.
pub(super) struct Module26 {
    config: Config,
    count: f64,
    /// Wmax, zero without one.
    last_max: f64,
    /// Whether a loss set Wmax.
    has_lost: bool,
    /// The window and the time, in jiffies, of the last computed count.
    taken: (f64, f64),
    /// Segments that an ACK acknowledges, in sixteenths.
    delayed_ack: f64,
}

impl Module26 {
    pub(super) fn new(config: &Config) -> Self {
        let config = config.clone();
        Self { config, count: 0.0, last_max: 0.0, has_lost: false, taken: (0.0, 0.0), delayed_ack: 32.0 }
    }

    /// The number of ACKs to count at this window, if each acknowledged one segment.
    fn wanted(&self, window: f64) -> f64 {
        let Config { largest_step, low_window, smallest_step, .. } = self.config;
        let slowest = (window / smallest_step + 1e-9).floor();
        if window <= low_window {
            return window;
        }
        if window < self.last_max {
            let distance = ((self.last_max - window) / self.config.search_divisor).floor();
            return if distance > largest_step {
                (window / largest_step).floor()
            } else if distance <= 1.0 {
                slowest
            } else {
                (window / distance).floor()
            };
        }
        let above = window - self.last_max;
        if above < B {
            slowest
        } else if above < largest_step * (B - 1.0) {
            (window * (B - 1.0) / above).floor()
        } else {
            (window / largest_step).floor()
        }
    }

    fn update(&mut self, window: f64, now: f64) {
        if self.taken.0 == window && now - self.taken.1 <= HOLD {
            return;
        }
        self.taken = (window, now);
        self.count = self.wanted(window);
        if window > self.config.low_window && !self.has_lost {
            self.count = self.count.min(SEARCH);
        }
        if window > self.config.low_window {
            self.count = (self.count * 16.0 / self.delayed_ack).floor().max(1.0);
        }
    }
}

impl Module for Module26 {
    fn measure(&mut self, ack: &Ack, sender: &Sender) {
        if ack.phase == Phase::Open {
            let segments = sender.window.in_segments(ack.newly_acked).floor();
            self.delayed_ack += segments - (self.delayed_ack / 16.0).floor();
        }
    }

    fn avoid_congestion(&mut self, ack: &Ack, sender: &mut Sender) {
        self.update(sender.whole(), clock(ack.now));
        sender.count_up_to(self.count, 1.0);
    }

    fn threshold(&mut self, window: f64, _event: &Congestion) -> f64 {
        let Config { beta, fast_convergence, low_window, .. } = self.config;
        let missed = fast_convergence && window < self.last_max;
        self.last_max = if missed { (window * (1.0 + beta) / 2.0).floor() } else { window };
        self.has_lost = true;
        window * if window <= low_window { 0.5 } else { beta }
    }

    fn begin(&mut self, event: &Congestion) {
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            *self = Self::new(&self.config);
        }
    }

    fn least(&self, threshold: f64) -> f64 {
        threshold
    }
}

#[cfg(test)]
mod tests;
