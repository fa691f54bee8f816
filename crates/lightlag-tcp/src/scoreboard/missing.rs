//! Loss detection by reports of missing data (SNACK).

use super::{LOST, RETRANSMITTED, Range, SETTLED, Scoreboard, log};
use lightlag_core::Instant;

impl Scoreboard {
    /// Returns true if `range` covers exactly `count` segments.
    pub fn is_cut_at(&self, range: Range, count: u64) -> bool {
        let (from, to) = (self.find(range.start), self.find(range.end));
        let start = |at: usize| self.records.get(at).map_or(self.nxt, |record| record.start(self.una));
        start(from) == range.start && start(to) == range.end && (to - from) as u64 == count
    }

    /// Handles a report that `range` is missing: the segments in it that were last sent at or before `before` are lost,
    /// and will be retransmitted, lowest first. Returns true if there are any.
    pub fn report_missing(&mut self, range: Range, before: Instant) -> bool {
        let mut index = self.find(range.start);
        if let Some(previous) = index.checked_sub(1).and_then(|before| self.records.get(before))
            && previous.end(self.una) > range.start
        {
            index -= 1;
        }
        let (mut any, una) = (false, self.una);
        while let Some(record) = self.records.get_mut(index).filter(|record| record.start(una) < range.end) {
            count_step!(self);
            let waits = record.has(LOST) && !record.has(RETRANSMITTED);
            if !record.has(SETTLED) && !waits && record.sent <= before {
                let number = self.first + index as u64;
                self.pipe -= record.in_pipe();
                self.lost_bytes += record.newly_lost();
                log::lost(&mut self.log, number, record.newly_lost());
                record.flags = record.flags & !RETRANSMITTED | LOST;
                self.again.get_or_insert_default().insert_lost(number);
                any = true;
            }
            index += 1;
        }
        any
    }
}
