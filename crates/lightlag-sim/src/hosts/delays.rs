//! A summary of many delays: the exact mean, and quantiles with an error of at most 0.2 %.

use lightlag_core::{Bin, Duration};

/// Bins with 256 steps per doubling of the delay.
type DelaySteps = Bin<8>;

/// Histogram of delays. The width of its steps grows with the delay: there are 256 steps per doubling.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    sum: u128,
    least: Duration,
    most: Duration,
    /// Step of the last delay, and the number of consecutive delays in it. The number is 0 only before the first delay.
    last: (DelaySteps, u32),
    /// Earlier delays, if any were in other steps. They are allocated separately, so that equal delays touch little
    /// memory.
    before: Option<Box<Steps>>,
}

/// Steps with their counts, sorted. There are few, so they are stored in one list.
#[derive(Clone, Debug, Default)]
struct Steps(Vec<(DelaySteps, u32)>);

impl Steps {
    fn add(&mut self, (step, count): (DelaySteps, u32)) {
        match self.0.binary_search_by_key(&step, |(step, _)| *step) {
            Ok(at) => self.0[at].1 += count,
            Err(at) => self.0.insert(at, (step, count)),
        }
    }
}

impl Delays {
    /// Adds a delay.
    pub(crate) fn add(&mut self, delay: Duration) {
        let step = DelaySteps::of(delay.as_nanos());
        let is_first = self.last.1 == 0;
        if step != self.last.0 && !is_first {
            self.before.get_or_insert_default().add(self.last);
            self.last.1 = 0;
        }
        self.last = (step, self.last.1 + 1);
        self.least = if is_first { delay } else { self.least.min(delay) };
        self.most = self.most.max(delay);
        self.sum += u128::from(delay.as_nanos());
    }

    /// Returns all steps with their counts.
    fn steps(&self) -> Steps {
        let mut steps = self.before.as_deref().cloned().unwrap_or_default();
        if self.last.1 > 0 {
            steps.add(self.last);
        }
        steps
    }

    /// Returns the number of delays.
    pub(crate) fn count(&self) -> u64 {
        let before = self.before.iter().flat_map(|steps| &steps.0);
        before.chain([&self.last]).map(|(_, count)| u64::from(*count)).sum()
    }

    /// Returns the mean in seconds; `None` if there are no delays.
    pub(crate) fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / count as f64 / 1e9)
    }

    /// Returns a quantile of the delays in seconds (nearest rank); `None` if there are no delays.
    pub(crate) fn quantile(&self, quantile: f64) -> Option<f64> {
        let steps = self.steps().0.into_iter().map(|(step, count)| (step, u64::from(count)));
        let (first, width) = DelaySteps::quantile(steps, self.count(), quantile)?.range();
        let middle = first as f64 + 0.5 * (width - 1) as f64;
        let middle = middle.clamp(self.least.as_nanos() as f64, self.most.as_nanos() as f64);
        Some(middle / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_nearest_rank() {
        let mut delays = Delays::default();
        assert_eq!((delays.mean(), delays.quantile(0.95)), (None, None));
        (1..=100).for_each(|ms| delays.add(Duration::from_millis(ms)));
        assert_eq!(delays.count(), 100);
        assert!((delays.mean().unwrap() - 0.0505).abs() < 1e-12);
        for (quantile, expected) in [(0.0, 0.001), (0.5, 0.050), (0.95, 0.095), (1.0, 0.1)] {
            let found = delays.quantile(quantile).unwrap();
            assert!((found - expected).abs() <= 0.002 * expected, "{quantile}: {found}");
        }
    }
}
