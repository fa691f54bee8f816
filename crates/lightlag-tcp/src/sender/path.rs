//! Adaptation to a path with a smaller MTU than before (RFC 1191, RFC 8201).

use super::{Sender, Tail, Timer, payload};
use crate::config::Config;
use lightlag_core::Instant;

impl Sender {
    /// Limits full segments to `size` bytes, fewer than before. Outstanding data is retransmitted; the congestion
    /// window stays the same, because no queue was full (RFC 1191 §6.5).
    #[cold]
    pub(crate) fn shrink_segments(&mut self, now: Instant, size: u32, config: &Config) {
        self.segment_size = payload(size);
        if self.board.is_empty() {
            self.board.set_segment_size(size);
            return;
        }
        let pieces = self.board.recut(size);
        // This must precede the division of segments, which changes the meaning of record numbers.
        self.note_lost(now);
        if let Some(rates) = self.special.rates() {
            rates.recut(&pieces);
        }
        self.recovery.on_smaller_path(&self.board);
        self.tail = Tail::new();
        self.resend_head = true;
        self.burst_start = 0;
        self.burst_len = 0;
        self.timer = Timer::Retransmission;
        self.deadline = now + self.rtt.rto(&config.rto);
    }
}
