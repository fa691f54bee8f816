//! Route epochs: whose packets leave on another link from one epoch on.

use crate::hosts::Hosts;
use crate::ids::UdpIndex;
use lightlag_net::{EndpointId, NodeId, RouteTable};
use std::ops::Range;

/// The ends of flows by node: when the routes of a node change, these look up their links again.
#[derive(Debug)]
pub(crate) struct Departures {
    /// Ends of connections, by node.
    connections: Vec<(NodeId, EndpointId)>,
    /// Flows of UDP, by the node of their sender.
    datagrams: Vec<(NodeId, UdpIndex)>,
}

impl Departures {
    /// `senders`: the nodes from which the flows of UDP send, in their order.
    pub(crate) fn new(hosts: &Hosts, senders: impl Iterator<Item = NodeId>) -> Self {
        let mut connections: Vec<_> = hosts.ports().map(|(at, port)| (port.node, at)).collect();
        connections.sort_unstable();
        let mut datagrams: Vec<_> = senders.zip((0..).map(UdpIndex)).collect();
        datagrams.sort_unstable();
        Self { connections, datagrams }
    }

    /// The routes of a node have changed.
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

/// The places of a node's entries in a list by node.
fn of<T>(node: NodeId, by_node: &[(NodeId, T)]) -> Range<usize> {
    let before = |limit: NodeId| by_node.partition_point(|(other, _)| *other < limit);
    before(node)..before(NodeId(node.0 + 1))
}
