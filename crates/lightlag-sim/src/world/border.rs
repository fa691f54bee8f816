//! The border in the world of a partition: packets that cross it, and notes for the others.

use super::World;
use crate::body::Packet;
use crate::partition::border::Border;
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::queue::DropCause;
use lightlag_net::{Link, LinkId, QueueFull};

impl<T: Tap, B: Border> World<T, B> {
    /// A packet is given to a link that leads out. Links that compute their departures know at once when it arrives; of the
    /// others, [`hand_over`](Self::hand_over) tells after the window.
    #[inline(never)]
    pub(super) fn transmit_over_border(&mut self, now: Instant, on: LinkId, packet: &Packet) {
        let Some(part) = self.border.part() else { return };
        let Some(near) = part.near(on) else { return self.transmit_queued(now, on, packet) };
        match near.send(now, &packet.without_body()) {
            Ok(()) => {
                let (arrival, taken) = near.last_taken().expect("a packet was taken");
                let (flags, ttl) = (taken.flags, taken.ttl);
                part.send(on, arrival, Packet { flags, ttl, ..*packet });
            }
            Err(QueueFull) => self.drop(now, on, packet, DropCause::Queue),
        }
    }

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
    pub(super) fn before(&mut self, at: usize) {
        if let Some(part) = self.border.part() {
            part.before(&self.hosts, at);
        }
    }

    /// Something has happened to the connection at an endpoint.
    #[inline(always)]
    pub(super) fn after(&mut self, at: usize) {
        if let Some(part) = self.border.part() {
            part.after(&self.hosts, &self.recorder, at);
        }
    }

    /// Takes in the packets that the last window sent here.
    pub(crate) fn take_in(&mut self) {
        let Some(part) = self.border.part() else { return };
        for inbox in &mut part.inboxes {
            inbox.earliest = Instant::MAX;
            for crossing in inbox.packets.drain(..) {
                if self.fabric.hops[crossing.on.0 as usize].link.expect(crossing.arrival, &crossing.packet) {
                    self.agenda.arm(crate::agenda::Due::Link(crossing.on), crossing.arrival);
                }
            }
        }
    }

    /// At the end of a window: queues that lead out decide what leaves before it, and what has arrived is forgotten.
    pub(crate) fn hand_over(&mut self, end: Instant) {
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
        part.near.iter_mut().for_each(|near| near.link.forget_before(end));
    }
}
