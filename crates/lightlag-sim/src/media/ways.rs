//! The table of the paths of flows.

use crate::ids::FlowIndex;
use crate::table::{NameTable, recorded};
use lightlag_core::Instant;
use lightlag_net::NodeId;

recorded! {
    /// The paths of flows over media or a constellation, recorded at every change: one row per node on the data path,
    /// from the sender to the receiver.
    pub struct Paths, hashed by time_s, flow, hops, hop, node {
        /// Time since the start of the run when the first packet on this path left its last medium. For flows that
        /// cross no medium, the time when the path came into use.
        time_s: Vec<f64> ["s"],
        /// Flow that uses the path.
        flow: Vec<u32> ["", named(NameTable::Flows)],
        /// Number of hops of the complete path, over media and links.
        hops: Vec<u32> [""],
        /// Index of the node on the path, starting at 0.
        hop: Vec<u32> [""],
        /// Node at this position on the path.
        node: Vec<u32> ["", named(NameTable::Nodes)],
    }
}

impl Paths {
    /// Appends the nodes on the path of a flow.
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
