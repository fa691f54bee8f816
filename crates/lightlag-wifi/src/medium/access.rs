//! A station's right to send: spaces, slots and backoff (IEEE 802.11-2020 §10.3 and §10.23.2).
//!
//! Slots are not counted one by one. The station knows from when on the medium is idle, and how many slots are left; its
//! access is that instant, a space and these slots later. When the medium turns busy before, the whole slots of the gap
//! are taken off.

use crate::class::{Class, DCF, Edca, Parameters};
use crate::phy::Timing;
use lightlag_core::{Duration, Instant, RandomStream};

/// The occupation of a station.
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

/// The contention of one class.
#[derive(Clone, Copy, Debug)]
struct Contention {
    of: Parameters,
    /// The space in front of the slots.
    space: Duration,
    window: u32,
    slots: u32,
    /// Failures in a row. They are the station's (QSRC, §10.23.2.12): a frame that expires leaves them, and the window, to
    /// the next one.
    failures: u32,
    /// Requests to send since the last one that was answered. They have a count of their own, the short one (§10.23.2.12).
    requests: u32,
}

impl Contention {
    fn new(of: Parameters, timing: Timing) -> Self {
        Self { of, space: timing.aifs(of.aifsn), window: of.cw_min, slots: 0, failures: 0, requests: 0 }
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
    /// The parameters of the classes; none with DCF.
    edca: Option<Edca>,
    random: RandomStream,
    pub(super) state: State,
    /// The medium is busy here until then, as far as is known.
    pub(super) busy_until: Instant,
    /// The medium counts as busy until then, because the last frame on which the receiver locked was not understood.
    extended_until: Instant,
    /// By class. The first ones are in use: without EDCA one.
    classes: [Contention; Class::ALL.len()],
    in_use: usize,
    /// Whether it waits for the answer to a request.
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

    /// From now on there are packets of this class, too.
    pub(super) fn open(&mut self, class: usize) {
        let Some(edca) = &self.edca else { return };
        for missing in self.in_use..=class {
            self.classes[missing] = Contention::new(edca.of(Class::ALL[missing]), self.timing);
        }
        self.in_use = self.in_use.max(class + 1);
    }

    /// How long the station may send after it got the medium for a class; zero for one exchange.
    pub(super) fn burst(&self, class: usize) -> Duration {
        self.classes[class].of.txop
    }

    /// The start of the slots that count, if the medium stays idle.
    fn first_slot(&self, class: &Contention) -> Instant {
        self.busy_until.max(self.extended_until) + class.space
    }

    /// The latest instant at which the station may send a frame of a class if the medium is idle from `idle` on.
    pub(super) fn at_most(&self, class: usize, idle: Instant) -> Instant {
        let class = &self.classes[class];
        idle + class.space + self.timing.slot * u64::from(class.slots)
    }

    /// A frame on which the receiver had locked has ended. If it was not understood, an answer to it may follow that is
    /// not heard here (EIFS, §10.3.2.3.7).
    pub(super) fn received(&mut self, end: Instant, understood: bool) {
        let extension = self.timing.eifs.saturating_sub(self.timing.difs());
        self.extended_until = if understood { Instant::ZERO } else { end + extension };
    }

    /// The medium is busy from `from` to `until`.
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

    /// How long the medium was busy until now.
    pub(super) fn busy(&self, now: Instant) -> Duration {
        self.busy.saturating_sub(self.busy_until.since(now))
    }

    /// When the station may send a frame of a class, if the medium stays idle and it has one since `now`.
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

    /// The exchange succeeded, or the frame was given up: the next one starts anew, after a backoff.
    pub(super) fn renew(&mut self, class: usize) {
        let of = &mut self.classes[class];
        of.window = of.of.cw_min;
        (of.failures, of.requests) = (0, 0);
        self.back_off(class);
    }

    /// It has asked for the medium.
    pub(super) fn ask(&mut self) {
        self.asks = true;
    }

    /// It was allowed to send.
    pub(super) fn allowed(&mut self, class: usize) {
        self.classes[class].requests = 0;
        self.asks = false;
    }

    /// A try failed. Returns the larger one of both counts of failures in a row.
    pub(super) fn retry(&mut self, class: usize) -> u32 {
        let asked = std::mem::take(&mut self.asks);
        let of = &mut self.classes[class];
        of.widen();
        of.requests += u32::from(asked);
        of.failures += u32::from(!asked);
        let most = of.requests.max(of.failures);
        self.back_off(class);
        most
    }

    /// Whether the last frame was a request.
    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    /// Another class of the station was ready at the same time, and went first (§10.23.2.4).
    pub(super) fn collide(&mut self, class: usize) {
        self.classes[class].widen();
        self.classes[class].draw(&mut self.random);
    }

    /// The station draws another backoff of a class.
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
        let at = |micros| Instant::ZERO + Duration::from_micros(micros);
        access.occupy(at(10), at(50));
        access.occupy(at(30), at(80));
        let busy = [20, 50, 80, 1_000].map(|now| access.busy(at(now)));
        assert_eq!(busy, [10, 40, 70, 70].map(Duration::from_micros));
    }
}
