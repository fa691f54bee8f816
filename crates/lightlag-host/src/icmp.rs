//! What routers and hosts say about our segments (RFC 9293 §3.9.2.2, RFC 5461).
//!
//! An error ends a connection that is being opened; an established one goes on, as on Linux: the path may come back.
//! A packet that is too big for the path changes nothing: segments in flight are not cut anew. The MTU of the host
//! bounds what is sent.

use crate::error::SocketError;
use crate::stack::Stack;
use lightlag_tcp::State;
use lightlag_wire::icmp::{self, Error};

impl Stack {
    /// Whether the packet is an ICMP error about a segment of ours.
    pub(crate) fn icmp_in(&mut self, packet: &[u8]) -> bool {
        let Ok(Some(message)) = icmp::decode(packet) else { return false };
        let ends = message.addresses;
        let Some(id) = self.connection_between(ends.source, ends.destination) else { return true };
        let error = match message.error {
            Error::NetworkUnreachable => SocketError::NetworkUnreachable,
            Error::HostUnreachable | Error::Prohibited | Error::TimeExceeded => SocketError::HostUnreachable,
            Error::PortUnreachable | Error::ProtocolUnreachable => SocketError::Refused,
            Error::PacketTooBig { .. } => return true,
        };
        let Some(socket) = self.table.get_mut(id) else { return true };
        let Some(stream) = socket.stream() else { return true };
        // Only what is on the way can have been complained of (RFC 5927 §4.1): the SYN.
        let ours = stream.connection.state() == State::SynSent && stream.connection.is_syn(message.seq);
        if ours {
            stream.connection.abort();
            socket.error = Some(error);
            self.note_unreachable();
            self.enqueue(id);
        }
        true
    }
}
