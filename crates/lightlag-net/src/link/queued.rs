//! The link with a queue discipline, and with packets that overtake or arrive twice.
//!
//! What leaves is decided when the transmitter is free, never earlier. Those moments need no events: nobody can tell a
//! decision made at its time from one made when the link is next asked about anything, as long as decisions are made
//! in the order of time. So the link catches up with the clock whenever it is called, and wakes only for arrivals. A
//! timetable is known beforehand: how long a transmission takes is known when it begins, even where the rate changes. Grants
//! are not: a packet that must wait for more of them is in service, and the link wakes at each frame ([`granted`]).

use super::beam::{Beam, FarEnd, Leg, Unrest};
use super::demand::{Assignment, Demand};
use super::fec::{BlockCode, Codec};
use super::jitter::{Jitter, JitterProcess};
use super::timetable::{Changes, Fate, Timetable, Transmission};
use super::{Disturbance, LinkConfig, LinkCounters, LinkTotals, Waits};
use crate::queue::{Backlog, Discipline, Dropped, Verdicts, Waiting};
use crate::{LossPlace, LossProcess, NodeId, Packet, QueueLimit};
use lightlag_core::own::Fault;
use lightlag_core::{Duration, Instant, RandomStream, Rate};
use std::collections::VecDeque;

mod granted;

pub(super) struct OnTheWay<B> {
    pub(super) arrival: Instant,
    /// The node at which it arrives, if not every packet arrives at the same.
    pub(super) at: Option<NodeId>,
    pub(super) packet: Packet<B>,
}

/// One direction of a link with a queue discipline.
pub struct QueuedLink<B> {
    to: NodeId,
    config: LinkConfig,
    discipline: Box<dyn Discipline<B>>,
    verdicts: Verdicts<B>,
    /// Whether the transmitter is taken until `busy_until`: by a packet, or by an outage.
    transmitting: bool,
    pub(super) busy_until: Instant,
    /// When the last transmission ends.
    last_end: Instant,
    /// The fraction of a nanosecond by which `busy_until` was rounded down, in units of 1/rate.
    remainder: u64,
    /// In transmission or in propagation, in order of arrival.
    pub(super) on_the_way: VecDeque<OnTheWay<B>>,
    loss: LossProcess,
    pub(super) disturbance: Disturbance,
    pub(super) changes: Option<Box<Changes>>,
    /// Its far ends, if they move.
    beam: Option<Box<Beam>>,
    /// What the transmitter may send, if it must ask.
    assignment: Option<Box<Assignment<B>>>,
    /// Forward error correction, if it has any.
    codec: Option<Box<Codec<B>>>,
    /// All but what the verdicts count.
    counters: LinkCounters,
    totals: LinkTotals,
    /// Up to when `totals.queued` is counted.
    queued_until: Instant,
    /// How long data packets wait, if somebody asked.
    waits: Option<Box<Waits>>,
}

impl<B: Clone + Default> QueuedLink<B> {
    /// An idle link.
    pub fn new(
        config: LinkConfig,
        discipline: Box<dyn Discipline<B>>,
        loss: LossProcess,
        disturbance: Disturbance,
    ) -> Self {
        Self {
            to: NodeId::default(),
            config,
            discipline,
            verdicts: Verdicts::default(),
            transmitting: false,
            busy_until: Instant::ZERO,
            last_end: Instant::ZERO,
            remainder: 0,
            on_the_way: VecDeque::new(),
            loss,
            disturbance,
            changes: None,
            beam: None,
            assignment: None,
            codec: None,
            counters: LinkCounters::default(),
            totals: LinkTotals::default(),
            queued_until: Instant::ZERO,
            waits: None,
        }
    }

    /// Leads to this node, unless it has a beam with several far ends.
    #[must_use]
    pub fn leading_to(self, to: NodeId) -> Self {
        Self { to, ..self }
    }

    /// The node to which it leads.
    pub fn to(&self) -> NodeId {
        self.to
    }

    /// Changes by a timetable. Its phases take the place of the rate and the delay of the configuration, which a
    /// discipline was built for.
    #[must_use]
    pub fn changing(mut self, timetable: Timetable) -> Self {
        self.changes = Some(Box::new(Changes::new(timetable, None)));
        self
    }

    /// Changes by a timetable, and delays packets by a little more or less.
    #[must_use]
    pub fn jittering(mut self, timetable: Timetable, jitter: Jitter, random: RandomStream) -> Self {
        self.changes = Some(Box::new(Changes::new(timetable, Some(JitterProcess::new(jitter, random)))));
        self
    }

    /// Sends to far ends that move: the time of light comes on top of the delay. With a timetable packets arrive in the order in
    /// which they leave, also where the next far end is nearer.
    #[must_use]
    pub fn beaming(mut self, beam: Beam) -> Self {
        self.beam = Some(Box::new(beam));
        self
    }

    /// Sends only what it has been granted. Its timetable, if it has one, was given before.
    #[must_use]
    pub fn on_demand(mut self, demand: Demand) -> Self {
        self.assignment = Some(Box::new(Assignment::new(demand)));
        self.changes = self.changes.map(|changes| Box::new(changes.starting_late()));
        self
    }

    /// Protects its packets by a code. Everything else was given before.
    ///
    /// # Panics
    /// If the code has no repair packets, or packets are lost before the queue, overtake, arrive twice or have several far ends.
    #[must_use]
    pub fn coded(self, code: BlockCode) -> Self {
        assert!(code.repair > 0, "a code has repair packets");
        assert_eq!(self.loss.place(), LossPlace::AfterQueue, "a code repairs packets that left the transmitter");
        assert!(self.keeps_order() && !self.disturbance.has_duplicates(), "the decoder counts the packets of a block");
        assert!(self.beam.is_none(), "a block has one far end");
        Self { codec: Some(Box::new(Codec::new(code))), ..self }
    }

    /// Whether its packets are protected by a code.
    pub(super) fn is_coded(&self) -> bool {
        self.codec.is_some()
    }

    /// The constants of the link; of one that changes, those that it was made with.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// How it changes, if it does.
    pub fn timetable(&self) -> Option<&Timetable> {
        self.changes.as_ref().map(|changes| changes.timetable())
    }

    /// What has been counted so far.
    pub fn counters(&self) -> LinkCounters {
        let Verdicts { marked, full, early, thinned, astray, .. } = self.verdicts;
        let dropped = LinkCounters { dropped_queue: full, dropped_aqm: early, dropped_acks: thinned, ..self.counters };
        let (repair_packets, repaired) = self.codec.as_ref().map_or((0, 0), |codec| (codec.sent, codec.repaired));
        LinkCounters { marked, dropped_route: astray, repair_packets, repaired, ..dropped }
    }

    /// The failure of its discipline, if that comes from outside and has failed.
    pub fn fault(&self) -> Option<&Fault> {
        self.discipline.fault()
    }

    /// Packets between the queue and the far end.
    pub fn in_flight(&self) -> usize {
        let sent = self.on_the_way.len() + self.discipline.backlog().packets as usize + usize::from(self.is_serving());
        match &self.codec {
            None => sent,
            Some(codec) => sent.saturating_add_signed(codec.undelivered()),
        }
    }

    /// Packets that wait for transmission, and their bytes: those in the queue, and repair packets.
    fn waiting(&self) -> (u64, u64) {
        let Backlog { packets, bytes, .. } = self.discipline.backlog();
        let (repair, size) = self.codec.as_ref().map_or((0, 0), |codec| codec.unsent());
        (packets + repair, bytes + repair * size)
    }

    /// When to call [`receive`](Self::receive) next: at the first arrival that is known, or before one that is not
    /// known yet could happen.
    pub fn next_wake(&mut self) -> Option<Instant> {
        let first = self.on_the_way.front().map(|first| first.arrival);
        if let Some(codec) = &self.codec {
            return self.next_coded_wake(codec, first);
        }
        if self.discipline.backlog().packets == 0 && !self.is_serving() {
            return first;
        }
        if let Some(beam) = &mut self.beam {
            // What waits before a blind beam leaves when that is aimed again.
            if self.busy_until == Instant::MAX {
                return first;
            }
            let Some(least) = beam.least(self.busy_until).filter(|_| self.transmitting) else { return first };
            let travels = match &self.changes {
                None => self.config.delay + least,
                Some(changes) => changes.least_travel(least),
            };
            let unknown = self.busy_until + travels;
            return Some(first.map_or(unknown, |first| first.min(unknown)));
        }
        // What waits leaves after the packet in transmission; it may pass one that was held back.
        self.next_unknown(self.busy_until, first)
    }

    /// The first known arrival, or the least one of what starts at `free`.
    fn next_unknown(&self, free: Instant, first: Option<Instant>) -> Option<Instant> {
        let unknown = match &self.changes {
            None => free + self.config.delay,
            // An outage without an end lets nothing leave.
            Some(_) if free == Instant::MAX => return first,
            Some(changes) => changes.first_arrival(free),
        };
        Some(first.map_or(unknown, |first| first.min(unknown)))
    }

    /// As [`next_wake`](Self::next_wake), of a link with a code: also when decoded packets are to be delivered, and before repair
    /// packets of the open block could arrive.
    #[cold]
    fn next_coded_wake(&self, codec: &Codec<B>, first: Option<Instant>) -> Option<Instant> {
        if let Some(now) = codec.delivery_time() {
            return Some(now);
        }
        if self.waiting().0 > 0 || self.is_serving() {
            return self.next_unknown(self.busy_until, first);
        }
        let Some(flush) = codec.flush_time() else { return first };
        self.next_unknown(flush.max(self.busy_until), first)
    }

    /// Offers a packet to the queue. What is dropped, this packet or another, is in [`dropped`](Self::dropped).
    pub fn send(&mut self, now: Instant, mut packet: Packet<B>) {
        packet.cross();
        self.catch_up(now);
        self.count_waiting(now);
        self.counters.offered += 1;
        let frame = u64::from(packet.size) + self.config.header;
        if self.loss.place() == LossPlace::BeforeQueue && self.loss.loses(now, frame, packet.flags) {
            self.counters.dropped_error += 1;
            self.verdicts.lost(now, packet);
            return;
        }
        if self.transmitting && self.config.queue == QueueLimit::Packets(0) {
            self.verdicts.full(now, packet);
            return;
        }
        if let Some(changes) = &mut self.changes {
            changes.advance(now, &mut *self.discipline);
        }
        self.ask(now);
        self.discipline.enqueue(now, packet, &mut self.verdicts);
        if !self.transmitting {
            if self.busy_until < now {
                self.remainder = 0;
            }
            self.transmit_next(now);
        }
        self.counters.max_queue = self.counters.max_queue.max(self.discipline.backlog().packets);
    }

    /// Takes the packet that arrives at the far end now, if one does.
    pub fn receive(&mut self, now: Instant) -> Option<Packet<B>> {
        self.receive_at(now).map(|(packet, _)| packet)
    }

    /// The same, and the node at which it arrives, if the link has several far ends.
    pub fn receive_at(&mut self, now: Instant) -> Option<(Packet<B>, Option<NodeId>)> {
        self.catch_up(now);
        let (packet, at) = if self.codec.is_some() { (self.decoded(now)?, None) } else { self.arrived(now)? };
        if packet.flags.was_unheard() {
            self.counters.dropped_outage += 1;
        } else if packet.flags.is_corrupted() {
            self.counters.dropped_error += 1;
        } else {
            self.counters.delivered += 1;
        }
        Some((packet, at))
    }

    /// Takes a packet that has arrived at the far end, damaged or not, and the node there.
    fn arrived(&mut self, now: Instant) -> Option<(Packet<B>, Option<NodeId>)> {
        if self.on_the_way.front().is_none_or(|first| first.arrival > now) {
            return None;
        }
        self.on_the_way.pop_front().map(|OnTheWay { packet, at, .. }| (packet, at))
    }

    /// Takes a packet that the decoder delivers now.
    #[cold]
    fn decoded(&mut self, now: Instant) -> Option<Packet<B>> {
        loop {
            if let Some(packet) = self.codec.as_mut()?.next_delivery() {
                return Some(packet);
            }
            let (packet, _) = self.arrived(now)?;
            self.codec.as_mut()?.decode(now, packet);
        }
    }

    /// Points the beam elsewhere, or at nothing, for packets with this exit: those whose transmission starts from now on.
    pub fn aim(&mut self, now: Instant, exit: usize, end: Option<FarEnd>, unrest: Unrest) {
        self.catch_up(now);
        let Some(beam) = &mut self.beam else { return };
        beam.aim(now, exit, end, unrest);
        if !self.transmitting && self.discipline.backlog().packets > 0 {
            self.count_waiting(now);
            self.remainder = 0;
            self.transmit_next(now);
        }
    }

    /// Takes back the packets that wait and `leave`: they go another way.
    pub fn withdraw(&mut self, now: Instant, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        self.catch_up(now);
        self.count_waiting(now);
        let withdrawn = self.discipline.withdraw(leave);
        self.counters.withdrawn += withdrawn.len() as u64;
        withdrawn
    }

    /// Drops the packets that wait and `leave`: there is no way for them any more.
    pub fn drop_waiting(&mut self, now: Instant, leave: &mut dyn FnMut(&Packet<B>) -> bool) {
        self.catch_up(now);
        self.count_waiting(now);
        for packet in self.discipline.withdraw(leave) {
            self.verdicts.go_astray(now, packet);
        }
    }

    /// Loses those packets between the transmitter and the far end that are `hit`.
    pub fn lose_in_flight(&mut self, now: Instant, hit: &mut dyn FnMut(&Packet<B>) -> bool) {
        self.catch_up(now);
        for OnTheWay { packet, .. } in self.on_the_way.iter_mut().filter(|sent| sent.arrival > now) {
            if hit(packet) {
                packet.flags.lose_in_outage();
            }
        }
    }

    /// Keeps from now on how long data packets wait.
    pub(super) fn measure_waits(&mut self) {
        self.waits = Some(Box::default());
    }

    /// How long data packets have waited, if that is measured.
    pub(super) fn waits(&self) -> Option<&Waits> {
        self.waits.as_deref()
    }

    /// What waits now.
    pub fn backlog(&mut self, now: Instant) -> Backlog {
        self.catch_up(now);
        self.discipline.backlog()
    }

    /// What the queue has dropped since the last call, with the time of each drop, in the order of time.
    pub fn dropped(&mut self) -> impl Iterator<Item = Dropped<B>> + '_ {
        self.verdicts.dropped.drain(..)
    }

    /// Makes every decision that is due by now.
    pub fn catch_up(&mut self, now: Instant) {
        while self.transmitting && self.busy_until <= now {
            let free = self.busy_until;
            self.count_waiting(free);
            self.transmit_next(free);
        }
        if self.codec.is_some() {
            self.flush(now);
        }
    }

    /// Closes the open block if it became old enough while nothing was sent, and sends its repair packets up to now.
    #[cold]
    fn flush(&mut self, now: Instant) {
        let flush = self.codec.as_ref().and_then(|codec| codec.flush_time());
        if let Some(flush) = flush.filter(|flush| *flush <= now && !self.transmitting) {
            self.remainder = 0;
            self.transmit_next(flush);
            self.catch_up(now);
        }
    }

    /// Takes the packet whose transmission starts now: a repair packet before those that wait.
    fn next_packet(&mut self, start: Instant) -> Option<Waiting<B>> {
        let Some(codec) = &mut self.codec else { return self.discipline.dequeue(start, &mut self.verdicts) };
        if let Some(packet) = codec.next_repair() {
            return Some(Waiting { since: start, packet });
        }
        let next = self.discipline.dequeue(start, &mut self.verdicts)?;
        codec.encode(start, next.packet.size);
        Some(next)
    }

    /// Begins the next transmission, if the discipline has a packet.
    fn transmit_next(&mut self, start: Instant) {
        if self.is_held(start) {
            return;
        }
        if let Some(codec) = self.codec.as_mut().filter(|_| self.discipline.backlog().packets == 0) {
            codec.flush(start);
        }
        if self.beam.as_ref().is_some_and(|beam| beam.is_blind()) {
            self.transmitting = false;
            return;
        }
        if self.assignment.is_some() {
            return self.transmit_granted(start);
        }
        let (Waiting { since, mut packet }, flight) = loop {
            let next = self.next_packet(start);
            self.transmitting = next.is_some();
            let Some(next) = next else { return };
            let Some(beam) = &mut self.beam else { break (next, None) };
            match beam.flight_of(start, &next.packet) {
                Some(flight) => break (next, Some(flight)),
                None => self.verdicts.go_astray(start, next.packet),
            }
        };
        if let Some(waits) = &mut self.waits {
            waits.note(packet.flags, start.since(since));
        }
        let frame = u64::from(packet.size) + self.config.header;
        let rate = flight.and_then(|leg| leg.rate);
        let Transmission { end, free, remainder, delay, fate } = self.transmission(start, frame, rate);
        self.remainder = remainder;
        self.busy_until = free;
        self.last_end = end;
        self.totals.carried_bytes += frame;
        self.totals.busy += u128::from(end.since(start).as_nanos());
        let is_lost = self.loss.place() == LossPlace::AfterQueue && self.loss.loses(start, frame, packet.flags);
        if is_lost {
            packet.flags.corrupt();
        }
        fate.befall(&mut packet.flags);
        match flight {
            None => self.depart(packet, end, delay, None),
            Some(Leg { node, light_time, unrest, .. }) => {
                if start < unrest.lost_until {
                    packet.flags.lose_in_outage();
                }
                self.depart(packet, end.max(unrest.held_until), delay + light_time, Some(node));
            }
        }
    }

    /// Puts a packet on its way that has left the transmitter at `end`.
    fn depart(&mut self, packet: Packet<B>, end: Instant, delay: Duration, at: Option<NodeId>) {
        let arrival = match &mut self.changes {
            None => end + delay,
            Some(changes) => changes.arrive(end, delay),
        };
        self.propagate_twice(packet, arrival, at);
    }

    /// Puts a packet, and perhaps a copy, on its way.
    fn propagate_twice(&mut self, packet: Packet<B>, arrival: Instant, at: Option<NodeId>) {
        let copies = self.disturbance.duplicates() && !packet.flags.is_corrupted();
        if copies {
            self.counters.duplicated += 1;
            self.propagate(packet.clone(), arrival, at);
        }
        self.propagate(packet, arrival, at);
    }

    /// Whether an outage holds what waits. Then the transmitter is taken until the end of it.
    fn is_held(&mut self, now: Instant) -> bool {
        let Some(changes) = &mut self.changes else { return false };
        changes.advance(now, &mut *self.discipline);
        let Some(until) = changes.held(now) else { return false };
        self.transmitting = true;
        self.busy_until = until;
        self.remainder = 0;
        true
    }

    /// How a frame that starts now leaves; `rate` is another one than that of the configuration.
    fn transmission(&mut self, start: Instant, frame: u64, rate: Option<Rate>) -> Transmission {
        if let Some(rate) = rate {
            // What is left of a nanosecond belongs to the rate of the packet before.
            let end = start + Duration::from_nanos(frame * 8 * 1_000_000_000 / rate.as_bps());
            return Transmission { end, free: end, remainder: 0, delay: self.config.delay, fate: Fate::Intact };
        }
        if let Some(changes) = &mut self.changes {
            return changes.transmit(start, frame, self.remainder);
        }
        // At most 2^16 · 8 · 10^9 + rate, well inside 64 bits.
        let work = frame * 8 * 1_000_000_000 + self.remainder;
        let (nanos, remainder) = (work / self.config.rate.as_bps(), work % self.config.rate.as_bps());
        let end = start + Duration::from_nanos(nanos);
        Transmission { end, free: end, remainder, delay: self.config.delay, fate: Fate::Intact }
    }

    /// Puts a packet on its way to the far end, perhaps held back.
    fn propagate(&mut self, packet: Packet<B>, mut arrival: Instant, at: Option<NodeId>) {
        if let Some(extra) = self.disturbance.held_back() {
            self.counters.reordered += 1;
            arrival += extra;
        }
        let sent = OnTheWay { arrival, at, packet };
        if self.on_the_way.back().is_none_or(|last| last.arrival <= arrival) {
            self.on_the_way.push_back(sent);
        } else {
            let place = self.on_the_way.partition_point(|other| other.arrival <= arrival);
            self.on_the_way.insert(place, sent);
        }
    }

    /// Adds what has waited since the queue last changed.
    fn count_waiting(&mut self, now: Instant) {
        let elapsed = now.since(self.queued_until).as_nanos();
        self.totals.queued += u128::from(self.discipline.backlog().packets) * u128::from(elapsed);
        self.queued_until = now;
    }

    /// The totals of a run that ended at `end`, to which the link has caught up.
    pub fn totals(&self, end: Instant) -> LinkTotals {
        let mut totals = self.totals;
        totals.busy -= u128::from(self.last_end.since(end).as_nanos());
        if let Some(offered) = self.changes.as_ref().and_then(|changes| changes.offered(end)) {
            let carried = u128::from(totals.carried_bytes.min(offered));
            totals.busy = carried * u128::from(end.as_nanos()) / u128::from(offered.max(1));
        }
        let elapsed = end.since(self.queued_until).as_nanos();
        totals.queued += u128::from(self.discipline.backlog().packets) * u128::from(elapsed);
        totals
    }
}

#[cfg(test)]
mod tests;
