//! The work of stations and of sources on media in the world: messages to the ends of flows, through the network or at once.

use super::World;
use crate::agenda::Due;
use crate::body::{Body, Other, Packet, Signal};
use crate::border::Border;
use crate::clerks::stations::Tell;
use crate::hosts::tcp::Tcp;
use crate::ids::FlowIndex;
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::queue::DropCause;
use lightlag_net::{EndpointId, LinkId, NodeId, PacketFlags};
use lightlag_wire::signal;

impl<T: Tap, B: Border> World<T, B> {
    /// A packet came out of a link, which leads to `node`, damaged.
    #[cold]
    pub(super) fn arrives_damaged(&mut self, now: Instant, on: LinkId, node: NodeId, packet: &Packet) {
        let cause = if packet.flags.was_unheard() { DropCause::Outage } else { DropCause::Error };
        self.drop(now, on, packet, cause);
        let Body::Segment(segment) = &packet.body else { return };
        if packet.flags.was_unheard() {
            return;
        }
        let receiver = packet.to;
        if packet.destination == node {
            // Its own interface saw it.
            self.hosts.sees_damage(now, receiver);
        }
        if let Some(stations) = self.clerks.stations.as_mut().filter(|_| packet.flags.carries_payload()) {
            let ends = [self.hosts.port(receiver).peer, receiver];
            if stations.damaged(now, on, ends, segment.seq) {
                self.agenda.arm(Due::Stations, now);
            }
        }
    }

    /// A packet came to a link that stations may watch.
    #[cold]
    pub(super) fn note_user(&mut self, now: Instant, on: LinkId, packet: &Packet) {
        let (Some(stations), Body::Segment(segment)) = (&mut self.clerks.stations, &packet.body) else { return };
        let sender = self.hosts.port(packet.to).peer;
        if packet.flags.carries_payload() && stations.offered(now, on, sender, segment.seq) {
            self.agenda.arm(Due::Stations, now);
        }
    }

    /// Stations tell what there is to tell.
    #[cold]
    pub(super) fn stations_tell(&mut self, now: Instant) {
        while let Some(tell) = self.clerks.stations.as_mut().and_then(|stations| stations.take(now)) {
            self.tell(now, tell);
        }
        self.agenda.settle(Due::Stations, self.clerks.stations.as_ref().and_then(|stations| stations.next()));
    }

    /// An end of a flow is told: at once where it is, through the network elsewhere.
    pub(super) fn tell(&mut self, now: Instant, Tell { endpoint, signal }: Tell) {
        let (destination, flow) = (self.hosts.port(endpoint).node, self.hosts.port(endpoint).flow);
        if destination == signal.station {
            let is_heeded = self.heed(now, endpoint, signal);
            self.count(flow, |counts| counts.local += u64::from(is_heeded));
            return;
        }
        let packet = Packet {
            destination,
            to: endpoint,
            size: (self.ip_header + signal::LEN as u32) as u16,
            flags: PacketFlags::new(false),
            ttl: self.ttl,
            body: Body::Other(Other::Signal(signal)),
        };
        let out =
            self.fabric.routes.next(signal.station, destination).expect("who sends over a link is reached from it");
        self.sent += 1;
        self.count(flow, |counts| counts.sent += 1);
        self.tap.sent(now, out.unpack(), &packet, || None);
        self.transmit(now, out, &packet);
    }

    /// A message arrives at its destination.
    #[cold]
    pub(super) fn signal_arrives(&mut self, now: Instant, packet: &Packet, signal: Signal) {
        self.tap.received(now, packet, || None);
        let at = packet.to;
        let is_heeded = self.heed(now, at, signal);
        let flow = self.hosts.port(at).flow;
        self.count(flow, |counts| if is_heeded { counts.received += 1 } else { counts.ignored += 1 });
    }

    /// An endpoint takes a notification, and sends what follows from it. Returns false if it ignores it.
    fn heed(&mut self, now: Instant, at: EndpointId, signal: Signal) -> bool {
        if !self.hosts.heed(now, at, signal) {
            return false;
        }
        self.serve::<Tcp>(now, at);
        true
    }

    fn count(&mut self, flow: FlowIndex, add: impl FnOnce(&mut crate::clerks::stations::Counts)) {
        if let Some(stations) = &mut self.clerks.stations {
            add(stations.counts(flow));
        }
    }
}
