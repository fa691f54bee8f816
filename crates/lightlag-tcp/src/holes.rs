//! Holes in a stream whose ends tolerate losses (BETS): their number, their bytes, and the places of the last.

use crate::scoreboard::Range;
use std::collections::VecDeque;

/// Holes whose places are kept (the reference implementation's bound).
const KEPT: usize = 50;

/// A hole in the stream, as reported to the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hole {
    /// Offset of its first byte in the stream.
    pub start: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// The totals of a stream's holes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HoleTotals {
    /// Their number. Two holes without a byte between them count as one.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl From<Range> for Hole {
    fn from(range: Range) -> Self {
        Self { start: range.start, bytes: range.end - range.start }
    }
}

/// The totals of holes, and the places of the last.
#[derive(Debug, Default)]
pub(crate) struct HoleLog {
    totals: HoleTotals,
    /// The end of the last hole.
    end: u64,
    recent: VecDeque<Range>,
}

impl HoleLog {
    /// Adds a hole.
    pub(crate) fn add(&mut self, range: Range) {
        self.count(range);
        self.keep(range);
    }

    /// Adds it to the totals.
    pub(crate) fn count(&mut self, range: Range) {
        let goes_on = self.totals.count > 0 && range.start == self.end;
        self.totals.count += u64::from(!goes_on);
        self.totals.bytes += range.end - range.start;
        self.end = range.end;
    }

    /// Keeps its place; if there are too many, the oldest is dropped.
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

    /// The places kept.
    pub(crate) fn recent(&self) -> impl Iterator<Item = Range> + '_ {
        self.recent.iter().copied()
    }

    /// Removes and returns the oldest place.
    pub(crate) fn take(&mut self) -> Option<Range> {
        self.recent.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_outlast_the_places() {
        let mut log = HoleLog::default();
        for n in 0..80 {
            log.add(Range { start: 100 * n, end: 100 * n + 7 });
        }
        assert_eq!(log.totals(), HoleTotals { count: 80, bytes: 560 });
        assert_eq!(log.recent().count(), 50);
        assert_eq!(log.take(), Some(Range { start: 3_000, end: 3_007 }));
    }

    #[test]
    fn what_touches_is_one_hole() {
        let mut log = HoleLog::default();
        log.add(Range { start: 0, end: 10 });
        log.add(Range { start: 10, end: 30 });
        assert_eq!(log.totals(), HoleTotals { count: 1, bytes: 30 });
        assert_eq!(log.take(), Some(Range { start: 0, end: 30 }));
        // Although its first part was reported.
        log.add(Range { start: 30, end: 31 });
        assert_eq!((log.totals().count, log.take()), (1, Some(Range { start: 30, end: 31 })));
    }
}
