//! Links that change over time: a timetable of rates, delays and outages.
//!
//! - When the rate changes during a transmission, the remaining bits are sent at the new rate, unless the timetable
//!   specifies that a packet keeps its initial rate.
//! - The propagation delay of a packet is the one that applies when its transmission starts; later changes do not
//!   affect it. If the delay has become shorter, the packet waits for earlier ones, unless packets may overtake.
//! - An outage cuts off the frame in transmission, which arrives damaged. Packets that left the transmitter earlier
//!   arrive intact.

use super::jitter::JitterProcess;
use crate::queue::Discipline;
use crate::{FrameFormat, PacketFlags};
use lightlag_core::{Duration, Instant, Rate};
use std::sync::Arc;

/// Properties of a link direction, starting at a point in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Phase {
    /// Start of the phase.
    pub from: Instant,
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Whether the link is up. If not, packets wait or are lost, as [`Outage`] specifies.
    pub is_up: bool,
    /// Whether every packet that is sent arrives damaged.
    pub loses: bool,
}

impl Phase {
    /// Returns the fate of packets that are sent in this phase.
    fn fate(&self) -> TransmissionFate {
        match (self.is_up, self.loses) {
            (false, _) => TransmissionFate::Unheard,
            (true, true) => TransmissionFate::Damaged,
            (true, false) => TransmissionFate::Intact,
        }
    }
}

/// Fate of packets during an outage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outage {
    /// The transmitter notices: packets wait until the queue is full.
    #[default]
    Hold,
    /// The transmitter does not notice: it sends as always, and every packet that it sends during the outage is lost.
    Lose,
}

/// Number of bytes that can be sent at one opportunity.
const OPPORTUNITY: u64 = 1500;

/// Opportunities to send a burst of 1500 bytes each. Capacity for which no packet waits is lost. A packet may take
/// several opportunities, and several small packets may share one. The sequence repeats: the time of its last
/// opportunity is time zero of the next round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deliveries {
    millis: Arc<[u32]>,
}

impl Deliveries {
    /// Returns the opportunities at these milliseconds.
    ///
    /// # Panics
    /// If the list is empty, is not in ascending order, or ends with zero.
    pub fn new(millis: impl Into<Arc<[u32]>>) -> Self {
        let millis = millis.into();
        assert!(millis.is_sorted() && millis.last().is_some_and(|last| *last > 0), "a trace ascends from zero");
        Self { millis }
    }

    fn period(&self) -> u64 {
        u64::from(self.millis[self.millis.len() - 1])
    }

    /// Returns the time of the opportunity at this index.
    fn time(&self, number: u64) -> Instant {
        let count = self.millis.len() as u64;
        let millis = number / count * self.period() + u64::from(self.millis[(number % count) as usize]);
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Returns the number of opportunities up to `end`, inclusive.
    fn count(&self, end: Instant) -> u64 {
        self.first(end + Duration::from_nanos(1), 0)
    }

    /// Returns the index of the first opportunity at or after `now`, which is at least `min`.
    fn first(&self, now: Instant, min: u64) -> u64 {
        if self.time(min) >= now {
            return min;
        }
        let millis = now.as_nanos().div_ceil(1_000_000);
        let count = self.millis.len() as u64;
        // The last of a round and the first ones of the next may be at the same time: the last comes first.
        let (round, within) = ((millis - 1) / self.period(), (millis - 1) % self.period() + 1);
        let at = self.millis.partition_point(|time| u64::from(*time) < within) as u64;
        min.max(round * count + at)
    }
}

/// State of the current opportunity.
#[derive(Clone, Copy, Debug, Default)]
struct Opportunity {
    /// Index of the next opportunity.
    next: u64,
    /// Remaining bytes of the last opportunity, for packets that are sent at the same time.
    left: u64,
}

/// Changes of a link direction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timetable {
    phases: Arc<[Phase]>,
    deliveries: Option<Deliveries>,
    /// Formats of the frames that start in each phase; empty unless packets are sent in frames.
    formats: Arc<[FrameFormat]>,
    /// Whether a packet in transmission keeps its initial rate when the rate changes.
    keeps_rates: bool,
    /// Fate of packets during an outage.
    pub outage: Outage,
    /// Whether packets may overtake when the delay becomes shorter.
    pub overtaking: bool,
}

impl Timetable {
    /// Returns a timetable with these phases.
    ///
    /// # Panics
    /// If there is no phase, if the first does not start at zero, or if the phases are not in ascending order.
    pub fn new(phases: impl Into<Arc<[Phase]>>, outage: Outage, overtaking: bool) -> Self {
        let phases = phases.into();
        assert_eq!(phases.first().map(|first| first.from), Some(Instant::ZERO), "the first phase starts at zero");
        assert!(phases.is_sorted_by(|a, b| a.from < b.from), "each phase starts after the previous one");
        Self { phases, deliveries: None, formats: Arc::default(), keeps_rates: false, outage, overtaking }
    }

    /// Sets the formats of the frames that start in each phase.
    ///
    /// # Panics
    /// If there is not one format for each phase.
    #[must_use]
    pub fn framed(mut self, formats: impl Into<Arc<[FrameFormat]>>) -> Self {
        let formats = formats.into();
        assert_eq!(formats.len(), self.phases.len(), "each phase has a format");
        self.formats = formats;
        self
    }

    /// Lets a packet in transmission keep its initial rate. A new rate then applies only to the next packet.
    #[must_use]
    pub fn keeping_rates(mut self) -> Self {
        self.keeps_rates = true;
        self
    }

    /// Returns true if the link is up without interruption, with a constant rate, until `until`.
    pub fn keeps_rate(&self, until: Instant) -> bool {
        let mut present = self.phases.iter().take_while(|phase| phase.from < until);
        self.deliveries.is_none() && present.all(|phase| phase.is_up && phase.rate == self.phases[0].rate)
    }

    /// Returns true if each phase has a format of frames.
    pub(super) fn is_framed(&self) -> bool {
        !self.formats.is_empty()
    }

    /// Returns true if the delay never changes.
    pub fn keeps_delay(&self) -> bool {
        self.phases.iter().all(|phase| phase.delay == self.phases[0].delay)
    }

    /// Replaces the rate by opportunities.
    #[must_use]
    pub fn delivering(mut self, deliveries: Option<Deliveries>) -> Self {
        self.deliveries = deliveries;
        self
    }

    /// Returns the phases, in the order of time.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// Returns the end of the phase with this index.
    fn end_of(&self, index: usize) -> Instant {
        self.phases.get(index + 1).map_or(Instant::MAX, |next| next.from)
    }

    /// Returns the timetable with other phases, without formats of frames.
    pub(super) fn with_phases(&self, phases: impl Into<Arc<[Phase]>>) -> Self {
        Self { phases: phases.into(), formats: Arc::default(), ..self.clone() }
    }
}

/// Timing and fate of a transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Transmission {
    /// Time when the last bit has left the transmitter, or when an outage cut off the frame.
    pub(super) end: Instant,
    /// Time when the transmitter is free for the next packet.
    pub(super) free: Instant,
    /// Fraction of a nanosecond beyond `end`, as work in bits · 10⁻⁹.
    pub(super) remainder: u64,
    /// Propagation delay, which follows `end`.
    pub(super) delay: Duration,
    /// Fate of the packet during its transmission.
    pub(super) fate: TransmissionFate,
}

/// Fate of a packet during its transmission, in addition to random losses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum TransmissionFate {
    /// No effect.
    #[default]
    Intact,
    /// The packet arrives damaged.
    Damaged,
    /// An outage drops the packet without notice.
    Unheard,
}

impl TransmissionFate {
    /// Sets the flags of a packet that has this fate.
    #[inline]
    pub(super) fn befall(self, flags: &mut PacketFlags) {
        match self {
            Self::Intact => {}
            Self::Damaged => flags.corrupt(),
            Self::Unheard => flags.lose_in_outage(),
        }
    }
}

/// A timetable with its current state.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    timetable: Timetable,
    /// Index of the current phase, at the last decision.
    present: usize,
    /// End of the current phase, so that most calls need not search the phases.
    until: Instant,
    /// For each phase, the earliest arrival of a packet whose transmission starts in this phase or later. Empty unless
    /// a transmission may start some time after the transmitter becomes free.
    first_arrivals: Vec<Instant>,
    /// Arrival of the last packet that was not delayed for reordering.
    last_arrival: Instant,
    opportunity: Opportunity,
    jitter: Option<JitterProcess>,
}

impl Changes {
    /// Returns the timetable.
    pub(super) fn timetable(&self) -> &Timetable {
        &self.timetable
    }

    /// Returns true if packets arrive in the order in which they are sent.
    pub(super) fn keeps_order(&self) -> bool {
        !self.timetable.overtaking
    }

    /// Returns the minimum propagation delay.
    pub(super) fn least_delay(&self) -> Duration {
        self.least_travel(Duration::ZERO)
    }

    /// Returns the minimum time in transit of a packet whose propagation delay is extended by `longer`.
    pub(super) fn least_travel(&self, longer: Duration) -> Duration {
        let least = self.timetable.phases.iter().map(|phase| phase.delay).min().unwrap_or_default();
        (least + longer).saturating_sub(self.jitter.as_ref().map_or(Duration::ZERO, JitterProcess::most))
    }

    pub(super) fn new(timetable: Timetable, jitter: Option<JitterProcess>) -> Self {
        let overtaking = timetable.overtaking;
        let until = timetable.end_of(0);
        let changes = Self {
            timetable,
            present: 0,
            until,
            first_arrivals: Vec::new(),
            last_arrival: Instant::ZERO,
            opportunity: Opportunity::default(),
            jitter,
        };
        if overtaking { changes.starting_late() } else { changes }
    }

    /// Allows for packets whose transmission starts some time after the transmitter becomes free, possibly in a phase
    /// with a shorter delay: because they wait for grants, or overtake earlier packets.
    #[must_use]
    pub(super) fn starting_late(mut self) -> Self {
        let max_jitter = self.jitter.as_ref().map_or(Duration::ZERO, JitterProcess::most);
        let earliest = self.timetable.phases.iter().rev().scan(Instant::MAX, |first, phase| {
            *first = (*first).min(phase.from + phase.delay.saturating_sub(max_jitter));
            Some(*first)
        });
        self.first_arrivals = earliest.collect();
        self.first_arrivals.reverse();
        self
    }

    /// Advances to `now`, which never decreases, and passes each rate change to the discipline.
    #[inline]
    pub(super) fn advance<B>(&mut self, now: Instant, discipline: &mut dyn Discipline<B>) {
        while self.until <= now && self.enter_next(discipline) {}
    }

    /// Enters the next phase. Returns false if there is none.
    fn enter_next<B>(&mut self, discipline: &mut dyn Discipline<B>) -> bool {
        let phases = &self.timetable.phases;
        let Some(next) = phases.get(self.present + 1) else { return false };
        if next.rate != phases[self.present].rate {
            discipline.rate_changes(next.from, next.rate);
        }
        self.present += 1;
        self.until = self.timetable.end_of(self.present);
        true
    }

    /// Returns the bytes that opportunities up to `end` could carry, if the link has opportunities instead of a rate.
    pub(super) fn offered(&self, end: Instant) -> Option<u64> {
        Some(self.timetable.deliveries.as_ref()?.count(end).saturating_mul(OPPORTUNITY))
    }

    /// Returns the time until which nothing can be sent; `None` if packets can be sent now.
    #[inline]
    pub(super) fn held(&mut self, now: Instant) -> Option<Instant> {
        if self.timetable.deliveries.is_some() {
            return self.next_opportunity(now);
        }
        let is_held = !self.timetable.phases[self.present].is_up && self.timetable.outage == Outage::Hold;
        is_held.then(|| self.up_after(self.present))
    }

    /// Returns the time of the next opportunity, unless there is one now, which is then taken.
    fn next_opportunity(&mut self, now: Instant) -> Option<Instant> {
        let deliveries = self.timetable.deliveries.as_ref()?;
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
        None
    }

    /// Returns the time when the link is up again after the phase `down`.
    fn up_after(&self, down: usize) -> Instant {
        self.timetable.phases[down + 1..].iter().find(|phase| phase.is_up).map_or(Instant::MAX, |phase| phase.from)
    }

    /// Returns the transmission of a frame that starts now, in the current phase.
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
                Transmission { end, free: end, remainder: 0, delay, fate: TransmissionFate::Intact }
            }
        }
    }

    /// Returns a transmission of `work`, in bits · 10⁻⁹, that starts now in the current phase.
    pub(super) fn by_rate(&self, start: Instant, work: u64) -> Transmission {
        let present = &self.timetable.phases[self.present];
        let (nanos, remainder) = (work / present.rate.as_bps(), work % present.rate.as_bps());
        let end = start + Duration::from_nanos(nanos);
        if end < self.until {
            return Transmission { end, free: end, remainder, delay: present.delay, fate: present.fate() };
        }
        self.over_phases(start, work)
    }

    /// Returns a transmission of `work`, in bits · 10⁻⁹, that starts now and may last for several phases.
    fn over_phases(&self, start: Instant, work: u64) -> Transmission {
        let phases = &self.timetable.phases;
        let delay = phases[self.present].delay;
        let (mut index, mut from, mut work, mut fate) = (self.present, start, work, TransmissionFate::Intact);
        loop {
            let rate = phases[if self.timetable.keeps_rates { self.present } else { index }].rate.as_bps();
            fate = fate.max(phases[index].fate());
            let (nanos, remainder) = (work / rate, work % rate);
            let end = from + Duration::from_nanos(nanos);
            let Some(next) =
                phases.get(index + 1).filter(|next| end > next.from || (end == next.from && remainder > 0))
            else {
                return Transmission { end, free: end, remainder, delay, fate };
            };
            if !next.is_up && self.timetable.outage == Outage::Hold {
                let free = self.up_after(index + 1);
                return Transmission { end: next.from, free, remainder: 0, delay, fate: TransmissionFate::Unheard };
            }
            // The time to the change does not exceed `nanos`, so its part of the work does not exceed the work.
            work -= next.from.since(from).as_nanos() * rate;
            (index, from) = (index + 1, next.from);
        }
    }

    /// Returns the arrival of a packet that leaves the transmitter at `end` and travels for `delay` plus jitter. It is
    /// not before the arrival of the previous packet, unless packets may overtake.
    #[inline]
    pub(super) fn arrive(&mut self, end: Instant, delay: Duration) -> Instant {
        let arrival = end + self.jitter.as_mut().map_or(delay, |jitter| jitter.apply(delay));
        if self.timetable.overtaking {
            return arrival;
        }
        self.last_arrival = self.last_arrival.max(arrival);
        self.last_arrival
    }

    /// Returns the format of a frame that starts in the current phase, and its propagation delay.
    pub(super) fn frame(&self) -> (FrameFormat, Duration) {
        (self.timetable.formats[self.present], self.timetable.phases[self.present].delay)
    }

    /// Returns the fate of a frame that is sent from the current phase until `end`.
    pub(super) fn frame_fate(&self, end: Instant) -> TransmissionFate {
        let phases = self.timetable.phases[self.present..].iter().enumerate();
        let sent = phases.take_while(|(index, phase)| *index == 0 || phase.from < end);
        sent.map(|(_, phase)| phase.fate()).max().unwrap_or_default()
    }

    /// Returns the earliest arrival of a packet whose transmission starts at or after `free`, in the current phase or
    /// later.
    #[inline]
    pub(super) fn first_arrival(&self, free: Instant) -> Instant {
        let phases = &self.timetable.phases;
        let mut index = self.present;
        if self.until <= free {
            index += phases[index + 1..].partition_point(|phase| phase.from <= free);
        }
        let max_jitter = self.jitter.as_ref().map_or(Duration::ZERO, JitterProcess::most);
        let own = free + phases[index].delay.saturating_sub(max_jitter);
        let first = self.first_arrivals.get(index + 1).map_or(own, |after| own.min(*after));
        if self.timetable.overtaking { first } else { first.max(self.last_arrival) }
    }
}
