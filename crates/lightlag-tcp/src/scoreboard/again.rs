//! Retransmissions: those that may still arrive, and the records of those that were lost again.

use super::forward::Forward;
use super::{RETRANSMITTED, Record, SETTLED};
use lightlag_core::Ring;

/// For so many values of eight bytes there is room at first: an allocator hands out no less memory, and few queues get
/// longer.
const FEWEST: usize = 3;

/// Retransmitted records in the order of time (RFC 8985), and those of them that were lost again.
#[derive(Debug, Default)]
pub(super) struct Again {
    pub(super) resent: Ring<Copied>,
    pub(super) lost: Ring<u64>,
    /// Repairs in their order, if losses are found by forward acknowledgement.
    pub(super) forward: Option<Box<Forward>>,
}

/// A copy of a record. The record has the time of its last one, and no other may still arrive.
///
/// The lower half of the number is enough. With each ACK the copies before the first that may arrive leave the queue. The
/// records of those behind it were in flight together with its record, which still is: between them lie fewer than 2³⁰
/// records, because a window has no more bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copied {
    number: u32,
    /// [`Record::again`] at its departure.
    again: u8,
}

impl Copied {
    /// The place of its record, where that with the number `first` is in front; behind the last if it has left.
    pub(super) fn place(self, first: u64) -> usize {
        self.number.wrapping_sub(first as u32) as usize
    }

    /// Whether it is the last copy of this record, and may still arrive.
    pub(super) fn waits(self, record: &Record) -> bool {
        record.has(RETRANSMITTED) && !record.has(SETTLED) && record.again == self.again
    }
}

impl Again {
    /// Notes that the record with this number has left again, for the time with the number `again`.
    pub(super) fn left(&mut self, number: u64, again: u8) {
        let copy = Copied { number: number as u32, again };
        if again == u8::MAX {
            self.forget_copies(copy.number);
        }
        push(&mut self.resent, copy);
    }

    /// Drops the copies of a record, of which more have left than are counted.
    #[cold]
    fn forget_copies(&mut self, number: u32) {
        for _ in 0..self.resent.len() {
            if let Some(copy) = self.resent.pass().copied().filter(|copy| copy.number != number) {
                *self.resent.push() = copy;
            }
        }
    }

    /// Adds a record that was lost again.
    pub(super) fn add_lost(&mut self, number: u64) {
        push(&mut self.lost, number);
    }

    /// The same where the numbers ascend, unless it is there.
    pub(super) fn insert_lost(&mut self, number: u64) {
        let place = self.lost.partition_point(|other| *other < number);
        if self.lost.get(place) == Some(&number) {
            return;
        }
        push(&mut self.lost, number);
        for at in (place..self.lost.len() - 1).rev() {
            self.lost[at + 1] = self.lost[at];
        }
        self.lost[place] = number;
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
    fn what_was_reported_lost_again_ascends() {
        let mut again = Again::default();
        for number in [5, 2, 9, 5, 7, 1, 9] {
            again.insert_lost(number);
        }
        assert!(again.lost.iter().eq(&[1, 2, 5, 7, 9]));
    }
}
