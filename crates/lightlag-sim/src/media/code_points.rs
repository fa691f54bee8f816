//! Code points of packets.

use crate::body::Packet;
use crate::hosts::ends::{self, Numbers};
use lightlag_core::Dscp;
use lightlag_scenario::Network;

/// The code points of packets by the number of the endpoint to which they go.
pub(super) fn code_points(network: &Network) -> Vec<Option<Dscp>> {
    if network.flows.iter().all(|flow| flow.dscp.is_none()) {
        return Vec::new();
    }
    let numbers = Numbers::new(network);
    let ends = ends::of_connections(network, &numbers).chain(ends::of_datagrams(network, &numbers));
    ends.map(|end| network.flows[end.flow.index()].dscp).collect()
}

/// The code point of a packet, if its flow has one.
pub(super) fn code_point(code_points: &[Option<Dscp>], packet: &Packet) -> Option<Dscp> {
    if packet.body.is_signal() { None } else { *code_points.get(packet.to.index())? }
}
