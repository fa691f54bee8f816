//! The distribution of many durations in little memory: minimum, mean and maximum are exact, quantiles are accurate to
//! 0.8 %.

use lightlag_core::Duration;

/// Binary logarithm of the number of buckets per doubling. The width of a bucket is at most 1/64 of its values, and its
/// middle is reported.
const STEPS_LOG2: u32 = 6;

/// Counts of durations, in buckets whose width is proportional to the duration. Only buckets with a count take memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    buckets: Vec<(u16, u64)>,
    count: u64,
    sum: u128,
    least: u64,
    greatest: u64,
}

impl Spread {
    pub fn add(&mut self, duration: Duration) {
        let nanos = duration.as_nanos();
        let bucket = bucket(nanos);
        match self.buckets.binary_search_by_key(&bucket, |entry| entry.0) {
            Ok(at) => self.buckets[at].1 += 1,
            Err(at) => self.buckets.insert(at, (bucket, 1)),
        }
        self.least = if self.count == 0 { nanos } else { self.least.min(nanos) };
        self.greatest = self.greatest.max(nanos);
        self.count += 1;
        self.sum += u128::from(nanos);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn least(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.least))
    }

    pub fn greatest(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.greatest))
    }

    pub fn mean(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos((self.sum / u128::from(self.count)) as u64))
    }

    /// Returns the quantile: the minimum value that `percent` of all values do not exceed.
    pub fn quantile(&self, percent: u64) -> Option<Duration> {
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100).max(1) as u64;
        let mut below = 0;
        let entry = self.buckets.iter().find(|(_, count)| {
            below += count;
            below >= rank
        });
        entry.map(|(bucket, _)| Duration::from_nanos(middle(*bucket).clamp(self.least, self.greatest)))
    }
}

/// Returns the index of the bucket of a value. Each value below 2^7 has its own bucket. Above, the exponent and the
/// next six bits are the index.
fn bucket(nanos: u64) -> u16 {
    let exponent = nanos.checked_ilog2().unwrap_or(0).saturating_sub(STEPS_LOG2);
    ((u64::from(exponent) << STEPS_LOG2) + (nanos >> exponent)) as u16
}

fn middle(bucket: u16) -> u64 {
    let exponent = u32::from(bucket >> STEPS_LOG2).saturating_sub(1);
    let low = (u64::from(bucket) - (u64::from(exponent) << STEPS_LOG2)) << exponent;
    low + (1 << exponent) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_of_few_small_values_are_exact() {
        let mut spread = Spread::default();
        for nanos in [5, 1, 4, 2, 3] {
            spread.add(Duration::from_nanos(nanos));
        }
        let nanos = |duration: Option<Duration>| duration.unwrap().as_nanos();
        assert_eq!((nanos(spread.least()), nanos(spread.mean()), nanos(spread.greatest())), (1, 3, 5));
        assert_eq!((nanos(spread.quantile(50)), nanos(spread.quantile(95))), (3, 5));
        assert_eq!(Spread::default().quantile(50), None);
    }

    proptest! {
        #[test]
        fn quantiles_are_within_eight_per_mille(mut values in prop::collection::vec(1u64..1 << 50, 1..300)) {
            let mut spread = Spread::default();
            values.iter().for_each(|value| spread.add(Duration::from_nanos(*value)));
            values.sort_unstable();
            for percent in [1, 50, 95, 100] {
                let exact = values[(values.len() * percent as usize).div_ceil(100).max(1) - 1];
                let found = spread.quantile(percent).unwrap().as_nanos();
                prop_assert!(found.abs_diff(exact) as f64 <= 0.0079 * exact as f64 + 1.0, "{found} for {exact}");
            }
        }
    }
}
