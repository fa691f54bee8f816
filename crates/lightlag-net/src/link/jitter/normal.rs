//! Normal deviations, truncated.

use super::{Jitter, Sequence, Shape};
use lightlag_core::Duration;
use lightlag_core::params::{Described, Setting};

/// The default truncation, in standard deviations.
const CUT_OFF: u64 = 3;

/// Normal deviations, truncated at the largest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Normal {
    /// The standard deviation before truncation, not above the largest deviation.
    pub deviation: Duration,
}

impl Described for Normal {
    const ABOUT: &'static str = "normal with this standard deviation, cut off at the largest (three of them)";

    fn settings() -> Vec<Setting<Self>> {
        let deviation = Setting::time_or_zero("deviation", |shape: &mut Self| &mut shape.deviation)
            .about("The standard deviation before truncation, not above the largest deviation.");
        vec![deviation.required("say how large the standard deviation is, such as \"2 ms\"")]
    }
}

impl Shape for Normal {
    fn usual_most(self) -> Option<Duration> {
        Some(self.deviation * CUT_OFF)
    }

    fn refuses(self, most: Duration) -> Option<String> {
        let deviation = self.deviation;
        (most < deviation).then(|| format!("{most} is below the deviation of {deviation}; cut off at least there"))
    }

    fn deviation(self, jitter: &Jitter, sequence: &mut Sequence) -> f64 {
        let deviation = self.deviation.as_secs_f64();
        if deviation == 0.0 {
            return 0.0;
        }
        deviation * sequence.next(jitter.most.as_secs_f64() / deviation, jitter.correlation)
    }
}
