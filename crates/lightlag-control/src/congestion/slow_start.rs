//! Slow start as a policy of every window-based algorithm: the speed of its growth, and its end before a loss.
//!
//! RFC 5681 §3.1 ends slow start only at the threshold. The policies of [`hystart`] look for earlier signs of a full
//! path.

use super::hystart::plus_plus::PlusPlus;
use super::hystart::{self, HyStart, Policy};
use super::{Ack, Start, Window};
use lightlag_core::Instant;

/// The slow start of one connection.
pub enum SlowStart {
    /// RFC 5681's.
    Standard,
    /// That of Linux.
    HyStart(HyStart),
    /// RFC 9406's.
    PlusPlus(Box<PlusPlus>),
}

impl SlowStart {
    /// The policy of `config`, for a window that is new, too.
    pub fn new(config: &hystart::Config, start: &Start) -> Self {
        match config.policy {
            Policy::Standard => Self::Standard,
            Policy::HyStart => Self::HyStart(HyStart::new(config)),
            Policy::PlusPlus => Self::PlusPlus(Box::new(PlusPlus::new(config, Window::first_threshold(start)))),
        }
    }

    /// Examines an ACK that causes no growth. Only HyStart does, as in the kernel.
    pub fn observe(&mut self, ack: &Ack, window: &mut Window) {
        if let Self::HyStart(hystart) = self
            && window.in_slow_start()
            && ack.newly_acked > 0
        {
            hystart.watch(ack, window);
        }
    }

    /// Notes a timeout. Only HyStart looks at it, as in the kernel.
    pub fn time_out(&mut self, now: Instant) {
        if let Self::HyStart(hystart) = self {
            hystart.time_out(now);
        }
    }

    /// Lets `window` grow by `each` for every one of `acked` segments while it is below its threshold. Returns the
    /// number of `acked` segments left for congestion avoidance.
    pub fn grow(&mut self, ack: &Ack, window: &mut Window, acked: f64, each: f64) -> f64 {
        if !window.in_slow_start() {
            return acked;
        }
        match self {
            Self::Standard => {}
            Self::HyStart(hystart) => hystart.watch(ack, window),
            Self::PlusPlus(plus_plus) => return plus_plus.grow(ack, window, acked, each),
        }
        window.slow_start(acked, each)
    }

    /// Lets `window` grow as NewReno: by slow start, then by 1/W for each counted segment (RFC 5681 equation 3).
    pub fn grow_as_reno(&mut self, ack: &Ack, window: &mut Window) {
        let left = self.grow(ack, window, ack.growth, 1.0);
        if left > 0.0 {
            window.grow(left / window.segments());
        }
    }
}
