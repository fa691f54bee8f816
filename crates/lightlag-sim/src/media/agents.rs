//! Routing agents: their forwarding decisions, and the actions that they request.

use super::packet::Unaddressed;
use super::{FramePayload, Media, MediumPacket, MediumPath, PacketOutcome};
use lightlag_core::Instant;
use lightlag_net::queue::DropCause;
use lightlag_net::{InterfaceId, NodeId};
use lightlag_routing::{NodeAction, Receiver, Verdict};
use std::sync::Arc;

impl Media {
    /// Forwards a packet that was received over the air on the same interface.
    pub(crate) fn forward(&mut self, now: Instant, interface: InterfaceId, parcel: Box<MediumPacket>) {
        self.route(now, interface, parcel);
        self.act(now, interface);
    }

    /// Gets the next hop of a packet from the agent of an interface, and sends the packet there. If there is no route
    /// yet, the packet waits; if there is none, it is dropped.
    pub(super) fn route(&mut self, now: Instant, interface: InterfaceId, mut parcel: Box<MediumPacket>) {
        let Self { interfaces, shared, .. } = self;
        let state = &mut interfaces[interface.index()];
        let heading = parcel.heading();
        match state.agent.route(now, &heading, parcel.from, &mut parcel.extra, &mut shared[state.medium]) {
            Verdict::Via(next) => self.send(now, interface, next, parcel),
            Verdict::Wait => self.keep(now, interface, parcel),
            Verdict::Unreachable => self.drop_unrouted(interface, &parcel),
        }
    }

    /// Stores a packet until there is a route. If too many packets wait, the oldest is dropped.
    pub(super) fn keep(&mut self, now: Instant, interface: InterfaceId, parcel: Box<MediumPacket>) {
        if let Some(oldest) = self.interfaces[interface.index()].waiting.keep(now, parcel) {
            self.drop_unrouted(interface, &oldest);
        }
    }

    pub(super) fn drop_unrouted(&mut self, interface: InterfaceId, parcel: &MediumPacket) {
        self.interfaces[interface.index()].no_route += 1;
        self.outcomes.push_back(PacketOutcome::Dropped { interface, packet: parcel.packet, cause: DropCause::NoRoute });
    }

    /// Sends a packet to a neighbour.
    fn send(&mut self, now: Instant, interface: InterfaceId, next: NodeId, mut parcel: Box<MediumPacket>) {
        parcel.trail.add(self.interfaces[interface.index()].node);
        let size = u32::from(parcel.packet.size) + parcel.extra.size();
        self.address(now, interface, Unaddressed { next, size, load: FramePayload::Packet(parcel) });
    }

    /// Records that the agent of an interface received input, so that it may have a new deadline.
    pub(super) fn note_told(&mut self, interface: InterfaceId) {
        self.interfaces[interface.index()].look_ahead();
        self.told.push(interface);
    }

    /// Executes all actions that the agent and the address resolver of an interface request.
    pub(super) fn act(&mut self, now: Instant, interface: InterfaceId) {
        loop {
            if let Some(action) = self.interfaces[interface.index()].agent.poll_action() {
                self.route_as_asked(now, interface, action);
            } else if let Some(action) = self.interfaces[interface.index()].resolver.poll_action() {
                self.resolve_as_asked(now, interface, action);
            } else {
                return self.note_told(interface);
            }
        }
    }

    fn route_as_asked(&mut self, now: Instant, interface: InterfaceId, action: NodeAction) {
        match action {
            NodeAction::Send { to, message, ttl } => {
                let size = self.message_header() + message.size();
                let load = FramePayload::Routing(Arc::new(message), ttl);
                match to {
                    Receiver::All => self.broadcast(now, interface, size, load),
                    Receiver::One(next) => self.address(now, interface, Unaddressed { next, size, load }),
                }
            }
            NodeAction::Release { destination } => {
                for parcel in self.interfaces[interface.index()].waiting.take(destination) {
                    self.route(now, interface, parcel);
                }
                self.tell_of_route(interface, destination, true);
            }
            NodeAction::Broken { destination } => self.tell_of_route(interface, destination, false),
            NodeAction::Discard { destination } => {
                for parcel in self.interfaces[interface.index()].waiting.take(destination) {
                    self.drop_unrouted(interface, &parcel);
                }
            }
        }
    }

    /// Returns true if senders at an interface are notified of route changes (`elfn`).
    pub(crate) fn tells_of_routes(&self, interface: InterfaceId) -> bool {
        self.shared[self.interfaces[interface.index()].medium].elfn
    }

    fn tell_of_route(&mut self, interface: InterfaceId, toward: NodeId, is_there: bool) {
        if self.tells_of_routes(interface) {
            let way = MediumPath { interface, toward };
            self.outcomes.push_back(PacketOutcome::Route { way, is_there });
        }
    }
}
