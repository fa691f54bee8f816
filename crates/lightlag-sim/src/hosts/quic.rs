//! QUIC endpoints, and the contents of their packets in transit.

use super::Hosts;
use super::relay::Relay;
use super::session::Session;
use super::transport::{Enclosed, Sockets, Transport};
use crate::body::{Other, Packet, PacketBody, UDP_HEADER};
use lightlag_net::PacketFlags;
use lightlag_quic::{Connection, Packet as Datagram};

/// A QUIC endpoint.
pub(crate) type Quic = Connection;

impl Transport for Quic {
    #[inline(always)]
    fn sockets(hosts: &Hosts) -> &Sockets<Self> {
        &hosts.quic
    }

    #[inline(always)]
    fn parts(hosts: &mut Hosts) -> (&mut Sockets<Self>, &mut [Relay], &mut [Session]) {
        (&mut hosts.quic, &mut hosts.relays, &mut hosts.dialogues)
    }

    #[inline(always)]
    fn enclose(&self, datagram: Datagram) -> Enclosed {
        Enclosed {
            size: UDP_HEADER + datagram.size(),
            flags: PacketFlags::new(datagram.carries_data()).with_ecn(datagram.codepoint()),
            body: PacketBody::Other(Other::Quic(datagram)),
        }
    }
}

impl Hosts {
    /// Frees the contents of a packet that was dropped.
    pub(crate) fn discard(&mut self, packet: &Packet) {
        if let PacketBody::Other(Other::Quic(datagram)) = &packet.body {
            self.quic.arena_mut().release(datagram);
        }
    }
}
