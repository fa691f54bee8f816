//! Route epochs: whose packets leave on another link from one epoch on.

use crate::hosts::Endpoint;
use crate::hosts::datagrams::Datagrams;
use lightlag_net::{NodeId, RouteTable};
use std::ops::Range;

/// The ends of flows by node: when the routes of a node change, these look up their links again.
#[derive(Debug)]
pub(crate) struct Departures {
    /// Ends of connections, by node.
    connections: Vec<(NodeId, u32)>,
    /// Flows of UDP, by the node of their sender.
    datagrams: Vec<(NodeId, u32)>,
}

impl Departures {
    /// `senders`: the nodes from which the flows of UDP send, in their order.
    pub(crate) fn new(endpoints: &[Endpoint], senders: impl Iterator<Item = NodeId>) -> Self {
        let by_node = |nodes: &mut dyn Iterator<Item = NodeId>| {
            let mut by_node: Vec<(NodeId, u32)> = nodes.zip(0..).collect();
            by_node.sort_unstable();
            by_node
        };
        Self {
            connections: by_node(&mut endpoints.iter().map(|endpoint| endpoint.node)),
            datagrams: by_node(&mut { senders }),
        }
    }

    /// The routes of a node have changed.
    pub(crate) fn reroute(
        &self,
        node: NodeId,
        table: &RouteTable,
        endpoints: &mut [Endpoint],
        datagrams: &mut Datagrams,
    ) {
        for (_, at) in &self.connections[of(node, &self.connections)] {
            let endpoint = &mut endpoints[*at as usize];
            endpoint.out = table.next(node, endpoint.peer_node).unwrap_or(endpoint.out);
        }
        for (_, place) in &self.datagrams[of(node, &self.datagrams)] {
            datagrams.reroute(*place as usize, |to| table.next(node, to));
        }
    }
}

/// The places of a node's entries in a list by node.
fn of(node: NodeId, by_node: &[(NodeId, u32)]) -> Range<usize> {
    let before = |limit: NodeId| by_node.partition_point(|(other, _)| *other < limit);
    before(node)..before(NodeId(node.0 + 1))
}
