//! Retransmissions: copies that may still arrive, and records that were lost again.

use super::forward::Forward;
use super::{RETRANSMITTED, SETTLED, SegmentRecord};
use lightlag_core::Ring;

/// Initial capacity in values of eight bytes. Allocators return no smaller block, and few queues grow beyond it.
const FEWEST: usize = 3;

/// Retransmitted records in the order of transmission (RFC 8985), and those among them that were lost again.
#[derive(Debug, Default)]
pub(super) struct Again {
    pub(super) resent: Ring<Copied>,
    pub(super) lost: Ring<u64>,
    /// Retransmissions in the order of sending, if losses are detected by forward acknowledgement.
    pub(super) forward: Option<Box<Forward>>,
}

/// A retransmitted copy of a record. The record contains the transmission time of its last copy, and only that copy may
/// still arrive.
///
/// The lower 32 bits of the record's number are enough. At each ACK, copies are removed from the queue up to the first
/// that may still arrive. The record of that copy is outstanding, and the records of later copies were in flight
/// together with it. Between them are fewer than 2³⁰ records, because a window has no more bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copied {
    number: u32,
    /// Value of [`SegmentRecord::again`] when this copy was sent.
    again: u8,
}

impl Copied {
    /// Returns the index of the copy's record in a ring whose first record has the number `first`; past the end if the
    /// record was removed.
    pub(super) fn place(self, first: u64) -> usize {
        self.number.wrapping_sub(first as u32) as usize
    }

    /// Returns true if this is the last copy of the record, and it may still arrive.
    pub(super) fn waits(self, record: &SegmentRecord) -> bool {
        record.has(RETRANSMITTED) && !record.has(SETTLED) && record.again == self.again
    }
}

impl Again {
    /// Records the retransmission of the record with this number. It is the `again`-th retransmission.
    pub(super) fn left(&mut self, number: u64, again: u8) {
        let copy = Copied { number: number as u32, again };
        if again == u8::MAX {
            self.forget_copies(copy.number);
        }
        push(&mut self.resent, copy);
    }

    /// Drops the earlier copies of a record that was retransmitted more often than its counter can count.
    #[cold]
    fn forget_copies(&mut self, number: u32) {
        for _ in 0..self.resent.len() {
            if let Some(copy) = self.resent.pass().copied().filter(|copy| copy.number != number) {
                *self.resent.push() = copy;
            }
        }
    }

    /// Adds a record that was lost again to the end of the queue.
    pub(super) fn add_lost(&mut self, number: u64) {
        push(&mut self.lost, number);
    }

    /// Inserts a record that was lost again in ascending order, unless it is already in the queue.
    pub(super) fn insert_lost(&mut self, number: u64) {
        let index = self.lost.partition_point(|other| *other < number);
        if self.lost.get(index) == Some(&number) {
            return;
        }
        push(&mut self.lost, number);
        for at in (index..self.lost.len() - 1).rev() {
            self.lost[at + 1] = self.lost[at];
        }
        self.lost[index] = number;
    }
}

fn push<T: Default>(queue: &mut Ring<T>, value: T) {
    if queue.is_empty() {
        queue.reserve(FEWEST);
    }
    *queue.push() = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoreboard::Scoreboard;
    use lightlag_core::{Duration, Instant};

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn only_the_last_of_many_copies_may_arrive() {
        let mut board = Scoreboard::new(100);
        board.keep_times();
        (0..2).for_each(|_| board.sent(Instant::ZERO, 100, false));
        for millis in 1..=300 {
            board.mark_all_lost(Instant::MAX);
            board.retransmit(0, at(millis));
            if millis == 299 {
                board.retransmit(1, at(299));
            }
        }
        board.retransmit(1, at(301));
        assert_eq!(board.repairs_on_the_way(), 2);
        let overdue = board.mark_overdue(at(310), (at(305), 200), Duration::from_millis(10));
        assert_eq!(overdue, (at(311), true), "the record sent last is not due yet");
        assert_eq!((board.next_lost(), board.repairs_on_the_way()), (Some(0), 1));
    }

    #[test]
    fn segments_reported_lost_again_ascend() {
        let mut again = Again::default();
        for number in [5, 2, 9, 5, 7, 1, 9] {
            again.insert_lost(number);
        }
        assert!(again.lost.iter().eq(&[1, 2, 5, 7, 9]));
    }
}
