//! The window after an idle time (RFC 5681 §4.1, RFC 2861; for RFC 7661 see [`super::validation`]): the earlier
//! capacity of the network implies little about its present one.

use super::Sender;
use crate::config::{Config, IdleRestart};
use lightlag_core::Instant;

impl Sender {
    /// Reduces the window as configured, before new data is sent after an idle time.
    #[cold]
    pub(super) fn restart_after_idle(&mut self, now: Instant, config: &Config) {
        if self.special.validation().is_some() {
            return self.give_up_unused(now);
        }
        let idle = now.since(self.last_sent);
        // Nothing was in flight, so a back-off came from probes of a closed window.
        let rto = self.rtt.plain_rto(&config.rto);
        let closed = self.peer_edge <= self.board.nxt();
        if config.idle_restart == IdleRestart::Off || closed || idle <= rto || self.last_sent == Instant::ZERO {
            return;
        }
        let initial = self.initial_cwnd();
        // Three quarters of the window, so that slow start ends close to it (RFC 2861 §3).
        let kept = self.cwnd / 4 * 3;
        let (window, threshold) = match config.idle_restart {
            IdleRestart::Off | IdleRestart::Rfc7661 => return,
            IdleRestart::Rfc5681 => (initial, 0),
            IdleRestart::Rfc2861 => {
                let halvings = (idle.as_nanos() / rto.as_nanos().max(1)).min(63);
                ((self.cwnd >> halvings).max(initial.min(self.cwnd)), kept)
            }
        };
        if let Some(congestion) = &mut self.congestion {
            congestion.on_idle(now, window, threshold);
        }
        self.last_sent = now;
        self.copy_window(now);
    }
}
