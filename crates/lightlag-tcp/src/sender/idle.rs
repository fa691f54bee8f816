//! The window after an idle time (RFC 5681 §4.1, RFC 2861, RFC 7661): what the network allowed long ago says
//! little about now.

use super::Sender;
use crate::account::Account;
use crate::config::{Config, IdleRestart};
use lightlag_core::{Duration, Instant};

/// How long an unused window is kept (RFC 7661 §4.4: the non-validated period).
const KEPT: Duration = Duration::from_secs(300);

impl Sender {
    /// New data leaves after nothing was in flight: what is left of the window.
    #[cold]
    pub(super) fn restart_after_idle(&mut self, now: Instant, config: &Config, account: &mut Account) {
        let idle = now.since(self.last_sent);
        // Nothing was in flight: what was backed off were probes of a closed window.
        let rto = self.rtt.plain_rto(&config.rto);
        let closed = self.peer_edge <= self.board.nxt();
        if config.idle_restart == IdleRestart::Off || closed || idle <= rto || self.last_sent == Instant::ZERO {
            return;
        }
        let initial = self.initial_cwnd();
        // Three quarters of the window, for a slow start that ends near where it was (RFC 2861 §3).
        let kept = self.cwnd / 4 * 3;
        let (window, threshold) = match config.idle_restart {
            IdleRestart::Off => return,
            IdleRestart::Rfc5681 => (initial, 0),
            IdleRestart::Rfc2861 => {
                let halvings = (idle.as_nanos() / rto.as_nanos().max(1)).min(63);
                ((self.cwnd >> halvings).max(initial.min(self.cwnd)), kept)
            }
            IdleRestart::Rfc7661 if idle < KEPT => return,
            IdleRestart::Rfc7661 => ((self.cwnd / 2).max(initial), kept),
        };
        if let Some(congestion) = &mut self.congestion {
            congestion.on_idle(now, window, threshold);
        }
        self.last_sent = now;
        self.copy_window(now, account);
    }
}
