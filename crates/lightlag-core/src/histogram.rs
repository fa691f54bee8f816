//! Counts of integers in bins whose width grows with the number.

/// A bin of a histogram with 2^`BITS` bins per doubling. Each number below 2^(`BITS` + 1) has its own bin; the width of
/// any other bin is at most 2^-`BITS` times the numbers in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Bin<const BITS: u32>(pub u32);

impl<const BITS: u32> Bin<BITS> {
    /// Returns the bin of a number.
    pub fn of(number: u64) -> Self {
        let doublings = Self::doublings(number);
        Self((doublings << BITS) + (number >> doublings) as u32)
    }

    fn doublings(number: u64) -> u32 {
        (u64::BITS - BITS - 1).saturating_sub(number.leading_zeros())
    }

    /// Returns the minimum of the bin, and its width.
    pub fn range(self) -> (u64, u64) {
        let doublings = (self.0 >> BITS).saturating_sub(1);
        (u64::from(self.0 - (doublings << BITS)) << doublings, 1 << doublings)
    }

    /// Returns the maximum of the bin.
    pub fn last(self) -> u64 {
        let (first, width) = self.range();
        first + (width - 1)
    }

    /// Returns the bin with the quantile `share` of `total` numbers (nearest rank). `counts` has the bins in ascending
    /// order.
    pub fn quantile(counts: impl IntoIterator<Item = (Self, u64)>, total: u64, share: f64) -> Option<Self> {
        let rank = (libm::ceil(share * total as f64) as u64).max(1);
        let mut below = 0;
        let reaches = |(_, count): &(Self, u64)| {
            below += count;
            below >= rank
        };
        counts.into_iter().find(reaches).map(|(bin, _)| bin)
    }
}

/// Counts of numbers by their [`Bin`], and the maximum.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histogram<const BITS: u32> {
    /// Counts by bin, up to the maximum.
    counts: Vec<u64>,
    total: u64,
    max: u64,
}

impl<const BITS: u32> Histogram<BITS> {
    /// Counts a number in the bin of `counted`, which may be smaller than the number. The maximum always includes
    /// `number`.
    pub fn add(&mut self, number: u64, counted: u64) {
        let bin = Bin::<BITS>::of(counted).0 as usize;
        if bin >= self.counts.len() {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
        self.total += 1;
        self.max = self.max.max(number);
    }

    /// Returns how many numbers were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the maximum; zero if no number was counted.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Returns the bins up to the maximum with their counts, in order.
    pub fn bins(&self) -> impl Iterator<Item = (Bin<BITS>, u64)> + '_ {
        (0..).map(Bin).zip(self.counts.iter().copied())
    }

    /// Returns the bin with the quantile `share` of the numbers (nearest rank); `None` if there are no numbers.
    pub fn quantile(&self, share: f64) -> Option<Bin<BITS>> {
        Bin::quantile(self.bins(), self.total, share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bins_follow_each_other_and_hold_their_numbers() {
        let mut last = 0;
        for number in 0..200_000 {
            let bin = Bin::<3>::of(number);
            let (first, width) = bin.range();
            assert!(bin.0 == last || bin.0 == last + 1, "{number}");
            assert!((first..first + width).contains(&number) && width <= (number / 8).max(1), "{number}");
            last = bin.0;
        }
        assert_eq!((Bin::<5>::of(u64::MAX).0, Bin::<5>::of(u64::MAX).last()), (1_919, u64::MAX));
    }

    proptest! {
        #[test]
        fn a_bin_has_the_numbers_of_its_range(number in any::<u64>()) {
            let bin = Bin::<8>::of(number);
            let (first, width) = bin.range();
            prop_assert!(first <= number && number <= bin.last() && width <= (number >> 8).max(1));
            prop_assert_eq!((Bin::of(first), Bin::of(bin.last())), (bin, bin));
        }
    }
}
