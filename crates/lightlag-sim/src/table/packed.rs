//! A column in packed form. Idle links have the same sample again and again, and a large network has millions of such
//! samples.
//!
//! Values are stored in blocks of [`BLOCK`]. A block is a list of runs. In a run each value differs from the previous
//! one by the same step, as in a column of zeros, of equal times or of ascending numbers. If the plain values take less
//! memory, the block stores these instead.

use std::fmt::Debug;
use std::ops::Range;

/// Number of values in a block.
const BLOCK: usize = 4_096;

/// A value that can be packed.
pub(crate) trait Packable: Copy + PartialEq + Debug {
    /// Returns the value as 64 bits.
    fn to_lane(self) -> u64;

    /// Returns the value with these bits.
    fn from_lane(lane: u64) -> Self;
}

macro_rules! packable {
    ($($type:ty: $to:expr, $from:expr;)+) => {$(
        impl Packable for $type {
            fn to_lane(self) -> u64 {
                $to(self)
            }

            fn from_lane(lane: u64) -> Self {
                $from(lane)
            }
        }
    )+};
}

packable! {
    f64: f64::to_bits, f64::from_bits;
    u64: |value| value, |lane| lane;
    u32: u64::from, |lane| lane as u32;
}

/// A run of values in which each one differs from the previous one by the same step, modulo 2^64.
#[derive(Clone, Copy, Debug)]
struct PackedSequence {
    /// Index of the first value in the block.
    start: u32,
    first: u64,
    step: u64,
}

impl PackedSequence {
    fn value(&self, index: usize) -> u64 {
        self.first.wrapping_add(self.step.wrapping_mul(index as u64 - u64::from(self.start)))
    }
}

#[derive(Clone, Debug)]
enum Block<T> {
    Plain(Box<[T]>),
    Runs(Box<[PackedSequence]>),
}

impl<T: Packable> Block<T> {
    fn of(values: &[T]) -> Self {
        let max_runs = size_of_val(values) / size_of::<PackedSequence>();
        let mut runs: Vec<PackedSequence> = Vec::new();
        let mut length = 0;
        for (start, value) in values.iter().enumerate() {
            let (lane, is_full) = (value.to_lane(), runs.len() == max_runs);
            match runs.last_mut() {
                Some(run) if length == 1 => run.step = lane.wrapping_sub(run.first),
                Some(run) if run.value(start) == lane => {}
                _ if is_full => return Self::Plain(values.into()),
                _ => {
                    runs.push(PackedSequence { start: start as u32, first: lane, step: 0 });
                    length = 0;
                }
            }
            length += 1;
        }
        Self::Runs(runs.into())
    }

    fn get(&self, index: usize) -> T {
        match self {
            Self::Plain(values) => values[index],
            Self::Runs(runs) => {
                let run = runs.partition_point(|run| run.start as usize <= index) - 1;
                T::from_lane(runs[run].value(index))
            }
        }
    }

    /// Appends the values at these indices to `values`.
    fn append_to(&self, values: &mut Vec<T>, indices: Range<usize>) {
        match self {
            Self::Plain(plain) => values.extend_from_slice(&plain[indices]),
            Self::Runs(runs) => {
                let mut next = indices.start;
                let mut run = runs.partition_point(|run| run.start as usize <= next).saturating_sub(1);
                while next < indices.end {
                    let end = runs.get(run + 1).map_or(indices.end, |after| indices.end.min(after.start as usize));
                    values.extend((next..end).map(|index| T::from_lane(runs[run].value(index))));
                    (next, run) = (end, run + 1);
                }
            }
        }
    }
}

/// A column whose values are packed as soon as they fill a block.
#[derive(Clone, Debug)]
pub struct Packed<T> {
    blocks: Vec<Block<T>>,
    /// The values after the last full block.
    open: Vec<T>,
}

impl<T> Default for Packed<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), open: Vec::new() }
    }
}

#[expect(private_bounds, reason = "only column types implement the bound")]
impl<T: Packable> Packed<T> {
    /// Appends a value.
    pub(crate) fn push(&mut self, value: T) {
        self.open.push(value);
        if self.open.len() == BLOCK {
            self.blocks.push(Block::of(&self.open));
            self.open.clear();
        }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.blocks.len() * BLOCK + self.open.len()
    }

    /// Returns true if there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn get(&self, row: usize) -> T {
        match self.blocks.get(row / BLOCK) {
            Some(block) => block.get(row % BLOCK),
            None => self.open[row % BLOCK],
        }
    }

    /// Returns the unpacked values of a range of rows.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn unpacked(&self, rows: Range<usize>) -> Vec<T> {
        let mut values = Vec::with_capacity(rows.len());
        let mut next = rows.start;
        while next < rows.end {
            let (block_index, first) = (next / BLOCK, next % BLOCK);
            let last = (first + rows.end - next).min(BLOCK);
            match self.blocks.get(block_index) {
                Some(block) => block.append_to(&mut values, first..last),
                None => values.extend_from_slice(&self.open[first..last]),
            }
            next += last - first;
        }
        values
    }

    /// Returns all values; they are unpacked block by block.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len()).step_by(BLOCK).flat_map(|first| self.unpacked(first..self.len().min(first + BLOCK)))
    }

    /// Removes all values.
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.open.clear();
    }

    /// Returns the memory of the packed blocks in bytes.
    #[cfg(test)]
    fn block_bytes(&self) -> usize {
        let bytes = |block: &Block<T>| match block {
            Block::Plain(values) => size_of_val(&**values),
            Block::Runs(runs) => size_of_val(&**runs),
        };
        self.blocks.iter().map(bytes).sum()
    }
}

impl<T: Packable> FromIterator<T> for Packed<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut packed = Self::default();
        values.into_iter().for_each(|value| packed.push(value));
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers that form no runs.
    fn scattered(count: u64) -> Vec<u64> {
        (0..count).map(|at| at.wrapping_mul(at).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40).collect()
    }

    fn columns() -> Vec<Vec<u64>> {
        let count = 3 * BLOCK as u64 + 5;
        vec![
            Vec::new(),
            vec![7],
            vec![0; 3 * BLOCK],
            (0..count).map(|at| at % 1_000).collect(),
            (0..count).map(|at| if at % 700 == 699 { u64::MAX - at } else { 0 }).collect(),
            (0..count).rev().collect(),
            scattered(count),
        ]
    }

    #[test]
    fn a_packed_column_gives_back_its_values() {
        for values in columns() {
            let packed: Packed<u64> = values.iter().copied().collect();
            assert_eq!((packed.len(), packed.is_empty()), (values.len(), values.is_empty()));
            assert!(packed.iter().eq(values.iter().copied()));
            assert!((0..values.len()).all(|row| packed.get(row) == values[row]));
            let edges = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 699, values.len()];
            for (first, last) in edges.iter().flat_map(|first| edges.map(|last| (*first, last))) {
                if first <= last && last <= values.len() {
                    assert_eq!(packed.unpacked(first..last), values[first..last], "{first}..{last}");
                }
            }
        }
    }

    #[test]
    fn numbers_and_missing_numbers_keep_their_bits() {
        let values = [0.0, -0.0, f64::NAN, 0.1, 0.2, f64::NAN, f64::INFINITY];
        let packed: Packed<f64> = values.iter().copied().cycle().take(BLOCK).collect();
        assert!(packed.iter().map(f64::to_bits).eq(values.iter().cycle().take(BLOCK).map(|value| value.to_bits())));
    }

    #[test]
    fn idle_samples_take_next_to_nothing_and_others_no_more_than_their_width() {
        let idle: Packed<u64> = std::iter::repeat_n(0, 100 * BLOCK).collect();
        // One run of 24 bytes per block.
        assert_eq!(idle.block_bytes(), 100 * 24);
        let links: Packed<u32> = (0..100 * BLOCK as u32).map(|at| at % 10_000).collect();
        // Two runs where the numbers start again.
        assert!(links.block_bytes() <= 100 * 2 * 24);
        let busy: Packed<u64> = scattered(4 * BLOCK as u64).into_iter().collect();
        assert_eq!(busy.block_bytes(), 4 * BLOCK * 8);
    }

    #[test]
    fn a_cleared_column_starts_again() {
        let mut packed: Packed<u32> = (0..2 * BLOCK as u32).collect();
        packed.clear();
        assert!(packed.is_empty());
        packed.push(3);
        assert_eq!(packed.unpacked(0..1), [3]);
    }
}
