//! The ways of flows, as a table.

use crate::ids::FlowIndex;
use crate::table::{Names, recorded};
use lightlag_core::Instant;
use lightlag_net::NodeId;

recorded! {
    /// The ways of flows that cross media or a sky, whenever they change: a row is one node on the way of their data, from
    /// the sender to the receiver.
    pub struct Paths, hashed by time_s, flow, hops, hop, node {
        /// Seconds since the start of the run at which the first packet left its last medium this way; of flows that cross
        /// no medium, at which the way came to be.
        time_s: Vec<f64> ["s"],
        /// Flow.
        flow: Vec<u32> ["", named(Names::Flows)],
        /// Hops of the whole way, on media and on links.
        hops: Vec<u32> [""],
        /// Place of the node on the way, from 0 on.
        hop: Vec<u32> [""],
        /// Node.
        node: Vec<u32> ["", named(Names::Nodes)],
    }
}

impl Paths {
    /// The way of a flow leads over these nodes.
    pub(crate) fn note(&mut self, now: Instant, flow: FlowIndex, nodes: impl Iterator<Item = NodeId>, hops: u32) {
        for (hop, node) in (0..).zip(nodes) {
            self.time_s.push(now.as_secs_f64());
            self.flow.push(flow.0);
            self.hops.push(hops);
            self.hop.push(hop);
            self.node.push(node.0);
        }
    }
}
