//! Handles errors that routers and hosts report about the segments of this host (RFC 9293 §3.9.2.2, RFC 5461).
//!
//! An error ends a connection that is being opened. An established one continues, as on Linux, because the path may
//! recover. If it does not, the application finally gets this error instead of a timeout. If a packet is too big for
//! the path, the segments of its connection become smaller (RFC 1191, RFC 8201), but not the segments of other
//! connections. An error that is not about a segment in flight is forged or late, and is only counted (RFC 5927 §4.1).

use crate::error::SocketError;
use crate::stack::Stack;
use crate::table::SocketId;
use lightlag_core::Instant;
use lightlag_tcp::State;
use lightlag_wire::icmp::{self, Error, IcmpError};

impl Stack {
    /// Handles an ICMP error about a segment of this host. Returns false if the packet is not such an error.
    pub(crate) fn icmp_in(&mut self, now: Instant, packet: &[u8]) -> bool {
        let Ok(Some(message)) = icmp::decode(packet) else { return false };
        if !self.judge(now, &message) {
            self.note_stray_icmp();
        }
        true
    }

    /// Handles the error if it is about a segment in flight. Returns false if it is not.
    fn judge(&mut self, now: Instant, message: &IcmpError) -> bool {
        let ends = message.addresses;
        let Some(id) = self.connection_between(ends.source, ends.destination) else { return false };
        let error = match message.error {
            Error::NetworkUnreachable => SocketError::NetworkUnreachable,
            Error::HostUnreachable | Error::Prohibited | Error::TimeExceeded => SocketError::HostUnreachable,
            Error::PortUnreachable | Error::ProtocolUnreachable => SocketError::Refused,
            Error::PacketTooBig { mtu } => return self.path_takes(now, id, message, mtu),
        };
        let lone = self.waits_unconfirmed(id);
        let Some(socket) = self.table.get_mut(id) else { return false };
        let Some(stream) = socket.stream() else { return false };
        let connection = &mut stream.connection;
        let unreachable =
            matches!(message.error, Error::NetworkUnreachable | Error::HostUnreachable | Error::TimeExceeded);
        match connection.state() {
            // Until the connection is accepted, only the client's data may be in flight (`tcp_v4_err`, `tcp_req_err`).
            State::SynReceived if connection.is_passive() && connection.is_syn(message.seq) && unreachable => {
                connection.crash();
                self.note_unreachable();
                self.enqueue(id);
                true
            }
            _ if lone && (connection.is_syn(message.seq) || connection.is_under_way(message.seq)) => {
                connection.crash();
                socket.error = Some(error);
                self.note_unreachable();
                self.enqueue(id);
                true
            }
            State::SynSent if stream.connection.is_syn(message.seq) => {
                stream.connection.abort();
                socket.error = Some(error);
                self.note_unreachable();
                self.enqueue(id);
                true
            }
            State::SynSent | State::SynReceived => false,
            _ => {
                let ours = stream.connection.is_under_way(message.seq);
                if ours {
                    socket.soft_error = Some(error);
                }
                ours
            }
        }
    }

    /// Adapts a connection to a path whose router can only forward packets of up to `mtu` bytes.
    fn path_takes(&mut self, now: Instant, id: SocketId, message: &IcmpError, mtu: u32) -> bool {
        // RFC 8201 §4: every link of IPv6 takes at least this much. Linux believes no less of IPv4, not even from a
        // router older than RFC 1191, which reports 0 (min_pmtu).
        let (least, headers) = if message.addresses.source.is_ipv4() { (552, 40) } else { (1_280, 60) };
        let mss = mtu.clamp(least, u32::from(u16::MAX)) as u16 - headers;
        let Some(stream) = self.stream_mut(id) else { return false };
        let connection = &stream.connection;
        let early = connection.state() == State::SynSent && connection.is_syn(message.seq);
        let ours = early || connection.is_under_way(message.seq);
        if ours && stream.connection.limit_segments(now, mss) {
            self.note_smaller_path();
            self.enqueue(id);
        }
        ours
    }
}
