//! Routing agents: where they send packets, and what they ask for.

use super::parcel::Unaddressed;
use super::{Load, Media, Outcome, Parcel, Way};
use lightlag_core::Instant;
use lightlag_net::queue::DropCause;
use lightlag_net::{InterfaceId, NodeId};
use lightlag_routing::{Action, Receiver, Verdict};
use std::sync::Arc;

impl Media {
    /// A packet came out of the air, and goes on over the same interface.
    pub(crate) fn forward(&mut self, now: Instant, interface: InterfaceId, parcel: Box<Parcel>) {
        self.route(now, interface, parcel);
        self.act(now, interface);
    }

    /// Asks the agent of an interface where a packet goes.
    pub(super) fn route(&mut self, now: Instant, interface: InterfaceId, mut parcel: Box<Parcel>) {
        let Self { interfaces, shared, .. } = self;
        let of = &mut interfaces[interface.index()];
        let heading = parcel.heading();
        match of.agent.route(now, &heading, parcel.from, &mut parcel.extra, &mut shared[of.medium]) {
            Verdict::Via(next) => self.send(now, interface, next, parcel),
            Verdict::Wait => self.keep(now, interface, parcel),
            Verdict::Unreachable => self.drop_unrouted(interface, &parcel),
        }
    }

    /// Keeps a packet until there is a route.
    pub(super) fn keep(&mut self, now: Instant, interface: InterfaceId, parcel: Box<Parcel>) {
        if let Some(oldest) = self.interfaces[interface.index()].waiting.keep(now, parcel) {
            self.drop_unrouted(interface, &oldest);
        }
    }

    pub(super) fn drop_unrouted(&mut self, interface: InterfaceId, parcel: &Parcel) {
        self.interfaces[interface.index()].no_route += 1;
        self.outcomes.push_back(Outcome::Dropped { interface, packet: parcel.packet, cause: DropCause::NoRoute });
    }

    /// Sends a packet to a neighbour.
    fn send(&mut self, now: Instant, interface: InterfaceId, next: NodeId, mut parcel: Box<Parcel>) {
        parcel.trail.add(self.interfaces[interface.index()].node);
        let size = u32::from(parcel.packet.size) + parcel.extra.size();
        self.address(now, interface, Unaddressed { next, size, load: Load::Packet(parcel) });
    }

    /// The agent of an interface was told something: it may have a new deadline.
    pub(super) fn note_told(&mut self, interface: InterfaceId) {
        self.interfaces[interface.index()].look_ahead();
        self.told.push(interface);
    }

    /// Does what the agent and the resolver of an interface ask for, until they ask for nothing.
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

    fn route_as_asked(&mut self, now: Instant, interface: InterfaceId, action: Action) {
        match action {
            Action::Send { to, message, ttl } => {
                let size = self.message_header() + message.size();
                let load = Load::Routing(Arc::new(message), ttl);
                match to {
                    Receiver::All => self.broadcast(now, interface, size, load),
                    Receiver::One(next) => self.address(now, interface, Unaddressed { next, size, load }),
                }
            }
            Action::Release { destination } => {
                for parcel in self.interfaces[interface.index()].waiting.take(destination) {
                    self.route(now, interface, parcel);
                }
                self.tell_of_route(interface, destination, true);
            }
            Action::Broken { destination } => self.tell_of_route(interface, destination, false),
            Action::Discard { destination } => {
                for parcel in self.interfaces[interface.index()].waiting.take(destination) {
                    self.drop_unrouted(interface, &parcel);
                }
            }
        }
    }

    /// Whether sources at an interface are told of their routes.
    pub(crate) fn tells_of_routes(&self, interface: InterfaceId) -> bool {
        self.shared[self.interfaces[interface.index()].medium].elfn
    }

    fn tell_of_route(&mut self, interface: InterfaceId, toward: NodeId, is_there: bool) {
        if self.tells_of_routes(interface) {
            let way = Way { interface, toward };
            self.outcomes.push_back(Outcome::Route { way, is_there });
        }
    }
}
