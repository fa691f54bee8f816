//! A station's right to send: spaces, slots and backoff (IEEE 802.11-2020 §10.3 and §10.23.2).
//!
//! Slots are not counted one by one. The station knows from when on the medium is idle, and how many slots are left; its
//! access is that instant, a space and these slots later. When the medium turns busy before, the whole slots of the gap
//! are taken off.

use crate::phy::Timing;
use lightlag_core::{Duration, Instant, RandomStream};

/// The least and the largest contention window of DCF, and of best effort in EDCA.
const LEAST_WINDOW: u32 = 15;
const LARGEST_WINDOW: u32 = 1023;

/// Slots of the space of DCF, and of best effort in EDCA.
const DCF_SLOTS: u32 = 2;
const BEST_EFFORT_SLOTS: u32 = 3;

/// What a station does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It waits for its turn, or has nothing to send.
    Idle,
    /// It sends a frame for all until then.
    Sending(Instant),
    /// It waits for an answer until then.
    Waiting(Instant),
    /// The wait is over, but a frame that may be the answer is still being received.
    Receiving,
}

impl State {
    /// Whether an answer to its last frame may come.
    pub(super) fn awaits_answer(self) -> bool {
        matches!(self, Self::Waiting(_) | Self::Receiving)
    }
}

#[derive(Debug)]
pub(super) struct Access {
    timing: Timing,
    edca: bool,
    random: RandomStream,
    pub(super) state: State,
    /// The medium is busy here until then, as far as is known.
    pub(super) busy_until: Instant,
    /// The medium counts as busy until then, because the last frame on which the receiver locked was not understood.
    extended_until: Instant,
    window: u32,
    slots: u32,
    /// Failures in a row. They are the station's (QSRC, §10.23.2.12): a frame that expires leaves them, and the window, to
    /// the next one.
    failures: u32,
    /// Requests to send since the last one that was answered, and whether it waits for such an answer. They have a
    /// count of their own, the short one (§10.23.2.12).
    requests: u32,
    asks: bool,
    busy: Duration,
}

impl Access {
    pub(super) fn new(timing: Timing, edca: bool, random: RandomStream) -> Self {
        Self {
            timing,
            edca,
            random,
            state: State::Idle,
            busy_until: Instant::ZERO,
            extended_until: Instant::ZERO,
            window: LEAST_WINDOW,
            slots: 0,
            failures: 0,
            requests: 0,
            asks: false,
            busy: Duration::ZERO,
        }
    }

    /// The start of the slots that count, if the medium stays idle.
    fn first_slot(&self) -> Instant {
        let slots = if self.edca { BEST_EFFORT_SLOTS } else { DCF_SLOTS };
        self.busy_until.max(self.extended_until) + self.timing.aifs(slots)
    }

    /// The latest instant at which the station may send if the medium is idle from `idle` on.
    pub(super) fn at_most(&self, idle: Instant) -> Instant {
        let slots = if self.edca { BEST_EFFORT_SLOTS } else { DCF_SLOTS };
        idle + self.timing.aifs(slots) + self.timing.slot * u64::from(self.slots)
    }

    /// A frame on which the receiver had locked has ended. If it was not understood, an answer to it may follow that is
    /// not heard here (EIFS, §10.3.2.3.7).
    pub(super) fn received(&mut self, end: Instant, understood: bool) {
        let extension = self.timing.eifs.saturating_sub(self.timing.difs());
        self.extended_until = if understood { Instant::ZERO } else { end + extension };
    }

    /// The medium is busy from `from` to `until`.
    pub(super) fn occupy(&mut self, from: Instant, until: Instant) {
        if self.slots > 0 && from > self.busy_until {
            let start = self.first_slot();
            if from >= start {
                let whole = from.since(start).as_nanos() / self.timing.slot.as_nanos() + u64::from(self.edca);
                self.slots = u64::from(self.slots).saturating_sub(whole) as u32;
            }
        }
        if until > self.busy_until {
            self.busy += until.since(from.max(self.busy_until));
            self.busy_until = until;
        }
    }

    /// How long the medium was busy until now.
    pub(super) fn busy(&self, now: Instant) -> Duration {
        self.busy.saturating_sub(self.busy_until.since(now))
    }

    /// When the station may send, if the medium stays idle and it has a frame since `now`.
    pub(super) fn access(&self, now: Instant) -> Instant {
        let start = self.first_slot();
        let access = start + self.timing.slot * u64::from(self.slots);
        if access >= now {
            access
        } else if self.edca {
            let slots = now.since(start).as_nanos().div_ceil(self.timing.slot.as_nanos());
            start + self.timing.slot * slots
        } else {
            now
        }
    }

    /// The exchange succeeded, or the frame was given up: the next one starts anew, after a backoff.
    pub(super) fn renew(&mut self) {
        self.window = LEAST_WINDOW;
        (self.failures, self.requests) = (0, 0);
        self.back_off();
    }

    /// It has asked for the medium.
    pub(super) fn ask(&mut self) {
        self.asks = true;
    }

    /// It was allowed to send.
    pub(super) fn allowed(&mut self) {
        (self.requests, self.asks) = (0, false);
    }

    /// A try failed. Returns the larger one of both counts of failures in a row.
    pub(super) fn retry(&mut self) -> u32 {
        self.window = (2 * self.window + 1).min(LARGEST_WINDOW);
        let asked = std::mem::take(&mut self.asks);
        self.requests += u32::from(asked);
        self.failures += u32::from(!asked);
        self.back_off();
        self.requests.max(self.failures)
    }

    /// Whether the last frame was a request.
    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    fn back_off(&mut self) {
        self.state = State::Idle;
        let slots = self.random.uniform() * f64::from(self.window + 1);
        self.slots = (slots as u32).min(self.window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Band;

    #[test]
    fn the_medium_is_busy_as_long_as_it_has_been() {
        let mut access = Access::new(Timing::new(Band::Ghz5), false, RandomStream::new(1, "backoff"));
        let at = |micros| Instant::ZERO + Duration::from_micros(micros);
        access.occupy(at(10), at(50));
        access.occupy(at(30), at(80));
        let busy = [20, 50, 80, 1_000].map(|now| access.busy(at(now)));
        assert_eq!(busy, [10, 40, 70, 70].map(Duration::from_micros));
    }
}
