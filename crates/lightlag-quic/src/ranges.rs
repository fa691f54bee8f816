//! Sets of integers as sorted, disjoint intervals: received packet numbers, and bytes of a stream.

/// A half-open interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// First value.
    pub start: u64,
    /// First value after the interval.
    pub end: u64,
}

impl Range {
    /// Returns the number of values.
    #[inline(always)]
    pub fn len(self) -> u64 {
        self.end - self.start
    }

    /// Returns true if there are no values.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// A set of integers. Operations at its upper end are the fast ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: Vec<Range>,
}

impl RangeSet {
    /// Returns the intervals in ascending order.
    #[inline(always)]
    pub fn as_slice(&self) -> &[Range] {
        &self.ranges
    }

    /// Returns true if the set has no values.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Removes all values; the memory stays allocated.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Returns the lowest interval.
    #[inline(always)]
    pub fn first(&self) -> Option<Range> {
        self.ranges.first().copied()
    }

    /// Returns the highest interval.
    #[inline(always)]
    pub fn last(&self) -> Option<Range> {
        self.ranges.last().copied()
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.ranges.iter().map(|range| range.len()).sum()
    }

    /// Returns the index of the first interval that ends after `value`.
    fn position(&self, value: u64) -> usize {
        self.ranges.partition_point(|range| range.end <= value)
    }

    /// Returns the interval that contains `value`, if there is one.
    #[inline]
    pub fn find(&self, value: u64) -> Option<Range> {
        let last = *self.ranges.last()?;
        if last.start <= value {
            return (value < last.end).then_some(last);
        }
        self.ranges.get(self.position(value)).filter(|range| range.start <= value).copied()
    }

    /// Returns true if the set contains `value`.
    #[inline]
    pub fn contains(&self, value: u64) -> bool {
        self.find(value).is_some()
    }

    /// Adds the value after the largest one. Returns false, without an effect, for any other value.
    #[inline(always)]
    pub(crate) fn extend(&mut self, value: u64) -> bool {
        match self.ranges.last_mut() {
            Some(last) if last.end == value => {
                last.end += 1;
                true
            }
            _ => false,
        }
    }

    /// Adds the values from `start` up to `end` if the set has exactly the values from 0 up to `start`, at least one.
    /// Returns false, without an effect, for any other set.
    #[inline(always)]
    pub(crate) fn append(&mut self, start: u64, end: u64) -> bool {
        match &mut self.ranges[..] {
            [only] if only.start == 0 && only.end == start => {
                only.end = end;
                true
            }
            _ => false,
        }
    }

    /// Adds the values from `start` up to `end`. Returns how many of them are new.
    #[inline]
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        match self.ranges.last_mut() {
            Some(last) if start == last.end => last.end = end,
            Some(last) if start < last.end => return self.insert_inside(start, end),
            _ => self.ranges.push(Range { start, end }),
        }
        end - start
    }

    #[inline(never)]
    fn insert_inside(&mut self, start: u64, end: u64) -> u64 {
        let first = self.ranges.partition_point(|range| range.end < start);
        let behind = self.ranges.partition_point(|range| range.start <= end);
        let mut merged = Range { start, end };
        let mut held = 0;
        for range in &self.ranges[first..behind] {
            held += range.end.min(end).saturating_sub(range.start.max(start));
            merged.start = merged.start.min(range.start);
            merged.end = merged.end.max(range.end);
        }
        if first == behind {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..behind);
        }
        end - start - held
    }

    /// Removes the values from `start` up to `end`.
    pub fn remove(&mut self, start: u64, end: u64) {
        if start >= end || self.ranges.is_empty() {
            return;
        }
        let first = self.position(start);
        let behind = self.ranges.partition_point(|range| range.start < end);
        if first >= behind {
            return;
        }
        let low = Range { start: self.ranges[first].start, end: start };
        let high = Range { start: end, end: self.ranges[behind - 1].end };
        match (low.is_empty(), high.is_empty()) {
            (true, true) => drop(self.ranges.drain(first..behind)),
            (false, true) => {
                self.ranges[first] = low;
                self.ranges.drain(first + 1..behind);
            }
            (true, false) => {
                self.ranges[behind - 1] = high;
                self.ranges.drain(first..behind - 1);
            }
            (false, false) if behind - first == 1 => {
                self.ranges[first] = low;
                self.ranges.insert(behind, high);
            }
            (false, false) => {
                self.ranges[first] = low;
                self.ranges[behind - 1] = high;
                self.ranges.drain(first + 1..behind - 1);
            }
        }
    }

    /// Removes all values below `value`.
    #[inline]
    pub fn remove_below(&mut self, value: u64) {
        if self.first().is_some_and(|first| first.start < value) {
            self.remove(0, value);
        }
    }

    /// Removes the lowest interval.
    pub fn remove_first(&mut self) {
        if !self.ranges.is_empty() {
            self.ranges.remove(0);
        }
    }

    /// Calls `each` for every part of `start..end` that is not in the set, in ascending order.
    pub fn for_each_missing(&self, start: u64, end: u64, mut each: impl FnMut(u64, u64)) {
        let mut next = start;
        for range in &self.ranges[self.position(start)..] {
            if range.start >= end {
                break;
            }
            if range.start > next {
                each(next, range.start);
            }
            next = next.max(range.end);
        }
        if next < end {
            each(next, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_set_of_integers(steps in prop::collection::vec((0u8..4, 0u64..60, 0u64..12), 0..80)) {
            let (mut set, mut oracle) = (RangeSet::default(), BTreeSet::new());
            for (step, start, len) in steps {
                let end = start + len;
                match step {
                    0 | 1 => {
                        let new = (start..end).filter(|value| oracle.insert(*value)).count();
                        prop_assert_eq!(set.insert(start, end), new as u64);
                    }
                    2 => {
                        set.remove(start, end);
                        oracle.retain(|value| !(start..end).contains(value));
                    }
                    _ => {
                        set.remove_below(start / 4);
                        oracle.retain(|value| *value >= start / 4);
                    }
                }
                prop_assert!(set.as_slice().windows(2).all(|pair| pair[0].end < pair[1].start));
                prop_assert!(set.as_slice().iter().all(|range| !range.is_empty()));
                let all: Vec<u64> = set.as_slice().iter().flat_map(|range| range.start..range.end).collect();
                prop_assert!(all.iter().eq(oracle.iter()));
                prop_assert_eq!(set.count(), oracle.len() as u64);
                prop_assert_eq!(set.contains(start), oracle.contains(&start));
                let mut missing = Vec::new();
                set.for_each_missing(start, end, |from, to| missing.extend(from..to));
                prop_assert!(missing.into_iter().eq((start..end).filter(|value| !oracle.contains(value))));
            }
        }
    }
}
