//! The QUIC connections of captured flows, and the contents of their packets.

use crate::body::{Other, Packet, PacketBody};
use crate::hosts::endpoints::{EndpointIds, EndpointSpec};
use crate::hosts::quic;
use lightlag_net::EndpointId;
use lightlag_quic::contents::Contents;
use lightlag_quic::streams::Side;
use lightlag_quic::{Arena, Packet as Datagram};
use lightlag_scenario::{Network, Transport};
use lightlag_wire::quic::{SessionSpec, Sessions};
use std::collections::BTreeMap;

/// The QUIC connections of a run.
pub(super) struct QuicConnections {
    pub(super) sessions: Sessions,
    /// Whether each endpoint opens its connection, from the endpoint `first`.
    opens: Vec<bool>,
    first: u32,
    /// Contents of packets in transit that are stored in the arena, by their slot.
    stored: BTreeMap<u32, Contents>,
}

impl QuicConnections {
    /// Returns the QUIC connections of a network; `None` if it has none.
    pub(super) fn new(network: &Network, numbers: &EndpointIds, endpoints: &[EndpointSpec]) -> Option<Self> {
        if !network.flows.iter().any(|flow| flow.transport == Transport::Quic) {
            return None;
        }
        let ids = numbers.of_tcp()..numbers.of_connections();
        let (mut sessions, mut opens) = (Sessions::default(), Vec::new());
        for id in ids.clone() {
            let end = &endpoints[id as usize];
            let is_client = quic::opens(end, &network.flows[end.flow.index()]);
            opens.push(is_client);
            if is_client {
                let config = |at: EndpointId| quic::config(at, &endpoints[at.index()], network, numbers);
                let connection = connection(EndpointId(id), end);
                let configs = [config(EndpointId(id)), config(end.peer)];
                sessions.insert(SessionSpec::new(connection, configs[0].version, configs[0], configs[1]));
            }
        }
        Some(Self { sessions, opens, first: ids.start, stored: BTreeMap::new() })
    }

    /// Keeps a copy of the contents of a packet that is stored in the arena.
    pub(super) fn stored(&mut self, packet: &Datagram, arena: &Arena) {
        if let Some(slot) = packet.slot() {
            self.stored.insert(slot, arena.copy(packet));
        }
    }

    /// Notes a packet that is sent.
    pub(super) fn sent(&mut self, packet: &Packet, end: &EndpointSpec) {
        if let Some(contents) = self.contents(packet) {
            let (connection, sender) = self.sender(packet.to, end);
            self.sessions.sent(connection, sender, &contents);
        }
    }

    /// Returns the contents of a QUIC packet in transit; `None` for other packets.
    pub(super) fn contents(&self, packet: &Packet) -> Option<Contents> {
        let PacketBody::Other(Other::Quic(datagram)) = &packet.body else { return None };
        datagram.contents().or_else(|| self.stored.get(&datagram.slot()?).cloned())
    }

    /// Returns the connection of a packet to this endpoint, and the side that sent it.
    pub(super) fn sender(&self, to: EndpointId, end: &EndpointSpec) -> (u64, Side) {
        let is_to_client = self.opens[(to.0 - self.first) as usize];
        (connection(to, end), if is_to_client { Side::Server } else { Side::Client })
    }
}

/// Returns the index of a connection.
pub(super) fn connection(at: EndpointId, end: &EndpointSpec) -> u64 {
    at.0.min(end.peer.0).into()
}
