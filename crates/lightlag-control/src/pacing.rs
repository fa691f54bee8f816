//! The schedule of departures that do not follow from the window alone.

use lightlag_core::{Duration, Instant};

/// The schedule of departures.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pacer {
    /// Nothing leaves before this time.
    next: Instant,
    /// Time at which a waiting segment may leave; [`Instant::MAX`] if none waits.
    pub timer: Instant,
}

impl Pacer {
    /// A schedule before the first segment, which may leave at once.
    pub fn new() -> Self {
        Self { next: Instant::ZERO, timer: Instant::MAX }
    }

    /// Time at which the next segment may leave.
    #[inline]
    pub fn next_departure(&self) -> Instant {
        self.next
    }

    /// Whether a segment has to wait.
    #[inline]
    pub fn holds(&self, now: Instant) -> bool {
        self.next > now
    }

    /// A segment waits for its departure.
    #[inline]
    pub fn wait(&mut self) {
        self.timer = self.next;
    }

    /// Wakes the sender at this time: a segment waits until then.
    #[inline]
    pub fn wait_until(&mut self, time: Instant) {
        self.timer = time;
    }

    /// Clears the timer if its time has come.
    #[inline]
    pub fn wake(&mut self, now: Instant) {
        if self.timer <= now {
            self.timer = Instant::MAX;
        }
    }

    /// Notes a segment that takes this long at the pacing rate.
    #[inline]
    pub fn sent(&mut self, now: Instant, time: Duration) {
        self.next = self.next.max(now) + time;
    }

    /// Notes a burst that takes this long. Half of its delay, at most, is made up for.
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
