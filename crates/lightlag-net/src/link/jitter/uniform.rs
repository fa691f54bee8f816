//! Jitter with a uniform distribution.

use super::{Jitter, Sequence, Shape};
use lightlag_core::Probability;
use lightlag_core::params::{Described, Setting};

/// All deviations up to the maximum are equally likely.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Uniform;

impl Described for Uniform {
    const ABOUT: &'static str = "all deviations up to the maximum are equally likely";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

impl Shape for Uniform {
    fn deviation(self, jitter: &Jitter, sequence: &mut Sequence) -> f64 {
        let max_s = jitter.most.as_secs_f64();
        if jitter.correlation == Probability::ZERO {
            return max_s * (2.0 * sequence.random.uniform() - 1.0);
        }
        let x = sequence.next(f64::INFINITY, jitter.correlation);
        // 2 Φ(x) − 1
        max_s * libm::erf(x * std::f64::consts::FRAC_1_SQRT_2)
    }
}
