//! The state of every segment in flight: sent, SACKed, lost, retransmitted (RFC 6675).
//!
//! A ring contains one record per segment, in the order of offsets; SACKed data is also stored as disjoint sorted
//! ranges. No operation scans from the first record. The record at an offset is found by dividing by the segment size,
//! a range skips all SACKed records in it, and each record is marked as lost, SACKed, retransmitted and removed at most
//! once. An ACK therefore takes a constant number of steps on average, however much data is in flight.
//!
//! Invariants: `pipe` is the sum of the contributions of all records (RFC 6675 §4 SetPipe: the segment's length if it
//! is neither SACKed nor lost, and its length once more if it was retransmitted). Ranges are disjoint, sorted and
//! inside `una..nxt`. A SACKed or abandoned record is never lost. Every record below the lost edge is SACKed, lost,
//! abandoned or retransmitted.

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
mod neighbours;
mod overdue;
mod recut;
mod repair;
#[cfg(test)]
mod tests;

pub use crate::spans::Range;
use again::Again;
pub use counts::SegmentCounts;
pub use delivery::Delivery;
pub use log::Log;
pub(crate) use neighbours::Neighbours;

const SACKED: u8 = 1;
const LOST: u8 = 2;
const RETRANSMITTED: u8 = 4;
const FIN: u8 = 8;
/// The segment was sent more than once, even if a timeout removed the last copy from the pipe (Karn's algorithm).
const AMBIGUOUS: u8 = 16;
/// The segment was abandoned: the peer tolerates its loss (BETS), and it is never retransmitted again.
const GIVEN_UP: u8 = 32;
/// The segment was sent in the same burst as the previous one, and the burst has not been divided there.
const JOINED: u8 = 64;
/// The segment needs no further action.
const SETTLED: u8 = SACKED | GIVEN_UP;

/// Maximum payload of a segment in bytes, because a packet counts them in 16 bits.
pub(crate) const MOST_PAYLOAD: u32 = u16::MAX as u32;

/// Record of one segment in flight.
#[derive(Clone, Copy, Debug, Default)]
struct SegmentRecord {
    sent: Instant,
    /// Lower 32 bits of the segment's first offset. They suffice, because the peer's window has at most 30 bits.
    start: u32,
    payload: u16,
    flags: u8,
    /// Number of retransmissions; 255 if there were more.
    again: u8,
}

impl SegmentRecord {
    /// Returns the first offset of the segment; no outstanding offset is below `una`.
    fn start(&self, una: u64) -> u64 {
        una + u64::from(self.start.wrapping_sub(una as u32))
    }

    /// Returns the offset after the segment.
    fn end(&self, una: u64) -> u64 {
        self.start(una) + u64::from(self.len())
    }

    /// Returns the length in sequence numbers: the payload, and one for a FIN.
    fn len(&self) -> u32 {
        u32::from(self.payload) + u32::from(self.has(FIN))
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Returns true if the segment was sent once and no report has concerned it.
    fn is_fresh(&self) -> bool {
        self.flags & !(FIN | JOINED) == 0
    }

    /// Returns by how many bytes the count of lost bytes grows if the record is marked as lost now.
    fn newly_lost(&self) -> u64 {
        if self.has(LOST) && !self.has(RETRANSMITTED) { 0 } else { u64::from(self.len()) }
    }

    /// Returns the record's contribution to the pipe, in bytes.
    fn in_pipe(&self) -> u32 {
        self.copies() * self.len()
    }

    /// Returns the number of copies of the segment in the pipe.
    fn copies(&self) -> u32 {
        if self.has(SETTLED) { 0 } else { u32::from(!self.has(LOST)) + u32::from(self.has(RETRANSMITTED)) }
    }
}

/// A segment to retransmit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// Offset of the first byte.
    pub start: u64,
    /// Payload in bytes.
    pub len: u32,
    /// Whether the FIN follows the payload.
    pub fin: bool,
}

/// The records of one sender. A record keeps its number when older records are removed from the ring.
#[repr(C)]
#[derive(Debug)]
pub struct Scoreboard {
    una: u64,
    nxt: u64,
    records: Ring<SegmentRecord>,
    /// Estimated number of bytes in the network. 32 bits suffice: at most two copies of a window, which has at most 30
    /// bits.
    pipe: u32,
    segment_size: u16,
    /// Whether the transmission times of retransmissions are recorded, in [`Self::again`].
    timed: bool,
    /// Neighbours of the last segment with data in its burst.
    pub(crate) neighbours: Neighbours,
    /// Number of the first record in the ring.
    first: u64,
    /// All records with smaller numbers are SACKed, abandoned, lost or retransmitted. (RFC 6675 IsLost is monotone in
    /// the offset, and so is the time of the first transmission.)
    lost_edge: u64,
    /// All lost records with smaller numbers were retransmitted (HighRxt, as a record number).
    cursor: u64,
    /// Total number of bytes marked as lost so far.
    lost_bytes: u64,
    /// Log of deliveries and losses, if logging is on.
    log: Option<Box<Log>>,
    /// State of retransmitted records, allocated only if there are any.
    again: Option<Box<Again>>,
    /// Number of SACKed records; [`Self::sacked_bytes`] is their size. Without SACK, segments that count as SACKed
    /// because of duplicate ACKs.
    sacked: u32,
    sacked_bytes: u32,
    /// Ranges of SACKed data above `una`.
    ranges: Spans,
    /// Number of the first record above the highest SACKed range, if there is such a range.
    above_top: u64,
    /// Number of loop steps so far, which tests use to measure work.
    #[cfg(test)]
    steps: u64,
}

impl Scoreboard {
    /// Returns an empty scoreboard whose full segments carry `segment_size` bytes.
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
            neighbours: Neighbours::default(),
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

    /// Sets the payload of full segments, which is known after the handshake. Call it before anything is sent.
    pub fn set_segment_size(&mut self, bytes: u32) {
        assert!(bytes <= MOST_PAYLOAD, "{bytes} B exceed the maximum size of a segment");
        self.segment_size = bytes as u16;
    }

    /// Returns the payload of a full segment in bytes.
    pub fn segment_size(&self) -> u32 {
        self.segment_size.into()
    }

    /// Returns the first unacknowledged offset.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Returns the offset of the next new byte to send.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns FlightSize: all data sent and not acknowledged cumulatively, including SACKed data (RFC 5681 §2).
    pub fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Returns the estimated number of bytes in the network (pipe, RFC 6675 §4).
    pub fn pipe(&self) -> u64 {
        self.pipe.into()
    }

    /// Returns true if anything is SACKed.
    pub fn any_sacked(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Prefetches the first record.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self.records.front_place());
    }

    /// Allocates memory for `records` records in one step, because memory that grows step by step leaves gaps.
    pub(crate) fn reserve(&mut self, records: usize) {
        self.records.reserve(records);
    }

    /// Frees memory that is no longer needed because less data is in flight.
    pub(crate) fn shrink(&mut self) {
        self.records.shrink();
    }

    /// Returns true if nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns true if the first record is lost.
    pub fn head_lost(&self) -> bool {
        self.records.front().is_some_and(|head| head.has(LOST))
    }

    /// Adds a record of new data that was sent.
    #[inline(always)]
    pub fn sent(&mut self, now: Instant, len: u32, fin: bool) {
        self.sent_in_burst(now, len, fin, false);
    }

    /// Adds a record of new data that was sent; `joined` states whether it was sent in the same burst as the record
    /// before it.
    #[inline(always)]
    pub fn sent_in_burst(&mut self, now: Instant, len: u32, fin: bool, joined: bool) {
        debug_assert!(len <= MOST_PAYLOAD, "{len} B exceed the maximum size of a segment");
        let flags = if fin { FIN } else { 0 } | if joined { JOINED } else { 0 };
        *self.records.push() =
            SegmentRecord { sent: now, start: self.nxt as u32, payload: len as u16, flags, again: 0 };
        let len = len + u32::from(fin);
        self.nxt += u64::from(len);
        self.pipe += len;
        debug_assert!(self.flight() <= u64::from(u32::MAX), "a flight is not larger than a window");
    }

    /// Advances the cumulative acknowledgement to `ack`, which lies in `una..=nxt`.
    #[inline(always)]
    pub fn acknowledge(&mut self, ack: u64, delivery: &mut Delivery) {
        debug_assert!(self.una <= ack && ack <= self.nxt);
        let (una, acked) = (self.una, (ack - self.una) as u32);
        // First copies were sent in order, so the first and the last of them give the times of all.
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
                // Only a peer that divides segments acknowledges a part of one, and that is payload.
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

    /// Handles a SACK report of `block`. A record counts as SACKed only once all of it was reported.
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
        let mut index = self.find(start);
        let una = self.una;
        let Some(from) = self.records.get(index).map(|record| record.start(una)) else { return };
        let mut range = Range { start: from, end: from };
        let mut next = touching;
        while let Some(record) = self.records.get_mut(index) {
            count_step!(self);
            if let Some(known) = self.ranges.get(next, una)
                && known.start <= record.start(una)
            {
                // Steps over known ranges. A range that only touches from below also joins.
                range = Range { start: range.start.min(known.start), end: range.end.max(known.end) };
                next += 1;
                if known.end > record.start(una) {
                    index = self.find(known.end);
                }
                continue;
            }
            if record.end(una) > block.end {
                break;
            }
            self.pipe -= record.in_pipe();
            delivery.add(record, una);
            if record.has(AMBIGUOUS) {
                forward::delivered(&mut self.again, self.first + index as u64);
            }
            log::delivered(&mut self.log, self.first + index as u64, record.len());
            record.flags = (record.flags | SACKED) & !LOST;
            self.sacked += 1;
            self.sacked_bytes += record.len();
            range.end = record.end(una);
            index += 1;
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
            self.above_top = self.first + index as u64;
        }
        self.ranges.replace(touching, next, range);
    }

    /// Handles the most common report: the highest SACKed range now extends to `end`.
    fn extend_top(&mut self, end: u64, delivery: &mut Delivery) {
        let mut index = (self.above_top - self.first) as usize;
        let una = self.una;
        while let Some(record) = self.records.get_mut(index) {
            count_step!(self);
            if record.end(una) > end {
                break;
            }
            self.pipe -= record.in_pipe();
            delivery.add(record, una);
            if record.has(AMBIGUOUS) {
                forward::delivered(&mut self.again, self.first + index as u64);
            }
            log::delivered(&mut self.log, self.first + index as u64, record.len());
            record.flags = (record.flags | SACKED) & !LOST;
            self.sacked += 1;
            self.sacked_bytes += record.len();
            index += 1;
        }
        self.above_top = self.first + index as u64;
        let end = self.records.get(index).map_or(self.nxt, |record| record.start(una));
        self.ranges.end_last_at(end);
    }

    /// Returns the index of the first range that ends at or after `offset`. Reports mostly concern the newest data, so
    /// the last few ranges are searched first.
    fn first_range_ending_at_or_after(&self, offset: u64) -> usize {
        let near = self.ranges.iter(self.una).rev().take(4).position(|range| range.end < offset);
        near.map_or_else(
            || self.ranges.partition_point(self.una, |range| range.end < offset),
            |above| self.ranges.len() - above,
        )
    }

    /// Returns the index of the first record that starts at or after `offset`. Nearly all records are of full size, so
    /// a division usually finds it; if the first record is incomplete or segments are small, bisection does.
    fn find(&self, offset: u64) -> usize {
        let Some(head) = self.records.front() else { return 0 };
        let distance = offset.saturating_sub(head.start(self.una));
        // A 32-bit division takes half the time, and hardly more than 4 GiB are ever in flight.
        let guess =
            u32::try_from(distance).map_or(usize::MAX, |distance| (distance / u32::from(self.segment_size)) as usize);
        for index in [guess, guess.saturating_add(1)] {
            let here = self.records.get(index).map_or(self.nxt, |record| record.start(self.una));
            let before = index.checked_sub(1).and_then(|at| self.records.get(at)).map(|record| record.start(self.una));
            if here >= offset && before.is_none_or(|before| before < offset) && index <= self.records.len() {
                return index;
            }
        }
        self.records.partition_point(|record| record.start(self.una) < offset)
    }

    /// Starts to log deliveries and losses.
    pub fn keep_log(&mut self) {
        self.log = Some(Box::default());
    }

    /// Returns the log, if logging is on. Its reader empties it.
    pub fn log(&mut self) -> Option<&mut Log> {
        self.log.as_deref_mut()
    }

    /// Returns true if a retransmission may still be outstanding. Valid only if the times of retransmissions are
    /// recorded.
    pub fn any_resent(&self) -> bool {
        self.again.as_ref().is_some_and(|again| !again.resent.is_empty())
    }

    /// Returns the number of the first record, and the number that the next new record will get.
    pub fn numbers(&self) -> (u64, u64) {
        (self.first, self.first + self.records.len() as u64)
    }

    /// Returns the number of SACKed records.
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Returns the number of SACKed bytes.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes.into()
    }

    /// Returns the total number of bytes marked as lost so far.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Marks a segment as lost if three discontiguous ranges, or more bytes than two segments carry, are SACKed above
    /// it (RFC 6675 §4 IsLost).
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

    /// Handles a timeout: all data that is neither SACKed nor abandoned is lost, including retransmissions, and will be
    /// retransmitted from the first record. Segments sent after `recent` are exempt, except the first (RFC 8985 §6.3).
    /// If the first record is SACKed, the peer has dropped data that it had reported (RFC 2018 §8), and all reports are
    /// discarded.
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
