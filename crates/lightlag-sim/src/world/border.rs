//! The border in the world of a partition: packets that cross it, and notes for the others.

use super::World;
use crate::agenda::Due;
use crate::body::Packet;
use crate::border::Border;
use crate::border::mail::{Arrival, Offer};
use crate::border::moment::{Moment, Turn};
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::queue::DropCause;
use lightlag_net::{EndpointId, Link, LinkId};

impl<T: Tap, B: Border> World<T, B> {
    /// Whether what comes out of a link with a queue arrives in this partition. If not, the far half delivers it.
    #[cold]
    pub(super) fn arrives_here(&mut self, on: LinkId, is_packet: bool) -> bool {
        let Some(part) = self.border.part() else { return true };
        if part.leaves(on) {
            if is_packet {
                part.is_gone(on);
            }
            return false;
        }
        // The near half wakes whenever the whole link would.
        part.is_uncounted = part.enters(on);
        true
    }

    /// Something is about to happen to the connection at an endpoint.
    #[inline(always)]
    pub(super) fn before(&mut self, at: EndpointId) {
        if let Some(part) = self.border.part() {
            part.before(&self.hosts, at);
        }
    }

    /// Something has happened to the connection at an endpoint.
    #[inline(always)]
    pub(super) fn after(&mut self, at: EndpointId) {
        if let Some(part) = self.border.part() {
            part.after(&self.hosts, &self.recorder, at);
        }
    }

    /// Takes in the packets that were posted here: those of all partitions, or of those that post after each window.
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
            for Arrival { at, on, packet } in letters.arrivals.drain(..) {
                let Link::Queued(link) = &mut self.fabric.hops[on.0 as usize].link else { continue };
                if link.expect(at, packet) {
                    self.agenda.arm(Due::Link(on), at);
                }
            }
            for Offer { at, on, packet } in letters.offers.drain(..) {
                if self.recorder.samples_queues() {
                    self.sample_links(source, at.time);
                }
                // Only samples can tell whether a link takes a packet when it is offered or later, but before it arrives.
                match self.fabric.offer_computed(at.time, on, &packet, |packet| *packet) {
                    Some(Ok(Some(wake))) => self.agenda.arm(Due::Link(on), wake),
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

    /// A link drops a packet that another partition has offered to it.
    #[cold]
    fn drop_offered(&mut self, at: Moment, on: LinkId, packet: &Packet) {
        self.drop(at.time, on, packet, DropCause::Queue);
        if let Some(part) = self.border.part().filter(|_| self.recorder.writes()) {
            part.mark(at, Turn::Link, &self.recorder);
        }
    }

    /// Samples links to which another partition offers packets, at all times before `until`: everything offered before is known.
    fn sample_links(&mut self, source: usize, until: Instant) {
        let Some(part) = self.border.part() else { return };
        while let Some(time) = part.sources[source].next_sample.filter(|time| *time < until) {
            for on in part.sources[source].links.iter().copied() {
                self.recorder.queue_sample(time, on, || self.fabric.hops[on.0 as usize].link.backlog(time));
            }
            part.sources[source].next_sample = Some(time + self.recorder.interval());
            part.mark(Moment { time, entity: part.sampler, step: 0 }, Turn::Sample, &self.recorder);
        }
    }

    /// At the end of a window, which may be the last of a round: queues that lead out decide what leaves before it, and whatever
    /// has left is posted.
    pub(crate) fn hand_over(&mut self, end: Instant, is_last: bool) {
        let Some(part) = self.border.part() else { return };
        let last = Instant::from_nanos(end.as_nanos() - 1);
        let mut outlets = std::mem::take(&mut part.outlets);
        for outlet in &mut outlets {
            let Link::Queued(link) = &mut self.fabric.hops[outlet.on.0 as usize].link else { continue };
            link.catch_up(last);
            for (arrival, packet) in link.on_the_way_after(outlet.handed) {
                part.send(outlet.on, arrival, *packet);
                outlet.handed += 1;
            }
        }
        part.outlets = outlets;
        part.reached = end;
        part.post(is_last);
    }
}
