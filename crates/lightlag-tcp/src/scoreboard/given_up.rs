//! Data that the sender no longer repairs, because the peer tolerates its loss (BETS): it counts as if it were SACKed,
//! but not as delivered.

use super::{AMBIGUOUS, FIN, GIVEN_UP, LOST, Range, SETTLED, Scoreboard};
use lightlag_core::Instant;

impl Scoreboard {
    /// Whether the record was sent this often. A FIN counts as never sent, because every connection needs it.
    pub fn has_left(&self, number: u64, times: u8) -> bool {
        let record = &self.records[(number - self.first) as usize];
        !record.has(FIN) && record.again.saturating_add(1) >= times
    }

    /// Gives the record up: it never leaves again. Returns its range.
    pub fn give_up(&mut self, number: u64) -> Range {
        let record = &mut self.records[(number - self.first) as usize];
        debug_assert!(!record.has(SETTLED | FIN), "only what is missed and not needed is given up");
        self.pipe -= record.in_pipe();
        record.flags = record.flags & AMBIGUOUS | GIVEN_UP;
        Range { start: record.start(self.una), end: record.end(self.una) }
    }

    /// Whether the first record was given up: then the cumulative acknowledgement waits for the peer's patience.
    pub fn head_given_up(&self) -> bool {
        self.records.front().is_some_and(|head| head.has(GIVEN_UP))
    }

    /// Number of the first record after those given up, if it is lost.
    pub fn lost_behind_given_up(&self) -> Option<u64> {
        let at = self.records.iter().position(|record| !record.has(SETTLED))?;
        self.records[at].has(LOST).then_some(self.first + at as u64)
    }

    /// Time of the last departure of the first record that is neither SACKed nor given up; `None` if there is none.
    pub fn unsettled_sent(&self) -> Option<Instant> {
        self.records.iter().find(|record| !record.has(SETTLED)).map(|record| record.sent)
    }
}
