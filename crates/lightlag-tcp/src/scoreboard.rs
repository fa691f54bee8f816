//! The state of every segment in flight: sent, SACKed, lost, retransmitted (RFC 6675).
//!
//! There is one record per segment in a ring, contiguous in offsets, and the SACKed data as disjoint sorted ranges.
//! Nothing scans from the head. A record is found from an offset by dividing by the segment size, SACKed runs are
//! stepped over by their range, and each record is marked lost, SACKed, retransmitted and removed at most once. An ACK
//! therefore costs a constant number of steps on average, whatever the flight.
//!
//! Invariants: `pipe` is the sum of the records' contributions (RFC 6675 §4 SetPipe: one for a segment neither SACKed
//! nor lost, one more if it was retransmitted). Ranges are disjoint, sorted and inside `una..nxt`. A SACKed record is
//! never lost, nor is one that was given up. Every record below the lost edge is SACKed, lost, given up or was sent
//! again.

use crate::spans::Spans;
use lightlag_core::{Instant, Ring, prefetch};

/// Counts a loop step in tests; nothing otherwise.
macro_rules! count_step {
    ($board:ident) => {
        #[cfg(test)]
        {
            $board.steps += 1;
        }
    };
}

mod again;
mod counts;
mod delivery;
mod forward;
mod gaps;
mod given_up;
mod guessed;
mod log;
mod missing;
mod overdue;
mod recut;
mod repair;
#[cfg(test)]
mod tests;

pub use crate::spans::Range;
use again::Again;
pub use counts::Counts;
pub use delivery::Delivery;
pub use log::Log;

const SACKED: u8 = 1;
const LOST: u8 = 2;
const RETRANSMITTED: u8 = 4;
const FIN: u8 = 8;
/// Sent more than once, even if a timeout took the last copy out of the pipe (Karn).
const AMBIGUOUS: u8 = 16;
/// The peer tolerates its loss (BETS): it never leaves again.
const GIVEN_UP: u8 = 32;
/// It left in the burst of the one before, unless that was cut.
const JOINED: u8 = 64;
/// It needs no further action.
const SETTLED: u8 = SACKED | GIVEN_UP;

/// The most payload of a segment, in bytes: a packet counts them in 16 bits.
pub(crate) const MOST_PAYLOAD: u32 = u16::MAX as u32;

/// One segment in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    sent: Instant,
    /// The lower half of its first offset. The peer's window, of 30 bits, is smaller.
    start: u32,
    payload: u16,
    flags: u8,
    /// Number of retransmissions; 255 if there were more.
    again: u8,
}

impl Record {
    /// Its first offset, where no outstanding one is below `una`.
    fn start(&self, una: u64) -> u64 {
        una + u64::from(self.start.wrapping_sub(una as u32))
    }

    /// The offset after it.
    fn end(&self, una: u64) -> u64 {
        self.start(una) + u64::from(self.len())
    }

    /// Sequence numbers: the payload, and one for a FIN.
    fn len(&self) -> u32 {
        u32::from(self.payload) + u32::from(self.has(FIN))
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether it was sent once, and there is no news of it.
    fn is_fresh(&self) -> bool {
        self.flags & !(FIN | JOINED) == 0
    }

    /// Bytes that newly count as lost once the record is marked.
    fn newly_lost(&self) -> u64 {
        if self.has(LOST) && !self.has(RETRANSMITTED) { 0 } else { u64::from(self.len()) }
    }

    /// The record's contribution to the pipe.
    fn in_pipe(&self) -> u32 {
        self.copies() * self.len()
    }

    /// How many copies of it are in the pipe.
    fn copies(&self) -> u32 {
        if self.has(SETTLED) { 0 } else { u32::from(!self.has(LOST)) + u32::from(self.has(RETRANSMITTED)) }
    }
}

/// A segment to send again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// First offset.
    pub start: u64,
    /// Payload bytes.
    pub len: u32,
    /// Whether the FIN follows the payload.
    pub fin: bool,
}

/// The records of one sender. Records have running numbers, which stay the same while the ring moves.
#[repr(C)]
#[derive(Debug)]
pub struct Scoreboard {
    una: u64,
    nxt: u64,
    records: Ring<Record>,
    /// At most twice a window, which has 30 bits.
    pipe: u32,
    segment_size: u16,
    /// Whether `again` is kept.
    timed: bool,
    /// Number of the first record in the ring.
    first: u64,
    /// Every record with a smaller number is SACKed, given up, lost or was sent again (RFC 6675 IsLost is monotone in the
    /// offset, and so is the time of the first sending).
    lost_edge: u64,
    /// No lost record with a smaller number waits for retransmission (HighRxt as a number).
    cursor: u64,
    /// Bytes marked as lost so far.
    lost_bytes: u64,
    /// The events of records, if a log is kept.
    log: Option<Box<Log>>,
    /// The retransmissions, kept apart because there are usually none.
    again: Option<Box<Again>>,
    /// SACKed records, and their bytes; without SACK, segments that count as SACKed.
    sacked: u32,
    sacked_bytes: u32,
    /// The data that is SACKed, above `una`.
    ranges: Spans,
    /// Number of the record above the highest SACKed range, if there is one.
    above_top: u64,
    /// Loop steps so far: the measure of work in tests.
    #[cfg(test)]
    steps: u64,
}

impl Scoreboard {
    /// An empty scoreboard; full segments carry `segment_size` bytes.
    pub fn new(segment_size: u32) -> Self {
        let mut board = Self {
            records: Ring::new(),
            ranges: Spans::default(),
            una: 0,
            nxt: 0,
            pipe: 0,
            first: 0,
            lost_edge: 0,
            again: None,
            timed: false,
            sacked: 0,
            sacked_bytes: 0,
            lost_bytes: 0,
            log: None,
            above_top: 0,
            cursor: 0,
            segment_size: 0,
            #[cfg(test)]
            steps: 0,
        };
        board.set_segment_size(segment_size);
        board
    }

    /// Sets the payload of full segments, known after the handshake, before anything is sent.
    pub fn set_segment_size(&mut self, bytes: u32) {
        assert!(bytes <= MOST_PAYLOAD, "{bytes} B are more than a segment holds");
        self.segment_size = bytes as u16;
    }

    /// Payload of a full segment in bytes.
    pub fn segment_size(&self) -> u32 {
        self.segment_size.into()
    }

    /// First offset not acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Offset of the next new byte.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// FlightSize: everything sent and not acknowledged cumulatively, SACKed data included (RFC 5681 §2).
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Bytes thought to be in the network (RFC 6675 §4).
    pub fn pipe(&self) -> u64 {
        self.pipe.into()
    }

    /// Whether anything is SACKed.
    pub fn any_sacked(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Fetches the first record from memory.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self.records.front_place());
    }

    /// Makes room for so many records at once: memory that grows step by step leaves gaps behind.
    pub(crate) fn reserve(&mut self, records: usize) {
        self.records.reserve(records);
    }

    /// Gives back memory that only a larger flight needed.
    pub(crate) fn shrink(&mut self) {
        self.records.shrink();
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Whether the first record is lost.
    pub fn head_lost(&self) -> bool {
        self.records.front().is_some_and(|head| head.has(LOST))
    }

    /// Adds new data that left.
    #[inline(always)]
    pub fn sent(&mut self, now: Instant, len: u32, fin: bool) {
        debug_assert!(len <= MOST_PAYLOAD, "{len} B are more than a segment holds");
        let flags = if fin { FIN } else { 0 };
        *self.records.push() = Record { sent: now, start: self.nxt as u32, payload: len as u16, flags, again: 0 };
        let len = len + u32::from(fin);
        self.nxt += u64::from(len);
        self.pipe += len;
        debug_assert!(self.flight() <= u64::from(u32::MAX), "a flight is not larger than a window");
    }

    /// Handles the advance of the cumulative acknowledgement to `ack`, inside `una..=nxt`.
    #[inline(always)]
    pub fn acknowledge(&mut self, ack: u64, delivery: &mut Delivery) {
        debug_assert!(self.una <= ack && ack <= self.nxt);
        let (una, acked) = (self.una, (ack - self.una) as u32);
        // First copies left in order, each behind the one before: the first and the last of them give the times of all.
        let mut first = None;
        let mut sent = Instant::ZERO;
        let mut bytes = 0;
        while let Some(head) = self.records.front().filter(|head| head.is_fresh() && bytes + head.len() <= acked) {
            count_step!(self);
            log::delivered(&mut self.log, self.first, head.len());
            bytes += head.len();
            sent = head.sent;
            first.get_or_insert((sent, una + u64::from(bytes)));
            self.records.pass();
            self.first += 1;
        }
        let mut last = (sent, una + u64::from(bytes));
        self.pipe -= bytes;
        delivery.bytes += u64::from(bytes);
        while bytes < acked
            && let Some(head) = self.records.front_mut().filter(|head| head.start(una) < ack)
        {
            count_step!(self);
            if head.end(una) > ack {
                // Only a peer that cuts segments acknowledges a part of one, and that is payload.
                let cut = (ack - head.start(una)) as u32;
                self.pipe -= head.copies() * cut;
                if head.has(SETTLED) {
                    self.sacked_bytes -= if head.has(SACKED) { cut } else { 0 };
                } else {
                    delivery.bytes += u64::from(cut);
                    log::delivered(&mut self.log, self.first, cut);
                }
                head.start = ack as u32;
                head.payload -= cut as u16;
                break;
            }
            if head.has(SETTLED) {
                if head.has(SACKED) {
                    self.sacked -= 1;
                    self.sacked_bytes -= head.len();
                }
            } else {
                self.pipe -= head.in_pipe();
                if head.has(AMBIGUOUS) {
                    delivery.add(head, una);
                    forward::delivered(&mut self.again, self.first);
                } else {
                    delivery.bytes += u64::from(head.len());
                    last = (head.sent, head.end(una));
                    first.get_or_insert(last);
                }
                log::delivered(&mut self.log, self.first, head.len());
            }
            self.records.pass();
            self.first += 1;
        }
        if let Some(first) = first {
            delivery.note_run(first, last);
        }
        delivery.end_cumulative();
        self.una = ack;
        self.lost_edge = self.lost_edge.max(self.first);
        self.cursor = self.cursor.max(self.first);
        self.ranges.forget_below(ack, una);
    }

    /// Handles a report of `block` as received. Only whole records count; parts of one wait until it is complete.
    pub fn sack(&mut self, block: Range, delivery: &mut Delivery) {
        if block.start >= block.end || block.end <= self.una || block.end > self.nxt {
            return;
        }
        let start = block.start.max(self.una);
        if let Some(top) = self.ranges.last(self.una)
            && top.start <= start
            && start <= top.end
        {
            return self.extend_top(block.end, delivery);
        }
        let touching = self.first_range_ending_at_or_after(start);
        if let Some(range) = self.ranges.get(touching, self.una)
            && range.start <= start
            && block.end <= range.end
        {
            return;
        }
        let mut at = self.find(start);
        let una = self.una;
        let Some(from) = self.records.get(at).map(|record| record.start(una)) else { return };
        let mut range = Range { start: from, end: from };
        let mut next = touching;
        while let Some(record) = self.records.get_mut(at) {
            count_step!(self);
            if let Some(known) = self.ranges.get(next, una)
                && known.start <= record.start(una)
            {
                // Steps over known ranges. A range that only touches from below joins, too.
                range = Range { start: range.start.min(known.start), end: range.end.max(known.end) };
                next += 1;
                if known.end > record.start(una) {
                    at = self.find(known.end);
                }
                continue;
            }
            if record.end(una) > block.end {
                break;
            }
            self.pipe -= record.in_pipe();
            delivery.add(record, una);
            if record.has(AMBIGUOUS) {
                forward::delivered(&mut self.again, self.first + at as u64);
            }
            log::delivered(&mut self.log, self.first + at as u64, record.len());
            record.flags = (record.flags | SACKED) & !LOST;
            self.sacked += 1;
            self.sacked_bytes += record.len();
            range.end = record.end(una);
            at += 1;
        }
        // A range that starts where the new one ends joins it.
        if let Some(known) = self.ranges.get(next, una)
            && known.start == range.end
        {
            range.end = known.end;
            next += 1;
        }
        if range.start == range.end {
            return;
        }
        if next == self.ranges.len() {
            self.above_top = self.first + at as u64;
        }
        self.ranges.replace(touching, next, range);
    }

    /// Handles the usual news: the highest range grew up to `end`.
    fn extend_top(&mut self, end: u64, delivery: &mut Delivery) {
        let mut at = (self.above_top - self.first) as usize;
        let una = self.una;
        while let Some(record) = self.records.get_mut(at) {
            count_step!(self);
            if record.end(una) > end {
                break;
            }
            self.pipe -= record.in_pipe();
            delivery.add(record, una);
            if record.has(AMBIGUOUS) {
                forward::delivered(&mut self.again, self.first + at as u64);
            }
            log::delivered(&mut self.log, self.first + at as u64, record.len());
            record.flags = (record.flags | SACKED) & !LOST;
            self.sacked += 1;
            self.sacked_bytes += record.len();
            at += 1;
        }
        self.above_top = self.first + at as u64;
        let end = self.records.get(at).map_or(self.nxt, |record| record.start(una));
        self.ranges.end_last_at(end);
    }

    /// Index of the first range that ends at or after `offset`. News mostly concerns the newest data, so the last few
    /// ranges are searched first.
    fn first_range_ending_at_or_after(&self, offset: u64) -> usize {
        let near = self.ranges.iter(self.una).rev().take(4).position(|range| range.end < offset);
        near.map_or_else(
            || self.ranges.partition_point(self.una, |range| range.end < offset),
            |above| self.ranges.len() - above,
        )
    }

    /// Index of the first record that starts at or after `offset`. Nearly all records are of full size, so a
    /// division finds it; a head that was cut or small segments leave it to bisection.
    fn find(&self, offset: u64) -> usize {
        let Some(head) = self.records.front() else { return 0 };
        let distance = offset.saturating_sub(head.start(self.una));
        // A 32-bit division takes half the time, and hardly more than 4 GiB are ever in flight.
        let guess =
            u32::try_from(distance).map_or(usize::MAX, |distance| (distance / u32::from(self.segment_size)) as usize);
        for at in [guess, guess.saturating_add(1)] {
            let here = self.records.get(at).map_or(self.nxt, |record| record.start(self.una));
            let before = at.checked_sub(1).and_then(|at| self.records.get(at)).map(|record| record.start(self.una));
            if here >= offset && before.is_none_or(|before| before < offset) && at <= self.records.len() {
                return at;
            }
        }
        self.records.partition_point(|record| record.start(self.una) < offset)
    }

    /// Keeps a log from now on.
    pub fn keep_log(&mut self) {
        self.log = Some(Box::default());
    }

    /// The log, which its reader empties.
    pub fn log(&mut self) -> Option<&mut Log> {
        self.log.as_deref_mut()
    }

    /// Whether a retransmitted segment may still be outstanding; known if times are kept.
    pub fn any_resent(&self) -> bool {
        self.again.as_ref().is_some_and(|again| !again.resent.is_empty())
    }

    /// Number of the first record, and of the one that a new segment gets.
    pub fn numbers(&self) -> (u64, u64) {
        (self.first, self.first + self.records.len() as u64)
    }

    /// Records that are SACKed.
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Bytes that are SACKed.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes.into()
    }

    /// Bytes marked as lost so far.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Marks segments as lost by RFC 6675 §4 IsLost: three discontiguous ranges, or more than two segments' bytes, are
    /// SACKed above them.
    pub fn mark_lost(&mut self) {
        let (mut above, mut edge) = (0, None);
        for (count, range) in self.ranges.iter(self.una).rev().enumerate() {
            above += range.end - range.start;
            if count == 2 || above > 2 * u64::from(self.segment_size) {
                edge = Some(range.start);
                break;
            }
        }
        if let Some(edge) = edge {
            while let Some(record) = self.records.get_mut((self.lost_edge - self.first) as usize) {
                count_step!(self);
                if record.start(self.una) >= edge {
                    break;
                }
                if !record.has(SETTLED) {
                    self.pipe -= record.in_pipe();
                    self.lost_bytes += record.newly_lost();
                    log::lost(&mut self.log, self.lost_edge, record.newly_lost());
                    record.flags |= LOST;
                    self.pipe += record.in_pipe();
                }
                self.lost_edge += 1;
            }
        }
    }

    /// Marks the first record as lost.
    pub fn mark_head_lost(&mut self) {
        if let Some(head) = self.records.front_mut()
            && !head.has(SETTLED | LOST)
        {
            self.pipe -= head.in_pipe();
            self.lost_bytes += head.newly_lost();
            log::lost(&mut self.log, self.first, head.newly_lost());
            head.flags |= LOST;
            self.pipe += head.in_pipe();
            self.lost_edge = self.lost_edge.max(self.first + 1);
        }
    }

    /// Handles a timeout: everything neither SACKed nor given up is lost, retransmissions included, and leaves again
    /// from the head on, except for segments other than the head that left after `recent` (RFC 8985 §6.3). A SACKed
    /// head means that the peer dropped reported data (RFC 2018 §8): all reports are forgotten.
    pub fn mark_all_lost(&mut self, recent: Instant) {
        let reneged = self.records.front().is_some_and(|head| head.has(SACKED));
        if reneged {
            self.ranges.clear();
        }
        if reneged || self.ranges.is_empty() {
            self.sacked = 0;
            self.sacked_bytes = 0;
        }
        self.pipe = 0;
        self.lost_edge = self.first + self.records.len() as u64;
        self.cursor = self.first;
        if let Some(again) = &mut self.again {
            again.lost = Ring::new();
            again.forget_order();
        }
        let mut head = true;
        for (number, record) in (self.first..).zip(self.records.iter_mut()) {
            if reneged {
                record.flags &= !SACKED;
            }
            if record.has(SETTLED) {
                continue;
            }
            let first = std::mem::take(&mut head);
            if record.sent > recent && !first && !reneged {
                self.pipe += record.in_pipe();
                if !record.has(LOST | RETRANSMITTED) {
                    self.lost_edge = self.lost_edge.min(number);
                }
                continue;
            }
            self.lost_bytes += record.newly_lost();
            log::lost(&mut self.log, number, record.newly_lost());
            record.flags = record.flags & (FIN | AMBIGUOUS | JOINED) | LOST;
        }
    }
}
