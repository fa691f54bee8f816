//! Access classes of packets.

use crate::body::Packet;
use crate::hosts::ends::{self, Numbers};
use lightlag_scenario::Network;
use lightlag_wifi::Class;

/// The access classes of packets by the number of the endpoint to which they go.
pub(super) fn classes(network: &Network) -> Vec<Option<Class>> {
    if network.flows.iter().all(|flow| flow.dscp.is_none()) {
        return Vec::new();
    }
    let numbers = Numbers::new(network);
    let ends = ends::of_connections(network, &numbers).chain(ends::of_datagrams(network, &numbers));
    ends.map(|end| network.flows[end.flow.index()].dscp.map(Class::of_dscp)).collect()
}

/// The access class of a packet, if its flow has a code point.
pub(super) fn class(classes: &[Option<Class>], packet: &Packet) -> Option<Class> {
    if packet.body.is_signal() { None } else { *classes.get(packet.to.index())? }
}
