//! Links that change: rates, delays and outages by a timetable.
//!
//! - A packet in transmission when the rate changes sends the bits that are left with the new rate; or it keeps the one with
//!   which it has begun, where the timetable says so.
//! - A packet travels with the delay that holds when its transmission begins, whatever changes later. Where the delay has
//!   become shorter it waits for those before it, unless packets may overtake.
//! - An outage cuts the frame in transmission: it arrives damaged. What has left the transmitter before arrives.

use super::jitter::JitterProcess;
use crate::PacketFlags;
use crate::queue::Discipline;
use lightlag_core::{Duration, Instant, Rate};
use std::sync::Arc;

/// Properties of a link direction from a moment on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Phase {
    /// Since when.
    pub from: Instant,
    /// Rate at which bits leave.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Whether anything is sent, or gets through.
    pub is_up: bool,
    /// Whether everything that is sent arrives damaged.
    pub loses: bool,
}

impl Phase {
    /// Fate of packets that are sent.
    fn fate(&self) -> Fate {
        match (self.is_up, self.loses) {
            (false, _) => Fate::Unheard,
            (true, true) => Fate::Damaged,
            (true, false) => Fate::Intact,
        }
    }
}

/// Fate of packets during an outage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outage {
    /// The transmitter notices: packets wait, as far as the queue has room.
    #[default]
    Hold,
    /// The transmitter does not notice: it sends as always, and every packet that it sends then is lost.
    Lose,
}

/// Bytes that leave at one opportunity.
const OPPORTUNITY: u64 = 1500;

/// Opportunities for 1500 bytes to leave at once. What does not find a packet then is lost; a packet may take several, and
/// several small ones may share one. After the last they begin again, with its time as zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deliveries {
    millis: Arc<[u32]>,
}

impl Deliveries {
    /// Opportunities at these milliseconds.
    ///
    /// # Panics
    /// If there is none, they do not ascend, or the last is at zero.
    pub fn new(millis: impl Into<Arc<[u32]>>) -> Self {
        let millis = millis.into();
        assert!(millis.is_sorted() && millis.last().is_some_and(|last| *last > 0), "a trace ascends from zero");
        Self { millis }
    }

    fn period(&self) -> u64 {
        u64::from(self.millis[self.millis.len() - 1])
    }

    /// When the opportunity of this number comes.
    fn time(&self, number: u64) -> Instant {
        let count = self.millis.len() as u64;
        let millis = number / count * self.period() + u64::from(self.millis[(number % count) as usize]);
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Number of opportunities up to `end`, included.
    fn count(&self, end: Instant) -> u64 {
        self.first(end + Duration::from_nanos(1), 0)
    }

    /// The first opportunity at or after `now`, not before `least`.
    fn first(&self, now: Instant, least: u64) -> u64 {
        if self.time(least) >= now {
            return least;
        }
        let millis = now.as_nanos().div_ceil(1_000_000);
        let count = self.millis.len() as u64;
        // The last of a round and the first ones of the next may be at the same time: the last comes first.
        let (round, within) = ((millis - 1) / self.period(), (millis - 1) % self.period() + 1);
        let at = self.millis.partition_point(|time| u64::from(*time) < within) as u64;
        least.max(round * count + at)
    }
}

/// The present opportunity.
#[derive(Clone, Copy, Debug, Default)]
struct Opportunity {
    /// Those before are over.
    next: u64,
    /// Bytes that the last one has left, for whatever leaves at the same moment.
    left: u64,
}

/// Changes of a link direction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timetable {
    phases: Arc<[Phase]>,
    deliveries: Option<Deliveries>,
    /// Whether a packet keeps the rate with which it has begun.
    keeps_rates: bool,
    /// Fate of packets during an outage.
    pub outage: Outage,
    /// Whether packets may overtake when the delay becomes shorter.
    pub overtaking: bool,
}

impl Timetable {
    /// A timetable of these phases.
    ///
    /// # Panics
    /// If there is none, the first does not begin at zero, or they do not follow each other.
    pub fn new(phases: impl Into<Arc<[Phase]>>, outage: Outage, overtaking: bool) -> Self {
        let phases = phases.into();
        assert_eq!(phases.first().map(|first| first.from), Some(Instant::ZERO), "the first phase begins at zero");
        assert!(phases.is_sorted_by(|a, b| a.from < b.from), "each phase begins after the one before");
        Self { phases, deliveries: None, keeps_rates: false, outage, overtaking }
    }

    /// Lets a packet keep the rate with which its transmission begins: a new one holds from the next packet on.
    #[must_use]
    pub fn keeping_rates(mut self) -> Self {
        self.keeps_rates = true;
        self
    }

    /// Whether it is up, at one rate, until then.
    pub fn keeps_rate(&self, until: Instant) -> bool {
        let mut present = self.phases.iter().take_while(|phase| phase.from < until);
        self.deliveries.is_none() && present.all(|phase| phase.is_up && phase.rate == self.phases[0].rate)
    }

    /// Whether its delay never changes.
    pub fn keeps_delay(&self) -> bool {
        self.phases.iter().all(|phase| phase.delay == self.phases[0].delay)
    }

    /// Leaves the rate to these opportunities.
    #[must_use]
    pub fn delivering(mut self, deliveries: Option<Deliveries>) -> Self {
        self.deliveries = deliveries;
        self
    }

    /// The phases, in the order of time.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }
}

/// A transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Transmission {
    /// When the last bit has left, or the frame was cut.
    pub(super) end: Instant,
    /// When the transmitter is free for the next packet.
    pub(super) free: Instant,
    /// Rest of the work beyond `end`, below a nanosecond, in bits · 10⁻⁹.
    pub(super) remainder: u64,
    /// Time for which the packet travels after `end`.
    pub(super) delay: Duration,
    /// Fate of the packet meanwhile.
    pub(super) fate: Fate,
}

/// Fate of a packet during its transmission, beside what is drawn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Fate {
    /// Nothing.
    #[default]
    Intact,
    /// It arrives damaged.
    Damaged,
    /// An outage takes it: nobody hears of it.
    Unheard,
}

impl Fate {
    /// Does to a packet what has happened to it.
    #[inline]
    pub(super) fn befall(self, flags: &mut PacketFlags) {
        match self {
            Self::Intact => {}
            Self::Damaged => flags.corrupt(),
            Self::Unheard => flags.lose_in_outage(),
        }
    }
}

/// A timetable at work.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    timetable: Timetable,
    /// The present phase: that of the last decision.
    present: usize,
    /// For each phase the first moment at which a packet that starts in it or later can arrive, where that may be earlier than
    /// of one that starts when the transmitter is free.
    first_arrivals: Vec<Instant>,
    /// When the last packet arrives that was not held back.
    last_arrival: Instant,
    opportunity: Opportunity,
    jitter: Option<JitterProcess>,
}

impl Changes {
    /// Its timetable.
    pub(super) fn timetable(&self) -> &Timetable {
        &self.timetable
    }

    /// Whether packets arrive in the order in which they leave.
    pub(super) fn keeps_order(&self) -> bool {
        !self.timetable.overtaking
    }

    /// The least time that a packet travels.
    pub(super) fn least_delay(&self) -> Duration {
        self.least_travel(Duration::ZERO)
    }

    /// The least time that a packet travels which takes so much longer than the delay.
    pub(super) fn least_travel(&self, longer: Duration) -> Duration {
        let least = self.timetable.phases.iter().map(|phase| phase.delay).min().unwrap_or_default();
        (least + longer).saturating_sub(self.jitter.as_ref().map_or(Duration::ZERO, JitterProcess::most))
    }

    pub(super) fn new(timetable: Timetable, jitter: Option<JitterProcess>) -> Self {
        let overtaking = timetable.overtaking;
        let changes = Self {
            timetable,
            present: 0,
            first_arrivals: Vec::new(),
            last_arrival: Instant::ZERO,
            opportunity: Opportunity::default(),
            jitter,
        };
        if overtaking { changes.starting_late() } else { changes }
    }

    /// Lets packets start later than the transmitter is free, in a phase with a shorter delay perhaps: where they wait for
    /// grants, or overtake those that did not.
    #[must_use]
    pub(super) fn starting_late(mut self) -> Self {
        let most = self.jitter.as_ref().map_or(Duration::ZERO, JitterProcess::most);
        let earliest = self.timetable.phases.iter().rev().scan(Instant::MAX, |first, phase| {
            *first = (*first).min(phase.from + phase.delay.saturating_sub(most));
            Some(*first)
        });
        self.first_arrivals = earliest.collect();
        self.first_arrivals.reverse();
        self
    }

    /// Goes on to `now`, not before the last call, and tells the discipline the rates on the way.
    pub(super) fn advance<B>(&mut self, now: Instant, discipline: &mut dyn Discipline<B>) {
        let phases = &self.timetable.phases;
        while let Some(next) = phases.get(self.present + 1).filter(|next| next.from <= now) {
            if next.rate != phases[self.present].rate {
                discipline.rate_changes(next.from, next.rate);
            }
            self.present += 1;
        }
    }

    /// Bytes that opportunities up to `end` could take, if the link has opportunities instead of a rate.
    pub(super) fn offered(&self, end: Instant) -> Option<u64> {
        Some(self.timetable.deliveries.as_ref()?.count(end).saturating_mul(OPPORTUNITY))
    }

    /// Until when nothing can leave, if nothing can leave now.
    pub(super) fn held(&mut self, now: Instant) -> Option<Instant> {
        if let Some(deliveries) = &self.timetable.deliveries {
            let Opportunity { next, left } = &mut self.opportunity;
            if *left > 0 && deliveries.time(*next - 1) == now {
                return None;
            }
            *left = 0;
            *next = deliveries.first(now, *next);
            let time = deliveries.time(*next);
            if time > now {
                return Some(time);
            }
            (*next, *left) = (*next + 1, OPPORTUNITY);
            return None;
        }
        let is_held = !self.timetable.phases[self.present].is_up && self.timetable.outage == Outage::Hold;
        is_held.then(|| self.up_after(self.present))
    }

    /// When the link is up again after the phase `down`.
    fn up_after(&self, down: usize) -> Instant {
        self.timetable.phases[down + 1..].iter().find(|phase| phase.is_up).map_or(Instant::MAX, |phase| phase.from)
    }

    /// The transmission of a frame that starts now, in the present phase.
    pub(super) fn transmit(&mut self, start: Instant, frame: u64, remainder: u64) -> Transmission {
        match &self.timetable.deliveries {
            // At most 2^16 · 8 · 10^9 + the rate, well inside 64 bits.
            None => self.by_rate(start, frame * 8 * 1_000_000_000 + remainder),
            Some(deliveries) => {
                let Opportunity { next, left } = &mut self.opportunity;
                let (mut end, mut frame) = (start, frame);
                while frame > *left {
                    frame -= *left;
                    (end, *left, *next) = (deliveries.time(*next), OPPORTUNITY, *next + 1);
                }
                *left -= frame;
                let delay = self.timetable.phases[self.present].delay;
                Transmission { end, free: end, remainder: 0, delay, fate: Fate::Intact }
            }
        }
    }

    /// A transmission of `work`, in bits · 10⁻⁹, that starts now in the present phase.
    fn by_rate(&self, start: Instant, work: u64) -> Transmission {
        let phases = &self.timetable.phases;
        let delay = phases[self.present].delay;
        let (mut at, mut from, mut work, mut fate) = (self.present, start, work, Fate::Intact);
        loop {
            let rate = phases[if self.timetable.keeps_rates { self.present } else { at }].rate.as_bps();
            fate = fate.max(phases[at].fate());
            let (nanos, remainder) = (work / rate, work % rate);
            let end = from + Duration::from_nanos(nanos);
            let Some(next) = phases.get(at + 1).filter(|next| end > next.from || (end == next.from && remainder > 0))
            else {
                return Transmission { end, free: end, remainder, delay, fate };
            };
            if !next.is_up && self.timetable.outage == Outage::Hold {
                let free = self.up_after(at + 1);
                return Transmission { end: next.from, free, remainder: 0, delay, fate: Fate::Unheard };
            }
            // The time to the change is not above `nanos`, so what it takes of the work is not above the work.
            work -= next.from.since(from).as_nanos() * rate;
            (at, from) = (at + 1, next.from);
        }
    }

    /// When a packet arrives that has left at `end` and travels for `delay`, more or less: not before the one before it,
    /// unless packets may overtake.
    pub(super) fn arrive(&mut self, end: Instant, delay: Duration) -> Instant {
        let arrival = end + self.jitter.as_mut().map_or(delay, |jitter| jitter.apply(delay));
        if self.timetable.overtaking {
            return arrival;
        }
        self.last_arrival = self.last_arrival.max(arrival);
        self.last_arrival
    }

    /// Before when no packet can arrive that starts at `free`, in the present phase or later, or after that.
    pub(super) fn first_arrival(&self, free: Instant) -> Instant {
        let phases = &self.timetable.phases;
        let at = self.present + phases[self.present + 1..].partition_point(|phase| phase.from <= free);
        let most = self.jitter.as_ref().map_or(Duration::ZERO, JitterProcess::most);
        let own = free + phases[at].delay.saturating_sub(most);
        let first = self.first_arrivals.get(at + 1).map_or(own, |after| own.min(*after));
        if self.timetable.overtaking { first } else { first.max(self.last_arrival) }
    }
}
