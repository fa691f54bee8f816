//! Route epochs: when the routes change, endpoints update the first link of their packets.

use crate::hosts::Hosts;
use crate::ids::UdpIndex;
use lightlag_net::{EndpointId, NodeId, RouteTable};
use std::ops::Range;

/// Endpoints by node. When the routes of a node change, its endpoints look up their first links again.
#[derive(Debug)]
pub(crate) struct Departures {
    /// Endpoints of connections, by node.
    connections: Vec<(NodeId, EndpointId)>,
    /// UDP flows, by the node of their sender.
    datagrams: Vec<(NodeId, UdpIndex)>,
}

impl Departures {
    /// Returns the endpoints by node. `senders` are the nodes of the senders of UDP flows, in the order of the flows.
    pub(crate) fn new(hosts: &Hosts, senders: impl Iterator<Item = NodeId>) -> Self {
        let mut connections: Vec<_> = hosts.ports().map(|(at, port)| (port.node, at)).collect();
        connections.sort_unstable();
        let mut datagrams: Vec<_> = senders.zip((0..).map(UdpIndex)).collect();
        datagrams.sort_unstable();
        Self { connections, datagrams }
    }

    /// Updates the first links of the endpoints of a node whose routes have changed.
    pub(crate) fn reroute(&self, node: NodeId, table: &RouteTable, hosts: &mut Hosts) {
        for (_, at) in &self.connections[of(node, &self.connections)] {
            let port = hosts.port_mut(*at);
            port.out = table.next(node, port.peer_node).unwrap_or(port.out);
        }
        for (_, flow) in &self.datagrams[of(node, &self.datagrams)] {
            hosts.datagrams.reroute(*flow, |to| table.next(node, to));
        }
    }
}

/// Returns the range of the entries of a node in a list that is sorted by node.
fn of<T>(node: NodeId, by_node: &[(NodeId, T)]) -> Range<usize> {
    let before = |limit: NodeId| by_node.partition_point(|(other, _)| *other < limit);
    before(node)..before(NodeId(node.0 + 1))
}
