//! Loss detection by time (RFC 8985 §6.2 step 5): a segment is lost if a segment sent later was delivered and enough
//! time has passed since its own transmission.
//!
//! Segments are first sent in the order of their offsets, so `lost_edge` passes each of them once. Retransmissions have
//! a separate queue, in the order of transmission. Each segment is therefore examined a constant number of times.

use super::again::Copied;
use super::{LOST, RETRANSMITTED, SETTLED, Scoreboard, log};
use lightlag_core::{Duration, Instant, Ring};

impl Scoreboard {
    /// Starts to record the transmission times of retransmissions, which [`Self::mark_overdue`] needs.
    pub fn keep_times(&mut self) {
        self.timed = true;
    }

    /// Returns true if [`Self::mark_overdue`] may find a loss: a segment was delivered out of order, or retransmitted.
    pub fn may_be_overdue(&self) -> bool {
        self.sacked > 0 || self.any_resent()
    }

    /// Returns the number of retransmissions that may still arrive. Valid only if their times are recorded.
    pub fn repairs_on_the_way(&self) -> u32 {
        let Some(again) = &self.again else { return 0 };
        let waits = |copy: &&Copied| self.records.get(copy.place(self.first)).is_some_and(|record| copy.waits(record));
        again.resent.iter().filter(waits).count() as u32
    }

    /// Marks every segment as lost that was sent before the segment `newest` (its transmission time and end offset) and
    /// at least `allowance` ago. Returns the time when the next segment becomes lost, [`Instant::MAX`] if there is
    /// none, and whether any of the lost segments was a retransmission.
    pub fn mark_overdue(&mut self, now: Instant, newest: (Instant, u64), allowance: Duration) -> (Instant, bool) {
        let first_copies = self.mark_overdue_first_copies(now, newest, allowance);
        let (copies, any) = self.mark_overdue_again(now, newest, allowance);
        (first_copies.min(copies), any)
    }

    fn mark_overdue_first_copies(&mut self, now: Instant, newest: (Instant, u64), allowance: Duration) -> Instant {
        while let Some(record) = self.records.get_mut((self.lost_edge - self.first) as usize) {
            if !record.has(SETTLED | LOST | RETRANSMITTED) {
                if (record.sent, record.end(self.una)) >= newest {
                    break;
                }
                if record.sent + allowance > now {
                    return record.sent + allowance;
                }
                self.lost_bytes += u64::from(record.len());
                log::lost(&mut self.log, self.lost_edge, u64::from(record.len()));
                self.pipe -= record.len();
                record.flags |= LOST;
            }
            self.lost_edge += 1;
        }
        Instant::MAX
    }

    fn mark_overdue_again(&mut self, now: Instant, newest: (Instant, u64), allowance: Duration) -> (Instant, bool) {
        let mut any = false;
        let Some(again) = &mut self.again else { return (Instant::MAX, any) };
        while let Some(copy) = again.resent.front() {
            let index = copy.place(self.first);
            if let Some(record) = self.records.get_mut(index).filter(|record| copy.waits(record)) {
                if (record.sent, record.end(self.una)) >= newest {
                    break;
                }
                if record.sent + allowance > now {
                    return (record.sent + allowance, any);
                }
                let number = self.first + index as u64;
                self.lost_bytes += u64::from(record.len());
                log::lost(&mut self.log, number, u64::from(record.len()));
                self.pipe -= record.in_pipe();
                record.flags = record.flags & !RETRANSMITTED | LOST;
                again.add_lost(number);
                any = true;
            }
            again.resent.pass();
        }
        (Instant::MAX, any)
    }

    /// Unmarks the lost segments that were not retransmitted, because the episode was spurious.
    pub fn unmark_lost(&mut self) {
        self.lost_edge = self.first;
        self.cursor = self.first;
        if let Some(again) = &mut self.again {
            again.lost = Ring::new();
            if let Some(forward) = &mut again.forward {
                forward.lost.clear();
            }
        }
        for record in self.records.iter_mut() {
            if record.has(LOST) && !record.has(RETRANSMITTED) {
                record.flags &= !LOST;
                self.pipe += record.len();
            }
        }
    }
}
