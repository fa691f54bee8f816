//! Changes of the window that no acknowledgement causes: the scaled initial window, another path, and an idle time.

use super::Control;
use crate::config::{Config, InitialWindow};
use crate::rtt::Rtt;
use lightlag_control::congestion::Phase;
use lightlag_control::delivery_rate::RateSampler;
use lightlag_core::{Duration, Instant};

/// Maximum factor of picoquic's initial window on a long path.
const MAX_SCALE: f64 = 6.1;

impl Control {
    /// Multiplies the initial window by the ratio of the first round-trip time to `long`, at most 6.1 times (picoquic).
    #[cold]
    pub(crate) fn scale_initial(&mut self, config: &Config, rtt: Duration, long: Duration) {
        if rtt > long && self.window <= self.initial_window && self.scales_initial {
            let factor = (rtt.as_nanos() as f64 / long.as_nanos() as f64).min(MAX_SCALE);
            let bytes = (self.initial_window as f64 * factor) as u64;
            let scaled =
                Self::new(&Config { initial_window: InitialWindow::Bytes(bytes), ..config.clone() }, self.seed);
            (self.algorithm, self.initial_window) = (scaled.algorithm, bytes);
            self.copy_window();
        }
    }

    /// Restarts on another path. An algorithm that was passed by the caller is not replaced; it returns to the initial
    /// window.
    pub(crate) fn restart(&mut self, now: Instant, config: &Config, is_custom: bool, rtt: &Rtt) {
        if is_custom {
            self.algorithm.on_idle(now, self.initial_window, u64::MAX);
            (self.recovery_start, self.phase, self.extra) = (None, Phase::Open, false);
            self.acked = self.sent;
            self.copy_window();
            return;
        }
        let fresh = Self::new(config, self.seed);
        *self = Self {
            rates: fresh.needs.rate.then(|| Box::new(RateSampler::new(self.serial))),
            sent: self.sent,
            acked: self.sent,
            serial: self.serial,
            undone: self.undone,
            episodes: self.episodes,
            mark_reactions: self.mark_reactions,
            ..fresh
        };
        self.start(now, rtt);
    }

    /// Restarts from the initial window after an idle time, if the profile does.
    pub(crate) fn restart_after_idle(&mut self, now: Instant) {
        if let (Some(limit), Some(last)) = (self.idle_restart, self.last_sent)
            && now.since(last) > limit
        {
            self.algorithm.on_idle(now, self.initial_window, 0);
            self.copy_window();
        }
    }
}
