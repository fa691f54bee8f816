//! Disjoint ranges of a stream in ascending order, inside a window.
//!
//! A window has at most 30 bits, so only the lower 32 bits of each offset are stored. To restore the offsets, the
//! caller passes a base: an offset that is not above any range, and less than 4 GiB below the end of all of them.

use std::collections::VecDeque;

/// Initial capacity in ranges. Allocators return no smaller block, and most queues do not grow beyond it.
const FEWEST: usize = 3;

/// Minimum growth of the capacity, in ranges.
const LEAST_GROWTH: usize = 2;

/// Data from `start` up to but not including `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
}

/// A range of less than 4 GiB. Only the lower 32 bits of its offsets are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Returns true if the range contains no byte.
    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the range with full offsets, the lowest ones that are not below `base`.
    #[inline]
    pub(crate) fn above(self, base: u64) -> Range {
        let start = base + u64::from(self.start.wrapping_sub(base as u32));
        Range { start, end: start + u64::from(self.end.wrapping_sub(self.start)) }
    }

    /// Returns the range with full offsets, those nearest to `base`. An offset below 0 wraps to a value near
    /// `u64::MAX`.
    pub(crate) fn near(self, base: u64) -> Range {
        let offset = |low: u32| base.wrapping_add_signed(i64::from(low.wrapping_sub(base as u32) as i32));
        Range { start: offset(self.start), end: offset(self.end) }
    }
}

impl From<Range> for Span {
    #[inline]
    fn from(range: Range) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }
}

/// Disjoint ranges in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Spans(VecDeque<Span>);

impl Spans {
    /// Returns the number of ranges.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no ranges.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the range with this index.
    #[inline]
    pub(crate) fn get(&self, index: usize, base: u64) -> Option<Range> {
        self.0.get(index).map(|span| span.above(base))
    }

    /// Returns the first range.
    #[inline]
    pub(crate) fn first(&self, base: u64) -> Option<Range> {
        self.0.front().map(|span| span.above(base))
    }

    /// Returns the last range.
    #[inline]
    pub(crate) fn last(&self, base: u64) -> Option<Range> {
        self.0.back().map(|span| span.above(base))
    }

    /// Returns all ranges.
    pub(crate) fn iter(&self, base: u64) -> impl DoubleEndedIterator<Item = Range> + ExactSizeIterator + '_ {
        self.0.iter().map(move |span| span.above(base))
    }

    /// Returns the index of the first range for which `precedes` is false. `precedes` must be true for all ranges
    /// before it and false for all after it.
    pub(crate) fn partition_point(&self, base: u64, precedes: impl Fn(Range) -> bool) -> usize {
        self.0.partition_point(|span| precedes(span.above(base)))
    }

    /// Replaces the ranges with indices from `from` up to but not including `to` by one range.
    pub(crate) fn replace(&mut self, from: usize, to: usize, range: Range) {
        if from == to {
            self.make_room();
            self.0.insert(from, range.into());
            return;
        }
        self.0[from] = range.into();
        if to - from > 1 {
            self.0.drain(from + 1..to);
        }
    }

    /// Increases the capacity if it is used up, in small steps, because there are many short queues.
    #[inline]
    fn make_room(&mut self) {
        let capacity = self.0.capacity();
        if self.0.len() == capacity {
            self.0.reserve_exact(if capacity == 0 { FEWEST } else { (capacity / 4).max(LEAST_GROWTH) });
        }
    }

    /// Removes the first range.
    #[inline]
    pub(crate) fn pop_first(&mut self) {
        self.0.pop_front();
    }

    /// Removes all data below `offset`, which is then a valid base.
    #[inline]
    pub(crate) fn forget_below(&mut self, offset: u64, base: u64) {
        while let Some(first) = self.0.front_mut() {
            let range = first.above(base);
            if range.end > offset {
                first.start = range.start.max(offset) as u32;
                break;
            }
            self.0.pop_front();
        }
    }

    /// Removes all data above `end`. Returns the number of removed bytes.
    #[cold]
    pub(crate) fn forget_above(&mut self, end: u64, base: u64) -> u64 {
        let mut cut = 0;
        while let Some(last) = self.last(base).filter(|last| last.end > end) {
            cut += last.end - last.start.max(end);
            self.0.pop_back();
            if last.start < end {
                self.0.push_back(Range { end, ..last }.into());
            }
        }
        cut
    }

    /// Moves the end of the last range, if there is one, to `end`.
    #[inline]
    pub(crate) fn end_last_at(&mut self, end: u64) {
        if let Some(last) = self.0.back_mut() {
            last.end = end as u32;
        }
    }

    /// Removes all ranges.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = (7 << 32) - 100;

    fn range(start: u64, end: u64) -> Range {
        Range { start: BASE + start, end: BASE + end }
    }

    fn spans(ranges: &[Range]) -> Spans {
        let mut spans = Spans::default();
        for (at, range) in ranges.iter().enumerate() {
            spans.replace(at, at, *range);
        }
        spans
    }

    #[test]
    fn offsets_follow_from_the_base_across_4_gib() {
        let ranges = [range(0, 10), range(50, 150), range(200, 300)];
        let mut spans = spans(&ranges);
        assert!(spans.iter(BASE).eq(ranges));
        assert_eq!([0, 1, 2].map(|at| spans.get(at, BASE)), ranges.map(Some));
        assert_eq!(spans.partition_point(BASE, |range| range.end < BASE + 150), 1);
        spans.replace(0, 2, range(0, 150));
        assert!(spans.iter(BASE).eq([range(0, 150), range(200, 300)]));
        assert_eq!(spans.forget_above(BASE + 40, BASE), 210);
        assert!(spans.iter(BASE).eq([range(0, 40)]));
        spans.end_last_at(BASE + 160);
        spans.forget_below(BASE + 120, BASE);
        assert_eq!(spans.last(BASE + 120), Some(range(120, 160)));
        spans.pop_first();
        assert_eq!((spans.len(), spans.is_empty(), spans.last(BASE)), (0, true, None));
    }

    #[test]
    fn a_near_range_may_be_on_either_side() {
        let below = Range { start: BASE - 5, end: BASE + 5 };
        assert_eq!(Span::from(below).near(BASE), below);
        let before_all = Range { start: u64::MAX, end: 0 };
        assert_eq!(Span::from(before_all).near(1), before_all);
    }

    #[test]
    fn capacity_grows_in_small_steps() {
        let mut spans = Spans::default();
        let mut rooms: Vec<usize> = (0..14)
            .map(|at| {
                spans.replace(at, at, range(10 * at as u64, 10 * at as u64 + 5));
                spans.0.capacity()
            })
            .collect();
        rooms.dedup();
        assert_eq!(rooms, [3, 5, 7, 9, 11, 13, 16]);
    }
}
