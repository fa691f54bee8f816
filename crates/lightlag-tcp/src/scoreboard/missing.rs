//! Loss by report (SNACK): the peer names the missing data.

use super::{LOST, RETRANSMITTED, Range, SETTLED, Scoreboard, log};
use lightlag_core::Instant;

impl Scoreboard {
    /// Whether `range` is exactly `count` segments.
    pub fn is_cut_at(&self, range: Range, count: u64) -> bool {
        let (from, to) = (self.find(range.start), self.find(range.end));
        let start = |at: usize| self.records.get(at).map_or(self.nxt, |record| record.start(self.una));
        start(from) == range.start && start(to) == range.end && (to - from) as u64 == count
    }

    /// Handles a report that `range` is missing: the part that did not leave since `before` is lost, and leaves again,
    /// the lowest first. Returns whether there is such a part.
    pub fn report_missing(&mut self, range: Range, before: Instant) -> bool {
        let mut at = self.find(range.start);
        if let Some(previous) = at.checked_sub(1).and_then(|before| self.records.get(before))
            && previous.end(self.una) > range.start
        {
            at -= 1;
        }
        let (mut any, una) = (false, self.una);
        while let Some(record) = self.records.get_mut(at).filter(|record| record.start(una) < range.end) {
            count_step!(self);
            let waits = record.has(LOST) && !record.has(RETRANSMITTED);
            if !record.has(SETTLED) && !waits && record.sent <= before {
                let number = self.first + at as u64;
                self.pipe -= record.in_pipe();
                self.lost_bytes += record.newly_lost();
                log::lost(&mut self.log, number, record.newly_lost());
                record.flags = record.flags & !RETRANSMITTED | LOST;
                self.again.get_or_insert_default().insert_lost(number);
                any = true;
            }
            at += 1;
        }
        any
    }
}
