//! The drop-tail link that computes its departures.
//!
//! The queue is first in, first out and the rate is constant, so a packet's departure is known when it arrives:
//! the link computes it instead of simulating it, and a packet costs one event a hop, its arrival at the far
//! end. Packets stand by value in one ring from their arrival at the queue to their arrival at the far end.
//!
//! `max(now, end of the previous transmission) + 8·(size + header) / rate + delay`

use super::{Beam, LinkConfig, LinkCounters, LinkTotals, QueueFull, Waits};
use crate::limit::{Backlog, QueueLimit};
use crate::{LossPlace, LossProcess, NodeId, Packet, PacketFlags};
use lightlag_core::{Duration, Instant, Ring, Spares, prefetch};
use std::num::NonZeroU64;
use std::sync::Arc;

/// The constants of links of one kind.
#[derive(Debug)]
pub struct LinkConstants {
    config: LinkConfig,
    /// Nanoseconds that a byte takes, if they are whole.
    nanos_a_byte: Option<NonZeroU64>,
    /// 2⁶³ / rate, rounded up.
    reciprocal: u64,
}

impl LinkConstants {
    /// The constants of links with this configuration.
    ///
    /// # Panics
    /// If the rate has more than 63 bits, or the header is longer than a packet.
    pub fn new(config: LinkConfig) -> Self {
        assert!(config.rate.as_bps() <= MOST_RATE, "a rate has 63 bits");
        assert!(config.header <= MOST_HEADER, "a header is short");
        let rate = config.rate.as_bps();
        let is_whole = NANOS_FOR_A_BYTE.is_multiple_of(rate);
        let nanos_a_byte = NonZeroU64::new(NANOS_FOR_A_BYTE / rate).filter(|_| is_whole);
        Self { config, nanos_a_byte, reciprocal: (1_u64 << 63).div_ceil(rate) }
    }

    /// The configuration.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Whole nanoseconds that a frame of so many bytes takes, and what is left over, in units of 1/rate, with what was left
    /// over before.
    #[inline(always)]
    fn transmission(&self, frame: u64, remainder: u64) -> (u64, u64) {
        // The end of the transmission decides what happens next, so its time is to be known soon.
        if let Some(nanos) = self.nanos_a_byte {
            return (frame * nanos.get(), 0);
        }
        let rate = self.config.rate.as_bps();
        // Below 2^17 · 8 · 10^9, and a remainder below the rate: inside 64 bits.
        let work = frame * NANOS_FOR_A_BYTE + remainder;
        // A product costs less than a division. The reciprocal exceeds 2^63 / rate by less than one, so the product exceeds
        // the quotient by less than work / 2^63: most often it has the same whole part, and otherwise one more.
        let nanos = ((u128::from(work) * u128::from(self.reciprocal)) >> 63) as u64;
        work.checked_sub(nanos * rate).map_or_else(|| (nanos - 1, work - (nanos - 1) * rate), |rest| (nanos, rest))
    }
}

/// Nanoseconds that a byte takes at 1 bit/s.
const NANOS_FOR_A_BYTE: u64 = 8 * 1_000_000_000;

/// Counts of every packet of the link, modulo 2³².
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    offered: u32,
    /// Bytes put on the link, headers included, those of packets still waiting too.
    sent_bytes: u32,
    /// Nanoseconds that every packet so far waits for its transmission to start.
    waiting: u32,
}

/// How often each of the [`Counts`] has passed 2³²: nothing of it on a link that is seldom used.
#[derive(Clone, Copy, Debug, Default)]
struct Ages {
    offered: u64,
    sent_bytes: u64,
    waiting: u64,
}

/// Adds to a count of 32 bits; returns whether it has passed 2³².
#[inline(always)]
fn add(count: &mut u32, more: u32) -> bool {
    let (sum, wraps) = count.overflowing_add(more);
    *count = sum;
    wraps
}

/// The longest header of a link, and its highest rate in bit/s.
const MOST_HEADER: u64 = u16::MAX as u64;
const MOST_RATE: u64 = u64::MAX >> 1;

/// Whoever wakes a link knows that it has a packet.
const ONLY_FOR_A_PACKET: &str = "a link wakes only for a packet";

/// State that few links need.
#[derive(Default)]
struct Extras {
    loss: Option<LossProcess>,
    /// How long data packets wait, if somebody asked.
    waits: Option<Waits>,
    /// The far end, if it moves.
    moving: Option<Moving>,
    dropped_queue: u64,
    dropped_error: u64,
    ages: Ages,
}

/// A far end that moves as smoothly as a satellite beside this one: packets arrive in the order in which they leave.
struct Moving {
    beam: Beam,
    /// The delay beside the light.
    beside: Duration,
    /// That of the last packet. It changes by less than a nanosecond in a millisecond.
    delay: Duration,
    last_arrival: Instant,
}

impl Moving {
    /// The delay of a packet whose transmission lasts from `start` to `end`.
    fn advance(&mut self, start: Instant, end: Instant) -> Duration {
        // Where light takes no time any more, because a satellite has decayed, no packet overtakes those before it.
        self.delay = (self.beside + self.beam.light_time(start)).max(self.last_arrival.since(end));
        self.last_arrival = end + self.delay;
        self.delay
    }
}

#[derive(Default)]
struct InFlight<B> {
    arrival: Instant,
    packet: Packet<B>,
}

/// Memory for packets that links have given back.
#[derive(Default)]
pub struct PacketSpares<B>(Spares<InFlight<B>>);

/// One direction of a link with a drop-tail queue.
// Few cache lines, in the order in which a packet needs them: of ten thousand links that each carry one now and then none is
// found in any cache. What links have in common is kept once.
#[repr(C)]
pub struct ComputedLink<B> {
    /// The node to which it leads.
    to: NodeId,
    /// How many at the front of `ring` have certainly left the transmitter. Brought up to date only when a limit
    /// or a maximum is at stake, so that a packet in propagation is not touched between its two ends.
    departed: u32,
    /// Waiting, in transmission or in propagation, in order of arrival.
    ring: Ring<InFlight<B>>,
    /// Bytes at the network layer of `ring[departed..]`.
    undeparted_bytes: u64,
    /// Losses and waits to keep: none, in one test for the packets of most links.
    extras: Option<Box<Extras>>,
    constants: Arc<LinkConstants>,
    /// When the last accepted packet has left the transmitter.
    busy_until: Instant,
    /// The fraction of a nanosecond by which that moment was rounded down, in units of 1/rate: carried over, so
    /// that back-to-back packets keep the exact rate.
    remainder: u64,
    /// Nanoseconds before that moment in which it transmitted nothing.
    idle: u64,
    counts: Counts,
    /// The most packets that ever waited at once.
    max_queue: u32,
}

impl Extras {
    /// Keeps how long a packet waits, and says whether it is lost.
    fn examine(&mut self, now: Instant, start: Instant, frame: u64, flags: PacketFlags) -> bool {
        if let Some(waits) = &mut self.waits {
            waits.note(flags, start.since(now));
        }
        self.loss.as_mut().is_some_and(|loss| loss.loses(start, frame, flags))
    }
}

impl<B: Clone + Default> ComputedLink<B> {
    /// An idle link.
    ///
    /// # Panics
    /// If losses are to be drawn before the queue: that takes a [`QueuedLink`](super::QueuedLink).
    pub fn new(config: LinkConfig, loss: LossProcess) -> Self {
        Self::sharing(Arc::new(LinkConstants::new(config)), loss)
    }

    /// The same with constants that it shares with other links.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn sharing(constants: Arc<LinkConstants>, loss: LossProcess) -> Self {
        assert_eq!(loss.place(), LossPlace::AfterQueue, "a computed link draws losses after its queue");
        let extras = loss.is_lossy().then(|| Box::new(Extras { loss: Some(loss), ..Extras::default() }));
        Self {
            to: NodeId::default(),
            departed: 0,
            ring: Ring::new(),
            undeparted_bytes: 0,
            extras,
            constants,
            busy_until: Instant::ZERO,
            remainder: 0,
            idle: 0,
            counts: Counts::default(),
            max_queue: 0,
        }
    }

    /// Leads to this node.
    #[must_use]
    pub fn leading_to(self, to: NodeId) -> Self {
        Self { to, ..self }
    }

    /// The node to which it leads.
    #[inline(always)]
    pub fn to(&self) -> NodeId {
        self.to
    }

    /// Sends to one far end that moves. The time of light comes on top of the delay.
    ///
    /// # Panics
    /// If the beam has several far ends: that takes a [`QueuedLink`](super::QueuedLink).
    #[must_use]
    pub fn beaming(mut self, beam: Beam) -> Self {
        assert!(beam.has_one_end(), "a computed link has one far end");
        let delay = self.constants.config.delay;
        let moving = Moving { beam, beside: delay, delay, last_arrival: Instant::ZERO };
        self.extras.get_or_insert_default().moving = Some(moving);
        self
    }

    /// The constants of the link.
    pub fn config(&self) -> LinkConfig {
        LinkConfig { delay: self.delay(), ..self.constants.config }
    }

    /// The delay of the last packet.
    #[inline]
    fn delay(&self) -> Duration {
        let moving = self.extras.as_ref().and_then(|extras| extras.moving.as_ref());
        moving.map_or(self.constants.config.delay, |moving| moving.delay)
    }

    /// What has been counted so far.
    pub fn counters(&self) -> LinkCounters {
        let offered = self.ages().offered << 32 | u64::from(self.counts.offered);
        let in_flight = self.ring.len() as u64;
        let (dropped_queue, dropped_error) =
            self.extras.as_ref().map_or((0, 0), |extras| (extras.dropped_queue, extras.dropped_error));
        let max_queue = u64::from(self.max_queue);
        // Nothing else can have happened to a packet.
        let delivered = offered - dropped_queue - dropped_error - in_flight;
        LinkCounters { offered, dropped_queue, dropped_error, delivered, max_queue, ..LinkCounters::default() }
    }

    /// Packets between the queue and the far end.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.ring.len()
    }

    /// When the next packet reaches the far end.
    #[inline]
    pub fn next_arrival(&self) -> Option<Instant> {
        self.ring.front().map(|first| first.arrival)
    }

    /// When the last packet reaches the far end.
    #[inline]
    pub fn last_arrival(&self) -> Option<Instant> {
        self.ring.back().map(|last| last.arrival)
    }

    /// The packet behind so many others.
    #[inline]
    pub fn waiting(&self, behind: usize) -> Option<&Packet<B>> {
        self.ring.get(behind).map(|later| &later.packet)
    }

    /// Fetches from memory where the next packet will stand, if the link is idle.
    #[inline]
    pub fn prefetch_place(&self) {
        prefetch(self.ring.next_place());
    }

    /// Gives back the memory for packets, if there are none.
    #[inline]
    pub fn rest(&mut self, spares: &mut PacketSpares<B>) {
        self.ring.release_to(&mut spares.0);
    }

    /// Takes memory for packets from the spares, if the link has none and there are any.
    #[inline(always)]
    pub fn furnish(&mut self, spares: &mut PacketSpares<B>) {
        self.ring.furnish(&mut spares.0);
    }

    /// Takes a copy of a packet into the queue, or refuses it.
    #[inline(always)]
    pub fn send(&mut self, now: Instant, packet: &Packet<B>) -> Result<(), QueueFull> {
        self.send_by(now, packet, Packet::clone)
    }

    /// The same with a copy that `copy` makes: packets that are plain memory, copied as a whole, take half the instructions
    /// of a copy field by field.
    #[inline(always)]
    pub fn send_by(
        &mut self,
        now: Instant,
        packet: &Packet<B>,
        copy: impl FnOnce(&Packet<B>) -> Packet<B>,
    ) -> Result<(), QueueFull> {
        if add(&mut self.counts.offered, 1) {
            self.ages_mut().offered += 1;
        }
        let start = if self.busy_until <= now {
            self.departed = self.ring.len() as u32;
            self.undeparted_bytes = 0;
            if self.busy_until < now {
                self.idle += now.since(self.busy_until).as_nanos();
                self.remainder = 0;
            }
            now
        } else {
            self.admit(now, u64::from(packet.size))?;
            self.note_wait(self.busy_until.since(now));
            self.busy_until
        };
        let constants = &*self.constants;
        let frame = u64::from(packet.size) + constants.config.header;
        let (nanos, remainder) = constants.transmission(frame, self.remainder);
        self.remainder = remainder;
        self.busy_until = start + Duration::from_nanos(nanos);
        let (delay, lost) = match &mut self.extras {
            None => (constants.config.delay, false),
            Some(extras) => {
                let moved = extras.moving.as_mut().map(|moving| moving.advance(start, self.busy_until));
                (moved.unwrap_or(constants.config.delay), extras.examine(now, start, frame, packet.flags))
            }
        };
        if add(&mut self.counts.sent_bytes, frame as u32) {
            self.ages_mut().sent_bytes += 1;
        }
        self.undeparted_bytes += u64::from(packet.size);
        // Whole, from its place to the ring's: a packet that is changed on the way is copied once more.
        let arrival = self.busy_until + delay;
        let place = self.ring.push();
        place.packet = copy(packet);
        place.packet.cross();
        place.arrival = arrival;
        if lost {
            place.packet.flags.corrupt();
        }
        Ok(())
    }

    /// A packet waits so long for its transmission.
    #[inline(always)]
    fn note_wait(&mut self, wait: Duration) {
        let wraps = add(&mut self.counts.waiting, wait.as_nanos() as u32);
        let ages = (wait.as_nanos() >> 32) + u64::from(wraps);
        if ages > 0 {
            self.ages_mut().waiting += ages;
        }
    }

    #[cold]
    fn ages_mut(&mut self) -> &mut Ages {
        &mut self.extras.get_or_insert_default().ages
    }

    fn ages(&self) -> Ages {
        self.extras.as_ref().map_or(Ages::default(), |extras| extras.ages)
    }

    /// Keeps from now on how long data packets wait.
    pub(super) fn measure_waits(&mut self) {
        self.extras.get_or_insert_default().waits = Some(Waits::default());
    }

    /// How long data packets have waited, if that is measured.
    pub(super) fn waits(&self) -> Option<&Waits> {
        self.extras.as_ref()?.waits.as_ref()
    }

    /// Whether a packet of `size` bytes may wait, while another is in transmission.
    #[inline(always)]
    fn admit(&mut self, now: Instant, size: u64) -> Result<(), QueueFull> {
        // An upper bound of what would wait, this packet included, is enough most of the time.
        let bound = (self.ring.len() - self.departed as usize) as u64;
        let most = u64::from(self.max_queue);
        let at_stake = match self.constants.config.queue {
            QueueLimit::Packets(limit) => bound > limit.min(most),
            QueueLimit::Bytes(limit) => bound > most || self.undeparted_bytes + size > limit,
        };
        if at_stake { self.admit_closely(now, size) } else { Ok(()) }
    }

    /// The same by the packets that wait now.
    #[inline(never)]
    fn admit_closely(&mut self, now: Instant, size: u64) -> Result<(), QueueFull> {
        let backlog = self.backlog(now);
        let full = match self.constants.config.queue {
            QueueLimit::Packets(limit) => backlog.packets >= limit,
            QueueLimit::Bytes(limit) => backlog.bytes + size > limit,
        };
        if full {
            self.extras.get_or_insert_default().dropped_queue += 1;
            return Err(QueueFull);
        }
        // A ring has fewer than 2^32 places.
        self.max_queue = self.max_queue.max(backlog.packets as u32 + 1);
        Ok(())
    }

    /// What waits now.
    pub fn backlog(&mut self, now: Instant) -> Backlog {
        let delay = self.delay();
        while let Some(next) = self.ring.get(self.departed as usize) {
            if next.arrival > now + delay {
                break;
            }
            self.undeparted_bytes -= u64::from(next.packet.size);
            self.departed += 1;
        }
        match self.ring.get(self.departed as usize) {
            Some(in_transmission) => Backlog {
                packets: (self.ring.len() - self.departed as usize - 1) as u64,
                bytes: self.undeparted_bytes - u64::from(in_transmission.packet.size),
            },
            None => Backlog::default(),
        }
    }

    /// Takes the packet that arrives at the far end now; the flags of one that is corrupted say so.
    ///
    /// # Panics
    /// If nothing is in flight: the link's event is armed only while something is.
    #[inline]
    pub fn receive(&mut self) -> Packet<B> {
        let packet = self.ring.pop().expect(ONLY_FOR_A_PACKET).packet;
        note_arrival(&packet, &mut self.departed, &mut self.undeparted_bytes, &mut self.extras);
        packet
    }

    /// The same, but the packet stays in its place, where it can be copied until the link takes in another one.
    #[inline(always)]
    pub fn receive_in_place(&mut self) -> &Packet<B> {
        let InFlight { packet, .. } = self.ring.pass().expect(ONLY_FOR_A_PACKET);
        note_arrival(packet, &mut self.departed, &mut self.undeparted_bytes, &mut self.extras);
        packet
    }

    /// The totals of a run that ended at `end`.
    pub fn totals(&self, end: Instant) -> LinkTotals {
        let LinkConfig { header, rate, .. } = self.constants.config;
        let (delay, ages, counts) = (self.delay(), self.ages(), self.counts);
        let mut totals = LinkTotals {
            carried_bytes: ages.sent_bytes << 32 | u64::from(counts.sent_bytes),
            busy: u128::from(self.busy_until.as_nanos() - self.idle),
            queued: u128::from(ages.waiting) << 32 | u128::from(counts.waiting),
        };
        // Take back what lies beyond the end: the transmissions after it, and the waits.
        let mut finish = self.busy_until;
        for InFlight { arrival, packet } in self.ring.iter().rev() {
            let departure = Instant::ZERO + arrival.since(Instant::ZERO + delay);
            if departure <= end {
                break;
            }
            let frame = u64::from(packet.size) + header;
            let start = departure.since(Instant::ZERO + rate.time_to_send(lightlag_core::Bytes(frame)));
            let start = Instant::ZERO + start;
            totals.busy -= u128::from(finish.since(start.max(end)).as_nanos().min(finish.since(start).as_nanos()));
            if start > end {
                totals.carried_bytes -= frame;
                totals.queued -= u128::from(start.since(end).as_nanos());
            }
            finish = start;
        }
        totals
    }
}

/// A packet leaves the ring at its far end.
#[inline(always)]
fn note_arrival<B>(
    packet: &Packet<B>,
    departed: &mut u32,
    undeparted_bytes: &mut u64,
    extras: &mut Option<Box<Extras>>,
) {
    if *departed > 0 {
        *departed -= 1;
    } else {
        *undeparted_bytes -= u64::from(packet.size);
    }
    if packet.flags.is_corrupted() {
        note_error(extras);
    }
}

#[cold]
fn note_error(extras: &mut Option<Box<Extras>>) {
    extras.get_or_insert_default().dropped_error += 1;
}

#[cfg(test)]
mod tests;
