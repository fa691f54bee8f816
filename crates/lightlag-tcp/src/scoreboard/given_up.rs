//! Data that the sender no longer retransmits, because the peer tolerates its loss (BETS). It counts as if it were
//! SACKed, but not as delivered.

use super::{AMBIGUOUS, FIN, GIVEN_UP, LOST, Range, SETTLED, Scoreboard};
use lightlag_core::Instant;

impl Scoreboard {
    /// Returns true if the record was sent at least `times` times. Always false for a FIN, which must arrive in every
    /// connection.
    pub fn has_left(&self, number: u64, times: u8) -> bool {
        let record = &self.records[(number - self.first) as usize];
        !record.has(FIN) && record.again.saturating_add(1) >= times
    }

    /// Abandons the record: it is never retransmitted again. Returns its range.
    pub fn give_up(&mut self, number: u64) -> Range {
        let record = &mut self.records[(number - self.first) as usize];
        debug_assert!(!record.has(SETTLED | FIN), "only missing data that is not needed is abandoned");
        self.pipe -= record.in_pipe();
        record.flags = record.flags & AMBIGUOUS | GIVEN_UP;
        Range { start: record.start(self.una), end: record.end(self.una) }
    }

    /// Returns true if the first record was abandoned. The cumulative acknowledgement then advances only after the
    /// peer's receive timeout.
    pub fn head_given_up(&self) -> bool {
        self.records.front().is_some_and(|head| head.has(GIVEN_UP))
    }

    /// Returns the number of the first record that is neither SACKed nor abandoned, if it is lost.
    pub fn lost_behind_given_up(&self) -> Option<u64> {
        let at = self.records.iter().position(|record| !record.has(SETTLED))?;
        self.records[at].has(LOST).then_some(self.first + at as u64)
    }

    /// Returns the last transmission time of the first record that is neither SACKed nor abandoned; `None` if there is
    /// none.
    pub fn unsettled_sent(&self) -> Option<Instant> {
        self.records.iter().find(|record| !record.has(SETTLED)).map(|record| record.sent)
    }
}
