//! Bursts that leave on a timer, for an algorithm that sends so: it says how many segments may leave now, and when the
//! next ones may. Repairs and new data share what a burst allows, repairs first; a tail probe goes beyond it.

use super::Sender;
use lightlag_control::congestion::Sent;
use lightlag_core::Instant;

impl Sender {
    /// The room that the burst leaves, in bytes; `None` if something waits for the next one.
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
        self.pacer.wait_until(release.next);
        None
    }

    /// A segment left.
    pub(super) fn count_in_burst(&mut self, now: Instant, bytes: u32) {
        let (bytes, pipe) = (u64::from(bytes), self.board.pipe());
        if let Some(transmissions) = self.congestion.as_mut().and_then(|congestion| congestion.transmissions()) {
            let sent = Sent { now, bytes, prior_inflight: pipe.saturating_sub(bytes), app_limited: false };
            transmissions.on_sent(&sent);
        }
    }
}
