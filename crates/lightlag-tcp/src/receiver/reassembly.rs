//! Data that arrived above a hole, and its SACK reports (RFC 2018 §4, RFC 2883 §4).

use super::MAX_BLOCKS;
use super::skipping::Skipping;
use crate::scoreboard::Range;
use crate::spans::{Span, Spans};

/// Data that arrived above the first hole, which starts at the next expected offset.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    /// The ranges of data. They neither overlap nor touch.
    pub(super) ranges: Spans,
    /// Total size of the ranges in bytes. 32 bits suffice, because a window has at most 30 bits.
    pub(super) bytes: u32,
    /// Lower 32 bits of the starts of the reported ranges, newest first (RFC 2018 §4).
    recent: [u32; MAX_BLOCKS],
    recent_len: u8,
    /// Duplicate data that no ACK has reported yet (RFC 2883); empty if there is none. It may lie below the next
    /// expected offset.
    pub(super) duplicate: Span,
    /// The offset for which duplicate ACKs are counted. [`Self::duplicates`] of them were sent without delay.
    pub(super) duplicates_of: u64,
    pub(super) duplicates: u8,
    /// Number of segments for which a compressed ACK is pending.
    pub(super) compressed: u8,
    /// State of a receiver that skips holes; `None` if every hole must be filled.
    pub(super) skipping: Option<Box<Skipping>>,
}

impl Reassembly {
    /// Adds a range above `nxt`. Returns how many of its bytes had already arrived, and the first contiguous part of
    /// them.
    pub(super) fn insert(&mut self, nxt: u64, range: Range) -> (u64, Range) {
        let (from, to) = self.touching(nxt, range);
        let mut merged = range;
        let mut before = 0;
        let mut known = 0;
        let mut first = Range::default();
        for old in (from..to).filter_map(|at| self.ranges.get(at, nxt)) {
            let common = Range { start: old.start.max(range.start), end: old.end.min(range.end) };
            if common.start < common.end {
                first = if known == 0 { common } else { first };
                known += common.end - common.start;
            }
            before += old.end - old.start;
            merged = Range { start: merged.start.min(old.start), end: merged.end.max(old.end) };
        }
        self.ranges.replace(from, to, merged);
        self.bytes += (merged.end - merged.start - before) as u32;
        self.report(merged);
        (known, first)
    }

    /// Returns the maximum number of blocks in the next report.
    pub(super) fn reported(&self) -> usize {
        self.recent_len.into()
    }

    /// Returns the starts of the reported ranges, newest first.
    fn recent(&self) -> &[u32] {
        &self.recent[..self.reported()]
    }

    /// Returns the reported ranges, newest first. Everything up to `nxt` has arrived.
    pub(super) fn reports(&self, nxt: u64) -> impl Iterator<Item = Range> + '_ {
        self.recent().iter().filter_map(move |start| {
            let start = nxt + u64::from(start.wrapping_sub(nxt as u32));
            self.range_from(nxt, start)
        })
    }

    /// Returns the range that starts at `start`, which is usually one of the last.
    fn range_from(&self, nxt: u64, start: u64) -> Option<Range> {
        let last = self.ranges.iter(nxt).rev().take(MAX_BLOCKS).find(|range| range.start == start);
        last.or_else(|| self.ranges.get(self.ranges.partition_point(nxt, |range| range.start < start), nxt))
    }

    /// Drops the reports whose start does not satisfy `keep`.
    fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let mut len = 0;
        for index in 0..self.reported() {
            if keep(self.recent[index]) {
                self.recent[len] = self.recent[index];
                len += 1;
            }
        }
        self.recent_len = len as u8;
    }

    /// Returns the indices of the ranges that overlap or touch this one. The search starts at the end, because most
    /// data is new.
    fn touching(&self, nxt: u64, range: Range) -> (usize, usize) {
        let n = self.ranges.len();
        let ends_below = |old: Range| old.end < range.start;
        let from = match self.ranges.last(nxt) {
            None => 0,
            Some(last) if ends_below(last) => n,
            Some(_) if n == 1 || self.ranges.get(n - 2, nxt).is_some_and(ends_below) => n - 1,
            Some(_) => self.ranges.partition_point(nxt, ends_below),
        };
        let mut to = from;
        while self.ranges.get(to, nxt).is_some_and(|old| old.start <= range.end) {
            to += 1;
        }
        (from, to)
    }

    /// Makes `merged` the first report and drops the reports of ranges that it contains (RFC 2018 §4).
    fn report(&mut self, merged: Range) {
        let (start, size) = (merged.start as u32, (merged.end - merged.start) as u32);
        let mut recent = [start; MAX_BLOCKS];
        let mut len = 1;
        for old in self.recent() {
            let swallowed = old.wrapping_sub(start) < size;
            if !swallowed && len < MAX_BLOCKS {
                recent[len] = *old;
                len += 1;
            }
        }
        (self.recent, self.recent_len) = (recent, len as u8);
    }

    /// Drops the reports below `nxt`, which are acknowledged.
    pub(super) fn forget_below(&mut self, nxt: u64) {
        self.retain(|start| start.wrapping_sub(nxt as u32) as i32 > 0);
    }

    /// Drops all data above `end`. Everything up to `nxt` has arrived.
    #[cold]
    pub(super) fn forget_above(&mut self, nxt: u64, end: u64) {
        self.bytes -= self.ranges.forget_above(end, nxt) as u32;
        self.retain(|start| (start.wrapping_sub(end as u32) as i32) < 0);
    }

    /// Writes the ranges of a SACK option above `nxt`, with the duplicate first, which is then cleared. Returns their
    /// number.
    pub(super) fn take_report(&mut self, nxt: u64, ranges: &mut [Range; MAX_BLOCKS]) -> usize {
        let mut len = 0;
        let duplicate = std::mem::take(&mut self.duplicate);
        let duplicate = Some(duplicate.near(nxt)).filter(|_| !duplicate.is_empty());
        for range in duplicate.into_iter().chain(self.reports(nxt)).take(MAX_BLOCKS) {
            ranges[len] = range;
            len += 1;
        }
        len
    }
}
