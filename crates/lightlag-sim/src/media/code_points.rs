//! DiffServ code points of packets.

use crate::body::Packet;
use crate::hosts::endpoints::{self, EndpointIds};
use lightlag_core::Dscp;
use lightlag_scenario::Network;

/// Returns the code points of packets, indexed by the packets' destination endpoint.
pub(super) fn code_points(network: &Network) -> Vec<Option<Dscp>> {
    if network.flows.iter().all(|flow| flow.dscp.is_none()) {
        return Vec::new();
    }
    let numbers = EndpointIds::new(network);
    let ends = endpoints::of_connections(network, &numbers).chain(endpoints::of_datagrams(network, &numbers));
    ends.map(|end| network.flows[end.flow.index()].dscp).collect()
}

/// Returns the code point of a packet, if the packet's flow sets one.
pub(super) fn code_point(code_points: &[Option<Dscp>], packet: &Packet) -> Option<Dscp> {
    if packet.body.is_signal() { None } else { *code_points.get(packet.to.index())? }
}
