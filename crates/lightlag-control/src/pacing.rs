//! When the next segment may be sent, for senders whose departures do not follow from the window alone.

use lightlag_core::{Duration, Instant};

/// The pacing schedule of a connection.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pacer {
    /// Earliest time of the next segment.
    next: Instant,
    /// Time when a waiting segment may leave; [`Instant::MAX`] if none waits.
    pub timer: Instant,
}

impl Pacer {
    /// Creates a schedule before the first segment, which may be sent immediately.
    pub fn new() -> Self {
        Self { next: Instant::ZERO, timer: Instant::MAX }
    }

    /// Returns the time when the next segment may leave.
    #[inline]
    pub fn next_departure(&self) -> Instant {
        self.next
    }

    /// Returns true if the next segment has to wait.
    #[inline]
    pub fn holds(&self, now: Instant) -> bool {
        self.next > now
    }

    /// Sets the timer, because a segment waits for its departure.
    #[inline]
    pub fn wait(&mut self) {
        self.timer = self.next;
    }

    /// Sets the timer to this time, until which a segment waits.
    #[inline]
    pub fn wait_until(&mut self, time: Instant) {
        self.timer = time;
    }

    /// Clears the timer if it has expired.
    #[inline]
    pub fn wake(&mut self, now: Instant) {
        if self.timer <= now {
            self.timer = Instant::MAX;
        }
    }

    /// Notes that a segment was sent, which takes `time` at the pacing rate.
    #[inline]
    pub fn sent(&mut self, now: Instant, time: Duration) {
        self.next = self.next.max(now) + time;
    }

    /// Notes that a burst was sent, which takes `time` at the pacing rate. If the burst was late, the next one is
    /// earlier to compensate, by at most half of `time`.
    #[inline]
    pub fn sent_burst(&mut self, now: Instant, time: Duration) {
        let late = now.since(self.next);
        self.next = self.next.max(now) + time.saturating_sub(late.min(time / 2));
    }
}

impl Default for Pacer {
    fn default() -> Self {
        Self::new()
    }
}
