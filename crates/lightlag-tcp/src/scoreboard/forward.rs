//! Loss detection by forward acknowledgement (Mathis, Mahdavi, "Forward acknowledgement: refining TCP congestion
//! control", SIGCOMM 1996), with the thresholds of `ScoreBoard1` in ns-2.
//!
//! FACK is the highest SACKed segment. A segment sent once is lost when it lies `DISTANCE` segments or more below FACK.
//! A retransmission is lost when new data arrived that was sent after it (SND.NXT at its transmission ≤ FACK), or when
//! a retransmission arrived that was sent more than `DISTANCE` retransmissions later.
//!
//! Both SND.NXT and the order increase from one retransmission to the next. Therefore a queue holds the retransmissions
//! in flight, and only its first element is checked.

use super::{Again, LOST, RETRANSMITTED, SACKED, SETTLED, Scoreboard, SegmentRecord, log};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Minimum distance of a lost segment below FACK, in segments: `dupack_threshold + 1` in ns-2.
const DISTANCE: u64 = 4;

/// Retransmissions in the order of sending.
#[derive(Debug, Default)]
pub(super) struct Forward {
    on_the_way: VecDeque<Repair>,
    /// For each record, the order number of its last retransmission.
    orders: BTreeMap<u64, u64>,
    following: u64,
    /// Highest order number of the retransmissions that arrived.
    arrived: Option<u64>,
    /// Records whose retransmission was lost, and that wait to be retransmitted again.
    pub(super) lost: BTreeSet<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Repair {
    number: u64,
    order: u64,
    /// Number of the next new record when this retransmission was sent.
    nxt: u64,
}

impl Forward {
    /// Records the retransmission of a record; `nxt` is the number of the next new record.
    pub(super) fn left(&mut self, number: u64, nxt: u64) {
        let order = self.following;
        self.following += 1;
        self.lost.remove(&number);
        self.orders.insert(number, order);
        self.on_the_way.push_back(Repair { number, order, nxt });
    }

    /// Handles the arrival of a retransmitted record.
    pub(super) fn delivered(&mut self, number: u64) {
        if let Some(order) = self.orders.remove(&number) {
            self.arrived = self.arrived.max(Some(order));
        }
        self.lost.remove(&number);
    }

    /// Returns true if this is the last retransmission of its record, and it has not arrived.
    fn waits(&self, repair: &Repair) -> bool {
        self.orders.get(&repair.number) == Some(&repair.order)
    }

    fn is_lost(&self, repair: &Repair, fack: u64) -> bool {
        repair.nxt <= fack || self.arrived.is_some_and(|arrived| repair.order + DISTANCE < arrived)
    }
}

impl Again {
    /// Discards all retransmissions, because none is in flight.
    pub(super) fn forget_order(&mut self) {
        if let Some(forward) = &mut self.forward {
            **forward = Forward::default();
        }
    }

    /// Returns an empty state that keeps the order of retransmissions; `None` if this state does not keep it.
    pub(super) fn emptied(&self) -> Option<Box<Self>> {
        self.forward.as_ref().map(|_| Box::new(Self { forward: Some(Box::default()), ..Self::default() }))
    }
}

/// Handles the arrival of a retransmitted record.
pub(super) fn delivered(again: &mut Option<Box<Again>>, number: u64) {
    if let Some(forward) = again.as_mut().and_then(|again| again.forward.as_mut()) {
        forward.delivered(number);
    }
}

impl Scoreboard {
    /// Starts to record the order of retransmissions, which [`Self::mark_behind`] needs.
    pub fn keep_order(&mut self) {
        self.again.get_or_insert_default().forward = Some(Box::default());
    }

    /// Marks segments as lost by forward acknowledgement. Returns true if any of them is newly lost.
    pub fn mark_behind(&mut self) -> bool {
        if self.ranges.is_empty() {
            return false;
        }
        let fack = self.above_top - 1;
        let before = self.lost_bytes;
        while self.lost_edge + DISTANCE <= fack {
            let Some(record) = self.records.get_mut((self.lost_edge - self.first) as usize) else { break };
            if !record.has(SETTLED | LOST | RETRANSMITTED) {
                self.lost_bytes += u64::from(record.len());
                log::lost(&mut self.log, self.lost_edge, u64::from(record.len()));
                self.pipe -= record.len();
                record.flags |= LOST;
            }
            self.lost_edge += 1;
        }
        self.mark_repairs_behind(fack);
        self.lost_bytes > before
    }

    /// Returns the lowest record whose retransmission was lost and that waits to be retransmitted again.
    pub(super) fn next_lost_behind(&mut self) -> Option<u64> {
        let forward = self.again.as_mut().and_then(|again| again.forward.as_mut())?;
        while let Some(number) = forward.lost.first().copied() {
            let at = number.checked_sub(self.first).and_then(|at| self.records.get(at as usize));
            if at.is_some_and(|record| record.has(LOST) && !record.has(RETRANSMITTED | SETTLED)) {
                return Some(number);
            }
            // Abandoned, or acknowledged in part.
            forward.lost.remove(&number);
        }
        None
    }

    fn mark_repairs_behind(&mut self, fack: u64) {
        let Some(forward) = self.again.as_mut().and_then(|again| again.forward.as_mut()) else { return };
        while let Some(repair) = forward.on_the_way.front().copied() {
            if forward.waits(&repair) {
                if !forward.is_lost(&repair, fack) {
                    return;
                }
                let index = repair.number.checked_sub(self.first);
                let waiting = |record: &&mut SegmentRecord| record.has(RETRANSMITTED) && !record.has(SETTLED);
                let record = index.and_then(|at| self.records.get_mut(at as usize)).filter(waiting);
                if let Some(record) = record {
                    self.lost_bytes += u64::from(record.len());
                    log::lost(&mut self.log, repair.number, u64::from(record.len()));
                    self.pipe -= record.in_pipe();
                    record.flags = record.flags & !RETRANSMITTED | LOST;
                    self.pipe += record.in_pipe();
                    forward.lost.insert(repair.number);
                }
                forward.orders.remove(&repair.number);
            }
            forward.on_the_way.pop_front();
        }
    }

    /// Discards SACK reports, losses and retransmissions: all outstanding data counts as in flight again
    /// (`ScoreBoard1::ClearScoreBoard`).
    pub fn forget_reports(&mut self) {
        self.ranges.clear();
        self.sacked = 0;
        self.sacked_bytes = 0;
        self.lost_edge = self.first;
        self.cursor = self.first;
        if let Some(again) = &mut self.again {
            again.forget_order();
        }
        self.pipe = 0;
        for record in self.records.iter_mut() {
            record.flags &= !(SACKED | LOST | RETRANSMITTED);
            self.pipe += record.in_pipe();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scoreboard::{Delivery, Range, Scoreboard};
    use lightlag_core::Instant;

    const SIZE: u32 = 100;

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::new(SIZE);
        board.keep_order();
        (0..segments).for_each(|_| board.sent(Instant::ZERO, SIZE, false));
        board
    }

    fn sack(board: &mut Scoreboard, start: u64, end: u64) -> bool {
        let size = u64::from(SIZE);
        board.sack(Range { start: start * size, end: end * size }, &mut Delivery::default());
        board.mark_behind()
    }

    fn repair(board: &mut Scoreboard) -> u64 {
        let number = board.next_lost().expect("a segment is lost");
        board.retransmit(number, Instant::ZERO);
        number
    }

    #[test]
    fn four_segments_below_the_highest_report_is_lost() {
        let mut board = board(10);
        assert!(!sack(&mut board, 3, 4));
        assert!(sack(&mut board, 4, 5), "0 lies four below 4");
        assert_eq!((board.pipe(), repair(&mut board)), (700, 0));
        assert!(!board.mark_behind());
        assert_eq!(board.next_lost(), None);
        assert!(sack(&mut board, 6, 7));
        assert_eq!([repair(&mut board), repair(&mut board)], [1, 2]);
    }

    #[test]
    fn a_repair_is_lost_when_newer_data_arrived() {
        let mut board = board(6);
        assert!(sack(&mut board, 1, 6));
        assert_eq!(repair(&mut board), 0);
        board.sent(Instant::ZERO, SIZE, false);
        assert_eq!(board.pipe(), 200);
        assert!(sack(&mut board, 6, 7));
        assert_eq!((board.pipe(), repair(&mut board)), (0, 0));
        assert_eq!(board.pipe(), 100);
    }

    #[test]
    fn a_repair_is_lost_when_one_five_repairs_later_arrived() {
        let mut board = board(20);
        assert!(sack(&mut board, 10, 20));
        for number in 0..6 {
            assert_eq!(repair(&mut board), number);
        }
        assert!(!sack(&mut board, 4, 5));
        assert!(sack(&mut board, 5, 6));
        // Before data that has not been repaired yet.
        assert_eq!([repair(&mut board), repair(&mut board)], [0, 6]);
    }

    #[test]
    fn data_abandoned_after_its_repair_was_lost_is_not_sent_again() {
        let mut board = board(6);
        assert!(sack(&mut board, 1, 6));
        assert_eq!(repair(&mut board), 0);
        board.sent(Instant::ZERO, SIZE, false);
        assert!(sack(&mut board, 6, 7), "the repair is lost");
        board.give_up(0);
        assert_eq!(board.next_lost(), None);
    }

    #[test]
    fn reports_are_discarded_with_their_marks() {
        let mut board = board(10);
        assert!(sack(&mut board, 5, 9));
        repair(&mut board);
        board.forget_reports();
        assert_eq!((board.pipe(), board.sacked(), board.any_sacked()), (1000, 0, false));
        assert_eq!(board.next_lost(), None);
        assert!(!board.mark_behind());
        assert!(sack(&mut board, 8, 9), "one block reports the data below it again");
        assert_eq!([0, 1, 2, 3, 4].map(|_| repair(&mut board)), [0, 1, 2, 3, 4]);
        assert_eq!(board.next_lost(), None);
    }

    #[test]
    fn a_timeout_loses_repairs_and_their_order() {
        let mut board = board(8);
        assert!(sack(&mut board, 4, 8));
        repair(&mut board);
        board.mark_all_lost(Instant::MAX);
        assert_eq!((board.pipe(), repair(&mut board)), (0, 0));
        assert_eq!([repair(&mut board), repair(&mut board), repair(&mut board)], [1, 2, 3]);
        assert_eq!(board.next_lost(), None);
    }
}
