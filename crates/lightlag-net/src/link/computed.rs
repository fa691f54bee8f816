//! The drop-tail link that computes its departures.
//!
//! The queue is first in, first out and the rate is constant, so a packet's departure is known when it arrives:
//! the link computes it instead of simulating it, and a packet costs one event a hop, its arrival at the far
//! end. Packets stand by value in one ring from their arrival at the queue to their arrival at the far end.
//!
//! `max(now, end of the previous transmission) + 8·(size + header) / rate + delay`

use super::{Beam, LinkConfig, LinkCounters, LinkTotals, QueueFull, Waits};
use crate::queue::{Backlog, QueueLimit};
use crate::{LossPlace, LossProcess, Packet, PacketFlags};
use lightlag_core::{Duration, Instant, Rate, Ring, prefetch};

/// What the link counts of every packet.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    offered: u64,
    /// Bytes put on the link, headers included, those of packets still waiting too.
    sent_bytes: u64,
    /// Nanoseconds that every packet so far takes to transmit.
    transmitting: u64,
}

/// What it counts where there is a queue, or a loss.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, packed(8))]
struct Rare {
    dropped_queue: u64,
    dropped_error: u64,
    max_queue: u64,
    /// Time that every packet so far waits for its transmission to start.
    waiting: u128,
}

/// Whoever wakes a link knows that it has a packet.
const ONLY_FOR_A_PACKET: &str = "a link wakes only for a packet";

/// What happens to packets that not every link does to them.
#[derive(Default)]
struct Extras {
    loss: Option<LossProcess>,
    /// How long data packets wait, if somebody asked.
    waits: Option<Waits>,
    /// The far end, if it moves.
    moving: Option<Moving>,
}

/// A far end that moves as smoothly as a satellite beside this one: packets arrive in the order in which they leave.
struct Moving {
    beam: Beam,
    /// The delay beside the light.
    delay: Duration,
    last_arrival: Instant,
}

impl Moving {
    /// The delay of a packet whose transmission lasts from `start` to `end`.
    fn delay(&mut self, start: Instant, end: Instant) -> Duration {
        // Where light takes no time any more, because a satellite has decayed, no packet overtakes those before it.
        let delay = (self.delay + self.beam.light_time(start)).max(self.last_arrival.since(end));
        self.last_arrival = end + delay;
        delay
    }
}

#[derive(Default)]
pub(super) struct InFlight<B> {
    pub(super) arrival: Instant,
    pub(super) packet: Packet<B>,
}

/// One direction of a link with a drop-tail queue.
// In the order in which a packet needs it. Of ten thousand links that each carry one now and then none is found in any
// cache: what an idle link of few packets never looks at comes last.
#[repr(C)]
pub struct ComputedLink<B> {
    /// How many at the front of `ring` have certainly left the transmitter. Brought up to date only when a limit
    /// or a maximum is at stake, so that a packet in propagation is not touched between its two ends.
    pub(super) departed: u32,
    header: u32,
    /// Waiting, in transmission or in propagation, in order of arrival.
    pub(super) ring: Ring<InFlight<B>>,
    /// When the last accepted packet has left the transmitter.
    busy_until: Instant,
    /// The fraction of a nanosecond by which that moment was rounded down, in units of 1/rate: carried over, so
    /// that back-to-back packets keep the exact rate.
    remainder: u64,
    /// The size of the last frame, and its [`Self::transmission`]: frames of one size follow each other, and a division
    /// costs more than all else.
    frame: u64,
    transmission: (u64, u64),
    /// Where the far end moves, that of the last packet. It changes by less than a nanosecond in a millisecond.
    delay: Duration,
    rate: Rate,
    /// Bytes at the network layer of `ring[departed..]`.
    undeparted_bytes: u64,
    counts: Counts,
    /// Losses and waits to keep: none, in one test for the packets of most links.
    extras: Option<Box<Extras>>,
    queue: QueueLimit,
    rare: Rare,
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
        assert_eq!(loss.place(), LossPlace::AfterQueue, "a computed link draws losses after its queue");
        let extras = loss.is_lossy().then(|| Box::new(Extras { loss: Some(loss), ..Extras::default() }));
        let LinkConfig { rate, delay, queue, header } = config;
        Self {
            departed: 0,
            header: u32::try_from(header).expect("a header is short"),
            ring: Ring::new(),
            busy_until: Instant::ZERO,
            remainder: 0,
            frame: 0,
            transmission: (0, 0),
            delay,
            rate,
            undeparted_bytes: 0,
            counts: Counts::default(),
            extras,
            queue,
            rare: Rare::default(),
        }
    }

    /// Sends to one far end that moves. The time of light comes on top of the delay.
    ///
    /// # Panics
    /// If the beam has several far ends: that takes a [`QueuedLink`](super::QueuedLink).
    #[must_use]
    pub fn beaming(mut self, beam: Beam) -> Self {
        assert!(beam.has_one_end(), "a computed link has one far end");
        let moving = Moving { beam, delay: self.delay, last_arrival: Instant::ZERO };
        self.extras.get_or_insert_default().moving = Some(moving);
        self
    }

    /// The constants of the link.
    pub fn config(&self) -> LinkConfig {
        let Self { rate, delay, queue, header, .. } = *self;
        LinkConfig { rate, delay, queue, header: u64::from(header) }
    }

    /// What has been counted so far.
    pub fn counters(&self) -> LinkCounters {
        let (Counts { offered, .. }, in_flight) = (self.counts, self.ring.len() as u64);
        let Rare { dropped_queue, dropped_error, max_queue, .. } = self.rare;
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

    /// When the last packet of all that were taken reaches the far end.
    #[inline]
    pub fn last_arrival(&self) -> Instant {
        self.busy_until + self.delay
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
    pub fn rest(&mut self) {
        self.ring.release();
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
            self.rare.waiting += u128::from(self.busy_until.since(now).as_nanos());
            self.busy_until
        };
        let frame = u64::from(packet.size) + u64::from(self.header);
        let (mut nanos, remainder) = self.transmission(frame);
        self.remainder += remainder;
        if self.remainder >= self.rate.as_bps() {
            self.remainder -= self.rate.as_bps();
            nanos += 1;
        }
        self.busy_until = start + Duration::from_nanos(nanos);
        let lost = match &mut self.extras {
            None => false,
            Some(extras) => {
                if let Some(moving) = &mut extras.moving {
                    self.delay = moving.delay(start, self.busy_until);
                }
                extras.examine(now, start, frame, packet.flags)
            }
        };
        self.counts.sent_bytes += frame;
        self.counts.transmitting += nanos;
        self.undeparted_bytes += u64::from(packet.size);
        // Whole, from its place to the ring's: a packet that is changed on the way is copied once more.
        let arrival = self.busy_until + self.delay;
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
    fn transmission(&mut self, frame: u64) -> (u64, u64) {
        if frame != self.frame {
            // At most 2^16 · 8 · 10^9 and the header's part, well inside 64 bits.
            let work = frame * 8 * 1_000_000_000;
            self.frame = frame;
            self.transmission = (work / self.rate.as_bps(), work % self.rate.as_bps());
        }
        self.transmission
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
    #[inline]
    fn admit(&mut self, now: Instant, size: u64) -> Result<(), QueueFull> {
        // An upper bound of what would wait, this packet included, is enough most of the time.
        let bound = (self.ring.len() - self.departed as usize) as u64;
        let at_stake = match self.queue {
            QueueLimit::Packets(limit) => bound > limit.min(self.rare.max_queue),
            QueueLimit::Bytes(limit) => bound > self.rare.max_queue || self.undeparted_bytes + size > limit,
        };
        if at_stake {
            let backlog = self.backlog(now);
            let full = match self.queue {
                QueueLimit::Packets(limit) => backlog.packets >= limit,
                QueueLimit::Bytes(limit) => backlog.bytes + size > limit,
            };
            if full {
                self.rare.dropped_queue += 1;
                return Err(QueueFull);
            }
            self.rare.max_queue = self.rare.max_queue.max(backlog.packets + 1);
        }
        Ok(())
    }

    /// What waits now.
    pub fn backlog(&mut self, now: Instant) -> Backlog {
        while let Some(next) = self.ring.get(self.departed as usize) {
            if next.arrival > now + self.delay {
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
        note_arrival(&packet, &mut self.departed, &mut self.undeparted_bytes, &mut self.rare);
        packet
    }

    /// The same, but the packet stays in its place, where it can be copied until the link takes in another one.
    #[inline(always)]
    pub fn receive_in_place(&mut self) -> &Packet<B> {
        let InFlight { packet, .. } = self.ring.pass().expect(ONLY_FOR_A_PACKET);
        note_arrival(packet, &mut self.departed, &mut self.undeparted_bytes, &mut self.rare);
        packet
    }

    /// The totals of a run that ended at `end`.
    pub fn totals(&self, end: Instant) -> LinkTotals {
        let mut totals = LinkTotals {
            carried_bytes: self.counts.sent_bytes,
            busy: u128::from(self.counts.transmitting),
            queued: self.rare.waiting,
        };
        // Take back what lies beyond the end: the transmissions after it, and the waits.
        let mut finish = self.busy_until;
        for InFlight { arrival, packet } in self.ring.iter().rev() {
            let departure = Instant::ZERO + arrival.since(Instant::ZERO + self.delay);
            if departure <= end {
                break;
            }
            let frame = u64::from(packet.size) + u64::from(self.header);
            let start = departure.since(Instant::ZERO + self.rate.time_to_send(lightlag_core::Bytes(frame)));
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
fn note_arrival<B>(packet: &Packet<B>, departed: &mut u32, undeparted_bytes: &mut u64, rare: &mut Rare) {
    if *departed > 0 {
        *departed -= 1;
    } else {
        *undeparted_bytes -= u64::from(packet.size);
    }
    if packet.flags.is_corrupted() {
        rare.dropped_error += 1;
    }
}

#[cfg(test)]
mod tests;
