//! The border in the world of a partition: packets that cross it, and records for the other partitions.

use super::World;
use crate::body::Packet;
use crate::border::Border;
use crate::border::event_key::{EventKey, PartitionTurn};
use crate::border::mailbox::{Arrival, LinkOffer};
use crate::scheduler::ScheduledEvent;
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::queue::DropCause;
use lightlag_net::{EndpointId, LinkId, LinkModel};

impl<T: Tap, B: Border> World<T, B> {
    /// Returns true if packets from a queued link arrive in this partition. If not, the partition at the far end
    /// delivers them.
    #[cold]
    pub(super) fn arrives_here(&mut self, on: LinkId, packet: Option<&Packet>) -> bool {
        let Some(part) = self.border.part() else { return true };
        if part.leaves(on) {
            if let Some(packet) = packet {
                part.is_gone(on);
                self.hosts.discard(packet);
            }
            return false;
        }
        // The near half has an event whenever the complete link would.
        part.is_uncounted = part.enters(on);
        true
    }

    /// Records the account of the sender at an endpoint before an event.
    #[inline(always)]
    pub(super) fn before(&mut self, endpoint: EndpointId) {
        if let Some(part) = self.border.part() {
            part.before(&self.hosts, endpoint);
        }
    }

    /// Records the progress of the data at an endpoint after an event.
    #[inline(always)]
    pub(super) fn after(&mut self, endpoint: EndpointId) {
        if let Some(part) = self.border.part() {
            part.after(&self.hosts, &self.recorder, endpoint);
        }
    }

    /// Handles the packets that were posted to this partition: by all partitions, or only by those that post after each
    /// window.
    pub(crate) fn take_in(&mut self, of_all: bool) {
        let Some(sources) = self.border.of().map(|part| part.sources.len()) else { return };
        for source in 0..sources {
            let Some(part) = self.border.part() else { return };
            if part.sources[source].is_far && !of_all {
                continue;
            }
            let (from, mut letters) = (part.sources[source].from, std::mem::take(&mut part.room));
            let reached = part.mail.reached(from);
            part.mail.take(from, part.number, &mut letters);
            for Arrival { at, on, mut packet, contents } in letters.arrivals.drain(..) {
                self.hosts.attach(&mut packet, contents);
                let Some(link) = self.fabric.hops[on.0 as usize].link.queued_mut() else { continue };
                if link.expect(at, packet) {
                    self.agenda.arm(ScheduledEvent::Link(on), at);
                }
            }
            for LinkOffer { at, on, mut packet, contents } in letters.offers.drain(..) {
                self.hosts.attach(&mut packet, contents);
                if self.recorder.samples_queues() {
                    self.sample_links(source, at.time);
                }
                // Only samples show whether a link takes a packet at its offer or later, but before its arrival.
                match self.fabric.offer_computed(at.time, on, &packet, |packet| *packet) {
                    Some(Ok(Some(wake))) => self.agenda.arm(ScheduledEvent::Link(on), wake),
                    Some(Ok(None)) => {}
                    _ => self.drop_offered(at, on, &packet),
                }
            }
            self.sample_links(source, reached);
            if let Some(part) = self.border.part() {
                part.room = letters;
            }
        }
    }

    /// Records that a link dropped a packet that another partition had offered to it.
    #[cold]
    fn drop_offered(&mut self, key: EventKey, on: LinkId, packet: &Packet) {
        self.drop(key.time, on, packet, DropCause::Queue);
        if let Some(part) = self.border.part().filter(|_| self.recorder.writes()) {
            part.mark(key, PartitionTurn::Link, &self.recorder);
        }
    }

    /// Samples the links that carry packets from another partition, at all sample times before `until`. Every earlier
    /// offer must have been received.
    fn sample_links(&mut self, source: usize, until: Instant) {
        let Some(part) = self.border.part() else { return };
        while let Some(time) = part.sources[source].next_sample.filter(|time| *time < until) {
            for on in part.sources[source].links.iter().copied() {
                self.recorder.queue_sample(time, on, || self.fabric.hops[on.0 as usize].link.backlog(time));
            }
            part.sources[source].next_sample = Some(time + self.recorder.interval());
            part.mark(EventKey { time, entity: part.sampler, step: 0 }, PartitionTurn::Sample, &self.recorder);
        }
    }

    /// Frees the contents of the packets on the far halves of queued links, before the near halves become the complete
    /// links.
    pub(crate) fn forget_far_halves(&mut self) {
        let Some(part) = self.border.part() else { return };
        let cut = part.cut.clone();
        for on in cut.links().filter(|on| part.enters(*on) && cut.stands(*on) != part.number) {
            let Some(link) = self.fabric.hops[on.0 as usize].link.queued_mut() else { continue };
            link.on_the_way_after(0).for_each(|(_, packet)| self.hosts.discard(packet));
        }
    }

    /// Ends a window. Outgoing queues make the decisions that are due before its end, and outgoing packets are posted.
    /// `is_last`: the window is the last of its round.
    pub(crate) fn hand_over(&mut self, end: Instant, is_last: bool) {
        let Some(part) = self.border.part() else { return };
        let last = Instant::from_nanos(end.as_nanos() - 1);
        let mut outlets = std::mem::take(&mut part.outlets);
        for outlet in &mut outlets {
            let Some(link) = self.fabric.hops[outlet.on.0 as usize].link.queued_mut() else { continue };
            link.catch_up(last);
            for (arrival, packet) in link.on_the_way_after(outlet.handed) {
                part.send(outlet.on, arrival, *packet, &self.hosts);
                outlet.handed += 1;
            }
        }
        part.outlets = outlets;
        part.reached = end;
        part.post(is_last);
    }
}
