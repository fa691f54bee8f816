//! Slow start as a policy that every window-based algorithm can take: how fast the window doubles, and when it
//! stops before a loss.
//!
//! RFC 5681 §3.1 ends slow start only at the threshold; [`hystart`] looks for signs of a full path before.

use super::hystart::{self, HyStart};
use super::{Ack, Window};

/// The slow start of one connection.
pub struct SlowStart {
    hystart: Option<HyStart>,
}

impl SlowStart {
    /// The policy that `config` wants.
    pub fn new(config: &hystart::Config) -> Self {
        Self { hystart: HyStart::new(config) }
    }

    /// Lets `window` grow by `each` for every one of `acked` segments while it is below its threshold, and
    /// returns how many of `acked` are left for congestion avoidance.
    pub fn grow(&mut self, ack: &Ack, window: &mut Window, acked: f64, each: f64) -> f64 {
        hystart::watch(&mut self.hystart, ack, window);
        window.slow_start(acked, each)
    }
}
