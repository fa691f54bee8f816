//! Sets of ranges in sequence space: ranges that were reported, and ranges that are missing. The size of both is
//! bounded.

/// Maximum number of ranges in a set. TCP cannot recover from a window with nearly as many losses.
pub(super) const MOST_RANGES: usize = 4096;

/// Disjoint ranges in ascending order; adjacent ranges are merged.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    ranges: Vec<(i64, i64)>,
    bytes: u64,
}

impl Ranges {
    /// Adds a range, and calls `newly` for each part of it that was not in the set.
    pub fn insert(&mut self, start: i64, end: i64, mut newly: impl FnMut(i64, i64)) {
        if start >= end {
            return;
        }
        let first = self.ranges.partition_point(|range| range.1 < start);
        let last = first + self.ranges[first..].partition_point(|range| range.0 <= end);
        if first == last && self.ranges.len() >= MOST_RANGES {
            return;
        }
        let (mut from, mut joined) = (start, (start, end));
        for &(left, right) in &self.ranges[first..last] {
            if from < left {
                newly(from, left.min(end));
                self.bytes += (left.min(end) - from) as u64;
            }
            from = from.max(right);
            joined = (joined.0.min(left), joined.1.max(right));
        }
        if from < end {
            newly(from, end);
            self.bytes += (end - from) as u64;
        }
        self.ranges.splice(first..last, [joined]);
    }

    /// Removes everything below `bound`.
    pub fn forget_below(&mut self, bound: i64) {
        let gone = self.ranges.partition_point(|range| range.1 <= bound);
        self.bytes -= self.ranges.drain(..gone).map(|(left, right)| (right - left) as u64).sum::<u64>();
        if let Some(first) = self.ranges.first_mut().filter(|first| first.0 < bound) {
            self.bytes -= (bound - first.0) as u64;
            first.0 = bound;
        }
    }

    /// Returns the number of bytes in the set.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns true if `offset` is in the set.
    #[cfg(test)]
    pub fn contains(&self, offset: i64) -> bool {
        self.ranges.get(self.ranges.partition_point(|range| range.1 <= offset)).is_some_and(|range| range.0 <= offset)
    }

    /// Returns the end of the highest range.
    pub fn highest(&self) -> Option<i64> {
        self.ranges.last().map(|range| range.1)
    }
}

/// Sequence space below the highest number seen that was not seen itself. Each hole has the time when it became known.
#[derive(Clone, Debug, Default)]
pub(super) struct Holes {
    holes: Vec<Hole>,
    forgotten: Missing,
}

#[derive(Clone, Copy, Debug)]
struct Hole {
    start: i64,
    end: i64,
    since: Since,
}

/// When a hole became known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Since {
    /// Time in nanoseconds.
    pub at: u64,
    /// Timestamp (RFC 7323) of the segment that revealed the hole.
    pub stamp: Option<u32>,
}

/// Acknowledged data that is missing from the capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Missing {
    pub gaps: u64,
    pub bytes: u64,
}

impl Holes {
    /// Adds a hole above all others.
    pub fn open(&mut self, start: i64, end: i64, since: Since) {
        if self.holes.len() == MOST_RANGES {
            let first = self.holes.remove(0);
            self.forgotten.gaps += 1;
            self.forgotten.bytes += (first.end - first.start) as u64;
        }
        self.holes.push(Hole { start, end, since });
    }

    /// Fills holes with data that has arrived. Returns how many bytes of it fall into holes, and when the oldest of
    /// these became known.
    pub fn fill(&mut self, start: i64, end: i64) -> Option<(u64, Since)> {
        let first = self.holes.partition_point(|hole| hole.end <= start);
        let last = first + self.holes[first..].partition_point(|hole| hole.start < end);
        if first == last || start >= end {
            return None;
        }
        let (mut filled, mut since, mut rest) = (0, self.holes[first].since, Vec::with_capacity(2));
        for &hole in &self.holes[first..last] {
            filled += (hole.end.min(end) - hole.start.max(start)) as u64;
            since = since.min(hole.since);
            rest.extend((hole.start < start).then_some(Hole { end: start, ..hole }));
            rest.extend((end < hole.end).then_some(Hole { start: end, ..hole }));
        }
        self.holes.splice(first..last, rest);
        Some((filled, since))
    }

    /// Returns the missing data below `acked`.
    pub fn missing_below(&self, acked: i64) -> Missing {
        let below = self.holes.iter().take_while(|hole| hole.start < acked);
        below.fold(self.forgotten, |sum, hole| Missing {
            gaps: sum.gaps + 1,
            bytes: sum.bytes + (hole.end.min(acked) - hole.start) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SINCE: Since = Since { at: 7, stamp: None };

    fn inserted(ranges: &mut Ranges, start: i64, end: i64) -> Vec<(i64, i64)> {
        let mut parts = Vec::new();
        ranges.insert(start, end, |left, right| parts.push((left, right)));
        parts
    }

    #[test]
    fn only_new_ranges_are_reported() {
        let mut ranges = Ranges::default();
        assert_eq!(inserted(&mut ranges, 10, 20), [(10, 20)]);
        assert_eq!(inserted(&mut ranges, 30, 40), [(30, 40)]);
        assert_eq!(inserted(&mut ranges, 5, 35), [(5, 10), (20, 30)]);
        assert_eq!(ranges.ranges, [(5, 40)]);
        ranges.forget_below(15);
        assert_eq!((ranges.bytes(), ranges.contains(14), ranges.contains(15)), (25, false, true));
    }

    #[test]
    fn a_hole_that_is_filled_in_its_middle_becomes_two() {
        let mut holes = Holes::default();
        holes.open(100, 200, SINCE);
        assert_eq!(holes.fill(120, 150), Some((30, SINCE)));
        assert_eq!(holes.fill(120, 150), None);
        assert_eq!(holes.missing_below(160), Missing { gaps: 2, bytes: 30 });
        assert_eq!(holes.fill(0, 1000), Some((70, SINCE)));
        assert_eq!(holes.missing_below(1000), Missing::default());
    }

    #[test]
    fn with_too_many_holes_the_lowest_is_forgotten() {
        let mut holes = Holes::default();
        for at in 0..=MOST_RANGES as i64 {
            holes.open(10 * at, 10 * at + 5, SINCE);
        }
        assert_eq!(holes.holes.len(), MOST_RANGES);
        assert_eq!(holes.missing_below(0), Missing { gaps: 1, bytes: 5 });
    }

    proptest! {
        #[test]
        fn ranges_match_a_set_of_numbers(operations in prop::collection::vec((0i64..200, 0i64..40, any::<bool>()), 0..60)) {
            let (mut ranges, mut model) = (Ranges::default(), std::collections::BTreeSet::new());
            for (start, len, forget) in operations {
                if forget && len < 4 {
                    ranges.forget_below(start);
                    model.retain(|at| *at >= start);
                } else {
                    let told: i64 = inserted(&mut ranges, start, start + len).iter().map(|(l, r)| r - l).sum();
                    let new = (start..start + len).filter(|at| model.insert(*at)).count();
                    prop_assert_eq!(told as usize, new);
                }
                prop_assert_eq!(ranges.bytes() as usize, model.len());
                prop_assert!((0..250).all(|at| ranges.contains(at) == model.contains(&at)));
                prop_assert_eq!(ranges.highest(), model.last().map(|last| last + 1));
            }
        }
    }
}
