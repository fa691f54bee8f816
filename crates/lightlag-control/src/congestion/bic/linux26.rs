//! BIC of Linux 2.6.22 (tcp_bic.c), which ns-2's TCP-Linux contains, in whole segments. W grows by a segment after cnt
//! ACKs; ⌊ ⌋ rounds down:
//!
//! - W ≤ 14: cnt = W; W < Wmax, d = ⌊(Wmax − W)/4⌋: cnt = ⌊W/16⌋ if d > 16, 5 W if d ≤ 1, else ⌊W/d⌋;
//! - W ≥ Wmax: 5 W for 4 segments, then ⌊3 W/(W − Wmax)⌋ up to Wmax + 48, then ⌊W/16⌋;
//! - no loss since the start or a timeout: cnt ≤ 20;
//! - cnt is divided by the mean number of segments per ACK. The mean is stored in sixteenths and starts at 2; with an
//!   ACK for each segment it stays at 31/16. An increment takes cnt + 1 ACKs;
//! - cnt is computed again when W changes, or 1/32 s later;
//! - loss: Wmax = W, or ⌊W(1 + β)/2⌋ below the last one; ssthresh = ⌊β W⌋, ⌊W/2⌋ up to 14 segments; β = 819/1024. A
//!   timeout forgets Wmax.

use super::super::linux26::{Module, Sender, clock};
use super::{Ack, Cause, Config, Congestion};
use crate::congestion::Phase;

/// Time in jiffies for which cnt stays valid while the window is unchanged: HZ/32.
const HOLD: f64 = 31.0;
/// Maximum cnt before the first loss.
const SEARCH: f64 = 20.0;
/// Used twice: divisor of the search, and number of segments above Wmax with the slowest growth.
const B: f64 = 4.0;

/// State of the module.
pub(super) struct BicLinux26 {
    config: Config,
    count: f64,
    /// Wmax; zero if unknown.
    last_max: f64,
    /// Whether a loss has set Wmax.
    has_lost: bool,
    /// The window and the time (in jiffies) of the last computation of cnt.
    taken: (f64, f64),
    /// Mean number of segments per ACK, in sixteenths.
    delayed_ack: f64,
}

impl BicLinux26 {
    pub(super) fn new(config: &Config) -> Self {
        let config = config.clone();
        Self { config, count: 0.0, last_max: 0.0, has_lost: false, taken: (0.0, 0.0), delayed_ack: 32.0 }
    }

    /// Returns cnt at this window, for ACKs of one segment each.
    fn wanted(&self, window: f64) -> f64 {
        let Config { max_step, low_window, min_step, .. } = self.config;
        let slowest = (window / min_step + 1e-9).floor();
        if window <= low_window {
            return window;
        }
        if window < self.last_max {
            let distance = ((self.last_max - window) / self.config.search_divisor).floor();
            return if distance > max_step {
                (window / max_step).floor()
            } else if distance <= 1.0 {
                slowest
            } else {
                (window / distance).floor()
            };
        }
        let above = window - self.last_max;
        if above < B {
            slowest
        } else if above < max_step * (B - 1.0) {
            (window * (B - 1.0) / above).floor()
        } else {
            (window / max_step).floor()
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

impl Module for BicLinux26 {
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
