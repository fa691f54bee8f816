//! Packets on radio media.
//!
//! A medium and each interface have turns of their own. A packet that an endpoint or another link gives to an interface
//! waits for the turn of the interface, at the same instant. In its turn an interface passes on what its agent and its MAC
//! have to do until nothing is left.

use super::World;
use crate::agenda::Due;
use crate::body::{Body, Packet};
use crate::border::Border;
use crate::media::{Media, Outcome, Parcel, Turn, Way};
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::InterfaceId;
use lightlag_net::queue::{DropCause, Dropped};

impl<T: Tap, B: Border> World<T, B> {
    /// Wakes every interface that has something to do at the start.
    pub(crate) fn arm_interfaces(&mut self) {
        self.ways_change(Instant::ZERO);
        let Some(media) = self.media.as_deref() else { return };
        for interface in (0..media.interfaces.len()).map(InterfaceId::at) {
            if let Some(wake) = media.wake(interface) {
                self.agenda.arm(Due::Interface(interface), wake);
            }
        }
        for medium in 0..media.shared.len() {
            if let Some(wake) = media.medium_wake(medium) {
                self.agenda.arm(Due::Medium(medium), wake);
            }
        }
    }

    /// A packet is given to the interface of a node.
    #[cold]
    pub(super) fn transmit_on_air(&mut self, now: Instant, interface: InterfaceId, packet: &Packet) {
        let media = self.media.as_deref_mut().expect("an interface has a node");
        let toward = media.exit(interface, packet.destination, &self.fabric.routes);
        media.take_up(interface, toward, packet);
        if let Some(sources) = self.clerks.sources.as_mut().filter(|_| media.tells_of_routes(interface))
            && let Body::Segment(segment) = &packet.body
            && packet.flags.carries_payload()
        {
            let sender = self.hosts.port(packet.to).peer;
            sources.offered(now, Way { interface, toward }, sender, segment.seq);
        }
        self.agenda.arm(Due::Interface(interface), now);
    }

    /// A frame ends on a medium.
    #[cold]
    pub(super) fn frame_ends(&mut self, now: Instant, medium: usize) {
        let media = self.media.as_deref_mut().expect("a medium has nodes");
        media.medium_wakes(now, medium);
        self.pass_on(now);
        let wake = self.media.as_deref().and_then(|media| media.medium_wake(medium));
        self.agenda.settle(Due::Medium(medium), wake);
    }

    /// An interface has its turn.
    #[cold]
    pub(super) fn interface_wakes(&mut self, now: Instant, interface: InterfaceId) {
        let media = self.media.as_deref_mut().expect("an interface has a node");
        if let Err(wake) = media.due(now, interface) {
            return self.agenda.settle(Due::Interface(interface), wake);
        }
        media.interface_wakes(now, interface);
        self.pass_on(now);
        let wake = self.media.as_deref().and_then(|media| media.wake(interface));
        self.agenda.settle(Due::Interface(interface), wake);
    }

    /// Takes what the media and agents have brought about, until there is nothing.
    fn pass_on(&mut self, now: Instant) {
        while let Some(outcome) = self.media.as_deref_mut().and_then(Media::next_outcome) {
            match outcome {
                Outcome::Arrived { interface, parcel } => self.comes_from_air(now, interface, parcel),
                Outcome::Dropped { interface, packet, cause } => self.drop_on_air(now, interface, &packet, cause),
                Outcome::Route { way, is_there } => self.tell_of_route(now, way, is_there),
            }
        }
        let Self { media, agenda, tap, .. } = self;
        let Some(media) = media.as_deref_mut() else { return };
        media.report_frames(tap);
        media.rearm(|turn, at| {
            let due = match turn {
                Turn::Medium(medium) => Due::Medium(medium),
                Turn::Interface(interface) => Due::Interface(interface),
            };
            agenda.arm(due, at);
        });
    }

    /// A packet comes out of the air at the node of an interface.
    fn comes_from_air(&mut self, now: Instant, interface: InterfaceId, mut parcel: Box<Parcel>) {
        let media = self.media.as_deref_mut().expect("an interface has a node");
        let node = media.interfaces[interface.index()].node;
        parcel.packet.cross();
        let packet = parcel.packet;
        if packet.destination == node {
            media.delivered(now, interface, &parcel);
            self.leaves_air(now, interface, &parcel);
            return self.deliver(now, &packet);
        }
        if packet.ttl == 0 {
            media.dropped += 1;
            let dropped = Dropped { at: now, packet, cause: DropCause::Ttl };
            self.tap.expired(now, node, &packet);
            return self.recorder.dropped(interface.into(), &dropped, self.hosts.addressees());
        }
        let next = self.fabric.routes.next(node, packet.destination);
        let next = next.expect("every destination was checked to be reachable");
        self.tap.forwarded(now, node, next.unpack(), &packet);
        if next != interface.into() {
            self.leaves_air(now, interface, &parcel);
            return self.transmit(now, next, &packet);
        }
        let media = self.media.as_deref_mut().expect("an interface has a node");
        media.forward(now, interface, parcel);
    }

    /// The route of a way broke, or there is one again: its senders are told.
    fn tell_of_route(&mut self, now: Instant, way: Way, is_there: bool) {
        let media = self.media.as_deref().expect("a way starts at an interface");
        let node = media.interfaces[way.interface.index()].node;
        let Some(sources) = &mut self.clerks.sources else { return };
        let tells = if is_there { sources.restored(way, node) } else { sources.broken(now, way, node) };
        tells.into_iter().for_each(|tell| self.tell(now, tell));
    }

    /// An interface has dropped a packet.
    fn drop_on_air(&mut self, now: Instant, interface: InterfaceId, packet: &Packet, cause: DropCause) {
        let media = self.media.as_deref_mut().expect("an interface has a node");
        media.dropped += 1;
        let dropped = Dropped { at: now, packet: *packet, cause };
        self.tap.dropped(interface.into(), &dropped);
        self.recorder.dropped(interface.into(), &dropped, self.hosts.addressees());
    }
}
