//! Jitter with a truncated normal distribution.

use super::{Jitter, Sequence, Shape};
use lightlag_core::Duration;
use lightlag_core::params::{Described, Setting};

/// Default truncation, as a multiple of the standard deviation.
const CUT_OFF: u64 = 3;

/// Normal deviations, truncated at the maximum deviation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Normal {
    /// Standard deviation before truncation, not above the maximum deviation.
    pub deviation: Duration,
}

impl Described for Normal {
    const ABOUT: &'static str = "normal with this standard deviation, truncated at the maximum (by default three \
                                 standard deviations)";

    fn settings() -> Vec<Setting<Self>> {
        let deviation = Setting::time_or_zero("deviation", |shape: &mut Self| &mut shape.deviation)
            .about("Standard deviation before truncation, not above the maximum deviation.");
        vec![deviation.required("specify the standard deviation, such as \"2 ms\"")]
    }
}

impl Shape for Normal {
    fn usual_most(self) -> Option<Duration> {
        Some(self.deviation * CUT_OFF)
    }

    fn refuses(self, max: Duration) -> Option<String> {
        let deviation = self.deviation;
        (max < deviation).then(|| format!("{max} is below the deviation of {deviation}; write a larger one"))
    }

    fn deviation(self, jitter: &Jitter, sequence: &mut Sequence) -> f64 {
        let deviation = self.deviation.as_secs_f64();
        if deviation == 0.0 {
            return 0.0;
        }
        deviation * sequence.next(jitter.most.as_secs_f64() / deviation, jitter.correlation)
    }
}
