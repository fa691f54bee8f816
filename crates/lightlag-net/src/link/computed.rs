//! The drop-tail link that computes its departures.
//!
//! The queue is first in, first out and the rate is constant, so a packet's departure is known when it arrives:
//! the link computes it instead of simulating it, and a packet costs one event a hop, its arrival at the far
//! end. Packets stand by value in one ring from their arrival at the queue to their arrival at the far end.
//!
//! `max(now, end of the previous transmission) + 8·(size + header) / rate + delay`

use super::{Beam, LinkConfig, LinkCounters, LinkTotals, QueueFull, Waits};
use crate::queue::{Backlog, QueueLimit};
use crate::{LossPlace, LossProcess, NodeId, Packet, PacketFlags};
use lightlag_core::{Duration, Instant, Ring, Spares, prefetch};
use std::sync::Arc;

/// What the link counts of every packet.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    offered: u64,
    /// Bytes put on the link, headers included, those of packets still waiting too.
    sent_bytes: u64,
    /// Nanoseconds that every packet so far takes to transmit.
    transmitting: u64,
}

/// The longest header of a link, so that the length of a frame has 32 bits.
const MOST_HEADER: u32 = u32::MAX - u16::MAX as u32;

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
    /// How often [`ComputedLink::waiting`] has passed 2⁶⁴.
    ages_of_waiting: u64,
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
pub(super) struct InFlight<B> {
    pub(super) arrival: Instant,
    pub(super) packet: Packet<B>,
}

/// Memory for packets that links have given back.
#[derive(Default)]
pub struct PacketSpares<B>(Spares<InFlight<B>>);

/// One direction of a link with a drop-tail queue.
// Two cache lines, in the order in which a packet needs them: of ten thousand links that each carry one now and then none is
// found in any cache. What links have in common is kept once.
#[repr(C)]
pub struct ComputedLink<B> {
    /// The node to which it leads.
    to: NodeId,
    /// How many at the front of `ring` have certainly left the transmitter. Brought up to date only when a limit
    /// or a maximum is at stake, so that a packet in propagation is not touched between its two ends.
    pub(super) departed: u32,
    /// Waiting, in transmission or in propagation, in order of arrival.
    pub(super) ring: Ring<InFlight<B>>,
    config: Arc<LinkConfig>,
    /// When the last accepted packet has left the transmitter.
    busy_until: Instant,
    /// The fraction of a nanosecond by which that moment was rounded down, in units of 1/rate: carried over, so
    /// that back-to-back packets keep the exact rate.
    remainder: u64,
    /// The size of the last frame, and its [`Self::transmission`]: frames of one size follow each other, and a division
    /// costs more than all else.
    frame: u32,
    /// The most packets that ever waited at once.
    max_queue: u32,
    transmission: (u64, u64),
    /// Bytes at the network layer of `ring[departed..]`.
    undeparted_bytes: u64,
    counts: Counts,
    /// Losses and waits to keep: none, in one test for the packets of most links.
    extras: Option<Box<Extras>>,
    /// Nanoseconds that every packet so far waits for its transmission to start, modulo 2⁶⁴.
    waiting: u64,
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
        Self::sharing(Arc::new(config), loss)
    }

    /// The same with constants that it shares with other links.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn sharing(config: Arc<LinkConfig>, loss: LossProcess) -> Self {
        assert_eq!(loss.place(), LossPlace::AfterQueue, "a computed link draws losses after its queue");
        let extras = loss.is_lossy().then(|| Box::new(Extras { loss: Some(loss), ..Extras::default() }));
        assert!(u32::try_from(config.header).is_ok_and(|header| header <= MOST_HEADER), "a header is short");
        Self {
            to: NodeId::default(),
            departed: 0,
            ring: Ring::new(),
            config,
            busy_until: Instant::ZERO,
            remainder: 0,
            frame: 0,
            max_queue: 0,
            transmission: (0, 0),
            undeparted_bytes: 0,
            counts: Counts::default(),
            extras,
            waiting: 0,
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
        let delay = self.config.delay;
        let moving = Moving { beam, beside: delay, delay, last_arrival: Instant::ZERO };
        self.extras.get_or_insert_default().moving = Some(moving);
        self
    }

    /// A link with other packets, which takes over the losses, waits and counts of this one.
    pub(super) fn with_ring<C>(&mut self, ring: Ring<InFlight<C>>) -> ComputedLink<C> {
        let Self { to, departed, busy_until, remainder, frame, max_queue, .. } = *self;
        let Self { transmission, undeparted_bytes, counts, waiting, .. } = *self;
        ComputedLink {
            to,
            departed,
            ring,
            config: self.config.clone(),
            busy_until,
            remainder,
            frame,
            max_queue,
            transmission,
            undeparted_bytes,
            counts,
            extras: self.extras.take(),
            waiting,
        }
    }

    /// The constants of the link.
    pub fn config(&self) -> LinkConfig {
        LinkConfig { delay: self.delay(), ..*self.config }
    }

    /// The delay of the last packet.
    #[inline]
    fn delay(&self) -> Duration {
        let moving = self.extras.as_ref().and_then(|extras| extras.moving.as_ref());
        moving.map_or(self.config.delay, |moving| moving.delay)
    }

    /// What has been counted so far.
    pub fn counters(&self) -> LinkCounters {
        let (Counts { offered, .. }, in_flight) = (self.counts, self.ring.len() as u64);
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
        self.counts.offered += 1;
        let start = if self.busy_until <= now {
            self.departed = self.ring.len() as u32;
            self.undeparted_bytes = 0;
            if self.busy_until < now {
                self.remainder = 0;
            }
            now
        } else {
            self.admit(now, u64::from(packet.size))?;
            self.note_wait(self.busy_until.since(now));
            self.busy_until
        };
        let frame = u64::from(packet.size) + self.config.header;
        let rate = self.config.rate.as_bps();
        let (mut nanos, remainder) = self.transmission(frame, rate);
        self.remainder += remainder;
        if self.remainder >= rate {
            self.remainder -= rate;
            nanos += 1;
        }
        self.busy_until = start + Duration::from_nanos(nanos);
        let (delay, lost) = match &mut self.extras {
            None => (self.config.delay, false),
            Some(extras) => {
                let moved = extras.moving.as_mut().map(|moving| moving.advance(start, self.busy_until));
                (moved.unwrap_or(self.config.delay), extras.examine(now, start, frame, packet.flags))
            }
        };
        self.counts.sent_bytes += frame;
        self.counts.transmitting += nanos;
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

    /// Whole nanoseconds that a frame of so many bytes takes, and what is left over, in units of 1/rate.
    #[inline(always)]
    fn transmission(&mut self, frame: u64, rate: u64) -> (u64, u64) {
        if frame != u64::from(self.frame) {
            // At most 2^16 · 8 · 10^9 and the header's part, well inside 64 bits.
            let work = frame * 8 * 1_000_000_000;
            self.frame = frame as u32;
            self.transmission = (work / rate, work % rate);
        }
        self.transmission
    }

    /// A packet waits so long for its transmission.
    #[inline(always)]
    fn note_wait(&mut self, wait: Duration) {
        let (sum, wraps) = self.waiting.overflowing_add(wait.as_nanos());
        self.waiting = sum;
        if wraps {
            self.note_age();
        }
    }

    #[cold]
    fn note_age(&mut self) {
        self.extras.get_or_insert_default().ages_of_waiting += 1;
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
        let at_stake = match self.config.queue {
            QueueLimit::Packets(limit) => bound > limit.min(most),
            QueueLimit::Bytes(limit) => bound > most || self.undeparted_bytes + size > limit,
        };
        if at_stake { self.admit_closely(now, size) } else { Ok(()) }
    }

    /// The same by the packets that wait now.
    #[inline(never)]
    fn admit_closely(&mut self, now: Instant, size: u64) -> Result<(), QueueFull> {
        let backlog = self.backlog(now);
        let full = match self.config.queue {
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
        let ages = self.extras.as_ref().map_or(0, |extras| extras.ages_of_waiting);
        let (delay, header, rate) = (self.delay(), self.config.header, self.config.rate);
        let mut totals = LinkTotals {
            carried_bytes: self.counts.sent_bytes,
            busy: u128::from(self.counts.transmitting),
            queued: u128::from(ages) << 64 | u128::from(self.waiting),
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
