//! The schedule of what leaves, where something other than the window says when.

use lightlag_core::{Duration, Instant};

/// The schedule of what leaves.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pacer {
    /// Nothing leaves before.
    next: Instant,
    /// When a segment that waits may leave; [`Instant::MAX`] if none waits.
    pub timer: Instant,
}

impl Pacer {
    /// Nothing has left: the first segment may leave at once.
    pub fn new() -> Self {
        Self { next: Instant::ZERO, timer: Instant::MAX }
    }

    /// When the next segment may leave.
    #[inline]
    pub fn next_departure(&self) -> Instant {
        self.next
    }

    /// Whether a segment has to wait.
    #[inline]
    pub fn holds(&self, now: Instant) -> bool {
        self.next > now
    }

    /// Something waits for its departure.
    #[inline]
    pub fn wait(&mut self) {
        self.timer = self.next;
    }

    /// Wakes the sender at this time: something waits until then.
    #[inline]
    pub fn wait_until(&mut self, time: Instant) {
        self.timer = time;
    }

    /// The time has come, if it has.
    #[inline]
    pub fn wake(&mut self, now: Instant) {
        if self.timer <= now {
            self.timer = Instant::MAX;
        }
    }

    /// A segment left that takes so much time at the pacing rate.
    #[inline]
    pub fn sent(&mut self, now: Instant, time: Duration) {
        self.next = self.next.max(now) + time;
    }

    /// A burst left that takes so much time; what it left later than it might have, it makes good by half at most.
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
