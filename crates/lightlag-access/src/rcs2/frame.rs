//! The positions of slots in a frame: first random access, then control, constant capacity, and assigned slots.
//!
//! Slots are numbered carrier by carrier, so slots of consecutive numbers are at different times, as a terminal with one
//! transmitter requires.

use super::config::{Rcs2Config, Terminal};
use lightlag_core::{Duration, Instant};

/// Number of slots of a frame for each purpose, and the times of slots.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Slots for random access.
    pub(crate) contention: u64,
    /// Slots for requests of individual terminals.
    pub(crate) control: u64,
    /// Slots of constant assignments.
    pub(crate) constant: u64,
    frame: u64,
    pub(crate) slots: u32,
    guard: Duration,
    period: u64,
}

impl Layout {
    pub(crate) fn new(config: &Rcs2Config, terminals: &[Terminal]) -> Self {
        let period = u64::from(config.control_period);
        Self {
            contention: u64::from(config.contention_slots),
            control: if period == 0 { 0 } else { (terminals.len() as u64).div_ceil(period) },
            constant: terminals.iter().map(|of| u64::from(config.constant_slots(of))).sum(),
            frame: config.frame.as_nanos(),
            slots: config.slots,
            guard: config.slot_guard,
            period,
        }
    }

    /// Returns the number of the first slot that is assigned on demand.
    pub(crate) fn first_assigned(&self) -> u32 {
        (self.contention + self.control + self.constant) as u32
    }

    /// Returns the number of the first slot of constant assignments.
    pub(crate) fn first_constant(&self) -> u32 {
        (self.contention + self.control) as u32
    }

    /// Returns the start of a frame at the gateway.
    pub(crate) fn start(&self, frame: u64) -> Instant {
        Instant::from_nanos(self.frame * frame)
    }

    /// Returns the first frame that starts at `time` or later.
    pub(crate) fn first_from(&self, time: Instant) -> u64 {
        time.as_nanos().div_ceil(self.frame)
    }

    /// Returns the time in a frame when a slot starts, as received by the gateway.
    pub(crate) fn offset(&self, slot: u32) -> Duration {
        let position = u64::from(slot % self.slots);
        Duration::from_nanos((u128::from(self.frame) * u128::from(position) / u128::from(self.slots)) as u64)
    }

    /// Returns the time in a frame when the burst of a slot ends.
    pub(crate) fn end(&self, slot: u32) -> Duration {
        let position = u64::from(slot % self.slots) + 1;
        let end = Duration::from_nanos((u128::from(self.frame) * u128::from(position) / u128::from(self.slots)) as u64);
        end - self.guard
    }

    /// Returns the duration of a burst.
    pub(crate) fn burst(&self) -> Duration {
        self.end(0)
    }

    /// Returns the time in a frame when the last slot of random access ends.
    pub(crate) fn contention_end(&self) -> Duration {
        self.end((self.contention as u32).clamp(1, self.slots) - 1)
    }

    /// Returns the next frame from `frame` with a control slot of this terminal, and its number.
    pub(crate) fn control_slot(&self, frame: u64, terminal: u64) -> (u64, u32) {
        let ahead = (terminal % self.period + self.period - frame % self.period) % self.period;
        (frame + ahead, (self.contention + terminal / self.period) as u32)
    }
}

/// Returns the time that is `delay` before `time`.
pub(crate) fn before(time: Instant, delay: Duration) -> Instant {
    Instant::from_nanos(time.as_nanos().saturating_sub(delay.as_nanos()))
}
