//! Notifications from stations and media to endpoints, directly at the same node or through the network.

use super::World;
use crate::body::{Other, Packet, PacketBody, Signal};
use crate::border::Border;
use crate::hosts::tcp::Tcp;
use crate::housekeeping::stations::Tell;
use crate::ids::FlowIndex;
use crate::scheduler::ScheduledEvent;
use crate::tap::Tap;
use lightlag_core::Instant;
use lightlag_net::queue::DropCause;
use lightlag_net::{EndpointId, LinkId, NodeId, PacketFlags};
use lightlag_wire::signal;

impl<T: Tap, B: Border> World<T, B> {
    /// Handles a damaged packet that arrives at `node` over a link.
    #[cold]
    pub(super) fn arrives_damaged(&mut self, now: Instant, on: LinkId, node: NodeId, packet: &Packet) {
        let cause = if packet.flags.was_unheard() { DropCause::Outage } else { DropCause::Error };
        self.drop(now, on, packet, cause);
        let PacketBody::Segment(segment) = &packet.body else { return };
        if packet.flags.was_unheard() {
            return;
        }
        let receiver = packet.to;
        if packet.destination == node {
            // Its own interface received it.
            self.hosts.sees_damage(now, receiver);
        }
        if let Some(stations) = self.clerks.stations.as_mut().filter(|_| packet.flags.carries_payload()) {
            let ends = [self.hosts.port(receiver).peer, receiver];
            if stations.damaged(now, on, ends, segment.seq) {
                self.agenda.arm(ScheduledEvent::Stations, now);
            }
        }
    }

    /// Records a packet that is offered to a link that may have stations.
    #[cold]
    pub(super) fn note_user(&mut self, now: Instant, on: LinkId, packet: &Packet) {
        let (Some(stations), PacketBody::Segment(segment)) = (&mut self.clerks.stations, &packet.body) else { return };
        let sender = self.hosts.port(packet.to).peer;
        if packet.flags.carries_payload() && stations.offered(now, on, sender, segment.seq) {
            self.agenda.arm(ScheduledEvent::Stations, now);
        }
    }

    /// Sends the messages of the stations that are due.
    #[cold]
    pub(super) fn stations_tell(&mut self, now: Instant) {
        while let Some(tell) = self.clerks.stations.as_mut().and_then(|stations| stations.take(now)) {
            self.tell(now, tell);
        }
        self.agenda
            .settle(ScheduledEvent::Stations, self.clerks.stations.as_ref().and_then(|stations| stations.next()));
    }

    /// Notifies an endpoint of a flow: immediately if the endpoint is at the notifying node, otherwise through the
    /// network.
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
            body: PacketBody::Other(Other::Signal(signal)),
        };
        let out = self
            .fabric
            .routes
            .next(signal.station, destination)
            .expect("the sender of a packet on a link is reachable from the link");
        self.sent += 1;
        self.count(flow, |counts| counts.sent += 1);
        self.tap.sent(now, out.unpack(), &packet, || None);
        self.transmit(now, out, &packet);
    }

    /// Handles a notification that arrives at its destination.
    #[cold]
    pub(super) fn signal_arrives(&mut self, now: Instant, packet: &Packet, signal: Signal) {
        self.tap.received(now, packet, || None);
        let endpoint = packet.to;
        let is_heeded = self.heed(now, endpoint, signal);
        let flow = self.hosts.port(endpoint).flow;
        self.count(flow, |counts| if is_heeded { counts.received += 1 } else { counts.ignored += 1 });
    }

    /// Passes a notification to an endpoint, and sends the resulting packets. Returns false if the endpoint ignores the
    /// notification.
    fn heed(&mut self, now: Instant, endpoint: EndpointId, signal: Signal) -> bool {
        if !self.hosts.heed(now, endpoint, signal) {
            return false;
        }
        self.serve::<Tcp>(now, endpoint);
        true
    }

    fn count(&mut self, flow: FlowIndex, add: impl FnOnce(&mut crate::housekeeping::stations::NotificationCounts)) {
        if let Some(stations) = &mut self.clerks.stations {
            add(stations.counts(flow));
        }
    }
}
