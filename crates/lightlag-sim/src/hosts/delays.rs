//! A summary of many delays: the mean exactly, quantiles to 0.2 %.

use lightlag_core::Duration;

/// Steps of one doubling: 2^8.
const STEPS: u32 = 8;

/// Counts of delays in steps whose width grows with the delay: 256 a doubling.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    sum: u128,
    least: Duration,
    most: Duration,
    /// The step of the last delay, and how many delays have followed each other in it: none only before the first.
    last: (u32, u32),
    /// The delays before, if they have other steps. They lie elsewhere, so that delays of one step touch little memory.
    before: Option<Box<Steps>>,
}

/// Steps with their counts, in order: there are few, and they lie together.
#[derive(Clone, Debug, Default)]
struct Steps(Vec<(u32, u32)>);

impl Steps {
    fn add(&mut self, (step, count): (u32, u32)) {
        match self.0.binary_search_by_key(&step, |(step, _)| *step) {
            Ok(at) => self.0[at].1 += count,
            Err(at) => self.0.insert(at, (step, count)),
        }
    }
}

impl Delays {
    /// Adds a delay.
    pub(crate) fn add(&mut self, delay: Duration) {
        let step = step(delay.as_nanos());
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

    /// All steps.
    fn steps(&self) -> Steps {
        let mut steps = self.before.as_deref().cloned().unwrap_or_default();
        if self.last.1 > 0 {
            steps.add(self.last);
        }
        steps
    }

    /// Number of delays.
    pub(crate) fn count(&self) -> u64 {
        let before = self.before.iter().flat_map(|steps| &steps.0);
        before.chain([&self.last]).map(|(_, count)| u64::from(*count)).sum()
    }

    /// The mean in seconds, if there are delays.
    pub(crate) fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / count as f64 / 1e9)
    }

    /// The smallest delay in seconds that a share of `quantile` does not exceed (nearest rank), if there are delays.
    pub(crate) fn quantile(&self, quantile: f64) -> Option<f64> {
        let rank = (libm::ceil(quantile * self.count() as f64) as u64).max(1);
        let mut below = 0;
        let (step, _) = self.steps().0.into_iter().find(|(_, count)| {
            below += u64::from(*count);
            below >= rank
        })?;
        let middle = middle(step).clamp(self.least.as_nanos() as f64, self.most.as_nanos() as f64);
        Some(middle / 1e9)
    }
}

/// The step of a delay.
fn step(nanos: u64) -> u32 {
    let doublings = (u64::BITS - nanos.leading_zeros()).saturating_sub(STEPS + 1);
    (doublings << STEPS) + (nanos >> doublings) as u32
}

/// The middle of a step in nanoseconds.
fn middle(step: u32) -> f64 {
    let doublings = (step >> STEPS).saturating_sub(1);
    let first = u64::from(step - (doublings << STEPS)) << doublings;
    first as f64 + 0.5 * ((1_u64 << doublings) - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_knows_its_times() {
        for nanos in (0..20).flat_map(|power| [3_u64, 5, 7].map(|odd| odd.pow(power) % (1 << 50))) {
            let found = middle(step(nanos));
            assert!((found - nanos as f64).abs() <= nanos as f64 / 512.0, "{nanos}: {found}");
        }
    }

    #[test]
    fn steps_follow_each_other() {
        let steps: Vec<u32> = (0..5_000).map(step).collect();
        assert!(steps.is_sorted() && steps.windows(2).all(|pair| pair[1] - pair[0] <= 1));
    }

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
