//! Stopwatches that measure what limits a sender (`tcp_chrono_start` of Linux).

use lightlag_core::{Duration, Instant};

/// Sum of the times between [`Self::start`] and [`Self::stop`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stopwatch {
    total: Duration,
    since: Option<Instant>,
}

impl Stopwatch {
    /// Starts the stopwatch, unless it is already running.
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

/// Times in which a sender was busy, and the parts of that time in which the peer or the application limited it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chronograph {
    /// Time in which data was unacknowledged.
    pub(crate) busy: Stopwatch,
    /// Time in which the congestion window had space, but the peer's window had none.
    pub(crate) refused: Stopwatch,
    /// Time in which the congestion window was not full, and the application waited for space in the send buffer.
    pub(crate) starved: Stopwatch,
}

impl Chronograph {
    /// Stops all stopwatches, because everything is acknowledged.
    pub(crate) fn stopped(mut self, now: Instant) -> Self {
        for watch in [&mut self.busy, &mut self.refused, &mut self.starved] {
            watch.stop(now);
        }
        self
    }
}
