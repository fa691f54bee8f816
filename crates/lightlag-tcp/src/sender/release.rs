//! Bursts on a timer, for algorithms that determine how many segments may be sent now, and when the next ones may be
//! sent. Retransmissions and new data share a burst, retransmissions first. A tail loss probe may exceed it.

use super::Sender;
use lightlag_control::congestion::Sent;
use lightlag_core::Instant;

impl Sender {
    /// Returns how many bytes of the current burst remain; `None` if there is data that must wait for the next burst.
    #[inline(never)]
    pub(super) fn released(&mut self, now: Instant) -> Option<u64> {
        let release = self.congestion.as_ref()?.departures()?.release(now);
        if release.segments > 0 {
            return Some(u64::from(release.segments) * u64::from(self.segment_size));
        }
        let waits = self.written > self.board.nxt() || self.resend_head || self.board.next_lost().is_some();
        if !waits {
            return Some(0);
        }
        self.special.pacer_mut().wait_until(release.next);
        None
    }

    /// Counts a sent segment towards the current burst.
    pub(super) fn count_in_burst(&mut self, now: Instant, bytes: u32) {
        let (bytes, pipe) = (u64::from(bytes), self.board.pipe());
        if let Some(transmissions) = self.congestion.as_mut().and_then(|congestion| congestion.transmissions()) {
            let sent = Sent { now, bytes, prior_inflight: pipe.saturating_sub(bytes), app_limited: false };
            transmissions.on_sent(&sent);
        }
    }
}
