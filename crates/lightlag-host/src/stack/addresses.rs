//! The addresses and ports of a host, and the sockets that use them.

use super::Stack;
use crate::table::{SocketId, SocketKind};
use lightlag_core::{Instant, RandomStream};
use lightlag_tcp::segment::SeqNumber;
use std::net::{IpAddr, SocketAddr};

/// The dynamic ports of Linux (ip_local_port_range).
pub(super) const EPHEMERAL: std::ops::Range<u16> = 32_768..61_000;

impl Stack {
    /// Returns the socket that listens at this address. A socket bound to exactly this address takes precedence over
    /// one bound to all addresses.
    pub(super) fn listener_at(&self, local: SocketAddr) -> Option<SocketId> {
        let mut listener = None;
        for id in self.listeners.iter().copied() {
            match self.table.get(id).and_then(|socket| socket.local) {
                Some(bound) if bound == local => return Some(id),
                Some(bound) if bound.port() == local.port() && covers(bound.ip(), local.ip()) => listener = Some(id),
                _ => {}
            }
        }
        listener
    }

    /// Returns an initial sequence number: a clock with ticks of 4 µs, plus an offset that depends on the addresses and
    /// the seed (RFC 9293 §3.4.1).
    pub(crate) fn initial_number(&self, now: Instant, local: SocketAddr, remote: SocketAddr) -> SeqNumber {
        let offset = RandomStream::new(self.config.seed, &format!("{local} {remote}")).bits();
        SeqNumber((now.as_nanos() / 4_000).wrapping_add(offset) as u32)
    }

    /// Returns a port that no other socket uses for this peer.
    pub(crate) fn ephemeral_port(&mut self, local: IpAddr, remote: SocketAddr) -> Option<u16> {
        for _ in EPHEMERAL {
            let port = self.next_port;
            self.next_port = if port + 1 == EPHEMERAL.end { EPHEMERAL.start } else { port + 1 };
            let address = SocketAddr::new(local, port);
            if !self.connections.contains_key(&(address, remote)) && !self.is_taken(address) {
                return Some(port);
            }
        }
        None
    }

    /// Returns true if a socket is bound to this address, or to one that covers it.
    pub(crate) fn is_taken(&self, address: SocketAddr) -> bool {
        self.table.iter().any(|(_, socket)| {
            !matches!(socket.kind, SocketKind::Stream(_))
                && socket.local.is_some_and(|bound| {
                    bound.port() == address.port()
                        && (covers(bound.ip(), address.ip()) || covers(address.ip(), bound.ip()))
                })
        })
    }

    /// Assigns the pair of addresses to the socket. Returns false if another socket has it.
    pub(crate) fn register(&mut self, local: SocketAddr, remote: SocketAddr, id: SocketId) -> bool {
        let free = !self.connections.contains_key(&(local, remote));
        if free {
            self.connections.insert((local, remote), id);
        }
        free
    }

    /// Returns the connection between these addresses.
    pub(crate) fn connection_between(&self, local: SocketAddr, remote: SocketAddr) -> Option<SocketId> {
        self.connections.get(&(local, remote)).copied()
    }

    /// Frees the pair of addresses.
    pub(super) fn disconnect(&mut self, id: SocketId) {
        if let Some(socket) = self.table.get(id)
            && let (Some(local), Some(remote)) = (socket.local, socket.remote)
            && self.connections.get(&(local, remote)) == Some(&id)
        {
            self.connections.remove(&(local, remote));
        }
    }
}

/// Returns true if a socket bound to `bound` receives packets sent to `address`.
fn covers(bound: IpAddr, address: IpAddr) -> bool {
    bound == address || bound.is_unspecified() && bound.is_ipv4() == address.is_ipv4()
}

pub(super) fn is_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !(address.is_multicast() || address.is_broadcast() || address.is_unspecified()),
        IpAddr::V6(address) => !(address.is_multicast() || address.is_unspecified()),
    }
}
