//! Slow start as a policy of every window-based algorithm: how fast the window grows, and whether slow start ends
//! before a loss.
//!
//! RFC 5681 §3.1 ends slow start only at the threshold. The policies of [`hystart`] look for earlier signs of a full
//! path.

use super::hystart::plus_plus::PlusPlus;
use super::hystart::search::Search;
use super::hystart::{self, HyStart, Policy};
use super::{Ack, ConnectionStart, Window};
use lightlag_core::Instant;

/// The slow start of one connection.
pub enum SlowStart {
    /// Slow start of RFC 5681.
    Standard,
    /// HyStart of Linux.
    HyStart(HyStart),
    /// HyStart++ of RFC 9406.
    PlusPlus(Box<PlusPlus>),
    /// SEARCH of draft-chung-ccwg-search.
    Search(Box<Search>),
}

impl SlowStart {
    /// Creates the policy that `config` selects, for a new connection.
    pub fn new(config: &hystart::Config, start: &ConnectionStart) -> Self {
        match config.policy {
            Policy::Standard => Self::Standard,
            Policy::HyStart => Self::HyStart(HyStart::new(config, start.paces)),
            Policy::PlusPlus => Self::PlusPlus(Box::new(PlusPlus::new(config, Window::first_threshold(start)))),
            Policy::Search => Self::Search(Box::new(Search::new(config, start))),
        }
    }

    /// Examines an ACK that does not increase the window. Only HyStart and SEARCH use such ACKs, as in the kernel.
    pub fn observe(&mut self, ack: &Ack, window: &mut Window) {
        if !window.in_slow_start() || ack.newly_acked == 0 {
            return;
        }
        match self {
            Self::HyStart(hystart) => hystart.watch(ack, window),
            Self::Search(search) => {
                search.watch(ack, window);
            }
            Self::Standard | Self::PlusPlus(_) => {}
        }
    }

    /// Notes a timeout. Only HyStart and SEARCH take note of it, as in the kernel.
    pub fn time_out(&mut self, now: Instant) {
        match self {
            Self::HyStart(hystart) => hystart.time_out(now),
            Self::Search(search) => search.restart(),
            Self::Standard | Self::PlusPlus(_) => {}
        }
    }

    /// Grows `window` by `each` for every one of `acked` segments, as long as it is below its threshold. Returns the
    /// number of `acked` segments that remain for congestion avoidance.
    #[inline]
    pub fn grow(&mut self, ack: &Ack, window: &mut Window, acked: f64, each: f64) -> f64 {
        if !window.in_slow_start() {
            return acked;
        }
        match self {
            Self::Standard => {}
            Self::HyStart(hystart) => hystart.watch(ack, window),
            Self::PlusPlus(plus_plus) => return plus_plus.grow(ack, window, acked, each),
            Self::Search(search) => {
                if search.watch(ack, window) {
                    return 0.0;
                }
            }
        }
        window.slow_start(acked, each)
    }

    /// Grows `window` as NewReno does: in slow start, and then by 1/W for each counted segment (RFC 5681 equation 3).
    pub fn grow_as_reno(&mut self, ack: &Ack, window: &mut Window) {
        let left = self.grow(ack, window, ack.growth, 1.0);
        if left > 0.0 {
            window.grow(left / window.segments());
        }
    }
}
