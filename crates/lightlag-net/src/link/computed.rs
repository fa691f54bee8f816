//! The drop-tail link that computes its departures.
//!
//! The queue is first in, first out and the rate is constant, so a packet's departure time is determined when it
//! arrives: the link computes it instead of simulating it. A packet costs one event per hop, its arrival at the far
//! end. Packets are stored by value in one ring from their arrival at the queue to their arrival at the far end.
//!
//! `max(now, end of the previous transmission) + 8·(size + header) / rate + delay`

use super::{Beam, LinkConfig, LinkCounters, LinkTotals, QueueFull, Waits};
use crate::limit::{Backlog, QueueLimit};
use crate::{LossPlace, LossProcess, NodeId, Packet};
use lightlag_core::wide::product;
use lightlag_core::{Duration, FreeList, Instant, Ring, prefetch};
use std::num::NonZeroU64;
use std::sync::Arc;

/// Constants that links with the same configuration share.
#[derive(Debug)]
pub struct LinkConstants {
    config: LinkConfig,
    /// Transmission time of a byte in nanoseconds, if it is a whole number.
    nanos_a_byte: Option<NonZeroU64>,
    /// 2⁶³ / rate, rounded up.
    reciprocal: u64,
}

impl LinkConstants {
    /// Returns the constants of links with this configuration.
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

    /// Returns the configuration.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Returns the transmission time of a frame of `frame` bytes in nanoseconds, rounded down, and the new remainder,
    /// in units of 1/rate. `remainder` is the remainder of the previous frame.
    #[inline(always)]
    fn transmission(&self, frame: u64, remainder: u64) -> (u64, u64) {
        // The end of the transmission decides what happens next, so compute it early.
        if let Some(nanos) = self.nanos_a_byte {
            return (frame * nanos.get(), 0);
        }
        let rate = self.config.rate.as_bps();
        // Below 2^17 · 8 · 10^9, and a remainder below the rate: inside 64 bits.
        let work = frame * NANOS_FOR_A_BYTE + remainder;
        // A product costs less than a division. The reciprocal exceeds 2^63 / rate by less than one, so the product
        // exceeds the quotient by less than work / 2^63: its integer part is usually equal, and otherwise one larger.
        let nanos = (product(work, self.reciprocal) >> 63) as u64;
        work.checked_sub(nanos * rate).map_or_else(|| (nanos - 1, work - (nanos - 1) * rate), |rest| (nanos, rest))
    }
}

/// Nanoseconds that a byte takes at 1 bit/s.
const NANOS_FOR_A_BYTE: u64 = 8 * 1_000_000_000;

/// Totals over all packets of the link, modulo 2³².
#[derive(Clone, Copy, Debug, Default)]
struct LinkCounts {
    offered: u32,
    /// Bytes put on the link, headers and waiting packets included.
    sent_bytes: u32,
    /// Total time in nanoseconds that all packets so far wait for the start of their transmission.
    waiting: u32,
}

/// Number of times that each of the [`LinkCounts`] has passed 2³². Not allocated for a rarely used link.
#[derive(Clone, Copy, Debug, Default)]
struct Ages {
    offered: u64,
    sent_bytes: u64,
    waiting: u64,
}

/// Adds to a 32-bit count; returns true if the count has passed 2³².
#[inline(always)]
fn add(count: &mut u32, more: u32) -> bool {
    let (sum, wraps) = count.overflowing_add(more);
    *count = sum;
    wraps
}

/// Maximum size of a link's header in bytes.
const MOST_HEADER: u64 = u16::MAX as u64;
const MOST_RATE: u64 = u64::MAX >> 1;

/// Panic message for an event of a link that has no packets.
const ONLY_FOR_A_PACKET: &str = "a link fires only for a packet";

/// State that few links need.
#[derive(Default)]
struct Extras {
    loss: Option<LossProcess>,
    /// Waiting times of data packets, if they are recorded.
    waits: Option<Waits>,
    /// The far end, if it moves.
    moving: Option<Moving>,
    dropped_queue: u64,
    dropped_error: u64,
    ages: Ages,
}

/// A far end that moves relative to this one, as smoothly as a satellite does. Packets arrive in the order in which
/// they are sent.
struct Moving {
    beam: Beam,
    /// Delay in addition to the propagation of light.
    beside: Duration,
    /// Delay of the last packet. It changes by less than a nanosecond per millisecond.
    delay: Duration,
    last_arrival: Instant,
}

impl Moving {
    /// Returns the delay of a packet whose transmission lasts from `start` to `end`.
    fn advance(&mut self, start: Instant, end: Instant) -> Duration {
        // When a satellite has decayed, light takes no time any more, but no packet overtakes earlier ones.
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

/// Free memory for packets, returned by idle links.
#[derive(Default)]
pub struct PacketSpares<B>(FreeList<InFlight<B>>);

/// One direction of a link with a drop-tail queue.
// Few cache lines, in the order in which a packet needs them: when ten thousand links each carry a packet only
// occasionally, none of them stays in a cache. Constants that links have in common are stored once.
#[repr(C)]
pub struct ComputedLink<B> {
    /// Node at the far end.
    to: NodeId,
    /// Number of packets at the front of `ring` that are known to have left the transmitter. It is updated only when a
    /// limit or a maximum depends on it, so that a packet in propagation is not touched in between.
    departed: u32,
    /// Packets that wait, are in transmission or are in propagation, in order of arrival.
    ring: Ring<InFlight<B>>,
    /// Total size at the network layer, in bytes, of `ring[departed..]`.
    undeparted_bytes: u64,
    /// State for losses, recorded waiting times and a moving far end. Most links need none of it, so a single test
    /// skips it.
    extras: Option<Box<Extras>>,
    constants: Arc<LinkConstants>,
    /// End of the transmission of the last accepted packet.
    busy_until: Instant,
    /// Fraction of a nanosecond by which `busy_until` was rounded down, in units of 1/rate. It is carried over, so that
    /// back-to-back packets have the exact rate.
    remainder: u64,
    /// Total time before `busy_until` during which the link did not transmit, in nanoseconds.
    idle: u64,
    counts: LinkCounts,
    /// Maximum number of packets that waited simultaneously.
    max_queue: u32,
}

impl Extras {
    /// Records how long a packet waits, and returns true if it is lost.
    #[inline]
    fn examine<B>(&mut self, now: Instant, start: Instant, frame: u64, packet: &Packet<B>) -> bool {
        if let Some(waits) = &mut self.waits {
            waits.note(packet.flags, start.since(now));
        }
        self.loss.as_mut().is_some_and(|loss| loss.loses(start, frame, packet.flags, packet.to))
    }
}

impl<B: Clone + Default> ComputedLink<B> {
    /// Returns an idle link.
    ///
    /// # Panics
    /// If the loss process applies before the queue: that needs a [`QueuedLink`](super::QueuedLink).
    pub fn new(config: LinkConfig, loss: LossProcess) -> Self {
        Self::sharing(Arc::new(LinkConstants::new(config)), loss)
    }

    /// Returns an idle link that shares its constants with other links.
    ///
    /// # Panics
    /// Under the same condition as [`Self::new`].
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
            counts: LinkCounts::default(),
            max_queue: 0,
        }
    }

    /// Sets the node at the far end.
    #[must_use]
    pub fn leading_to(self, to: NodeId) -> Self {
        Self { to, ..self }
    }

    /// Returns the node at the far end.
    #[inline(always)]
    pub fn to(&self) -> NodeId {
        self.to
    }

    /// Adds to the delay the propagation time of light to a single moving far end.
    ///
    /// # Panics
    /// If the beam has several far ends: that needs a [`QueuedLink`](super::QueuedLink).
    #[must_use]
    pub fn beaming(mut self, beam: Beam) -> Self {
        assert!(beam.has_one_end(), "a computed link has one far end");
        let delay = self.constants.config.delay;
        let moving = Moving { beam, beside: delay, delay, last_arrival: Instant::ZERO };
        self.extras.get_or_insert_default().moving = Some(moving);
        self
    }

    /// Returns the configuration with the current delay.
    pub fn config(&self) -> LinkConfig {
        LinkConfig { delay: self.delay(), ..self.constants.config }
    }

    /// Returns the delay of the last packet.
    #[inline]
    fn delay(&self) -> Duration {
        let moving = self.extras.as_ref().and_then(|extras| extras.moving.as_ref());
        moving.map_or(self.constants.config.delay, |moving| moving.delay)
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> LinkCounters {
        let offered = self.ages().offered << 32 | u64::from(self.counts.offered);
        let in_flight = self.ring.len() as u64;
        let (dropped_queue, dropped_error) =
            self.extras.as_ref().map_or((0, 0), |extras| (extras.dropped_queue, extras.dropped_error));
        let max_queue = u64::from(self.max_queue);
        // A packet has no other fate.
        let delivered = offered - dropped_queue - dropped_error - in_flight;
        LinkCounters { offered, dropped_queue, dropped_error, delivered, max_queue, ..LinkCounters::default() }
    }

    /// Returns the number of packets that wait, are in transmission or are in propagation.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.ring.len()
    }

    /// Returns the arrival of the next packet at the far end.
    #[inline]
    pub fn next_arrival(&self) -> Option<Instant> {
        self.ring.front().map(|first| first.arrival)
    }

    /// Returns the arrival of the last packet at the far end.
    #[inline]
    pub fn last_arrival(&self) -> Option<Instant> {
        self.ring.back().map(|last| last.arrival)
    }

    /// Returns the packet at index `behind` of the ring; the oldest has index 0.
    #[inline]
    pub fn waiting(&self, behind: usize) -> Option<&Packet<B>> {
        self.ring.get(behind).map(|later| &later.packet)
    }

    /// Prefetches the slot of the next packet, if the link is idle.
    #[inline]
    pub fn prefetch_place(&self) {
        prefetch(self.ring.next_place());
    }

    /// Returns the memory for packets to `spares`, if the link has no packets.
    #[inline]
    pub fn rest(&mut self, spares: &mut PacketSpares<B>) {
        self.ring.release_to(&mut spares.0);
    }

    /// Takes memory for packets from `spares`, if the link has none and some is free.
    #[inline(always)]
    pub fn furnish(&mut self, spares: &mut PacketSpares<B>) {
        self.ring.furnish(&mut spares.0);
    }

    /// Copies a packet into the queue, or returns an error if the queue is full.
    #[inline(always)]
    pub fn send(&mut self, now: Instant, packet: &Packet<B>) -> Result<(), QueueFull> {
        self.send_by(now, packet, Packet::clone)
    }

    /// Works like [`Self::send`], but calls `copy` to copy the packet. Copying a packet as plain memory takes half the
    /// instructions of a copy field by field.
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
                (moved.unwrap_or(constants.config.delay), extras.examine(now, start, frame, packet))
            }
        };
        if add(&mut self.counts.sent_bytes, frame as u32) {
            self.ages_mut().sent_bytes += 1;
        }
        self.undeparted_bytes += u64::from(packet.size);
        // Copied in one step from its slot to the ring's: a packet changed in between would be copied once more.
        let arrival = self.busy_until + delay;
        let slot = self.ring.push();
        slot.packet = copy(packet);
        slot.packet.cross();
        slot.arrival = arrival;
        if lost {
            slot.packet.flags.corrupt();
        }
        Ok(())
    }

    /// Records the time that a packet waits for its transmission.
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

    /// Starts recording the waiting times of data packets.
    pub(super) fn measure_waits(&mut self) {
        self.extras.get_or_insert_default().waits = Some(Waits::default());
    }

    /// Returns the waiting times of data packets, if they are recorded.
    pub(super) fn waits(&self) -> Option<&Waits> {
        self.extras.as_ref()?.waits.as_ref()
    }

    /// Returns an error if the queue cannot hold a packet of `size` bytes while another packet is in transmission.
    #[inline(always)]
    fn admit(&mut self, now: Instant, size: u64) -> Result<(), QueueFull> {
        // An upper bound of the backlog, this packet included, is usually sufficient.
        let bound = (self.ring.len() - self.departed as usize) as u64;
        let max_queue = u64::from(self.max_queue);
        let at_stake = match self.constants.config.queue {
            QueueLimit::Packets(limit) => bound > limit.min(max_queue),
            QueueLimit::Bytes(limit) => bound > max_queue || self.undeparted_bytes + size > limit,
        };
        if at_stake { self.admit_closely(now, size) } else { Ok(()) }
    }

    /// Works like [`Self::admit`], but computes the exact backlog.
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
        // A ring has fewer than 2^32 slots.
        self.max_queue = self.max_queue.max(backlog.packets as u32 + 1);
        Ok(())
    }

    /// Returns the backlog at `now`.
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

    /// Removes the packet that arrives at the far end now; its flags show whether it is corrupted.
    ///
    /// # Panics
    /// If nothing is in flight: the link has a pending event only while it has packets.
    #[inline]
    pub fn receive(&mut self) -> Packet<B> {
        let packet = self.ring.pop().expect(ONLY_FOR_A_PACKET).packet;
        note_arrival(&packet, &mut self.departed, &mut self.undeparted_bytes, &mut self.extras);
        packet
    }

    /// Works like [`Self::receive`], but leaves the packet in its slot, where it can be copied until the next packet is
    /// sent.
    #[inline(always)]
    pub fn receive_in_place(&mut self) -> &Packet<B> {
        let InFlight { packet, .. } = self.ring.pass().expect(ONLY_FOR_A_PACKET);
        note_arrival(packet, &mut self.departed, &mut self.undeparted_bytes, &mut self.extras);
        packet
    }

    /// Returns the totals of a run that ended at `end`.
    pub fn totals(&self, end: Instant) -> LinkTotals {
        let LinkConfig { header, rate, .. } = self.constants.config;
        let (delay, ages, counts) = (self.delay(), self.ages(), self.counts);
        let mut totals = LinkTotals {
            carried_bytes: ages.sent_bytes << 32 | u64::from(counts.sent_bytes),
            busy: u128::from(self.busy_until.as_nanos() - self.idle),
            queued: u128::from(ages.waiting) << 32 | u128::from(counts.waiting),
            frames: None,
        };
        // Subtract the transmissions and the waits after the end of the run.
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

/// Records that a packet leaves the ring at its far end.
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
