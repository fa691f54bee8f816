//! Delays that differ from packet to packet.
//!
//! A random deviation is added to the delay of each packet; its distribution is uniform, or normal and truncated. The
//! deviations of consecutive packets can be correlated: a Gaussian sequence x ← ρ·x + √(1 − ρ²)·N(0, 1) has the
//! correlation ρ from packet to packet. A normal deviation is a value of that sequence, times the standard deviation;
//! values beyond the maximum deviation are drawn again. A uniform deviation is the normal distribution function of a
//! value of the sequence, scaled to the range. The sequence then has the correlation ρ, and the deviations have the
//! correlation 6/π·asin(ρ/2).
//!
//! Each distribution has its own file, `uniform` or `normal`, which also declares its settings ([`Shape`]). A line
//! below registers its name.

mod normal;
mod registry;
mod uniform;

pub use normal::Normal;
pub use uniform::Uniform;

use lightlag_core::params::Described;
use lightlag_core::{Duration, Probability, RandomStream};

/// Random variation of the delay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jitter {
    /// Distribution of the deviations.
    pub distribution: Distribution,
    /// Maximum deviation in either direction.
    pub most: Duration,
    /// Correlation between the deviations of consecutive packets; 0 means none.
    pub correlation: Probability,
}

/// A distribution of deviations. Its settings do not include the maximum deviation and the correlation, which every
/// distribution has.
trait Shape: Described + Copy {
    /// Returns the default of the maximum deviation; `None` if the maximum has no default.
    fn usual_most(self) -> Option<Duration> {
        None
    }

    /// Returns the reason why this maximum deviation is rejected; `None` if it is accepted.
    fn refuses(self, _most: Duration) -> Option<String> {
        None
    }

    /// Returns the next deviation, in seconds.
    fn deviation(self, jitter: &Jitter, sequence: &mut Sequence) -> f64;
}

// One line per distribution: its variant, its name in a scenario, its parameters.
registry::distributions! {
    Uniform, "uniform", Uniform;
    Normal, "normal", Normal;
}

/// State of the Gaussian sequence x.
#[derive(Clone, Debug)]
struct Sequence {
    random: RandomStream,
    /// Last value of x; `None` before the first draw.
    last: Option<f64>,
}

impl Sequence {
    /// Returns the next x, whose magnitude is at most `max`.
    fn next(&mut self, max: f64, correlation: Probability) -> f64 {
        let correlation = correlation.value();
        loop {
            let x = match self.last {
                Some(last) => correlation * last + libm::sqrt(1.0 - correlation * correlation) * self.random.normal(),
                None => self.random.normal(),
            };
            if x.abs() <= max {
                self.last = Some(x);
                return x;
            }
        }
    }
}

/// State of the jitter of a link direction.
#[derive(Clone, Debug)]
pub(super) struct JitterProcess {
    jitter: Jitter,
    sequence: Sequence,
}

impl JitterProcess {
    pub(super) fn new(jitter: Jitter, random: RandomStream) -> Self {
        Self { jitter, sequence: Sequence { random, last: None } }
    }

    pub(super) fn most(&self) -> Duration {
        self.jitter.most
    }

    /// Returns the delay of the next packet, including its deviation; never below zero.
    pub(super) fn apply(&mut self, delay: Duration) -> Duration {
        let deviation = self.jitter.distribution.deviation(&self.jitter, &mut self.sequence);
        let size = Duration::from_secs_f64(deviation.abs()).min(self.jitter.most);
        if deviation < 0.0 { delay.saturating_sub(size) } else { delay + size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 1_000_000;

    fn deviations(distribution: Distribution, max: u64, correlation: f64) -> Vec<f64> {
        let correlation = Probability::new(correlation).unwrap();
        let jitter = Jitter { distribution, most: Duration::from_micros(max), correlation };
        let mut process = JitterProcess::new(jitter, RandomStream::new(1, "jitter"));
        let delay = Duration::from_millis(100);
        (0..PACKETS).map(|_| process.apply(delay).as_secs_f64() * 1e6 - 1e5).collect()
    }

    /// Returns the mean, the standard deviation, and the correlation of consecutive values.
    fn moments(values: &[f64]) -> (f64, f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n;
        let neighbours = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / n;
        (mean, libm::sqrt(variance), neighbours / variance)
    }

    #[test]
    fn uniform_deviations_fill_their_range_evenly() {
        let samples = deviations(Distribution::Uniform(Uniform), 5_000, 0.0);
        let (mean, deviation, neighbours) = moments(&samples);
        // 5000/√3 = 2886.8 µs, the mean of a million of those ± 2.9; correlations ± 0.001. Four of each.
        assert!(mean.abs() < 11.6 && (deviation - 2_886.75).abs() < 5.2, "{mean} {deviation}");
        assert!(neighbours.abs() < 0.004, "{neighbours}");
        assert!(samples.iter().all(|value| value.abs() <= 5_000.001));
    }

    #[test]
    fn normal_deviations_are_cut_off_at_the_maximum() {
        let (mean, deviation, _) =
            moments(&deviations(Distribution::Normal(Normal { deviation: Duration::from_micros(2_000) }), 6_000, 0.0));
        // Truncated at 3 σ: variance 1 − 2·3·φ(3)/(2Φ(3) − 1) = 0.97334, of 2000 µs 1973.2; of the mean ± 2.0. Four of
        // each.
        assert!(mean.abs() < 8.0 && (deviation - 1_973.16).abs() < 6.0, "{mean} {deviation}");
        let tight = deviations(Distribution::Normal(Normal { deviation: Duration::from_micros(2_000) }), 2_000, 0.0);
        assert!(tight.iter().all(|value| value.abs() <= 2_000.001));
        // At 1 σ: 1 − 2·φ(1)/(2Φ(1) − 1) = 0.29112, 1079.1 µs.
        assert!((moments(&tight).1 - 1_079.12).abs() < 4.0, "{}", moments(&tight).1);
    }

    #[test]
    fn neighbours_have_the_requested_correlation() {
        let (_, deviation, neighbours) =
            moments(&deviations(Distribution::Normal(Normal { deviation: Duration::from_micros(1_000) }), 8_000, 0.9));
        assert!((neighbours - 0.9).abs() < 0.004 && (deviation - 1_000.0).abs() < 10.0, "{neighbours} {deviation}");
        let (_, deviation, neighbours) = moments(&deviations(Distribution::Uniform(Uniform), 5_000, 0.9));
        // 6/π · asin(0.45) = 0.8915; still uniform.
        assert!((neighbours - 0.8915).abs() < 0.004 && (deviation - 2_886.75).abs() < 20.0, "{neighbours} {deviation}");
    }

    #[test]
    fn a_delay_does_not_fall_below_zero() {
        let jitter = Jitter {
            distribution: Distribution::Uniform(Uniform),
            most: Duration::from_millis(5),
            correlation: Probability::ZERO,
        };
        let mut process = JitterProcess::new(jitter, RandomStream::new(1, "jitter"));
        let zeros = (0..1_000).filter(|_| process.apply(Duration::ZERO).is_zero()).count();
        // Half of them, ± 15.8; five of those.
        assert!(zeros.abs_diff(500) < 79, "{zeros}");
    }
}
