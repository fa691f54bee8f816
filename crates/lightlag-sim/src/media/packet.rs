//! Packets on media, and their outcomes.

use super::HopRecord;
use crate::body::Packet;
use lightlag_net::queue::DropCause;
use lightlag_net::{InterfaceId, NodeId};
use lightlag_routing::{Message, PacketInfo, RoutingHeader, arp};
use std::sync::Arc;

/// A packet that is on a medium or waits for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediumPacket {
    pub(crate) packet: Packet,
    /// Nodes where the packet enters and leaves the medium.
    pub(crate) origin: NodeId,
    pub(crate) toward: NodeId,
    /// Neighbour that sent the packet; `None` at the packet's origin.
    pub(crate) from: Option<NodeId>,
    /// Header that the routing agents add to the packet.
    pub(crate) extra: RoutingHeader,
    pub(crate) trail: HopRecord,
}

impl MediumPacket {
    /// Returns the fields that routing agents read.
    pub(super) fn heading(&self) -> PacketInfo {
        let Self { packet, origin, toward, .. } = self;
        PacketInfo { origin: *origin, destination: *toward, ttl: packet.ttl, size: u32::from(packet.size) }
    }
}

/// Payload of frames.
#[derive(Clone, Debug)]
pub(crate) enum FramePayload {
    Packet(Box<MediumPacket>),
    /// A message between routing agents, and its TTL.
    Routing(Arc<Message>, u8),
    /// An address request on the medium, or its reply.
    Address(arp::ArpPacket),
}

impl FramePayload {
    /// Returns true if the payload is a packet of an endpoint.
    pub(super) fn is_packet(&self) -> bool {
        matches!(self, Self::Packet(_))
    }
}

/// A frame for a neighbour whose address is still unknown.
#[derive(Clone, Debug)]
pub(super) struct Unaddressed {
    pub(super) next: NodeId,
    pub(super) size: u32,
    pub(super) load: FramePayload,
}

/// Outcome of a packet, or a change of a route.
#[derive(Debug)]
pub(crate) enum PacketOutcome {
    /// The packet was received by an interface over the air.
    Arrived { interface: InterfaceId, parcel: Box<MediumPacket> },
    /// An interface dropped the packet.
    Dropped { interface: InterfaceId, packet: Packet, cause: DropCause },
    /// A route over a medium broke (`is_there` is false), or was restored.
    Route { way: MediumPath, is_there: bool },
}

/// A path over a medium, given by the interface where packets enter the medium and the node where they leave it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct MediumPath {
    pub(crate) interface: InterfaceId,
    pub(crate) toward: NodeId,
}
