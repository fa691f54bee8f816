//! Selection of the next retransmission: RFC 6675 §4 NextSeg, in terms of record numbers.

use super::{AMBIGUOUS, Chunk, FIN, JOINED, LOST, RETRANSMITTED, SACKED, SETTLED, Scoreboard};
use lightlag_core::Instant;

impl Scoreboard {
    /// Returns the next lost record that has not been retransmitted since (RFC 6675 §4 NextSeg rule 1): records that
    /// were lost again come first, then the lowest one.
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

    /// Returns the lowest record below the highest SACKed one that is neither SACKed nor retransmitted (NextSeg rule
    /// 3). Call it only when [`Self::next_lost`] returns `None`.
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

    /// Returns the highest record that is not SACKed (NextSeg rule 4); `None` if it was abandoned.
    pub fn last_unsacked(&self) -> Option<u64> {
        let above = self.ranges.last(self.una).filter(|range| range.end == self.nxt);
        let end = above.map_or(self.nxt, |range| range.start);
        let at = self.find(end).checked_sub(1)?;
        self.records.get(at).filter(|last| !last.has(SETTLED)).map(|_| self.first + at as u64)
    }

    /// Returns the number of the first record, if it may be retransmitted. If the peer has SACKed it without
    /// acknowledging it, which violates the protocol, only a timeout repairs that.
    pub fn head(&self) -> Option<u64> {
        self.records.front().filter(|head| !head.has(SETTLED)).map(|_| self.first)
    }

    /// Returns true if any record counts as lost, whether retransmitted or not. It may examine every record, so call it
    /// only once per episode.
    pub fn any_lost(&self) -> bool {
        let below_edge = self.records.iter().take((self.lost_edge - self.first) as usize);
        below_edge.rev().any(|record| record.has(LOST) && !record.has(SETTLED))
    }

    /// Returns true if the first record was sent more than once.
    pub fn head_left_again(&self) -> bool {
        self.records.front().is_some_and(|head| head.has(AMBIGUOUS))
    }

    /// Returns the last transmission time of the first record.
    pub fn head_sent(&self) -> Option<Instant> {
        self.records.front().map(|head| head.sent)
    }

    /// Returns the offset after the first record.
    pub fn head_end(&self) -> u64 {
        self.records.front().map_or(self.una, |head| head.end(self.una))
    }

    /// Returns true if the record was retransmitted and this retransmission does not count as lost.
    pub fn was_retransmitted(&self, number: u64) -> bool {
        self.records[(number - self.first) as usize].has(RETRANSMITTED)
    }

    /// Returns true if a retransmitted segment that starts at `start`, above the cumulative acknowledgement, is SACKed.
    pub fn has_reported_repair(&self, start: u64) -> bool {
        start >= self.una
            && self.records.get(self.find(start)).is_some_and(|record| record.has(RETRANSMITTED) && record.has(SACKED))
    }

    /// Returns true if the record was retransmitted at least `times` times.
    pub fn was_repaired(&self, number: u64, times: u8) -> bool {
        self.records[(number - self.first) as usize].again >= times
    }

    /// Returns whether the record was sent more than once, and its length in bytes.
    pub fn copies(&self, number: u64) -> (bool, u32) {
        let record = &self.records[(number - self.first) as usize];
        (record.has(AMBIGUOUS), record.len())
    }

    /// Returns the number of bytes of the records before this one that were sent in its burst, and retransmitted at
    /// `now`.
    pub fn repaired_with(&self, number: u64, now: Instant) -> u64 {
        let index = (number - self.first) as usize;
        let mut bytes = 0;
        for index in (1..=index).rev().take_while(|index| self.records[*index].has(JOINED)) {
            let before = &self.records[index - 1];
            if !before.has(RETRANSMITTED) || before.sent != now {
                break;
            }
            bytes += u64::from(before.len());
        }
        bytes
    }

    /// Returns true if the record with this number was sent in the same burst as the one before it, and is lost and not
    /// yet retransmitted.
    pub fn joins(&self, number: u64) -> bool {
        let record = self.records.get((number - self.first) as usize);
        record.is_some_and(|record| record.has(JOINED) && record.has(LOST) && !record.has(RETRANSMITTED | SETTLED))
    }

    /// Separates the record with this number from the burst of the one before it.
    pub fn cut_burst(&mut self, number: u64) {
        if let Some(record) = self.records.get_mut((number - self.first) as usize) {
            record.flags &= !JOINED;
        }
    }

    /// Records the retransmission of the record with this number. Returns the segment to send.
    pub fn retransmit(&mut self, number: u64, now: Instant) -> Chunk {
        let nxt = self.first + self.records.len() as u64;
        let record = &mut self.records[(number - self.first) as usize];
        debug_assert!(!record.has(SETTLED), "neither SACKed nor abandoned data is retransmitted");
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
