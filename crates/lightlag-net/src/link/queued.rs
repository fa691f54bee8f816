//! A link with a queue discipline. Packets may also overtake or be duplicated.
//!
//! The next packet is selected when the transmitter becomes free, never earlier. These moments need no events: a
//! decision can be made when the link is next called, with the same effect, as long as decisions are made in the order
//! of time. The link therefore catches up with the clock whenever it is called, and has events only for arrivals. A
//! timetable is fixed in advance: the transmission time is known at the start of a transmission, even if the rate
//! changes. Grants are not known in advance: a packet that must wait for further grants stays in service, and the link
//! has an event at each frame ([`granted`]). In baseband frames, several packets are sent together ([`framed`]).

use super::aggregate::{Aggregate, Frames};
use super::baseband::{BasebandFrames, Framer};
use super::beam::{Beam, FarEnd, Leg, Unrest};
use super::demand::{Assignment, Demand};
use super::fec::{BlockCode, Codec};
use super::jitter::{Jitter, JitterProcess};
use super::police::{Gate, Policer, TokenBucket};
use super::ramp::{Growth, Ramp};
use super::timetable::{Changes, Timetable, Transmission, TransmissionFate};
use super::{Disturbance, LinkConfig, LinkCounters, LinkModel, LinkTotals, Slots, Waits};
use crate::queue::netem::Held;
use crate::queue::{Backlog, Discipline, Dropped, QueuedPacket, Verdicts};
use crate::{LossPlace, LossProcess, NodeId, Packet, QueueLimit};
use lightlag_core::custom::Fault;
use lightlag_core::wide::product;
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Rate, SymbolRate};
use std::collections::VecDeque;
use std::vec::Drain;

mod framed;
mod granted;

pub(super) struct OnTheWay<B> {
    pub(super) arrival: Instant,
    /// Node where the packet arrives, if the link has several far ends.
    pub(super) at: Option<NodeId>,
    pub(super) packet: Packet<B>,
}

/// One direction of a link with a queue discipline.
pub struct QueuedLink<B> {
    to: NodeId,
    config: LinkConfig,
    discipline: Box<dyn Discipline<B>>,
    /// MTU and policer before the queue, if there are any.
    gate: Option<Box<Gate>>,
    /// Limit of everything that this direction holds, if there is one.
    pub(super) held: Option<Box<Held>>,
    verdicts: Verdicts<B>,
    /// Whether the transmitter is busy until `busy_until`, because of a packet or an outage.
    transmitting: bool,
    pub(super) busy_until: Instant,
    /// End of the last transmission.
    last_end: Instant,
    /// Fraction of a nanosecond by which `busy_until` was rounded down, in units of 1/rate.
    remainder: u64,
    /// Packets in transmission or in propagation, in order of arrival.
    pub(super) on_the_way: VecDeque<OnTheWay<B>>,
    loss: LossProcess,
    pub(super) disturbance: Disturbance,
    pub(super) changes: Option<Box<Changes>>,
    /// Moving far ends, if any.
    beam: Option<Box<Beam>>,
    /// Granted capacity, if the transmitter must request it.
    assignment: Option<Box<Assignment<B>>>,
    /// Rate that follows demand, if it does.
    growth: Option<Box<Growth>>,
    /// Frames in which packets are sent, if there are any.
    frames: Option<Box<Frames>>,
    /// Baseband frames, if packets are sent in them.
    framer: Option<Box<Framer<B>>>,
    /// Forward error correction, if there is any.
    codec: Option<Box<Codec<B>>>,
    /// The counters that are not in `Verdicts`.
    counters: LinkCounters,
    totals: LinkTotals,
    /// End of the time that is included in `totals.queued`.
    queued_until: Instant,
    /// Waiting times of data packets, if they are recorded.
    waits: Option<Box<Waits>>,
}

impl<B: Clone + Default> QueuedLink<B> {
    /// Returns an idle link.
    pub fn new(
        config: LinkConfig,
        discipline: Box<dyn Discipline<B>>,
        loss: LossProcess,
        disturbance: Disturbance,
    ) -> Self {
        Self {
            to: NodeId::default(),
            config,
            gate: None,
            held: discipline.held().map(Box::new),
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
            growth: None,
            frames: None,
            framer: None,
            codec: None,
            counters: LinkCounters::default(),
            totals: LinkTotals::default(),
            queued_until: Instant::ZERO,
            waits: None,
        }
    }

    /// Sets the node at the far end, unless the link has a beam with several far ends.
    #[must_use]
    pub fn leading_to(self, to: NodeId) -> Self {
        Self { to, ..self }
    }

    /// Sets a timetable. Its phases replace the rate and the delay of the configuration for which the discipline was
    /// built.
    #[must_use]
    pub fn changing(mut self, timetable: Timetable) -> Self {
        self.changes = Some(Box::new(Changes::new(timetable, None)));
        self
    }

    /// Sets a timetable, and adds jitter to the delay.
    #[must_use]
    pub fn jittering(mut self, timetable: Timetable, jitter: Jitter, random: RandomStream) -> Self {
        self.changes = Some(Box::new(Changes::new(timetable, Some(JitterProcess::new(jitter, random)))));
        self
    }

    /// Adds to the delay the propagation time of light to moving far ends. With a timetable, packets arrive in the
    /// order in which they are sent, even if the next far end is nearer.
    #[must_use]
    pub fn beaming(mut self, beam: Beam) -> Self {
        self.beam = Some(Box::new(beam));
        self
    }

    /// Drops packets above a rate before they reach the queue.
    #[must_use]
    pub fn policed(mut self, policer: Policer) -> Self {
        self.gate.get_or_insert_default().bucket = Some(TokenBucket::new(policer));
        self
    }

    /// Drops packets above a size, without the header of the link.
    #[must_use]
    pub fn limited(mut self, mtu: Bytes) -> Self {
        self.gate.get_or_insert_default().mtu = Some(mtu);
        self
    }

    /// Limits transmissions to granted capacity. Call this after setting a timetable.
    #[must_use]
    pub fn on_demand(mut self, demand: Demand) -> Self {
        self.assignment = Some(Box::new(Assignment::new(demand)));
        self.changes = self.changes.map(|changes| Box::new(changes.starting_late()));
        self
    }

    /// Lets the rate follow demand, up to the rate of the configuration. `slots` are the slots of the link.
    #[must_use]
    pub fn ramping(mut self, ramp: Ramp, slots: Option<&Slots>) -> Self {
        self.growth = Some(Box::new(Growth::new(ramp, self.config.rate, slots)));
        self
    }

    /// Lets packets wait for the next frame.
    #[must_use]
    pub fn aggregating(mut self, frames: Aggregate) -> Self {
        self.frames = Some(Box::new(Frames::new(frames)));
        self
    }

    /// Sends packets in baseband frames, with the formats of the timetable.
    ///
    /// # Panics
    /// If the timetable has no formats.
    #[must_use]
    pub fn framing(self, frames: BasebandFrames, symbol_rate: SymbolRate) -> Self {
        assert!(self.timetable().is_some_and(Timetable::is_framed), "the timetable has formats");
        Self { framer: Some(Box::new(Framer::new(frames, symbol_rate))), ..self }
    }

    /// Protects the packets by a block code. Call this last.
    ///
    /// # Panics
    /// If the code has no repair packets, if packets are lost before the queue, may overtake or are duplicated, or if
    /// the link has several far ends.
    #[must_use]
    pub fn coded(self, code: BlockCode) -> Self {
        assert!(code.repair > 0, "a code has repair packets");
        assert_eq!(self.loss.place(), LossPlace::AfterQueue, "a code repairs packets that were transmitted");
        assert!(self.keeps_order() && !self.disturbance.has_duplicates(), "the decoder counts the packets of a block");
        assert!(self.beam.is_none(), "a block has one far end");
        Self { codec: Some(Box::new(Codec::new(code))), ..self }
    }

    /// Returns the timetable of the link, if there is one.
    pub fn timetable(&self) -> Option<&Timetable> {
        self.changes.as_ref().map(|changes| changes.timetable())
    }

    /// Returns the number of packets that wait for transmission, including repair packets, and their total bytes.
    fn waiting(&self) -> (u64, u64) {
        let Backlog { packets, bytes, .. } = self.discipline.backlog();
        let (repair, size) = self.codec.as_ref().map_or((0, 0), |codec| codec.unsent());
        (packets + repair, bytes + repair * size)
    }

    /// Returns the earlier of the first known arrival and the earliest possible arrival of a packet whose transmission
    /// starts at `free`.
    fn next_unknown(&self, free: Instant, first: Option<Instant>) -> Option<Instant> {
        let unknown = match &self.changes {
            None => free + self.config.delay,
            // An outage without an end lets nothing through.
            Some(_) if free == Instant::MAX => return first,
            Some(changes) => changes.first_arrival(free),
        };
        Some(first.map_or(unknown, |first| first.min(unknown)))
    }

    /// Works like [`next_wake`](Self::next_wake) for a link with a block code. The time may also be the delivery of
    /// decoded packets, or a time before any repair packet of the open block can arrive.
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

    /// Removes the packet that arrives at the far end now, if there is one.
    pub fn receive(&mut self, now: Instant) -> Option<Packet<B>> {
        self.receive_at(now).map(|(packet, _)| packet)
    }

    /// Removes a packet that has arrived at the far end, damaged or not, and returns it with its node if there are
    /// several.
    fn arrived(&mut self, now: Instant) -> Option<(Packet<B>, Option<NodeId>)> {
        if self.on_the_way.front().is_none_or(|first| first.arrival > now) {
            return None;
        }
        let OnTheWay { packet, at, .. } = self.on_the_way.pop_front()?;
        if let Some(held) = &mut self.held {
            held.left(&packet);
        }
        Some((packet, at))
    }

    /// Removes a packet that the decoder delivers now.
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

    /// Directs the beam to another far end, or to none, for packets with this exit whose transmission starts at `now`
    /// or later.
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

    /// Removes the waiting packets for which `leave` returns true, to reroute them.
    pub fn withdraw(&mut self, now: Instant, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        self.catch_up(now);
        self.count_waiting(now);
        let withdrawn = self.discipline.withdraw(leave);
        if let Some(held) = &mut self.held {
            withdrawn.iter().for_each(|packet| held.left(packet));
        }
        self.counters.withdrawn += withdrawn.len() as u64;
        withdrawn
    }

    /// Drops the waiting packets for which `leave` returns true, because their route has disappeared.
    pub fn drop_waiting(&mut self, now: Instant, leave: &mut dyn FnMut(&Packet<B>) -> bool) {
        self.catch_up(now);
        self.count_waiting(now);
        for packet in self.discipline.withdraw(leave) {
            self.go_astray(now, packet);
        }
    }

    /// Drops a packet that was held, because the beam has no far end for it.
    fn go_astray(&mut self, now: Instant, packet: Packet<B>) {
        if let Some(held) = &mut self.held {
            held.left(&packet);
        }
        self.verdicts.go_astray(now, packet);
    }

    /// Drops the packets between the transmitter and the far end for which `hit` returns true.
    pub fn lose_in_flight(&mut self, now: Instant, hit: &mut dyn FnMut(&Packet<B>) -> bool) {
        self.catch_up(now);
        for OnTheWay { packet, .. } in self.on_the_way.iter_mut().filter(|sent| sent.arrival > now) {
            if hit(packet) {
                packet.flags.lose_in_outage();
            }
        }
    }

    /// Closes the open block if it has become old enough while nothing was sent, and sends its repair packets that are
    /// due by now.
    #[cold]
    fn flush(&mut self, now: Instant) {
        let flush = self.codec.as_ref().and_then(|codec| codec.flush_time());
        if let Some(flush) = flush.filter(|flush| *flush <= now && !self.transmitting) {
            self.remainder = 0;
            // The discipline may have dropped everything that waited when the transmitter became free, after this time.
            self.transmit_next(flush.max(self.busy_until));
            self.catch_up(now);
        }
    }

    /// Removes the packet whose transmission starts now. Repair packets precede queued packets.
    fn next_packet(&mut self, start: Instant) -> Option<QueuedPacket<B>> {
        let Some(codec) = &mut self.codec else { return self.discipline.dequeue(start, &mut self.verdicts) };
        if let Some(packet) = codec.next_repair() {
            return Some(QueuedPacket { since: start, packet });
        }
        let next = self.discipline.dequeue(start, &mut self.verdicts)?;
        codec.encode(start, next.packet.size);
        Some(next)
    }

    /// Starts the next transmission, if the discipline has a packet.
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
        if self.framer.is_some() {
            return self.transmit_frame(start);
        }
        if self.frames.is_some() && self.waits_for_frame(start) {
            return;
        }
        let (QueuedPacket { since, mut packet }, flight) = loop {
            let next = self.next_packet(start);
            self.transmitting = next.is_some();
            let Some(next) = next else { return };
            let Some(beam) = &mut self.beam else { break (next, None) };
            match beam.flight_of(start, &next.packet) {
                Some(flight) => break (next, Some(flight)),
                None => self.go_astray(start, next.packet),
            }
        };
        if let Some(waits) = &mut self.waits {
            waits.note(packet.flags, start.since(since));
        }
        if let Some(growth) = &mut self.growth {
            growth.update(start, self.discipline.backlog().packets > 0);
        }
        let frame = u64::from(packet.size) + self.config.header;
        let rate = flight.and_then(|leg| leg.rate);
        let Transmission { end, free, remainder, delay, fate } = self.transmission(start, frame, rate);
        self.remainder = remainder;
        self.busy_until = free;
        self.last_end = end;
        self.totals.carried_bytes += frame;
        self.totals.busy += u128::from(end.since(start).as_nanos());
        let is_lost =
            self.loss.place() == LossPlace::AfterQueue && self.loss.loses(start, frame, packet.flags, packet.to);
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

    /// Starts the propagation of a packet that has left the transmitter at `end`.
    fn depart(&mut self, packet: Packet<B>, end: Instant, delay: Duration, node: Option<NodeId>) {
        let arrival = match &mut self.changes {
            None => end + delay,
            Some(changes) => changes.arrive(end, delay),
        };
        self.propagate_twice(packet, arrival, node);
    }

    /// Starts the propagation of a packet, and possibly of a copy.
    fn propagate_twice(&mut self, packet: Packet<B>, arrival: Instant, node: Option<NodeId>) {
        let copies = self.disturbance.duplicates() && !packet.flags.is_corrupted();
        if copies {
            self.counters.duplicated += 1;
            if let Some(held) = &mut self.held {
                held.joined(&packet);
            }
            self.propagate(packet.clone(), arrival, node);
        }
        self.propagate(packet, arrival, node);
    }

    /// Returns true if an outage holds the waiting packets, and marks the transmitter as busy until the end of the
    /// outage.
    fn is_held(&mut self, now: Instant) -> bool {
        let Some(changes) = &mut self.changes else { return false };
        changes.advance(now, &mut *self.discipline);
        let Some(until) = changes.held(now) else { return false };
        self.transmitting = true;
        self.busy_until = until;
        self.remainder = 0;
        true
    }

    /// Returns true if the waiting packets must wait for the next frame, and marks the transmitter as busy until then.
    #[cold]
    fn waits_for_frame(&mut self, now: Instant) -> bool {
        let (waiting, _) = self.waiting();
        let Some(frames) = self.frames.as_mut().filter(|_| waiting > 0) else { return false };
        let Some(until) = frames.hold(now, waiting) else { return false };
        self.transmitting = true;
        self.busy_until = until;
        self.remainder = 0;
        true
    }

    /// Adds a packet to the queue of a link whose rate follows demand or which sends in frames.
    #[cold]
    fn enqueue_observed(&mut self, now: Instant, packet: Packet<B>) {
        let before = self.discipline.backlog().packets;
        self.discipline.enqueue(now, packet, &mut self.verdicts);
        let waiting = self.discipline.backlog().packets;
        if let Some(frames) = &mut self.frames {
            frames.join(now, waiting.saturating_sub(before));
        }
        if let Some(framer) = self.framer.as_mut().filter(|framer| before == 0 && framer.serving.is_none()) {
            framer.note_first(now);
        }
        if let Some(growth) = &mut self.growth {
            growth.notice(now, self.transmitting && waiting > 0);
        }
    }

    /// Returns the transmission of a frame that starts now; `rate` overrides the rate of the configuration.
    fn transmission(&mut self, start: Instant, frame: u64, rate: Option<Rate>) -> Transmission {
        if let Some(rate) = rate {
            // The remainder of a nanosecond belongs to the previous packet's rate.
            let end = start + Duration::from_nanos(frame * 8 * 1_000_000_000 / rate.as_bps());
            return Transmission {
                end,
                free: end,
                remainder: 0,
                delay: self.config.delay,
                fate: TransmissionFate::Intact,
            };
        }
        // At most 2^16 · 8 · 10^9 + rate, well inside 64 bits.
        let mut work = frame * 8 * 1_000_000_000 + self.remainder;
        if let Some(growth) = &self.growth {
            work = growth.stretched(work);
        }
        if let Some(changes) = &mut self.changes {
            return match self.growth {
                None => changes.transmit(start, frame, self.remainder),
                Some(_) => changes.by_rate(start, work),
            };
        }
        let (nanos, remainder) = (work / self.config.rate.as_bps(), work % self.config.rate.as_bps());
        let end = start + Duration::from_nanos(nanos);
        Transmission { end, free: end, remainder, delay: self.config.delay, fate: TransmissionFate::Intact }
    }

    /// Starts the propagation of a packet to the far end, possibly delayed for reordering.
    fn propagate(&mut self, packet: Packet<B>, mut arrival: Instant, node: Option<NodeId>) {
        if let Some(extra) = self.disturbance.held_back() {
            self.counters.reordered += 1;
            arrival += extra;
        }
        let sent = OnTheWay { arrival, at: node, packet };
        if self.on_the_way.back().is_none_or(|last| last.arrival <= arrival) {
            self.on_the_way.push_back(sent);
        } else {
            let place = self.on_the_way.partition_point(|other| other.arrival <= arrival);
            self.on_the_way.insert(place, sent);
        }
    }

    /// Returns true if this direction may hold the packet as well; otherwise drops it.
    #[inline(always)]
    fn holds(&mut self, now: Instant, packet: &Packet<B>) -> bool {
        self.held.is_none() || self.holds_more(now, packet)
    }

    fn holds_more(&mut self, now: Instant, packet: &Packet<B>) -> bool {
        let packets = self.on_the_way.len() as u64 + self.discipline.backlog().packets + u64::from(self.is_serving());
        let Some(held) = &mut self.held else { return true };
        let admits = held.admits(packets, packet);
        if admits {
            held.joined(packet);
        } else {
            self.verdicts.full(now, packet.clone());
        }
        admits
    }

    /// Adds the time that packets have waited since the last change of the queue.
    fn count_waiting(&mut self, now: Instant) {
        let elapsed = now.since(self.queued_until).as_nanos();
        self.totals.queued += product(self.discipline.backlog().packets, elapsed);
        self.queued_until = now;
    }
}

impl<B: Clone + Default> LinkModel<B> for QueuedLink<B> {
    fn to(&self) -> NodeId {
        self.to
    }

    fn config(&self) -> &LinkConfig {
        &self.config
    }

    fn counters(&self) -> LinkCounters {
        let Verdicts { marked, full, early, thinned, astray, .. } = self.verdicts;
        let dropped = LinkCounters { dropped_queue: full, dropped_aqm: early, dropped_acks: thinned, ..self.counters };
        let (repair_packets, repaired) = self.codec.as_ref().map_or((0, 0), |codec| (codec.sent, codec.repaired));
        LinkCounters { marked, dropped_route: astray, repair_packets, repaired, ..dropped }
    }

    fn in_flight(&self) -> usize {
        let kept = self.framer.as_ref().map_or(0, |framer| framer.kept());
        let sent = self.on_the_way.len() + kept + self.discipline.backlog().packets as usize;
        let sent = sent + usize::from(self.is_serving());
        match &self.codec {
            None => sent,
            Some(codec) => sent.saturating_add_signed(codec.undelivered()),
        }
    }

    fn totals(&self, end: Instant) -> LinkTotals {
        let mut totals = self.totals;
        totals.busy -= u128::from(self.last_end.since(end).as_nanos());
        if let Some(offered) = self.changes.as_ref().and_then(|changes| changes.offered(end)) {
            let carried = u128::from(totals.carried_bytes.min(offered));
            totals.busy = carried * u128::from(end.as_nanos()) / u128::from(offered.max(1));
        }
        let elapsed = end.since(self.queued_until).as_nanos();
        totals.queued += product(self.discipline.backlog().packets, elapsed);
        totals.frames = self.framer.as_ref().map(|framer| framer.totals(end));
        totals
    }

    fn backlog(&mut self, now: Instant) -> Backlog {
        self.catch_up(now);
        self.discipline.backlog()
    }

    fn measure_waits(&mut self) {
        self.waits = Some(Box::default());
    }

    fn waits(&self) -> Option<&Waits> {
        self.waits.as_deref()
    }

    fn is_coded(&self) -> bool {
        self.codec.is_some()
    }

    fn fault(&self) -> Option<&Fault> {
        self.discipline.fault()
    }

    fn least_crossing(&self) -> Option<Duration> {
        let travels = || self.changes.as_ref().map_or(self.config.delay, |changes| changes.least_delay());
        (self.keeps_order() && !self.is_coded()).then(travels)
    }

    fn send(&mut self, now: Instant, mut packet: Packet<B>) {
        packet.cross();
        self.catch_up(now);
        self.count_waiting(now);
        self.counters.offered += 1;
        let frame = u64::from(packet.size) + self.config.header;
        if let Some(gate) = &mut self.gate {
            if gate.mtu.is_some_and(|mtu| u64::from(packet.size) > mtu.0) {
                self.counters.dropped_mtu += 1;
                self.verdicts.too_large(now, packet);
                return;
            }
            if gate.bucket.as_mut().is_some_and(|bucket| !bucket.conforms(now, frame)) {
                self.counters.dropped_police += 1;
                self.verdicts.police(now, packet);
                return;
            }
        }
        if self.loss.place() == LossPlace::BeforeQueue && self.loss.loses(now, frame, packet.flags, packet.to) {
            self.counters.dropped_error += 1;
            self.verdicts.lost(now, packet);
            return;
        }
        if self.transmitting && self.config.queue == QueueLimit::Packets(0) {
            self.verdicts.full(now, packet);
            return;
        }
        if !self.holds(now, &packet) {
            return;
        }
        if let Some(changes) = &mut self.changes {
            changes.advance(now, &mut *self.discipline);
        }
        self.ask(now);
        if self.growth.is_some() || self.frames.is_some() || self.framer.is_some() {
            self.enqueue_observed(now, packet);
        } else {
            self.discipline.enqueue(now, packet, &mut self.verdicts);
        }
        if !self.transmitting {
            if self.busy_until < now {
                self.remainder = 0;
            }
            self.transmit_next(now);
        }
        self.counters.max_queue = self.counters.max_queue.max(self.discipline.backlog().packets);
    }

    fn receive_at(&mut self, now: Instant) -> Option<(Packet<B>, Option<NodeId>)> {
        self.catch_up(now);
        let (packet, node) = if self.codec.is_some() { (self.decoded(now)?, None) } else { self.arrived(now)? };
        if packet.flags.was_unheard() {
            self.counters.dropped_outage += 1;
        } else if packet.flags.is_corrupted() {
            self.counters.dropped_error += 1;
        } else {
            self.counters.delivered += 1;
        }
        Some((packet, node))
    }

    fn next_wake(&mut self) -> Option<Instant> {
        let first = self.on_the_way.front().map(|first| first.arrival);
        if let Some(codec) = &self.codec {
            return self.next_coded_wake(codec, first);
        }
        if self.discipline.backlog().packets == 0 && !self.is_serving() {
            return first;
        }
        if let Some(beam) = &mut self.beam {
            // Packets that wait for a blind beam are sent when it is aimed again.
            if self.busy_until == Instant::MAX {
                return first;
            }
            let Some(min_delay) = beam.least(self.busy_until).filter(|_| self.transmitting) else { return first };
            let travels = match &self.changes {
                None => self.config.delay + min_delay,
                Some(changes) => changes.least_travel(min_delay),
            };
            let unknown = self.busy_until + travels;
            return Some(first.map_or(unknown, |first| first.min(unknown)));
        }
        // A waiting packet is sent after the one in transmission; it may overtake a delayed one.
        self.next_unknown(self.busy_until, first)
    }

    fn catch_up(&mut self, now: Instant) {
        while self.transmitting && self.busy_until <= now {
            let free = self.busy_until;
            self.count_waiting(free);
            self.transmit_next(free);
        }
        if self.codec.is_some() {
            self.flush(now);
        }
    }

    fn dropped(&mut self) -> Drain<'_, Dropped<B>> {
        self.verdicts.dropped.drain(..)
    }

    fn queued(&self) -> Option<&QueuedLink<B>> {
        Some(self)
    }

    fn queued_mut(&mut self) -> Option<&mut QueuedLink<B>> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
