//! The messages of AODV, RFC 3561 §5.

use super::{Fields, RoutingError, put_node};
use lightlag_core::Duration;
use lightlag_routing::aodv::{Error, Message, Reply, Request, Sequence};

/// Types of messages.
const REQUEST: u8 = 1;
const REPLY: u8 = 2;
const ERROR: u8 = 3;
const REPLY_ACK: u8 = 4;

/// Flags in the second byte: of a request G, D and U, of a reply A, of an error N. J and R belong to multicast.
const GRATUITOUS: u8 = 0x20;
const DESTINATION_ONLY: u8 = 0x10;
const UNKNOWN_SEQUENCE: u8 = 0x08;
const JOIN_AND_REPAIR: u8 = 0xc0;
const REPAIR: u8 = 0x80;
const ACK_REQUIRED: u8 = 0x40;
const NO_DELETE: u8 = 0x80;

/// The part of the third byte of a reply that holds the prefix size.
const PREFIX: u8 = 0x1f;

pub fn encode(out: &mut Vec<u8>, message: &Message) {
    let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    match message {
        Message::Request(request) => {
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
        Message::Reply(reply) => {
            out.extend_from_slice(&[REPLY, flag(reply.ack_required, ACK_REQUIRED), 0, reply.hop_count]);
            put_node(out, reply.destination);
            out.extend_from_slice(&reply.destination_sequence.0.to_be_bytes());
            put_node(out, reply.origin);
            out.extend_from_slice(&milliseconds(reply.lifetime).to_be_bytes());
        }
        Message::Error(error) => {
            let count = u8::try_from(error.unreachable.len()).expect("a route error has at most 255 destinations");
            out.extend_from_slice(&[ERROR, flag(error.no_delete, NO_DELETE), 0, count]);
            for (destination, sequence) in &error.unreachable {
                put_node(out, *destination);
                out.extend_from_slice(&sequence.0.to_be_bytes());
            }
        }
        Message::ReplyAck => out.extend_from_slice(&[REPLY_ACK, 0]),
    }
}

/// A lifetime is written in whole milliseconds, one of more than 49 days as the longest that there is.
fn milliseconds(lifetime: Duration) -> u32 {
    u32::try_from(lifetime.as_nanos() / 1_000_000).unwrap_or(u32::MAX)
}

pub fn decode(mut fields: Fields<'_>, ttl: u8) -> Result<Message, RoutingError> {
    let [kind, flags] = fields.bytes()?;
    if kind == REPLY_ACK {
        return fields.end().map(|()| Message::ReplyAck);
    }
    let [third, count] = fields.bytes()?;
    let message = match kind {
        REQUEST if flags & JOIN_AND_REPAIR != 0 => return fields.refuse("flags J and R", flags),
        REQUEST => Message::Request(Request {
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
        REPLY => Message::Reply(Reply {
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
            let unreachable = unreachable.collect::<Result<_, RoutingError>>()?;
            Message::Error(Error { no_delete: flags & NO_DELETE != 0, unreachable })
        }
        other => return fields.refuse("type", other),
    };
    // RFC 3561 §9: extensions could follow. None is in use here.
    fields.end().map(|()| message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_longer_than_its_field_is_written_as_the_longest() {
        assert_eq!(milliseconds(Duration::from_millis(3_000)), 3_000);
        assert_eq!(milliseconds(Duration::from_secs(60 * 86_400)), u32::MAX);
    }
}
