//! Packets on radio media.
//!
//! A medium and each interface have separate events. A packet that an endpoint or another link passes to an interface
//! waits for the event of the interface, which is scheduled at the same time. In its event an interface handles all
//! output of its routing agent and its MAC.

use super::{World, lose};
use crate::body::{Packet, PacketBody};
use crate::border::Border;
use crate::media::{Media, MediaEvent, MediumPacket, MediumPath, PacketOutcome};
use crate::scheduler::ScheduledEvent;
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::InterfaceId;
use lightlag_net::queue::{DropCause, Dropped};

impl<T: Tap, B: Border> World<T, B> {
    /// Schedules the first events of interfaces and media at the start of a run.
    pub(crate) fn arm_interfaces(&mut self) {
        self.ways_change(Instant::ZERO);
        let Some(media) = self.media.as_deref() else { return };
        for interface in (0..media.interfaces.len()).map(InterfaceId::at) {
            if let Some(wake) = media.wake(interface) {
                self.agenda.arm(ScheduledEvent::Interface(interface), wake);
            }
        }
        for medium in 0..media.shared.len() {
            if let Some(wake) = media.medium_wake(medium) {
                self.agenda.arm(ScheduledEvent::Medium(medium), wake);
            }
        }
    }

    /// Passes a packet to the interface of a node.
    #[cold]
    pub(super) fn transmit_on_air(&mut self, now: Instant, interface: InterfaceId, packet: &Packet) {
        let media = self.media.as_deref_mut().expect("an interface has a node");
        let toward = media.exit(interface, packet.destination, &self.fabric.routes);
        media.take_up(interface, toward, packet);
        if let Some(sources) = self.clerks.sources.as_mut().filter(|_| media.tells_of_routes(interface))
            && let PacketBody::Segment(segment) = &packet.body
            && packet.flags.carries_payload()
        {
            let sender = self.hosts.port(packet.to).peer;
            sources.offered(now, MediumPath { interface, toward }, sender, segment.seq);
        }
        self.agenda.arm(ScheduledEvent::Interface(interface), now);
    }

    /// Handles the end of a frame on a medium.
    #[cold]
    pub(super) fn frame_ends(&mut self, now: Instant, medium: usize) {
        let media = self.media.as_deref_mut().expect("a medium has nodes");
        media.medium_wakes(now, medium);
        self.pass_on(now);
        let wake = self.media.as_deref().and_then(|media| media.medium_wake(medium));
        self.agenda.settle(ScheduledEvent::Medium(medium), wake);
    }

    /// Handles the event of an interface.
    #[cold]
    pub(super) fn interface_wakes(&mut self, now: Instant, interface: InterfaceId) {
        let media = self.media.as_deref_mut().expect("an interface has a node");
        if let Err(wake) = media.due(now, interface) {
            return self.agenda.settle(ScheduledEvent::Interface(interface), wake);
        }
        media.interface_wakes(now, interface);
        self.pass_on(now);
        let wake = self.media.as_deref().and_then(|media| media.wake(interface));
        self.agenda.settle(ScheduledEvent::Interface(interface), wake);
    }

    /// Handles the outcomes of packets and route changes that media and agents report, until there are no more.
    fn pass_on(&mut self, now: Instant) {
        while let Some(outcome) = self.media.as_deref_mut().and_then(Media::next_outcome) {
            match outcome {
                PacketOutcome::Arrived { interface, parcel } => self.comes_from_air(now, interface, parcel),
                PacketOutcome::Dropped { interface, packet, cause } => self.drop_on_air(now, interface, &packet, cause),
                PacketOutcome::Route { way, is_there } => self.tell_of_route(now, way, is_there),
            }
        }
        let Self { media, agenda, tap, .. } = self;
        let Some(media) = media.as_deref_mut() else { return };
        media.report_frames(tap);
        media.rearm(|turn, time| {
            let due = match turn {
                MediaEvent::Medium(medium) => ScheduledEvent::Medium(medium),
                MediaEvent::Interface(interface) => ScheduledEvent::Interface(interface),
            };
            agenda.arm(due, time);
        });
    }

    /// Handles a packet that the node of an interface has received over the air.
    fn comes_from_air(&mut self, now: Instant, interface: InterfaceId, mut parcel: Box<MediumPacket>) {
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
            self.recorder.dropped(interface.into(), &dropped, self.hosts.addressees());
            return self.hosts.discard(&packet);
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

    /// Notifies the senders that use a path over a medium that its route broke or was restored.
    fn tell_of_route(&mut self, now: Instant, way: MediumPath, is_there: bool) {
        let media = self.media.as_deref().expect("a path starts at an interface");
        let node = media.interfaces[way.interface.index()].node;
        let Some(sources) = &mut self.clerks.sources else { return };
        let tells = if is_there { sources.restored(way, node) } else { sources.broken(now, way, node) };
        tells.into_iter().for_each(|tell| self.tell(now, tell));
    }

    /// Records the drop of a packet by an interface.
    fn drop_on_air(&mut self, now: Instant, interface: InterfaceId, packet: &Packet, cause: DropCause) {
        let media = self.media.as_deref_mut().expect("an interface has a node");
        media.dropped += 1;
        let dropped = Dropped { at: now, packet: *packet, cause };
        lose(&mut self.tap, &mut self.recorder, &mut self.hosts, interface.into(), &dropped);
    }
}
