//! When timers actually fire.
//!
//! Linux counts time in ticks (4 ms at HZ = 250), and its timer wheel (`kernel/time/timer.c`) has coarser steps for
//! longer timers: 1, 8, 64 and 512 ticks for timers of at least 0, 63, 504 and 4032 ticks. A timer fires at the next
//! step after its exact time, never before: a timeout of 305 ms takes 308 to 340 ms.

use lightlag_core::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// Precision of timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimerGranularity {
    /// Timers fire at their exact time, to the nanosecond.
    Exact,
    /// Timers fire as in a Linux kernel with 250 ticks per second.
    Linux,
}

/// Length of a tick in nanoseconds.
const TICK: u64 = 4_000_000;

/// Time that Linux adds to the delays of tail loss probes and of the reordering window (`TCP_TIMEOUT_MIN`).
pub(crate) const LEAST: Duration = Duration::from_millis(8);

/// Returns when Linux's timer wheel fires a timer that was set at `armed` for `wait`.
pub(crate) fn fires(armed: Instant, wait: Duration) -> Instant {
    let ticks = wait.as_nanos().div_ceil(TICK);
    let due = armed.as_nanos() / TICK + ticks;
    let shift = match ticks {
        0..63 => 0,
        63..504 => 3,
        504..4_032 => 6,
        _ => 9,
    };
    Instant::from_nanos((((due >> shift) + 1) << shift) * TICK)
}

/// Returns when Linux's timer wheel fires a timer that was set for `wait`, and whose exact time is `due`.
pub(crate) fn after(due: Instant, wait: Duration) -> Instant {
    let armed = Instant::ZERO + due.since(Instant::ZERO + wait.min(due.since(Instant::ZERO)));
    fires(armed, wait)
}

/// The step of the wheel that a timer was last moved to: the lower 32 bits of the number of its tick. Steps that differ
/// by a multiple of 2³² ticks, 198 days, are indistinguishable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct WheelStep(u32);

impl WheelStep {
    /// Returns the step at `time`.
    pub(crate) fn of(time: Instant) -> Self {
        Self((time.as_nanos() / TICK) as u32)
    }

    /// Returns true if `time` is at this step.
    pub(crate) fn is_at(self, time: Instant) -> bool {
        time.as_nanos().is_multiple_of(TICK) && self == Self::of(time)
    }
}

/// Moves a timer whose exact time has come to the time when the wheel fires it. Returns true if that is later than
/// `now`. `step` is the step that the timer was last moved to.
#[cold]
pub(crate) fn put_off(timer: &mut Instant, step: &mut WheelStep, now: Instant, wait: Duration) -> bool {
    if step.is_at(*timer) {
        return false;
    }
    *timer = after(*timer, wait);
    *step = WheelStep::of(*timer);
    *timer > now
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn timers_fire_at_the_next_step_of_their_level() {
        // 40 ms: 10 ticks and one; 305 ms: 77 ticks, to 80; 2.5 s: 625 ticks, to 640; 17 s: 4250 ticks, to 4608.
        for (wait, fired) in
            [(40, 44), (251, 256), (252, 256), (305, 320), (320, 352), (2_500, 2_560), (17_000, 18_432)]
        {
            assert_eq!(fires(Instant::ZERO, ms(wait)), Instant::ZERO + ms(fired), "{wait} ms");
        }
        // Set at 3 ms: the current tick counts in full.
        assert_eq!(fires(Instant::ZERO + ms(3), ms(40)), Instant::ZERO + ms(44));
        assert_eq!(fires(Instant::ZERO + ms(5), ms(40)), Instant::ZERO + ms(48));
    }

    #[test]
    fn no_timer_fires_early_or_more_than_a_step_late() {
        for armed in (0..40).map(|n| Instant::from_nanos(n * 1_300_007)) {
            for wait in (1..3_000).map(ms) {
                let late = fires(armed, wait).since(armed + wait);
                let step = if wait < ms(249) {
                    4
                } else if wait < ms(2_013) {
                    32
                } else {
                    256
                };
                assert!(fires(armed, wait) > armed + wait && late <= ms(step + 4), "{armed} {wait}");
            }
        }
    }

    #[test]
    fn a_timer_is_put_off_once() {
        let (mut timer, mut step) = (Instant::ZERO + ms(305), WheelStep::default());
        assert!(put_off(&mut timer, &mut step, Instant::ZERO + ms(305), ms(305)));
        assert_eq!(timer, Instant::ZERO + ms(320));
        assert!(!put_off(&mut timer, &mut step, Instant::ZERO + ms(320), ms(305)));
    }
}
