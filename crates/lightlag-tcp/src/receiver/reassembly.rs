//! Data above a hole, and its SACK reports (RFC 2018 §4, RFC 2883 §4).

use super::MAX_BLOCKS;
use super::skipping::Skipping;
use crate::scoreboard::Range;
use std::collections::VecDeque;

/// Data above a hole.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    /// Disjoint, sorted, never touching.
    pub(super) ranges: VecDeque<Range>,
    /// Their bytes.
    pub(super) bytes: u64,
    /// The reported ranges, the newest first (RFC 2018 §4).
    pub(super) recent: [Range; MAX_BLOCKS],
    pub(super) recent_len: usize,
    /// Repeated data that no ACK has reported yet (RFC 2883).
    pub(super) duplicate: Option<Range>,
    /// Duplicate ACKs that left at once for this offset.
    pub(super) duplicates_of: u64,
    pub(super) duplicates: u8,
    /// Segments for which one ACK waits to leave.
    pub(super) compressed: u8,
    /// Bytes of [`Skipping::ahead`].
    pub(super) ahead: u64,
    /// `None` if every hole must be filled.
    pub(super) skipping: Option<Box<Skipping>>,
}

impl Reassembly {
    /// Adds a range. Returns how many of its bytes were present before, and the first run of them.
    pub(super) fn insert(&mut self, range: Range) -> (u64, Range) {
        let (from, to) = self.touching(range);
        let mut merged = range;
        let mut before = 0;
        let mut known = 0;
        let mut first = Range::default();
        for old in self.ranges.range(from..to) {
            let common = Range { start: old.start.max(range.start), end: old.end.min(range.end) };
            if common.start < common.end {
                first = if known == 0 { common } else { first };
                known += common.end - common.start;
            }
            before += old.end - old.start;
            merged = Range { start: merged.start.min(old.start), end: merged.end.max(old.end) };
        }
        if from == to {
            self.ranges.insert(from, merged);
        } else {
            self.ranges[from] = merged;
            if to - from > 1 {
                self.ranges.drain(from + 1..to);
            }
        }
        self.bytes += merged.end - merged.start - before;
        self.report(merged);
        (known, first)
    }

    /// The most blocks of the next report.
    pub(super) fn reported(&self) -> usize {
        self.recent_len
    }

    /// Indices of the ranges that overlap or touch this one. Most data is new, so the end is searched first.
    fn touching(&self, range: Range) -> (usize, usize) {
        let n = self.ranges.len();
        let from = match self.ranges.back() {
            None => 0,
            Some(last) if last.end < range.start => n,
            Some(_) if n == 1 || self.ranges[n - 2].end < range.start => n - 1,
            Some(_) => self.ranges.partition_point(|old| old.end < range.start),
        };
        let mut to = from;
        while to < n && self.ranges[to].start <= range.end {
            to += 1;
        }
        (from, to)
    }

    /// Puts `merged` first and drops the ranges that it contains (RFC 2018 §4).
    fn report(&mut self, merged: Range) {
        let mut recent = [merged; MAX_BLOCKS];
        let mut len = 1;
        for old in &self.recent[..self.recent_len] {
            let swallowed = merged.start <= old.start && old.end <= merged.end;
            if !swallowed && len < MAX_BLOCKS {
                recent[len] = *old;
                len += 1;
            }
        }
        (self.recent, self.recent_len) = (recent, len);
    }

    /// Drops everything below `nxt`, which is acknowledged.
    pub(super) fn forget_below(&mut self, nxt: u64) {
        let mut len = 0;
        for at in 0..self.recent_len {
            if self.recent[at].end > nxt {
                self.recent[len] = self.recent[at];
                len += 1;
            }
        }
        self.recent_len = len;
    }

    /// Drops everything from `end` on.
    #[cold]
    pub(super) fn forget_above(&mut self, end: u64) {
        while let Some(last) = self.ranges.back_mut().filter(|last| last.end > end) {
            let cut = last.end - last.start.max(end);
            self.bytes -= cut;
            last.end -= cut;
            if last.start == last.end {
                self.ranges.pop_back();
            }
        }
        let mut len = 0;
        for at in 0..self.recent_len {
            let Range { start, end: old } = self.recent[at];
            if start < end {
                self.recent[len] = Range { start, end: old.min(end) };
                len += 1;
            }
        }
        self.recent_len = len;
    }

    /// Writes the ranges of a SACK option, the duplicate only once. Returns their number.
    pub(super) fn take_report(&mut self, ranges: &mut [Range; MAX_BLOCKS]) -> usize {
        let mut len = 0;
        for range in self.duplicate.take().iter().chain(&self.recent[..self.recent_len]).take(MAX_BLOCKS) {
            ranges[len] = *range;
            len += 1;
        }
        len
    }
}
