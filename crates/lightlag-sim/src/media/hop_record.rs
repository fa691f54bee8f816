//! The nodes that a packet has crossed on a medium.

use lightlag_net::NodeId;

/// Maximum number of nodes that are recorded. A longer path is truncated.
pub(crate) const MOST: usize = 12;

/// The nodes that sent a packet on a medium, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct HopRecord {
    nodes: [u32; MOST],
    last: u32,
    len: u8,
}

impl HopRecord {
    /// Adds a node that sends the packet, unless it is the node that sent the packet last.
    pub(crate) fn add(&mut self, node: NodeId) {
        if self.last == node.0 && self.len > 0 {
            return;
        }
        self.last = node.0;
        if let Some(place) = self.nodes.get_mut(usize::from(self.len)) {
            *place = node.0;
        }
        self.len = self.len.saturating_add(1);
    }

    /// Returns the number of nodes that sent the packet, which is its number of hops.
    pub(crate) fn hops(&self) -> u32 {
        u32::from(self.len)
    }

    /// Returns the recorded nodes.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes.iter().take(usize::from(self.len)).map(|node| NodeId(*node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_counts_on_when_it_is_full() {
        let mut trail = HopRecord::default();
        (0..300).for_each(|node| trail.add(NodeId(node)));
        assert_eq!(trail.hops(), 255);
        assert_eq!(trail.nodes().last(), Some(NodeId(MOST as u32 - 1)));
    }
}
