//! Holes in a stream whose ends agreed to do without some of it (BETS): how many, how many bytes, and where the last were.

use crate::scoreboard::Range;
use std::collections::VecDeque;

/// Holes whose places are kept (the reference implementation's bound).
const KEPT: usize = 50;

/// A hole in the stream, as the application hears of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hole {
    /// Offset of its first byte in the stream.
    pub start: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Holes of a stream, all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HoleTotals {
    /// How many: two without a byte between them are one.
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
    /// One more.
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

    /// Keeps its place; that of the oldest is forgotten where there are too many.
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

    /// The last of them.
    pub(crate) fn recent(&self) -> impl Iterator<Item = Range> + '_ {
        self.recent.iter().copied()
    }

    /// The oldest of them, which is then no longer among them.
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
        // Although its first part was heard of.
        log.add(Range { start: 30, end: 31 });
        assert_eq!((log.totals().count, log.take()), (1, Some(Range { start: 30, end: 31 })));
    }
}
