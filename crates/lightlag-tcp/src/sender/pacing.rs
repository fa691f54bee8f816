//! When the next segment may leave, where something other than the window says so.
//!
//! An algorithm that paces gives its own rate. With `pacing` any other one gets twice cwnd/SRTT in slow start, so
//! that the window can double, and 1.2 times that afterwards, so that it can be used (the factors of Linux).

use super::Sender;
use crate::config::Config;
use lightlag_core::{Duration, Instant};

const SLOW_START: f64 = 2.0;
const AVOIDANCE: f64 = 1.2;

/// The schedule of what leaves.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Pacer {
    /// Nothing leaves before.
    next: Instant,
    /// When a segment that waits may leave; [`Instant::MAX`] if none waits.
    pub(super) timer: Instant,
}

impl Pacer {
    pub(super) fn new() -> Self {
        Self { next: Instant::ZERO, timer: Instant::MAX }
    }

    /// Whether a segment has to wait.
    pub(super) fn holds(&self, now: Instant) -> bool {
        self.next > now
    }

    pub(super) fn wait(&mut self) {
        self.timer = self.next;
    }

    /// Wakes the sender at this time: something waits until then.
    pub(super) fn wait_until(&mut self, time: Instant) {
        self.timer = time;
    }

    /// The time has come, if it has.
    pub(super) fn wake(&mut self, now: Instant) {
        if self.timer <= now {
            self.timer = Instant::MAX;
        }
    }

    fn sent(&mut self, now: Instant, time: Duration) {
        self.next = self.next.max(now) + time;
    }
}

impl Sender {
    /// How long a segment of so many bytes takes at the pacing rate.
    #[inline(never)]
    pub(super) fn pace(&mut self, now: Instant, bytes: u32, config: &Config) {
        if self.needs.bursts {
            return self.count_in_burst(now, bytes);
        }
        let Some(congestion) = &self.congestion else { return };
        let time = match congestion.pacing_rate() {
            Some(rate) => rate.time_to_send(lightlag_core::Bytes(u64::from(bytes))),
            None if config.pacing && !self.rtt.srtt().is_zero() => {
                let gain = if self.cwnd < congestion.ssthresh() { SLOW_START } else { AVOIDANCE };
                let share = f64::from(bytes) / (gain * self.window() as f64);
                Duration::from_secs_f64(self.rtt.srtt().as_secs_f64() * share)
            }
            None => return,
        };
        self.pacer.sent(now, time);
    }
}
