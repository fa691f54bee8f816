//! The account of a sender as it stands between two events, to be closed later at a time between them.

use super::integral::Integral;
use super::{Account, Limit, Limited};
use lightlag_core::{Duration, Instant};

/// A copy of what the account of a sender rests on. It holds until the next thing that happens to the connection.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    limited: Limited,
    limit: Limit,
    limited_since: Instant,
    opened: bool,
    window_integral: Integral,
    window_time: Duration,
    window_since: Instant,
    window: u64,
    segment_size: u32,
}

impl Account {
    /// The account with `limit` and a window of so many bytes since their last changes.
    pub(crate) fn standing(&self, limit: Limit, window: u64, segment_size: u32) -> Standing {
        Standing {
            limited: self.limited,
            limit,
            limited_since: self.limited_since,
            opened: self.opened,
            window_integral: self.window_integral,
            window_time: self.window_time,
            window_since: self.window_since,
            window,
            segment_size,
        }
    }
}

impl Standing {
    /// What held the sender back until `now`, and for how long.
    pub fn limited(&self, now: Instant) -> Limited {
        let mut limited = self.limited;
        if self.opened {
            *limited.part(self.limit) += now.since(self.limited_since);
        }
        limited
    }

    /// Mean of the congestion window until `now`, in segments.
    pub fn mean_cwnd_segments(&self, now: Instant) -> f64 {
        let span = now.since(self.window_since);
        let time = (self.window_time + span).as_nanos();
        let mut integral = self.window_integral;
        integral.add(self.window, span.as_nanos());
        let mean = if time > 0 { integral.get() as f64 / time as f64 } else { self.window as f64 };
        mean / f64::from(self.segment_size)
    }
}
