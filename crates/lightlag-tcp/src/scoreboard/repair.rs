//! The choice of the next retransmission: RFC 6675 §4 NextSeg, by running numbers of records.

use super::{AMBIGUOUS, Chunk, FIN, JOINED, LOST, RETRANSMITTED, SACKED, SETTLED, Scoreboard};
use lightlag_core::Instant;

impl Scoreboard {
    /// The next lost record that was not retransmitted since (RFC 6675 §4 NextSeg rule 1): the lowest one, and before
    /// it those that were lost again.
    pub fn next_lost(&mut self) -> Option<u64> {
        if let Some(number) = self.next_lost_again() {
            return Some(number);
        }
        let first = self.next_lost_first_copy();
        let again = self.next_lost_behind();
        // Forward acknowledgement repairs in ascending order.
        again.map_or(first, |again| Some(first.map_or(again, |first| first.min(again))))
    }

    fn next_lost_first_copy(&mut self) -> Option<u64> {
        while self.cursor < self.lost_edge {
            count_step!(self);
            let record = &self.records[(self.cursor - self.first) as usize];
            if record.has(LOST) && !record.has(RETRANSMITTED) {
                return Some(self.cursor);
            }
            self.cursor += 1;
        }
        None
    }

    fn next_lost_again(&mut self) -> Option<u64> {
        let again = self.again.as_mut()?;
        while let Some(number) = again.lost.front().copied() {
            if number >= self.first {
                let record = &self.records[(number - self.first) as usize];
                if record.has(LOST) && !record.has(RETRANSMITTED) {
                    return Some(number);
                }
            }
            again.lost.pass();
        }
        None
    }

    /// The lowest record that is not SACKed, not retransmitted and below the highest SACKed one (NextSeg rule 3). Call
    /// it only when [`Self::next_lost`] returns none.
    pub fn next_hole(&mut self) -> Option<u64> {
        let top = self.ranges.last(self.una)?.start;
        while let Some(record) = self.records.get((self.cursor - self.first) as usize) {
            count_step!(self);
            if record.start(self.una) >= top {
                return None;
            }
            if !record.has(SETTLED | RETRANSMITTED) {
                return Some(self.cursor);
            }
            self.cursor += 1;
        }
        None
    }

    /// The highest record that is not SACKed (NextSeg rule 4), if nothing above it is and it may leave again.
    pub fn last_unsacked(&self) -> Option<u64> {
        let above = self.ranges.last(self.una).filter(|range| range.end == self.nxt);
        let end = above.map_or(self.nxt, |range| range.start);
        let at = self.find(end).checked_sub(1)?;
        self.records.get(at).filter(|last| !last.has(SETTLED)).map(|_| self.first + at as u64)
    }

    /// Number of the first record, if it may be sent again. A peer that SACKs it without acknowledging it lies, and has
    /// to wait for the timeout.
    pub fn head(&self) -> Option<u64> {
        self.records.front().filter(|head| !head.has(SETTLED)).map(|_| self.first)
    }

    /// Whether a record is taken as lost, repaired or not. It may look at each record: call it once per episode.
    pub fn any_lost(&self) -> bool {
        let below_edge = self.records.iter().take((self.lost_edge - self.first) as usize);
        below_edge.rev().any(|record| record.has(LOST) && !record.has(SETTLED))
    }

    /// Whether the first record was sent more than once.
    pub fn head_left_again(&self) -> bool {
        self.records.front().is_some_and(|head| head.has(AMBIGUOUS))
    }

    /// Time of the last departure of the first record.
    pub fn head_sent(&self) -> Option<Instant> {
        self.records.front().map(|head| head.sent)
    }

    /// The offset after the first record.
    pub fn head_end(&self) -> u64 {
        self.records.front().map_or(self.una, |head| head.end(self.una))
    }

    /// Whether the record was retransmitted since it was last marked lost by a timeout.
    pub fn was_retransmitted(&self, number: u64) -> bool {
        self.records[(number - self.first) as usize].has(RETRANSMITTED)
    }

    /// Whether data that starts there, above the acknowledgement, was sent again and is SACKed.
    pub fn has_reported_repair(&self, start: u64) -> bool {
        start >= self.una
            && self.records.get(self.find(start)).is_some_and(|record| record.has(RETRANSMITTED) && record.has(SACKED))
    }

    /// Whether the record was sent again at least this often.
    pub fn was_repaired(&self, number: u64, times: u8) -> bool {
        self.records[(number - self.first) as usize].again >= times
    }

    /// Whether the record was sent more than once, and its bytes.
    pub fn copies(&self, number: u64) -> (bool, u32) {
        let record = &self.records[(number - self.first) as usize];
        (record.has(AMBIGUOUS), record.len())
    }

    /// Notes that the last record left in the burst of the one before.
    #[inline]
    pub fn join_last(&mut self) {
        if let Some(last) = self.records.back_mut() {
            last.flags |= JOINED;
        }
    }

    /// Whether the record with this number left in the burst of the one before, and waits for its repair like that one.
    pub fn joins(&self, number: u64) -> bool {
        let record = self.records.get((number - self.first) as usize);
        record.is_some_and(|record| record.has(JOINED) && record.has(LOST) && !record.has(RETRANSMITTED | SETTLED))
    }

    /// Separates the record with this number from the burst of the one before.
    pub fn cut_burst(&mut self, number: u64) {
        if let Some(record) = self.records.get_mut((number - self.first) as usize) {
            record.flags &= !JOINED;
        }
    }

    /// Notes that the record with this number leaves again.
    pub fn retransmit(&mut self, number: u64, now: Instant) -> Chunk {
        let nxt = self.first + self.records.len() as u64;
        let record = &mut self.records[(number - self.first) as usize];
        debug_assert!(!record.has(SETTLED), "neither SACKed data nor what was given up leaves again");
        self.pipe -= record.in_pipe();
        record.flags |= RETRANSMITTED | AMBIGUOUS;
        record.sent = now;
        record.again = record.again.saturating_add(1);
        self.pipe += record.in_pipe();
        if self.timed {
            self.again.get_or_insert_default().left(number, record.again);
        }
        if let Some(forward) = self.again.as_mut().and_then(|again| again.forward.as_mut()) {
            forward.left(number, nxt);
        }
        Chunk { start: record.start(self.una), len: record.payload.into(), fin: record.has(FIN) }
    }
}
