//! Packets on media, and what happens to them.

use super::Trail;
use crate::body::Packet;
use lightlag_net::queue::DropCause;
use lightlag_net::{InterfaceId, NodeId};
use lightlag_routing::{Extra, Heading, Message, arp};
use std::sync::Arc;

/// A packet on a medium, or on its way there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel {
    pub(crate) packet: Packet,
    /// The node at which it came to the medium, and the one at which it leaves it.
    pub(crate) origin: NodeId,
    pub(crate) toward: NodeId,
    /// The neighbour from which it came; none at its origin.
    pub(crate) from: Option<NodeId>,
    /// The header that the agents add to it.
    pub(crate) extra: Extra,
    pub(crate) trail: Trail,
}

impl Parcel {
    /// The parts of it that agents read.
    pub(super) fn heading(&self) -> Heading {
        let Self { packet, origin, toward, .. } = self;
        Heading { origin: *origin, destination: *toward, ttl: packet.ttl, size: u32::from(packet.size) }
    }
}

/// The payload of frames.
#[derive(Clone, Debug)]
pub(crate) enum Load {
    Packet(Box<Parcel>),
    /// A message between agents, and its time to live.
    Routing(Arc<Message>, u8),
    /// A question for an address on the medium, or its answer.
    Address(arp::Packet),
}

impl Load {
    /// Whether it is the packet of an endpoint.
    pub(super) fn is_packet(&self) -> bool {
        matches!(self, Self::Packet(_))
    }
}

/// A frame for a neighbour whose address is not known yet.
#[derive(Clone, Debug)]
pub(super) struct Unaddressed {
    pub(super) next: NodeId,
    pub(super) size: u32,
    pub(super) load: Load,
}

/// Something that happened to a packet or a route.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It came out of the air at an interface.
    Arrived { interface: InterfaceId, parcel: Box<Parcel> },
    /// An interface dropped it.
    Dropped { interface: InterfaceId, packet: Packet, cause: DropCause },
    /// Not of a packet: the route of a way broke, or there is one again.
    Route { way: Way, is_there: bool },
}

/// A way over a medium: the interface at which packets come to it, and the node at which they leave it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Way {
    pub(crate) interface: InterfaceId,
    pub(crate) toward: NodeId,
}
