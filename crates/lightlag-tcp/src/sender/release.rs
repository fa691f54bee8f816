//! Bursts on a timer, for an algorithm that sends this way: it determines how many segments may leave now, and the time
//! of the next ones. Repairs and new data share a burst, repairs first; a tail probe may exceed it.

use super::Sender;
use lightlag_control::congestion::Sent;
use lightlag_core::Instant;

impl Sender {
    /// The room left in the burst, in bytes; `None` if data waits for the next one.
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

    /// Notes that a segment left.
    pub(super) fn count_in_burst(&mut self, now: Instant, bytes: u32) {
        let (bytes, pipe) = (u64::from(bytes), self.board.pipe());
        if let Some(transmissions) = self.congestion.as_mut().and_then(|congestion| congestion.transmissions()) {
            let sent = Sent { now, bytes, prior_inflight: pipe.saturating_sub(bytes), app_limited: false };
            transmissions.on_sent(&sent);
        }
    }
}
