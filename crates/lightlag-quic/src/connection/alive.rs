//! Timers that rarely run: keep-alive (RFC 9000 §10.1.2), the validation of a path (§8.2.4), changes of a client's
//! address (§9), and the search for the path MTU (RFC 8899 §5.1.1).

use super::{Connection, State};
use lightlag_core::Instant;

impl Connection {
    /// Starts the timers of keep-alive and of address changes when the handshake is complete.
    pub(super) fn start_rare_timer(&mut self, now: Instant) {
        if let Some(first) = self.config.moves.first() {
            self.rare_timer = self.rare_timer.min(first.at.max(now));
        }
        if let Some(interval) = self.config.keep_alive {
            self.rare_timer = self.rare_timer.min(now + interval);
        }
    }

    /// Handles the timers that rarely run, and sets the next time. Activity does not move the keep-alive timer; the
    /// time of the last activity is compared when it fires.
    #[cold]
    pub(super) fn rare_timer_fired(&mut self, now: Instant) {
        self.rare_timer = Instant::MAX;
        if self.state != State::Complete {
            return;
        }
        if let Some(until) = self.validation.as_ref().map(|validation| validation.until) {
            if until <= now {
                self.validation_failed(now);
            } else {
                self.rare_timer = until;
            }
        }
        self.make_moves(now);
        if let Some(raise_at) = self.mtu.as_ref().map(|mtu| mtu.raise_at) {
            if raise_at <= now {
                self.mtu_timer_fired();
            } else {
                self.rare_timer = self.rare_timer.min(raise_at);
            }
        }
        if let Some(interval) = self.config.keep_alive {
            let mut due = self.last_activity + interval;
            if due <= now {
                self.ping();
                due = now + interval;
            }
            self.rare_timer = self.rare_timer.min(due);
        }
    }
}
