//! The user timeout (RFC 9293 §3.9.1.2, RFC 5482): how long data may stay unacknowledged, or a window closed, before
//! the connection is aborted. As in Linux (`retransmits_timed_out`, `tcp_clamp_rto_to_user_timeout`), the time starts
//! with the first retransmission or the first probe, and the last timer is shortened so that it ends with the user
//! timeout.

use super::Sender;
use lightlag_core::{Duration, Instant};

/// Minimum duration of a timer that is shortened to the user timeout: one tick of the kernel's clock.
const TICK: Duration = Duration::from_millis(1);

impl Sender {
    /// Sets the time without a reply before the sender aborts; with zero, only the number of retries counts.
    pub(crate) fn set_user_timeout(&mut self, timeout: Duration) {
        if !timeout.is_zero() || self.special.extra().is_some() {
            self.special.extra_mut().user_timeout = timeout;
        }
    }

    /// Returns the time without a reply before the sender aborts; zero if only the number of retries counts.
    pub(crate) fn user_timeout(&self) -> Duration {
        self.special.extra().map_or(Duration::ZERO, |extra| extra.user_timeout)
    }

    /// Called when a retransmission or a probe is due; `first` is true for the first one. Returns true if the user
    /// timeout has passed.
    pub(super) fn user_timed_out(&mut self, now: Instant, first: bool) -> bool {
        let Some(extra) = self.special.used_extra().filter(|extra| !extra.user_timeout.is_zero()) else { return false };
        if first {
            extra.unanswered_since = now;
        }
        now.since(extra.unanswered_since) >= extra.user_timeout
    }

    /// Returns the duration of a timer for the reply to a retransmission or a probe: `wait`, or less if the user
    /// timeout ends before.
    pub(super) fn within_user_timeout(&self, now: Instant, wait: Duration) -> Duration {
        let Some(extra) = self.special.extra().filter(|extra| !extra.user_timeout.is_zero()) else { return wait };
        wait.min(extra.user_timeout.saturating_sub(now.since(extra.unanswered_since)).max(TICK))
    }
}
