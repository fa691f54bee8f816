//! The user timeout (RFC 9293 §3.9.1.2, RFC 5482): the longest wait of data for its acknowledgement, and of a closed
//! window for its opening. As in Linux (`retransmits_timed_out`, `tcp_clamp_rto_to_user_timeout`) the time runs from
//! the first retransmission, or the first probe, and shortens the last timer.

use super::Sender;
use lightlag_core::{Duration, Instant};

/// The shortest duration of a shortened timer: one tick of the kernel's clock.
const TICK: Duration = Duration::from_millis(1);

impl Sender {
    /// Gives up after this time without an answer; zero leaves that to the number of retries.
    pub(crate) fn set_user_timeout(&mut self, timeout: Duration) {
        if !timeout.is_zero() || self.special.extra().is_some() {
            self.special.extra_mut().user_timeout = timeout;
        }
    }

    /// Time after which the sender gives up; zero if the number of retries decides.
    pub(crate) fn user_timeout(&self) -> Duration {
        self.special.extra().map_or(Duration::ZERO, |extra| extra.user_timeout)
    }

    /// Whether the user timeout has passed when a retransmission or a probe is due, the `first` of them or a later one.
    pub(super) fn user_timed_out(&mut self, now: Instant, first: bool) -> bool {
        let Some(extra) = self.special.used_extra().filter(|extra| !extra.user_timeout.is_zero()) else { return false };
        if first {
            extra.unanswered_since = now;
        }
        now.since(extra.unanswered_since) >= extra.user_timeout
    }

    /// Duration of a timer that waits for the answer to a retransmission or a probe.
    pub(super) fn within_user_timeout(&self, now: Instant, wait: Duration) -> Duration {
        let Some(extra) = self.special.extra().filter(|extra| !extra.user_timeout.is_zero()) else { return wait };
        wait.min(extra.user_timeout.saturating_sub(now.since(extra.unanswered_since)).max(TICK))
    }
}
