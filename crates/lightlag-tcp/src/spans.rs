//! Disjoint pieces of a stream in ascending order, inside a window.
//!
//! A window has 30 bits, so of each offset the lower half is kept. Whoever asks names a base: an offset that none of the
//! pieces lies below, and from which all of them are less than 4 GiB away.

use std::collections::VecDeque;

/// Pieces for which there is room at first: an allocator hands out no less memory, and most queues stay shorter.
const FEWEST: usize = 3;

/// By so many places the room grows at least.
const LEAST_GROWTH: usize = 2;

/// Data from `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// First offset.
    pub start: u64,
    /// The offset after the last.
    pub end: u64,
}

/// A piece of less than 4 GiB, without the upper halves of its offsets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Whether there is nothing in it.
    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The piece as it lies above `base`.
    #[inline]
    pub(crate) fn above(self, base: u64) -> Range {
        let start = base + u64::from(self.start.wrapping_sub(base as u32));
        Range { start, end: start + u64::from(self.end.wrapping_sub(self.start)) }
    }

    /// The piece where its offsets are nearest to `base`. One before the first offset is the largest number.
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

/// Disjoint pieces in ascending order.
#[derive(Debug, Default)]
pub(crate) struct Spans(VecDeque<Span>);

impl Spans {
    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The piece with this number.
    #[inline]
    pub(crate) fn get(&self, at: usize, base: u64) -> Option<Range> {
        self.0.get(at).map(|span| span.above(base))
    }

    /// The first piece.
    #[inline]
    pub(crate) fn first(&self, base: u64) -> Option<Range> {
        self.0.front().map(|span| span.above(base))
    }

    /// The last piece.
    #[inline]
    pub(crate) fn last(&self, base: u64) -> Option<Range> {
        self.0.back().map(|span| span.above(base))
    }

    /// All pieces.
    pub(crate) fn iter(&self, base: u64) -> impl DoubleEndedIterator<Item = Range> + ExactSizeIterator + '_ {
        self.0.iter().map(move |span| span.above(base))
    }

    /// The number of the first piece for which `precedes` is false, where it is true for all before and false for all
    /// after.
    pub(crate) fn partition_point(&self, base: u64, precedes: impl Fn(Range) -> bool) -> usize {
        self.0.partition_point(|span| precedes(span.above(base)))
    }

    /// Puts one piece in place of those with the numbers from `from` up to, not including, `to`.
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

    /// Small steps, as there are many short queues.
    #[inline]
    fn make_room(&mut self) {
        let places = self.0.capacity();
        if self.0.len() == places {
            self.0.reserve_exact(if places == 0 { FEWEST } else { (places / 4).max(LEAST_GROWTH) });
        }
    }

    /// Drops the first piece.
    #[inline]
    pub(crate) fn pop_first(&mut self) {
        self.0.pop_front();
    }

    /// Drops everything below `offset`, which can be the base from now on.
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

    /// Drops everything from `end` on. Returns how many bytes that were.
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

    /// Moves the end of the last piece, if there is one.
    #[inline]
    pub(crate) fn end_last_at(&mut self, end: u64) {
        if let Some(last) = self.0.back_mut() {
            last.end = end as u32;
        }
    }

    /// Drops all pieces.
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
    fn what_is_near_lies_on_both_sides() {
        let below = Range { start: BASE - 5, end: BASE + 5 };
        assert_eq!(Span::from(below).near(BASE), below);
        let before_all = Range { start: u64::MAX, end: 0 };
        assert_eq!(Span::from(before_all).near(1), before_all);
    }

    #[test]
    fn room_grows_in_small_steps() {
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
