//! Probability distributions of positive numbers: sizes, times, counts.
//!
//! All but the lognormal are drawn by inverting their distribution function, from one uniform number each.

use crate::RandomStream;

/// Distribution of a positive number, in the unit of its parameters.
#[derive(Clone, PartialEq, Debug)]
pub enum Law {
    /// A constant.
    Constant(f64),
    /// All numbers from `min` to `max` are equally likely.
    Uniform {
        /// Minimum.
        min: f64,
        /// Maximum.
        max: f64,
    },
    /// Exponential: the remaining time does not depend on the elapsed time.
    Exponential {
        /// Mean of the distribution.
        mean: f64,
    },
    /// Pareto, P(X > x) = (min/x)^shape; with `max` it is that distribution given X ≤ max.
    Pareto {
        /// Minimum.
        min: f64,
        /// The exponent of the tail. A finite mean needs more than 1, a finite variance more than 2, unless there is a
        /// `max`.
        shape: f64,
        /// The bound of the tail, if any.
        max: Option<f64>,
    },
    /// Lognormal: e to the power of a normally distributed number.
    Lognormal {
        /// Mean of the logarithm: the logarithm of the median.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// One of these numbers. Each is stored with the cumulative probability up to it; the last has 1.
    Table(Vec<(f64, f64)>),
}

impl Law {
    /// Returns a Pareto distribution with this mean. The minimum follows from the mean. Without a `max` it is
    /// mean·(shape − 1)/shape; with a `max` it is found by bisection.
    ///
    /// `None` if no minimum results in that mean.
    pub fn pareto_of_mean(mean: f64, shape: f64, max: Option<f64>) -> Option<Self> {
        let Some(max) = max else {
            return (shape > 1.0).then(|| Self::Pareto { min: mean * (shape - 1.0) / shape, shape, max: None });
        };
        if mean >= max {
            return None;
        }
        // The mean of the bounded law grows from 0 to `max` with its smallest number.
        let (mut low, mut high) = (0.0, max);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if bounded_mean(middle, shape, max) < mean { low = middle } else { high = middle }
        }
        Some(Self::Pareto { min: high, shape, max: Some(max) })
    }

    /// Returns a lognormal distribution with this mean: E = exp(μ + σ²/2).
    pub fn lognormal_of_mean(mean: f64, sigma: f64) -> Self {
        Self::Lognormal { mu: libm::log(mean) - 0.5 * sigma * sigma, sigma }
    }

    /// Returns the distribution that picks one of these numbers, each with a probability in proportion to its weight.
    /// The arguments are pairs of a number and its weight.
    pub fn table(weighted: &[(f64, f64)]) -> Self {
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let cumulative = weighted.iter().map(|(value, weight)| {
            sum += weight;
            (*value, sum / total)
        });
        Self::Table(cumulative.collect())
    }

    /// Returns the mean; infinite if no finite mean exists.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Constant(value) => value,
            Self::Uniform { min, max } => 0.5 * (min + max),
            Self::Exponential { mean } => mean,
            Self::Pareto { shape, max: None, .. } if shape <= 1.0 => f64::INFINITY,
            Self::Pareto { min, shape, max: None } => min * shape / (shape - 1.0),
            Self::Pareto { min, shape, max: Some(max) } => bounded_mean(min, shape, max),
            Self::Lognormal { mu, sigma } => libm::exp(mu + 0.5 * sigma * sigma),
            Self::Table(ref values) => {
                let mut before = 0.0;
                let share = |(value, cumulative): &(f64, f64)| {
                    let part = value * (cumulative - before);
                    before = *cumulative;
                    part
                };
                values.iter().map(share).sum()
            }
        }
    }

    /// Draws a number.
    pub fn draw(&self, random: &mut RandomStream) -> f64 {
        match *self {
            Self::Constant(value) => value,
            Self::Uniform { min, max } => min + random.uniform() * (max - min),
            Self::Exponential { mean } => -libm::log1p(-random.uniform()) * mean,
            Self::Pareto { min, shape, max } => {
                // P(X > x) of the law without a bound runs from 1 down to (min/max)^shape.
                let cut = max.map_or(0.0, |max| libm::pow(min / max, shape));
                let above = 1.0 - random.uniform() * (1.0 - cut);
                min * libm::pow(above, -1.0 / shape)
            }
            Self::Lognormal { mu, sigma } => libm::exp(mu + sigma * random.normal()),
            Self::Table(ref values) => {
                let uniform = random.uniform();
                let at = values.partition_point(|(_, cumulative)| *cumulative <= uniform);
                values[at.min(values.len() - 1)].0
            }
        }
    }
}

/// Number of halvings that exhausts the precision of a double.
const BISECTIONS: u32 = 200;

/// Returns the mean of the Pareto distribution given X ≤ max: the integral of x·f(x) from min to max.
fn bounded_mean(min: f64, shape: f64, max: f64) -> f64 {
    let ratio = min / max;
    if ratio <= 0.0 {
        return 0.0;
    }
    if ratio >= 1.0 {
        return max;
    }
    let kept = -libm::expm1(shape * libm::log(ratio));
    // min·shape/(shape − 1)·(1 − ratio^(shape − 1)), without a difference of nearly equal numbers.
    let (power, log) = (shape - 1.0, libm::log(ratio));
    let tail = if power == 0.0 { -log } else { -libm::expm1(power * log) / power };
    shape * min * tail / kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 100_000;

    fn draws(law: &Law) -> Vec<f64> {
        let mut random = RandomStream::new(1, "law");
        (0..DRAWS).map(|_| law.draw(&mut random)).collect()
    }

    /// Distributions with a variance, and their means and variances from the textbook.
    fn laws() -> Vec<(Law, f64, f64)> {
        let (shape, min) = (3.0, 2.0);
        let (mu, sigma): (f64, f64) = (1.0, 0.5);
        let lognormal = libm::exp(mu + 0.5 * sigma * sigma);
        vec![
            (Law::Constant(4.0), 4.0, 0.0),
            (Law::Uniform { min: 2.0, max: 8.0 }, 5.0, 3.0),
            (Law::Exponential { mean: 7.0 }, 7.0, 49.0),
            (Law::Pareto { min, shape, max: None }, 3.0, min * min * 0.75),
            (Law::Lognormal { mu, sigma }, lognormal, lognormal * lognormal * libm::expm1(sigma * sigma)),
            (Law::table(&[(1.0, 3.0), (5.0, 1.0)]), 2.0, 3.0),
        ]
    }

    #[test]
    fn means_match_the_textbook() {
        for (law, mean, variance) in laws() {
            assert!((law.mean() - mean).abs() < 1e-12 * mean, "{law:?}: {}", law.mean());
            let values = draws(&law);
            let measured = values.iter().sum::<f64>() / f64::from(DRAWS);
            // 99 % interval.
            let allowed = 2.576 * libm::sqrt(variance / f64::from(DRAWS));
            assert!((measured - mean).abs() <= allowed, "{law:?}: {measured} is not {mean} ± {allowed}");
        }
    }

    #[test]
    fn variances_match_the_textbook() {
        // The Pareto distribution of shape 3 has no fourth moment, so no interval for its variance.
        for (law, mean, variance) in laws().into_iter().filter(|(law, ..)| !matches!(law, Law::Pareto { .. })) {
            let squares = draws(&law).iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
            let found = squares / f64::from(DRAWS);
            assert!((found - variance).abs() <= 0.05 * variance, "{law:?}: {found} is not {variance}");
        }
    }

    #[test]
    fn a_bounded_pareto_has_the_requested_mean() {
        for shape in [0.8, 1.0, 1.2, 2.5] {
            let law = Law::pareto_of_mean(10_000.0, shape, Some(1e6)).unwrap();
            assert!((law.mean() - 10_000.0).abs() < 1e-6, "shape {shape}: {}", law.mean());
            let Law::Pareto { min, .. } = law else { panic!("{law:?}") };
            let values = draws(&law);
            assert!(values.iter().all(|value| (min..=1e6 * (1.0 + 1e-12)).contains(value)), "shape {shape}");
            let mean = values.iter().sum::<f64>() / f64::from(DRAWS);
            let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
            let allowed = 2.576 * libm::sqrt(squares) / f64::from(DRAWS);
            assert!((mean - 10_000.0).abs() < allowed, "shape {shape}: {mean} ± {allowed}");
        }
        assert_eq!(Law::pareto_of_mean(5.0, 1.0, None), None);
        assert_eq!(Law::pareto_of_mean(5.0, 1.5, Some(5.0)), None);
        let free = Law::pareto_of_mean(9.0, 1.5, None).unwrap();
        assert_eq!(free, Law::Pareto { min: 3.0, shape: 1.5, max: None });
    }

    #[test]
    fn the_tail_of_a_pareto_is_a_power() {
        let values = draws(&Law::Pareto { min: 1.0, shape: 1.2, max: None });
        for x in [2.0, 10.0, 100.0] {
            let expected = libm::pow(x, -1.2);
            let measured = values.iter().filter(|value| **value > x).count() as f64 / f64::from(DRAWS);
            let allowed = 2.576 * libm::sqrt(expected * (1.0 - expected) / f64::from(DRAWS));
            assert!((measured - expected).abs() < allowed, "P(X > {x}) = {measured}, not {expected} ± {allowed}");
        }
    }

    #[test]
    fn a_lognormal_is_found_by_its_mean() {
        let law = Law::lognormal_of_mean(20.0, 1.0);
        assert!((law.mean() - 20.0).abs() < 1e-12);
    }
}
