//! Holes in a stream whose endpoints tolerate losses (BETS): their number, their size, and the ranges of the most
//! recent ones.

use crate::scoreboard::Range;
use std::collections::VecDeque;

/// Maximum number of stored holes (the reference implementation's bound).
const KEPT: usize = 50;

/// A hole in the stream, as reported to the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hole {
    /// Offset of the first byte of the hole in the stream.
    pub start: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// Number and size of all holes in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HoleTotals {
    /// Number of holes. Adjacent holes count as one.
    pub count: u64,
    /// Total size of the holes in bytes.
    pub bytes: u64,
}

impl From<Range> for Hole {
    fn from(range: Range) -> Self {
        Self { start: range.start, bytes: range.end - range.start }
    }
}

/// Number and size of all holes, and the ranges of the most recent ones.
#[derive(Debug, Default)]
pub(crate) struct HoleLog {
    totals: HoleTotals,
    /// End of the last hole.
    end: u64,
    recent: VecDeque<Range>,
}

impl HoleLog {
    /// Adds a hole to the totals, and stores its range.
    pub(crate) fn add(&mut self, range: Range) {
        self.count(range);
        self.keep(range);
    }

    /// Adds the hole to the totals.
    pub(crate) fn count(&mut self, range: Range) {
        let goes_on = self.totals.count > 0 && range.start == self.end;
        self.totals.count += u64::from(!goes_on);
        self.totals.bytes += range.end - range.start;
        self.end = range.end;
    }

    /// Stores the range of a hole. If too many are stored, the oldest one is dropped.
    pub(crate) fn keep(&mut self, range: Range) {
        match self.recent.back_mut().filter(|last| last.end == range.start) {
            Some(last) => last.end = range.end,
            None => self.recent.push_back(range),
        }
        if self.recent.len() > KEPT {
            self.recent.pop_front();
        }
    }

    pub(crate) fn totals(&self) -> HoleTotals {
        self.totals
    }

    /// Returns the stored holes, oldest first.
    pub(crate) fn recent(&self) -> impl Iterator<Item = Range> + '_ {
        self.recent.iter().copied()
    }

    /// Removes and returns the oldest stored hole.
    pub(crate) fn take(&mut self) -> Option<Range> {
        self.recent.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_outlast_the_slots() {
        let mut log = HoleLog::default();
        for n in 0..80 {
            log.add(Range { start: 100 * n, end: 100 * n + 7 });
        }
        assert_eq!(log.totals(), HoleTotals { count: 80, bytes: 560 });
        assert_eq!(log.recent().count(), 50);
        assert_eq!(log.take(), Some(Range { start: 3_000, end: 3_007 }));
    }

    #[test]
    fn adjacent_gaps_are_one_hole() {
        let mut log = HoleLog::default();
        log.add(Range { start: 0, end: 10 });
        log.add(Range { start: 10, end: 30 });
        assert_eq!(log.totals(), HoleTotals { count: 1, bytes: 30 });
        assert_eq!(log.take(), Some(Range { start: 0, end: 30 }));
        // It still joins although its first part was reported.
        log.add(Range { start: 30, end: 31 });
        assert_eq!((log.totals().count, log.take()), (1, Some(Range { start: 30, end: 31 })));
    }
}
