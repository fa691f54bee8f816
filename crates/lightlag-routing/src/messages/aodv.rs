//! The messages of AODV, RFC 3561 §5.

use super::Kind;
use super::Sequence;
use lightlag_core::Duration;
use lightlag_net::NodeId;

/// The UDP port of AODV (RFC 3561 §12).
pub const PORT: u16 = 654;

/// A message of AODV.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// A route request, broadcast.
    Request(Request),
    /// A route reply, unicast; a HELLO is one that is broadcast.
    Reply(Reply),
    /// A route error.
    Error(Error),
    /// The acknowledgement of a route reply.
    ReplyAck,
}

/// A route request: RFC 3561 §5.1. The flags J and R belong to multicast and are never set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// G: the destination shall get a reply, too, if another node answers.
    pub gratuitous: bool,
    /// D: only the destination may answer.
    pub destination_only: bool,
    /// U: the origin knows no sequence number of the destination.
    pub unknown_sequence: bool,
    /// The hops from the origin to the node that sent this copy.
    pub hop_count: u8,
    /// With the origin, it names the request.
    pub id: u32,
    /// The node to which a route is wanted.
    pub destination: NodeId,
    /// The last sequence number of the destination that the origin knows.
    pub destination_sequence: Sequence,
    /// The node that wants the route.
    pub origin: NodeId,
    /// The sequence number of the origin.
    pub origin_sequence: Sequence,
    /// The time to live of the IP header around it; not a field of the message.
    pub ttl: u8,
}

/// A route reply, or a HELLO: RFC 3561 §5.2. The flag R belongs to multicast and is never set, the prefix size is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    /// A: the receiver shall acknowledge it.
    pub ack_required: bool,
    /// The hops from the destination to the node that sent this copy.
    pub hop_count: u8,
    /// The node to which the route leads.
    pub destination: NodeId,
    /// Its sequence number.
    pub destination_sequence: Sequence,
    /// The node that asked for the route; of a HELLO the destination.
    pub origin: NodeId,
    /// How long the route is good; whole milliseconds on the wire.
    pub lifetime: Duration,
    /// The time to live of the IP header around it; not a field of the message.
    pub ttl: u8,
}

impl Reply {
    /// Whether it is a HELLO (RFC 3561 §6.9).
    pub fn is_hello(&self) -> bool {
        self.destination == self.origin
    }
}

/// A route error: RFC 3561 §5.3.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// N: upstream nodes shall keep the route, because the sender has repaired it.
    pub no_delete: bool,
    /// The destinations that can no longer be reached, with their sequence numbers.
    pub unreachable: Vec<(NodeId, Sequence)>,
}

impl Error {
    /// The most destinations that a message holds: their number is a byte.
    pub const MOST: usize = 255;
}

impl Message {
    /// Its size in bytes.
    pub fn size(&self) -> u32 {
        match self {
            Self::Request(_) => 24,
            Self::Reply(_) => 20,
            Self::Error(error) => 4 + 8 * error.unreachable.len() as u32,
            Self::ReplyAck => 2,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Request(_) => Kind::RouteRequest,
            Self::Reply(reply) if reply.is_hello() => Kind::Hello,
            Self::Reply(_) => Kind::RouteReply,
            Self::Error(_) => Kind::RouteError,
            Self::ReplyAck => Kind::ReplyAck,
        }
    }
}
