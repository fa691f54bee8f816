//! The account of a sender as it stands between two events, to be closed later at a time between them.

use crate::account::{Limit, Limited};
use crate::integral::Integral;
use lightlag_core::{Duration, Instant};

/// A copy of the account of a sender, valid until the next event of its connection.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Time of each limit until `limited_since`.
    pub limited: Limited,
    /// The limit since then.
    pub limit: Limit,
    /// Instant of the last entry in `limited`.
    pub limited_since: Instant,
    /// Whether the connection was ever opened.
    pub opened: bool,
    /// Integral of the window in bytes over `window_time`, in byte-nanoseconds.
    pub window_integral: Integral,
    /// Time that the integral covers; it ends at `window_since`.
    pub window_time: Duration,
    /// Instant of the last change of the window.
    pub window_since: Instant,
    /// The window since then, in bytes.
    pub window: u64,
    /// Payload of a full segment, in bytes.
    pub segment_size: u32,
}

impl Standing {
    /// Returns the time until `now` for which each limit held the sender back.
    pub fn limited(&self, now: Instant) -> Limited {
        let mut limited = self.limited;
        if self.opened {
            *limited.of_mut(self.limit) += now.since(self.limited_since);
        }
        limited
    }

    /// Returns the mean of the congestion window until `now`, in segments.
    pub fn mean_cwnd_segments(&self, now: Instant) -> f64 {
        let span = now.since(self.window_since);
        let time = (self.window_time + span).as_nanos();
        let mut integral = self.window_integral;
        integral.add(self.window, span.as_nanos());
        let mean = if time > 0 { integral.get() as f64 / time as f64 } else { self.window as f64 };
        mean / f64::from(self.segment_size)
    }
}
