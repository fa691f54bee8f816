//! The values that determine the limits and the mean window of a sender at any time between two events.

use crate::account::{Limit, Limited, QuicLimited};
use crate::integral::Integral;
use lightlag_core::{Duration, Instant};

/// A copy of a sender's values for limits and the mean window, valid until the next event of its connection.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Time for which each limit applied, up to `limited_since`.
    pub limited: Limited,
    /// Parts of these times; `None` for TCP.
    pub quic_limited: Option<QuicLimited>,
    /// The limit that has applied since `limited_since`.
    pub limit: Limit,
    /// Time when `limited` was last updated.
    pub limited_since: Instant,
    /// Whether the connection was ever opened.
    pub opened: bool,
    /// Integral of the congestion window over `window_time`, in byte-nanoseconds.
    pub window_integral: Integral,
    /// Duration that the integral covers; it ends at `window_since`.
    pub window_time: Duration,
    /// Time when the window last changed.
    pub window_since: Instant,
    /// Congestion window since `window_since`, in bytes.
    pub window: u64,
    /// Payload of a full segment, in bytes.
    pub segment_size: u32,
}

impl Standing {
    /// Returns how long each limit restricted the sender, up to `now`.
    pub fn limited(&self, now: Instant) -> Limited {
        let mut limited = self.limited;
        if self.opened {
            *limited.of_mut(self.limit) += now.since(self.limited_since);
        }
        limited
    }

    /// Returns the parts of these times that QUIC distinguishes, up to `now`; `None` for TCP.
    pub fn quic_limited(&self, now: Instant) -> Option<QuicLimited> {
        let mut limited = self.quic_limited?;
        if self.opened {
            limited.add(self.limit, now.since(self.limited_since));
        }
        Some(limited)
    }

    /// Returns the congestion window averaged over time up to `now`, in segments.
    pub fn mean_cwnd_segments(&self, now: Instant) -> f64 {
        let span = now.since(self.window_since);
        let time = (self.window_time + span).as_nanos();
        let mut integral = self.window_integral;
        integral.add(self.window, span.as_nanos());
        let mean = if time > 0 { integral.get() as f64 / time as f64 } else { self.window as f64 };
        mean / f64::from(self.segment_size)
    }
}
