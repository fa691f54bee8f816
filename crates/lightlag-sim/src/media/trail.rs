//! The nodes that a packet has crossed on a medium.

use lightlag_net::NodeId;

/// The most nodes that a trail keeps. A longer way is cut off behind them.
pub(crate) const MOST: usize = 12;

/// The nodes at which a packet was sent on a medium, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Trail {
    nodes: [u32; MOST],
    last: u32,
    len: u8,
}

impl Trail {
    /// The packet is sent on by this node, perhaps again.
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

    /// The number of nodes that sent the packet: its hops.
    pub(crate) fn hops(&self) -> u32 {
        u32::from(self.len)
    }

    /// The nodes, as many as are kept.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes.iter().take(usize::from(self.len)).map(|node| NodeId(*node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_counts_on_when_it_is_full() {
        let mut trail = Trail::default();
        (0..300).for_each(|node| trail.add(NodeId(node)));
        assert_eq!(trail.hops(), 255);
        assert_eq!(trail.nodes().last(), Some(NodeId(MOST as u32 - 1)));
    }
}
