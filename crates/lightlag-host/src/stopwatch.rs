//! Stopwatches that divide up the time of a sender (`tcp_chrono_start` of Linux).

use lightlag_core::{Duration, Instant};

/// Adds up the times between [`Self::start`] and [`Self::stop`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stopwatch {
    total: Duration,
    since: Option<Instant>,
}

impl Stopwatch {
    /// Starts it, unless it runs already.
    pub(crate) fn start(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    pub(crate) fn stop(&mut self, now: Instant) {
        self.total = self.total(now);
        self.since = None;
    }

    pub(crate) fn total(&self, now: Instant) -> Duration {
        self.total + self.since.map_or(Duration::ZERO, |since| now.since(since))
    }
}

/// The division of a sender's time. The other two are parts of the first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chronograph {
    /// Data is unacknowledged.
    pub(crate) busy: Stopwatch,
    /// The congestion window has room, and the peer's has none.
    pub(crate) refused: Stopwatch,
    /// The congestion window has room, and the application waits for room in the send buffer.
    pub(crate) starved: Stopwatch,
}

impl Chronograph {
    /// Stops all, as everything is acknowledged.
    pub(crate) fn stopped(mut self, now: Instant) -> Self {
        for watch in [&mut self.busy, &mut self.refused, &mut self.starved] {
            watch.stop(now);
        }
        self
    }
}
