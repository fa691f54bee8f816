//! When a station may send: interframe spaces, slots and backoff (IEEE 802.11-2020 §10.3 and §10.23.2).
//!
//! Slots are not counted one by one. The station stores when the medium became idle, and how many slots are left; its
//! access time is the sum of that time, an interframe space and these slots. If the medium becomes busy earlier, the
//! complete slots that have elapsed are subtracted.

use crate::class::{Class, DCF, Edca, Parameters};
use crate::phy::Timing;
use lightlag_core::{Duration, Instant, RandomStream};

/// The present activity of a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Contends for the medium, or has nothing to send.
    Idle,
    /// Sends a broadcast frame until this time.
    Sending(Instant),
    /// Waits for a reply until this time.
    Waiting(Instant),
    /// The time to wait has passed, but a frame that may be the reply is still being received.
    Receiving,
}

impl State {
    /// Returns true if a reply to its last frame may arrive.
    pub(super) fn awaits_answer(self) -> bool {
        matches!(self, Self::Waiting(_) | Self::Receiving)
    }
}

/// The contention state of one class.
#[derive(Clone, Copy, Debug)]
struct Contention {
    of: Parameters,
    /// The interframe space before the slots.
    space: Duration,
    window: u32,
    slots: u32,
    /// Consecutive failures of data frames. They are counted for the station (QSRC, §10.23.2.12): when a frame expires,
    /// the count and the window apply to the next one.
    failures: u32,
    /// RTS or other requests without a reply since the last reply. They are counted separately, by the short retry
    /// count (§10.23.2.12).
    requests: u32,
}

impl Contention {
    fn new(parameters: Parameters, timing: Timing) -> Self {
        Self {
            of: parameters,
            space: timing.aifs(parameters.aifsn),
            window: parameters.cw_min,
            slots: 0,
            failures: 0,
            requests: 0,
        }
    }

    fn widen(&mut self) {
        self.window = (2 * self.window + 1).min(self.of.cw_max);
    }

    fn draw(&mut self, random: &mut RandomStream) {
        let slots = random.uniform() * f64::from(self.window + 1);
        self.slots = (slots as u32).min(self.window);
    }
}

#[derive(Debug)]
pub(super) struct Access {
    timing: Timing,
    /// EDCA parameters of the classes; `None` with DCF.
    edca: Option<Edca>,
    random: RandomStream,
    pub(super) state: State,
    /// Time until which the medium is busy at this station, as far as is known.
    pub(super) busy_until: Instant,
    /// Time until which the medium counts as busy because the receiver did not decode the last frame that it had locked
    /// on.
    extended_until: Instant,
    /// Contention state of each class. Only the first `in_use` are used; without EDCA, that is one.
    classes: [Contention; Class::ALL.len()],
    in_use: usize,
    /// Whether the station is waiting for the reply to a request.
    asks: bool,
    busy: Duration,
}

impl Access {
    pub(super) fn new(timing: Timing, edca: Option<Edca>, random: RandomStream) -> Self {
        let first = edca.as_ref().map_or(DCF, |edca| edca.of(Class::BestEffort));
        Self {
            timing,
            edca,
            random,
            state: State::Idle,
            busy_until: Instant::ZERO,
            extended_until: Instant::ZERO,
            classes: [Contention::new(first, timing); Class::ALL.len()],
            in_use: 1,
            asks: false,
            busy: Duration::ZERO,
        }
    }

    /// Initialises the contention state of this class and of all classes before it.
    pub(super) fn open(&mut self, class: usize) {
        let Some(edca) = &self.edca else { return };
        for missing in self.in_use..=class {
            self.classes[missing] = Contention::new(edca.of(Class::ALL[missing]), self.timing);
        }
        self.in_use = self.in_use.max(class + 1);
    }

    /// Returns the maximum duration of a transmission opportunity of a class; zero limits it to one exchange.
    pub(super) fn burst(&self, class: usize) -> Duration {
        self.classes[class].of.txop
    }

    /// Returns when slots start to count down, if the medium stays idle.
    #[inline]
    fn first_slot(&self, class: &Contention) -> Instant {
        self.busy_until.max(self.extended_until) + class.space
    }

    /// Returns when the station may send a frame of a class, if the medium is idle from `idle` on and not before.
    pub(super) fn at_most(&self, class: usize, idle: Instant) -> Instant {
        let class = &self.classes[class];
        idle + class.space + self.timing.slot * u64::from(class.slots)
    }

    /// Records the end of a frame that the receiver had locked on. If it was not decoded, a reply that this station
    /// does not receive may follow (EIFS, §10.3.2.3.7).
    pub(super) fn received(&mut self, end: Instant, understood: bool) {
        let extension = self.timing.eifs.saturating_sub(self.timing.difs());
        self.extended_until = if understood { Instant::ZERO } else { end + extension };
    }

    /// Records that the medium is busy from `from` to `until`.
    #[inline]
    pub(super) fn occupy(&mut self, from: Instant, until: Instant) {
        if from > self.busy_until {
            let idle = self.busy_until.max(self.extended_until);
            for class in self.classes[..self.in_use].iter_mut().filter(|class| class.slots > 0) {
                let start = idle + class.space;
                if from >= start {
                    let whole =
                        from.since(start).as_nanos() / self.timing.slot.as_nanos() + u64::from(self.edca.is_some());
                    class.slots = u64::from(class.slots).saturating_sub(whole) as u32;
                }
            }
        }
        if until > self.busy_until {
            self.busy += until.since(from.max(self.busy_until));
            self.busy_until = until;
        }
    }

    /// Returns the total time up to `now` during which the medium was busy.
    pub(super) fn busy(&self, now: Instant) -> Duration {
        self.busy.saturating_sub(self.busy_until.since(now))
    }

    /// Returns when the station may send a frame of a class that it has since `now`, if the medium stays idle.
    #[inline]
    pub(super) fn access(&self, class: usize, now: Instant) -> Instant {
        let class = &self.classes[class];
        let start = self.first_slot(class);
        let access = start + self.timing.slot * u64::from(class.slots);
        if access >= now {
            access
        } else if self.edca.is_some() {
            let slots = now.since(start).as_nanos().div_ceil(self.timing.slot.as_nanos());
            start + self.timing.slot * slots
        } else {
            now
        }
    }

    /// Records that an exchange succeeded or a frame was dropped: the next one starts with the minimum window and a new
    /// backoff.
    #[inline]
    pub(super) fn renew(&mut self, class: usize) {
        let state = &mut self.classes[class];
        state.window = state.of.cw_min;
        (state.failures, state.requests) = (0, 0);
        self.back_off(class);
    }

    /// Records that the station has sent a request.
    pub(super) fn ask(&mut self) {
        self.asks = true;
    }

    /// Records that a request has got its reply, so that the station may send.
    pub(super) fn allowed(&mut self, class: usize) {
        self.classes[class].requests = 0;
        self.asks = false;
    }

    /// Records a failed attempt. Returns the larger of the two counts of consecutive failures.
    pub(super) fn retry(&mut self, class: usize) -> u32 {
        let is_request = std::mem::take(&mut self.asks);
        let state = &mut self.classes[class];
        state.widen();
        state.requests += u32::from(is_request);
        state.failures += u32::from(!is_request);
        let attempts = state.requests.max(state.failures);
        self.back_off(class);
        attempts
    }

    /// Returns true if the station is waiting for the reply to a request.
    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    /// Records an internal collision: another class of the station was ready at the same time, and had priority
    /// (§10.23.2.4).
    pub(super) fn collide(&mut self, class: usize) {
        self.classes[class].widen();
        self.classes[class].draw(&mut self.random);
    }

    /// Draws a new backoff for a class.
    pub(super) fn draw_anew(&mut self, class: usize) {
        self.classes[class].draw(&mut self.random);
    }

    fn back_off(&mut self, class: usize) {
        self.state = State::Idle;
        self.classes[class].draw(&mut self.random);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Band;

    #[test]
    fn the_medium_is_busy_as_long_as_it_has_been() {
        let mut access = Access::new(Timing::new(Band::Ghz5), None, RandomStream::new(1, "backoff"));
        let time = |micros| Instant::ZERO + Duration::from_micros(micros);
        access.occupy(time(10), time(50));
        access.occupy(time(30), time(80));
        let busy = [20, 50, 80, 1_000].map(|now| access.busy(time(now)));
        assert_eq!(busy, [10, 40, 70, 70].map(Duration::from_micros));
    }
}
