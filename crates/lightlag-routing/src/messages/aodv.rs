//! The messages of AODV, RFC 3561 §5.

use super::{Fields, FormError, Kind, Payload, Sequence, put_node};
use lightlag_core::Duration;
use lightlag_net::NodeId;

/// Message types.
const REQUEST: u8 = 1;
const REPLY: u8 = 2;
const ERROR: u8 = 3;
const REPLY_ACK: u8 = 4;

/// Flags in the second byte: G, D and U of a request, A of a reply, N of an error. The flags J and R are for multicast.
const GRATUITOUS: u8 = 0x20;
const DESTINATION_ONLY: u8 = 0x10;
const UNKNOWN_SEQUENCE: u8 = 0x08;
const JOIN_AND_REPAIR: u8 = 0xc0;
const REPAIR: u8 = 0x80;
const ACK_REQUIRED: u8 = 0x40;
const NO_DELETE: u8 = 0x80;

/// The bits of the third byte of a reply that hold the prefix size.
const PREFIX: u8 = 0x1f;

/// An AODV message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AodvMessage {
    /// A route request, broadcast.
    Request(Request),
    /// A route reply, unicast. A broadcast route reply is a HELLO.
    Reply(Reply),
    /// A route error.
    Error(Error),
    /// The acknowledgement of a route reply.
    ReplyAck,
}

/// A route request: RFC 3561 §5.1. The flags J and R are for multicast and are never set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// G: the destination also gets a reply if another node replies.
    pub gratuitous: bool,
    /// D: only the destination may reply.
    pub destination_only: bool,
    /// U: the origin does not know the destination's sequence number.
    pub unknown_sequence: bool,
    /// Number of hops from the origin to the node that sent this copy.
    pub hop_count: u8,
    /// ID of the request, unique per origin.
    pub id: u32,
    /// Destination of the requested route.
    pub destination: NodeId,
    /// The destination's last sequence number that is known at the origin.
    pub destination_sequence: Sequence,
    /// The node that requests the route.
    pub origin: NodeId,
    /// The sequence number of the origin.
    pub origin_sequence: Sequence,
    /// The time to live in the IP header of the packet; not a field of the message.
    pub ttl: u8,
}

/// A route reply, or a HELLO: RFC 3561 §5.2. The flag R is for multicast and is never set; the prefix size is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    /// A: the receiver must acknowledge the reply.
    pub ack_required: bool,
    /// Number of hops from the destination to the node that sent this copy.
    pub hop_count: u8,
    /// Destination of the route.
    pub destination: NodeId,
    /// The sequence number of the destination.
    pub destination_sequence: Sequence,
    /// The node that requested the route; in a HELLO the same as the destination.
    pub origin: NodeId,
    /// Lifetime of the route, sent as a whole number of milliseconds.
    pub lifetime: Duration,
    /// The time to live in the IP header of the packet; not a field of the message.
    pub ttl: u8,
}

impl Reply {
    /// Returns true if the reply is a HELLO (RFC 3561 §6.9).
    pub fn is_hello(&self) -> bool {
        self.destination == self.origin
    }
}

/// A route error: RFC 3561 §5.3.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// N: upstream nodes must keep the route, because the sender has repaired it.
    pub no_delete: bool,
    /// The destinations that can no longer be reached, with their sequence numbers.
    pub unreachable: Vec<(NodeId, Sequence)>,
}

impl Error {
    /// Maximum number of destinations in a message: the count is a single byte.
    pub const MOST: usize = 255;
}

impl AodvMessage {
    /// Returns the kind of the message.
    fn kind(&self) -> Kind {
        match self {
            Self::Request(_) => Kind::RouteRequest,
            Self::Reply(reply) if reply.is_hello() => Kind::Hello,
            Self::Reply(_) => Kind::RouteReply,
            Self::Error(_) => Kind::RouteError,
            Self::ReplyAck => Kind::ReplyAck,
        }
    }
}

impl Payload for AodvMessage {
    const PROTOCOL: &'static str = "AODV";
    /// The UDP port of AODV (RFC 3561 §12).
    const PORT: u16 = 654;

    fn size(&self) -> u32 {
        match self {
            Self::Request(_) => 24,
            Self::Reply(_) => 20,
            Self::Error(error) => 4 + 8 * error.unreachable.len() as u32,
            Self::ReplyAck => 2,
        }
    }

    fn kinds(&self, mut each: impl FnMut(Kind, u32)) {
        each(self.kind(), self.size());
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        match self {
            Self::Request(request) => {
                let flags = flag(request.gratuitous, GRATUITOUS)
                    | flag(request.destination_only, DESTINATION_ONLY)
                    | flag(request.unknown_sequence, UNKNOWN_SEQUENCE);
                out.extend_from_slice(&[REQUEST, flags, 0, request.hop_count]);
                out.extend_from_slice(&request.id.to_be_bytes());
                put_node(out, request.destination);
                out.extend_from_slice(&request.destination_sequence.0.to_be_bytes());
                put_node(out, request.origin);
                out.extend_from_slice(&request.origin_sequence.0.to_be_bytes());
            }
            Self::Reply(reply) => {
                out.extend_from_slice(&[REPLY, flag(reply.ack_required, ACK_REQUIRED), 0, reply.hop_count]);
                put_node(out, reply.destination);
                out.extend_from_slice(&reply.destination_sequence.0.to_be_bytes());
                put_node(out, reply.origin);
                out.extend_from_slice(&milliseconds(reply.lifetime).to_be_bytes());
            }
            Self::Error(error) => {
                let count = u8::try_from(error.unreachable.len()).expect("a route error has at most 255 destinations");
                out.extend_from_slice(&[ERROR, flag(error.no_delete, NO_DELETE), 0, count]);
                for (destination, sequence) in &error.unreachable {
                    put_node(out, *destination);
                    out.extend_from_slice(&sequence.0.to_be_bytes());
                }
            }
            Self::ReplyAck => out.extend_from_slice(&[REPLY_ACK, 0]),
        }
    }

    fn decode(mut fields: Fields<'_>, ttl: u8) -> Result<Self, FormError> {
        let [kind, flags] = fields.bytes()?;
        if kind == REPLY_ACK {
            return fields.end().map(|()| Self::ReplyAck);
        }
        let [third, count] = fields.bytes()?;
        let message = match kind {
            REQUEST if flags & JOIN_AND_REPAIR != 0 => return fields.refuse("flags J and R", flags),
            REQUEST => Self::Request(Request {
                gratuitous: flags & GRATUITOUS != 0,
                destination_only: flags & DESTINATION_ONLY != 0,
                unknown_sequence: flags & UNKNOWN_SEQUENCE != 0,
                hop_count: count,
                id: fields.u32()?,
                destination: fields.node()?,
                destination_sequence: Sequence(fields.u32()?),
                origin: fields.node()?,
                origin_sequence: Sequence(fields.u32()?),
                ttl,
            }),
            REPLY if flags & REPAIR != 0 => return fields.refuse("flag R", flags),
            REPLY if third & PREFIX != 0 => return fields.refuse("prefix size", third & PREFIX),
            REPLY => Self::Reply(Reply {
                ack_required: flags & ACK_REQUIRED != 0,
                hop_count: count,
                destination: fields.node()?,
                destination_sequence: Sequence(fields.u32()?),
                origin: fields.node()?,
                lifetime: Duration::from_millis(u64::from(fields.u32()?)),
                ttl,
            }),
            ERROR => {
                let unreachable = (0..count).map(|_| Ok((fields.node()?, Sequence(fields.u32()?))));
                let unreachable = unreachable.collect::<Result<_, FormError>>()?;
                Self::Error(Error { no_delete: flags & NO_DELETE != 0, unreachable })
            }
            other => return fields.refuse("type", other),
        };
        // RFC 3561 §9: extensions could follow. None is in use here.
        fields.end().map(|()| message)
    }
}

/// Returns a lifetime in integer milliseconds, as it is sent. The maximum is about 49 days.
fn milliseconds(lifetime: Duration) -> u32 {
    u32::try_from(lifetime.as_nanos() / 1_000_000).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_longer_than_its_field_is_written_as_the_maximum() {
        assert_eq!(milliseconds(Duration::from_millis(3_000)), 3_000);
        assert_eq!(milliseconds(Duration::from_secs(60 * 86_400)), u32::MAX);
    }
}
